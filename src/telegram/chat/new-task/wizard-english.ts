import type { MediaKind } from '../../../domain/shown.ts';
import { blocks, bold, code, italic, lines, oneLine, say, type Rich } from '../kit/rich.ts';

/** How the next words reach us: in a group that hides what people say to each other, only replies do. */
export type Where = 'private' | 'group';

const here = {
  private: 'write',
  group: 'reply to this message with',
} as const;

const Here = { private: 'Write', group: 'Reply to this message with' } as const;

const clockFault = { sentence: 'I cannot read that as a time of the day.', tries: ['9:30', '18:00', '7am'] };

export const wizardTexts = {
  heading: 'New task',
  headingOf: (title: string): Rich => bold(`New task: ${oneLine(title, 128)}`),
  ask: (where: Where): Rich =>
    blocks(
      lines(bold('When shall it come?'), `Choose, or ${here[where]} when and what, for example:`),
      lines(
        ...[
          'in 20 minutes Take the pizza out',
          'tomorrow at 8am Call mum',
          'every 2 weeks on monday 10:00 Put the bins out',
        ].map(code),
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
  date: (where: Where): Rich => lines(bold('On which day?'), `Choose, or ${here[where]} it: 24 december`),
  hour: (lead: string, where: Where): Rich =>
    lines(bold(`${lead}, at what time?`), `Choose the hour, or ${here[where]} the time: 9:30`),
  minute: (lead: string, where: Where): Rich =>
    lines(bold(`${lead}, at what time?`), `Choose, or ${here[where]} it: 9:20`),
  text: (when: string, zone: string, where: Where): Rich =>
    blocks(bold(`${when} (${zone}). What should I say?`), `${Here[where]} the text, or a picture or another file.`),
  retext: (title: string, where: Where): Rich => say`${Here[where]} the new text for ${italic(oneLine(title, 60))}.`,
  notedText: 'Noted the text.',
  blankText: 'There is nothing to see in that text. Send one with words in it.',
  /** What is wrong with words at a step that asks for a part of the time, and what can be read there. */
  partFaults: {
    hour: clockFault,
    minute: clockFault,
    days: { sentence: 'I cannot read that as days of the week.', tries: ['monday', 'monday and thursday', 'weekdays'] },
    month: { sentence: 'I cannot read that as a day of the month.', tries: ['the 15th', 'last friday', 'last day'] },
    date: { sentence: 'I cannot read that as a day to come.', tries: ['tomorrow', 'friday', '24 december'] },
  },
  /** Said where an older button is pressed, of a time that has none any more. */
  inWords: blocks(
    'That is written now:',
    lines(
      ...[
        'every 2 weeks on monday at 10:00',
        'last friday of the month at 17:00',
        'every year on 12 may at 9:00',
        '0 9 * * 1-5',
      ].map(code),
    ),
  ),
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
    month: 'Every month',
    once: 'Once',
  },
  weekdays: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  lastDay: 'Last day',
  today: 'Today',
  tomorrow: 'Tomorrow',
  in: { 20: 'In 20 minutes', 60: 'In 1 hour' },
  next: 'Next',
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
