import { AppError } from '../errors.ts';
import { englishReader, type ReaderWords, type Say, type Text } from './english.ts';

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
  end: ['every day at 9 until 31 march', 'every monday at 9 for 10 times', 'every day at 9 starting monday'],
  zone: ['every day at 9 in Europe/Madrid', 'tomorrow at 9 in New York', 'every weekday at 14:30 UTC'],
  text: ['every day at 9: water the plants', 'tomorrow at 8am, call mum', 'every 15 minutes - stand up'],
  machine: ['0 9 * * 1-5', 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0', 'P1M'],
} as const satisfies Record<string, readonly [string, string, string]>;

export type Topic = keyof typeof examples;

/** Words that cannot be read, told in English; the edge of the reader tells it in the language of its setting. */
export class Unread extends AppError {
  readonly say: Say;

  constructor(reason: string, named: readonly string[], say: Say) {
    super('invalid_schedule', say(englishReader), { details: { field: 'when', reason, examples: named } });
    this.say = say;
  }

  in(words: ReaderWords): AppError {
    return new AppError(this.code, this.say(words), { details: this.details ?? {} });
  }
}

/** Words that cannot be read. `sentence` says what is wrong; what can be written instead is added here. */
export function refusal(topic: Topic, reason: string, sentence: Say): Unread {
  const [first, second, third] = examples[topic];
  const say: Say = (words) => words.withExamples(sentence(words), first, second, third);
  return new Unread(reason, [first, second, third], say);
}

/** Nothing like a time stands there. */
export function nothing(): Unread {
  return refusal('any', 'unknown', (say) => say.nothing);
}

/** Offers of a moment to come: their names among the texts, and the words that they write. */
export const momentOffers = [
  ['inHour', 'in 1 hour'],
  ['tonight', 'tonight'],
  ['tomorrowAtNine', 'tomorrow at 9'],
] as const;

/** The schedule's own refusal says what is wrong with it; what can be written instead is added. */
export function withExamples<T>(topic: Topic, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_schedule') throw error;
    const { examples: named, reason } = error.details ?? {};
    throw named === undefined
      ? refusal(topic, typeof reason === 'string' ? reason : 'unreadable', () => error.message)
      : error;
  }
}

/** A change of the words as they were written: what stands there is replaced. */
export interface Edit {
  readonly begin: number;
  readonly end: number;
  readonly text: string;
}

/** One way to understand the words: what it is called on a button, and the words written so that they are read that way. */
export interface Way {
  readonly text: Text;
  readonly edits: readonly Edit[];
  /** It counts only if these words are read as time. */
  readonly reads?: string | undefined;
}

/** The words have several readings, or lack a part. It becomes a fault where the whole of the words is known. */
export class Question extends Error {
  override readonly name = 'Question';
  readonly say: Say;
  readonly missing: readonly string[];
  readonly ways: readonly Way[];
  /** The words that were understood, where they are known. */
  sofar = '';
  /** The sentence in its place where one reading alone is left, which is no choice. */
  alone: Say | null = null;

  /** `missing` is empty where several readings are all that is wrong. */
  constructor(say: Say, ways: readonly Way[], missing: readonly string[] = []) {
    super(say(englishReader));
    this.say = say;
    this.ways = ways;
    this.missing = missing;
  }
}

export function edited(words: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.begin - a.begin || b.end - a.end)
    .reduce((text, { begin, end, text: by }) => {
      // Of the blanks around words that go, one stays.
      const isDouble = by === '' && end > begin && / $|^$/.test(text.slice(0, begin)) && text.charAt(end) === ' ';
      return `${text.slice(0, begin)}${by}${text.slice(isDouble ? end + 1 : end)}`;
    }, words);
}
