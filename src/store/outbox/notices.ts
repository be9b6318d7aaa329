import type { NewDelivery } from '../../app/ports/pipeline.ts';
import { each, listOf, rows, type Script, type Tuple } from '../engine/engine.ts';
import { insertEndParts, type Ending, type EndPart } from './run-parts.ts';

/**
 * Words about how runs ended. A failure is told once for each cause, until a run succeeds again, which is told then; what a
 * person asked for by hand is told each time, and the pause that too many failures bring about always. The causes that were
 * told stand with the task as its incident, each in a line, so that two that come in turn are told once each.
 */
export function* tellNotices(ends: readonly Ending[], autoPaused: readonly string[]): Script<void> {
  const told = ends.filter(({ run, notices }) => run.taskId !== null && (notices.failed ?? notices.recovered) !== null);
  const tasks = yield* incidentsOf(told);
  const parts: EndPart[] = [];
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
  yield* writeIncidents([...tasks.values()]);
  yield* insertEndParts(parts);
}

interface Incident {
  readonly id: string;
  readonly failures: number;
  readonly incident: string | null;
  readonly incident_at: number | null;
  readonly incident_failures: number | null;
}

/** A task while the ends of this batch are looked at, oldest first. */
interface Open {
  readonly id: string;
  readonly before: string | null;
  /** What was told, oldest first; empty where no incident is open. */
  readonly causes: string[];
  since: number;
  /** How often it had failed before the incident, and until now. */
  failuresBefore: number;
  failures: number;
}

/** Most runs succeed and have nothing to tell of, so a success alone asks for no more than the tasks that have an incident. */
function* incidentsOf(ends: readonly Ending[]): Script<ReadonlyMap<string, Open>> {
  const ids = ends.flatMap(({ run }) => run.taskId ?? []);
  if (ids.length === 0) return new Map();
  const { marks, values } = listOf(ids);
  const failed = ends.some(({ status }) => status === 'failed');
  const found = yield* rows<Incident>(
    `select id, failures, incident, incident_at, incident_failures from tasks
     where id in (${marks})${failed ? '' : ' and incident is not null'}`,
    ...values,
  );
  return new Map(found.map((one) => [one.id, openOf(one, ends)]));
}

/** The failures of this batch are counted already, and are counted again one by one. */
function openOf(task: Incident, ends: readonly Ending[]): Open {
  const now = ends.filter(({ run, status }) => run.taskId === task.id && status === 'failed').length;
  const failures = task.failures - now;
  return {
    id: task.id,
    before: task.incident,
    causes: task.incident?.split('\n') ?? [],
    since: task.incident_at ?? 0,
    failuresBefore: task.incident_failures ?? failures,
    failures,
  };
}

/** Work that fails in more ways than this is simply broken, which was told often enough. */
const causesMax = 10;

function failureOf(task: Open, { notices, finishedAt }: Ending): NewDelivery | null {
  const { cause, byHand, failed } = notices;
  if (task.causes.length === 0) {
    task.since = finishedAt;
    task.failuresBefore = task.failures;
  }
  task.failures += 1;
  const isNew = cause !== null && !task.causes.includes(cause) && task.causes.length < causesMax;
  if (isNew) task.causes.push(cause);
  return byHand || isNew ? failed : null;
}

function recoveryOf(task: Open, { notices: { recovered } }: Ending): NewDelivery | null {
  if (task.causes.length === 0 || recovered === null) return null;
  const { since, failures, failuresBefore } = task;
  task.causes.length = 0;
  return {
    ...recovered,
    content: { ...recovered.content, view: 'recovered', since, failures: failures - failuresBefore },
  };
}

function* pauseOf(taskId: string, end: Ending): Script<EndPart[]> {
  const { autoPaused } = end.notices;
  if (autoPaused === null) return [];
  const [task] = yield* rows<{ paused_reason: string | null; consecutive_failures: number }>(
    `select paused_reason, consecutive_failures from tasks where id = ?t`,
    taskId,
  );
  const reason = task?.paused_reason ?? '';
  const content = { view: 'autoPaused', reason, failures: task?.consecutive_failures ?? 0, error: end.error } as const;
  return [{ end, part: { ...autoPaused, content } }];
}

function* writeIncidents(tasks: readonly Open[]): Script<void> {
  const changed = tasks.filter(({ before, causes }) => before !== incidentIn(causes));
  yield* each(
    `update tasks set incident = ?t, incident_at = ?i, incident_failures = ?i where id = ?t`,
    changed.map(({ id, causes, since, failuresBefore }): Tuple =>
      causes.length === 0 ? [null, null, null, id] : [incidentIn(causes), since, failuresBefore, id],
    ),
  );
}

function incidentIn(causes: readonly string[]): string | null {
  return causes.length === 0 ? null : causes.join('\n');
}
