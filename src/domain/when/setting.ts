import type { ReaderWords } from './english.ts';
import type { Language } from './languages/language.ts';

/** Parts of the day that name an hour by themselves. */
export type PartOfDay = 'morning' | 'noon' | 'afternoon' | 'evening' | 'tonight' | 'midnight';

/** The context in which words are read: words such as "tomorrow" mean nothing without it. */
export interface Setting {
  readonly timezone: string;
  readonly now: number;
  /** The language of whoever writes, such as `en`; English is read in every case. */
  readonly language?: string | undefined;
  /** The order of 3/4/2026 where it is known. */
  readonly slashes?: 'dmy' | 'mdy' | undefined;
  /** Hours that this chat gives to parts of the day, in minutes since midnight. */
  readonly parts?: Partial<Readonly<Record<PartOfDay, number>>> | undefined;
  /** The words of questions, refusals and what was assumed; English without them. */
  readonly words?: ReaderWords | undefined;
  /** Languages that are tried out beside those that are shipped. */
  readonly languages?: readonly Language[] | undefined;
}

const HOURS: Readonly<Record<PartOfDay, number>> = {
  morning: 9 * 60,
  noon: 12 * 60,
  afternoon: 15 * 60,
  evening: 19 * 60,
  tonight: 20 * 60,
  midnight: 0,
};

/** Parts whose hour a chat may set, each with the first and the last hour that are still called so. */
const SETTABLE = {
  morning: [4, 11],
  noon: [11, 14],
  afternoon: [12, 18],
  evening: [16, 23],
  tonight: [18, 23],
} as const satisfies Partial<Record<PartOfDay, readonly [number, number]>>;

export type SettablePart = keyof typeof SETTABLE;
export const settableParts = Object.keys(SETTABLE) as readonly SettablePart[];

export function isHourOf(part: SettablePart, minute: number): boolean {
  const [first, last] = SETTABLE[part];
  return Number.isInteger(minute) && minute >= first * 60 && minute < (last + 1) * 60;
}

export function hourOfPart(part: PartOfDay, { parts }: Pick<Setting, 'parts'>): number {
  return parts?.[part] ?? HOURS[part];
}

export type AssumedWhat = 'hour' | 'day' | 'part' | 'passed' | 'date' | 'kind' | 'zone' | 'spelling';

/** A part that was not said, and was assumed. */
export interface Assumed {
  readonly what: AssumedWhat;
  /** As short as on a button: `15:00`, `Wed 26 Nov`. */
  readonly text: string;
  /** The other reading: the words of its button, and the whole text, written so that it is read that way. */
  readonly other: { readonly text: string; readonly when: string } | null;
}
