import type { MediaKind } from '../../../domain/shown.ts';
import { blocks, bold, code, italic, lines, oneLine, say, type Rich } from '../kit/rich.ts';

/** A task to begin with: its text, a time that most people would choose, and what goes with it. */
interface Template {
  /** Stands in the data of buttons, so it never changes its meaning. */
  readonly id: string;
  /** For the button. */
  readonly name: string;
  readonly text: string;
  /** Read like the words of a person. */
  readonly when: string;
  /** The day of the year is asked for, because nobody can guess it; it comes at this time then. */
  readonly yearlyAt?: string;
  readonly policies?: {
    readonly ack?: { readonly nag_every: string; readonly nag_limit: number };
    readonly missed?: 'skip' | 'once';
  };
}

/** Until somebody has pressed Done: what must not be forgotten. */
const insist = { ack: { nag_every: 'PT10M', nag_limit: 3 } } as const;
const askForDone = { ack: { nag_every: 'PT1H', nag_limit: 2 } } as const;

export const templates: readonly Template[] = [
  { id: 'pill', name: '💊 Medication', text: 'Take your medication', when: 'every day at 08:00', policies: insist },
  {
    id: 'standup',
    name: '👥 Stand-up',
    text: 'Stand-up in 15 minutes\nWhat did you do? What is next? What is in the way?',
    when: 'every weekday at 09:15',
  },
  {
    id: 'birthday',
    name: '🎂 Birthday',
    text: 'Somebody has a birthday today. Send a card!',
    when: 'every year on 24 december at 09:00',
    yearlyAt: '09:00',
  },
  {
    id: 'backup',
    name: '💾 Backup check',
    text: 'Check the backups\nDid last night’s backup run? Can one file be restored?',
    when: 'every monday at 10:00',
    policies: askForDone,
  },
  {
    id: 'rent',
    name: '🏠 Rent',
    text: 'Pay the rent',
    when: 'every month on the 1st at 09:00',
    policies: askForDone,
  },
  { id: 'bins', name: '🗑 Bins', text: 'Put the bins out', when: 'every 2 weeks on tuesday at 19:00' },
  {
    id: 'review',
    name: '📋 Weekly review',
    text: 'Weekly review\nWhat went well? What did not? What comes next week?',
    when: 'every friday at 16:00',
  },
  { id: 'plants', name: '🪴 Water the plants', text: 'Water the plants', when: 'every 3 days at 09:00' },
  {
    id: 'water',
    name: '💧 Drink water',
    text: 'Drink a glass of water',
    when: 'every 2 hours from 8 to 20',
    policies: { missed: 'skip' },
  },
  {
    id: 'invoice',
    name: '🧾 Invoices',
    text: 'Write the invoices of this month',
    when: 'on the last day of the month at 10:00',
    policies: askForDone,
  },
  {
    id: 'notes',
    name: '📝 Meeting notes',
    text: 'Write down what the meeting decided, and send it round',
    when: 'every thursday at 17:00',
  },
  {
    id: 'morning',
    name: '☀️ Good morning',
    text: 'Good morning! What are the three things that matter today?',
    when: 'every day at 07:30',
    policies: { missed: 'skip' },
  },
];

/** How the next words reach us: in a group that hides what people say to each other, only replies do. */
export type Where = 'private' | 'group';

const here = {
  private: 'write',
  group: 'reply to this message with',
} as const;

const Here = { private: 'Write', group: 'Reply to this message with' } as const;

const clockFault = { sentence: 'I cannot read that as a time of the day.', tries: ['9:30', '18:00', '7am'] };
const dayFault = { sentence: 'I cannot read that as a day of the year.', tries: ['12 may', '24 december'] };

export const wizardTexts = {
  heading: 'New task',
  headingOf: (title: string): Rich => bold(`New task: ${oneLine(title, 128)}`),
  ask: (where: Where): Rich =>
    blocks(
      lines(bold('When shall it come?'), `Choose, or ${here[where]} when and what, for example:`),
      lines(
        ...['in 20 minutes Take the pizza out', 'tomorrow at 8am Call mum', 'every weekday at 9:00 Stand up'].map(code),
      ),
    ),
  askTimeOf: (where: Where, tries: readonly string[]): Rich =>
    blocks(
      lines(bold('When shall it come?'), `Choose, or ${here[where]} the time, for example:`),
      lines(...tries.map(code)),
    ),
  days: (where: Where): Rich =>
    lines(bold('On which days?'), `Press one or more and then Next, or ${here[where]} them: ${'monday and thursday'}`),
  month: (where: Where): Rich =>
    lines(bold('On which day of the month?'), `Choose, or ${here[where]} it: the 15th, last friday`),
  ordinal: bold('Which one of the month?'),
  nth: (ordinal: string): Rich => bold(`The ${ordinal} what of each month?`),
  date: (where: Where): Rich => lines(bold('On which day?'), `Choose, or ${here[where]} it: 24 december`),
  hour: (lead: string, where: Where): Rich =>
    lines(bold(`${lead}, at what time?`), `Choose the hour, or ${here[where]} the time: 9:30`),
  minute: (lead: string, where: Where): Rich =>
    lines(bold(`${lead}, at what time?`), `Choose, or ${here[where]} it: 9:20`),
  cron: (where: Where): Rich =>
    lines(
      bold('Which cron expression?'),
      say`${Here[where]} its five fields (minute, hour, day, month, weekday), for example ${code('0 9 * * 1-5')}`,
    ),
  text: (when: string, zone: string, where: Where): Rich =>
    blocks(bold(`${when} (${zone}). What should I say?`), `${Here[where]} the text, or a picture or another file.`),
  retext: (title: string, where: Where): Rich => say`${Here[where]} the new text for ${italic(oneLine(title, 60))}.`,
  templates: (where: Where): Rich =>
    lines(bold('Choose a template'), `Each can be changed before it is made. Or ${here[where]} when and what.`),
  templatesFor: (when: string): Rich => bold(`${when}. Which text?`),
  notedText: 'Noted the text.',
  blankText: 'There is nothing to see in that text. Send one with words in it.',
  week: bold('With which week shall it begin?'),
  weekOf: (ahead: number, day: string): string =>
    ahead < 2 ? `${ahead === 0 ? 'This' : 'Next'} week: ${day}` : `In ${ahead} weeks: ${day}`,
  yearMonth: (where: Where): Rich => lines(bold('On which day of the year?'), `Choose, or ${here[where]} it: 12 may`),
  yearDay: (month: string, where: Where): Rich =>
    lines(bold(`On which day of ${month}?`), `Choose, or ${here[where]} it: 12`),
  /** What is wrong with words at a step that asks for a part of the time, and what can be read there. */
  partFaults: {
    hour: clockFault,
    minute: clockFault,
    days: { sentence: 'I cannot read that as days of the week.', tries: ['monday', 'monday and thursday', 'weekdays'] },
    month: { sentence: 'I cannot read that as a day of the month.', tries: ['the 15th', 'last friday', 'last day'] },
    date: { sentence: 'I cannot read that as a day to come.', tries: ['tomorrow', 'friday', '24 december'] },
    week: { sentence: 'I cannot read that as a week to begin with.', tries: ['this week', 'next week'] },
    yearmonth: dayFault,
    yearday: dayFault,
  } as Readonly<Record<string, { readonly sentence: string; readonly tries: readonly string[] } | undefined>>,
  noDays: 'Choose at least one day.',
  kinds: {
    photo: 'Photo',
    document: 'File',
    video: 'Video',
    audio: 'Audio',
    voice: 'Voice message',
    animation: 'Animation',
  } satisfies Record<MediaKind, string>,
  with: {
    photo: 'With a photo',
    document: 'With a file',
    video: 'With a video',
    audio: 'With an audio file',
    voice: 'With a voice message',
    animation: 'With an animation',
  } satisfies Record<MediaKind, string>,
  offer: (kind: MediaKind): string =>
    `I can send this ${offered[kind]} again when you want. Press Schedule this, or write when.`,
  nothingToSchedule: 'Reply to the message that you want to schedule, and write when: schedule this tomorrow at 9',
  same: (number: number, title: string): Rich =>
    say`There is ${bold(`#${number}`)} ${oneLine(title, 60)} already. Edit that one, or add this one as well?`,
  changeThat: (name: Rich, when: string, zone: string): Rich =>
    lines(say`${name} comes ${when} (${zone}).`, 'What shall be changed about it?'),
  useTime: 'Use the new time',
  useText: 'Use the new text',
  chosen: (day: string): string => `✓ ${day}`,
  rhythms: {
    day: 'Every day',
    weekday: 'Weekdays',
    week: 'Every week',
    fortnight: 'Every 2 weeks',
    month: 'Every month',
    once: 'Once',
    cron: 'Cron',
  },
  weekdays: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  weekdaysLong: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  ordinals: { first: 'First', second: 'Second', third: 'Third', fourth: 'Fourth', last: 'Last' },
  lastDay: 'Last day',
  nthWeekday: 'First Monday, last Friday ...',
  today: 'Today',
  tomorrow: 'Tomorrow',
  in: { 20: 'In 20 minutes', 60: 'In 1 hour' },
  next: 'Next',
  templatesButton: 'Templates',
  changeText: 'Change text',
  dontAsk: 'Don’t ask',
  notUrgent: 'Not urgent',
  scheduleThis: 'Schedule this',
  addAnyway: 'Add anyway',
  editThat: 'Edit that one',
} as const;

const offered: Readonly<Record<MediaKind, string>> = {
  photo: 'photo',
  document: 'file',
  video: 'video',
  audio: 'audio file',
  voice: 'voice message',
  animation: 'animation',
};
