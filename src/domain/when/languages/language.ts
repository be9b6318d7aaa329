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
  readonly leftovers: Leftovers;
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

/** Words that look like time, with which the text that is left is looked at a second time. */
export interface Leftovers {
  /** They look like time wherever they stand. */
  readonly anywhere: readonly RegExp[];
  readonly hours: readonly RegExp[];
  /** An hour that is no name: "the 8:15 train" has one. */
  readonly unnamedHours: readonly RegExp[];
  /** They are text beside a series, which they cannot change. */
  readonly once: readonly RegExp[];
  /** They look like an end of a series. */
  readonly series: readonly RegExp[];
  /** They move with the moon or the week. */
  readonly feasts: readonly RegExp[];
  readonly last: readonly RegExp[];
  /** They belong to the time right before them, or to nothing. */
  readonly behind: readonly RegExp[];
  readonly everyBefore: RegExp;
  readonly parts: RegExp;
  readonly figures: RegExp;
  readonly clockFigures: RegExp;
  /** Behind a series it takes days from it. */
  readonly except: RegExp;
  /** Figures of a clock before a day without an hour. */
  readonly clockBefore: RegExp;
  readonly figureBefore: RegExp;
  /** Nothing but an hour before the time. */
  readonly loneFigures: RegExp;
  /** They change the time that follows them. */
  readonly before: RegExp;
  /** They mean something else with what follows them. */
  readonly joined: readonly (readonly [own: RegExp, next: RegExp])[];
  /** Beside a series they are redundant, and so they are text. */
  readonly adverb: RegExp;
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
