import { code, lines, oneLine, say, type Rich } from '../rich.ts';

/** What is said to a reply that was not understood. */
export const replyTexts = {
  hint: (name: Rich): Rich =>
    lines(
      say`I do not understand that as a reply about ${name}. These I do:`,
      say`${code('done')}, ${code('later')}, ${code('in 2 hours')}, ${code('tomorrow 9')}, ${code('skip')}, ${code('again')}, ${code('why?')}`,
    ),
} as const;

export const undoTexts = {
  undone: (what: string): string => `Undone: ${what}`,
  /** What was done, as it is told of the past. */
  deeds: {
    edit: 'was changed',
    upsert: 'was changed',
    pause: 'was paused',
    resume: 'was resumed',
    delete: 'was deleted',
    restore: 'was brought back',
    skip: 'had runs skipped',
    unskip: 'had skipped runs brought back',
    snooze: 'was snoozed',
  } as Readonly<Record<string, string>>,
  deed: (deed: string, by: string, at: string): string => `${deed} by ${by} at ${at}.`,
  before: (number: number): string => `That is taken back already, or has come to its end: #${number} stays as it is.`,
  none: (): Rich =>
    lines(
      'You have changed nothing here in the last 24 hours that can be taken back.',
      say`Runs and messages cannot be taken back. ${code('/undo #3')} takes back the last change of that task.`,
    ),
} as const;

/** Settings of a task, as the words of the command, of the buttons and of what has changed. */
export const fieldTexts = {
  names: {
    missed: 'Missed runs',
    overlap: 'When it still runs',
    retry: 'Attempts',
    quiet: 'Quiet hours',
    ack: 'Confirm',
    approval: 'Approval',
    until: 'Ends',
    start_at: 'Starts',
    max_runs: 'Ends after',
    grace: 'May be late',
    jitter: 'Spread',
    priority: 'Priority',
    tags: 'Tags',
    media: 'Attachment',
    missed_limit: 'Missed runs at most',
    timeout: 'Time limit',
    auto_pause: 'Pauses itself',
    max_age: 'Results are kept back at most',
    unknown: 'If nobody knows whether it arrived',
  } as Readonly<Record<string, string>>,
  missed: { skip: 'leave out', once: 'run the last one late', all: 'run all late', ask: 'ask' },
  overlap: {
    skip: 'leave the new run out',
    queue: 'wait for its turn',
    replace: 'stop the old run',
    allow: 'run both',
  },
  byDefault: 'as usual',
  urgent: 'off, it is urgent',
  quietOfChat: 'as in this chat',
  quiet: (from: string, to: string, mode: string): string =>
    `${from}-${to}, ${mode === 'silent' ? 'without a sound' : 'results wait'}`,
  ackOff: 'not asked for',
  ackOn: (every: string, times: number): string =>
    `asked for, every ${every}, ${times} ${times === 1 ? 'time' : 'times'} at most`,
  approvalOn: 'needed before each delivery',
  approvalOff: 'not needed',
  never: 'never',
  atOnce: 'at once',
  runs: (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`,
  attempts: (count: number): string => `${count} ${count === 1 ? 'attempt' : 'attempts'}`,
  noTags: 'none',
  noMedia: 'none',
  how: (field: string, number: number, example: string): Rich =>
    say`I cannot read that for ${oneLine(field, 40)}. Write it like this: ${code(`/edit #${number} ${example}`)}`,
  nearest: (word: string, field: string, example: string): Rich =>
    lines(say`I do not know “${oneLine(word, 40)}”. Did you mean ${field}?`, say`Write ${code(`/edit ${example}`)}`),
  byReply: 'In a group, send it as a reply to this message.',
  nextBefore: (times: string): string => `Next runs before: ${times}`,
  nextNow: (times: string): string => `Next runs now: ${times}`,
  nothingPlanned: 'nothing planned',
  menu: {
    more: 'What else shall be changed?',
    ask: (field: string, value: string, example: string): Rich =>
      lines(`${field}: ${value}`, say`Press one, or write ${code(`/edit ${example}`)}`),
  },
  button: {
    time: 'Time',
    text: 'Text',
    title: 'Title',
    zone: 'Zone',
    more: 'More',
    missed: 'Missed',
    ack: 'Confirm',
    quiet: 'Quiet hours',
    approval: 'Approval',
    ends: 'Ends',
  },
  /** What stands on the buttons of each setting. */
  choices: {
    missed: { skip: 'Leave out', once: 'Run the last', all: 'Run all', ask: 'Ask' },
    ack: { off: 'Off', '10m': 'Every 10 min', '30m': 'Every 30 min', '1h': 'Every hour' },
    quiet: { chat: 'As in this chat', off: 'Off (urgent)', '2200-0700': '22:00-07:00' },
    approval: { off: 'Not needed', on: 'Needed' },
    ends: { never: 'Never', '7d': 'In a week', '30d': 'In 30 days', r5: 'After 5 runs', r10: 'After 10 runs' },
  } as Readonly<Record<string, Readonly<Record<string, string>>>>,
} as const;

export const pickTexts = {
  pick: 'Pick…',
  day: (name: Rich): Rich =>
    say`On which day shall ${name} come again? Press one, or reply with a time: ${code('tomorrow 9')}`,
  hour: (name: Rich, day: string): Rich => say`At what time on ${day} shall ${name} come again? Or reply with a time.`,
  toast: 'Press one, or reply with a time: tomorrow 9',
  today: 'Today',
  tomorrow: 'Tomorrow',
  untilTomorrow: 'Until tomorrow',
  untilMonday: 'Until Monday',
  pauseDay: (name: Rich): Rich => say`Until which day shall ${name} be paused?`,
  over: 'That day has passed. Choose another one.',
} as const;

export const agendaTexts = {
  day: 'The next 24 hours',
  week: 'The next 7 days',
  toWeek: 'Next 7 days',
  toDay: 'Next 24 hours',
  none: 'Nothing is planned.',
  row: (at: string, name: Rich): Rich => say`${at} ${name}`,
  snoozed: (at: string, name: Rich): Rich => say`${at} ${name}, snoozed to then`,
  many: (from: string, name: Rich, words: string): Rich => say`${from} ${name} and on: ${words}`,
  more: 'There is more. /next #3 shows one task.',
} as const;
