import { relative } from 'node:path';

/** Where a verb is heard and hears. */
export interface Screen {
  /** Results, and nothing else. */
  out(text: string): void;
  /** Progress and questions. */
  err(text: string): void;
  /** Somebody is there to answer. */
  readonly canAsk: boolean;
  readonly hasColours: boolean;
  readonly columns: number;
  /** Everything that comes in, to its end. */
  read(): Promise<string>;
}

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

const codes: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};

export function toned(text: string, tone: Tone, { hasColours }: Pick<Screen, 'hasColours'>): string {
  const [on, off] = codes[tone];
  return hasColours && text !== '' ? `\u001B[${on}m${text}\u001B[${off}m` : text;
}

/** What others wrote is shown and must not steer the terminal. */
export function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]+/g, ' ');
}

/** Wider lines are hard to read, also where there is room for them. */
const widthMax = 100;

/** Broken between words, the later lines indented. A longer word, such as a path, stays whole so that it can be copied. */
export function wrapped(text: string, { columns, indent = 0 }: { columns: number; indent?: number }): string {
  const width = Math.max(20, Math.min(columns, widthMax) - indent);
  const pad = ' '.repeat(indent);
  return text
    .split('\n')
    .map((paragraph) => linesOf(paragraph, width).join(`\n${pad}`))
    .join(`\n${pad}`);
}

function linesOf(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** As somebody in that folder would type it. */
export function typedPath(path: string, folder: string): string {
  const short = relative(folder, path);
  return forShell(short === '' || short.startsWith('..') ? path : short);
}

function forShell(text: string): string {
  return /^[\p{L}\p{N}_./:@%+,~-]*$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Names on the left, values beside them. */
export function listed(facts: readonly (readonly [string, string])[], screen: Screen): string {
  const left = Math.max(...facts.map(([name]) => name.length)) + 4;
  return facts
    .map(([name, value]) => {
      const head = `  ${toned(name, 'dim', screen)}${' '.repeat(left - name.length - 2)}`;
      return `${head}${wrapped(value, { columns: screen.columns, indent: left })}\n`;
    })
    .join('');
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeOf(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}

/** A stretch of time in its largest unit, for people. */
export function stretchOf(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** To the second, and with its zone: whoever restores a copy must not have to guess. */
export function instantText(instant: number): string {
  return new Date(instant)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
