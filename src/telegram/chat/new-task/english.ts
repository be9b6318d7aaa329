import type { MediaKind } from '../../../domain/shown.ts';
import { mediaWords, withArticle } from '../kit/english.ts';
import { blocks, bold, code, italic, lines, oneLine, pre, quote, say, shortened, type Rich } from '../kit/rich.ts';

/** How the next words reach us: in a group that hides what people say to each other, only replies do. */
export type Where = 'private' | 'group';

export const examples: readonly string[] = [
  'in 20 minutes Take the pizza out',
  'tomorrow at 8am Call mum',
  'every weekday at 9:00 Stand up',
];

export function list(items: readonly string[]): Rich {
  return lines(...items.map((item) => code(item)));
}

export const makingTexts = {
  unread: (sentence: string, tries: readonly string[], where: Where): Rich =>
    blocks(
      sentence,
      lines('For example:', list(tries)),
      where === 'group' ? 'Reply to this message, or press Cancel.' : null,
    ),
  unreadQuick: (sentence: string, tries: readonly string[]): Rich =>
    blocks(sentence, lines('For example:', list(tries))),
  askTime: (title: string, tries: readonly string[]): Rich =>
    blocks(say`Send the new time for ${italic(oneLine(title, 60))}. For example:`, list(tries)),
  timeTries: ['tomorrow at 8am', 'every day at 9', 'every 2 weeks on monday 10:00'] as readonly string[],
  unclearEnd: 'It is not clear whether what stands at the end belongs to the time. Send the time alone.',
  leftOver: (rest: string): Rich =>
    say`That is a time, but I do not understand what follows it: ${italic(oneLine(rest, 80))}. Send the time alone.`,
  preview: (title: string): Rich => bold(`New task: ${oneLine(title, 128)}`),
  text: (text: string): Rich => quote(shortened(text.trim(), 600)),
  zone: (zone: string): string => `Zone: ${zone}`,
  isItNow: (clock: string): Rich => bold(`Is it ${clock} for you now?`),
  nothingToRun: 'Next: nothing, as this never runs',
  note: (message: string): string => `Note: ${message}`,
  topicsOff: {
    private:
      'Results get a topic of their own, and topics are off for this bot. They wait until its owner switches them on: see /start.',
    group:
      'Results get a topic of their own, and topics are off in this group. They wait until you switch them on: see /start.',
    right:
      'Results get a topic of their own, and I may not manage topics here. They wait until an admin of the group allows it: see /start.',
  },
  dropped: 'Cancelled. Nothing was made.',
  editDropped: 'Cancelled. Nothing was changed.',
  over: 'This was answered or cancelled. To begin again, send me the words anew.',
  expired: 'This waited for more than 30 minutes and has expired. To begin again, send me the words anew.',
  onlyTheirs: 'Only the person who began this task may answer here.',
  created: (number: number): string => `Created as #${number}`,
  createdBefore: (number: number): string => `It is there already: #${number}`,
  assumed: (what: string): string => `Assumed: ${what}`,
  forWhom: (name: string): string => `For ${name}`,
  changeToo: (name: Rich, when: string, text: string): Rich =>
    blocks(
      say`You have edited your message. Change ${name} as well?`,
      lines(say`When: ${when}`, quote(shortened(text, 600))),
    ),
  templateFault: (message: string): Rich =>
    blocks(
      say`The text looks like a template, because it contains ${code('{{')} or ${code('{%')}, and has a fault:`,
      pre(shortened(message, 500)),
      'Send it as it stands, or begin again with /new.',
    ),
  badTemplate: (fault: string): string =>
    `The text looks like a template, because it contains {{ or {%, and has a fault: ${fault}. Mend it, or write it without those signs.`,
  refused: (message: string): Rich => say`${bold('It cannot be created like this.')} ${message}`,
  quota: (whose: 'user' | 'chat', limit: number): string =>
    `${whose === 'user' ? 'You have' : 'This chat has'} ${limit} ${limit === 1 ? 'task' : 'tasks'} that can still run, and that is the limit. Delete one that is no longer needed: /tasks`,
  quickHint: (): Rich =>
    blocks(
      'Tell me when and what, for example:',
      list(['tomorrow 9 call mum', 'in 20 minutes pizza', 'every weekday at 9:00 stand up']),
      'Everything else: /help',
    ),
} as const;

/** Questions for the piece that is missing. */
export const askedTexts = {
  when: 'When should I send it?',
  file: (kind: MediaKind): Rich => say`I can send this ${mediaWords[kind]} again. ${bold('When should I send it?')}`,
  answer: (where: Where): string =>
    where === 'private' ? 'Press one, or write it.' : 'Press one, or reply to this message.',
  inAnHour: 'In 1 hour',
  tonight: 'Tonight 20:00',
  tomorrow: 'Tomorrow 09:00',
} as const;

const here = {
  private: 'write',
  group: 'reply to this message with',
} as const;

const Here = { private: 'Write', group: 'Reply to this message with' } as const;

const clockFault = { sentence: 'I cannot read that as a time of the day.', tries: ['9:30', '18:00', '7am'] };

export const wizardTexts = {
  heading: 'New task',
  ask: (where: Where): Rich =>
    blocks(
      lines(bold('When should I send it?'), `Choose, or ${here[where]} when and what, for example:`),
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
      lines(bold('When should I send it?'), `Choose, or ${here[where]} the time, for example:`),
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
  /** The fault of words at a step that asks for a part of the time, and words that can be read there. */
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
  with: (kind: MediaKind): string => `With ${withArticle(mediaWords[kind])}`,
  nothingToSchedule: 'Reply to the message that you want to schedule, and write when: schedule this tomorrow at 9',
  same: (number: number, title: string): Rich =>
    say`There is ${bold(`#${number}`)} ${oneLine(title, 60)} already. Edit that one, or add this one as well?`,
  changeThat: (name: Rich, when: string, zone: string): Rich =>
    lines(say`${name} comes ${when} (${zone}).`, 'What do you want to change?'),
  useTime: 'Use the new time',
  useText: 'Use the new text',
  changeIt: 'Change it',
  chosen: (day: string): string => `✓ ${day}`,
  daysChosen: (days: readonly string[]): string =>
    days.length === 0 ? 'No day yet' : days.map((day) => day.charAt(0).toUpperCase() + day.slice(1, 3)).join(', '),
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
  addAnyway: 'Add anyway',
  editThat: 'Edit that one',
} as const;
