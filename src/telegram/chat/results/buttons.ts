import type { Task } from '../../../domain/task.ts';
import type { Answer, Buttons, ChatContext } from '../conversation.ts';
import { alerted, answer, toasted } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onRun, onTask } from '../kit/guards.ts';
import { arg, longId } from '../kit/press.ts';
import { lines, pre } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { decided, missedPressed, unblockPressed, waitingSettled } from './asking.ts';
import { donePressed, notDonePressed } from './done.ts';
import { laterPressed, pickPressed, resultPressed, snoozePressed } from './snoozing.ts';

/** Buttons of results, of questions and of words about failures. They stand in the chat for months. */
export const resultsButtons = {
  done: donePressed,
  notdone: onTask('read', notDonePressed, { deleted: 'handled' }),
  seen: async () => toasted(texts.reminder.done),
  snooze: onTask('change', snoozePressed, { deleted: 'gone' }),
  later: onTask('change', laterPressed, { deleted: 'handled' }),
  pick: onTask('change', pickPressed, { deleted: 'gone' }),
  result: onTask('read', resultPressed, { deleted: 'handled' }),
  // A retry that is under way is found and not made again.
  retry: onRun(
    () => 'change',
    async (ctx) => {
      const by = { actor: ctx.person.actor, idempotencyKey: ctx.key };
      await ctx.tasks.repeat('retry', longId(arg(ctx, 0)), by);
      return toasted(texts.deed.retried);
    },
  ),
  error: onRun(
    () => 'read',
    async (_ctx, { run, task }) => errorAnswer(task, run.error ?? run.attempts.at(-1)?.error ?? null),
  ),
  lasterror: onTask('read', async (_ctx, task) => errorAnswer(task, task.lastError), { deleted: 'handled' }),
  missed: onTask('change', missedPressed, { deleted: 'handled' }),
  // In a group nobody lets their own results go: that takes an admin. To discard them takes no more than to delete the task.
  deliver: onRun(
    (ctx) => (ctx.place.chat.address.startsWith('-') ? 'manage' : 'change'),
    (ctx, about) => decided(ctx, about, true),
  ),
  discard: onRun(
    () => 'change',
    (ctx, about) => decided(ctx, about, false),
  ),
  unblock: unblockPressed,
  arrived: (ctx: ChatContext) => waitingSettled(ctx, true),
  resend: (ctx: ChatContext) => waitingSettled(ctx, false),
} satisfies Buttons;

function errorAnswer(task: Task, error: string | null): Answer {
  if (error === null || error.trim() === '') return alerted(texts.notice.noError);
  return answer(lines(texts.notice.errorOf(taskName(task)), pre(error.trim())));
}
