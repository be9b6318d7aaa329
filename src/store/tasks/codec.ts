import type { DueTask, Unreadable } from '../../app/ports/pipeline.ts';
import type { TaskChange } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { errorText } from '../../domain/errors.ts';
import type { Grant } from '../../domain/grant.ts';
import type { Policies } from '../../domain/policy.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { ActionSpec, Stamp, Task, TaskState } from '../../domain/task.ts';
import { rows, type Script, type Value } from '../engine/engine.ts';
import type { Tables } from '../tables/define.ts';

/** Rows as both engines give them, and what the rooms make of them. A row that lies is an `Unreadable`, not a crash. */
export type Rows = { [K in keyof Tables]: Tables[K]['$inferSelect'] };
export type TaskRow = Rows['tasks'] & { readonly provider: string; readonly address: string };
/** What a task shows of itself. */
export type ShownTask = Omit<TaskRow, HiddenColumn>;
type HiddenColumn =
  | 'auto_pause'
  | 'grant_id'
  | `topic_${'boot' | 'asked_at' | 'cause' | 'name' | 'called_at' | 'lost'}`
  | 'card_message_id'
  | `incident_${'at' | 'failures'}`
  | 'skips_until';

type Json = Readonly<Record<string, unknown>>;

const empty: Json = Object.freeze({});

/** Throws when the text is no JSON object. Most tasks have empty policies and an empty context, so that case is free. */
export function readObject(column: string, text: string): Json {
  if (text === '{}') return empty;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${column} is no JSON`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${column} is no object`);
  return value as Json;
}

export function readTexts(column: string, text: string): readonly string[] {
  if (text === '[]') return [];
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw new Error(`${column} is no list`);
  return value as string[];
}

function readAction(text: string): ActionSpec {
  const action = readObject('action', text);
  if (typeof action['kind'] !== 'string') throw new Error('action has no kind');
  return action as ActionSpec;
}

type ScheduleColumns = Pick<
  Rows['tasks'],
  'schedule_kind' | 'once_at' | 'cron' | 'rrule' | 'interval' | 'start_at' | 'interval_from' | 'timezone'
>;

/** An instant that a clock can show; whatever else stands in the column is a lie. */
function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(Number(value)) <= scheduleLimits.lastInstant;
}

function readInstant(column: string, value: number): number {
  if (!isInstant(value)) throw new Error(`${column} is no instant`);
  return value;
}

function readSchedule(row: ScheduleColumns): Schedule {
  const { timezone } = row;
  if (row.schedule_kind === 'once' && row.once_at !== null) {
    return { kind: 'once', onceAt: readInstant('once_at', row.once_at), timezone };
  }
  if (row.schedule_kind === 'cron' && row.cron !== null) return { kind: 'cron', cron: row.cron, timezone };
  if (row.schedule_kind === 'rrule' && row.rrule !== null) return { kind: 'rrule', rrule: row.rrule, timezone };
  if (row.schedule_kind === 'interval' && row.interval !== null && row.start_at !== null) {
    const from = row.interval_from === 'completion' ? 'completion' : 'start';
    return { kind: 'interval', interval: row.interval, startAt: readInstant('start_at', row.start_at), from, timezone };
  }
  throw new Error(`schedule of kind ${row.schedule_kind} has no payload`);
}

export function scheduleColumns(schedule: Schedule): ScheduleColumns {
  return {
    schedule_kind: schedule.kind,
    once_at: schedule.kind === 'once' ? schedule.onceAt : null,
    cron: schedule.kind === 'cron' ? schedule.cron : null,
    rrule: schedule.kind === 'rrule' ? schedule.rrule : null,
    interval: schedule.kind === 'interval' ? schedule.interval : null,
    start_at: schedule.kind === 'interval' ? schedule.startAt : null,
    interval_from: schedule.kind === 'interval' ? schedule.from : null,
    timezone: schedule.timezone,
  };
}

export interface GrantColumns {
  readonly grant_id: string | null;
  readonly grant_owner: string | null;
  readonly grant_scopes: string | null;
  readonly grant_expires_at: number | null;
  readonly grant_revoked_at: number | null;
}

export const grantColumns = `g.id as grant_id, g.owner_id as grant_owner, g.scopes as grant_scopes,
  g.expires_at as grant_expires_at, g.revoked_at as grant_revoked_at`;

export function readGrant(row: GrantColumns, chatId: string): Grant | null {
  if (row.grant_id === null || row.grant_scopes === null || row.grant_owner === null) return null;
  return {
    id: row.grant_id,
    ownerId: row.grant_owner as Actor,
    chatId,
    scopes: readTexts('scopes', row.grant_scopes),
    expiresAt: row.grant_expires_at,
    revokedAt: row.grant_revoked_at,
  };
}

export type DueRow = Omit<TaskRow, 'grant_id' | 'address'> &
  GrantColumns & {
    readonly live: number;
    readonly waiting: number;
    /** Counted apart, see `countReserved`: few tasks have anything that waits. */
    reserved?: number;
    /** Looked up apart as well, for tasks with `skips_until` ahead. */
    skipped?: readonly number[];
  };

/** Everything the planning of a slot needs; see `readDue`. */
export const dueColumns = `t.id, t.version, t.number, t.next_at, t.title, t.instructions, t.action, t.schedule_kind,
  t.once_at, t.cron, t.rrule, t.interval, t.start_at, t.interval_from, t.timezone, t.min_gap_ms, t.policies, t.subject,
  t.tags, t.context, t.bounded_runs, t.resume_at, t.skips_until, t.owner_id, t.chat_id, c.provider, ${grantColumns},
  (select count(*) from runs r where r.task_id = t.id and r.exclusive = 1
    and r.status in ('queued', 'running', 'backoff', 'waiting'))
  + (select count(*) from runs r where r.task_id = t.id and r.exclusive = 0
    and r.status in ('queued', 'running', 'backoff', 'waiting')) as live,
  (select count(*) from occurrences o where o.task_id = t.id and o.status = 'pending' and o.decide_by is null
    and o.source <> 'snooze') as waiting`;

export const dueSource = `tasks t join chats c on c.id = t.chat_id left join grants g on g.id = t.grant_id`;

export function readDue(row: DueRow): DueTask | Unreadable {
  try {
    if (!isInstant(row.next_at)) throw new Error('next_at is no instant');
    return {
      id: row.id,
      version: row.version,
      number: row.number,
      nextAt: row.next_at,
      title: row.title,
      instructions: row.instructions,
      action: readAction(row.action),
      schedule: readSchedule(row),
      policies: readObject('policies', row.policies),
      subject: row.subject,
      tags: readTexts('tags', row.tags),
      minGapMs: row.min_gap_ms,
      boundedRuns: row.bounded_runs,
      ownerId: row.owner_id as Actor,
      chatId: row.chat_id,
      provider: row.provider,
      context: readObject('context', row.context),
      grant: readGrant(row, row.chat_id),
      live: row.live,
      waiting: row.waiting,
      reserved: row.reserved ?? 0,
      skipped: row.skipped ?? [],
    };
  } catch (error) {
    return unreadable(row.id, error);
  }
}

export function unreadable(id: string, error: unknown): Unreadable {
  return { id, unreadable: errorText(error) };
}

/**
 * A task for people and clients. A part that cannot be read is shown empty: the row is paused with the reason by the step
 * that stumbled over it, and a list of tasks must not fail because of one of them.
 */
export function readTask(row: ShownTask): Task {
  const lenient = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  return {
    id: row.id,
    number: row.number,
    version: row.version,
    state: row.state as TaskState,
    nextAt: isInstant(row.next_at) ? row.next_at : null,
    title: row.title,
    instructions: row.instructions,
    action: lenient(() => readAction(row.action), { kind: 'unreadable' }),
    schedule: lenient(() => readSchedule(row), { kind: 'once', onceAt: 0, timezone: 'UTC' }),
    policies: lenient(() => readObject('policies', row.policies) as Policies, {}),
    subject: row.subject,
    tags: lenient(() => readTexts('tags', row.tags), []),
    minGapMs: row.min_gap_ms,
    pausedReason: row.paused_reason,
    resumeAt: row.resume_at,
    ownerId: row.owner_id as Actor,
    chatId: row.chat_id,
    home: { provider: row.provider, address: row.address, topic: row.home_topic },
    topicState: row.topic_state as Task['topicState'],
    topicId: row.topic_id,
    context: lenient(() => readObject('context', row.context), {}),
    counters: {
      runs: row.runs,
      failures: row.failures,
      consecutiveFailures: row.consecutive_failures,
      boundedRuns: row.bounded_runs,
    },
    lastRunAt: row.last_run_at,
    lastRunStatus: row.last_run_status as Task['lastRunStatus'],
    lastError: row.last_error,
    ...stamps(row),
  };
}

function stamps(row: ShownTask): Pick<Task, 'created' | 'updated' | 'paused' | 'resumed' | 'deleted'> {
  const stamp = (at: number | null, by: string | null): Stamp | null =>
    at === null || by === null ? null : { at, by: by as Actor };
  return {
    created: { at: row.created_at, by: row.created_by as Actor },
    updated: { at: row.updated_at, by: row.updated_by as Actor },
    paused: stamp(row.paused_at, row.paused_by),
    resumed: stamp(row.resumed_at, row.resumed_by),
    deleted: stamp(row.deleted_at, row.deleted_by),
  };
}

/** What a column of ours says; one that cannot be read says nothing. */
export function readFacts(text: string | null): Json | null {
  if (text === null) return null;
  try {
    return readObject('facts', text);
  } catch {
    return null;
  }
}

export type Columns = Readonly<Record<string, Value>>;

export function definitionColumns(change: TaskChange['set']): Columns {
  return {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.instructions === undefined ? {} : { instructions: change.instructions }),
    ...(change.action === undefined ? {} : { action: JSON.stringify(change.action) }),
    ...(change.schedule === undefined ? {} : scheduleColumns(change.schedule)),
    ...(change.policies === undefined ? {} : { policies: JSON.stringify(change.policies) }),
    ...(change.subject === undefined ? {} : { subject: change.subject }),
    ...(change.tags === undefined ? {} : { tags: JSON.stringify(change.tags) }),
  };
}

export function fieldColumns(change: TaskChange['set']): Columns {
  return {
    ...definitionColumns(change),
    ...(change.state === undefined ? {} : { state: change.state }),
    ...(change.nextAt === undefined ? {} : { next_at: change.nextAt }),
    ...(change.minGapMs === undefined ? {} : { min_gap_ms: change.minGapMs }),
    ...(change.autoPause === undefined ? {} : { auto_pause: change.autoPause }),
    ...(change.pausedReason === undefined ? {} : { paused_reason: change.pausedReason }),
    ...(change.skipsUntil === undefined ? {} : { skips_until: change.skipsUntil }),
    ...(change.resumeAt === undefined ? {} : { resume_at: change.resumeAt }),
    ...(change.context === undefined ? {} : { context: JSON.stringify(change.context) }),
    ...(change.boundedRuns === undefined ? {} : { bounded_runs: change.boundedRuns }),
    ...(change.consecutiveFailures === undefined ? {} : { consecutive_failures: change.consecutiveFailures }),
  };
}

export function placeholder(value: Value): string {
  return typeof value === 'number' ? '?i' : '?t';
}

export function* insertRow(table: string, columns: Columns): Script<void> {
  const present = Object.entries(columns).filter(([, value]) => value !== null);
  const names = present.map(([name]) => name).join(', ');
  const values = present.map(([, value]) => placeholder(value)).join(', ');
  yield* rows(`insert into ${table} (${names}) values (${values})`, ...present.map(([, value]) => value));
}
