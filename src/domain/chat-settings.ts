import { keepLeast } from './limits.ts';
import { isClock, type Quiet, quietFor, quietUntil, type QuietInput } from './pacing/quiet.ts';
import { isHourOf, settableParts, type SettablePart, type Setting } from './when/setting.ts';

/** Styles of dates: in words, in digits alone, or in the American way. Their words are those of the texts around them. */
export const dateStyles = ['en', 'iso', 'us'] as const;
export type DateStyle = (typeof dateStyles)[number];

/** Settings that the admins of a chat have chosen for it; kept as JSON beside the chat. */
export interface ChatSettings {
  readonly create: 'members' | 'admins';
  readonly quiet: Quiet | null;
  /** A sign at the message of a person instead of a word, where a sign says it all. */
  readonly reactions: boolean;
  readonly dates: DateStyle;
  /** Hours of its own for parts of the day, in minutes since midnight. */
  readonly hours: Readonly<Partial<Record<SettablePart, number>>>;
  /** Where the results of one-offs come: each in a topic of its own, or together in one that they share. */
  readonly oneOffs: 'apart' | 'together';
  /** The history that tasks of the chat keep which say nothing of it themselves; null keeps all that the server does. */
  readonly keep: Keep | null;
  /** Days for which the rights of its tasks hold that name no end; null where they hold until somebody takes them away. */
  readonly grantDays: number | null;
  /** Hosts to which the tasks of the chat are kept, written as in EGRESS_ALLOW; null where they go wherever tasks may go. */
  readonly hosts: readonly string[] | null;
  /** The BCP 47 tag of the language that the chat has chosen; null where it has chosen none. */
  readonly language: string | null;
}

/** A value that nobody knows closes rather than opens where it is about rights, and is the default otherwise. */
export function settingsOf(settings: Readonly<Record<string, unknown>>): ChatSettings {
  const {
    create = 'members',
    quiet,
    reactions,
    dates,
    keep,
    oneOffs,
    language,
    hours,
    hosts = null,
    grantDays,
  } = settings;
  return {
    create: create === 'members' ? 'members' : 'admins',
    quiet: quietOf(quiet),
    reactions: reactions !== false,
    dates: dateStyles.find((style) => style === dates) ?? 'en',
    hours: hoursOf(hours),
    oneOffs: oneOffs === 'together' ? 'together' : 'apart',
    keep: keepIn(keep),
    grantDays: grantDaysIn(grantDays),
    hosts: hosts === null ? null : hostsIn(hosts),
    language: typeof language === 'string' ? language : null,
  };
}

/** Ten years: longer ones are meant to have no end. */
export const grantDaysMax = 3650;

function grantDaysIn(value: unknown): number | null {
  const isRead = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= grantDaysMax;
  return isRead ? value : null;
}

/** A rule that cannot be read is no host, so that it opens nothing. */
function hostsIn(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [];
  return all.filter((host) => typeof host === 'string');
}

function hoursOf(value: unknown): ChatSettings['hours'] {
  const stored: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  return Object.fromEntries(
    settableParts.flatMap((part) => {
      const minute = stored[part];
      return typeof minute === 'number' && isHourOf(part, minute) ? [[part, minute]] : [];
    }),
  );
}

/** The choices of a chat that decide what words mean there. */
export function wordsIn({ dates, hours }: ChatSettings): Pick<Setting, 'slashes' | 'parts'> {
  return { parts: hours, ...(dates === 'us' ? { slashes: 'mdy' } : {}) };
}

/** The zone of a chat is asked about where nobody has named it, or it was taken from the person who let the chat in. */
export function isZoneConfirmed(chat: {
  readonly timezone: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
}): boolean {
  return chat.timezone !== null && chat.settings['zoneOf'] === undefined;
}

/** The name of the topic that the one-offs of a chat share. */
export const sharedTopicName = 'Reminders';

function quietOf(value: unknown): Quiet | null {
  if (typeof value !== 'object' || value === null) return null;
  const { from, to, mode } = value as Partial<Record<keyof Quiet, unknown>>;
  if (typeof from !== 'string' || typeof to !== 'string' || !isClock(from) || !isClock(to) || from === to) return null;
  return mode === 'hold' || mode === 'silent' ? { from, to, mode } : null;
}

/** The history of a task that stays: so many runs, and all that is no older. */
export interface Keep {
  readonly runs: number;
  readonly days: number;
}

/** Read out of what is stored as well, in a task or in its chat: null where it says nothing, or cannot be read. */
export function keepIn(stored: unknown): Keep | null {
  if (typeof stored !== 'object' || stored === null || Object.keys(stored).length === 0) return null;
  const { runs, days } = { ...keepLeast, ...stored };
  const isWhole = Number.isInteger(runs) && Number.isInteger(days);
  return isWhole && runs >= keepLeast.runs && days >= keepLeast.days ? { runs, days } : null;
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
