import { isActor } from '../../domain/access.ts';
import { AppError, invalid, missing } from '../../domain/errors.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { parseInstant } from '../../domain/schedule/time/zone.ts';
import type { Task } from '../../domain/task.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { TaskRun } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';
import type { DowntimeStore } from '../ports/upkeep.ts';
import type { AuditQuery, EventQuery, TruthStore } from '../ports/why.ts';
import { upcoming } from '../tasks/upcoming.ts';
import type { Answer } from './answers.ts';
import type { WhyLocale } from './timeline.ts';
import { createWhy, summaryOf, type Place, type Why, type WhyAnswers, type WhyPage } from './why.ts';

/** An instant with its offset, or what the clock of the task's zone shows. */
export interface Question {
  readonly at?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly after: Window | null;
  readonly limit: number;
  /** English without it. */
  readonly locale?: WhyLocale | undefined;
}

/** A place in a list about a stretch of time. */
export interface Window extends Place {
  readonly from: number;
  readonly to: number;
}

export interface WhyTold extends WhyPage {
  readonly from: number;
  readonly to: number;
}

interface TruthDeps extends Pick<World, 'clock'> {
  readonly store: TruthStore &
    Pick<TaskStore, 'readTask' | 'listTaskRuns'> &
    Pick<DowntimeStore, 'listDowntimes'> &
    Pick<ChatStore, 'readUser' | 'snoozesOf'>;
  readonly retentionMs: number;
}

/** All that can be asked about the past, the present and the future. */
export type Truth = ReturnType<typeof createTruth>;

export function createTruth(deps: TruthDeps) {
  const { store, clock } = deps;
  const why = createWhy(deps);
  const readTask = async (taskId: string): Promise<Task> => {
    const task = await store.readTask(taskId);
    if (task === null) throw missing('task');
    return task;
  };
  return {
    /** Answers a question that names its instants as texts; without any of them it is about the last day. */
    why: async (taskId: string, question: Question): Promise<WhyTold> => {
      const task = await readTask(taskId);
      const zone = isTimezone(task.schedule.timezone) ? task.schedule.timezone : 'UTC';
      const told = await answer(why, { taskId, locale: question.locale }, readQuestion(question, zone, clock.now()));
      return { ...told, answers: await withNames(store, told.answers) };
    },
    /** Tells in brief what there is to tell where no time is named. */
    lately: async (taskId: string, locale?: WhyLocale): Promise<WhyAnswers & Lately> => {
      const task = await readTask(taskId);
      const told = await latelyOf({ store, clock, why: inLocale(why, locale) }, taskId);
      const answers = await withNames(store, told.answers);
      return { ...told, answers, timezone: task.schedule.timezone, summary: summaryOf(answers) };
    },
    /** The slots to come, as far as they can be told. */
    upcoming: async (taskId: string, count: number): Promise<readonly number[]> => {
      const planned = await store.readPlanned(taskId);
      if (planned === null || planned.task.state === 'deleted') throw missing('task');
      return upcoming(planned, count);
    },
    /** To when results of the tasks are snoozed, by the id of the task. */
    snoozesOf: (taskIds: readonly string[]) => store.snoozesOf(taskIds),
    readEvents: (query: EventQuery) => store.readEvents(query),
    readAudit: (query: AuditQuery) => store.readAudit(query),
    listDowntimes: (limit: number) => store.listDowntimes(limit),
  };
}

type WhyAsked =
  | { readonly at: number }
  | { readonly from: number; readonly to: number; readonly after: Place | null; readonly limit: number };

function readQuestion({ at, from, to, after, limit }: Question, zone: string, now: number): WhyAsked {
  if (at !== undefined && (from !== undefined || to !== undefined || after !== null)) {
    throw invalid('at', 'Send at alone to ask about one instant, or from and to to ask about a stretch of time.');
  }
  if (at !== undefined) return { at: instantOf('at', at, zone) };
  // A page that follows is about the stretch of the first one, which may have been counted from an earlier now.
  if (after !== null) return { from: after.from, to: after.to, after, limit };
  const end =
    to === undefined
      ? Math.max(now, from === undefined ? now : instantOf('from', from, zone))
      : instantOf('to', to, zone);
  const begin = from === undefined ? end - DAY_MS : instantOf('from', from, zone);
  if (begin > end) throw invalid('from', 'from lies after to; swap them.');
  return { from: begin, to: end, after: null, limit };
}

function instantOf(field: 'at' | 'from' | 'to', text: string, zone: string): number {
  try {
    return parseInstant(text, zone, 'once_at');
  } catch (error) {
    // The domain knows what is wrong with the text, but not which field it stood in.
    if (error instanceof AppError) throw invalid(field, `${field}: ${error.message}`);
    throw error;
  }
}

interface About {
  readonly taskId: string;
  readonly locale?: WhyLocale | undefined;
}

async function answer(why: Why, { taskId, locale }: About, asked: WhyAsked): Promise<WhyTold> {
  if (!('at' in asked)) return { ...(await why.range({ taskId, ...asked }, locale)), from: asked.from, to: asked.to };
  const answers = await why.at(taskId, asked.at, locale);
  return { ...answers, next: null, from: asked.at, to: asked.at };
}

const person = /telegram:user:\d+/g;

/** The records know people by their ids, and the lines tell them by their names; the evidence keeps the ids. */
async function withNames(store: Pick<ChatStore, 'readUser'>, answers: readonly Answer[]): Promise<readonly Answer[]> {
  const names = new Map<string, string>();
  for (const id of new Set(answers.flatMap(({ line }) => line.match(person) ?? []))) {
    const name = isActor(id) ? (await store.readUser(id))?.name : null;
    if (typeof name === 'string') names.set(id, name);
  }
  if (names.size === 0) return answers;
  return answers.map((one) => ({ ...one, line: one.line.replaceAll(person, (id) => names.get(id) ?? id) }));
}

/* ---- where no time is named ---- */

/**
 * Tells a person who names no time how the last runs went, whatever stood in the way since, and what comes next or will be
 * left out. A busy task has more to tell of its last day than anybody reads, so its newest is told.
 */
interface Lately {
  readonly from: number;
  readonly to: number;
  readonly answers: readonly Answer[];
}

function inLocale(why: Why, locale: WhyLocale | undefined): Why {
  return { at: (taskId, at) => why.at(taskId, at, locale), range: (request) => why.range(request, locale) };
}

interface LatelyDeps extends Pick<TruthDeps, 'clock'> {
  readonly store: Pick<TruthStore, 'readPlanned'> & Pick<TaskStore, 'listTaskRuns'>;
  readonly why: Why;
}

/** Runs that are always told, however long ago they were. */
const runsTold = 3;
const rowsRead = 40;
/** Rows of the last day that are told. */
const rowsTold = 8;
const aheadTold = 3;

async function latelyOf(deps: LatelyDeps, taskId: string): Promise<Lately> {
  const now = deps.clock.now();
  const { past, coming, ran } = await rowsOf(deps, taskId, now);
  const from = Math.max(now - DAY_MS, past[rowsTold - 1]?.slotAt ?? 0);
  const day = await deps.why.range({ taskId, from, to: now, after: null, limit: rowsRead, isBrief: true });
  const answers = new Map<string, Answer>();
  const add = (answer: Answer) => answers.set(keyOf(answer), answer);
  for (const answer of day.answers) add(answer);
  for (const row of ran) {
    if (!answers.has(row.id)) (await answersAt(deps, taskId, row.slotAt)).filter((one) => isOf(one, row)).map(add);
  }
  for (const slot of await aheadOf(deps, { taskId, coming })) {
    (await answersAt(deps, taskId, slot)).filter((one) => one.slot === slot).map(add);
  }
  const told = [...answers.values()].filter(({ decision }) => ran.length === 0 || decision !== 'not_created');
  const ordered = told.toSorted((a, b) => placeOf(a) - placeOf(b));
  return { from: Math.min(from, placeOf(ordered[0])), to: now, answers: ordered };
}

interface Rows {
  readonly past: readonly TaskRun[];
  readonly coming: readonly TaskRun[];
  readonly ran: readonly TaskRun[];
}

async function rowsOf({ store }: LatelyDeps, taskId: string, now: number): Promise<Rows> {
  const { items, next } = await store.listTaskRuns({ taskId, status: null, limit: rowsRead, cursor: null });
  const past = items.filter(({ slotAt }) => slotAt <= now);
  const coming = items.filter(({ slotAt }) => slotAt > now);
  const ran = past.filter(({ runId }) => runId !== null).slice(0, runsTold);
  if (ran.length === runsTold || next === null) return { past, coming, ran };
  // So much was left out since that the runs lie farther back.
  const older = await store.listTaskRuns({ taskId, status: 'succeeded', limit: runsTold, cursor: null });
  const more = older.items.filter(({ id }) => !ran.some((one) => one.id === id));
  return { past, coming, ran: [...ran, ...more].slice(0, runsTold) };
}

async function answersAt({ why }: LatelyDeps, taskId: string, slotAt: number): Promise<readonly Answer[]> {
  return (await why.at(taskId, slotAt)).answers;
}

function isOf({ evidence }: Answer, { id }: TaskRun): boolean {
  return evidence.taskRunId === id;
}

/** Slots that are left out, those that were put off until then, and the next that runs. */
async function aheadOf(
  { store }: LatelyDeps,
  { taskId, coming }: { readonly taskId: string; readonly coming: readonly TaskRun[] },
): Promise<readonly number[]> {
  const planned = await store.readPlanned(taskId);
  const next = planned === null || planned.task.state === 'deleted' ? [] : upcoming(planned, 1);
  const waiting = coming.filter(({ status }) => status === 'pending').map(({ slotAt }) => slotAt);
  const skipped = coming.filter(({ reason }) => reason === 'skip').map(({ slotAt }) => slotAt);
  return [...new Set([...skipped.toReversed().slice(0, aheadTold), ...waiting, ...next])];
}

function keyOf({ evidence, decision, at, from }: Answer): string {
  return evidence.taskRunId ?? `${decision}:${at ?? ''}:${from ?? ''}`;
}

/** A stretch stands where it begins. */
function placeOf(answer: Answer | undefined): number {
  return answer?.at ?? answer?.from ?? 0;
}
