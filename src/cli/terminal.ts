/** Where the program is heard and hears; given from outside, so that a test can be the other end. */
export interface Terminal {
  /** Results, and nothing else. */
  out(text: string): void;
  /** Faults, progress and questions. */
  err(text: string): void;
  /** Somebody looks at the progress. */
  readonly showsProgress: boolean;
  /** Somebody is there to answer. */
  readonly canAsk: boolean;
  readonly hasColours: boolean;
  readonly columns: number;
  /** Everything that comes in, to its end. */
  read(): Promise<string>;
  /** One line that somebody types. */
  ask(question: string): Promise<string>;
}

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const codes: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

export function toned(text: string, tone: Tone | undefined, hasColours: boolean): string {
  if (tone === undefined || !hasColours || text === '') return text;
  const [on, off] = codes[tone];
  return `\u001B[${on}m${text}\u001B[${off}m`;
}

/**
 * What other people wrote is shown and must not steer: without the escapes and the other control characters with which a
 * text could move the cursor, rename the window or hide what stands before it.
 */
export function shown(text: string): string {
  // Line breaks and tabs are layout; the rest of C0 and C1 and the marks that turn the direction of writing are not.
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    '',
  );
}
