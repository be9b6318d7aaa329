export type DayPart = 'morning' | 'afternoon' | 'evening' | 'night';

/**
 * The words of one language, each list as alternatives of a regular expression in small ASCII letters where the language has
 * them. A language is added by a table like this one, and by its name in the list of `lexicon.ts`.
 */
export interface Language {
  readonly code: string;
  /** From Sunday on, and the end that makes a series of them: `mondays`. */
  readonly weekdays: readonly string[];
  readonly plural: string;
  /** Their shortest forms, which count in a list only, because they are words of their own too: `mo, we, fr`. */
  readonly weekdayLetters: readonly string[];
  /** Short for monday to friday. */
  readonly workWeek: string;
  /** From January on. */
  readonly months: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
  /** -1 is the last one. */
  readonly ordinals: Readonly<Record<string, number>>;
  /** The end of an ordinal in figures: `1st`. */
  readonly ordinalEnd: string;
  readonly units: Readonly<Record<'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year', string>>;
  readonly parts: Readonly<Record<DayPart, string>>;
  /** Holidays that have the same date every year. */
  readonly holidays: ReadonlyArray<{ readonly words: string; readonly month: number; readonly day: number }>;
  readonly adverbs: Readonly<
    Record<'daily' | 'hourly' | 'weekly' | 'fortnightly' | 'monthly' | 'quarterly' | 'yearly', string>
  >;
  readonly words: Readonly<Record<Word, string>>;
  /** Said around a time, and no part of the text: `remind me to`, `please`. */
  readonly manners: { readonly before: string; readonly reminds: string; readonly to: string; readonly after: string };
  /** Words that are often misspelt, and those that stand one letter away from them. */
  readonly spelling: {
    readonly known: readonly string[];
    readonly others: readonly string[];
    /** Short words, which are looked for behind such words alone, as in "in 2 horus". */
    readonly units: readonly string[];
    readonly countedBy: string;
  };
}

type Word =
  | 'about'
  | 'ahead'
  | 'and'
  | 'at'
  | 'before'
  | 'between'
  | 'beginning'
  | 'dayBefore'
  | 'dayAfterTomorrow'
  | 'except'
  | 'every'
  | 'for'
  | 'fortnight'
  | 'from'
  | 'fromNow'
  | 'half'
  | 'halfDay'
  | 'in'
  | 'inMonth'
  | 'last'
  | 'lastDay'
  | 'lastTime'
  | 'midnight'
  | 'next'
  | 'nextWeek'
  | 'noon'
  | 'now'
  | 'oClock'
  | 'of'
  | 'on'
  | 'only'
  | 'or'
  | 'other'
  | 'past'
  | 'per'
  | 'quarter'
  | 'quarterYear'
  | 'starting'
  | 'the'
  | 'this'
  | 'time'
  | 'through'
  | 'timer'
  | 'times'
  | 'to'
  | 'today'
  | 'tomorrow'
  | 'tonight'
  | 'until'
  | 'weekday'
  | 'weekend';
