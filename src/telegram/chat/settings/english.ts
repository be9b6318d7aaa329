import type { SecretSent } from '../../../app/ports/secrets.ts';
import type { DateStyle } from '../../../domain/chat-settings.ts';
import type { Quiet } from '../../../domain/pacing/quiet.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { SettablePart } from '../../../domain/when/setting.ts';
import { blocks, bold, code, lines, link, say, type Rich } from '../kit/rich.ts';

const { or, plural } = englishForms;

const styles: Readonly<Record<DateStyle, string>> = { en: 'Day first', iso: 'Digits', us: 'American' };

const hourOf: Readonly<Record<SettablePart, string>> = {
  morning: '8:00',
  noon: '12:30',
  afternoon: '14:30',
  evening: '18:30',
  tonight: '21:00',
};

export const settingsTexts = {
  styles,
  title: (): Rich => bold('Settings of this chat'),
  create: (who: 'members' | 'admins'): string =>
    who === 'members' ? 'Who can create tasks: all members' : 'Who can create tasks: admins only',
  quiet: (quiet: Quiet | null, zone: string): string => {
    if (quiet === null) return 'Quiet hours: off';
    const { from, to, mode } = quiet;
    return mode === 'hold'
      ? `Quiet hours: ${from} to ${to} (${zone}), results wait until they end`
      : `Quiet hours: ${from} to ${to} (${zone}), results come without a sound`;
  },
  reactions: (on: boolean): string => `Confirm with 👍 instead of a message: ${on ? 'on' : 'off'}`,
  hours: (parts: readonly string[]): string => `Hours: ${parts.join(', ')}`,
  hour: (part: SettablePart, clock: string): string => `${part} ${clock}`,
  dates: (example: string): string => `Dates: ${example}`,
  zone: (zone: string, clock: string): string => `Time zone: ${zone}, where it is ${clock} now`,
  keep: (words: string | null): string => `History: ${words ?? 'as much as the server keeps'}`,
  hosts: (hosts: readonly string[]): string => `Tasks reach only: ${hosts.join(', ')}`,
  grants: (days: number): string =>
    plural(days, { one: 'Rights of new tasks end after {n} day', other: 'Rights of new tasks end after {n} days' }),
  digest: (words: string | null): string => `Digest: ${words ?? 'off'}`,
  alarms: (where: 'private' | 'chat' | 'other' | 'off'): string =>
    ({
      private: 'Server alarms: to you in private',
      chat: 'Server alarms: in this chat',
      other: 'Server alarms: in another chat',
      off: 'Server alarms: off',
    })[where],
  alarmsPrivate: 'Alarms: on',
  alarmsOff: 'Alarms: off',
  ownersOnly: 'Only an owner of the bot can get server alarms.',
  unreadAlarms: (): Rich =>
    lines(
      'Where should I send server alarms? For example:',
      code('/settings alarms private'),
      code('/settings alarms chat'),
      code('/settings alarms off'),
    ),
  adminsOnly: (names: readonly string[]): string =>
    names.length === 0
      ? 'Only an admin of this chat may change that.'
      : `Only an admin of this chat may change that. Ask ${or(names)}.`,
  ownQuiet: (): Rich => say`For one of your tasks: ${code('/edit #3 quiet 22:00-07:00')}`,
  ownZone: (): Rich => say`For one of your tasks: ${code('/edit #3 zone Europe/Madrid')}`,
  ownHours: (): Rich => say`Other hours: ${code('/settings quiet 22:30-06:45')}`,
  pickDates: 'How should I write dates here?',
  membersCreate: 'Members create',
  adminsCreate: 'Admins create',
  quietOff: 'Quiet: off',
  hold: 'Hold results',
  silent: 'Without sound',
  reactionsOn: 'Confirm with 👍',
  reactionsOff: 'Confirm in words',
  keepChoices: { all: 'All history', '10r': '10 runs', '30d': '30 days' },
  datesButton: 'Dates',
  zoneButton: 'Time zone',
  digestButton: 'Digest',
  current: (label: string): string => `✓ ${label}`,
  saved: 'Saved',
  oneOffs: (where: 'apart' | 'together'): string =>
    where === 'apart' ? 'One-offs: a topic each' : 'One-offs: together in Reminders',
  oneOffsApart: 'A topic each',
  oneOffsTogether: 'Together in Reminders',
  oneOffsKeep: 'Keep a topic each',
  oneOffsOffer: (topics: number): string =>
    plural(topics, {
      one: '{n} topic here holds a finished one-off. New ones can share one topic, Reminders. /topic clean tidies up the old one.',
      other:
        '{n} topics here hold finished one-offs. New ones can share one topic, Reminders. /topic clean tidies up the old ones.',
    }),
  oneOffsNow: (where: 'apart' | 'together'): string =>
    where === 'together'
      ? 'New one-offs come together in the topic Reminders. Tasks that have a topic keep it.'
      : 'Each one-off gets a topic of its own. /settings one-offs together changes that.',
  unread: (): Rich =>
    lines(
      'I do not know that setting. For example:',
      code('/settings create admins'),
      code('/settings quiet 22:30-06:45 silent'),
      code('/settings quiet off'),
      code('/settings thumbs off'),
      code('/settings one-offs together'),
      code('/settings morning 8:00'),
      code('/settings dates us'),
      code('/settings keep 100 runs, 30 days'),
      code('/settings zone Madrid'),
      code('/settings digest daily 8:00'),
    ),
  createAlone: 'This is a private chat: only you create tasks here.',
  unreadQuiet: (): Rich =>
    lines(
      'When do quiet hours start and end? For example:',
      code('/settings quiet 22:30-06:45'),
      code('/settings quiet 23-8 silent'),
      code('/settings quiet off'),
    ),
  noQuiet: (): Rich =>
    say`There are no quiet hours here yet. Set them first: ${code('/settings quiet 22:30-06:45 silent')}`,
  unreadHour: (part: SettablePart): Rich =>
    lines(
      `At what hour is ${part} here? For example:`,
      code(`/settings ${part} ${hourOf[part]}`),
      code(`/settings ${part} default`),
    ),
  unreadKeep: (): Rich =>
    lines(
      'How much history should I keep? For example:',
      code('/settings keep 30 days'),
      code('/settings keep 100 runs, 30 days'),
      code('/settings keep all'),
    ),
  unreadHosts: (most: number): Rich =>
    lines(
      `Which hosts may tasks of this chat reach? Name up to ${most}. For example:`,
      code('/settings hosts api.example.com, *.example.org'),
      code('/settings hosts any'),
    ),
  unreadGrants: (most: number): Rich =>
    lines(
      `For how long may new tasks run before somebody renews their right? At most ${most} days. For example:`,
      code('/settings grants 90 days'),
      code('/settings grants never'),
    ),
  unreadDates: (): Rich => say`Choose ${or(Object.keys(styles))}. For example ${code('/settings dates us')}`,
} as const;

export const digestTexts = {
  title: 'Digest',
  instructions:
    'What is coming, what failed, what waits for you and what ran. It comes only when there is something to tell.',
  about: 'A digest is one message with what is coming, what failed, what waits for you and what ran.',
  isOn: (when: string): string => `It comes ${when}.`,
  isOff: (): Rich => say`There is no digest here yet. ${code('/digest daily 8:00')} switches it on.`,
  how: (): Rich =>
    lines(code('/digest daily 8:00'), code('/digest weekly monday 9:00'), code('/digest now'), code('/digest off')),
  on: (name: Rich, when: string): Rich => say`${name} comes ${when}, and only when there is something to tell.`,
  next: (at: string, zone: string): string => `Next: ${at} (${zone})`,
  switchedOff: (name: Rich): Rich => say`${name} is paused. ${code('/digest daily 8:00')} switches it on again.`,
  comes: (name: Rich): Rich => say`${name} is on its way to its topic.`,
  unread: (): Rich =>
    lines(
      'When should the digest come? For example:',
      code('/digest daily 8:00'),
      code('/digest weekdays 7:30'),
      code('/digest weekly monday 9:00'),
      code('/digest now'),
      code('/digest off'),
    ),
  daily: 'Daily 8:00',
  weekdays: 'Weekdays 8:00',
  weekly: 'Mondays 9:00',
  now: 'Now',
  off: 'Off',
  card: 'Its card',
} as const;

const nth = (tasks: readonly number[]): string => tasks.map((number) => `#${number}`).join(', ');

export const secretTexts = {
  title: (): Rich => bold('Secrets of this chat'),
  none: 'This chat has no secrets.',
  how: (): Rich =>
    lines(
      'A secret is a key that tasks may use and nobody is shown. Admins set and delete them:',
      code('/secrets set WEATHER_KEY'),
      code('/secrets delete WEATHER_KEY'),
    ),
  entry: ({ name, by, at, tasks }: SecretEntry): Rich =>
    lines(
      code(name),
      [by === null ? null : `set by ${by}`, at, tasks.length === 0 ? 'used by no task' : `used by ${nth(tasks)}`]
        .filter((part) => part !== null)
        .join(', '),
    ),
  wrongName: (name: string): Rich =>
    say`${code(name)} is no name for a secret. Up to 64 capital letters, digits and underscores, beginning with a letter: ${code('/secrets set WEATHER_KEY')}`,
  notHere: (): Rich =>
    say`Delete that message: a value is never sent with the command. Send ${code('/secrets set NAME')} alone, and I ask for the value in private.`,
  ask: (name: string, chat: string | null, uses: readonly string[]): Rich =>
    blocks(
      chat === null ? say`Send me the value of ${code(name)}.` : say`Send me the value of ${code(name)} for ${chat}.`,
      uses.length === 0 ? null : lines(...uses),
      'I seal it and delete your message at once. The question ends in 10 minutes, or with /cancel.',
    ),
  /** Null where only a run knows the host. */
  use: (task: number, use: Pick<SecretSent, 'use' | 'host'> | null): string => {
    if (use === null) return `#${task} may use it, as its context says.`;
    if (use.use === 'sign') return `#${task} signs calls to ${use.host} with it.`;
    return use.use === 'prove'
      ? `#${task} shows ${use.host} a certificate by it.`
      : `#${task} sends it to ${use.host}.`;
  },
  moreUses: (count: number): string =>
    plural(count, { one: '{n} more task uses it.', other: '{n} more tasks use it.' }),
  inPrivate: (name: string, url: string): Rich =>
    say`I ask for the value of ${code(name)} in private: ${link('open our chat', url)} and press Start.`,
  set: (name: string, chat: string | null): Rich =>
    chat === null ? say`${code(name)} is set.` : say`${code(name)} is set for ${chat}.`,
  again: (name: string): Rich => say`Send the value of ${code(name)} again, or /cancel.`,
  cut: (name: string): Rich =>
    say`That was too long for one message, so nothing was set. Set ${code(name)} on the computer of the server: ${code(`cronogram secret set ${name}`)}`,
  over: 'That question is over, so nothing was set. Ask for it again with /secrets set.',
  barred: (chat: string): Rich => say`Only admins of ${chat} set its secrets, and you are none now. Nothing was set.`,
  cancelled: (name: string): Rich => say`${code(name)} stays as it was.`,
  deleteYourself: 'I could not delete your message. Delete it yourself, so that nobody reads the value there.',
  noSuch: (name: string): Rich => say`There is no secret ${code(name)} here.`,
  deleted: (name: string, tasks: readonly number[]): Rich =>
    tasks.length === 0
      ? say`${code(name)} is deleted.`
      : say`${code(name)} is deleted. It was used by ${nth(tasks)}: their runs are skipped until it is set again.`,
} as const;

interface SecretEntry {
  readonly name: string;
  readonly by: string | null;
  readonly at: string | null;
  readonly tasks: readonly number[];
}
