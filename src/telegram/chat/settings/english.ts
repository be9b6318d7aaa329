import type { DateStyle } from '../../../domain/chat-settings.ts';
import type { Quiet } from '../../../domain/quiet.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import { bold, code, lines, say, type Rich } from '../kit/rich.ts';

const { or } = englishForms;

const styles: Readonly<Record<DateStyle, string>> = { en: 'Day first', iso: 'Digits', us: 'American' };

export const settingsTexts = {
  styles,
  title: (): Rich => bold('Settings of this chat'),
  create: (who: 'members' | 'admins'): string =>
    `Who may create tasks: ${who === 'members' ? 'every member' : 'admins only'}`,
  quiet: (quiet: Quiet | null, zone: string): string => {
    if (quiet === null) return 'Quiet hours: off';
    const { from, to, mode } = quiet;
    const does = mode === 'hold' ? 'results wait until they end' : 'results come without a sound';
    return `Quiet hours: ${from} to ${to} (${zone}), ${does}`;
  },
  reactions: (on: boolean): string => `Confirm with 👍 instead of a message: ${on ? 'on' : 'off'}`,
  dates: (example: string): string => `Dates: ${example}`,
  zone: (zone: string, clock: string): string => `Time zone: ${zone}, where it is ${clock} now`,
  keep: (words: string | null): string => `History: ${words ?? 'all that the server keeps'}`,
  digest: (words: string | null): string => `Digest: ${words ?? 'off'}`,
  alarms: (where: 'private' | 'chat' | 'other' | 'off'): string =>
    `Alarms of the server: ${{ private: 'to you in private', chat: 'in this chat', other: 'in another chat', off: 'off' }[where]}`,
  alarmsPrivate: 'Alarms: on',
  alarmsOff: 'Alarms: off',
  ownersOnly: 'Only an owner of the bot hears of trouble with the server.',
  unreadAlarms: (): Rich =>
    lines(
      'Trouble with the server can be told in one of these ways:',
      code('/settings alarms private'),
      code('/settings alarms chat'),
      code('/settings alarms off'),
    ),
  adminsOnly: (names: readonly string[]): string =>
    names.length === 0
      ? 'Only an admin of this chat may change that.'
      : `Only an admin of this chat may change that. Ask ${or(names)}.`,
  ownQuiet: (): Rich => say`For a task of your own: ${code('/edit #3 quiet 22:00-07:00')}`,
  ownZone: (): Rich => say`For a task of your own: ${code('/edit #3 zone Europe/Madrid')}`,
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
    `One-offs: ${where === 'apart' ? 'a topic each' : 'together in Reminders'}`,
  oneOffsApart: 'A topic each',
  oneOffsTogether: 'Together in Reminders',
  oneOffsKeep: 'Keep a topic each',
  oneOffsOffer: (topics: number): string =>
    `${topics} topics here hold finished one-offs. New ones can share one topic, Reminders. /topic clean tidies the old ones.`,
  oneOffsNow: (where: 'apart' | 'together'): string =>
    where === 'together'
      ? 'New one-offs come together in the topic Reminders. Tasks that have a topic keep it.'
      : 'Each one-off gets a topic of its own. /settings one-offs together changes that.',
  unread: (): Rich =>
    lines(
      'I cannot read that. These can be read:',
      code('/settings create admins'),
      code('/settings quiet 22:30-06:45 silent'),
      code('/settings quiet off'),
      code('/settings thumbs off'),
      code('/settings one-offs together'),
      code('/settings dates us'),
      code('/settings keep 100 runs, 30 days'),
      code('/settings zone Madrid'),
      code('/settings digest daily 8:00'),
    ),
  createAlone: 'This is a private chat, so nobody but you creates tasks here.',
  unreadQuiet: (): Rich =>
    lines(
      'Quiet hours need a beginning and an end. These can be read:',
      code('/settings quiet 22:30-06:45'),
      code('/settings quiet 23-8 silent'),
      code('/settings quiet off'),
    ),
  noQuiet: (): Rich =>
    say`There are no quiet hours here yet, so say when they are: ${code('/settings quiet 22:30-06:45 silent')}`,
  unreadKeep: (): Rich =>
    lines(
      'I cannot read how much history is to be kept. These can be read:',
      code('/settings keep 30 days'),
      code('/settings keep 100 runs, 30 days'),
      code('/settings keep all'),
    ),
  unreadDates: (): Rich =>
    say`I know these: ${Object.keys(styles).join(', ')}. For example ${code('/settings dates us')}`,
} as const;

export const digestTexts = {
  title: 'Digest',
  instructions: 'What is coming, what failed, what waits and what ran. It comes only when there is something to tell.',
  about: 'A digest tells in one message what is coming, what failed, what waits for somebody and what ran.',
  isOn: (when: string): string => `It comes ${when}.`,
  isOff: (): Rich => say`There is no digest here at the moment. ${code('/digest daily 8:00')} switches it on.`,
  how: (): Rich =>
    lines(code('/digest daily 8:00'), code('/digest weekly monday 9:00'), code('/digest now'), code('/digest off')),
  on: (name: Rich, when: string): Rich => say`${name} comes ${when}, and only when there is something to tell.`,
  next: (at: string, zone: string): string => `Next: ${at} (${zone})`,
  switchedOff: (name: Rich): Rich => say`${name} is paused. ${code('/digest daily 8:00')} switches it on again.`,
  comes: (name: Rich): Rich => say`${name} is on its way to its topic.`,
  unread: (): Rich =>
    lines(
      'I cannot read when the digest shall come. These can be read:',
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
