import type { PolicyName } from '../../../domain/policy.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { MediaKind } from '../../../domain/shown.ts';
import { filesWords } from '../kit/english.ts';
import { blocks, bold, code, lines, oneLine, say, type Rich, italic } from '../kit/rich.ts';
import { list } from '../new-task/english.ts';

const { and, plural } = englishForms;

interface Once {
  readonly number: number;
  /** When it runs, and in which zone. */
  readonly repeats: string;
  readonly at: string;
  /** Words for the hour alone; null where the task has none. */
  readonly hour: string | null;
}

/** Answers to a new time that leaves something open. */
export const retimeTexts = {
  once: (name: Rich, { number, repeats, at, hour }: Once): Rich =>
    blocks(
      lines(say`${name} repeats: ${oneLine(repeats, 200)}.`, `What you wrote is a single moment: ${at}.`),
      'Should it run once then, and never again?',
      hour === null ? null : say`${code(`/edit #${number} ${hour}`)} moves the hour and keeps the days.`,
    ),
  day: (name: Rich, { repeats, day }: { readonly repeats: string; readonly day: string }): Rich =>
    lines(say`${name} repeats: ${oneLine(repeats, 200)}.`, `Should it run ${day} from now on, or once?`),
  which: (name: Rich, times: readonly string[], time: string): Rich =>
    say`${name} runs at ${and(times)}. Which one should be ${time}?`,
  rhythms: (name: Rich, rhythms: readonly string[], said: string): Rich =>
    blocks(
      lines(say`${name} has several rhythms:`, ...rhythms.map((rhythm) => `• ${oneLine(rhythm, 150)}`)),
      `Which one should be ${oneLine(said, 150)}?`,
    ),
  onDays: (days: string): string => `on ${days}`,
  stays: (pieces: readonly string[]): string => `Stays: ${pieces.join('; ')}`,
  noHour: (name: Rich, runs: string): Rich =>
    say`${name} runs ${oneLine(runs, 200)}, so there is no time of day to move. Nothing changed.`,
  notSaid: (name: Rich, runs: string): Rich =>
    say`${name} runs ${oneLine(runs, 200)}, and one schedule cannot have those times too. Nothing changed.`,
  kept: (name: Rich, next: string): Rich => lines(say`Kept as it is: ${name}`, next),
  keptWord: 'Kept as it is',
  tries: ['8:30', 'weekdays', 'every day at 9'] as readonly string[],
  button: {
    once: 'Make it once',
    keep: 'Keep as it is',
    series: (when: string): string => when.charAt(0).toUpperCase() + when.slice(1),
    onceOn: (when: string): string => `Once, ${when}`,
    inPlace: (old: string, time: string): string => `${old} → ${time}`,
    alone: (time: string): string => `Only ${time}`,
    part: (said: string): string => `${oneLine(said, 30)}, the rest stays`,
    also: 'One more rhythm',
    all: 'Instead of all',
  },
  /** The problem first, and what can be written instead; `number` is null where the words alone are waited for. */
  how: (sentence: Rich | string, tries: readonly string[], number: number | null): Rich =>
    blocks(
      sentence,
      lines('For example:', ...tries.map((each) => code(number === null ? each : `/edit #${number} ${each}`))),
    ),
  bareNumber: (number: number, word: string): Rich =>
    blocks(
      `Is ${word} an hour or a task? I changed nothing.`,
      lines(
        'For example:',
        Number(word) < 24 ? code(`/edit #${number} ${word.padStart(2, '0')}:00`) : null,
        code(`/edit #${word}`),
      ),
    ),
  fields: ['text Water the plants'] as readonly string[],
} as const;

interface Days {
  readonly runs: string;
  readonly number: number;
  /** Nothing can be removed. */
  readonly isPlain: boolean;
}

/** The rhythms and exceptions of a task, one by one. */
export const rhythmTexts = {
  menu: (name: Rich, { runs, number, isPlain }: Days): Rich =>
    blocks(
      lines(name, oneLine(runs, 600)),
      lines(
        isPlain ? 'To add or skip days, write:' : 'Press one to remove it, or add more:',
        code(`/edit #${number} also saturdays at 11`),
        code(`/edit #${number} not on sundays`),
        code(`/edit #${number} except 24 december`),
      ),
    ),
  not: (days: string): string => `Not: ${days}`,
  also: (moment: string): string => `Also: ${moment}`,
  remove: (item: string): string => `✕ ${item}`,
  leftOver: (text: string): string => `I understand the days, but not “${oneLine(text, 80)}”. Send only the days.`,
} as const;

export const editTexts = {
  menu: 'What do you want to change?',
  askTime: (name: Rich, tries: readonly string[]): Rich =>
    blocks(say`Send the new time for ${name} as your next message. For example:`, list(tries)),
  askText: (name: Rich): Rich => say`Send the new text for ${name} as your next message.`,
  askTitle: (name: Rich): Rich => say`Send the new title for ${name} as your next message.`,
  changed: (name: Rich): Rich => say`Changed: ${name}`,
  worst: (name: Rich, worst: readonly string[]): Rich =>
    lines(say`Missed runs of ${name} would be made up.`, ...worst, bold('Do you want that?')),
  worstYes: 'Make them up',
  nothing: (name: Rich): Rich => say`Nothing to change: ${name} is already like that.`,
  diff: (field: string, before: string, after: string): Rich =>
    lines(say`${field}:`, say`  before: ${italic(oneLine(before, 200))}`, say`  now: ${oneLine(after, 200)}`),
  fields: {
    title: 'Title',
    instructions: 'Text',
    schedule: 'Time',
    action: 'Kind',
    grant_expires_at: 'May run until',
    subject: 'Subject',
  } as Readonly<Record<string, string>>,
  /** `number` is null where it is not known which task was meant. */
  exhausted: (number: number | null): string =>
    number === null
      ? 'This task is finished. Give it a new time first: /edit'
      : `This task is finished. Give it a new time first: /edit #${number} tomorrow at 9`,
  unknownZone: (zone: string): Rich =>
    say`I do not know the time zone ${italic(oneLine(zone, 40))}. Write its name, such as ${code('Europe/Madrid')}.`,
} as const;

/** Settings of a task, as the words of the command, of the buttons and of what has changed. */
export const fieldTexts = {
  names: {
    missed: 'Missed runs',
    overlap: 'If it is still running',
    retry: 'Attempts',
    quiet: 'Quiet hours',
    ack: 'Asks for Done',
    approval: 'Approval',
    skip_if_unchanged: 'The same result again',
    keep: 'History',
    budget: 'Budget',
    until: 'Ends',
    start_at: 'Starts',
    max_runs: 'Ends after',
    refresh_after: 'Refreshes after',
    grace: 'May be late',
    jitter: 'Spread',
    priority: 'Priority',
    tags: 'Tags',
    media: 'Attachment',
    missed_limit: 'Missed runs, at most',
    timeout: 'Time limit',
    auto_pause: 'Pauses itself after',
    max_age: 'Results wait at most',
    unknown: 'If it may not have arrived',
    fallback: 'Without its topic',
  } satisfies Record<PolicyName | 'tags' | 'media', string> as Readonly<Record<string, string>>,
  /** The words for a policy that was not chosen, where "as usual" would say too little. */
  usual: {
    quiet: 'as in this chat',
    ack: 'no',
    approval: 'not needed',
    skip_if_unchanged: 'shown like any other',
    keep: 'as in this chat',
    fallback: 'results wait',
    budget: 'as in this chat',
    until: 'never',
    start_at: 'at once',
    max_runs: 'never',
    refresh_after: 'never',
  } as Readonly<Record<string, string>>,
  values: {
    missed: { skip: 'skip', once: 'run the last one late', all: 'run all late', ask: 'ask' },
    overlap: {
      skip: 'skip the new run',
      queue: 'wait for its turn',
      replace: 'stop the old run',
      allow: 'run both',
    },
    skip_if_unchanged: { none: 'shown like any other', silent: 'comes without a sound', skip: 'not shown' },
    approval: { none: 'not needed', required: 'needed each time' },
    fallback: { none: 'results wait', creator: 'results come where the task was made' },
  } as Readonly<Record<string, Readonly<Record<string, string>>>>,
  byDefault: 'as usual',
  urgent: 'off, it is urgent',
  quiet: (from: string, to: string, mode: string): string =>
    mode === 'silent' ? `${from}-${to}, without a sound` : `${from}-${to}, results wait`,
  ackOn: (every: string, times: number): string =>
    plural(times, { one: `every ${every}, once`, other: `every ${every}, up to {n} times` }),
  asks: (how: string): string => `Asks for Done, ${how}`,
  never: 'never',
  runs: (count: number): string => plural(count, { one: '{n} run', other: '{n} runs' }),
  kept: (runs: number | null, days: number | null): string => {
    const last = runs === null ? [] : [plural(runs, { one: 'the last run', other: 'the last {n} runs' })];
    const young = days === null ? [] : [plural(days, { one: '{n} day', other: '{n} days' })];
    return and([...last, ...young]);
  },
  attempts: (count: number): string => plural(count, { one: '{n} attempt', other: '{n} attempts' }),
  noValue: 'none',
  noTags: 'none',
  noMedia: 'none',
  media: (kinds: readonly MediaKind[]): string => filesWords(kinds).replace(/^an? /, ''),
  how: (field: string, number: number, example: string): Rich =>
    say`I did not understand that for ${oneLine(field, 40)}. For example: ${code(`/edit #${number} ${example}`)}`,
  unknown: (word: string, number: number): Rich =>
    blocks(
      say`I do not know “${oneLine(word, 40)}”. You can change the time, the text, the title, the zone and more (/edit #${number}).`,
      lines(
        'For example:',
        ...['8:30', 'every monday at 9', 'text Water the plants'].map((each) => code(`/edit #${number} ${each}`)),
      ),
    ),
  nearest: (word: string, field: string, example: string): Rich =>
    lines(say`I do not know “${oneLine(word, 40)}”. Did you mean ${field}?`, say`Write ${code(`/edit ${example}`)}`),
  byReply: 'In a group, reply to this message with it.',
  nextBefore: (times: string): string => `Next runs before: ${times}`,
  menu: {
    more: 'What else do you want to change?',
    ask: (field: string, value: string, example: string): Rich =>
      lines(`${field}: ${value}`, say`Press one, or write ${code(`/edit ${example}`)}`),
  },
  button: {
    time: 'Time',
    text: 'Text',
    title: 'Title',
    zone: 'Zone',
    days: 'Days',
    more: 'More',
    missed: 'Missed',
    ack: 'Ask for Done',
    quiet: 'Quiet hours',
    approval: 'Approval',
    unchanged: 'Same result',
    keep: 'History',
    ends: 'Ends',
  },
  /** Labels of the buttons of each setting. */
  choices: {
    missed: { skip: 'Skip', once: 'Run the last', all: 'Run all', ask: 'Ask' },
    ack: {
      off: 'Off',
      '10m': 'Every 10 min, 3 times',
      '10m20': 'Every 10 min, 20 times',
      '30m': 'Every 30 min, 3 times',
      '1h': 'Every hour, 3 times',
    },
    quiet: { chat: 'As in this chat', off: 'Off (urgent)', '2200-0700': '22:00-07:00' },
    approval: { off: 'Not needed', on: 'Needed' },
    keep: { chat: 'As in this chat', '10r': 'The last 10 runs', '7d': '7 days', '30d': '30 days' },
    unchanged: { show: 'Show it', silent: 'Without a sound', skip: 'Do not show it' },
    ends: { never: 'Never', '7d': 'In a week', '30d': 'In 30 days', r5: 'After 5 runs', r10: 'After 10 runs' },
  } as Readonly<Record<string, Readonly<Record<string, string>>>>,
} as const;
