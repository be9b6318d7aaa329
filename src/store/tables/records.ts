import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

/** What people, and the product itself, did; append only. */
export function auditTable(d: Dialect) {
  const { text, int, serial } = d;
  return d.table(
    'audit',
    {
      id: serial('id').primaryKey(),
      at: int('at').notNull(),
      actor: text('actor').notNull(),
      verb: text('verb').notNull(),
      task_id: text('task_id'),
      chat_id: text('chat_id'),
      /** Where the task stood before and after, so that the truth about any instant is one look to either side. */
      state_before: text('state_before'),
      state_after: text('state_after'),
      before: text('before'),
      after: text('after'),
      /** The request in whose course it was done, as its client named it. */
      trace_id: text('trace_id'),
    },
    (t) => [
      d.index('audit_task').on(t.task_id, t.at),
      d.index('audit_changes').on(t.task_id, t.at).where(sql.raw(changesState)),
    ],
  );
}

/** A deed after which a task stood elsewhere, or was paused in another way: a second pause may move the end of the first. */
export const changesState = `(state_before is distinct from state_after or verb in ('pause', 'quarantine'))`;

/** Stretches of time that came twice, because the clock was set back. */
export function setBacksTable({ table, serial, int }: Dialect) {
  return table('set_backs', {
    id: serial('id').primaryKey(),
    from_at: int('from_at').notNull(),
    to_at: int('to_at').notNull(),
  });
}

/** What a task was told to do, each time that changed. */
export function taskVersionsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'task_versions',
    {
      task_id: text('task_id').notNull(),
      version: int('version').notNull(),
      at: int('at').notNull(),
      actor: text('actor').notNull(),
      definition: text('definition').notNull(),
    },
    (t) => [d.primaryKey({ name: 'task_versions_pk', columns: [t.task_id, t.version] })],
  );
}

/**
 * What happened, in the order in which it became true; written in the transaction that made it so. On Postgres several
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
      task_id: text('task_id'),
      /** The row it is about: a run, a delivery, an occurrence, a gap. */
      ref: text('ref'),
      data: text('data'),
    },
    (t) => d.onPostgres(() => d.index('events_order').on(t.tx, t.id)),
  );
}

/** The time between two lives of the process, and what it cost. */
export function downtimesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'downtimes',
    {
      id: text('id').primaryKey(),
      from_at: int('from_at').notNull(),
      to_at: int('to_at').notNull(),
      /** Null until every slot of that time was decided about. */
      report: text('report'),
      reported_at: int('reported_at'),
    },
    (t) => [d.index('downtimes_open').on(t.to_at).where(sql.raw('report is null'))],
  );
}

export function idempotencyKeysTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'idempotency_keys',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      payload_hash: text('payload_hash').notNull(),
      /** What the first call made. It commits together with the effect, so there is no state in between. */
      result: text('result').notNull(),
      /** JSON: what the first call was told, so that a repetition is told the same; null until that was kept. */
      answer: text('answer'),
      created_at: int('created_at').notNull(),
      expires_at: int('expires_at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'idempotency_keys_pk', columns: [t.scope, t.key] }),
      d.index('idempotency_keys_expiry').on(t.expires_at),
    ],
  );
}

/** Updates of the platform, stored before the next offset is asked for. */
export function inboxTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'inbox',
    {
      update_id: int('update_id').primaryKey(),
      payload: text('payload').notNull(),
      status: text('status').notNull(),
      attempts: int('attempts').notNull(),
      error: text('error'),
      received_at: int('received_at').notNull(),
      done_at: int('done_at'),
      /** The chat and the message that it tells of. */
      address: text('address'),
      message_id: int('message_id'),
    },
    (t) => [
      d.index('inbox_message').on(t.address, t.message_id).where(sql.raw('message_id is not null')),
      d.index('inbox_open').on(t.update_id).where(sql.raw(`status = 'received'`)),
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
      chat_id: text('chat_id').notNull(),
      user_id: text('user_id').notNull(),
      topic: int('topic'),
      step: text('step').notNull(),
      body: text('body').notNull(),
      message_id: int('message_id'),
      expires_at: int('expires_at').notNull(),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [d.index('drafts_place').on(t.chat_id, t.user_id)],
  );
}

/** What runs consumed, booked once per run and kind on the owner and the chat. */
export function usageTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'usage',
    {
      run_id: text('run_id').notNull(),
      kind: text('kind').notNull(),
      quantity: int('quantity').notNull(),
      task_id: text('task_id'),
      owner_id: text('owner_id').notNull(),
      chat_id: text('chat_id'),
      at: int('at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'usage_pk', columns: [t.run_id, t.kind] }),
      d.index('usage_owner').on(t.owner_id, t.at),
    ],
  );
}

export function kvTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'kv',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      value: text('value').notNull(),
      expires_at: int('expires_at'),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'kv_pk', columns: [t.scope, t.key] })],
  );
}
