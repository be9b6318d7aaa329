import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { operation, duration, instant, instantSent, noBody, strict, taskParams } from './operation.ts';
import { ranNow } from './runs.ts';
import { changedTask, entryId, taskAnswer } from './tasks.ts';

/** Verbs on a task, besides changing its definition. */

export const pauseEnd = instantSent
  .optional()
  .meta({ description: 'When the pause ends by itself; without it, when somebody resumes.' });
export const pauseBody = strict({ until: pauseEnd }).optional();
const skipBody = strict({
  count: z.int().min(1).max(limits.skipMax).default(1),
  from: instantSent.optional().meta({
    description: 'The next run as the person saw it. When another is next by now, nothing is skipped.',
  }),
}).prefault({});
const snoozeBody = strict({
  for: duration.optional(),
  until: instantSent.optional(),
  task_run_id: z.string().max(64).optional().meta({
    description:
      'The task_run whose result is put off; without it, the latest one. Each result has a snooze of its own.',
  }),
})
  .refine((body) => (body.for === undefined) !== (body.until === undefined), {
    error: 'name either "for", a duration such as PT10M, or "until", an instant',
  })
  .meta({ id: 'Snooze', example: { for: 'PT10M' } });
const answerBody = z
  .union([
    strict({
      answer: z
        .enum(['latest', 'all', 'none'])
        .meta({ description: 'Which of the missed slots run after all: the latest of them, all of them, or none.' }),
    }),
    strict({ run: z.boolean().meta({ description: 'true is answer: all; false is answer: none.' }) }),
  ])
  .meta({ example: { answer: 'latest' } });
const undoBody = strict({
  entry_id: z.string().max(32).optional().meta({ description: 'The change to undo; without it, the latest one.' }),
}).prefault({});

const undoneTask = strict({
  task: taskAnswer,
  entry_id: entryId,
  undone: strict({ entry_id: z.string(), verb: z.string(), at: instant }),
});

const snoozedTask = strict({
  task: taskAnswer,
  entry_id: entryId,
  until: instant.meta({ description: 'When it comes again.' }),
  moved_from: instant
    .nullable()
    .meta({ description: 'When it was to come, where this result had been snoozed before.' }),
});

const verb = { tag: 'tasks', params: taskParams, body: noBody, idempotent: true, answer: changedTask } as const;
const path = '/v1/tasks/{task_id}';

export const verbOperations = {
  runTaskNow: operation('post', `${path}/run-now`, {
    scope: 'run',
    ...verb,
    summary: 'Run a task now, beside its schedule',
    answer: ranNow,
    refuses: ['run_in_progress'],
  }),
  cancelTask: operation('post', `${path}/cancel`, {
    scope: 'run',
    ...verb,
    summary: 'Call off what a task runs now',
  }),
  answerTask: operation('post', `${path}/answer`, {
    scope: 'run',
    ...verb,
    summary: 'Say whether missed slots run after all (policy missed: ask)',
    body: answerBody,
    refuses: ['nothing_to_answer'],
  }),
  pauseTask: operation('post', `${path}/pause`, {
    scope: 'manage',
    ...verb,
    summary: 'Pause a task',
    body: pauseBody,
  }),
  resumeTask: operation('post', `${path}/resume`, {
    scope: 'manage',
    ...verb,
    summary: 'Resume a paused task',
    refuses: ['schedule_exhausted'],
  }),
  skipTask: operation('post', `${path}/skip`, {
    scope: 'manage',
    ...verb,
    summary: 'Skip the next runs of a task',
    body: skipBody,
    refuses: ['nothing_to_skip'],
  }),
  unskipTask: operation('post', `${path}/unskip`, {
    scope: 'manage',
    ...verb,
    summary: 'Take back what was skipped in advance',
  }),
  snoozeTask: operation('post', `${path}/snooze`, {
    scope: 'run',
    ...verb,
    summary: 'Run a task once more later, beside its schedule',
    body: snoozeBody,
    answer: snoozedTask,
  }),
  restoreTask: operation('post', `${path}/restore`, {
    scope: 'manage',
    ...verb,
    summary: 'Bring a deleted task back, within a day',
    refuses: ['too_late', 'quota_exceeded'],
  }),
  undoTask: operation('post', `${path}/undo`, {
    scope: 'manage',
    ...verb,
    summary: 'Take back a change of a task, within a day',
    body: undoBody,
    answer: undoneTask,
    refuses: ['nothing_to_undo', 'too_late', 'schedule_exhausted', 'quota_exceeded', 'invalid_schedule'],
  }),
} as const;
