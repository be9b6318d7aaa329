import { AppError } from '../errors.ts';
import { parseSchedule, type Schedule } from '../schedule/schedule.ts';
import { unreadable, quoted } from '../schedule/shapes.ts';
import { iso } from '../schedule/time/calendar.ts';
import { zoneName } from '../schedule/time/zone-name.ts';
import { isSeries, lacksTime, readClauses } from './clauses.ts';
import { Cursor, plainLine, MENDED_LENGTH_MAX, mendedRefusal, refusal, withExamples } from './cursor.ts';
import type { Days } from './days.ts';
import { emptyDraft, type Draft, type Setting } from './draft.ts';
import { readMachine } from './machine.ts';
import { misfitOf } from './misfit.ts';
import { onceOf } from './once.ts';
import { recurringSchedule } from './recurring.ts';
import { checkEnd, textAfter } from './remainder.ts';
import { misspelt } from './spelling.ts';

/** A text read as a when and what is to be said then. */
export interface When {
  readonly schedule: Schedule;
  readonly timezone: string;
  /** The text behind the when, with its line breaks. */
  readonly rest: string;
  /** The part that was read as the when. */
  readonly words: string;
}

/** Longer than every when that a person types, and short enough that reading it costs next to nothing. */
const PHRASE_LENGTH_MAX = 200;
const WINDOW = PHRASE_LENGTH_MAX + 60;

const LEAD =
  /\s*(?:please(?=\s)|once(?=\s+(?:on|at|in|tomorrow|today)\s))?\s*(?:(?<reminds>remind\s+(?:me|us)|(?:set\s+)?(?:a\s+)?reminder(?:\s+for)?)(?![\p{L}\p{N}'])\s*,?)?/uy;
const ISO_INSTANT = /\s*(\d{4}-\d\d-\d\d)t(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:z|[+-]\d\d:?\d\d)?)(?![\w:])/y;
const SPACED_INSTANT = /\s*(\d{4}-\d\d-\d\d)\s+(\d\d:\d\d(?::\d\d)?(?:z|[+-]\d\d:\d\d))(?![\w:])/y;

const LIKE_TIME =
  /\s*(?:(?:at|@)\s*(?:about|around)?\s*\d[\w.:,]*|(?:about|around|before|after|by|ca\.?)\s+\d[\w.:,]*|\d+[.:,h]\d+|\d{3,4}(?!\S)|\d+ish)/y;

interface Found {
  readonly schedule: Schedule;
  readonly end: number;
  readonly reminds: boolean;
}

/** A full ISO instant; with an offset or a Z it is that instant, without one the clock of the zone. */
function isoInstant(cursor: Cursor, draft: Draft, setting: Setting): Schedule | null {
  const match = cursor.take(ISO_INSTANT) ?? cursor.take(SPACED_INSTANT);
  if (match === null) return null;
  const [, date = '', clock = ''] = match;
  const before = cursor.at;
  readClauses(cursor, draft);
  const timezone = draft.timezone ?? setting.timezone;
  if (cursor.at > before && draft.timezone === null) cursor.at = before;
  const input = { kind: 'once', once_at: `${date}T${clock.toUpperCase()}`, timezone } as const;
  return checkedOnce(parseSchedule(input, setting.now), setting);
}

function checkedOnce(schedule: Schedule, { now }: Setting): Schedule {
  if (schedule.kind === 'once' && schedule.onceAt <= now) {
    throw refusal('later', 'past', 'That moment is in the past; write one to come.');
  }
  return schedule;
}

function onceAt(instant: number, { timezone, now }: Setting): Schedule {
  const schedule = parseSchedule({ kind: 'once', once_at: iso(instant), timezone }, now);
  return checkedOnce(schedule, { timezone, now });
}

function checkOneKind(draft: Draft): void {
  const isBounded = draft.starting !== null || draft.until !== null || draft.count !== null;
  if (!isSeries(draft)) {
    if (isBounded) throw refusal('end', 'no_series', 'Only a series has a start and an end; begin with "every".');
    return;
  }
  if (draft.wait === null && !isOneDay(draft.days)) return;
  throw refusal(
    'any',
    'contradiction',
    'One part of this happens once and another one comes back; keep one of the two.',
  );
}

function isOneDay(days: Days | null): boolean {
  if (days?.kind === 'date') return days.date.year !== null;
  return days?.kind === 'ahead' || (days?.kind === 'weekdays' && days.which !== 'any');
}

function scheduleOf(draft: Draft, setting: Setting): Schedule {
  checkOneKind(draft);
  return isSeries(draft) ? recurringSchedule(draft, setting) : onceAt(onceOf(draft, setting), setting);
}

function isEmpty({ rhythm, days, times, wait }: Draft): boolean {
  return rhythm === null && days === null && times === null && wait === null;
}

/** A time is enough to be sure that a when was meant; without one, the beginning may be any text. */
function wordsSchedule(cursor: Cursor, setting: Setting): Schedule {
  const begin = cursor.at;
  const draft = emptyDraft();
  const instant = isoInstant(cursor, draft, setting);
  if (instant !== null) {
    checkEnd(cursor, draft);
    return instant;
  }
  readClauses(cursor, draft);
  if (isEmpty(draft)) {
    cursor.at = begin;
    throw unreadBeginning(cursor, setting);
  }
  if (cursor.at - begin > PHRASE_LENGTH_MAX) {
    throw refusal('any', 'too_long', `A when has at most ${PHRASE_LENGTH_MAX} characters.`);
  }
  // Where a time is missing, the words behind are part of that mistake; else they tell more than that a moment is past.
  const isWhole = draft.times !== null || draft.wait !== null;
  if (isWhole) checkEnd(cursor, draft);
  else checkTime(cursor, draft, setting);
  const schedule = scheduleOf(draft, { ...setting, timezone: draft.timezone ?? setting.timezone });
  if (!isWhole) checkEnd(cursor, draft);
  return schedule;
}

const UNKNOWN: ReadonlySet<unknown> = new Set(['unknown', 'not_first', 'unknown_rhythm']);

function unreadBeginning(cursor: Cursor, setting: Setting): AppError {
  const misfit = misfitOf(cursor.text.slice(cursor.at));
  const isUnknown = UNKNOWN.has(misfit.details?.['reason']);
  return (isUnknown ? misspelt(cursor, (line) => whenIn(line, setting)) : null) ?? misfit;
}

/** The words of the when in a line, or null where there is none. */
function whenIn(line: string, setting: Setting): string | null {
  try {
    const { end } = find(line, line, setting);
    return line.slice(0, end);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_schedule') return null;
    throw error;
  }
}

/** Readable lines that are short enough for an example. */
function isExample(line: string, setting: Setting): boolean {
  return line.length <= MENDED_LENGTH_MAX && whenIn(line, setting) !== null;
}

const NUMBER_NEXT = /\s+(?<hour>1?\d|2[0-3])(?=\s+\S)/y;

/** Where a time is missing and something like one stands there, it is that which has to be mended. */
function checkTime(cursor: Cursor, draft: Draft, setting: Setting): void {
  const before = cursor.at;
  const hour = draft.days !== null || lacksTime(draft) ? cursor.take(NUMBER_NEXT)?.groups?.['hour'] : undefined;
  cursor.at = before;
  if (hour !== undefined) {
    const mended = `${cursor.written.slice(0, before)} at${cursor.written.slice(before)}`.trim();
    const sentence = `If the ${hour} is the hour, write "at ${hour}".`;
    throw isExample(mended, setting)
      ? mendedRefusal(mended, 'bare_hour', sentence)
      : refusal('hour', 'bare_hour', sentence);
  }
  const { rhythm } = draft;
  const like = rhythm?.kind === 'elapsed' ? null : cursor.take(LIKE_TIME);
  if (like === null) return;
  throw refusal('clock', 'no_such_time', `"${like[0].trim()}" is not an exact time of the clock; write it like 09:30.`);
}

function find(text: string, line: string, setting: Setting): Found {
  const machine = readMachine(text, line.slice(0, WINDOW * 2), setting);
  if (machine !== null) {
    const behind = /^[^\n]{0,260}/.exec(text.slice(machine.end))?.[0] ?? '';
    checkEnd(new Cursor(plainLine(behind)), null);
    return { ...machine, reminds: false };
  }
  const written = line.slice(0, WINDOW);
  const cursor = new Cursor(plainLine(written), written);
  const reminds = cursor.take(LEAD)?.groups?.['reminds'] !== undefined;
  const schedule = withExamples('any', () => wordsSchedule(cursor, setting));
  return { schedule, end: cursor.at, reminds };
}

/**
 * Reads the when at the beginning of a text: a notation for machines, a wait, a series or a moment. It never guesses: what
 * has two readings is refused with words that have one. `now` and the zone give "tomorrow" its meaning.
 */
export function readWhen(text: string, setting: Setting): When {
  const timezone = zoneName(setting.timezone);
  if (timezone === null) {
    throw unreadable(
      { field: 'timezone', reason: 'unknown' },
      `${quoted(setting.timezone)} is not a time zone; write its IANA name, such as Europe/Madrid or UTC.`,
    );
  }
  const trimmed = text.trim();
  const line = /^[^\n]*/.exec(trimmed)?.[0] ?? '';
  const { schedule, end, reminds } = find(trimmed, line, { timezone, now: setting.now });
  return {
    schedule,
    timezone: schedule.timezone,
    rest: textAfter(trimmed.slice(end), reminds),
    words: trimmed.slice(0, end).trim(),
  };
}
