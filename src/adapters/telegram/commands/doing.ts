import { skipMax } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import type { Target } from '../../../app/tasks/tasks.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { pausedRows, pausedWords } from '../buttons/pausing.ts';
import { button, dataOf, shortId } from '../buttons/press.ts';
import { taskName } from '../views/card.ts';
import { aboutMoment } from '../views/clock.ts';
import { drawn } from '../views/drawing.ts';
import { snoozeButtons } from '../views/snooze.ts';
import { lines } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith } from './answers.ts';
import { nextSentence, settingFor } from './cards.ts';
import { draftHere } from './drafts.ts';
import { undoRow } from './editing.ts';
import { momentIn } from './moments.ts';
import { impliedBy, namedTask, numberIn } from './naming.ts';
import { triedTo } from './refusals.ts';
import { mayManage } from './rights.ts';

function targetOf({ person, key }: Said, task: Task): Target {
  return { taskId: task.id, actor: person.actor, idempotencyKey: key };
}

export async function runCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'run', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.runNow(targetOf(said, named.task));
  const isHere = said.place.topicTask?.id === task.id;
  return answer(isHere ? texts.deed.startedHere(taskName(task)) : texts.deed.started(taskName(task)));
}

const everything = /^all(?=\s|$)/i;

export async function pauseCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (everything.test(said.args)) return pauseAll(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'pause', fits: 'active' });
  if ('answer' in named) return named.answer;
  const until = untilOf(said, rooms, { words: named.rest, timezone: named.task.schedule.timezone });
  if (until === 'unread') return answer(texts.deed.untilHow());
  const { task, entryId } = await rooms.tasks.pause(targetOf(said, named.task), until);
  const now = rooms.clock.now();
  if (task.state !== 'paused') return answer(texts.deed.notPausable(taskName(task)));
  const words = pausedWords(task, entryId !== null, await settingFor(task, rooms));
  return answer(words, pausedRows(task, entryId, now));
}

interface Until {
  readonly words: string;
  readonly timezone: string;
}

function untilOf({ date }: Said, rooms: ConversationRooms, { words, timezone }: Until): number | null | 'unread' {
  return words === '' ? null : (momentIn(words, { rooms, timezone, now: date }, '0:00') ?? 'unread');
}

export async function resumeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (everything.test(said.args)) return resumeAll(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'resume', fits: 'paused', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task, entryId } = await rooms.tasks.resume(targetOf(said, named.task));
  return answer(lines(texts.deed.goesOn(taskName(task)), await nextSentence(task, rooms)), undoRow(task, entryId));
}

/** Admins mean all tasks of the chat; everybody else all of their own. */
async function pauseAll(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const words = said.args.replace(everything, '').trim();
  const until = untilOf(said, rooms, { words, timezone: said.place.timezone });
  if (until === 'unread') return answer(texts.deed.untilHow());
  const active = await tasksOf(said, rooms, 'active');
  let changed = 0;
  for (const task of active) {
    const { entryId, replayed } = await rooms.tasks.pause(targetOf(said, task), until);
    if (entryId !== null || replayed) changed += 1;
  }
  return answer(texts.deed.pausedAll(changed, active.length - changed));
}

/** What was paused for its failures, or cannot be read, stays so: somebody has to look at it. */
async function resumeAll(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const paused = await tasksOf(said, rooms, 'paused');
  let changed = 0;
  for (const task of paused) {
    if (task.pausedReason !== 'manual' && task.pausedReason !== 'chat_gone') continue;
    if (await resumed(said, rooms, task)) changed += 1;
  }
  return answer(texts.deed.resumedAll(changed, paused.length - changed));
}

/** One task that has nothing left to run does not stop the others. */
async function resumed(said: Said, rooms: ConversationRooms, task: Task): Promise<boolean> {
  const tried = await triedTo(() => rooms.tasks.resume(targetOf(said, task)));
  return 'made' in tried && (tried.made.entryId !== null || tried.made.replayed);
}

const pageMax = 100;

async function tasksOf(
  said: Said,
  { store }: ConversationRooms,
  filter: 'active' | 'paused',
): Promise<readonly Task[]> {
  const ownerId = mayManage(said) ? null : said.person.actor;
  const found: Task[] = [];
  for (;;) {
    const query = { chatId: said.place.chat.id, filter, ownerId, text: null, offset: found.length, limit: pageMax };
    const { tasks } = await store.chatTasks(query);
    found.push(...tasks);
    if (tasks.length < pageMax) return found;
  }
}

export async function deleteCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'delete', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.delete(targetOf(said, named.task));
  return answer(texts.deed.deleted(taskName(task)), [[button(texts.button.undo, dataOf('restore', shortId(task.id)))]]);
}

export async function skipCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'skip', fits: 'active' });
  if ('answer' in named) return named.answer;
  const count = named.rest === '' ? 1 : /^\d{1,6}$/.test(named.rest) ? Number(named.rest) : 0;
  if (count < 1 || count > skipMax) return answer(texts.deed.skipHow(skipMax));
  const { task, entryId } = await rooms.tasks.skip(targetOf(said, named.task), { count, from: null });
  return answer(texts.deed.skipped(taskName(task), count, await nextSentence(task, rooms)), undoRow(task, entryId));
}

export async function snoozeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'snooze' });
  if ('answer' in named) return named.answer;
  const { task, rest } = named;
  if (rest === '') {
    return answerWith(drawn(texts.deed.snoozeFor(taskName(task)), snoozeButtons(task, null, rooms.clock.now())));
  }
  const setting = await settingFor(task, rooms);
  const until = momentIn(rest, { rooms, timezone: setting.timezone, now: said.date }, '9:00');
  if (until === null) return answer(texts.deed.snoozeHow());
  const { entryId } = await rooms.tasks.snooze(targetOf(said, task), until);
  return answer(
    texts.deed.snoozed(taskName(task), aboutMoment(until, setting), setting.timezone),
    undoRow(task, entryId),
  );
}

/** The draft of this place is nearer than what runs here; a number always means the run. */
export async function cancelCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const implied = await impliedBy(said, rooms);
  const isNamed = numberIn({ topicTask: implied?.task ?? null }, said.args) !== null;
  const draft = isNamed ? null : await draftHere(said, rooms);
  if (draft !== null) {
    const words = draft.step.step === 'edit' ? texts.making.editDropped : texts.making.dropped;
    return { ...answer(words), draft: { is: 'drop', draftId: draft.row.id } };
  }
  if (implied === null && said.args.trim() === '') return answer(texts.deed.nothingToCancel);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'task', isAlone: true });
  if ('answer' in named) return named.answer;
  const { task, entryId, replayed } = await rooms.tasks.cancel(targetOf(said, named.task));
  const isStopping = entryId !== null || replayed;
  return answer(isStopping ? texts.deed.cancelledRun(taskName(task)) : texts.deed.nothingRuns(taskName(task)));
}
