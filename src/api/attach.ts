import { z } from 'zod';
import { strict, taskParams } from './fields.ts';
import { operation } from './operation.ts';
import { changedTask } from './tasks.ts';

/** A task gets a chat, or another one. */

export const attachTask = operation({
  id: 'attachTask',
  tag: 'tasks',
  summary: 'Give a task a chat, or another one while nothing of it is in its own',
  method: 'post',
  path: '/v1/tasks/{task_id}/attach',
  params: taskParams,
  body: strict({
    thread_key: z.string().meta({
      description: 'telegram:chat:<id> or telegram:chat:<id>:topic:<n>. Results go to a topic of the task itself.',
      example: 'telegram:chat:-1001234',
    }),
  }),
  idempotent: true,
  answer: changedTask,
  refuses: ['invalid_thread_key', 'run_in_progress', 'not_attachable', 'quota_exceeded'],
});
