import { english, type Locale } from '../../src/telegram/chat/texts.ts';

function isFormatted(value: object): value is { readonly text: string } {
  return 'text' in value && 'entities' in value;
}

function isSaying(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function';
}

function translated<T>(value: T, given: readonly string[] = []): T {
  return other(value, given) as T;
}

function other(value: unknown, given: readonly string[]): unknown {
  if (typeof value === 'string') return longer(accented(value, given));
  if (isSaying(value)) return (...args: unknown[]): unknown => other(value(...args), args.flatMap(wordsIn));
  if (Array.isArray(value)) return value.map((each) => other(each, given));
  if (typeof value !== 'object' || value === null) return value;
  if (isFormatted(value)) return { ...value, text: longer(accented(value.text, given)) };
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(each, given)]));
}

/** Properties that hold names of the program, such as a status: each language has words of its own for them. */
const codes =
  /^(?:is|kind|unit|joined|of|status|state|source|reason|pausedReason|verb|cause|decision|stateBefore|stateAfter|lastOutcome|missed|overlap)$/;

/** And such names where they are values by themselves. */
const units = /^(?:second|minute|hour|day|week|month|year|morning|afternoon|evening|night)$/;

/** The words in the values that a text is given, however deep. */
function wordsIn(value: unknown): readonly string[] {
  if (typeof value === 'string' && units.test(value)) return [];
  if (typeof value === 'string') return [value, ...value.split(/\n/)].filter((word) => /[a-z]/i.test(word));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (codes.test(name) ? [] : wordsIn(each)));
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const accents = 'áƀćđéƒǵĥíĵķĺḿńóṕʠŕśţúṽŵẋýźÁƁĆĐÉƑǴĤÍĴĶĹḾŃÓṔɊŔŚŢÚṼŴẊÝŹ';
const accentOf = new Map([...letters].map((letter, index) => [letter, accents[index] ?? letter]));

/** A command stays one. */
const command = /(?<![\w/])\/[a-z]+(?: #\d+)?/.source;

function accented(text: string, kept: readonly string[]): string {
  const literal = [...new Set(kept)]
    .toSorted((a, b) => b.length - a.length)
    .map((word) => `(?<![a-z])${word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![a-z])`);
  const parts = new RegExp([...literal, command, '[a-z]'].join('|'), 'gi');
  return text.replaceAll(parts, (part) => accentOf.get(part) ?? part);
}

function longer(text: string): string {
  const own = [...text].filter((letter) => accents.includes(letter)).length;
  return text + '~'.repeat(Math.ceil(own * 0.4));
}

/**
 * A language for tests: the English texts with accents on every letter and 40 % longer. Values that a text was given stay as they
 * are, so that plain letters in an answer are words that no text has said. Its dates are in Cyrillic letters.
 */
export const pseudo: Locale = { ...english, tag: 'ru', texts: translated(english.texts) };
