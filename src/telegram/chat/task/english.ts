import { bold, code, italic, lines, link, oneLine, quote, say, shortened, type Rich } from '../kit/rich.ts';

/** How a title is told in a sentence; longer ones are cut there, never on the card. */
const titleShownMax = 60;
const textShownMax = 300;
const errorShownMax = 300;

export const taskTexts = {
  /** The card, and every word about a task, begins with its number. */
  heading: (number: number, title: string): Rich => bold(`#${number} ${oneLine(title, 128)}`),
  name: (number: number, title: string): Rich => say`${bold(`#${number}`)} ${oneLine(title, titleShownMax)}`,
  plainName: (number: number, title: string): string => `#${number} ${oneLine(title, titleShownMax)}`,
  text: (text: string): Rich => quote(shortened(text.trim(), textShownMax)),

  active: 'Active',
  failing: (count: number): string => `Active, but failing: ${count} ${count === 1 ? 'run' : 'runs'} in a row`,
  paused: 'Paused',
  pausedBy: (name: string | null, at: string): string => `Paused${name === null ? '' : ` by ${name}`} on ${at}`,
  pausedUntil: (until: string): string => `Paused until ${until}`,
  pausedForFailures: (at: string | null): string =>
    `Paused${at === null ? '' : ` on ${at}`}, because too many runs in a row failed`,
  pausedForChat: 'Paused, because this chat could not be reached',
  pausedUnreadable: 'Paused: it cannot be read any more. Give it a new time, or delete it',
  completed: 'Completed: nothing is left to run',
  deleted: 'Deleted',
  deletedAt: (at: string): string => `Deleted on ${at}`,

  scheduled: (words: string, zone: string): Rich => say`${words} (${zone})`,
  next: (times: string): string => `Next: ${times}`,
  noNext: 'Next: nothing planned',
  leftOut: (times: string, more: number): string => `Left out: ${times}${more === 0 ? '' : ` and ${more} more`}`,
  neverRan: 'Last: has not run yet',
  last: (status: string, at: string): string => `Last: ${status} ${at}`,
  started: (at: string): string => `Started ${at}; the result comes in its topic`,
  lastError: (error: string): Rich => say`Error: ${italic(oneLine(error, errorShownMax))}`,
  inTopic: (url: string | null): Rich =>
    url === null ? say`Results: in its own topic` : say`Results: ${link('in its own topic', url)}`,
  topicLater: 'Results: in its own topic, made at the first run',
  snoozedTo: (at: string): string => `Snoozed to ${at}`,
  runs: (count: number): string => (count === 0 ? '' : `, ${count} ${count === 1 ? 'run' : 'runs'} so far`),
  madeOn: (name: string | null, at: string): string => `Made${name === null ? '' : ` by ${name}`} on ${at}`,
  policy: (name: string, value: string): string => `${name}: ${value}`,
  topicBlocked: 'Results: waiting, because its topic cannot be made here. See /start',
} as const;

export const statusWords: Readonly<Record<string, string>> = {
  succeeded: 'ok',
  failed: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
  missed: 'missed',
  pending: 'waiting',
  dispatched: 'running',
};

export const buttonTexts = {
  runNow: 'Run now',
  pause: 'Pause',
  resume: 'Resume',
  edit: 'Edit',
  skip: 'Skip next',
  history: 'History',
  delete: 'Delete',
  undo: 'Undo',
  create: 'Create',
  changeTime: 'Change time',
  cancel: 'Cancel',
  asPlain: 'Send as plain text',
  yes: 'Yes',
  noChange: 'No, change',
  newTime: 'New time',
  newText: 'New text',
  newTitle: 'New title',
  back: 'Back',
  done: 'Done',
  snooze: 'Snooze',
  tenMinutes: '10 min',
  oneHour: '1 h',
  tonight: 'Tonight',
  tomorrow: 'Tomorrow',
  retry: 'Retry',
  runAgain: 'Run again',
  showError: 'Show error',
  itArrived: 'It arrived',
  sendAgain: 'Send again',
  checkAgain: 'Check again',
  previous: '‹',
  following: '›',
  page: (page: number, pages: number): string => `${page}/${pages}`,
  /** What holds now among several that can be chosen. */
  chosen: (label: string): string => `✓ ${label}`,
  newTask: 'New',
  templates: 'Templates',
  newest: '‹ Newest',
  older: 'Older ›',
  why: (at: string): string => `Why ${at}`,
  filters: { all: 'All', active: 'Active', paused: 'Paused', failing: 'Failing', completed: 'Completed', mine: 'Mine' },
} as const;

export const listTexts = {
  heading: (what: string, total: number): Rich => bold(`${what}: ${total}`),
  what: {
    all: 'Tasks in this chat',
    active: 'Active tasks',
    paused: 'Paused tasks',
    failing: 'Failing tasks',
    completed: 'Completed tasks',
    mine: 'Your tasks',
  },
  matching: (text: string): string => `Tasks with “${oneLine(text, 40)}”`,
  none: (): Rich => say`No tasks here yet. Make the first one: ${code('/new every weekday at 9 Stand up')}`,
  noneOf: 'None. /tasks shows all of them.',
  zone: (zone: string): string => `Times in ${zone} unless a zone is named.`,
  more: (shown: number, total: number): string => `${shown} of ${total} shown. Add another word to narrow it down.`,
  row: (name: Rich, state: string): Rich => say`${name}: ${state}`,
  nextAt: (distance: string, at: string): string => `next ${distance}, ${at}`,
  snoozed: (at: string): string => `snoozed to ${at}`,
  active: 'active',
  failing: (count: number): string => `failing (${count} in a row)`,
  paused: 'paused',
  completed: 'completed',
  /** `named` is the command with a task that there is, and what was typed after the command is kept. */
  whichOne: (named: string, words: string): Rich =>
    words === ''
      ? say`Which task? Press one, or name it: ${code(named)}`
      : say`Which task? Press one, or name it: ${code(`${named} ${oneLine(words, 200)}`)}`,
  whichOver: 'That was too long ago. Write it again.',
  whichTheirs: 'Only the person who wrote that may press here.',
  /** `name` is the task of the topic; null outside of one. */
  leftOver: (verb: string, rest: string, { name, number }: { name: Rich | null; number: number }): Rich =>
    lines(
      say`I do not understand “${oneLine(rest, 80)}” there, so I have done nothing.`,
      name === null
        ? say`Write the number alone: ${code(`${verb} #${number}`)}`
        : say`Here ${code(verb)} alone means ${name}; ${code(`${verb} #3`)} means another task.`,
    ),
  noSuchNumber: (number: number): string => `There is no task #${number} in this chat.`,
  existing: 'These are here:',
  noneAtAll: 'There are no tasks in this chat yet. /new makes one.',
} as const;

export const historyTexts = {
  heading: (name: Rich): Rich => say`History of ${name}`,
  none: 'It has not run yet.',
  row: (at: Rich | string, status: string, more: string): Rich => say`${at}: ${status}${more}`,
  took: (time: string): string => `, took ${time}`,
  late: (time: string): string => `, ${time} late`,
  byHand: ', by hand',
  catchUp: ', caught up late',
  snoozed: ', snoozed',
  retried: ', a retry',
  replayed: ', run again',
  attempts: (count: number): string => `, ${count} attempts`,
  delivered: ', delivered',
  notDelivered: ', not delivered yet',
  deliveryBlocked: ', delivery waits for somebody to mend the cause',
  deliveryFailed: ', could not be delivered',
  deliveryUnknown: ', nobody knows whether it arrived',
  error: (error: string): string => ` (${oneLine(error, 120)})`,
  footer: (zone: string): Rich => say`Times in ${zone}. ${code('/why')} explains each run.`,
  upcoming: (name: Rich): Rich => say`What is coming for ${name}`,
  nothingComing: 'Nothing is planned.',
  snoozedTo: (at: string): string => `${at}, snoozed to then`,
  why: (name: Rich): Rich => say`Why, for ${name}`,
  whyNothing: 'Nothing was due in that time.',
  whyMore: (number: number, date: string): Rich =>
    say`There is more. Name a shorter time: ${code(`/why #${number} ${date}`)}`,
  whyUnread: (): Rich =>
    say`I cannot read that moment. Write ${code('today')}, ${code('yesterday')}, ${code('monday')} or ${code('2027-01-31')} for a day, or ${code('monday 9:00')} or ${code('2027-01-31 09:00')} for one slot.`,
} as const;
