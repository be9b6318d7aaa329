import type { DueTask, Unreadable } from '../../app/ports/pipeline.ts';
import type { TaskChange } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { errorText } from '../../domain/errors.ts';
import type { Grant } from '../../domain/grant.ts';
import { autoPauseDefault } from '../../domain/limits.ts';
import type { OccurrenceOutcome } from '../../domain/occurrence.ts';
import type { Policies } from '../../domain/policy.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import { durationMs } from '../../domain/schedule/time/duration.ts';
import { subjectKey, type ActionSpec, type Definition, type Stamp, type Task } from '../../domain/task.ts';
import {
  columnsOf,
  mapped,
  maybe,
  number,
  pick,
  together,
  type Answer,
  type Field,
  type RowOf,
} from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';

/** Rows as both engines give them, and what the rooms make of them. A row that lies is an `Unreadable`, not a crash. */

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

const scheduleNames = [
  'scheduleKind',
  'onceAt',
  'cron',
  'rrule',
  'interval',
  'startAt',
  'intervalFrom',
  'timezone',
] as const;

type ScheduleColumns = Pick<RowOf<'tasks'>, (typeof scheduleNames)[number]>;

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
  if (row.scheduleKind === 'once' && row.onceAt !== null) {
    const wait = row.startAt === null ? {} : { startAt: readInstant('start_at', row.startAt) };
    return { kind: 'once', onceAt: readInstant('once_at', row.onceAt), ...wait, timezone };
  }
  if (row.scheduleKind === 'cron' && row.cron !== null) return { kind: 'cron', cron: row.cron, timezone };
  if (row.scheduleKind === 'rrule' && row.rrule !== null) return { kind: 'rrule', rrule: row.rrule, timezone };
  if (row.scheduleKind === 'interval' && row.interval !== null && row.startAt !== null) {
    const from = row.intervalFrom === 'completion' ? 'completion' : 'start';
    return { kind: 'interval', interval: row.interval, startAt: readInstant('start_at', row.startAt), from, timezone };
  }
  throw new Error(`schedule of kind ${row.scheduleKind} has no payload`);
}

export function scheduleColumns(schedule: Schedule): ScheduleColumns {
  return {
    scheduleKind: schedule.kind,
    onceAt: schedule.kind === 'once' ? schedule.onceAt : null,
    cron: schedule.kind === 'cron' ? schedule.cron : null,
    rrule: schedule.kind === 'rrule' ? schedule.rrule : null,
    interval: schedule.kind === 'interval' ? schedule.interval : null,
    startAt: schedule.kind === 'once' || schedule.kind === 'interval' ? (schedule.startAt ?? null) : null,
    intervalFrom: schedule.kind === 'interval' ? schedule.from : null,
    timezone: schedule.timezone,
  };
}

const t = columnsOf('tasks', 't');
const c = columnsOf('chats', 'c');
const g = columnsOf('grants', 'g');

/** The grant of a task or a run, under the alias `g`; null where it has none. */
export const grantFields = {
  grantId: maybe(g.id),
  grantOwner: maybe(g.ownerId),
  grantScopes: maybe(g.scopes),
  grantUnconfirmed: maybe(g.unconfirmed),
  grantExpiresAt: g.expiresAt,
  grantRevokedAt: g.revokedAt,
  grantCreatedAt: maybe(g.createdAt),
};

export function readGrant(row: Answer<typeof grantFields>, chatId: string): Grant | null {
  const { grantId: id, grantOwner: ownerId, grantScopes: scopes, grantExpiresAt: expiresAt } = row;
  const { grantRevokedAt: revokedAt, grantCreatedAt: createdAt, grantUnconfirmed: open } = row;
  if (id === null || ownerId === null || scopes === null || open === null || createdAt === null) return null;
  const unconfirmed = readTexts('unconfirmed', open);
  return { id, ownerId, chatId, scopes: readTexts('scopes', scopes), unconfirmed, expiresAt, revokedAt, createdAt };
}

/** Columns that the planning of a slot needs, over `dueSource`; see `readDue`. */
export const dueFields = {
  ...pick(t, 'id', 'version', 'number', 'nextAt', 'title', 'instructions', 'action', ...scheduleNames),
  ...pick(t, 'minGapMs', 'policies', 'subject', 'tags', 'context', 'boundedRuns', 'resumeAt', 'skipsUntil'),
  ...pick(t, 'ownerId', 'chatId', 'runNumber', 'contextVersion'),
  provider: c.provider,
  ...grantFields,
  live: number(
    raw(`(select count(*) from runs r where r.task_id = t.id and r.exclusive = 1
    and r.status in ('queued', 'running', 'backoff', 'waiting'))
  + (select count(*) from runs r where r.task_id = t.id and r.exclusive = 0
    and r.status in ('queued', 'running', 'backoff', 'waiting'))`),
  ),
  waiting: number(
    raw(`(select count(*) from occurrences o where o.task_id = t.id and o.status = 'pending' and o.decide_by is null
    and o.source <> 'snooze')`),
  ),
};

/** A snooze that was asked for before a pause waits for its end; what is asked for while it lasts comes all the same. */
export const held = raw(`(o.source = 'snooze' and t.state = 'paused' and o.created_at < coalesce(t.paused_at, 0))`);

export const isHeld: Field<boolean> = mapped(number(sql`case when ${held} then 1 else 0 end`), (one) => one === 1);

export const dueSource = raw('tasks t join chats c on c.id = t.chat_id left join grants g on g.id = t.grant_id');

export type DueRow = Answer<typeof dueFields> & {
  /** Counted apart, see `countReserved`: few tasks have anything that waits, or that still runs. */
  reserved?: number;
  held?: number;
  /** Looked up apart as well, for tasks with `skipsUntil` ahead. */
  skipped?: readonly number[];
};

export function readDue(row: DueRow): DueTask | Unreadable {
  try {
    if (!isInstant(row.nextAt)) throw new Error('next_at is no instant');
    const { id, version, number: ordinal, title, instructions, subject, minGapMs, boundedRuns } = row;
    const { ownerId, chatId, provider, live, waiting, reserved = 0, held = 0, skipped = [] } = row;
    const plain = { id, version, number: ordinal, title, instructions, subject, minGapMs, boundedRuns };
    return {
      ...plain,
      ownerId,
      chatId,
      provider,
      live,
      waiting,
      reserved,
      held,
      skipped,
      nextAt: row.nextAt,
      action: readAction(row.action),
      schedule: readSchedule(row),
      policies: readObject('policies', row.policies),
      tags: readTexts('tags', row.tags),
      context: readObject('context', row.context),
      grant: readGrant(row, chatId),
    };
  } catch (error) {
    return unreadable(row.id, error);
  }
}

export function unreadable(id: string, error: unknown): Unreadable {
  return { id, unreadable: errorText(error) };
}

function lenient<V, T>(read: (value: V) => T, otherwise: T): (value: V) => T {
  return (value) => {
    try {
      return read(value);
    } catch {
      return otherwise;
    }
  };
}

function stampOf(at: number | null, by: Actor | null): Stamp | null {
  return at === null || by === null ? null : { at, by };
}

const readableAction = lenient(readAction, { kind: 'unreadable' });
const readableSchedule = lenient(readSchedule, { kind: 'once', onceAt: 0, timezone: 'UTC' });
const readablePolicies = lenient((text: string) => readObject('policies', text) as Policies, {});
const readableTags = lenient((text: string) => readTexts('tags', text), []);
const readableContext = lenient((text: string) => readObject('context', text), {});

/** A slot that is skipped in advance has its row before it is decided about. */
const isAhead = `o.status = 'skipped' and o.slot_at > o.updated_at`;
const isDecided = `o.task_id = t.id and not (${isAhead})
  and o.status in ('succeeded', 'failed', 'cancelled', 'skipped', 'missed')`;

/** The run that ended last counts as decided at its end, so what was left out beside it is no later outcome. */
export const lastOutcome: Field<OccurrenceOutcome | null> = {
  sql: raw(`coalesce((select 'missed' from gaps g where g.task_id = t.id
      and not exists (select 1 from occurrences o where ${isDecided} and o.slot_at > g.to_at)
      and not exists (select 1 from runs r where r.id = t.last_run_id and r.finished_at > g.created_at) limit 1),
    (select r.status from runs r join occurrences own on own.id = r.occurrence_id where r.id = t.last_run_id
      and not exists (select 1 from occurrences o
        where ${isDecided} and o.slot_at > own.slot_at and o.updated_at > r.finished_at)),
    (select o.status from occurrences o where ${isDecided} order by o.slot_at desc limit 1))`),
  read: null,
};

export const skippedAt: Field<number | null> = {
  sql: raw(`case when t.skips_until is not null then (select min(o.slot_at) from occurrences o
    where o.task_id = t.id and ${isAhead}
      and o.slot_at > coalesce((select r.finished_at from runs r where r.id = t.last_run_id), 0)
      and o.slot_at > coalesce((select o.slot_at from occurrences o where ${isDecided}
        order by o.slot_at desc limit 1), 0)) end`),
  read: null,
};

const plainFields = {
  ...pick(t, 'id', 'number', 'version', 'state', 'nextAt', 'title', 'instructions', 'action', ...scheduleNames),
  ...pick(
    t,
    'policies',
    'subject',
    'tags',
    'minGapMs',
    'pausedReason',
    'resumeAt',
    'ownerId',
    'grantId',
    'chatId',
    'homeTopic',
  ),
  ...pick(
    t,
    'topicState',
    'topicId',
    'topicShared',
    'context',
    'runs',
    'failures',
    'consecutiveFailures',
    'boundedRuns',
  ),
  lastOutcome,
  skippedAt,
  ...pick(
    t,
    'lastRunId',
    'lastRunAt',
    'lastRunStatus',
    'lastError',
    'freshAt',
    'refreshMs',
    'createdAt',
    'createdBy',
    'updatedAt',
    'updatedBy',
  ),
  ...pick(t, 'pausedAt', 'pausedBy', 'resumedAt', 'resumedBy', 'deletedAt', 'deletedBy'),
  provider: c.provider,
  address: c.address,
};

/**
 * A task for people and clients, over `taskSource`. A part that cannot be read is shown empty: the row is paused with the
 * reason by the step that stumbled over it, and a list of tasks must not fail because of one of them. Nothing is read more
 * often, so it is made in one piece.
 */
export const taskFields = together(plainFields, (row): Task => {
  const { id, number: ordinal, version, state, title, instructions, subject, minGapMs, pausedReason, resumeAt } = row;
  const { ownerId, grantId, chatId, topicState, topicId, lastRunAt, lastRunStatus, lastError } = row;
  return {
    id,
    number: ordinal,
    version,
    state,
    nextAt: isInstant(row.nextAt) ? row.nextAt : null,
    title,
    instructions,
    action: readableAction(row.action),
    schedule: readableSchedule(row),
    policies: readablePolicies(row.policies),
    subject,
    tags: readableTags(row.tags),
    minGapMs,
    pausedReason,
    resumeAt,
    ownerId,
    grantId,
    chatId,
    home: { provider: row.provider, address: row.address, topic: row.homeTopic },
    topicState,
    topicId,
    isTopicShared: row.topicShared === 1,
    context: readableContext(row.context),
    counters: {
      runs: row.runs,
      failures: row.failures,
      consecutiveFailures: row.consecutiveFailures,
      boundedRuns: row.boundedRuns,
    },
    lastRunId: row.lastRunId,
    lastRunAt,
    lastRunStatus,
    lastOutcome: row.lastOutcome,
    skippedAt: row.skippedAt,
    lastError,
    staleAt: row.freshAt === null || row.refreshMs === null ? null : row.freshAt + row.refreshMs,
    created: { at: row.createdAt, by: row.createdBy },
    updated: { at: row.updatedAt, by: row.updatedBy },
    paused: stampOf(row.pausedAt, row.pausedBy),
    resumed: stampOf(row.resumedAt, row.resumedBy),
    deleted: stampOf(row.deletedAt, row.deletedBy),
  };
});

export const taskSource = raw('tasks t join chats c on c.id = t.chat_id');

/** Facts in a column of ours; a column that cannot be read has none. */
export function readFacts(text: string | null): Json | null {
  if (text === null) return null;
  try {
    return readObject('facts', text);
  } catch {
    return null;
  }
}

/** Values to be set of a task, in the columns of its row. */
export function definitionColumns({ action, schedule, policies, tags, ...plain }: Partial<Definition>) {
  const { title, instructions, subject } = plain;
  const texts = { title, instructions, subject };
  return {
    ...(schedule === undefined ? {} : scheduleColumns(schedule)),
    ...texts,
    ...(subject === undefined ? {} : { subjectKey: subject === null ? null : subjectKey(subject) }),
    action: jsonOf(action),
    ...(action === undefined ? {} : { actionKind: action.kind }),
    ...(policies === undefined ? {} : policyColumns(policies)),
    tags: jsonOf(tags),
  };
}

export function fieldColumns(change: TaskChange['set']) {
  const { state, nextAt, minGapMs, pausedReason, skipsUntil, resumeAt } = change;
  const { boundedRuns, consecutiveFailures, context } = change;
  const fields = { state, nextAt, minGapMs, pausedReason, skipsUntil, resumeAt, boundedRuns, consecutiveFailures };
  return { ...definitionColumns(change), ...fields, context: jsonOf(context) };
}

function policyColumns(policies: Policies) {
  const beside = policies.overlap === 'allow' ? 1 : 0;
  const { auto_pause: autoPause = autoPauseDefault, max_runs: maxRuns = null, refresh_after: age } = policies;
  const refreshMs = age === undefined ? null : durationMs(age);
  return { policies: JSON.stringify(policies), beside, autoPause, maxRuns, refreshMs } as const;
}

function jsonOf(value: object | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
