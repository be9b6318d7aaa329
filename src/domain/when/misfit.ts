import type { AppError } from '../errors.ts';
import { Cursor, words, refusal, type Topic } from './cursor.ts';
import { NUMBER_WORD, WEEKDAY } from './spelling.ts';

interface Misfit {
  readonly pattern: RegExp;
  readonly topic: Topic;
  readonly reason: string;
  readonly sentence: string;
}

function misfit(source: string, topic: Topic, [reason, sentence]: readonly [string, string]): Misfit {
  return { pattern: words(source), topic, reason, sentence };
}

const NUMBER = String.raw`(?:\d+|${NUMBER_WORD})`;

/** Beginnings that people write and that say too little, each with what is missing. */
const MISFITS: readonly Misfit[] = [
  misfit(String.raw`(?:next|this|coming)\s+(?:week|month|year|weekend|quarter)`, 'moment', [
    'vague_day',
    'That is a whole span of days; name the day and the time.',
  ]),
  misfit(String.raw`(?:yesterday|last\s+(?:night|week|month|year|${WEEKDAY}))`, 'later', [
    'past',
    'That is in the past; write a moment to come.',
  ]),
  misfit(String.raw`(?:now|immediately|asap|soon|later|sometime|someday|eventually|shortly)`, 'wait', [
    'vague_time',
    'That is not a moment that can be planned; say how long to wait, or when.',
  ]),
  misfit(String.raw`in\s+(?:a\s+(?:few|couple|while|bit)|some|several)`, 'wait', [
    'vague_time',
    'It is not said how long to wait; write a number.',
  ]),
  misfit(String.raw`in\s+${NUMBER}`, 'wait', [
    'no_unit',
    'It is not said what the number counts; add minutes, hours, days or weeks.',
  ]),
  misfit(String.raw`(?:bi|semi)-?(?:weekly|monthly|annually|yearly)`, 'week', [
    'ambiguous_rhythm',
    'That word means twice as often to some and half as often to others.',
  ]),
  misfit(String.raw`(?:quarterly|nightly|on\s+occasion|sometimes|often|regularly)`, 'month', [
    'unclear_rhythm',
    'It is not said on which day, and at what time.',
  ]),
  misfit(String.raw`(?:every|each)\s+(?:few|couple|so\s+often|now\s+and\s+then|once\s+in\s+a\s+while)`, 'rhythm', [
    'vague_rhythm',
    'It is not said how often; write a number.',
  ]),
  misfit(String.raw`(?:every|each)\s+${NUMBER}`, 'rhythm', [
    'no_unit',
    'It is not said what the number counts; add minutes, hours, days or weeks.',
  ]),
  misfit(String.raw`(?:every|each)`, 'week', [
    'unknown_rhythm',
    'It is not clear what comes back here; name minutes, hours, days, weekdays, weeks or months.',
  ]),
  misfit(String.raw`${NUMBER}\s*(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|m|h|d|w)`, 'wait', [
    'wait_or_rhythm',
    'It is not clear whether this is a wait or a rhythm; begin with "in" or with "every".',
  ]),
  misfit(String.raw`(?:in\s+the\s+|this\s+)?(?:morning|afternoon|evening|night)s?`, 'moment', [
    'no_time',
    'The part of the day is not enough; add the time, as in "at 9".',
  ]),
  misfit(String.raw`(?:at\s+|@\s*)?\d+`, 'clock', [
    'no_time',
    'A number alone is no time; write it like 09:00 or "at 9".',
  ]),
  misfit(String.raw`(?:at|around|about|before|after|by)`, 'clock', [
    'no_such_time',
    'What follows is not an exact time of the clock.',
  ]),
];

const WHEN_INSIDE = words(
  String.raw`(?:\S+\s+){1,40}?(?:every\s+\w+|tomorrow|today|tonight|in\s+${NUMBER}\s+(?:minute|hour|day|week)s?|at\s+\d)`,
);

/** The refusal of a text at whose beginning no when can be read. */
export function misfitOf(line: string): AppError {
  const cursor = new Cursor(line);
  if (/^\s*$/.test(line)) return refusal('any', 'empty', 'There is no time; begin with it, and let the text follow.');
  for (const { pattern, topic, reason, sentence } of MISFITS) {
    if (cursor.has(pattern)) return refusal(topic, reason, sentence);
  }
  if (cursor.has(WHEN_INSIDE)) {
    return refusal(
      'text',
      'not_first',
      'The first words cannot be read as a time; check how they are spelled, or put the time first and the text behind it.',
    );
  }
  return refusal('any', 'unknown', 'It does not begin with a time that can be read.');
}
