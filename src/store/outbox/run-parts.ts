import type { NewDelivery, RunEnd } from '../../app/ports/pipeline.ts';
import { messagesIn } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick, type Answer } from '../engine/fields.ts';
import { allOf, list, sql } from '../engine/sql.ts';
import { all, insertAll, offer, one, select, updateAll, updateReturning } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import type { Spent } from '../runs/thread-runs.ts';
import { approvalLane, messageLane, taskLane } from './lanes.ts';
import { isNews } from './new-parts.ts';
import { redrawAfterRuns, redrawSoon, standAsWord } from './standing.ts';

/** Fields of a run's end that words about it need, whether it came after an attempt or instead of one. */
export type Ending = Pick<RunEnd, 'status' | 'error' | 'finishedAt' | 'notices'> & {
  readonly run: Pick<RunEnd['run'], 'id' | 'taskId' | 'chatId'>;
};

type ContextEnd = Ending & Pick<RunEnd, 'context'> & { readonly run: Pick<RunEnd['run'], 'contextVersion'> };

interface RunPart {
  readonly end: Ending;
  readonly part: NewDelivery;
}

/** Results of runs, and the words about how they ended: to the topic of the task, or to the thread that was named. */
export function* insertRunParts(parts: readonly RunPart[]): Script<void> {
  yield* insertAll('deliveries', parts.map(rowOf));
  yield* offer({ chats: parts.flatMap(({ end }) => end.run.chatId ?? []) });
  for (const { end, part } of parts) {
    const { taskId, chatId } = end.run;
    if (chatId !== null) yield* standAsWord({ ...part, taskId, chatId }, end.finishedAt);
  }
}

function rowOf({ end: { run, finishedAt, notices }, part }: RunPart) {
  const { approveBy } = part;
  return {
    id: part.id,
    runId: run.id,
    taskId: run.taskId,
    chatId: run.chatId ?? undefined,
    lane: laneOf(run, part),
    rank: part.rank,
    kind: part.kind,
    part: part.part,
    status: approveBy === undefined ? 'pending' : 'blocked',
    readyAt: approveBy ?? finishedAt,
    content: JSON.stringify(part.content),
    messages: messagesIn(part.content),
    unknownPolicy: part.unknown,
    expiresAt: approveBy ?? part.expiresAt,
    fence: 0,
    sends: 0,
    putOffs: 0,
    settles: 0,
    createdAt: finishedAt,
    // A person who asked by hand for a run waits for the word about it as well.
    urgent: part.urgent === true || (part.kind === 'notice' && notices.byHand) ? 1 : 0,
    cause: approveBy === undefined ? null : 'approval',
    silent: part.silent === true ? 1 : 0,
    onlyFor: part.onlyFor === undefined ? null : JSON.stringify(part.onlyFor),
    goesTo: part.thread === undefined ? 'task' : 'thread',
    toTopic: part.thread?.topic ?? null,
  } as const;
}

function laneOf({ taskId, chatId }: Ending['run'], { approveBy, thread }: NewDelivery): string {
  if (taskId === null) return messageLane(chatId, thread?.topic ?? null);
  return approveBy === undefined ? taskLane(taskId) : approvalLane(taskId);
}

/** Parts still to be sent of tasks that are not there any more are dropped, with a row that says so. */
export function* dropParts(taskIds: readonly string[], now: number, why = 'the task was deleted'): Script<void> {
  if (taskIds.length === 0) return;
  const lanes = list(taskIds.flatMap((id) => [taskLane(id), approvalLane(id)]));
  const dropped = yield* updateReturning(
    'deliveries',
    { status: 'failed', error: why, readyAt: null },
    sql`lane in ${lanes} and status in ('pending', 'blocked', 'sending', 'unknown')
      and (status in ('pending', 'blocked') or (status = 'unknown' and ready_at is null))`,
    pick(columns.deliveries, 'id', 'taskId'),
  );
  yield* tellEvents(dropped.map(({ id, taskId }) => ({ kind: 'delivery.failed', at: now, taskId, ref: id })));
}

/**
 * Words about how runs ended. An incident of a task begins with its first failure, which is told, and ends with its next
 * success, which is told as well; what a person asked for by hand is told each time, and the pause that too many failures
 * bring about always, as is the end of its last run.
 */
export function* tellNotices(
  ends: readonly Ending[],
  { autoPaused, spent }: { readonly autoPaused: readonly string[]; readonly spent: readonly Spent[] },
): Script<void> {
  yield* redrawAfterRuns(
    ends.map(({ run }) => run.taskId),
    ends[0]?.finishedAt ?? 0,
  );
  const told = ends.filter(({ run, notices }) => run.taskId !== null && (notices.failed ?? notices.recovered) !== null);
  const tasks = yield* incidentsOf(told);
  const parts: RunPart[] = [];
  // The word about the pause tells the error as well.
  const paused = new Set(autoPaused);
  for (const end of told) {
    const task = tasks.get(end.run.taskId ?? '');
    if (task === undefined) continue;
    const notice = end.status === 'failed' ? failureOf(task, end) : recoveryOf(task, end);
    if (notice !== null && !(end.status === 'failed' && paused.has(end.run.taskId ?? '')))
      parts.push({ end, part: notice });
  }
  for (const taskId of autoPaused) {
    const end = ends.findLast(({ run, notices }) => run.taskId === taskId && notices.autoPaused !== null);
    if (end !== undefined) parts.push(...(yield* pauseOf(taskId, end)));
  }
  yield* writeIncidents([...tasks.values()], ends[0]?.finishedAt ?? 0);
  yield* insertRunParts([...parts, ...spent.flatMap((task) => completionOf(task, ends))]);
}

const incidentFields = pick(columns.tasks, 'id', 'failures', 'incidentAt', 'incidentFailures');

/** A task while the ends of this batch are looked at, oldest first. */
interface Standing {
  readonly id: string;
  readonly before: number | null;
  /** Since when it fails; null while no incident is open. */
  since: number | null;
  /** How often it had failed before the incident, and until now. */
  failuresBefore: number;
  failures: number;
}

/** Most runs succeed and have nothing to tell of, so a success alone asks for no more than the tasks that have an incident. */
function* incidentsOf(ends: readonly Ending[]): Script<ReadonlyMap<string, Standing>> {
  const ids = ends.flatMap(({ run }) => run.taskId ?? []);
  if (ids.length === 0) return new Map();
  const hasFailed = ends.some(({ status }) => status === 'failed');
  const open = hasFailed ? undefined : sql`incident_at is not null`;
  const found = yield* all(select(incidentFields)`from tasks where ${allOf(sql`id in ${list(ids)}`, open)}`);
  return new Map(found.map((one) => [one.id, standingOf(one, ends)]));
}

/** The failures of this batch are counted already, and are counted again one by one. */
function standingOf(task: Answer<typeof incidentFields>, ends: readonly Ending[]): Standing {
  const { id, incidentAt: since, incidentFailures } = task;
  const failures = task.failures - ends.filter(({ run, status }) => run.taskId === id && status === 'failed').length;
  return { id, before: since, since, failuresBefore: incidentFailures ?? failures, failures };
}

function failureOf(task: Standing, { notices: { byHand, failed }, finishedAt }: Ending): NewDelivery | null {
  const isFirst = task.since === null;
  task.since ??= finishedAt;
  if (isFirst) task.failuresBefore = task.failures;
  task.failures += 1;
  return byHand || isFirst ? failed : null;
}

function recoveryOf(task: Standing, { notices: { recovered } }: Ending): NewDelivery | null {
  const { since, failures, failuresBefore } = task;
  if (since === null || recovered === null) return null;
  task.since = null;
  return {
    ...recovered,
    content: { ...recovered.content, view: 'recovered', since, failures: failures - failuresBefore },
  };
}

function* pauseOf(taskId: string, end: Ending): Script<RunPart[]> {
  const { autoPaused } = end.notices;
  if (autoPaused === null) return [];
  const task = yield* one(
    select(pick(columns.tasks, 'pausedReason', 'consecutiveFailures'))`from tasks where id = ${taskId}`,
  );
  const reason = task?.pausedReason ?? '';
  const content = { view: 'autoPaused', reason, failures: task?.consecutiveFailures ?? 0, error: end.error } as const;
  return [{ end, part: { ...autoPaused, content } }];
}

function completionOf({ id, boundedRuns: runs }: Spent, ends: readonly Ending[]): RunPart[] {
  const end = ends.findLast(({ run, notices }) => run.taskId === id && notices.completed !== null);
  const completed = end?.notices.completed ?? null;
  if (end === undefined || completed === null) return [];
  return [{ end, part: { ...completed, content: { view: 'completed', runs } } }];
}

/**
 * Of a context that is too large nothing is brought; of the others the one that its run keeps is told. Each is told once for what a person
 * has made of the context, however many runs follow.
 */
export function* contextWords(ends: readonly ContextEnd[], kept: ReadonlySet<string>): Script<readonly RunPart[]> {
  const news: RunPart[] = [];
  for (const end of ends) {
    const { taskId, chatId, id, contextVersion } = end.run;
    const part = end.notices.context;
    if (part === undefined || taskId === null || chatId === null || (end.context !== null && !kept.has(id))) continue;
    const reason = end.context === null ? 'size' : 'changed';
    const word = { word: 'context_left', reason, taskId, about: String(contextVersion ?? 0) } as const;
    if (yield* isNews(chatId, word, end.finishedAt)) news.push({ end, part });
  }
  return news;
}

function* writeIncidents(tasks: readonly Standing[], now: number): Script<void> {
  const changed = tasks.filter(({ before, since }) => before !== since);
  yield* redrawSoon(
    changed.map(({ id }) => id),
    now,
  );
  yield* updateAll('tasks', changed, {
    set: ({ since, failuresBefore }) => ({
      incidentAt: since,
      incidentFailures: since === null ? null : failuresBefore,
    }),
    where: ({ id }) => sql`id = ${id}`,
  });
}
