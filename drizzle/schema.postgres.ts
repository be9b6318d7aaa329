import { postgresTables } from '../src/store/tables/postgres.ts';

// The migration generator finds tables only as top-level exports.
export const {
  chats,
  chat_aliases,
  users,
  members,
  grants,
  tasks,
  occurrences,
  gaps,
  runs,
  attempts,
  deliveries,
  acks,
  task_versions,
  audit,
  set_backs,
  events,
  downtimes,
  idempotency_keys,
  inbox,
  drafts,
  usage,
  kv,
} = postgresTables;
