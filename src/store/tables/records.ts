import { sql } from 'drizzle-orm';
import type { Actor } from '../../domain/access.ts';
import type { DeedVerb } from '../../domain/event.ts';
import type { Role } from '../../domain/processes/process.ts';
import type { DowntimeCause, Word } from '../../domain/shown.ts';
import type { BudgetKind, BudgetPeriod, BudgetScope, UsageKind } from '../../domain/spending/usage.ts';
import type { TaskState } from '../../domain/task.ts';
import type { Dialect } from './dialect.ts';

/** Deeds of people, and of the product itself; append only. */
export function auditTable(d: Dialect) {
  const { text, int, serial } = d;
  return d.table(
    'audit',
    {
      id: serial('id').primaryKey(),
      at: int('at').notNull(),
      actor: text('actor').$type<Actor>().notNull(),
      verb: text('verb').$type<DeedVerb>().notNull(),
      taskId: text('task_id'),
      chatId: text('chat_id'),
      /** Where the task stood before and after, so that the truth about any instant is one look to either side. */
      stateBefore: text('state_before').$type<TaskState>(),
      stateAfter: text('state_after').$type<TaskState>(),
      before: text('before'),
      after: text('after'),
      /** The request in whose course it was done, as its client named it. */
      traceId: text('trace_id'),
    },
    (t) => [
      d.index('audit_task').on(t.taskId, t.at),
      d.index('audit_changes').on(t.taskId, t.at).where(sql.raw(changesState)),
    ],
  );
}

/** A deed after which a task stood elsewhere, or was paused in another way: a second pause may move the end of the first. */
export const changesState = `(state_before is distinct from state_after or verb in ('pause', 'quarantine'))`;

/** Stretches of time that came twice, because the clock was set back. */
export function setBacksTable({ table, serial, int }: Dialect) {
  return table('set_backs', {
    id: serial('id').primaryKey(),
    fromAt: int('from_at').notNull(),
    toAt: int('to_at').notNull(),
  });
}

/** Definitions of a task, one for each change. */
export function taskVersionsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'task_versions',
    {
      taskId: text('task_id').notNull(),
      version: int('version').notNull(),
      at: int('at').notNull(),
      actor: text('actor').$type<Actor>().notNull(),
      definition: text('definition').notNull(),
      chatId: text('chat_id'),
    },
    (t) => [d.primaryKey({ name: 'task_versions_pk', columns: [t.taskId, t.version] })],
  );
}

/**
 * Events, in the order in which they became true; written in the transaction that made it so. On Postgres several
 * transactions commit in another order than they took their numbers in, so there the order is (tx, id), and a reader
 * looks no further than the oldest transaction that is still open.
 */
export function eventsTable(d: Dialect) {
  const { text, int, serial } = d;
  return d.table(
    'events',
    {
      id: serial('id').primaryKey(),
      tx: d.transaction('tx').notNull(),
      at: int('at').notNull(),
      kind: text('kind').notNull(),
      taskId: text('task_id'),
      /** The row it is about: a run, a delivery, an occurrence, a gap. */
      ref: text('ref'),
      data: text('data'),
      /** Null for what is about no chat, such as a downtime. */
      chatId: text('chat_id'),
    },
    (t) => d.onPostgres(() => d.index('events_order').on(t.tx, t.id)),
  );
}

/** A time in which nothing could be done, and what it cost. */
export function downtimesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'downtimes',
    {
      id: text('id').primaryKey(),
      fromAt: int('from_at').notNull(),
      toAt: int('to_at').notNull(),
      /** Null where no process was there. */
      cause: text('cause').$type<DowntimeCause>(),
      /** Null until every slot of that time was decided about. */
      report: text('report'),
      reportedAt: int('reported_at'),
    },
    (t) => [d.index('downtimes_open').on(t.toAt).where(sql.raw('report is null'))],
  );
}

export function idempotencyKeysTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'idempotency_keys',
    {
      /** The verb, or the operation of a request. */
      scope: text('scope').notNull(),
      /** The task that it is about, or the digest of what the request names; empty where it makes something. */
      target: text('target').notNull(),
      key: text('key').notNull(),
      payloadHash: text('payload_hash').notNull(),
      /** The result of the first call. It commits together with the effect, so there is no state in between. */
      result: text('result').notNull(),
      /** JSON: what the first call was told, so that a repetition is told the same; null until that was kept. */
      answer: text('answer'),
      createdAt: int('created_at').notNull(),
      expiresAt: int('expires_at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'idempotency_keys_pk', columns: [t.scope, t.target, t.key] }),
      d.index('idempotency_keys_expiry').on(t.expiresAt),
    ],
  );
}

/** Updates of Telegram, stored before the next offset is asked for. */
export function inboxTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'inbox',
    {
      updateId: int('update_id').primaryKey(),
      payload: text('payload').notNull(),
      status: text('status').$type<'received' | 'done' | 'failed'>().notNull(),
      attempts: int('attempts').notNull(),
      error: text('error'),
      receivedAt: int('received_at').notNull(),
      doneAt: int('done_at'),
      /** The chat and the message that it tells of. */
      address: text('address'),
      messageId: int('message_id'),
      /** The chat and the thread, in which updates are handled one after the other. */
      lane: text('lane'),
      /** The process that has begun it. */
      bootId: text('boot_id'),
    },
    (t) => [
      d.index('inbox_lane').on(t.lane, t.updateId).where(sql.raw(`status = 'received'`)),
      d.index('inbox_message').on(t.address, t.messageId).where(sql.raw('message_id is not null')),
      d.index('inbox_open').on(t.updateId).where(sql.raw(`status = 'received'`)),
      d.check('inbox_status', sql.raw(`status in ('received', 'done', 'failed')`)),
    ],
  );
}

/** A task being made by question and answer; it survives a restart and an upgrade. */
export function draftsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'drafts',
    {
      id: text('id').primaryKey(),
      chatId: text('chat_id').notNull(),
      userId: text('user_id').$type<Actor>().notNull(),
      topic: int('topic'),
      step: text('step').notNull(),
      body: text('body').notNull(),
      messageId: int('message_id'),
      expiresAt: int('expires_at').notNull(),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
    },
    (t) => [d.index('drafts_place').on(t.chatId, t.userId)],
  );
}

/**
 * Amounts that runs have spent, each booked once for its run, attempt, kind and source. They belong to the instant at which the run was
 * let in, as its reservation did. What is left of runs that are gone is one row for each day, without a run.
 */
export function usageTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'usage',
    {
      /** Of what is left of a day, a name of its own. */
      runId: text('run_id').notNull(),
      /** 0 for what is left of a day. */
      attempt: int('attempt').notNull(),
      kind: text('kind').$type<UsageKind>().notNull(),
      /** Where it was spent, such as a host; `estimate` where nobody knows what an attempt has spent, and its reservation counts. */
      source: text('source').notNull(),
      /** Whole; money in millionths. */
      quantity: int('quantity').notNull(),
      currency: text('currency'),
      priceVersion: text('price_version'),
      taskId: text('task_id'),
      ownerId: text('owner_id').$type<Actor>().notNull(),
      chatId: text('chat_id'),
      at: int('at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'usage_pk', columns: [t.runId, t.attempt, t.kind, t.source] }),
      d.index('usage_owner').on(t.ownerId, t.at),
      d.index('usage_chat').on(t.chatId, t.at),
      d.index('usage_task').on(t.taskId, t.at),
    ],
  );
}

/** Budgets. Those of tasks follow their policies. What was spent in the present period is kept, and reckoned anew from the usage at its turn. */
export function budgetsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'budgets',
    {
      /** Made of what tells it apart. */
      id: text('id').primaryKey(),
      scope: text('scope').$type<BudgetScope>().notNull(),
      /** The chat, the person or the task. */
      account: text('account').notNull(),
      chatId: text('chat_id'),
      kind: text('kind').$type<BudgetKind>().notNull(),
      per: text('per').$type<BudgetPeriod>().notNull(),
      quantity: int('quantity').notNull(),
      currency: text('currency'),
      /** Of a person; the others turn by the clock of their chat. */
      timezone: text('timezone'),
      setBy: text('set_by').$type<Actor>().notNull(),
      setAt: int('set_at').notNull(),
      fromAt: int('from_at').notNull(),
      toAt: int('to_at').notNull(),
      spent: int('spent').notNull(),
    },
    (t) => [d.index('budgets_account').on(t.account), d.index('budgets_chat').on(t.chatId)],
  );
}

/**
 * The pace of calls where several processes make them: what counts in all chats, in one of them, and beside the outbox. Where one
 * process makes all calls it keeps that in memory.
 */
export function paceTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'pace',
    {
      /** `all`, `asides`, the asides of one process, or the id of a chat. */
      scope: text('scope').primaryKey(),
      address: text('address').notNull(),
      /** The process that makes its calls; what is left of one that is gone has ended. */
      bootId: text('boot_id'),
      /** Messages that its calls become which are set aside or on their way, and calls that wait. */
      open: int('open').notNull(),
      waiting: int('waiting').notNull(),
      /** Ends of calls, each as the milliseconds since the one before it. */
      ends: text('ends').notNull(),
      heldUntil: int('held_until').notNull(),
      /** The instant at which Telegram last told it to wait, and for how long. */
      toldAt: int('told_at').notNull(),
      toldMs: int('told_ms').notNull(),
      freeAt: int('free_at').notNull(),
    },
    (t) => [d.index('pace_busy').on(t.scope).where(sql.raw('open + waiting > 0')), d.index('pace_held').on(t.freeAt)],
  );
}

/** Processes, those that have ended as well: attempts name them for as long as they are kept. */
export function processesTable({ table, text, int }: Dialect) {
  return table('processes', {
    /** The boot id. */
    id: text('id').primaryKey(),
    role: text('role').$type<Role>().notNull(),
    release: text('release').notNull(),
    /** Kinds of actions that it does, with commas between them. */
    kinds: text('kinds').notNull(),
    host: text('host').notNull(),
    pid: int('pid').notNull(),
    startedAt: int('started_at').notNull(),
    seenAt: int('seen_at').notNull(),
    leaseUntil: int('lease_until').notNull(),
    /** Since when it has lived without having been ended by another. */
    heldSince: int('held_since').notNull(),
    endedAt: int('ended_at'),
    /** Connections to the database that it may open; null for one of an earlier release. */
    connections: int('connections'),
  });
}

/** Kinds of actions of which nothing begins for now. */
export function pausedKindsTable({ table, text, int }: Dialect) {
  return table('paused_kinds', {
    kind: text('kind').primaryKey(),
    since: int('since').notNull(),
    by: text('paused_by').$type<Actor>().notNull(),
  });
}

export function kvTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'kv',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      value: text('value').notNull(),
      expiresAt: int('expires_at'),
      updatedAt: int('updated_at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'kv_pk', columns: [t.scope, t.key] })],
  );
}

/** Words that are said once in a chat, until they are forgotten. */
export function toldTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'told',
    {
      chatId: text('chat_id').notNull(),
      word: text('word').$type<Word['word']>().notNull(),
      /** Empty where the word gives none. */
      reason: text('reason').notNull(),
      /** Empty where it is about no task. */
      taskId: text('task_id').notNull(),
      /** The topic, the part, the person, the schedule or the instant that it is about; empty where there is none. */
      about: text('about').notNull(),
      at: int('at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'told_pk', columns: [t.chatId, t.word, t.reason, t.taskId, t.about] })],
  );
}

/** Access tokens that were obtained, sealed; and the turn of whoever asks a token server, so that nobody asks at the same time. */
export function credentialsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'credentials',
    {
      /** Names the settings for which a token was given, or whose turn it is; no part of a secret can be read from it. */
      digest: text('digest').primaryKey(),
      chatId: text('chat_id'),
      keyId: text('key_id'),
      box: text('box'),
      holder: text('holder'),
      heldUntil: int('held_until'),
      /** Since when an answer of the token server is missing. */
      askedAt: int('asked_at'),
      /** From then on the row may go. */
      expiresAt: int('expires_at').notNull(),
    },
    (t) => [
      d.index('credentials_expiry').on(t.expiresAt),
      d.check('credentials_sealed', sql.raw('(box is null) = (key_id is null)')),
      d.check('credentials_held', sql.raw('(holder is null) = (held_until is null)')),
    ],
  );
}
