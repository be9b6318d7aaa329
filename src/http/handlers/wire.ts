import type { PartsOf } from '../../api/operations.ts';
import { runStates } from '../../api/runs.ts';
import { wire } from '../../api/wire.ts';
import type { OpenSnooze } from '../../app/ports/chats.ts';
import type { Attempt, Delivery, RunView, TaskRun } from '../../app/ports/runs.ts';
import type { GrantView, TaskVersion } from '../../app/ports/tasks.ts';
import type { Changes } from '../../app/tasks/edit.ts';
import type { Once } from '../../app/use-cases/kept-answers.ts';
import { deliveryCode } from '../../domain/delivery.ts';
import { occurrenceKey } from '../../domain/occurrence.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import { liveStatuses, type RunStatus } from '../../domain/run.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { executionThread, outcomeAt, staleSince, type Task } from '../../domain/task.ts';
import { isDeliverable, parseThreadKey, threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { HttpRooms } from '../serving.ts';

type WireTask = PartsOf<'getTask'>['answer']['task'];
type WireTaskRun = PartsOf<'runTaskNow'>['answer']['task_run'];

export function wireTask(task: Task, { clock }: Pick<HttpRooms, 'clock'>): WireTask {
  const { number, version, title, instructions, action, state, subject, pausedReason, nextAt: nextRunAt } = task;
  const { resumeAt, lastRunId, lastRunAt, lastRunStatus } = task;
  const execution = executionThread(task);
  const now = clock.now();
  const stale = staleSince(task, now);
  return {
    ...wire({ number, version, title, instructions, action, state, subject, pausedReason, nextRunAt, resumeAt }),
    ...wire({ lastRunId, lastRunAt, lastOutcome: outcomeAt(task, now) }),
    ...wireStamps(task),
    last_run_status: lastRunStatus === 'cancelled' ? 'failed' : lastRunStatus,
    task_id: task.id,
    schedule: wireSchedule(task.schedule),
    enabled: state === 'active',
    creator_thread_key: threadKeyOf(task.home),
    execution_thread_key: execution === null ? null : threadKeyOf(execution),
    delivery_target: wireTarget(task),
    owner_user_key: task.ownerId,
    grant_id: task.grantId,
    policies: { ...task.policies },
    context: { ...task.context },
    tags: [...task.tags],
    counters: wire(task.counters),
    last_error_message: task.lastError,
    stale_since: stale === null ? null : iso(stale),
  };
}

/** Instants at which snoozed results come again; one that a later pause holds back comes only if that ends before. */
export function wireSnoozes(snoozes: readonly OpenSnooze[] = []): string[] {
  return snoozes.filter(({ isHeld }) => !isHeld).map(({ at }) => iso(at));
}

/** When each of these was done for the last time, and by whom. */
function wireStamps({ created, updated, paused, resumed, deleted }: Task) {
  return wire({
    createdAt: created.at,
    createdBy: created.by,
    updatedAt: updated.at,
    updatedBy: updated.by,
    pausedAt: paused?.at ?? null,
    pausedBy: paused?.by ?? null,
    resumedAt: resumed?.at ?? null,
    resumedBy: resumed?.by ?? null,
    deletedAt: deleted?.at ?? null,
    deletedBy: deleted?.by ?? null,
  });
}

const noSchedule = { once_at: null, cron: null, rrule: null, interval: null, start_at: null, from: null };

export function wireSchedule(schedule: Schedule): WireTask['schedule'] {
  return { ...noSchedule, ...wire(schedule) };
}

function wireTarget({ home, topicId }: Task): WireTask['delivery_target'] {
  return {
    provider: home.provider,
    route: {
      chat_id: home.address,
      ...(topicId === null ? {} : { message_thread_id: topicId }),
      ...(isDeliverable(home)
        ? { chatId: Number(home.address), ...(topicId === null ? {} : { messageThreadId: topicId }) }
        : { threadKey: threadKeyOf(home) }),
    },
    metadata: home.topic === null ? {} : { creator_message_thread_id: home.topic },
  };
}

/** The sentences alone, and beside them the same with their codes. */
export function wireWarnings(warnings: readonly { readonly code: string; readonly message: string }[]) {
  return {
    warnings: warnings.map(({ message }) => message),
    warning_details: warnings.map(({ code, message }) => ({ code, message })),
  };
}

export function wireTaskRun(run: TaskRun): WireTaskRun {
  const { taskId, runId, status, source, reason, replayOf, lateMs, createdAt, updatedAt } = run;
  const { runNumber, actionKind, errorCode } = run;
  const trace = run.traceId ?? runId;
  return {
    ...wire({ taskId, runId, status, source, reason, replayOf, lateMs, createdAt, updatedAt }),
    ...wire({ runNumber, actionKind, errorCode }),
    task_run_id: run.id,
    scheduled_for: iso(run.slotAt),
    idempotency_key: occurrenceKey(taskId, run.slotAt),
    error_message: run.error,
    trace_id: trace,
    attempts: run.attempts.map((one) => wireAttempt(one, actionKind)),
    deliveries: run.deliveries.map((one) => wireDelivery(one, trace)),
  };
}

export function wireRun({
  id,
  occurrenceId,
  thread,
  status,
  error,
  errorCode,
  traceId,
  ...run
}: RunView): PartsOf<'getRun'>['answer'] {
  const trace = traceId ?? id;
  return {
    ...wire(run),
    run_id: id,
    task_run_id: occurrenceId,
    thread_key: thread === null ? null : threadKeyOf(thread),
    output: run.output === null ? null : { ...run.output },
    ...wireStanding({ status, error, errorCode }),
    trace_id: trace,
    attempts: run.attempts.map((one) => wireAttempt(one, run.actionKind)),
    deliveries: run.deliveries.map((one) => wireDelivery(one, trace)),
  };
}

/** How a run stands: in the three words of jagc, and beside them in ours. */
export function wireStanding(run: Pick<RunView, 'status' | 'error' | 'errorCode'>) {
  const { status: state, error: message, errorCode: code } = run;
  const error = message === null ? null : { code, message };
  return { status: statusOf(state), state, error_message: message, error_code: code, error };
}

function statusOf(state: RunStatus): PartsOf<'getRun'>['answer']['status'] {
  if (liveStatuses.includes(state)) return 'running';
  return state === 'succeeded' ? 'succeeded' : 'failed';
}

/** The states that a query names by its coarse word, its finer one, or both. */
export function statesOf({ status, state }: PartsOf<'listRuns'>['read']['query']): readonly RunStatus[] | null {
  if (status === undefined && state === undefined) return null;
  return runStates.filter((one) => {
    const coarse = statusOf(one);
    const finer = coarse === 'running' ? [one, 'live'] : [one];
    return (status === undefined || [coarse, ...finer].includes(status)) && finer.includes(state ?? one);
  });
}

function wireAttempt(
  { error, worker, ...attempt }: Attempt,
  actionKind: string | null,
): WireTaskRun['attempts'][number] {
  return { ...wire({ ...attempt, actionKind }), worker: wire(worker), error_message: error };
}

function wireDelivery(delivery: Delivery, traceId: string | null): WireTaskRun['deliveries'][number] {
  const { part, status, messageThreadId, messageId, messageIds, createdAt, deliveredAt } = delivery;
  return {
    ...wire({ part, status, messageThreadId, messageId, createdAt, deliveredAt }),
    ...(messageIds === undefined ? {} : { message_ids: [...messageIds] }),
    delivery_id: delivery.id,
    thread_key: threadKeyOf(delivery.thread),
    chat_id: delivery.platformChatId,
    error_code: deliveryCode(delivery),
    error_message: delivery.error,
    fallback: delivery.isFallback,
    trace_id: traceId,
  };
}

export function wireChanges(changes: Changes): PartsOf<'updateTask'>['answer']['changes'] {
  const told = Object.entries(changes).map(([field, { before, after }]) =>
    field === 'schedule'
      ? [field, { before: wireSchedule(before as Schedule), after: wireSchedule(after as Schedule) }]
      : [field, { before, after }],
  );
  return Object.fromEntries(told) as PartsOf<'updateTask'>['answer']['changes'];
}

export function wireVersion({ definition, ...version }: TaskVersion) {
  const { title, instructions, action, schedule, policies, subject, tags } = definition;
  return {
    ...wire(version),
    definition: {
      ...wire({ title, instructions, action, subject, tags }),
      schedule: wireSchedule(schedule),
      policies: { ...policies },
    },
  };
}

export function wireGrant({ id, ownerId, thread, account, ...grant }: GrantView) {
  const places = { thread_key: threadKeyOf(thread), budget_account: threadKeyOf(account) };
  return { ...wire(grant), grant_id: id, owner_user_key: ownerId, ...places };
}

/* ---- requests in the words of the use cases, which say null where nothing was named ---- */

export function instantOf(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

export function threadOf(key: string | undefined): Thread | null {
  return key === undefined ? null : parseThreadKey(key);
}

/** The actor, and the request in whose course it acts. */
export function byOf({ traceId }: { readonly traceId: string }, { actor }: Pick<HttpRooms, 'actor'>) {
  return { actor, traceId };
}

interface OfTask {
  readonly params: { readonly task_id: string };
  readonly idempotencyKey: Once | null;
  readonly traceId: string;
}

/** The task of the path, and who does something to it. */
export function targetOf({ params, idempotencyKey, traceId }: OfTask, { actor }: Pick<HttpRooms, 'actor'>) {
  return { taskId: params.task_id, actor, idempotencyKey, traceId };
}

/** Since when a kind of actions is paused, and by whom. */
export function wirePause({ kind, since, by }: KindPause) {
  return { kind, since: iso(since), by };
}

/** A run that was asked for by hand, with what keeps it from beginning. */
export async function wireAsked(task: Task, taskRun: TaskRun, { kindPauses }: Pick<HttpRooms, 'kindPauses'>) {
  const stands = taskRun.runId === null ? null : await kindPauses.standstill(task.action.kind);
  const by = stands?.is === 'kind_paused' ? stands.by : null;
  return {
    task_run: wireTaskRun(taskRun),
    waits_for: stands === null ? null : { reason: stands.is, since: iso(stands.since), by },
  };
}
