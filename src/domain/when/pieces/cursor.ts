import type { Language } from '../languages/language.ts';

/** A line with the place at which its words begin, and the one at which they end. */
export interface Line {
  /** Small letters, as long as all that was written; what is not looked at is blank. */
  readonly plain: string;
  readonly begin: number;
  readonly end: number;
  readonly language: Language;
}

/** A place in one line of text. A reader that finds nothing leaves it where it was. */
export class Cursor {
  readonly text: string;
  readonly language: Language;
  at = 0;

  constructor(text: string, language: Language) {
    this.text = text;
    this.language = language;
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

  /** The place behind the blanks here, where a piece begins. */
  begin(): number {
    let at = this.at;
    while (this.text.charAt(at) === ' ') at += 1;
    return at;
  }

  /** The first of these readers that finds something. */
  first<T>(readers: ReadonlyArray<(cursor: Cursor) => T | null>): T | null {
    for (const read of readers) {
      const found = this.attempt(read);
      if (found !== null) return found;
    }
    return null;
  }
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
    .replace(/\u2236|(?<=\d);(?=[0-5]\d(?!\d))/g, ':')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
