import type { AuditRow } from '../../../app/ports/tasks.ts';
import type { Chosen } from '../../../app/tasks/bulk.ts';
import { type Within, slotsTold } from '../../../app/tasks/skip.ts';
import type { Target, Undone } from '../../../app/tasks/tasks.ts';
import { undoable } from '../../../app/tasks/undo.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import { skipMax, undoMs } from '../../../domain/limits.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Said, Pressed } from '../conversation.ts';
import { answer, answerWith, turnedDown, alerted, redrawn, triedTo, signOr } from '../kit/answers.ts';
import { taskName, nextSentence, settingFor, undoRow, cardOf, markFor } from '../kit/card.ts';
import { aboutMoment, settingOf, type Setting, moment, moments, pastMoment } from '../kit/clock.ts';
import { momentIn, pauseEndIn, dayIn, dayRows, isDay, nextMonday, startOf } from '../kit/days.ts';
import { draftHere } from '../kit/drafts.ts';
import { impliedBy, namedTask, numberIn } from '../kit/naming.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { lines, drawn, type Rich } from '../kit/rich.ts';
import { mayManage, nameOf, arg, pressedTask, targetOf, refusal } from '../kit/rights.ts';
import { snoozeButtons } from '../results/snoozing.ts';
import { texts } from '../texts.ts';

function typedTarget({ person, key }: Said, task: Task): Target {
  return { taskId: task.id, actor: person.actor, idempotencyKey: key };
}

export async function runCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'run', isAlone: true, isAsked: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.runNow(typedTarget(said, named.task));
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
  const until = isPaused ? named.task.resumeAt : untilOf(said, { words: named.rest, ...named.task.schedule });
  if (until === 'unread') return answer(texts.deed.untilHow(`#${named.task.number}`));
  const { task, entryId } = await rooms.tasks.pause(typedTarget(said, named.task), until);
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

function untilOf({ date }: Said, { words, timezone }: Until): number | null | 'unread' {
  return words === '' ? null : (pauseEndIn(words, { timezone, now: date }) ?? 'unread');
}

export async function resumeCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (everything.test(said.args)) return resumeAll(said, rooms);
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'resume', fits: 'paused', isAlone: true });
  if ('answer' in named) return named.answer;
  const tried = await triedTo(() => rooms.tasks.resume(typedTarget(said, named.task)));
  if ('refusal' in tried) {
    const isOver = tried.refusal.code === 'schedule_exhausted';
    return turnedDown(isOver ? texts.edit.exhausted(named.task.number) : tried.refusal.message);
  }
  const { task, entryId } = tried.made;
  return answer(lines(texts.deed.goesOn(taskName(task)), await nextSentence(task, rooms)), undoRow(task, entryId));
}

async function pauseAll(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const words = said.args.replace(everything, '').trim();
  const until = untilOf(said, { words, timezone: said.place.timezone });
  if (until === 'unread') return answer(texts.deed.untilHow('all'));
  const { changed, left } = await rooms.bulk.pause(
    allTasksFor(said),
    { actor: said.person.actor, idempotencyKey: said.key },
    until,
  );
  const { timezone } = said.place;
  const { dates } = settingsOf(said.place.chat.settings);
  const setting = { timezone, now: rooms.clock.now(), dates };
  const end = until === null ? null : `${aboutMoment(until, setting)} (${timezone})`;
  return answer(texts.deed.pausedAll(changed, left, end));
}

/** What was paused for its failures, or cannot be read, stays so: somebody has to look at it. */
async function resumeAll(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const { changed, left } = await rooms.bulk.resume(allTasksFor(said), {
    actor: said.person.actor,
    idempotencyKey: said.key,
  });
  return answer(texts.deed.resumedAll(changed, left));
}

/** Admins mean all tasks of the chat; everybody else all of their own. */
function allTasksFor(said: Said): Chosen {
  const thread = { provider: 'telegram', address: said.place.chat.address, topic: null } as const;
  return { thread, ownerId: mayManage(said) ? null : said.person.actor };
}

export async function deleteCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'delete', isAlone: true, isAsked: true });
  if ('answer' in named) return named.answer;
  const { task } = await rooms.tasks.delete(typedTarget(said, named.task));
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
  const until = momentIn(rest, { timezone: setting.timezone, now: said.date }, '9:00');
  if (until === null) return answer(texts.deed.snoozeHow(task.number));
  const { entryId } = await rooms.tasks.snooze(typedTarget(said, task), until);
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
  const { task, entryId, replayed } = await rooms.tasks.cancel(typedTarget(said, named.task));
  const isStopping = entryId !== null || replayed;
  return answer(isStopping ? texts.deed.cancelledRun(taskName(task)) : texts.deed.nothingRuns(taskName(task)));
}

/** The answer to a pause, and from when on the task shall go on by itself. */

/** The buttons below it. The data names days, because tomorrow is another day when it is pressed tomorrow. */
function pausedRows(task: Task, entryId: string | null, now: number): Rows {
  const { button: words, pick } = texts;
  const id = shortId(task.id);
  const setting = settingOf(task, now);
  const today = dayIn(setting, now);
  const monday = nextMonday(today);
  const goOn = button(words.resume, dataOf('resume', id, 'c'));
  return [
    [goOn, ...undoRow(task, entryId).flat()],
    [
      button(pick.untilTomorrow, dataOf('pauseto', id, today + 1)),
      monday === today + 1 ? null : button(pick.untilMonday, dataOf('pauseto', id, monday)),
      button(pick.pick, dataOf('pauseto', id, 'pick')),
    ],
  ];
}

function pausedWords(task: Task, setting: Setting) {
  const end = task.resumeAt === null ? null : aboutMoment(task.resumeAt, setting);
  return texts.deed.paused(taskName(task), end, setting.timezone);
}

function pausedBeforeWords(task: Task, by: string | null, setting: Setting) {
  return texts.deed.pausedBefore(taskName(task), {
    since: task.paused === null ? null : aboutMoment(task.paused.at, setting),
    by,
    until: task.resumeAt === null ? null : `${aboutMoment(task.resumeAt, setting)} (${setting.timezone})`,
  });
}

export async function pauseToPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await pressedTask(pressed, rooms, 'change');
  if ('answer' in found) return found.answer;
  const now = rooms.clock.now();
  if (found.task.state === 'deleted') return redrawn(pressed, await cardOf(found.task, rooms, markFor(pressed)));
  const setting = await settingFor(found.task, rooms);
  const day = arg(pressed, 1);
  if (day === 'pick') {
    const id = shortId(found.task.id);
    const rows = dayRows(setting, (each) => dataOf('pauseto', id, each), 1);
    const back = [button(texts.button.back, dataOf('task', id))];
    return redrawn(pressed, drawn(texts.pick.pauseDay(taskName(found.task)), [...rows, back]));
  }
  const until = /^\d{1,6}$/.test(day) ? Number(day) : Number.NaN;
  // The first instant of today is over.
  if (!isDay(until, { ...setting, now: now + DAY_MS })) return alerted(texts.pick.over);
  const { task, entryId } = await rooms.tasks.pause(targetOf(pressed, found.task), startOf(until, setting));
  if (task.state !== 'paused') return alerted(texts.deed.notPausable(taskName(task)).text);
  const words = pausedWords(task, setting);
  return redrawn(pressed, drawn(words, pausedRows(task, entryId, now)), texts.deed.pausedWord);
}

/** `/skip [n]`: the next run; `/skip [n] 2`: the next two; `/skip [n] friday`: those of that day. */
export async function skipCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'skip', fits: 'active', isCounting: true });
  if ('answer' in named) return named.answer;
  const setting = await settingFor(named.task, rooms);
  const wish = wishIn(named.rest, said, setting);
  if (wish === null) return answer(texts.deed.skipHow(skipMax, named.task.number));
  const skip = typeof wish === 'number' ? { count: wish, from: null } : { count: skipMax, from: null, within: wish };
  const { task, entryId, slots } = await rooms.tasks.skip(typedTarget(said, named.task), skip);
  const words = texts.deed.leftOut(taskName(task), leftOutWords(slots, setting), setting.timezone);
  return answer(texts.deed.leftOutNext(words, await nextSentence(task, rooms)), undoRow(task, entryId));
}

const span = /^(?:in|for)\b|^\d+\s*[a-z]/i;

/** A number of runs, or a stretch of time; null for what is neither. A day is that of the clocks of the task. */
function wishIn(rest: string, { date }: Pick<Said, 'date'>, setting: Setting): number | Within | null {
  const words = rest.replace(/^(?:on|the (?:run|one) on)\s+/i, '').trim();
  if (words === '' || /^(?:next|once|it|this)$/i.test(words)) return 1;
  if (/^\d{1,6}$/.test(words)) return Number(words) >= 1 && Number(words) <= skipMax ? Number(words) : null;
  const now = setting.now;
  if (/^(?:all |the rest of )?(?:this|the) week$/i.test(words)) {
    return { from: now, to: startOf(nextMonday(dayIn(setting, now)), setting) };
  }
  const until = /^until\s+/i.test(words);
  if (span.test(words) && !/^\d{4}-/.test(words)) return null;
  const at = momentIn(words, { timezone: setting.timezone, now: date }, '23:59');
  if (at === null) return null;
  const day = dayIn(setting, at);
  return { from: until ? now : startOf(day, setting), to: startOf(until ? day : day + 1, setting) };
}

const toldMax = 5;

/** What was left out, as far as anybody reads on. */
export function leftOutWords(slots: readonly number[], setting: Setting): string {
  const last = slots.at(-1);
  if (last === undefined || slots.length <= toldMax) return moments(slots, setting);
  return texts.deed.andMore(moments(slots.slice(0, 2), setting), slots.length - 2, moment(last, setting));
}

/** `/undo` takes back the last change of the person here, and with a task named, its last change whoever made it. */
export async function undoCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const isBare = said.args.trim() === '';
  if (isBare && (await impliedBy(said, rooms)) === null) return undoLast(said, rooms);
  const wish = { deed: 'change', verb: 'task', isAlone: true, isAsked: true, isForDeleted: true } as const;
  const named = await namedTask(said, rooms, wish);
  return 'answer' in named ? named.answer : undone(said, rooms, { task: named.task, entryId: null });
}

async function undoLast(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const last = await rooms.store.lastChange({
    chatId: said.place.chat.id,
    actor: said.person.actor,
    verbs: [...undoable],
    since: rooms.clock.now() - undoMs,
    askedAt: said.date,
  });
  const task = last === null ? null : await rooms.store.readTask(last.taskId);
  if (last === null || task === null) return answer(texts.undo.none());
  return undone(said, rooms, { task, entryId: last.entryId });
}

interface Undoing {
  readonly task: Task;
  /** Null for the last change of the task. */
  readonly entryId: string | null;
}

async function undone(said: Said, rooms: ConversationRooms, { task, entryId }: Undoing): Promise<Answer> {
  const refused = await refusal(said, 'change', { task, rooms });
  if (refused !== null) return turnedDown(refused);
  const target = { taskId: task.id, actor: said.person.actor, idempotencyKey: said.key };
  const back = await rooms.tasks.undo(target, entryId);
  return answer(await undoneWords(back, rooms));
}

/** What was taken back, who had done it and when; and what comes next, as after every change. */
export async function undoneWords({ task, undone: entry, moot }: Undone, rooms: ConversationRooms): Promise<Rich> {
  const { undo } = texts;
  const setting = await settingFor(task, rooms);
  const by = (await nameOf(rooms, entry.actor)) ?? texts.chat.somebody;
  const told = undo.deeds[entry.verb === 'upsert' ? 'edit' : entry.verb] ?? undo.deeds['edit'];
  const deed = told?.(task.number, detailOf(entry, setting)) ?? '';
  const what = undo.deed(deed, by, pastMoment(entry.at, setting));
  return lines(undo[moot ?? 'undone'](what), await nextSentence(task, rooms));
}

function detailOf({ verb, before, after }: AuditRow, setting: Setting): string {
  const { undo } = texts;
  if (verb === 'skip' || verb === 'unskip') return leftOutWords(slotsTold(after), setting);
  const until = after?.['until'];
  if (verb === 'snooze') return typeof until === 'string' ? aboutMoment(Date.parse(until), setting) : '';
  const fields = Object.keys(before ?? {}).flatMap((field) => undo.fields[field] ?? []);
  return fields.length === 0 ? undo.anything : fields.join(' and ');
}
