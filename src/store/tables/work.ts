import { sql } from 'drizzle-orm';
import type { Actor } from '../../domain/access.ts';
import type { OccurrenceSource, OccurrenceStatus, Reason } from '../../domain/occurrence.ts';
import type { AttemptStatus, RunStatus } from '../../domain/run.ts';
import type { Dialect } from './dialect.ts';

const liveRun = sql.raw(`status in ('queued', 'running', 'backoff', 'waiting')`);

export function occurrencesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'occurrences',
    {
      id: text('id').primaryKey(),
      taskId: text('task_id').notNull(),
      slotAt: int('slot_at').notNull(),
      source: text('source').$type<OccurrenceSource>().notNull(),
      status: text('status').$type<OccurrenceStatus>().notNull(),
      reason: text('reason').$type<Reason>(),
      decideBy: int('decide_by'),
      replayOf: text('replay_of'),
      runId: text('run_id'),
      /** How long after its slot it was taken up: the lateness that a person asks about. */
      lateMs: int('late_ms').notNull(),
      error: text('error'),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
      /** The row of the audit that led to its reason; null where nobody did anything. */
      deedId: int('deed_id'),
      /** The row of the audit by which somebody asked for it; null for what the schedule alone asked for. */
      askedBy: int('asked_by'),
    },
    (t) => [
      // Also the uniqueness of the idempotency key, which is a function of these two columns.
      d.uniqueIndex('occurrences_slot').on(t.taskId, t.slotAt),
      d.index('occurrences_pending').on(t.taskId, t.slotAt).where(sql.raw(`status = 'pending'`)),
      d.index('occurrences_snoozed').on(t.slotAt).where(sql.raw(`status = 'pending' and source = 'snooze'`)),
      d.index('occurrences_replay').on(t.replayOf).where(sql.raw('replay_of is not null')),
      d.index('occurrences_decide').on(t.decideBy).where(sql.raw(`status = 'pending' and decide_by is not null`)),
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
      taskId: text('task_id').notNull(),
      fromAt: int('from_at').notNull(),
      toAt: int('to_at').notNull(),
      count: int('count').notNull(),
      reason: text('reason').$type<Reason>().notNull(),
      createdAt: int('created_at').notNull(),
    },
    (t) => [d.uniqueIndex('gaps_from').on(t.taskId, t.fromAt)],
  );
}

export function runsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'runs',
    {
      id: text('id').primaryKey(),
      source: text('source').notNull(),
      idempotencyKey: text('idempotency_key').notNull(),
      payloadHash: text('payload_hash').notNull(),
      lane: text('lane'),
      exclusive: int('exclusive').notNull(),
      /** Ten minus the priority, so that one ascending index serves the most urgent first. */
      rank: int('rank').notNull(),
      taskId: text('task_id'),
      taskVersion: int('task_version'),
      occurrenceId: text('occurrence_id'),
      chatId: text('chat_id'),
      ownerId: text('owner_id').$type<Actor>().notNull(),
      status: text('status').$type<RunStatus>().notNull(),
      readyAt: int('ready_at').notNull(),
      fence: int('fence').notNull(),
      bootId: text('boot_id'),
      attempts: int('attempts').notNull(),
      interruptions: int('interruptions').notNull(),
      cancelRequestedAt: int('cancel_requested_at'),
      cancelReason: text('cancel_reason'),
      input: text('input').notNull(),
      output: text('output'),
      error: text('error'),
      createdAt: int('created_at').notNull(),
      startedAt: int('started_at'),
      finishedAt: int('finished_at'),
      /** The request that asked for it, as its client named it; null for what a schedule asked for. */
      traceId: text('trace_id'),
    },
    (t) => [
      d.uniqueIndex('runs_key').on(t.idempotencyKey, t.source),
      d
        .uniqueIndex('runs_exclusive')
        .on(t.taskId)
        .where(sql`exclusive = 1 and ${liveRun}`),
      d
        .index('runs_shared')
        .on(t.taskId)
        .where(sql`exclusive = 0 and ${liveRun}`),
      d
        .index('runs_lane')
        .on(t.lane)
        .where(sql`lane is not null and ${liveRun}`),
      d.index('runs_ready').on(t.rank, t.readyAt).where(sql.raw(`status in ('queued', 'backoff')`)),
      d.index('runs_running').on(t.bootId).where(sql.raw(`status = 'running'`)),
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
      runId: text('run_id').notNull(),
      attempt: int('attempt').notNull(),
      status: text('status').$type<AttemptStatus>().notNull(),
      bootId: text('boot_id').notNull(),
      startedAt: int('started_at').notNull(),
      finishedAt: int('finished_at'),
      durationMs: int('duration_ms'),
      httpStatus: int('http_status'),
      error: text('error'),
    },
    (t) => [
      d.primaryKey({ name: 'attempts_pk', columns: [t.runId, t.attempt] }),
      d.check(
        'attempts_status',
        sql.raw(`status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')`),
      ),
      d.check('attempts_end', sql.raw(`(status = 'running') = (finished_at is null)`)),
    ],
  );
}
