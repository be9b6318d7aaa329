import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Task } from '../../../domain/task.ts';
import type { Target } from '../../../app/tasks/tasks.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { pausedBeforeWords, pausedRows, pausedWords } from './pausing.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { taskName } from './card.ts';
import { aboutMoment } from '../kit/clock.ts';
import { drawn } from '../kit/drawing.ts';
import { snoozeButtons } from '../results/snooze.ts';
import { lines } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { answer, answerWith, turnedDown } from '../kit/answers.ts';
import { nextSentence, settingFor } from '../kit/cards.ts';
import { draftHere } from '../kit/drafts.ts';
import { undoRow } from '../edit/editing.ts';
import { momentIn, pauseEndIn } from '../kit/moments.ts';
import { impliedBy, namedTask, numberIn } from '../kit/naming.ts';
import { triedTo } from '../kit/refusals.ts';
import { mayManage, nameOf } from '../kit/rights.ts';
import { signOr } from '../kit/signs.ts';

export function targetOf({ person, key }: Said, task: Task): Target {
  return { taskId: task.id, actor: person.actor, idempotencyKey: key };
}

export async function runCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'run', isAlone: true, isAsked: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.runNow(targetOf(said, named.task));
  const isHere = said.place.topicTask?.id === task.id;
  return isHere
    ? signOr(said, '👀', answer(texts.deed.startedHere(taskName(task))))
    : answer(texts.deed.started(taskName(task)));
}

const everything = /^all(?=\s|$)/i;

export async function pauseCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (everything.test(said.args)) return pauseAll(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'pause', fits: 'active' });
  if ('answer' in named) return named.answer;
  const isPaused = named.rest === '' && named.task.state === 'paused';
  // Whoever only says that it shall be paused has nothing against the end that its pause has.
  const until = isPaused ? named.task.resumeAt : untilOf(said, rooms, { words: named.rest, ...named.task.schedule });
  if (until === 'unread') return answer(texts.deed.untilHow(`#${named.task.number}`));
  const { task, entryId } = await rooms.tasks.pause(targetOf(said, named.task), until);
  const now = rooms.clock.now();
  if (task.state !== 'paused') return answer(texts.deed.notPausable(taskName(task)));
  const setting = await settingFor(task, rooms);
  if (entryId !== null) return answer(pausedWords(task, setting), pausedRows(task, entryId, now));
  const by = task.paused === null ? null : await nameOf(rooms, task.paused.by);
  return answer(pausedBeforeWords(task, by, setting), pausedRows(task, entryId, now));
}

interface Until {
  readonly words: string;
  readonly timezone: string;
}

function untilOf({ date }: Said, rooms: ConversationRooms, { words, timezone }: Until): number | null | 'unread' {
  return words === '' ? null : (pauseEndIn(words, { rooms, timezone, now: date }) ?? 'unread');
}

export async function resumeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (everything.test(said.args)) return resumeAll(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'resume', fits: 'paused', isAlone: true });
  if ('answer' in named) return named.answer;
  const tried = await triedTo(() => rooms.tasks.resume(targetOf(said, named.task)));
  if ('refusal' in tried) {
    const isOver = tried.refusal.code === 'schedule_exhausted';
    return turnedDown(isOver ? texts.edit.exhausted(named.task.number) : tried.refusal.message);
  }
  const { task, entryId } = tried.made;
  return answer(lines(texts.deed.goesOn(taskName(task)), await nextSentence(task, rooms)), undoRow(task, entryId));
}

/** Admins mean all tasks of the chat; everybody else all of their own. */
async function pauseAll(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const words = said.args.replace(everything, '').trim();
  const until = untilOf(said, rooms, { words, timezone: said.place.timezone });
  if (until === 'unread') return answer(texts.deed.untilHow('all'));
  const active = await tasksOf(said, rooms, 'active');
  let changed = 0;
  for (const task of active) {
    const { entryId, replayed } = await rooms.tasks.pause(targetOf(said, task), until);
    if (entryId !== null || replayed) changed += 1;
  }
  const { timezone } = said.place;
  const { dates } = settingsOf(said.place.chat.settings);
  const setting = { timezone, now: rooms.clock.now(), dates };
  const end = until === null ? null : `${aboutMoment(until, setting)} (${timezone})`;
  return answer(texts.deed.pausedAll(changed, active.length - changed, end));
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
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'delete', isAlone: true, isAsked: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.delete(targetOf(said, named.task));
  return answer(texts.deed.deleted(taskName(task)), [[button(texts.button.undo, dataOf('restore', shortId(task.id)))]]);
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
  if (until === null) return answer(texts.deed.snoozeHow(task.number));
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
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'task', isAlone: true, isAsked: true });
  if ('answer' in named) return named.answer;
  const { task, entryId, replayed } = await rooms.tasks.cancel(targetOf(said, named.task));
  const isStopping = entryId !== null || replayed;
  return answer(isStopping ? texts.deed.cancelledRun(taskName(task)) : texts.deed.nothingRuns(taskName(task)));
}
