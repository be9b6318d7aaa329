import { sqliteTables } from '../src/store/tables/sqlite.ts';

// The migration generator finds tables only as top-level exports.
export const {
  chats,
  chatAliases,
  users,
  members,
  grants,
  tasks,
  taskTags,
  occurrences,
  gaps,
  runs,
  attempts,
  deliveries,
  acks,
  taskVersions,
  audit,
  setBacks,
  events,
  downtimes,
  idempotencyKeys,
  inbox,
  drafts,
  usage,
  kv,
  told,
} = sqliteTables;
