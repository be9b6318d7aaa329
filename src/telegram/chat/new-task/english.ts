import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { MediaKind } from '../../../domain/shown.ts';
import { mediaWords, withArticle } from '../kit/english.ts';
import { blocks, bold, code, italic, lines, oneLine, pre, quote, say, shortened, type Rich } from '../kit/rich.ts';

const { plural } = englishForms;

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
  unclearEnd: 'I am not sure that the end belongs to the time. Send only the time.',
  leftOver: (rest: string): Rich =>
    say`I do not understand what follows the time: ${italic(oneLine(rest, 80))}. Send only the time.`,
  preview: (title: string): Rich => bold(`New task: ${oneLine(title, 128)}`),
  text: (text: string): Rich => quote(shortened(text.trim(), 600)),
  zone: (zone: string): string => `Zone: ${zone}`,
  isItNow: (clock: string): Rich => bold(`Is it ${clock} for you now?`),
  nothingToRun: 'Next: never',
  note: (message: string): string => `Note: ${message}`,
  topicsOff: {
    private: 'Topics are off for this bot, so results wait until its owner switches them on. /start shows how.',
    group: 'Topics are off in this group, so results wait until you switch them on. /start shows how.',
    right: 'I may not manage topics here, so results wait until an admin of the group allows it. /start shows how.',
  },
  dropped: 'Cancelled. Nothing was made.',
  editDropped: 'Cancelled. Nothing was changed.',
  over: 'This was answered or cancelled. To start again, send me the words again.',
  expired: 'This expired after 30 minutes. To start again, send me the words again.',
  onlyTheirs: 'Only the person who started this task can answer here.',
  created: (number: number): string => `Created as #${number}`,
  createdBefore: (number: number): string => `Already created: #${number}`,
  assumed: (what: string): string => `Assumed: ${what}`,
  forWhom: (name: string): string => `For ${name}`,
  changeToo: (name: Rich, when: string, text: string): Rich =>
    blocks(say`You edited your message. Change ${name} too?`, lines(say`When: ${when}`, quote(shortened(text, 600)))),
  templateFault: (message: string): Rich =>
    blocks(
      say`The text contains ${code('{{')} or ${code('{%')}, so I read it as a template. It has a fault:`,
      pre(shortened(message, 500)),
      'Send it as plain text, or start again with /new.',
    ),
  badTemplate: (fault: string): string =>
    `The text contains {{ or {%, so I read it as a template. It has a fault: ${fault}. Fix it, or write it without those characters.`,
  refused: (message: string): Rich => say`${bold('I cannot create this.')} ${message}`,
  quota: (whose: 'user' | 'chat', limit: number): string =>
    whose === 'user'
      ? plural(limit, {
          one: 'You have {n} task, which is the limit. Delete it if you no longer need it: /tasks',
          other: 'You have {n} tasks, which is the limit. Delete one that you no longer need: /tasks',
        })
      : plural(limit, {
          one: 'This chat has {n} task, which is the limit. Delete it if you no longer need it: /tasks',
          other: 'This chat has {n} tasks, which is the limit. Delete one that you no longer need: /tasks',
        }),
  nothingOpen: (): Rich =>
    say`Nothing is open here, so nothing was made or changed. ${code('/tasks')} shows what there is.`,
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
  file: (kind: MediaKind | 'album'): Rich =>
    say`I can send this ${kind === 'album' ? kind : mediaWords[kind]} again. ${bold('When should I send it?')}`,
  answer: (where: Where): string =>
    where === 'private' ? 'Press one, or write it.' : 'Press one, or reply to this message.',
  unclear: 'That does not say which one.',
  inAnHour: 'In 1 hour',
  tonight: (clock: string): string => `Tonight ${clock}`,
  tomorrow: (clock: string): string => `Tomorrow ${clock}`,
} as const;

const here = {
  private: 'write',
  group: 'reply to this message with',
} as const;

const Here = { private: 'Write', group: 'Reply to this message with' } as const;

const clockFault = { sentence: 'I did not understand the time.', tries: ['9:30', '18:00', '7am'] };

export const wizardTexts = {
  how: here,
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
  textAsked: (when: string, zone: string): Rich => bold(`${when} (${zone}). What should I say?`),
  text: (where: Where): string => `${Here[where]} the text, or a picture or another file.`,
  retext: (title: string, where: Where): Rich => say`${Here[where]} the new text for ${italic(oneLine(title, 60))}.`,
  notedText: 'I have the text.',
  blankText: 'That text is empty. Send one with words in it.',
  /** The fault of words at a step that asks for a part of the time, and words that can be read there. */
  partFaults: {
    hour: clockFault,
    minute: clockFault,
    days: { sentence: 'I did not understand the days.', tries: ['monday', 'monday and thursday', 'weekdays'] },
    month: { sentence: 'I did not understand the day of the month.', tries: ['the 15th', 'last friday', 'last day'] },
    date: { sentence: 'I did not understand the date.', tries: ['tomorrow', 'friday', '24 december'] },
  },
  /** Said where an older button is pressed, of a time that has none any more. */
  inWords: blocks(
    'Write it instead, for example:',
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
  withAlbum: 'With your album, all of it',
  nothingToSchedule: 'Reply to the message you want to schedule, and write when: schedule this tomorrow at 9',
  same: (number: number, title: string): Rich =>
    say`There is already ${bold(`#${number}`)} ${oneLine(title, 60)}. Edit that one, or add this one too?`,
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
