import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

const liveRun = sql.raw(`status in ('queued', 'running', 'backoff', 'waiting')`);

export function occurrencesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'occurrences',
    {
      id: text('id').primaryKey(),
      task_id: text('task_id').notNull(),
      slot_at: int('slot_at').notNull(),
      source: text('source').notNull(),
      status: text('status').notNull(),
      reason: text('reason'),
      decide_by: int('decide_by'),
      replay_of: text('replay_of'),
      run_id: text('run_id'),
      /** How long after its slot it was taken up: the lateness that a person asks about. */
      late_ms: int('late_ms').notNull(),
      error: text('error'),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
      /** The row of the audit that led to its reason; null where nobody did anything. */
      deed_id: int('deed_id'),
      /** The row of the audit by which somebody asked for it; null for what the schedule alone asked for. */
      asked_by: int('asked_by'),
    },
    (t) => [
      // Also the uniqueness of the idempotency key, which is a function of these two columns.
      d.uniqueIndex('occurrences_slot').on(t.task_id, t.slot_at),
      d.index('occurrences_pending').on(t.task_id, t.slot_at).where(sql.raw(`status = 'pending'`)),
      d.index('occurrences_snoozed').on(t.slot_at).where(sql.raw(`status = 'pending' and source = 'snooze'`)),
      d.index('occurrences_replay').on(t.replay_of).where(sql.raw('replay_of is not null')),
      d.index('occurrences_decide').on(t.decide_by).where(sql.raw(`status = 'pending' and decide_by is not null`)),
      d.check(
        'occurrences_status',
        sql.raw(`status in ('pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed')`),
      ),
      d.check('occurrences_run', sql.raw(`status <> 'dispatched' or run_id is not null`)),
    ],
  );
}

/** Missed slots that are too many for a row each. */
export function gapsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'gaps',
    {
      id: text('id').primaryKey(),
      task_id: text('task_id').notNull(),
      from_at: int('from_at').notNull(),
      to_at: int('to_at').notNull(),
      count: int('count').notNull(),
      reason: text('reason').notNull(),
      created_at: int('created_at').notNull(),
    },
    (t) => [d.uniqueIndex('gaps_from').on(t.task_id, t.from_at)],
  );
}

export function runsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'runs',
    {
      id: text('id').primaryKey(),
      source: text('source').notNull(),
      idempotency_key: text('idempotency_key').notNull(),
      payload_hash: text('payload_hash').notNull(),
      lane: text('lane'),
      exclusive: int('exclusive').notNull(),
      /** Ten minus the priority, so that one ascending index serves the most urgent first. */
      rank: int('rank').notNull(),
      task_id: text('task_id'),
      task_version: int('task_version'),
      occurrence_id: text('occurrence_id'),
      chat_id: text('chat_id'),
      owner_id: text('owner_id').notNull(),
      status: text('status').notNull(),
      ready_at: int('ready_at').notNull(),
      fence: int('fence').notNull(),
      boot_id: text('boot_id'),
      attempts: int('attempts').notNull(),
      interruptions: int('interruptions').notNull(),
      cancel_requested_at: int('cancel_requested_at'),
      cancel_reason: text('cancel_reason'),
      input: text('input').notNull(),
      output: text('output'),
      error: text('error'),
      created_at: int('created_at').notNull(),
      started_at: int('started_at'),
      finished_at: int('finished_at'),
      /** The request that asked for it, as its client named it; null for what a schedule asked for. */
      trace_id: text('trace_id'),
    },
    (t) => [
      d.uniqueIndex('runs_key').on(t.idempotency_key, t.source),
      d
        .uniqueIndex('runs_exclusive')
        .on(t.task_id)
        .where(sql`exclusive = 1 and ${liveRun}`),
      d
        .index('runs_shared')
        .on(t.task_id)
        .where(sql`exclusive = 0 and ${liveRun}`),
      d
        .index('runs_lane')
        .on(t.lane)
        .where(sql`lane is not null and ${liveRun}`),
      d.index('runs_ready').on(t.rank, t.ready_at).where(sql.raw(`status in ('queued', 'backoff')`)),
      d.index('runs_running').on(t.boot_id).where(sql.raw(`status = 'running'`)),
      d.check(
        'runs_status',
        sql.raw(`status in ('queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled')`),
      ),
      d.check('runs_boot', sql.raw(`status <> 'running' or boot_id is not null`)),
    ],
  );
}

export function attemptsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'attempts',
    {
      run_id: text('run_id').notNull(),
      attempt: int('attempt').notNull(),
      status: text('status').notNull(),
      boot_id: text('boot_id').notNull(),
      started_at: int('started_at').notNull(),
      finished_at: int('finished_at'),
      duration_ms: int('duration_ms'),
      http_status: int('http_status'),
      error: text('error'),
    },
    (t) => [
      d.primaryKey({ name: 'attempts_pk', columns: [t.run_id, t.attempt] }),
      d.check(
        'attempts_status',
        sql.raw(`status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')`),
      ),
      d.check('attempts_end', sql.raw(`(status = 'running') = (finished_at is null)`)),
    ],
  );
}
