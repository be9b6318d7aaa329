import type { z } from 'zod';
import type { getRunResult, runAnswer, taskRunAnswer } from '../../api/runs.ts';
import type { previewAnswer } from '../../api/schedules.ts';
import type { editedTask, taskAnswer } from '../../api/tasks.ts';
import type { Attempt, Delivery, RunView, TaskRun } from '../../app/ports/runs.ts';
import type { TaskVersion } from '../../app/ports/tasks.ts';
import type { Changes } from '../../app/tasks/edit.ts';
import type { AskedPreview } from '../../app/tasks/preview.ts';
import { occurrenceKey } from '../../domain/occurrence.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import { executionThread, type Task } from '../../domain/task.ts';
import { threadKeyOf } from '../../domain/thread.ts';

type WireTask = z.output<typeof taskAnswer>;
type WireTaskRun = z.output<typeof taskRunAnswer>;

export function wireTask(task: Task): WireTask {
  const { counters } = task;
  const execution = executionThread(task);
  return {
    task_id: task.id,
    number: task.number,
    version: task.version,
    title: task.title,
    instructions: task.instructions,
    action: task.action,
    schedule: wireSchedule(task.schedule),
    enabled: task.state === 'active',
    state: task.state,
    next_run_at: isoOrNull(task.nextAt),
    creator_thread_key: threadKeyOf(task.home),
    execution_thread_key: execution === null ? null : threadKeyOf(execution),
    delivery_target: wireTarget(task),
    owner_user_key: task.ownerId,
    policies: { ...task.policies },
    context: { ...task.context },
    subject: task.subject,
    tags: [...task.tags],
    counters: {
      runs: counters.runs,
      failures: counters.failures,
      consecutive_failures: counters.consecutiveFailures,
      bounded_runs: counters.boundedRuns,
    },
    paused_reason: task.pausedReason,
    resume_at: isoOrNull(task.resumeAt),
    created_at: iso(task.created.at),
    updated_at: iso(task.updated.at),
    last_run_at: isoOrNull(task.lastRunAt),
    last_run_status: task.lastRunStatus,
    last_error_message: task.lastError,
  };
}

const empty = { once_at: null, cron: null, rrule: null, interval: null, start_at: null, from: null };

function wireSchedule(schedule: Schedule): WireTask['schedule'] {
  const { kind, timezone } = schedule;
  switch (schedule.kind) {
    case 'once':
      return { kind, ...empty, once_at: iso(schedule.onceAt), timezone };
    case 'cron':
      return { kind, ...empty, cron: schedule.cron, timezone };
    case 'rrule':
      return { kind, ...empty, rrule: schedule.rrule, timezone };
    case 'interval':
      return {
        kind,
        ...empty,
        interval: schedule.interval,
        start_at: iso(schedule.startAt),
        from: schedule.from,
        timezone,
      };
  }
}

function wireTarget({ home, topicId }: Task): WireTask['delivery_target'] {
  return {
    provider: home.provider,
    route: { chat_id: home.address, ...(topicId === null ? {} : { message_thread_id: topicId }) },
    metadata: home.topic === null ? {} : { creator_message_thread_id: home.topic },
  };
}

export function wireTaskRun(run: TaskRun): WireTaskRun {
  return {
    task_run_id: run.id,
    task_id: run.taskId,
    scheduled_for: iso(run.slotAt),
    idempotency_key: occurrenceKey(run.taskId, run.slotAt),
    run_id: run.runId,
    status: run.status,
    source: run.source,
    reason: run.reason,
    replay_of: run.replayOf,
    late_ms: run.lateMs,
    error_message: run.error,
    created_at: iso(run.createdAt),
    updated_at: iso(run.updatedAt),
    trace_id: run.traceId ?? run.runId,
    attempts: run.attempts.map(wireAttempt),
    deliveries: run.deliveries.map((one) => wireDelivery(one, run.traceId ?? run.runId)),
  };
}

export function wireRun(run: RunView): z.output<typeof runAnswer> {
  return {
    run_id: run.id,
    source: run.source,
    idempotency_key: run.idempotencyKey,
    task_id: run.taskId,
    task_run_id: run.occurrenceId,
    thread_key: run.thread === null ? null : threadKeyOf(run.thread),
    user_key: run.userKey,
    status: run.status,
    output: run.output === null ? null : { ...run.output },
    error_message: run.error,
    error: run.error === null ? null : { message: run.error },
    created_at: iso(run.createdAt),
    started_at: isoOrNull(run.startedAt),
    finished_at: isoOrNull(run.finishedAt),
    trace_id: run.traceId ?? run.id,
    attempts: run.attempts.map(wireAttempt),
    deliveries: run.deliveries.map((one) => wireDelivery(one, run.traceId ?? run.id)),
  };
}

/** A run that has ended. */
export function wireResult({ id, status, output, error, finishedAt }: RunView): z.output<typeof getRunResult.answer> {
  return {
    run_id: id,
    status: status === 'succeeded' || status === 'failed' ? status : 'cancelled',
    output: output === null ? null : { ...output },
    error_message: error,
    finished_at: isoOrNull(finishedAt),
  };
}

export function wireChanges(changes: Changes): z.output<typeof editedTask>['changes'] {
  const told = Object.entries(changes).map(([field, { before, after }]) =>
    field === 'schedule'
      ? [field, { before: wireSchedule(before as Schedule), after: wireSchedule(after as Schedule) }]
      : [field, { before, after }],
  );
  return Object.fromEntries(told) as z.output<typeof editedTask>['changes'];
}

export function wireVersion({ version, at, actor, definition }: TaskVersion) {
  const { title, instructions, action, schedule, policies, subject, tags } = definition;
  return {
    version,
    at: iso(at),
    actor,
    definition: {
      title,
      instructions,
      action,
      schedule: wireSchedule(schedule),
      policies: { ...policies },
      subject,
      tags: [...tags],
    },
  };
}

function wireAttempt(attempt: Attempt): WireTaskRun['attempts'][number] {
  return {
    attempt: attempt.attempt,
    status: attempt.status,
    started_at: iso(attempt.startedAt),
    finished_at: isoOrNull(attempt.finishedAt),
    duration_ms: attempt.durationMs,
    http_status: attempt.httpStatus,
    error_message: attempt.error,
  };
}

function wireDelivery(delivery: Delivery, traceId: string | null): WireTaskRun['deliveries'][number] {
  return {
    delivery_id: delivery.id,
    part: delivery.part,
    status: delivery.status,
    thread_key: threadKeyOf(delivery.thread),
    chat_id: delivery.platformChatId,
    message_thread_id: delivery.messageThreadId,
    message_id: delivery.messageId,
    error_message: delivery.error,
    created_at: iso(delivery.createdAt),
    delivered_at: isoOrNull(delivery.deliveredAt),
    trace_id: traceId,
  };
}

export function wirePreview(preview: AskedPreview): z.output<typeof previewAnswer> {
  return {
    next: preview.next.map(iso),
    description: preview.description,
    min_gap_seconds: preview.minGapMs === null ? null : preview.minGapMs / 1000,
    warnings: preview.warnings.map(({ code, message }) => ({ code, message })),
    schedule: wireSchedule(preview.schedule),
    ...(preview.asked === null
      ? {}
      : { text: preview.asked.text, policies: { ...preview.asked.policies }, timezone: preview.schedule.timezone }),
  };
}

export function iso(instant: number): string {
  return new Date(instant).toISOString();
}

export function isoOrNull(instant: number | null): string | null {
  return instant === null ? null : iso(instant);
}
