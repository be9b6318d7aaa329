import { DAY_MS, dayOfWall, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { settingOf, type Setting } from '../kit/clock.ts';
import { dayRows, hourRows } from '../kit/days.ts';
import { texts } from '../texts.ts';

/** How long a result may be put off by one press. */
export const snoozes = ['10m', '1h', 'tonight', 'tomorrow'] as const;
export type SnoozeWord = (typeof snoozes)[number];

export function snoozeButtons(task: Task, occurrenceId: string | null, now: number): Rows {
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
    .filter((word) => snoozedTo(word, settingOf(task, now)) !== null)
    .map((word) => button(names[word], dataOf('later', id, word, ...occurrence)));
  const pick = button(texts.pick.pick, dataOf('pick', id, ...occurrence));
  const back = occurrenceId === null ? [] : [button(words.back, dataOf('result', id, shortId(occurrenceId)))];
  return [row.slice(0, 2), [...row.slice(2), pick], back];
}

/** The days on which it may come again; then the hours of the day that was pressed. */
export function pickButtons(
  task: Task,
  occurrenceId: string | null,
  { day, now }: { day: number | null; now: number },
) {
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

export function pickedIn(word: string): number | null {
  const minutes = /^@([0-9a-z]{1,8})$/.exec(word)?.[1];
  return minutes === undefined ? null : Number.parseInt(minutes, 36) * MINUTE_MS;
}

const evening = 20 * HOUR_MS;
const morning = 9 * HOUR_MS;

/** When it comes again: a span from now on, or an hour of the day; null when that hour has passed. */
export function snoozedTo(word: SnoozeWord, { timezone, now }: Setting): number | { readonly forMs: number } | null {
  if (word === '10m') return { forMs: 10 * MINUTE_MS };
  if (word === '1h') return { forMs: HOUR_MS };
  const today = dayOfWall(toWall(timezone, now)) * DAY_MS;
  const instant = resolveShifted(timezone, word === 'tonight' ? today + evening : today + DAY_MS + morning);
  return instant > now ? instant : null;
}

export function isSnooze(word: string): word is SnoozeWord {
  return snoozes.some((each) => each === word);
}
