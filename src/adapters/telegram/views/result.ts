import type { Drawn } from '../../../domain/shown.ts';
import { DAY_MS, dayOfWall, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/zone.ts';
import { messagePartLengthMax } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, keyboard, shortId, type Rows } from '../buttons/press.ts';
import { settingOf, type Setting } from './clock.ts';
import { texts } from './texts.ts';

/** What can be done with a result: a reminder is done or put off, everything else is run again. */
export function resultButtons(task: Task | null, occurrenceId: string, mark: string): Rows {
  const { button: words } = texts;
  if (task === null || task.state === 'deleted') return [];
  const [id, occurrence] = [shortId(task.id), shortId(occurrenceId)];
  if (task.action.kind !== 'message') return [[button(words.runAgain, dataOf('run', id, mark, occurrence))]];
  return [[button(words.done, dataOf('done', id, occurrence)), button(words.snooze, dataOf('snooze', id, occurrence))]];
}

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
  const back = occurrenceId === null ? [] : [button(words.back, dataOf('result', id, shortId(occurrenceId)))];
  return [row.slice(0, 2), row.slice(2), back];
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

/** A message keeps its words when its buttons change. */
export function withRows({ text, entities }: Drawn, rows: Rows): Drawn {
  const buttons = keyboard(rows);
  return {
    text,
    ...(entities === undefined ? {} : { entities }),
    ...(buttons.length === 0 ? {} : { buttons }),
  };
}

/** What a message was given after it was sent stands behind this, so that it can be told from what it said at first. */
const lineSign = '\n\n— ';

/** The last line says what became of the message; it takes the place of the one before. Null when there is no room for it. */
export function withLine(shown: Drawn, line: string): Drawn | null {
  const at = shown.text.lastIndexOf(lineSign);
  const isLast = at >= 0 && !shown.text.slice(at + lineSign.length).includes('\n');
  const text = `${isLast ? shown.text.slice(0, at) : shown.text}${lineSign}${line}`;
  return text.length > messagePartLengthMax ? null : { ...shown, text };
}
