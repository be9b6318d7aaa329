import { isClock, type Quiet, quietFor, quietUntil, type QuietInput } from './quiet.ts';

/** Styles of dates: English words, digits alone, the American way, or the words of another language. */
export const dateStyles = [
  'en',
  'iso',
  'us',
  'de',
  'es',
  'fr',
  'it',
  'nl',
  'pl',
  'pt',
  'ru',
  'sv',
  'tr',
  'uk',
] as const;
export type DateStyle = (typeof dateStyles)[number];

/** Settings that the admins of a chat have chosen for it; kept as JSON beside the chat. */
export interface ChatSettings {
  readonly create: 'members' | 'admins';
  readonly quiet: Quiet | null;
  /** A sign at the message of a person instead of a word, where a sign says it all. */
  readonly reactions: boolean;
  readonly dates: DateStyle;
}

/** A value that nobody knows closes rather than opens where it is about rights, and is the default otherwise. */
export function settingsOf(settings: Readonly<Record<string, unknown>>): ChatSettings {
  const { create = 'members', quiet, reactions, dates } = settings;
  return {
    create: create === 'members' ? 'members' : 'admins',
    quiet: quietOf(quiet),
    reactions: reactions !== false,
    dates: dateStyles.find((style) => style === dates) ?? 'en',
  };
}

function quietOf(value: unknown): Quiet | null {
  if (typeof value !== 'object' || value === null) return null;
  const { from, to, mode } = value as Partial<Record<keyof Quiet, unknown>>;
  if (typeof from !== 'string' || typeof to !== 'string' || !isClock(from) || !isClock(to) || from === to) return null;
  return mode === 'hold' || mode === 'silent' ? { from, to, mode } : null;
}

/** A result of a task comes now as always, without a sound, or not before the quiet hours end. */
export type QuietVerdict =
  | { readonly is: 'heard' }
  | { readonly is: 'silent' }
  | { readonly is: 'held'; readonly until: number };

/** The quiet hours that may hold. A task's own ones are told by the clocks of its zone, those of its chat by the chat's. */
export interface QuietSubject {
  readonly task: { readonly quiet: QuietInput | null; readonly timezone: string };
  readonly chat: Pick<ChatSettings, 'quiet'> & { readonly timezone: string | null };
}

export function quietVerdict({ task, chat }: QuietSubject, now: number): QuietVerdict {
  const quiet = quietFor(task.quiet, chat.quiet);
  if (quiet === null) return { is: 'heard' };
  const until = quietUntil(quiet, task.quiet === null ? (chat.timezone ?? task.timezone) : task.timezone, now);
  if (until === null) return { is: 'heard' };
  return quiet.mode === 'silent' ? { is: 'silent' } : { is: 'held', until };
}
