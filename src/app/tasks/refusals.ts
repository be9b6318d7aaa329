import { AppError } from '../../domain/errors.ts';
import type { Task } from '../../domain/task.ts';
import type { TaskScene } from '../ports/tasks.ts';

/** What more than one verb refuses or tells, in the same words. */

export function refuseDeleted({ task }: TaskScene): void {
  if (task.state === 'deleted') throw notFound();
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no such task.');
}

export function exhausted(): AppError {
  return new AppError(
    'schedule_exhausted',
    'This task has nothing left to run. Give it a new schedule, or raise until or max_runs.',
  );
}

/** Why a task is paused, and until when: what the way back needs to know. */
export function pauseFacts({ pausedReason, resumeAt }: Pick<Task, 'pausedReason' | 'resumeAt'>) {
  return { reason: pausedReason, ...untilFact(resumeAt) };
}

export function untilFact(until: number | null) {
  return until === null ? {} : { until: new Date(until).toISOString() };
}

export function isUnreadable({ pausedReason }: Pick<Task, 'pausedReason'>): boolean {
  return pausedReason?.startsWith('unreadable') === true;
}

export function unreadableRow({ pausedReason }: Pick<Task, 'pausedReason'>): AppError {
  return new AppError(
    'invalid_request',
    `This task cannot go on: its row is ${pausedReason ?? 'unreadable'}. Give it a new schedule, or delete it.`,
  );
}
