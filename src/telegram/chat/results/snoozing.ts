import type { LastChange } from '../../../app/ports/chats.ts';
import type { Changed } from '../../../app/ports/tasks.ts';
import type { Snoozed } from '../../../app/tasks/by-hand.ts';
import { DAY_MS, dayOfWall, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { hourOfPart, type Setting as Reading } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext } from '../context.ts';
import { alerted, answerWith, redrawn, toastOf, undoRow } from '../kit/answers.ts';
import { taskName, settingFor } from '../kit/card.ts';
import { aboutMoment, settingOf } from '../kit/clock.ts';
import { dayName, isDay, dayRows, hourRows } from '../kit/days.ts';
import { readingFor } from '../kit/drafts.ts';
import { targetOf } from '../kit/guards.ts';
import { arg, longId, button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { drawn, lines, type Rich } from '../kit/rich.ts';
import { shortName } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { noteArrival } from './done.ts';
import { firstShown, resultRows, withLine, withoutLine, withRows } from './view.ts';

/** Buttons that put off: for a span, until an hour, or until a day and an hour that are picked. */

/** For how long? The menu takes the place of the buttons; the words stay. */
export async function snoozePressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const occurrence = longId(arg(ctx, 1)) || null;
  const rows = snoozeButtons(task, occurrence, pressedFor(task, ctx));
  if (occurrence !== null) await noteArrival(ctx, task, occurrence);
  if (occurrence !== null && ctx.shown !== null) return redrawn(ctx, withRows(ctx.shown, rows));
  const menu = drawn(texts.deed.snoozeFor(taskName(task)), rows);
  return occurrence === null ? redrawn(ctx, menu) : answerWith(menu);
}

/** Back from the menu. */
export async function resultPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  if (ctx.shown === null) return alerted(texts.chat.oldButton);
  return redrawn(ctx, withRows(ctx.shown, resultRows(task, longId(arg(ctx, 1)), 'r')));
}

/** A day, and then an hour of it; a message that can be answered takes a time in words as well. */
export async function pickPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const setting = settingOf(task, ctx.clock.now());
  const occurrence = longId(arg(ctx, 1)) || null;
  const day = arg(ctx, 2) === '' ? null : Number(arg(ctx, 2));
  if (day !== null && !isDay(day, setting)) return alerted(texts.pick.over);
  const rows = pickButtons(task, occurrence, { day, now: setting.now });
  // A result keeps its words, so what else can be done is said beside it.
  if (occurrence !== null && ctx.shown !== null) {
    return redrawn(ctx, withRows(ctx.shown, rows), texts.pick.toast);
  }
  const name = taskName(task);
  return redrawn(ctx, drawn(day === null ? texts.pick.day(name) : texts.pick.hour(name, dayName(day, setting)), rows));
}

/** The instant, or the span from now on, that a button stands for. */
function untilOf(word: string, reading: Reading): number | { readonly forMs: number } | 'over' | 'unknown' {
  const picked = pickedIn(word);
  if (picked !== null) return picked > reading.now ? picked : 'over';
  return isSnooze(word) ? (snoozedTo(word, reading) ?? 'over') : 'unknown';
}

export async function laterPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const setting = settingFor(task, ctx);
  const until = untilOf(arg(ctx, 1), pressedFor(task, ctx));
  if (until === 'unknown') return alerted(texts.chat.oldButton);
  if (until === 'over') return alerted(texts.deed.tonightIsOver);
  const occurrence = arg(ctx, 2);
  const snoozed = await ctx.tasks.snooze(targetOf(ctx, task), until, longId(occurrence) || null);
  const at = aboutMoment(snoozed.until, setting);
  const toast = texts.deed.snoozedWord(at);
  if (occurrence === '' || ctx.shown === null) {
    return redrawn(ctx, drawn(await snoozedWords(ctx, snoozed), undoRow(task, snoozed.entryId)), toast);
  }
  const line = texts.deed.snoozedLine(shortName(ctx.person.name), at, setting.timezone);
  const { messageId, shown } = await resultFor(ctx, task, longId(occurrence));
  const rows = resultRows(task, longId(occurrence), 'r');
  const told = withRows(withLine(withoutLine(shown), line) ?? shown, rows);
  return { replies: [{ is: 'edit', messageId, shown: told }], ...toastOf(toast) };
}

/** To when it comes again, what that takes the place of, and the other times to which results of the task are put off. */
export async function snoozedWords(ctx: ChatContext, { task, until, movedFrom }: Changed & Snoozed): Promise<Rich> {
  const setting = settingFor(task, ctx);
  const { deed } = texts;
  const snoozes = (await ctx.store.snoozesOf([task.id])).get(task.id) ?? [];
  const others = snoozes.filter(({ at }) => at !== until && at > setting.now).map(({ at }) => aboutMoment(at, setting));
  const at = aboutMoment(until, setting);
  const name = taskName(task);
  const { nextAt, lastRunAt } = task;
  const planned = lastRunAt === null && nextAt !== null ? aboutMoment(nextAt, setting) : null;
  return lines(
    movedFrom === null
      ? deed.snoozed(name, { at, zone: setting.timezone, hasRun: lastRunAt !== null, planned })
      : deed.snoozeMoved(name, { at, before: aboutMoment(movedFrom, setting), zone: setting.timezone }),
    task.state === 'paused' ? deed.snoozedPaused : null,
    others.length === 0 ? null : deed.snoozedToo(others.join(', ')),
  );
}

/** Pressed below a reminder, which goes away, it is told in the result itself. */
async function resultFor(
  { messageId, shown, store }: ChatContext,
  task: Task,
  occurrenceId: string,
): Promise<{ readonly messageId: number; readonly shown: Drawn }> {
  const result = (await store.readAck({ taskId: task.id, occurrenceId }))?.result ?? null;
  const first = result === null || result.messageId === messageId ? null : firstShown(result, task);
  if (result !== null && first !== null) return { messageId: result.messageId, shown: first };
  return { messageId, shown: shown ?? { text: '' } };
}

/** How long a result may be put off by one press. */
const snoozes = ['10m', '1h', 'tonight', 'tomorrow'] as const;
type SnoozeWord = (typeof snoozes)[number];

export function snoozeButtons(task: Task, occurrenceId: string | null, reading: Reading): Rows {
  const { button: words } = texts;
  const names: Readonly<Record<SnoozeWord, string>> = {
    '10m': words.tenMinutes,
    '1h': words.oneHour,
    tonight: words.tonight,
    tomorrow: words.tomorrow,
  };
  const id = shortId(task.id);
  const occurrence = occurrenceId === null ? [] : [shortId(occurrenceId)];
  const row = snoozes
    .filter((word) => snoozedTo(word, reading) !== null)
    .map((word) => button(names[word], dataOf('later', id, word, ...occurrence)));
  const pick = button(texts.pick.pick, dataOf('pick', id, ...occurrence));
  const back = occurrenceId === null ? [] : [button(words.back, dataOf('result', id, shortId(occurrenceId)))];
  return [row.slice(0, 2), [...row.slice(2), pick], back];
}

/** The days on which it may come again; then the hours of the day that was pressed. */
function pickButtons(task: Task, occurrenceId: string | null, { day, now }: { day: number | null; now: number }) {
  const setting = settingOf(task, now);
  const [id, occurrence] = [shortId(task.id), occurrenceId === null ? '' : shortId(occurrenceId)];
  const back = (data: string | null): Rows => [[button(texts.button.back, data)]];
  const last = occurrence === '' ? [] : [occurrence];
  if (day === null) {
    const rows = dayRows(setting, (each) => dataOf('pick', id, occurrence, each));
    return [...rows, ...back(dataOf('snooze', id, ...last))];
  }
  const rows = hourRows(day, setting, (instant) => dataOf('later', id, pickedWord(instant), ...last));
  return [...rows, ...back(dataOf('pick', id, ...last))];
}

/** An instant as a button carries it: `@` and the minutes since 1970. */
function pickedWord(instant: number): string {
  return `@${Math.floor(instant / MINUTE_MS).toString(36)}`;
}

function pickedIn(word: string): number | null {
  const minutes = /^@([0-9a-z]{1,8})$/.exec(word)?.[1];
  return minutes === undefined ? null : Number.parseInt(minutes, 36) * MINUTE_MS;
}

/** A press counts from now, and not from when its message was written. */
export function pressedFor(task: Task, { place, clock }: Pick<ChatContext, 'place' | 'clock'>): Reading {
  return readingFor(task, { place, date: clock.now() });
}

/** When it comes again: a span from now on, or an hour of the day; null when that hour has passed. */
function snoozedTo(word: SnoozeWord, reading: Reading): number | { readonly forMs: number } | null {
  if (word === '10m') return { forMs: 10 * MINUTE_MS };
  if (word === '1h') return { forMs: HOUR_MS };
  const { timezone, now } = reading;
  const today = dayOfWall(toWall(timezone, now)) * DAY_MS;
  const hour = (part: 'tonight' | 'morning') => hourOfPart(part, reading) * MINUTE_MS;
  const instant = resolveShifted(timezone, today + (word === 'tonight' ? hour(word) : DAY_MS + hour('morning')));
  return instant > now ? instant : null;
}

function isSnooze(word: string): word is SnoozeWord {
  return snoozes.some((each) => each === word);
}

/* ---- beside a pause ---- */

const passedLookedAt = 50;

export async function snoozesPassed(task: Task, ctx: ChatContext): Promise<string | null> {
  const times = await passedOf(task, ctx);
  return times.length === 0 ? null : texts.deed.snoozesPassed(times.join(', '), times.length);
}

async function passedOf(task: Task, ctx: ChatContext): Promise<readonly string[]> {
  const { paused } = task;
  if (task.state !== 'paused' || paused === null) return [];
  const query = { taskId: task.id, status: 'skipped', limit: passedLookedAt, cursor: null } as const;
  const passed = (await ctx.tasks.listRuns(query)).items.filter(
    ({ source, reason, slotAt }) => source === 'snooze' && reason === 'paused' && slotAt >= paused.at,
  );
  return passed.toReversed().map(({ slotAt }) => aboutMoment(slotAt, settingFor(task, ctx)));
}

/** Tasks that one word may resume, as they are before it. */
export async function pausedHere({ store, place }: ChatContext): Promise<readonly Task[]> {
  const query = { chatId: place.chat.id, filter: 'paused', ownerId: null, text: null, offset: 0 } as const;
  return (await store.chatTasks({ ...query, limit: passedLookedAt })).tasks;
}

/** Snoozes that have passed, of all the tasks that one word has resumed. */
export async function passedWith(ctx: ChatContext, change: LastChange, before: readonly Task[]): Promise<Rich | null> {
  const resumed = new Set((await ctx.store.changesWith(ctx.place.chat.id, change)).map(({ taskId }) => taskId));
  const rows: Rich[] = [];
  let count = 0;
  for (const task of before.filter(({ id }) => resumed.has(id))) {
    const times = await passedOf(task, ctx);
    count += times.length;
    if (times.length > 0) rows.push(texts.deed.snoozesPassedOf(taskName(task), times.join(', ')));
  }
  return count === 0 ? null : lines(texts.deed.snoozesPassedAll(count), ...rows);
}

/** The snoozes that come only if the task is resumed before. */
export async function snoozesHeld(task: Task, ctx: ChatContext): Promise<string | null> {
  const snoozes = (await ctx.store.snoozesOf([task.id])).get(task.id) ?? [];
  const times = snoozes.filter(({ isHeld }) => isHeld).map(({ at }) => aboutMoment(at, settingFor(task, ctx)));
  return times.length === 0 ? null : texts.deed.snoozesHeld(times.join(', '));
}

/** Snoozes that are held, of all the tasks that one word has paused. */
export async function heldWith({ store, place }: ChatContext, change: LastChange): Promise<string | null> {
  const changes = await store.changesWith(place.chat.id, change);
  const snoozes = await store.snoozesOf(changes.map(({ taskId }) => taskId));
  const count = [...snoozes.values()].flat().filter(({ isHeld }) => isHeld).length;
  return count === 0 ? null : texts.deed.snoozesHeldAll(count);
}
