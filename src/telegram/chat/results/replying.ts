import { telegramThread } from '../../../domain/thread.ts';
import type { Answer, ChatContext, Handler } from '../context.ts';
import { answer, forAsker, silence } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { settingOf } from '../kit/clock.ts';
import { momentIn } from '../kit/days.ts';
import { impliedBy, type Implied } from '../kit/naming.ts';
import { drawn } from '../kit/rich.ts';
import { runCommand, snoozeCommand, skipCommand } from '../task/doing.ts';
import { historyCommand, whyCommand } from '../task/looking.ts';
import { texts } from '../texts.ts';
import { doneInReply, isDoneWord } from './done.ts';

/**
 * Plain words as a reply to a message about a task do what the command of that name would do there. Few words are known,
 * and each must be the whole of what was said: people talk to each other under a result as well.
 */
const wordings: readonly { readonly pattern: RegExp; readonly command: string; readonly handle: Handler }[] = [
  { pattern: /^(?:snooze|later|not now)$/i, command: 'snooze', handle: snoozeCommand },
  { pattern: /^(?:skip|skip (?:it|this|next))$/i, command: 'skip', handle: skipCommand },
  { pattern: /^why$/i, command: 'why', handle: async (ctx) => forAsker(await whyCommand(ctx)) },
  { pattern: /^(?:(?:run )?(?:it )?again|once more|run|retry)$/i, command: 'run', handle: runCommand },
  { pattern: /^history$/i, command: 'history', handle: async (ctx) => forAsker(await historyCommand(ctx)) },
];

/** Answers a reply to a message about a task; null when it is none, and may mean something else. */
export async function replied(ctx: ChatContext): Promise<Answer | null> {
  const implied = await impliedBy(ctx);
  if (implied?.by !== 'reply') return null;
  const words = ctx.args.trim().replace(/[.!?\s]+$/u, '');
  if (isDoneWord(words)) return doneInReply(ctx, implied);
  const wording = wordings.find(({ pattern }) => pattern.test(words));
  if (wording !== undefined) return wording.handle({ ...ctx, command: wording.command, args: '' });
  const { timezone } = settingOf(implied.task, ctx.date);
  if (momentIn(words, { timezone, now: ctx.date }, '9:00') !== null) {
    return snoozeCommand({ ...ctx, command: 'snooze', args: words });
  }
  return hint(ctx, implied);
}

const hintKeptMs = 3_600_000;

/** Told to each person once for each task in a group, where a reply may be meant for the others. */
async function hint(ctx: ChatContext, { task }: Implied): Promise<Answer> {
  const { place, person } = ctx;
  const words = texts.reply.hint(taskName(task));
  if (place.chat.kind === 'private') return answer(words);
  const now = ctx.clock.now();
  const message = {
    id: ctx.ids.next(),
    kind: 'answer',
    thread: telegramThread(place.chat.address, place.topic),
    taskId: null,
    shown: drawn(words),
    edits: null,
    expiresAt: now + hintKeptMs,
  } as const;
  await ctx.store.tellOnce({ word: 'reply_hint', taskId: task.id, about: person.actor }, message, now);
  return silence;
}
