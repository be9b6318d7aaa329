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
const snoozeBody = strict({ for: duration.optional(), until: instantSent.optional() })
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

const verb = { tag: 'tasks', method: 'post', params: taskParams, body: noBody, answer: changedTask } as const;
const path = '/v1/tasks/{task_id}';

export const verbOperations = {
  runTaskNow: operation({
    ...verb,
    summary: 'Run a task now, beside its schedule',
    path: `${path}/run-now`,
    idempotent: true,
    answer: ranNow,
    refuses: ['run_in_progress'],
  }),
  cancelTask: operation({
    ...verb,
    summary: 'Call off what a task runs now',
    path: `${path}/cancel`,
  }),
  answerTask: operation({
    ...verb,
    summary: 'Say whether missed slots run after all (policy missed: ask)',
    path: `${path}/answer`,
    body: answerBody,
    refuses: ['nothing_to_answer'],
  }),
  pauseTask: operation({
    ...verb,
    summary: 'Pause a task',
    path: `${path}/pause`,
    body: pauseBody,
  }),
  resumeTask: operation({
    ...verb,
    summary: 'Let a paused task go on',
    path: `${path}/resume`,
    refuses: ['schedule_exhausted'],
  }),
  skipTask: operation({
    ...verb,
    summary: 'Skip the next runs of a task',
    path: `${path}/skip`,
    body: skipBody,
    idempotent: true,
    refuses: ['nothing_to_skip'],
  }),
  unskipTask: operation({
    ...verb,
    summary: 'Take back what was skipped in advance',
    path: `${path}/unskip`,
  }),
  snoozeTask: operation({
    ...verb,
    summary: 'Run a task once more later, beside its schedule',
    path: `${path}/snooze`,
    body: snoozeBody,
    idempotent: true,
  }),
  restoreTask: operation({
    ...verb,
    summary: 'Bring a deleted task back, within a day',
    path: `${path}/restore`,
    refuses: ['too_late', 'quota_exceeded'],
  }),
  undoTask: operation({
    ...verb,
    summary: 'Take back a change of a task, within a day',
    path: `${path}/undo`,
    body: undoBody,
    answer: undoneTask,
    refuses: ['nothing_to_undo', 'too_late', 'schedule_exhausted', 'quota_exceeded', 'invalid_schedule'],
  }),
} as const;
