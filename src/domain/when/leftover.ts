import type { Leftovers } from './languages/language.ts';

/**
 * Looks at what is left as text for anything that looks like a time. Its words stand apart from those of the reader in the table of
 * the language, so that what the reader does not know is asked about rather than taken for text.
 */

export interface Suspect {
  readonly begin: number;
  readonly end: number;
  /** It stands right before the time, and changes what that means: "tickets for monday". */
  readonly isDangling: boolean;
}

export interface Leftover {
  readonly words: Leftovers;
  /** All that was written, in small letters. */
  readonly text: string;
  readonly begin: number;
  readonly end: number;
  /** The time stands right before it, or right behind it. */
  readonly isBehind: boolean;
  readonly isBefore: boolean;
}

/** Facts of the time beside it. */
export interface Beside {
  readonly isSeries: boolean;
  /** It ends in an hour alone, or a whole number of hours. */
  readonly endsBare: boolean;
  /** It ends in an hour that a part of the day may move, or in none. */
  readonly endsOpen: boolean;
  /** A day is said. */
  readonly hasDay: boolean;
  /** Its hour was assumed, so that figures beside it may be the one that was meant. */
  readonly lacksHour: boolean;
}

function firstIn(patterns: readonly RegExp[], text: string): RegExpExecArray | null {
  for (const each of patterns) {
    each.lastIndex = 0;
    const match = each.exec(text);
    if (match !== null) return match;
  }
  return null;
}

/** Finds the words that belong to the time right before them. */
function behindTime(
  own: string,
  words: Leftovers,
  { isSeries, endsBare, endsOpen, lacksHour }: Beside,
): RegExpExecArray | null {
  const more = [
    ...(endsBare ? [words.figures] : []),
    ...(lacksHour ? [words.clockFigures] : []),
    ...(endsOpen ? [words.parts] : []),
    isSeries ? words.except : words.adverb,
  ];
  return firstIn([...words.behind, ...more], own);
}

function anywhereBeside(
  words: Leftovers,
  { isSeries, hasDay, lacksHour }: Beside,
  isBefore: boolean,
): readonly RegExp[] {
  return [
    ...words.anywhere,
    ...(lacksHour ? words.hours : words.unnamedHours),
    ...(isSeries ? words.series : words.once),
    ...words.last,
    ...(hasDay ? [] : words.feasts),
    ...(isBefore && lacksHour ? [words.clockBefore, words.figureBefore] : []),
  ];
}

/** The place in this text that looks like a time; null where none does. */
export function suspectIn({ text, begin, end, isBehind, isBefore, words }: Leftover, time: Beside): Suspect | null {
  const own = text.slice(begin, end);
  const { isSeries } = time;
  const first = isBehind ? behindTime(own, words, time) : firstIn(isSeries ? [] : [words.adverb], own);
  const joined = words.joined.find(([word, next]) => word.test(own) && next.test(text.slice(end)));
  const dangling = isBefore ? (joined?.[0].exec(own) ?? words.before.exec(own) ?? words.loneFigures.exec(own)) : null;
  const anywhere = anywhereBeside(words, time, isBefore);
  const found = first ?? firstIn(anywhere, own) ?? dangling ?? (isBefore ? words.everyBefore.exec(own) : null);
  if (found === null) return null;
  const lead = found[0].length - found[0].trimStart().length;
  const last = begin + found.index + found[0].trimEnd().length;
  return { begin: begin + found.index + lead, end: last, isDangling: found === dangling };
}
