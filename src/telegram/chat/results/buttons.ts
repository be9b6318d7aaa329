import type { MissedAnswer } from '../../../app/ports/questions.ts';
import { isActor } from '../../../domain/access.ts';
import { AppError } from '../../../domain/errors.ts';
import { rightEnd } from '../../../domain/grant.ts';
import { askExpiryMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, Buttons, ChatContext } from '../context.ts';
import { alerted, answer, toasted, redrawn, Refused } from '../kit/answers.ts';
import { cardOf, taskName, settingFor } from '../kit/card.ts';
import { pastMoment } from '../kit/clock.ts';
import {
  onAnyTask,
  onChat,
  onDoubt,
  onRun,
  onTask,
  permitted,
  targetOf,
  threadOf,
  type RunOfTask,
} from '../kit/guards.ts';
import { arg, longId } from '../kit/press.ts';
import { lines, pre } from '../kit/rich.ts';
import { calledOf, shortName, standstill } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { donePressed, notDonePressed } from './done.ts';
import { laterPressed, pickPressed, resultPressed, snoozePressed } from './snoozing.ts';
import { notStartedPressed, settled, withLine, withRows } from './view.ts';

function inWindow(answer: Answer): Answer {
  const { toast } = answer;
  return toast === null || toast === undefined ? answer : { ...answer, toast: { ...toast, isAlert: true } };
}

function isChoice(word: string): word is MissedAnswer {
  return word === 'latest' || word === 'all' || word === 'none';
}

async function missedPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const choice = arg(ctx, 1);
  if (!isChoice(choice)) return alerted(texts.chat.oldButton);
  const { reminder } = texts;
  try {
    await ctx.tasks.answer(targetOf(ctx, task), choice);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'nothing_to_answer') throw error;
    return answeredBefore(ctx, task);
  }
  const line = reminder.missedDecided[choice](shortName(ctx.person.name));
  return settled(ctx, line, reminder.missedWord[choice]);
}

/** A late answer is told who came first, or that the time is over. */
async function answeredBefore(ctx: ChatContext, task: Task): Promise<Answer> {
  const { reminder } = texts;
  const last = await ctx.store.lastAnswer(task.id, ctx.clock.now() - askExpiryMs);
  if (last === null) return inWindow(settled(ctx, reminder.missedOver, reminder.missedOver));
  const name = await calledOf(ctx, last.by);
  const line = reminder.missedDecided[last.choice](shortName(name));
  return inWindow(settled(ctx, line, line));
}

async function decided(ctx: ChatContext, { task }: Pick<RunOfTask, 'task'>, isGiven: boolean): Promise<Answer> {
  const { actor } = ctx.person;
  const approved = await ctx.approvals.decide({ runId: longId(arg(ctx, 0)), actor, isGiven });
  const { reminder } = texts;
  if (approved.is === 'expired') return inWindow(settled(ctx, reminder.approvalExpired, reminder.approvalExpired));
  if (approved.is === 'none') return alerted(texts.chat.oldButton);
  const { by, at, isGiven: wasGiven, isFirst } = approved;
  const name = await calledOf(ctx, by);
  const when = pastMoment(at, settingFor(task, ctx));
  const [allowed, refused] =
    approved.isEffect === true
      ? [reminder.effectAllowed, reminder.effectRefused]
      : [reminder.approved, reminder.discarded];
  const words = wasGiven ? allowed : refused;
  const line = words(shortName(name), when);
  if (!isFirst && by !== actor) return inWindow(settled(ctx, line, line));
  if (wasGiven && approved.isEffect === true && (await hasNoRight(ctx, task)))
    return inWindow(settled(ctx, line, reminder.effectNoRight));
  const given = approved.isEffect === true ? reminder.effectAllowedWord : reminder.approvedWord;
  return settled(ctx, line, wasGiven ? given : reminder.discardedWord);
}

/** The run will end as skipped, whoever let it go on. */
async function hasNoRight({ store, clock }: ChatContext, { grantId }: Task): Promise<boolean> {
  const end = rightEnd(await store.readGrant(grantId));
  return end !== null && end <= clock.now();
}

/** A right of whoever presses, whose task it is from then on. The word about it says by whom; a card shows the task. */
async function renewPressed(ctx: ChatContext, before: Task): Promise<Answer> {
  const { task, entryId } = await ctx.tasks.renew(targetOf(ctx, before), { isWhole: arg(ctx, 2) === 'all' });
  const { reminder } = texts;
  const word = entryId === null ? reminder.renewedBefore : reminder.renewedBy(shortName(ctx.person.name), 1);
  return arg(ctx, 1) === 'n' ? settled(ctx, word, word) : redrawn(ctx, await cardOf(task, ctx), word);
}

/** All tasks here of somebody who is gone. Those of one person are judged alike, so the first of them tells who may. */
async function renewAllPressed(ctx: ChatContext): Promise<Answer> {
  const ownerId = `telegram:user:${arg(ctx, 0)}`;
  if (!isActor(ownerId)) throw new Refused(texts.chat.oldButton);
  const { chat } = ctx.place;
  const query = { chatId: chat.id, filter: 'all', ownerId, text: null, limit: 1, offset: 0 } as const;
  const [first] = (await ctx.store.chatTasks(query)).tasks;
  const { reminder } = texts;
  if (first === undefined) return settled(ctx, reminder.renewedBefore, reminder.renewedBefore);
  await permitted(ctx, 'change', first.id);
  const by = { actor: ctx.person.actor, idempotencyKey: ctx.key };
  const { changed } = await ctx.bulk.renew({ thread: threadOf(ctx.place), ownerId }, by);
  const word = changed === 0 ? reminder.renewedBefore : reminder.renewedBy(shortName(ctx.person.name), changed);
  return settled(ctx, word, word);
}

/** The cause is one of the whole chat, so everything that waits there is looked at; the named task's topic is made anew. */
async function unblockPressed(ctx: ChatContext, taskId: string | null): Promise<Answer> {
  const { store, clock } = ctx;
  const chatId = ctx.place.chat.id;
  const now = clock.now();
  const own = taskId === null ? 0 : await store.retryBlocked({ chatId, taskId, inDoubt: true }, now);
  const others = await store.retryBlocked({ chatId, taskId: null, inDoubt: false }, now);
  return toasted(texts.deed.looking(own + others));
}

async function doubtSettled(ctx: ChatContext, deliveryId: string, arrived: boolean): Promise<Answer> {
  const isSettled = await ctx.store.settleByHand(deliveryId, arrived, ctx.clock.now());
  if (!isSettled) throw new Refused(texts.deed.settledBefore);
  const toast = arrived ? texts.deed.answerArrived : texts.deed.answerResend;
  const line = texts.deed.settledLine(shortName(ctx.person.name), arrived);
  const shown = ctx.shown === null ? null : withLine(ctx.shown, line);
  return shown === null ? toasted(toast) : redrawn(ctx, withRows(shown, []), toast);
}

/** Buttons of results, of questions and of words about failures. They stand in the chat for months. */
export const resultsButtons = {
  done: onTask('read', donePressed, { deleted: 'handled' }),
  notdone: onTask('read', notDonePressed, { deleted: 'handled' }),
  seen: onChat('read', async () => toasted(texts.reminder.done)),
  snooze: onTask('change', snoozePressed, { deleted: 'gone' }),
  later: onTask('change', laterPressed, { deleted: 'handled' }),
  pick: onTask('change', pickPressed, { deleted: 'gone' }),
  result: onTask('read', resultPressed, { deleted: 'handled' }),
  // A retry that is under way is found and not made again.
  retry: onRun(
    () => 'change',
    async (ctx) => {
      const by = { actor: ctx.person.actor, idempotencyKey: ctx.key };
      const { task, taskRun } = await ctx.tasks.repeat('retry', longId(arg(ctx, 0)), by);
      const stands = await standstill(ctx, task.action.kind, settingFor(task, ctx));
      return notStartedPressed(task, taskRun) ?? toasted(stands ?? texts.deed.retried);
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
  renew: onTask('change', renewPressed, { deleted: 'gone' }),
  renewall: renewAllPressed,
  unblock: onAnyTask({ task: 'change', chat: 'read' }, unblockPressed),
  arrived: onDoubt({ task: 'change', chat: 'manage' }, (ctx, id) => doubtSettled(ctx, id, true)),
  resend: onDoubt({ task: 'change', chat: 'manage' }, (ctx, id) => doubtSettled(ctx, id, false)),
} satisfies Buttons;

function errorAnswer(task: Task, error: string | null): Answer {
  if (error === null || error.trim() === '') return alerted(texts.notice.noError);
  return answer(lines(texts.notice.errorOf(taskName(task)), pre(error.trim())));
}
