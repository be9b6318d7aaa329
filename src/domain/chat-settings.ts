import { isClock, type Quiet } from './quiet.ts';

/** How dates are written: English words, digits alone, the American way, or the words of another language. */
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

/** What the admins of a chat have chosen for it; kept as JSON beside the chat. */
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
