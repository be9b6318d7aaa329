import { AppError } from '../errors.ts';
import { nextSlot, type Schedule } from '../schedule/schedule.ts';
import { quoted, unreadable } from '../schedule/shapes.ts';
import { iso } from '../schedule/time/calendar.ts';
import { zoneName } from '../schedule/time/zone-name.ts';
import { nth } from '../schedule/words/words.ts';
import { isBlank } from '../task.ts';
import { type AskedPolicies, besideLast } from './beside.ts';
import { englishReader, told } from './english.ts';
import { edited, nothing, Question, refusal, type Way, Unread } from './faults.ts';
import { withAdded } from './find.ts';
import { languagesOf } from './languages/compiled.ts';
import { mannersAt, politeless } from './manners.ts';
import type { Assumed, Setting } from './setting.ts';
import { mended } from './spelling.ts';
import { wordsRead, type WordsRead } from './words.ts';

export type { Assumed, Setting } from './setting.ts';

/** All that one text asks for: when, what is said then, and how. */
export interface Asked {
  readonly schedule: Schedule;
  readonly timezone: string;
  /** The words that were read as the time; with another zone they are read again. */
  readonly words: string;
  /** The rest of the text; empty where nothing in it can be seen. */
  readonly text: string;
  /** Asked for beside the time: "until done", "and nag me every 15 minutes", "urgent". */
  readonly policies: AskedPolicies;
  readonly assumed: readonly Assumed[];
  /** `@ben`, where the text begins with whom it is for. */
  readonly forWhom: string | null;
}

/** Questions inside the answers to a question are not looked into any further; those of a long text are not at all. */
const DEPTH_MAX = 2;
const LONG = 200;

function depthMax(whole: string): number {
  return whole.length > LONG ? 1 : DEPTH_MAX;
}

function checkedZone(setting: Setting): Setting {
  const timezone = zoneName(setting.timezone);
  if (timezone !== null) return { ...setting, timezone };
  throw unreadable(
    { field: 'timezone', reason: 'unknown' },
    `${quoted(setting.timezone)} is not a time zone; write its IANA name, such as Europe/Madrid or UTC.`,
  );
}

function read(words: string, setting: Setting, depth = 0): Asked {
  const last = besideLast(words);
  const before = last === null ? words : words.slice(0, last.begin);
  const found = readMended(before, setting, depth);
  return { ...found, policies: { ...found.policies, ...last?.policies } };
}

/** A slip of the pen is mended where it was in a word of the time: else it is the text's own. */
function readMended(words: string, setting: Setting, depth: number): Asked {
  const mend = mended(words);
  if (mend !== null) {
    const asked = timeOr(() => readOnce(mend.words.trim(), setting, depth));
    const isTime =
      asked !== null &&
      mend.slips.every(
        ({ meant }) => asked.words.toLowerCase().includes(meant) && !asked.text.toLowerCase().includes(meant),
      );
    if (asked !== null && isTime) {
      const assumed = mend.slips.map(({ meant }) => ({ what: 'spelling', text: meant, other: null }) as const);
      return { ...asked, assumed: [...asked.assumed, ...assumed] };
    }
  }
  const plain = readPlain(words, setting, depth);
  // "Tomorow wendsday 9" has no text that begins with "wendsday": its question is the one of the right words.
  const isBehind = mend?.slips.some(({ written }) =>
    words.toLowerCase().includes(`${plain.words} ${written} `.toLowerCase()),
  );
  return mend !== null && isBehind === true ? readPlain(mend.words, setting, depth) : plain;
}

function readPlain(words: string, setting: Setting, depth: number): Asked {
  const whole = words.trim();
  try {
    return readOnce(whole, setting, depth);
  } catch (error) {
    if (error instanceof Question) throw asFault(error, whole, setting, depth);
    throw error instanceof Unread && setting.words !== undefined ? error.in(setting.words) : error;
  }
}

function readOnce(whole: string, setting: Setting, depth: number): Asked {
  if (whole === '') throw refusal('any', 'empty', (say) => say.noTime);
  const found = wordsRead(whole, setting);
  if (found === null) throw nothing();
  return asAsked(found, whole, setting, depth);
}

function asAsked(found: WordsRead, whole: string, setting: Setting, depth: number): Asked {
  const { schedule, text, notes, ...others } = found;
  const { timezone } = schedule;
  const { words = englishReader } = setting;
  // Days that share their time assume it once.
  const once = notes.filter(
    ({ what, text: said }, index) =>
      notes.findIndex((note) => note.what === what && told(note.text, words) === told(said, words)) === index,
  );
  const assumed = once.map(({ what, text: said, other }) => ({
    what,
    text: told(said, words),
    other: other === null ? null : otherOf(other, whole, setting, depth),
  }));
  return { schedule, timezone, text: isBlank(text) ? '' : text, assumed, ...others };
}

/** The other reading, if its words are read. */
function otherOf({ text: said, edits }: Way, whole: string, setting: Setting, depth: number): Assumed['other'] {
  const text = told(said, setting.words ?? englishReader);
  const when = edited(whole, edits);
  if (edits.length === 0 || depth > 0) return edits.length === 0 ? null : { text, when };
  return timeOr(() => read(when, setting, depth + 1)) === null ? null : { text, when };
}

interface Reading {
  readonly text: string;
  readonly when: string;
  readonly next: number | null;
}

function readingOf({ text: said, edits, reads }: Way, whole: string, setting: Setting, depth: number): Reading | null {
  const text = told(said, setting.words ?? englishReader);
  const when = edited(whole, edits)
    .trim()
    .replaceAll(/\n[ ,]+/g, '\n');
  if (depth >= depthMax(whole)) return { text, when, next: null };
  try {
    const { schedule, text: left } = read(when, setting, depth + 1);
    if (reads !== undefined && left.includes(reads)) return null;
    return { text, when, next: nextSlot(schedule, setting.now) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (reads !== undefined || error.code === 'invalid_schedule')
      return error.details?.['reason'] === 'past' ? { text, when, next: null } : null;
    if (whole.length > LONG) return { text, when, next: null };
    const first = firstNext(error);
    // A question without an answer cannot be meant.
    return first === null ? null : { text, when, next: Date.parse(first) };
  }
}

/** The first moment that a question in a question names. */
function firstNext({ details }: AppError): string | null {
  const found: unknown = details?.['readings'] ?? details?.['offers'];
  const first: unknown = Array.isArray(found) ? (found as readonly unknown[])[0] : null;
  const next: unknown = typeof first === 'object' && first !== null && 'next' in first ? first.next : null;
  return typeof next === 'string' ? next : null;
}

/** A question becomes a fault with the readings, or with what is missing. */
function asFault(
  { say, ways, missing, sofar, alone }: Question,
  whole: string,
  setting: Setting,
  depth: number,
): AppError {
  // Of a question in a question the first answer alone counts.
  const readings: Reading[] = [];
  for (const way of ways) {
    const reading = readingOf(way, whole, setting, depth);
    if (reading !== null) readings.push(reading);
    if (depth > 0 && readings.length > 0) break;
  }
  const words = setting.words ?? englishReader;
  const message = say(words);
  const offered = readings.map(({ text, when, next }) => ({ text, next: next === null ? null : iso(next), when }));
  if (missing.length === 0 && readings.length > 1) {
    return new AppError('ambiguous_schedule', message, { details: { field: 'when', readings: offered } });
  }
  const offers = offered.map(({ text, when, next }) => ({ text, when, next }));
  const details = { field: 'when', missing: missing.length === 0 ? ['time'] : missing, offers, sofar };
  const isAlone = missing.length === 0 && readings.length === 1;
  return new AppError('incomplete_schedule', isAlone && alone !== null ? alone(words) : message, { details });
}

/** True for faults of the words: they can be written otherwise. */
function isUnread(error: unknown): error is AppError {
  return error instanceof AppError && /^(?:invalid|ambiguous|incomplete)_schedule$/.test(error.code);
}

/** The time that was read; null for words that are none. */
export function timeOr<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isUnread(error) || error instanceof Question) return null;
    throw error;
  }
}

/**
 * A text with its time, wherever that stands: the one way in for creating. It assumes and says so, and throws a question for
 * what has several readings or lacks a part.
 */
export function readAnywhere(words: string, setting: Setting): Asked {
  return read(words, checkedZone(setting));
}

/** A text without a time, and without the words that ask for a reminder: "remind me about taxes". */
export function textAlone(words: string, { language, languages }: Setting): string {
  const [first] = languagesOf(language, languages);
  const manners = first === undefined ? null : mannersAt(words, 0, first);
  if (first === undefined || manners === null || manners.forWhom !== null) return words;
  const text = politeless(words.slice(manners.end), manners.reminds, first);
  return isBlank(text) ? words : text;
}

/** Numbers alone are hours where nothing but a time is asked for. */
const LONE = /^\s*\d{1,2}(?:[.:]\d\d)?(?:(?:\s*,\s*(?:(?:and|&)\s*)?|\s*(?:and|&)\s*)\d{1,2}(?:[.:]\d\d)?){0,5}\s*$/i;

/** The words are a time and nothing else: snoozing, editing, replies, /why, digest. Text that is left stands in the answer. */
export function readTime(words: string, setting: Setting): Asked {
  return read(LONE.test(words) ? `at ${words.trim()}` : words, checkedZone(setting));
}

/** `time` with words that go with a time and are none, such as "until friday" or "in Tokyo"; null for words of any other kind. */
export function timeWith(time: string, words: string, { language, languages }: Setting): string | null {
  for (const each of languagesOf(language, languages)) {
    const whole = timeOr(() => withAdded(time, words.trim(), each));
    if (whole !== null) return whole;
  }
  return null;
}

interface Offered {
  readonly text: string;
  readonly when: string;
}

/** The answers that are offered for the piece that the words lack. */
function offered(words: string, setting: Setting): readonly Offered[] {
  try {
    readAnywhere(words, setting);
    return [];
  } catch (error) {
    if (!isUnread(error)) throw error;
    const found = error.code === 'incomplete_schedule' ? error.details?.['offers'] : [];
    return Array.isArray(found) ? (found as readonly Offered[]) : [];
  }
}

/** Another number than those that are offered: "7" or "7 minutes" beside "in 5 minutes". */
function asOffered(before: string, answer: string, setting: Setting): string | null {
  const offers = offered(before, setting).flatMap(({ text, when }) => {
    const [, head = '', number = '', tail = ''] = /^(\D*?)(\d+)(\s+\p{L}+)$/u.exec(text) ?? [];
    return number === '' || !when.includes(text) ? [] : [{ text, when, head, tail: tail.trim() }];
  });
  const [, head = '', number = '', tail = ''] = /^(\D*?)(\d+)(?:\s+(\p{L}+))?$/u.exec(answer) ?? [];
  const stem = (unit: string) => unit.toLowerCase().replace(/s$/, '');
  const [first] = offers;
  const isSame = offers.length > 1 && offers.every((each) => each.head === first?.head && each.tail === first.tail);
  const like = tail === '' ? (isSame ? first : undefined) : offers.find((each) => stem(each.tail) === stem(tail));
  if (number === '' || like === undefined || (head !== '' && head.toLowerCase() !== like.head.toLowerCase()))
    return null;
  return like.when.replace(like.text, `${like.head}${number} ${like.tail}`);
}

/** A number alone is the day of a month that is said: "5" after "every year in march", or after "every month". */
function dated(before: string, answer: string): readonly string[] {
  const day = /^(?:on\s+)?(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?$/i.exec(answer)?.[1];
  const [said = '', month = ''] = /\s+in (\p{L}+)/iu.exec(before) ?? [];
  if (/\bmonth\b/i.test(before)) return day === undefined ? [] : [`the ${nth(Number(day))} ${before}`];
  if (said === '' || !/\byear\b/i.test(before)) return [];
  return [`${day === undefined ? answer : `${day} ${month}`} ${before.replace(said, '')}`];
}

/** `answer` is the piece that was missing in the phrase `before`: "at 9" after "every morning coffee". */
export function readAnswer(before: string, answer: string, setting: Setting): Asked {
  const [asked, said] = [before.trim(), answer.trim()];
  const alike = asOffered(asked, said, setting);
  const counted = alike === null ? null : timeOr(() => readAnywhere(alike, setting));
  if (counted !== null) return counted;
  const [first] = offered(asked, setting);
  const meant = first === undefined ? null : timeOr(() => readAnywhere(first.when, setting));
  // A rhythm that lacks a piece stays a rhythm.
  const isAsSaid = ({ schedule }: Asked) =>
    first === undefined || schedule.kind !== 'once' || meant?.schedule.kind === 'once';
  const at = LONE.test(said) ? `at ${said}` : said;
  const phrases = [...dated(asked, said), `${asked} ${at}`, `${at} ${asked}`, `${at}\n${asked}`];
  const plain = timeOr(() => readTime(said, setting));
  for (const phrase of phrases) {
    const whole = timeOr(() => readAnywhere(phrase, setting));
    if (whole !== null && !whole.text.includes(said) && isAsSaid(whole)) return whole;
  }
  // A whole time of its own takes the place of the one that had a question.
  if (plain !== null && plain.text === '') {
    if (!isAsSaid(plain)) return readAnywhere(asked, setting);
    const rest = timeOr(() => readAnywhere(asked, setting));
    return { ...plain, text: rest === null ? asked : rest.text };
  }
  return readAnywhere(`${asked} ${at}`, setting);
}
