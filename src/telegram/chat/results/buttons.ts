import type { Done } from '../../../app/use-cases/acks.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Pressed, Reply, Said } from '../conversation.ts';
import { alerted, answer, redrawn, toasted } from '../kit/answers.ts';
import { taskName, settingFor } from '../kit/card.ts';
import { pastMoment } from '../kit/clock.ts';
import { impliedBy, namedTask } from '../kit/naming.ts';
import { longId } from '../kit/press.ts';
import { lines, oneLine, pre, drawn } from '../kit/rich.ts';
import { nameOf, refusal, arg, noteArrival, permitted, pressedTask } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { doneShown, resultButtons, withLine, withoutLine, withRows } from './view.ts';

/** Buttons of results and of words about failures. They stand in the chat for months. */

const nameMax = 40;

/** What somebody says to be done, by a button or by a word in reply to the message. */
interface DoneSaid {
  readonly taskId: string;
  readonly occurrenceId: string;
  /** The message that carries the button, or that was answered. */
  readonly messageId: number;
  /** What it shows; null when the platform does not tell. */
  readonly shown: Drawn | null;
}

/**
 * That somebody has done it stands in the result itself, wherever it was said. The task is as before, so everybody here may
 * say so; whoever comes second is told, in a window, who was first.
 */
export async function doneAnswer(
  asking: Pick<Pressed, 'person' | 'place'>,
  rooms: ConversationRooms,
  said: DoneSaid,
): Promise<Answer> {
  const { taskId, occurrenceId } = said;
  const found = await permitted(asking, rooms, { deed: 'read', taskId });
  if ('answer' in found) return found.answer;
  const { person } = asking;
  const done = await rooms.acks.done({ taskId, occurrenceId, actor: person.actor });
  const isMine = done.by === person.actor;
  const name = oneLine(isMine ? person.name : ((await nameOf(rooms, done.by)) ?? texts.chat.somebody), nameMax);
  const at = pastMoment(done.at, await settingFor(found.task, rooms));
  const { reminder } = texts;
  const replies = doneReplies(asking, said, { task: found.task, line: reminder.doneBy(name, at), result: done.result });
  return { replies, toast: { text: isMine ? reminder.done : reminder.doneBefore(name, at), isAlert: !isMine } };
}

interface DoneTold {
  readonly task: Task;
  readonly line: string;
  readonly result: Done['result'];
}

/** The result bears the line; a word to an admin that it was not done bears it as well. Reminders in the topic go away. */
function doneReplies(
  { place }: Pick<Pressed, 'place'>,
  said: DoneSaid,
  { task, line, result }: DoneTold,
): readonly Reply[] {
  const isOnResult = result === null || result.messageId === said.messageId;
  const first = isOnResult ? (said.shown ?? firstShown(result)) : firstShown(result);
  if (first === null) return [{ is: 'message', shown: drawn(line) }];
  const messageId = isOnResult ? said.messageId : result.messageId;
  const onResult: Reply = { is: 'edit', messageId, shown: doneShown(first, line, said) };
  if (isOnResult || place.topic === task.topicId || said.shown === null) return [onResult];
  const aside = withRows(withLine(said.shown, line) ?? said.shown, []);
  return [onResult, { is: 'edit', messageId: said.messageId, shown: aside }];
}

/** What a result said at first. */
export function firstShown(result: Done['result']): Drawn | null {
  if (result === null || !('text' in result.shown)) return null;
  const { text } = result.shown;
  return 'media' in result.shown && result.shown.media !== undefined ? { text, media: result.shown.media } : { text };
}

export async function donePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const { messageId, shown } = pressed;
  const [taskId, occurrenceId] = [longId(arg(pressed, 0)), longId(arg(pressed, 1))];
  await noteArrival(pressed, rooms, occurrenceId);
  return doneAnswer(pressed, rooms, { taskId, occurrenceId, messageId, shown });
}

/** For whoever said it, and for whoever may change the task. */
export async function notDonePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  const { task } = found;
  const occurrenceId = longId(arg(pressed, 1));
  const { actor } = pressed.person;
  const by = (await rooms.store.readAck(occurrenceId))?.doneBy ?? null;
  if (by !== null && by !== actor && (await refusal(pressed, 'change', { task, rooms })) !== null) {
    return alerted(texts.reminder.notDoneOnly((await nameOf(rooms, by)) ?? texts.chat.somebody));
  }
  await rooms.acks.notDone({ taskId: task.id, occurrenceId, actor });
  if (pressed.shown === null) return toasted(texts.reminder.notDone);
  const shown = withRows(withoutLine(pressed.shown), resultButtons(task, occurrenceId, 'r'));
  return redrawn(pressed, shown, texts.reminder.notDone);
}

export async function seenPressed(): Promise<Answer> {
  return toasted(texts.reminder.done);
}

/** A retry that is under way is found and not made again. */
export async function retryPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const runId = longId(arg(pressed, 0));
  const run = await rooms.tasks.getRun(runId);
  if (run.taskId === null) return alerted(texts.chat.noSuchTask);
  const found = await permitted(pressed, rooms, { deed: 'change', taskId: run.taskId });
  if ('answer' in found) return found.answer;
  await rooms.tasks.repeat('retry', runId, { actor: pressed.person.actor, idempotencyKey: pressed.key });
  return toasted(texts.deed.retried);
}

export async function errorPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const run = await rooms.tasks.getRun(longId(arg(pressed, 0)));
  if (run.taskId === null) return alerted(texts.chat.noSuchTask);
  const found = await permitted(pressed, rooms, { deed: 'read', taskId: run.taskId });
  if ('answer' in found) return found.answer;
  const error = run.error ?? run.attempts.at(-1)?.error ?? null;
  return errorAnswer(pressed, rooms, { task: found.task, error });
}

export async function lastErrorPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'read');
  if ('answer' in found) return found.answer;
  return errorAnswer(pressed, rooms, { task: found.task, error: found.task.lastError });
}

async function errorAnswer(
  pressed: Pressed,
  rooms: ConversationRooms,
  { task, error }: { readonly task: Parameters<typeof taskName>[0]; readonly error: string | null },
): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  if (error === null || error.trim() === '') return alerted(texts.notice.noError);
  return answer(lines(texts.notice.errorOf(taskName(task)), pre(error.trim())));
}

/** Saying that something is done, without a button and without a reply. */

const doneWords =
  /^(?:(?:ok(?:ay)?|yes|yep|all)[,!. ]+)?(?:done|taken|did it|finished|i have taken it)$|^[✅✔☑]\uFE0F?$/iu;

export function isDoneWord(words: string): boolean {
  return doneWords.test(words.trim().replace(/[.!?\s]+$/u, ''));
}

/** In the topic of a task whose reminder is open; null where the word may mean something else. */
export async function doneHere(said: Said, rooms: ConversationRooms): Promise<Answer | null> {
  const task = said.place.topicTask;
  const isBare = said.repliedTo?.isOurs !== true && isDoneWord(said.args);
  const open = task === null || !isBare ? null : await openReminder(task, rooms);
  return task === null || open === null ? null : doneWith(said, rooms, { task, occurrenceId: open });
}

/** `/done`: what is open of the task that is named or implied. */
export async function doneCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const isNameless = said.args.trim() === '' && (await impliedBy(said, rooms)) === null;
  if (isNameless) return answer(texts.reply.doneHow);
  const named = await namedTask(said, rooms, { deed: 'read', verb: 'task', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task } = named;
  const open = await openReminder(task, rooms);
  return open === null
    ? answer(texts.reply.nothingOpen(taskName(task)))
    : doneWith(said, rooms, { task, occurrenceId: open });
}

const lookedAt = 10;

/** A newer run takes the place of what was open before, so there is one at most. */
async function openReminder({ id }: Task, { tasks }: ConversationRooms): Promise<string | null> {
  const { items } = await tasks.listRuns({ taskId: id, status: 'succeeded', limit: lookedAt, cursor: null });
  return items.find(({ ack }) => ack?.status === 'open')?.id ?? null;
}

interface Doing {
  readonly task: Task;
  readonly occurrenceId: string;
}

/** It stands in the result, which is not the message of the person. */
async function doneWith(said: Said, rooms: ConversationRooms, { task, occurrenceId }: Doing): Promise<Answer> {
  const { toast, ...rest } = await doneAnswer(said, rooms, {
    taskId: task.id,
    occurrenceId,
    messageId: said.messageId,
    shown: null,
  });
  if (toast?.isAlert !== true) return { ...rest, reaction: '👍' };
  return { ...rest, replies: [...rest.replies, ...answer(toast.text).replies] };
}
