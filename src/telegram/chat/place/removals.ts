import type { ThreadCounts } from '../../../app/ports/tasks.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, answerWith, redrawn, Refused, toasted, toastOf } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onChat, onFound, targetOf, threadOf } from '../kit/guards.ts';
import { numberIn } from '../kit/naming.ts';
import { arg, button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** `/purge`: all tasks of the chat go, once somebody has seen how many that are. */
export const purgeCommand = onChat('manage', async (ctx) => {
  if (ctx.args.trim() !== '') return answer(texts.purge.alone);
  return answerWith(purgeDrawn(await ctx.bulk.count(threadOf(ctx.place))));
});

function allOf({ active, paused, completed }: ThreadCounts): number {
  return active + paused + completed;
}

/** The question, with the number on its button: whoever presses has read it twice. */
function purgeDrawn(counts: ThreadCounts): Drawn {
  const { purge, topic } = texts;
  const all = allOf(counts);
  if (all === 0) return drawn(purge.none);
  return drawn(purge.confirm(counts, all), [
    [button(purge.deleteAll(all), dataOf('purge', all)), button(topic.keep, dataOf('keep'))],
  ]);
}

/** Tasks that are named in the answer, so that they can be brought back by their numbers. */
const namedMax = 20;

/** Tasks that were made or deleted since are asked about anew: nobody deletes what they were not told of. */
export const purgePressed = onChat('manage', async (ctx) => {
  const { purge } = texts;
  const thread = threadOf(ctx.place);
  const counts = await ctx.bulk.count(thread);
  const all = allOf(counts);
  // Pressed twice: the answer to the first press stays.
  if (all === 0) return toasted(purge.none);
  if (String(all) !== arg(ctx, 0)) return redrawn(ctx, purgeDrawn(counts), purge.changed);
  const query = { chatId: ctx.place.chat.id, filter: 'all', ownerId: null, text: null, offset: 0 } as const;
  const { tasks } = await ctx.store.chatTasks({ ...query, limit: namedMax });
  await ctx.bulk.purge(thread, { actor: ctx.person.actor });
  const names = tasks.toSorted((a, b) => a.number - b.number).map(taskName);
  return redrawn(ctx, drawn(purge.done(all, names, all - names.length)), purge.doneWord(all));
});

/** `/topic delete`: the topic of a task goes, with all its messages, and the task goes on. */
export const topicCommand = onFound('change', meant, async (ctx, { task }) => {
  const { topic } = texts;
  if (task.topicState === 'creating') return answer(topic.beingMade(taskName(task)));
  if (task.topicId === null) {
    return answer(ctx.place.isForum ? topic.none(taskName(task)) : topic.unavailable(taskName(task)));
  }
  const isDeleted = task.state === 'deleted';
  return answer(topic.confirm(taskName(task), isDeleted), [
    [button(topic.deleteIt, dataOf('topicdelete', shortId(task.id), task.topicId)), button(topic.keep, dataOf('keep'))],
  ]);
});

/** Also a deleted task may have a topic still, which is closed then. */
async function meant({ place, store, args }: ChatContext): Promise<{ readonly task: Task }> {
  const { topic, list } = texts;
  const [, rest] = /^delete(?=\s|$)\s*(.*)$/is.exec(args.trim()) ?? [];
  if (rest === undefined) throw new Refused(answer(topic.how()));
  const numbered = numberIn(place, rest);
  if (numbered !== null) {
    if (numbered.rest !== '') throw new Refused(answer(topic.how()));
    const task = await store.taskByNumber(place.chat.id, numbered.number);
    if (task === null) throw new Refused(answer(list.noSuchNumber(numbered.number)));
    return { task };
  }
  if (rest.trim() !== '') throw new Refused(answer(topic.how()));
  if (place.topicTask !== null) return { task: place.topicTask };
  throw new Refused(answer(place.topic === null ? topic.how() : topic.notOurs));
}

/**
 * The topic is taken from the task first, so that nothing is sent into it any more, and then removed. The answer goes
 * elsewhere: what stands in the topic goes with it.
 */
export async function topicDeletePressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const topicId = Number(arg(ctx, 1));
  const { topic } = texts;
  if (!Number.isSafeInteger(topicId) || topicId <= 0) throw new Refused(texts.chat.oldButton);
  const unbound = await ctx.tasks.unbindTopic(targetOf(ctx, task), topicId);
  if (unbound === 'creating') throw new Refused(topic.beingMade(taskName(task)));
  if (unbound === 'none') throw new Refused(topic.goneBefore);
  const shown = drawn(topic.deleted(taskName(task), task.state === 'deleted'));
  const removal = { is: 'removeTopic', topic: topicId } as const;
  if (ctx.place.topic !== topicId) {
    return { replies: [removal, { is: 'edit', messageId: ctx.messageId, shown }], ...toastOf(topic.deletedWord) };
  }
  // A second press is told nothing; whether the removal was asked for the first time is not known.
  return {
    replies: unbound === 'before' ? [removal] : [removal, { is: 'message', shown, inBase: true }],
    ...toastOf(topic.deletedWord),
  };
}
