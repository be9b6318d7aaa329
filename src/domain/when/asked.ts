import { AppError } from '../errors.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { isBlank } from '../task.ts';
import { type AskedPolicies, besideIn, besideLast, LOOKED_AT } from './beside.ts';
import type { Setting } from './draft.ts';
import { textAfter } from './remainder.ts';
import { readWhen } from './when.ts';

/** A part that was not said, and was assumed. */
export interface Assumed {
  readonly what: 'hour' | 'day' | 'part' | 'passed' | 'date' | 'kind' | 'spelling';
  /** As short as on a button: `15:00`, `Wed 26 Nov`. */
  readonly text: string;
  /** The other reading: the words of its button, and the whole text, written so that it is read that way. */
  readonly other: { readonly text: string; readonly when: string } | null;
}

/** All that one text asks for: when, what is said then, and how. */
export interface Asked {
  readonly schedule: Schedule;
  readonly timezone: string;
  /** The words that were read as the time; with another zone they are read again. */
  readonly words: string;
  /** The rest of the text; empty where nothing in it can be seen. */
  readonly text: string;
  /**
   * Asked for beside the time: "until done", "and nag me every 15 minutes", "urgent". It counts right behind the time, and
   * at the very end behind a comma or in brackets; everywhere else it is text, as in "bake until done".
   */
  readonly policies: AskedPolicies;
  readonly assumed: readonly Assumed[];
  /** `@ben`, where the text begins with whom it is for. */
  readonly forWhom: string | null;
}

type Read = (words: string, setting: Setting) => Pick<Asked, 'schedule' | 'words' | 'text'>;

function readFirst(words: string, setting: Setting): ReturnType<Read> {
  const { schedule, words: time, rest } = readWhen(words, setting);
  return { schedule, words: time, text: isBlank(rest) ? '' : rest };
}

/** Where nothing follows, the figure in "tomorrow 9" can only be the hour. What is refused is told as the words stand. */
export function readLone(words: string, setting: Setting): ReturnType<Read> {
  try {
    return readFirst(words, setting);
  } catch (error) {
    const hour = /^([\s\S]*[^\s\d:.,/-])\s+(\d{1,2})$/.exec(words.trim());
    if (reasonOf(error) !== 'no_time' || hour === null || /(?:\bat|@)$/i.test(hour[1] ?? '')) throw error;
    return readFirst(`${hour[1]} at ${hour[2]}`, setting);
  }
}

/** The reason why words are no time; null for every other fault. */
function reasonOf(error: unknown): string | null {
  const isUnread = error instanceof AppError && error.code.endsWith('_schedule');
  return isUnread ? String(error.details?.['reason']) : null;
}

/** The time that was read; null for words that are none. */
export function timeOr<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (reasonOf(error) !== null) return null;
    throw error;
  }
}

function asked(read: ReturnType<Read>, policies: AskedPolicies): Asked {
  return { ...read, timezone: read.schedule.timezone, policies, assumed: [], forWhom: null };
}

/** Policies right behind the time: before them stands a time, and nothing else. */
function besideTime(words: string, setting: Setting): Asked | null {
  const line = /^[^\n]*\n?/.exec(words.slice(0, LOOKED_AT))?.[0] ?? '';
  for (const { begin, end, policies } of besideIn(line)) {
    const [time, behind] = [words.slice(0, begin), words.slice(end)];
    const lone = timeOr(() => readLone(time, setting));
    if (lone === null || lone.text !== '') continue;
    // More of the time may follow, such as its zone or its last day.
    const whole = /^\s*\S/.test(behind) ? timeOr(() => readFirst(`${time}${behind}`, setting)) : null;
    const text = textAfter(behind, false);
    return asked({ ...(whole ?? { ...lone, text: isBlank(text) ? '' : text }) }, policies);
  }
  return null;
}

/** A text that begins with the time. Throws the refusal of what cannot be read. */
export function readAsked(words: string, setting: Setting, read: Read = readFirst): Asked {
  const last = besideLast(words);
  const before = last === null ? words : words.slice(0, last.begin);
  const found = besideTime(before, setting) ?? asked(read(before, setting), {});
  return { ...found, policies: { ...found.policies, ...last?.policies } };
}

/** Reads a time that stands alone, or nearly so: "tomorrow 9" is one. */
export function readTime(words: string, setting: Setting): Asked {
  return readAsked(words, setting, readLone);
}

/** "Evening pills every day at 20:00" begins with a text all the same. */
const PART_OF_DAY = /^(?:morning|afternoon|evening|night)s?\b/i;

/** "Pay 8.45 every friday": with a text before it, that is hardly a time. */
const SUM_OF_MONEY = /^\d+\.\d/;

/** A time has hardly more words, and each of them costs a reading. */
const WORDS_MAX = 14;

/** Words before a time that would change its meaning: then it is not clear what belongs to it. */
const DANGLING =
  /(?:^|\s)(?:every|each|on|at|in|by|for|from|until|till|to|not|no|except|before|after|about|around|and|or|but|next|this|last|the|of|than|since|between|starting|plus)$/iu;

/**
 * The time stands first, or as the last words of the last line, as in "call mum tomorrow at 9". At the end it is taken only
 * where nothing else could be meant; throws the refusal of what cannot be read.
 */
export function readAnywhere(words: string, setting: Setting): Asked {
  try {
    return readAsked(words, setting);
  } catch (error) {
    const isEnd = isNoBeginning(error) || (reasonOf(error) === 'no_time' && PART_OF_DAY.test(words.trim()));
    const ending = isEnd ? readEnd(words.trim(), setting) : null;
    if (ending === null) throw error;
    return ending;
  }
}

/** No time stands there at all, rather than one that is wrong. */
function isNoBeginning(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === 'unknown' || reason === 'not_first';
}

function readEnd(words: string, setting: Setting): Asked | null {
  const lineAt = words.lastIndexOf('\n') + 1;
  const starts = [...words.slice(lineAt).matchAll(/(?<=\s|^)\S/g)].map(({ index }) => index + lineAt);
  for (const start of starts.slice(-WORDS_MAX)) {
    const head = withoutMarks(words.slice(0, start));
    const read = head === '' ? null : endAt(words.slice(start), setting);
    if (read !== null) return read.text === '' && !DANGLING.test(head) ? { ...read, text: head } : null;
  }
  return null;
}

/** Without the comma or the dash before the time. By hand, because a pattern would look at a long row of dashes again and again. */
function withoutMarks(head: string): string {
  let end = head.length;
  while (end > 0 && /[\s,;:–-]/u.test(head.charAt(end - 1))) end -= 1;
  return head.slice(0, end);
}

/** Null for text. Throws where a time begins there that cannot be read: what follows later in the line is a part of it at best. */
function endAt(end: string, setting: Setting): Asked | null {
  if (SUM_OF_MONEY.test(end)) return null;
  try {
    return readTime(end, setting);
  } catch (error) {
    const reason = reasonOf(error);
    // A number, a part of the day and a preposition stand in texts as well: "bus 9", "evening pills", "go by train".
    const isText =
      (reason === 'no_time' && (/^\d/.test(end) || PART_OF_DAY.test(end))) ||
      (reason === 'no_such_time' && /^(?:at|around|about|before|after|by)\b/i.test(end));
    if (isText || isNoBeginning(error)) return null;
    throw error;
  }
}

/** `answer` is the piece that was missing in the phrase `before`: "at 9" after "every morning coffee". */
export function readAnswer(before: string, answer: string, setting: Setting): Asked {
  const whole = timeOr(() => readAnywhere(`${before.trim()} ${answer.trim()}`, setting));
  return whole ?? readAnywhere(`${answer.trim()} ${before.trim()}`, setting);
}
