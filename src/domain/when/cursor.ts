/** A place in one line of text. A reader that finds nothing leaves it where it was. */
export class Cursor {
  readonly text: string;
  /** The same line as it was written, place by place. */
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
