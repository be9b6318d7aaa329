import { z } from 'zod';
import { instantSent, searchText, strict } from './fields.ts';
import { operation } from './operation.ts';
import { bulkAnswer } from './threads.ts';

/** What is done to all tasks of a subject or a tag. */

const chosen = {
  subject: searchText.min(1).optional().meta({ description: 'Tasks of exactly this subject.' }),
  tag: searchText.min(1).optional().meta({ description: 'Tasks that bear this tag.' }),
  thread_key: z.string().optional().meta({ description: 'Only those of this chat or thread.' }),
};

/** All tasks of a thread have operations of their own; all tasks of the server are nobody's to change by one slip. */
function isNamed({ subject, tag }: { readonly subject?: string | undefined; readonly tag?: string | undefined }) {
  return subject !== undefined || tag !== undefined;
}
const example = { tag: 'team' };
const unnamed = { error: 'name a subject or a tag; for all tasks of a thread, see /v1/threads/{thread_key}' };
const chosenBody = strict(chosen).refine(isNamed, unnamed).meta({ id: 'Chosen', example });
const pauseChosenBody = strict({
  ...chosen,
  until: instantSent
    .optional()
    .meta({ description: 'When the pause ends by itself; without it, when somebody resumes.' }),
})
  .refine(isNamed, unnamed)
  .meta({ id: 'PauseChosen', example });

const bulk = {
  tag: 'tasks',
  method: 'post',
  query: strict({
    dry_run: z.enum(['true', 'false']).default('false').meta({ description: 'true only counts what would change.' }),
  }),
  answer: bulkAnswer,
} as const;

export const pauseTasks = operation({
  ...bulk,
  id: 'pauseTasks',
  summary: 'Pause all tasks of a subject or a tag; dry_run=true counts first',
  path: '/v1/tasks/pause',
  body: pauseChosenBody,
});

export const resumeTasks = operation({
  ...bulk,
  id: 'resumeTasks',
  summary: 'Let all tasks of a subject or a tag go on that a person paused',
  path: '/v1/tasks/resume',
  body: chosenBody,
});

export const cancelTasks = operation({
  ...bulk,
  id: 'cancelTasks',
  summary: 'Call off what the tasks of a subject or a tag run now',
  path: '/v1/tasks/cancel',
  body: chosenBody,
});
