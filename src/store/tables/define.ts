import { blobChunksTable, blobRefsTable, blobsTable, watchesTable } from './blobs.ts';
import type { Dialect } from './dialect.ts';
import { hostCallsTable, hostsTable } from './hosts.ts';
import {
  chatAliasesTable,
  chatsTable,
  grantsTable,
  membersTable,
  secretsTable,
  tokenChatsTable,
  tokensTable,
  usersTable,
} from './places.ts';
import {
  auditTable,
  budgetsTable,
  credentialsTable,
  downtimesTable,
  draftsTable,
  eventsTable,
  idempotencyKeysTable,
  inboxTable,
  kvTable,
  paceTable,
  pausedKindsTable,
  processesTable,
  setBacksTable,
  taskVersionsTable,
  toldTable,
  usageTable,
} from './records.ts';
import { tasksTable, taskTagsTable } from './tasks.ts';
import {
  acksTable,
  albumMessagesTable,
  attemptsTable,
  deliveriesTable,
  gapsTable,
  occurrencesTable,
  runsTable,
  standingTable,
} from './work.ts';

export type Tables = ReturnType<typeof defineTables>;

export function defineTables(d: Dialect) {
  const chats = chatsTable(d);
  const users = usersTable(d);
  const grants = grantsTable(d, { chats, users });
  const tokens = tokensTable(d);
  return {
    chats,
    chatAliases: chatAliasesTable(d, chats),
    users,
    members: membersTable(d),
    grants,
    tokens,
    tokenChats: tokenChatsTable(d, { tokens, chats }),
    tasks: tasksTable(d, { chats, grants }),
    taskTags: taskTagsTable(d),
    occurrences: occurrencesTable(d),
    gaps: gapsTable(d),
    runs: runsTable(d),
    attempts: attemptsTable(d),
    deliveries: deliveriesTable(d),
    albumMessages: albumMessagesTable(d),
    standing: standingTable(d),
    acks: acksTable(d),
    taskVersions: taskVersionsTable(d),
    audit: auditTable(d),
    setBacks: setBacksTable(d),
    events: eventsTable(d),
    downtimes: downtimesTable(d),
    idempotencyKeys: idempotencyKeysTable(d),
    inbox: inboxTable(d),
    drafts: draftsTable(d),
    usage: usageTable(d),
    budgets: budgetsTable(d),
    kv: kvTable(d),
    pace: paceTable(d),
    hosts: hostsTable(d),
    hostCalls: hostCallsTable(d),
    processes: processesTable(d),
    pausedKinds: pausedKindsTable(d),
    told: toldTable(d),
    blobs: blobsTable(d),
    blobChunks: blobChunksTable(d),
    blobRefs: blobRefsTable(d),
    watches: watchesTable(d),
    credentials: credentialsTable(d),
    secrets: secretsTable(d, chats),
  };
}
