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
const END = String.raw`(?![\p{L}\p{N}_]|'(?!\s*time|\s|$)|[.:,]\d)`;

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

/** The place in a list of alternatives at which a word stands. */
export function placeOf(list: readonly string[], word: string): number {
  return list.findIndex((source) => new RegExp(`^(?:${source})$`, 'u').test(word));
}

export function valueOf(table: Readonly<Record<string, number>>, word: string): number {
  const keys = Object.keys(table);
  const key = keys[placeOf(keys, word)];
  return key === undefined ? Number.parseInt(word, 10) : (table[key] ?? Number.NaN);
}
