import { readTimes } from './clock-time.ts';
import { type Cursor, words, refusal, type Topic } from './cursor.ts';
import { readDays } from './days.ts';
import type { Draft } from './draft.ts';
import { HOUR_WORD, MONTH, NUMBER_WORD, ORDINAL_NUMBER, WEEKDAY } from './spelling.ts';

/** A mark after the when: what follows is text, whatever it looks like. */
const MARK = /\s*(?:[:;!?]+|\.+(?!\d)|-+(?=\s|$))\s*/y;
const EDGE = /(?=$|[\s:;,.!?()[\]"'-]|\p{Extended_Pictographic})/uy;
const NUMBER_NEXT = /\s*(?:[-/+,:.]\s*\d|\d{1,2}(?:[:.]\d\d|\s*[ap]\.?m\b))/y;

const UNIT = '(?:second|minute|min|hour|day|week|month|year|h|m|d)s?';
const SOME_TIME = String.raw`(?::?\d|minutes?\s+\d|noon|midday|midnight|half|quarter|(?:${HOUR_WORD})\b)`;
const SOME_DAY = String.raw`(?:${WEEKDAY}s?\b|${MONTH}\b|the\s+\d|\d|today|tomorrow|weekdays?\b|weekends?\b|the\s+(?:first|last)\b)`;

interface Trap {
  readonly pattern: RegExp;
  readonly topic: Topic;
  readonly sentence: string;
}

function trap(source: string, topic: Topic, sentence: string): Trap {
  return { pattern: new RegExp(String.raw`\s*,?\s*(?:${source})`, 'uy'), topic, sentence };
}

const MORE = 'It is not clear whether this still belongs to the time; put a colon or a new line before the text.';

/**
 * Words that would change the when if they belonged to it. Taken as text they would be lost in silence, so they are
 * refused; a colon or a new line before them says that they are text.
 */
const TRAPS: readonly Trap[] = [
  trap(String.raw`(?:and|or|but|plus|minus|maybe|perhaps|of|only)(?![\w'])|[&+]`, 'text', MORE),
  trap(
    String.raw`(?:except|excluding|unless|apart\s+from|other\s+than|besides|not\s+(?:on|in|at))(?![\w'])`,
    'week',
    'Exceptions cannot be said here; name the days that are meant.',
  ),
  trap(
    String.raw`(?:until|till|'?til|starting|beginning|as\s+of|ending|for\s+(?:the\s+next|an?|\d+|${NUMBER_WORD})\s+${UNIT}\b|(?:for\s+)?(?:\d+|${NUMBER_WORD})\s+times\b)`,
    'end',
    'This start or end of a series cannot be read; the end is a day or a number of runs.',
  ),
  trap(
    String.raw`(?:every|each|alternate|alternating|once\s+an?|twice\s+an?|an?\s+(?:day|week|month|year)\b|per\s)(?!\w*')`,
    'text',
    'A second rhythm stands behind the first one; keep one, or put a colon before the text.',
  ),
  trap(
    String.raw`(?:at|@|by|before|past|after|around|about|approximately)\s*(?:about\s+|around\s+)?${SOME_TIME}`,
    'text',
    'A second time stands behind the first one; keep one, or put a colon before the text.',
  ),
  trap(
    String.raw`on\s+${SOME_DAY}`,
    'text',
    'A second day stands behind the first one; keep one, or put a colon before the text.',
  ),
  trap(
    String.raw`(?:from|between|through|thru)\s+(?:${SOME_TIME}|${SOME_DAY}|now\b)|to\s+(?:${SOME_TIME})|-\s*\d|/`,
    'text',
    'A range of times or days cannot be read here; write the times one by one, or put a colon before the text.',
  ),
  trap(
    String.raw`in\s+(?:(?:\d+|an?|half|${NUMBER_WORD})\s*${UNIT}\b|the\s+(?:morning|afternoon|evening|night)|${MONTH}\b|(?:the\s+)?(?:summer|winter|spring|autumn|fall)\b)`,
    'text',
    MORE,
  ),
  trap(
    String.raw`(?:next|this|coming|last)\s+(?:week|month|year|weekend|${WEEKDAY})(?![\w'])`,
    'moment',
    'It is not clear which day is meant; name the day or the date.',
  ),
  trap(
    String.raw`(?:today|tomorrow|tonight|yesterday)(?![\w'])|(?:afternoon|evening|night)(?!\w)|[ap]\.?m\b|o'clock|or\s+so\b|ish\b|(?:local|my|our)\s+time\b|hours?\b|time\b|ago\b|later\b|earlier\b|past\b|during\b|within\b|throughout\b|overnight\b|(?:in|outside)\s+(?:the\s+)?(?:working|office|business)\s+hours|(?:oh|five|ten|fifteen|twenty|thirty|forty|fifty)\b|\d+\s*$`,
    'text',
    MORE,
  ),
  trap(
    String.raw`(?:${WEEKDAY}s?\s*(?:,|-|to|and|&|through|or)\s*${WEEKDAY}|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends)(?![\w'])`,
    'week',
    'A second day stands behind the first one; keep one, or put a colon before the text.',
  ),
  trap(String.raw`${ORDINAL_NUMBER}\s+(?:of|${MONTH})`, 'text', MORE),
];

const ADVERB = words('everyday|daily|weekly|monthly|yearly|annually|hourly|fortnightly|biweekly|nightly');
const YEAR = words(String.raw`(?:19|20|21)\d\d`);

function refuseTraps(rest: Cursor): void {
  for (const { pattern, topic, sentence } of TRAPS) {
    if (rest.has(pattern)) throw refusal(topic, 'unclear_end', sentence);
  }
  if (rest.has(NUMBER_NEXT)) {
    throw refusal(
      'text',
      'unclear_end',
      'A number stands right behind the time, and it may belong to it; put a colon or a new line before the text.',
    );
  }
}

/** The words read may be half of what was meant, if the rest of the line is nothing but another day or time. */
function refuseMoreOfWhen(rest: Cursor, extent: 'all' | 'some'): void {
  const before = rest.at;
  let parts = 0;
  while (parts < 8 && (rest.attempt(readDays) ?? rest.attempt((at) => readTimes(at, null))) !== null) parts += 1;
  const isMore = parts > 0;
  const isAll = /^\s*[.!?]?\s*$/.test(rest.text.slice(rest.at));
  rest.at = before;
  if (isMore && (isAll || (parts > 1 && extent === 'some')))
    throw refusal(
      'text',
      'unclear_end',
      'The words at the end do not fit what stands before them; keep one of the two.',
    );
}

function refuseDoubtfulDay(rest: Cursor, draft: Draft): void {
  if (draft.rhythm !== null) return;
  if (draft.wait !== null && draft.times === null && rest.has(PART_NEXT)) throw refusal('wait', 'unclear_end', MORE);
  if ((draft.days === null || draft.days.kind === 'weekdays') && rest.has(ADVERB)) {
    throw refusal(
      'text',
      'unclear_end',
      'It is not clear whether this is meant once or for a series; begin with "every" for a series, or put a colon before the text.',
    );
  }
  if (draft.days?.kind === 'date' && draft.days.date.year === null && rest.has(YEAR)) {
    throw refusal(
      'date',
      'unclear_end',
      'A year stands behind the time; write it behind the month, or put a colon before the text.',
    );
  }
}

const TWO_DIGITS = /\s*[0-5]\d(?!\d)/y;
const CLOCK_NEXT = /\s*\d{1,2}\s*(?:[:.]\d\d|[ap]\.?m\b|h\b)/y;
const PART_NEXT = words('morning|noon|midday|midnight|early|late');

function endsBare({ times }: Draft): boolean {
  return times?.at(-1)?.bare === true;
}

/** In "in 1 hour 20 call mum" and in "at 9 30 call mum" the figure may be minutes. */
function refuseMinutes(rest: Cursor, draft: Draft): void {
  const { wait, rhythm, hours, minutes } = draft;
  const isFree = rhythm?.kind === 'elapsed' && hours === null && minutes === null && rhythm.seconds % 3_600 === 0;
  const mayFollow = (isFree || wait?.at(-1)?.unit === 'hour') && rest.has(/\s*\d/y);
  if (!mayFollow && !(endsBare(draft) && rest.has(TWO_DIGITS))) return;
  throw refusal(
    'text',
    'unclear_end',
    'A number stands right behind the time, and it may be minutes; write the time like 09:30, or put the text on a new line.',
  );
}

/** A mark makes text of what follows, but not of "9 - 10:00" and "9 : 30", nor of nothing but another time or day. */
function refuseBehindMark(rest: Cursor, mark: string, draft: Draft): void {
  const isRange = mark.startsWith('-') && rest.has(CLOCK_NEXT);
  const isTime = mark === ':' && endsBare(draft) && rest.has(TWO_DIGITS);
  if (isRange || isTime) {
    throw refusal(
      'text',
      'unclear_end',
      'A figure stands behind the mark, and it may belong to the time; put the text on a new line.',
    );
  }
  refuseMoreOfWhen(rest, 'all');
}

/** Refuses a when whose end is in doubt. `draft` is null for the notations of machines. */
export function checkEnd(rest: Cursor, draft: Draft | null): void {
  if (!rest.has(EDGE)) {
    throw refusal(
      'any',
      'unclear_end',
      `"${rest.text.slice(0, Math.min(rest.at + 12, 60)).trim()}" cannot be read to the end of a word.`,
    );
  }
  const end = rest.at;
  const mark = rest.take(MARK)?.[0].trim();
  if (mark !== undefined) {
    if (draft !== null) refuseBehindMark(rest, mark, draft);
    rest.at = end;
    return;
  }
  if (/^\s*$/.test(rest.text.slice(rest.at))) return;
  refuseTraps(rest);
  if (draft === null) return;
  refuseDoubtfulDay(rest, draft);
  refuseMinutes(rest, draft);
  refuseMoreOfWhen(rest, 'some');
}

const JOINER = /^\s*(?:[:;,.!?]+|[-\u2010-\u2015]+(?=\s|$))?\s*/u;
const TO = /^(?:to|that)\s+(?=\p{L})/iu;

/** The text without the mark that joins it to the when, and after "remind me" without its "to". */
export function textAfter(text: string, reminds: boolean): string {
  const [line = '', ...more] = text.split('\n');
  const stripped = line.replace(JOINER, '');
  const first = reminds ? stripped.replace(TO, '') : stripped;
  return [first, ...more].join('\n').trim();
}
