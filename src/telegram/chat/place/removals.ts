import type { User } from '../../../app/ports/chats.ts';
import type { WorkCounts, Whose } from '../../../app/ports/tasks.ts';
import { addressOf } from '../../../app/use-cases/membership.ts';
import { isActor } from '../../../domain/access.ts';
import { topicsCleanedMax } from '../../../domain/limits.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, answerWith, redrawn, Refused, toasted, toastOf } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onChat, onFound, permitted, targetOf, threadOf } from '../kit/guards.ts';
import { calledAlone, numberIn } from '../kit/naming.ts';
import { arg, button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { demand, shortName } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { peopleCalled } from './allowing.ts';

/** The tasks that a purge is about: of the chat, or of a person, and then here or, for owners of the bot, in all chats. */
interface Purge {
  readonly person: Pick<User, 'id' | 'name'> | null;
  readonly isEverywhere: boolean;
}

const ofChat: Purge = { person: null, isEverywhere: false };

/** `/purge`: all tasks of the chat go, or those of a person, once somebody has seen how many they are. */
export const purgeCommand = onChat('manage', async (ctx) => {
  const words = ctx.args.trim();
  if (words === '') return answerWith(await purgeDrawn(ctx, ofChat));
  // A person without tasks is told of like somebody unknown, so that nobody learns who is known in other chats.
  const found: User[] = [];
  for (const person of await peopleCalled(ctx, words))
    if (allOf(await ctx.bulk.count(whoseTasks(ctx, { person, isEverywhere: ctx.person.isOwner }))) > 0)
      found.push(person);
  const [person, ...others] = found;
  if (person === undefined) return answer(texts.purge.nobody(words));
  if (others.length === 0) return answerWith(await purgeDrawn(ctx, { person, isEverywhere: false }));
  return answer(
    texts.allow.several(words),
    found.map(({ id, name }) => [
      button(texts.allow.chat(name ?? words, addressOf(id)), dataOf('purge', '', addressOf(id))),
    ]),
  );
});

function whoseTasks(ctx: ChatContext, { person, isEverywhere }: Purge): Whose {
  const thread = threadOf(ctx.place);
  if (person === null) return { thread };
  return isEverywhere ? { ownerId: person.id } : { thread, ownerId: person.id };
}

function allOf({ active, paused, completed }: WorkCounts): number {
  return active + paused + completed;
}

/** The question, with the number on its button: whoever presses has read it twice. */
async function purgeDrawn(ctx: ChatContext, { person, isEverywhere }: Purge): Promise<Drawn> {
  const { purge, topic } = texts;
  const here = isEverywhere ? null : await ctx.bulk.count(whoseTasks(ctx, { person, isEverywhere }));
  const mayAll = person !== null && ctx.person.isOwner;
  const inAll = mayAll ? await ctx.bulk.count(whoseTasks(ctx, { person, isEverywhere: true })) : null;
  const [count, total] = [here === null ? 0 : allOf(here), inAll === null ? 0 : allOf(inAll)];
  const counts = count > 0 ? here : inAll;
  if (counts === null || allOf(counts) === 0) return drawn(purge.none);
  const name = person === null ? null : shortName(person.name ?? person.id);
  const data = (all: number, ...scope: string[]) =>
    dataOf('purge', all, ...(person === null ? [] : [addressOf(person.id), ...scope]));
  return drawn(purge.confirm(counts, { all: allOf(counts), name, isEverywhere: count === 0 }), [
    [count === 0 ? null : button(purge.deleteAll(count), data(count)), button(topic.keep, dataOf('keep'))],
    [total > count ? button(purge.deleteEverywhere(total), data(total, 'all')) : null],
  ]);
}

/** Tasks that are named in the answer, so that they can be brought back by their numbers. */
const namedMax = 20;

/** Tasks that were made or deleted since are asked about anew: nobody deletes what they were not told of. */
export const purgePressed = onChat('manage', async (ctx) => {
  const { purge } = texts;
  const asked = await askedBy(ctx);
  if (asked.isEverywhere) await demand(ctx, 'approve');
  const expected = Number(arg(ctx, 0));
  if (arg(ctx, 0) === '') return redrawn(ctx, await purgeDrawn(ctx, asked));
  const ownerId = asked.person?.id ?? null;
  const query = { chatId: ctx.place.chat.id, filter: 'all', ownerId, text: null, offset: 0 } as const;
  const { tasks } = await ctx.store.chatTasks({ ...query, limit: namedMax });
  const { counts, isDone } = await ctx.bulk.purge(whoseTasks(ctx, asked), { actor: ctx.person.actor, expected });
  const all = allOf(counts);
  // Pressed twice: the answer to the first press stays.
  if (all === 0) return toasted(purge.none);
  if (!isDone) return redrawn(ctx, await purgeDrawn(ctx, asked), purge.changed);
  const names = tasks.toSorted((a, b) => a.number - b.number).map(taskName);
  return redrawn(ctx, drawn(purge.done(all, names, all - names.length)), purge.doneWord(all));
});

async function askedBy(ctx: ChatContext): Promise<Purge> {
  const [id, scope] = [arg(ctx, 1), arg(ctx, 2)];
  if (id === '') return ofChat;
  const actor = `telegram:user:${id}`;
  if (!isActor(actor)) throw new Refused(texts.chat.oldButton);
  const person = (await ctx.store.readUser(actor)) ?? { id: actor, name: null };
  return { person, isEverywhere: scope === 'all' };
}

/** `/topic delete`, `/topic clean`. */
export async function topicCommand(ctx: ChatContext): Promise<Answer> {
  return /^clean$/i.test(ctx.args.trim()) ? cleanCommand(ctx) : deleteTopic(ctx);
}

/** The topic of a task goes, with all its messages, and the task goes on. */
const deleteTopic = onFound('change', meant, async (ctx, { task }) => {
  const { topic } = texts;
  if (task.topicState === 'creating') return answer(topic.beingMade(taskName(task)));
  if (task.topicId === null) {
    return answer(ctx.place.isForum ? topic.none(taskName(task)) : topic.unavailable(taskName(task)));
  }
  if (task.isTopicShared) return answer(topic.shared);
  const isDeleted = task.state === 'deleted';
  return answer(topic.confirm(taskName(task), isDeleted), [
    [button(topic.deleteIt, dataOf('topicdelete', shortId(task.id), task.topicId)), button(topic.keep, dataOf('keep'))],
  ]);
});

/** Also a deleted task may have a topic still, which is closed then. */
async function meant(ctx: ChatContext): Promise<{ readonly task: Task }> {
  const { place, store, args } = ctx;
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
  const called = rest.trim() === '' ? null : await calledAlone(ctx, rest);
  if (called !== null) return { task: await permitted(ctx, 'change', called.id) };
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

/** `/topic clean`: topics of finished tasks are closed or deleted, once somebody has seen how many they are. */
const cleanCommand = onChat('manage', async (ctx) => answerWith(await cleanDrawn(ctx)));

async function cleanDrawn(ctx: ChatContext): Promise<Drawn> {
  const { clean } = texts;
  const { place, store } = ctx;
  const { all, open } = await store.finishedTopics(place.chat.id);
  if (all === 0) return drawn(clean.none);
  const [closing, deleting] = [atOnce(open), atOnce(all)];
  // Telegram closes no topics of private chats.
  const mayClose = closing > 0 && place.chat.kind !== 'private';
  return drawn(clean.confirm(all, topicsCleanedMax, mayClose), [
    [
      mayClose ? button(clean.close(closing), dataOf('clean', 'close', closing)) : null,
      button(clean.delete(deleting), dataOf('clean', 'delete', deleting)),
      button(texts.button.cancel, dataOf('clean', 'cancel')),
    ],
  ]);
}

/** The next `/topic clean` asks about the rest. */
function atOnce(count: number): number {
  return Math.min(count, topicsCleanedMax);
}

export const cleanPressed = onChat('manage', async (ctx): Promise<Answer> => {
  const { clean } = texts;
  const { place, store, person, clock, key } = ctx;
  const [what, expected] = [arg(ctx, 0), Number(arg(ctx, 1))];
  if (what === 'cancel') return redrawn(ctx, drawn(clean.kept));
  if ((what !== 'close' && what !== 'delete') || !Number.isSafeInteger(expected) || expected <= 0)
    throw new Refused(texts.chat.oldButton);
  const isBegun = await store.cleanTopics({
    id: key,
    chatId: place.chat.id,
    deed: what === 'close' ? 'close' : 'removeTopic',
    expected,
    limit: topicsCleanedMax,
    actor: person.actor,
    at: clock.now(),
    // The topic of a task may be one of those that go.
    thread: { topic: place.topicTask === null ? place.topic : null },
  });
  if (isBegun) return redrawn(ctx, drawn(clean.begun(what, expected)));
  const { all } = await store.finishedTopics(place.chat.id);
  // Pressed twice: the answer to the first press stays.
  return all === 0 ? toasted(clean.none) : redrawn(ctx, await cleanDrawn(ctx), clean.changed);
});
