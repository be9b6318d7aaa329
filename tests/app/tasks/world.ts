import type { TaskRun } from '../../../src/app/ports/runs.ts';
import type { Changed } from '../../../src/app/ports/tasks.ts';
import type { ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import type { Task } from '../../../src/domain/task.ts';
import { parseThreadKey } from '../../../src/domain/thread.ts';
import { actor, group, hour, minute, start, type Pipeline, hourly } from '../../support/pipeline.ts';

export { hourly };

/** All tasks of the group. */
export const inGroup = { thread: parseThreadKey(group) };

export const delay = { kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' } as const;
/** Runs until it is told to stop, or for a minute. */
export const slow = { kind: 'echo', delay_ms: 60_000 } as const;
export const failing = { kind: 'echo', fail_attempts: 99, error: 'final' } as const;
/** Longer than the slow action takes. */
export const long = { timeout: 'PT5M' } as const;

export function once(hours: number): ScheduleInput {
  return { kind: 'once', once_at: iso(start + hours * hour), timezone: 'UTC' };
}

/** One schedule of each kind, each with its first slot an hour from the start. */
export const kinds: readonly (readonly [string, ScheduleInput])[] = [
  ['once', once(1)],
  ['cron', hourly],
  ['rrule', { kind: 'rrule', rrule: 'FREQ=HOURLY;BYMINUTE=0', timezone: 'UTC' }],
  ['interval', { kind: 'interval', interval: 'PT1H', timezone: 'UTC' }],
  ['interval from completion', delay],
];

/** Those of them that go on for ever. */
export const recurring = kinds.slice(1);

export const overlaps = ['skip', 'queue', 'replace', 'allow'] as const;

export function iso(instant: number): string {
  return new Date(instant).toISOString();
}

export function target({ id }: Pick<Task, 'id'>, idempotencyKey: string | null = null) {
  return { taskId: id, actor, idempotencyKey } as const;
}

/** Every occurrence of a task in one line: minutes from the start, status, reason and, when it is not the schedule, source. */
export async function story(p: Pipeline, { id }: Pick<Task, 'id'>): Promise<string[]> {
  return (await p.history(id)).map(({ slotAt, source, status, reason }) =>
    [Math.floor((slotAt - start) / minute), source === 'schedule' ? [] : source, status, reason ?? []].flat().join(' '),
  );
}

export async function find(p: Pipeline, { id }: Pick<Task, 'id'>): Promise<Task> {
  const task = await p.store.readTask(id);
  if (task === null) throw new Error('there is no such task');
  return task;
}

/** Minutes from the start until the next slot; null when there is none. */
export async function nextIn(p: Pipeline, task: Pick<Task, 'id'>): Promise<number | null> {
  const { nextAt } = await find(p, task);
  return nextAt === null ? null : (nextAt - start) / minute;
}

export interface AuditLine {
  readonly id: number;
  readonly actor: string;
  readonly verb: string;
  readonly state_before: string | null;
  readonly state_after: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

export function auditOf({ database }: Pipeline, after = 0): AuditLine[] {
  return database.prepare('select * from audit where id > ? order by id').all(after) as AuditLine[];
}

export interface EventLine {
  readonly id: number;
  readonly kind: string;
  readonly task_id: string | null;
  readonly ref: string | null;
}

export function eventsOf({ database }: Pipeline, after = 0): EventLine[] {
  return database.prepare('select * from events where id > ? order by id').all(after) as EventLine[];
}

/** What a deed writes about itself: its rows in the audit, and the kinds of its events. */
export async function newsOf(p: Pipeline, deed: () => Promise<unknown>) {
  const [lastAudit, lastEvent] = [auditOf(p).at(-1)?.id ?? 0, eventsOf(p).at(-1)?.id ?? 0];
  await deed();
  const audit = auditOf(p, lastAudit);
  const events = eventsOf(p, lastEvent);
  return {
    audit,
    verbs: audit.map(({ verb }) => verb),
    events: events.map(({ kind }) => kind),
    /** The events of the audit rows name them, in their order. */
    isTold: events.filter(({ ref, kind }) =>
      audit.some(({ id, verb }) => ref === String(id) && kind === `task.${verb}`),
    ),
  };
}

export function runIdOf({ runId }: Pick<TaskRun, 'runId'>): string {
  if (runId === null) throw new Error('this occurrence has no run');
  return runId;
}

export function entryOf({ entryId }: Pick<Changed, 'entryId'>): string {
  if (entryId === null) throw new Error('this changed nothing');
  return entryId;
}

/** Runs the task by hand and answers its run; without settling it is only queued. */
export async function queued(p: Pipeline, task: Pick<Task, 'id'>): Promise<string> {
  return runIdOf((await p.rooms.tasks.runNow(target(task))).taskRun);
}

/** A run by hand that has begun and goes on. */
export async function running(p: Pipeline, task: Pick<Task, 'id'>): Promise<string> {
  const runId = await queued(p, task);
  await p.rooms.runner.step(p.time.now(), 100);
  return runId;
}

/** A run by hand that has ended. */
export async function ended(p: Pipeline, task: Pick<Task, 'id'>): Promise<string> {
  const runId = await queued(p, task);
  await p.settle();
  return runId;
}

export function runOf({ database }: Pipeline, runId: string) {
  const row = database.prepare('select status, instructions, input, error from runs where id = ?').get(runId) as {
    readonly status: string;
    readonly instructions: string;
    readonly input: string;
    readonly error: string | null;
  };
  return { ...row, input: JSON.parse(row.input) as Record<string, unknown> };
}
