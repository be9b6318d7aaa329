import type { NotedDone } from '../../../app/ports/questions.ts';
import type { Actor } from '../../../domain/access.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext, Reply } from '../context.ts';
import {
  alerted,
  answer,
  forAsker,
  reactOr,
  redrawn,
  taskButton,
  toasted,
  toastOf,
  turnedDown,
} from '../kit/answers.ts';
import { taskName, settingFor } from '../kit/card.ts';
import { aboutMoment, pastMoment } from '../kit/clock.ts';
import { onNamedTask, permitted } from '../kit/guards.ts';
import { impliedBy, type Implied } from '../kit/naming.ts';
import { arg, dataOf, longId, shortId, markFor } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { calledOf, refusal, shortName } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { doneLine, doneShown, firstShown, resultRows, unnamedResult, withLine, withoutLine, withRows } from './view.ts';

/** "Done", said by a button, in a reply, or as a word in the topic of a task whose reminder is open. */

interface DoneSaid {
  readonly task: Task;
  readonly occurrenceId: string;
  /** The message that carries the button, or that was answered. */
  readonly messageId: number;
  /** The message as it is shown; null when Telegram does not tell. */
  readonly shown: Drawn | null;
}

interface DoneTold {
  readonly replies: readonly Reply[];
  /** For the person alone: that it is noted, or who was first. */
  readonly word: string;
  /** The Done that counts is that of the person, said now or before. */
  readonly isTheirs: boolean;
}

/**
 * The result itself says that it is done, wherever that was said. The task stays as it is, so everybody in the chat may say
 * so; the second one is told who was first.
 */
async function done(ctx: ChatContext, said: DoneSaid): Promise<DoneTold> {
  const { person } = ctx;
  const { task, occurrenceId, messageId: pressed } = said;
  const request = { taskId: task.id, occurrenceId, actor: person.actor, pressed };
  const { by, at, result, endedSnoozes } = await ctx.acks.done(request);
  const isTheirs = by === person.actor;
  const name = shortName(isTheirs ? person.name : await calledOf(ctx, by));
  const setting = settingFor(task, ctx);
  const { reminder } = texts;
  const [again] = endedSnoozes;
  const ends = again === undefined ? null : aboutMoment(again, setting);
  const noted = ends === null ? reminder.done : reminder.doneForGood(ends);
  return {
    replies: doneReplies(ctx, said, doneLine(name, at, { result, setting, ends }), result),
    word: isTheirs ? noted : reminder.doneBefore(name, pastMoment(at, setting)),
    isTheirs,
  };
}

/** The result bears the line; a word to an admin that it was not done bears it as well. Reminders in the topic go away. */
function doneReplies(
  { place }: ChatContext,
  said: DoneSaid,
  line: string,
  result: NotedDone['result'],
): readonly Reply[] {
  const isOnResult = result === null || result.messageId === said.messageId;
  const first = isOnResult ? (said.shown ?? firstShown(result, said.task)) : firstShown(result, said.task);
  if (first === null) return [{ is: 'message', shown: drawn(line) }];
  const messageId = isOnResult ? said.messageId : result.messageId;
  const about = { taskId: said.task.id, occurrenceId: said.occurrenceId };
  const onResult: Reply = { is: 'edit', messageId, shown: doneShown(first, line, about) };
  if (isOnResult || place.topic === said.task.topicId || said.shown === null) return [onResult];
  const aside = withRows(withLine(said.shown, line) ?? said.shown, []);
  return [onResult, { is: 'edit', messageId: said.messageId, shown: aside }];
}

/**
 * Before a result is changed by a callback from it: a send whose answer was lost would be looked for by its first words
 * otherwise, and given those back.
 */
export async function noteArrival(
  { place, messageId, shown, store, clock }: ChatContext,
  task: Task,
  occurrenceId: string,
): Promise<void> {
  if (shown === null || messageId === 0) return;
  const { address } = place.chat;
  const found = { taskId: task.id, occurrenceId, messageId, texts: unnamedResult(shown.text, task) };
  await store.foundByPress({ ...found, address, topic: place.topic, at: clock.now() });
}

/** [Done]. */
export async function donePressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const { messageId, shown } = ctx;
  const occurrenceId = longId(arg(ctx, 1));
  await noteArrival(ctx, task, occurrenceId);
  const { replies, word, isTheirs } = await done(ctx, { task, occurrenceId, messageId, shown });
  return { replies, ...toastOf(word, !isTheirs) };
}

/** A word needs no answer beside the line in the result; the second one is told who was first. */
async function doneByWord(ctx: ChatContext, said: Omit<DoneSaid, 'shown'>): Promise<Answer> {
  await permitted(ctx, 'read', said.task.id);
  const { replies, word, isTheirs } = await done(ctx, { ...said, shown: null });
  return isTheirs ? { replies, reaction: '👍' } : { replies: [...replies, ...forAsker(answer(word)).replies] };
}

const doneWords =
  /^(?:(?:(?:ok(?:ay)?|yes|yep|all|it['’]?s|it is|that['’]?s|already)[,!. ]+)*(?:done|taken|did it|i did(?: it)?|finished|completed?|i have (?:taken|done) it)(?: (?:it|already|now))?(?:[,!. ]+(?:thanks|thank you|thx|ty|cheers|👍))?|[✅✔☑]\uFE0F?|👍\p{Emoji_Modifier}?)$/iu;

export function isDoneWord(words: string): boolean {
  return doneWords.test(words.trim().replace(/[.!?\s]+$/u, ''));
}

/** In the topic of a task whose reminder is open; null where the word may mean something else. */
export async function doneHere(ctx: ChatContext): Promise<Answer | null> {
  const { messageId } = ctx;
  const task = ctx.place.topicTask;
  if (task === null || ctx.repliedTo?.isOurs === true || !isDoneWord(ctx.args)) return null;
  const occurrenceId = await openReminder(task, ctx);
  return occurrenceId === null ? null : doneByWord(ctx, { task, occurrenceId, messageId });
}

/** `/done`: what is open of the task that is named or implied; without one the results of the chat that are open. */
export async function doneCommand(ctx: ChatContext): Promise<Answer> {
  const isNameless = ctx.args.trim() === '' && (await impliedBy(ctx)) === null;
  return isNameless ? doneOfChat(ctx) : doneNamed(ctx);
}

/** Results for which somebody may still say so without naming them. */
const openMs = DAY_MS;
const openMax = 6;

/** The only one that asks for Done, or else the only one that came; among several it is asked which. */
async function doneOfChat(ctx: ChatContext): Promise<Answer> {
  const all = await openHere(ctx);
  const asking = all.filter(({ isAsked }) => isAsked);
  const meant = asking.length > 0 ? asking : all;
  const [first, other] = meant;
  if (first === undefined) return answer(texts.reply.doneHow);
  const { messageId } = ctx;
  if (other === undefined) return doneByWord(ctx, { ...first, messageId });
  const rows = meant.map(({ task, occurrenceId }) => [
    taskButton(task, dataOf('done', shortId(task.id), shortId(occurrenceId))),
  ]);
  return answer(texts.reply.doneWhich, rows);
}

/** In a topic that tasks share, those of that topic. */
async function openHere({ place, store, clock }: ChatContext) {
  const query = { chatId: place.chat.id, since: clock.now() - openMs, limit: openMax };
  const found = await Promise.all(
    (await store.openResults(query)).map(async ({ taskId, ...one }) => ({
      ...one,
      task: await store.readTask(taskId),
    })),
  );
  return found.flatMap(({ task, ...one }) => {
    const isHere = task !== null && (place.topic === null || task.topicId === place.topic);
    // All else but messages has a Done only where it asks for one.
    return isHere && (task.action.kind === 'message' || one.isAsked) ? [{ ...one, task }] : [];
  });
}

const doneNamed = onNamedTask({ deed: 'read', verb: 'task' }, async (ctx, { task }) => {
  const { messageId } = ctx;
  const occurrenceId = await openReminder(task, ctx);
  if (occurrenceId === null) return answer(texts.reply.nothingOpen(taskName(task)));
  return doneByWord(ctx, { task, occurrenceId, messageId });
});

/** "Done", said of a message or in a topic: a reminder, a card and the topic, which name no run, are about the last one. */
export async function doneSaid(ctx: ChatContext, implied: Implied): Promise<Answer> {
  const about = await lastOf(ctx, implied);
  if (about === null) return answer(texts.reply.neverRan(taskName(implied.task)));
  return doneByWord(ctx, { task: implied.task, occurrenceId: about, messageId: saidOf(ctx, implied) });
}

/** The message that is meant: the one that was answered, and in a topic none but the word itself. */
function saidOf({ repliedTo, messageId }: ChatContext, { by }: Implied): number {
  return by === 'reply' && repliedTo !== null ? repliedTo.messageId : messageId;
}

async function lastOf(ctx: ChatContext, { task, occurrenceId }: Implied): Promise<string | null> {
  return occurrenceId ?? (await lastRuns(task, ctx, 1))[0]?.id ?? null;
}

/** "Not yet": takes back what was said to be done; where nobody has said so, it is told that nothing changes. */
export async function notDoneSaid(ctx: ChatContext, implied: Implied): Promise<Answer> {
  const { task } = implied;
  await permitted(ctx, 'read', task.id);
  const occurrenceId = await lastOf(ctx, implied);
  const ack = occurrenceId === null ? null : await ctx.store.readAck({ taskId: task.id, occurrenceId });
  if (occurrenceId === null || ack === null || ack.doneBy === null)
    return answer(texts.reply.notDoneBefore(taskName(task)));
  const refused = await takenBack(ctx, task, { occurrenceId, by: ack.doneBy });
  if (refused !== null) return turnedDown(refused);
  const result = firstShown(ack.result, task);
  if (ack.result === null || result === null) return answer(texts.reminder.notDone);
  const shown = withRows(result, resultRows(task, occurrenceId, markFor(ctx)));
  return {
    replies: [{ is: 'edit', messageId: ack.result.messageId, shown }, ...answer(texts.reminder.notDone).replies],
  };
}

/** "Thanks" is no Done: where that is waited for, it is said. */
export async function thanked(ctx: ChatContext, { task }: Implied): Promise<Answer> {
  await permitted(ctx, 'read', task.id);
  if ((await openReminder(task, ctx)) !== null) return forAsker(answer(texts.reply.welcomeOpen(taskName(task))));
  return reactOr(ctx, '👍', forAsker(answer(texts.reply.welcome)));
}

const lookedAt = 10;

/** A newer run takes the place of what was open before, so there is one at most. What is asked for no more can still be done. */
async function openReminder(task: Task, ctx: ChatContext): Promise<string | null> {
  const runs = await lastRuns(task, ctx, lookedAt);
  const found = runs.find(({ ack }) => ack?.status === 'open') ?? runs.find(({ ack }) => ack?.status === 'given_up');
  return found?.id ?? null;
}

async function lastRuns({ id }: Task, { store }: ChatContext, limit: number) {
  return (await store.listTaskRuns({ taskId: id, status: 'succeeded', limit, cursor: null })).items;
}

/** [Not done], for the one who said it, and for everybody who may change the task. */
export async function notDonePressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const occurrenceId = longId(arg(ctx, 1));
  const by = (await ctx.store.readAck({ taskId: task.id, occurrenceId }))?.doneBy ?? null;
  const refused = await takenBack(ctx, task, { occurrenceId, by });
  if (refused !== null) return alerted(refused);
  if (ctx.shown === null) return toasted(texts.reminder.notDone);
  const shown = withRows(withoutLine(ctx.shown), resultRows(task, occurrenceId, 'r'));
  return redrawn(ctx, shown, texts.reminder.notDone);
}

interface SaidDone {
  readonly occurrenceId: string;
  readonly by: Actor | null;
}

/** Why it stays done; null when it was taken back. */
async function takenBack(ctx: ChatContext, task: Task, { occurrenceId, by }: SaidDone): Promise<string | null> {
  const { actor } = ctx.person;
  if (by !== null && by !== actor && (await refusal(ctx, 'change', task)) !== null) {
    return texts.reminder.notDoneOnly(await calledOf(ctx, by));
  }
  await ctx.acks.notDone({ taskId: task.id, occurrenceId, actor });
  return null;
}
