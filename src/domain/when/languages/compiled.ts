import { english } from './english.ts';
import type { Language } from './language.ts';

/** By their codes. Another language is another table here; English is read in every case. */
const languages: ReadonlyMap<string, Language> = new Map([[english.code, english]]);

/** The language of the setting and then English; `others` are languages that are tried out. */
export function languagesOf(code: string | undefined, others: readonly Language[] = []): readonly Language[] {
  const [base = ''] = (code ?? '').toLowerCase().split('-');
  const own = others.find((language) => language.code === base) ?? languages.get(base);
  return own === undefined || own === english ? [english] : [own, english];
}

/** No letter, digit or apostrophe may follow, so that "tomorrow's" and "9th" are not taken for "tomorrow" and "9". */
const END = String.raw`(?![\p{L}\p{N}_]|'(?!\s*time|\s|$)|(?<=\d)[.:,]\d|[.:]\d)`;

/** A pattern for Cursor.take: blanks, one of the words, and the end of a word. */
export function words(source: string): RegExp {
  return new RegExp(String.raw`\s*(?:${source})${END}`, 'yu');
}

/** Patterns are made from the words of a language once. */
export function compiled<T>(make: (language: Language) => T): (language: Language) => T {
  const made = new WeakMap<Language, T>();
  return (language) => {
    const known = made.get(language) ?? make(language);
    made.set(language, known);
    return known;
  };
}

export function any(list: readonly string[]): string {
  return `(?:${list.join('|')})`;
}

const places = new WeakMap<readonly string[], readonly RegExp[]>();
const tableWords = new WeakMap<Readonly<Record<string, number>>, readonly string[]>();

/** Patterns of a list or a table are made once, because they are dear. */
function known<K extends object, V>(all: WeakMap<K, V>, key: K, make: () => V): V {
  const found = all.get(key) ?? make();
  all.set(key, found);
  return found;
}

/** The place in a list of alternatives at which a word stands. */
export function placeOf(list: readonly string[], word: string): number {
  return known(places, list, () => list.map((source) => new RegExp(`^(?:${source})$`, 'u'))).findIndex((each) =>
    each.test(word),
  );
}

export function valueOf(table: Readonly<Record<string, number>>, word: string): number {
  if (/^\d/.test(word)) return Number.parseInt(word, 10);
  const keys = known(tableWords, table, () => Object.keys(table));
  const key = keys[placeOf(keys, word)];
  return key === undefined ? Number.NaN : (table[key] ?? Number.NaN);
}
