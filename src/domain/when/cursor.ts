import { AppError } from '../errors.ts';

/** A place in one line of text. A reader that finds nothing leaves it where it was. */
export class Cursor {
  readonly text: string;
  /** The line as it was written, place by place. */
  readonly written: string;
  at = 0;

  constructor(text: string, written: string = text) {
    this.text = text;
    this.written = written;
  }

  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match !== null) this.at = pattern.lastIndex;
    return match;
  }

  has(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  /** Runs a reader and goes back when it found nothing. */
  attempt<T>(read: (cursor: Cursor) => T | null): T | null {
    const before = this.at;
    const found = read(this);
    if (found === null) this.at = before;
    return found;
  }
}

/** No letter, digit or apostrophe may follow, so that "tomorrow's" and "9th" are not taken for "tomorrow" and "9". */
const END = String.raw`(?![\p{L}\p{N}_']|[.:,]\d)`;

/** A pattern for Cursor.take: blanks, one of the words, and the end of a word. */
export function words(source: string): RegExp {
  return new RegExp(String.raw`\s*(?:${source})${END}`, 'yu');
}

const SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff\t\v\f\r]/g;
const FULL_WIDTH = /[\uff01-\uff5e]/g;

/**
 * Small ASCII letters and plain punctuation in place of what phones and other keyboards write. Every character stays one
 * character, so that a place in the plain line is the same place in the line as it was written.
 */
export function plainLine(line: string): string {
  return line
    .replace(SPACES, ' ')
    .replace(FULL_WIDTH, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/\u2236/g, ':')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Lines to write instead, by the kind of mistake. Every one of these is read by a test. */
export const examples = {
  any: ['in 20 minutes', 'tomorrow at 8am', 'every weekday at 9:00'],
  hour: ['every day at 9', 'every monday and thursday at 18:30', 'every month on the 1st at 9'],
  moment: ['tomorrow at 8am', 'friday at 17:30', '31 january at 9'],
  later: ['in 20 minutes', 'tomorrow at 9', '2027-01-31 09:00'],
  date: ['12 may at 9', '5 december at 9', '2027-05-12 09:00'],
  clock: ['every day at 09:30', 'tomorrow at 9pm', 'every day at noon'],
  clocks: ['every day at 08:00 and 20:00', 'every day at 8am, noon and 18:30', 'every weekday at 9: water the plants'],
  wait: ['in 20 minutes', 'in 2 hours', 'in 3 days at 9'],
  rhythm: ['every 15 minutes', 'every 2 hours from 8 to 18', 'every 30 minutes from 9 to 16:30 on weekdays'],
  week: ['every week on monday at 9', 'every 2 weeks on monday at 10:00', 'every monday and thursday at 18:30'],
  month: ['every month on the 1st at 9', 'last friday of the month at 17:00', 'on the last day of the month at 18:00'],
  year: ['every year on 24 december at 18:00', 'every 1 july at 9', 'every year on the first monday of may at 9'],
  other: ['every other day at 8', 'every other tuesday at 9', 'every second tuesday of the month at 9'],
  end: ['every day at 9 until 31 march', 'every monday at 9 for 10 times', 'every day at 9 starting monday'],
  zone: ['every day at 9 in Europe/Madrid', 'tomorrow at 9 America/New_York', 'every weekday at 14:30 UTC'],
  text: ['every day at 9: water the plants', 'tomorrow at 8am, call mum', 'every 15 minutes - stand up'],
  machine: ['0 9 * * 1-5', 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0', 'P1M'],
} as const satisfies Record<string, readonly [string, string, string]>;

export type Topic = keyof typeof examples;

/** A when that cannot be read. `sentence` says what is wrong; what can be written instead is added here. */
export function refusal(topic: Topic, reason: string, sentence: string): AppError {
  const [first, second, third] = examples[topic];
  return new AppError('invalid_schedule', `${sentence} Try "${first}", "${second}" or "${third}".`, {
    details: { field: 'when', reason, examples: [first, second, third] },
  });
}

/** A longer line is no help as an example. */
export const MENDED_LENGTH_MAX = 120;

/** A refusal where the line itself could be mended: it comes first among what can be written instead. */
export function mendedRefusal(mended: string, reason: string, sentence: string): AppError {
  const [first, second] = examples.hour;
  return new AppError('invalid_schedule', `${sentence} Try "${mended}", "${first}" or "${second}".`, {
    details: { field: 'when', reason, examples: [mended, first, second] },
  });
}

/** The schedule's own refusal says what is wrong with it; what can be written instead is added. */
export function withExamples<T>(topic: Topic, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_schedule') throw error;
    const { examples: named, reason } = error.details ?? {};
    throw named === undefined
      ? refusal(topic, typeof reason === 'string' ? reason : 'unreadable', error.message)
      : error;
  }
}
