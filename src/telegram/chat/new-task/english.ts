import { blocks, bold, code, italic, lines, oneLine, pre, quote, say, shortened, type Rich } from '../kit/rich.ts';
import type { Where } from './wizard-english.ts';

export const examples: readonly string[] = [
  'in 20 minutes Take the pizza out',
  'tomorrow at 8am Call mum',
  'every weekday at 9:00 Stand up',
];

const again: Readonly<Record<Where, string>> = {
  private: 'Write again',
  group: 'Reply to this message with',
};

export function list(items: readonly string[]): Rich {
  return lines(...items.map((item) => code(item)));
}

export const makingTexts = {
  unread: (sentence: string, tries: readonly string[], where: Where): Rich =>
    blocks(sentence, lines('These can be read:', list(tries)), `${again[where]} the time, or press Cancel.`),
  /** The same where the text is wanted too. */
  unreadBoth: (sentence: string, tries: readonly string[], where: Where): Rich =>
    blocks(
      sentence,
      lines('These can be read:', list(tries)),
      `${again[where]} both in one message, first the time and then the text, or press Cancel.`,
    ),
  unreadQuick: (sentence: string, tries: readonly string[]): Rich =>
    blocks(sentence, lines('These can be read:', list(tries))),
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
  replaced: (title: string | null): Rich =>
    title === null
      ? say`The task you had begun here is dropped.`
      : say`The task you had begun here (${italic(oneLine(title, 60))}) is dropped.`,
  editReplaced: say`The change you had begun here is dropped.`,
  dropped: 'Cancelled. Nothing was made.',
  editDropped: 'Cancelled. Nothing was changed.',
  over: 'This draft is over. Send /new to begin again.',
  expired: 'This draft has waited for more than 30 minutes and is over. Send /new to begin again.',
  onlyTheirs: 'Only the person who began this task may press here.',
  created: (number: number): string => `Created as #${number}`,
  createdBefore: (number: number): string => `It is there already: #${number}`,
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
    say`I did not find a time in that. Try ${code('/new tomorrow at 8am Call mum')}, or see /help.`,
} as const;
