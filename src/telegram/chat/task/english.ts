import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { MediaKind } from '../../../domain/shown.ts';
import { filesWords } from '../kit/english.ts';
import { bold, code, italic, lines, link, oneLine, quote, say, shortened, type Rich } from '../kit/rich.ts';

const { and, number, plural } = englishForms;
/** How a title is told in a sentence; longer ones are cut there, never on the card. */
const titleShownMax = 60;
const [textShownMax, errorShownMax] = [300, 300];

interface LastFacts {
  readonly done: string;
  readonly zone: string | null;
  readonly runs: number;
}

export const taskTexts = {
  /** The card, and every word about a task, begins with its number. */
  heading: (number: number, title: string): Rich => bold(`#${number} ${oneLine(title, 128)}`),
  name: (number: number, title: string): Rich => say`${bold(`#${number}`)} ${oneLine(title, titleShownMax)}`,
  plainName: (number: number, title: string): string => `#${number} ${oneLine(title, titleShownMax)}`,
  text: (text: string): Rich => quote(shortened(text.trim(), textShownMax)),

  active: '🟢 Active',
  failing: (count: number): string =>
    plural(count, { one: '🔴 Failing: the last run', other: '🔴 Failing: the last {n} runs' }),
  paused: '⏸ Paused',
  pausedBy: (name: string | null, at: string): string => `⏸ Paused${name === null ? '' : ` by ${name}`} on ${at}`,
  pausedUntil: (until: string): string => `⏸ Paused until ${until}`,
  pausedForFailures: (at: string | null): string =>
    `⏸ Paused${at === null ? '' : ` on ${at}`}, because too many runs in a row failed`,
  pausedForChat: '⏸ Paused, because this chat could not be reached',
  pausedForTemplate: '⏸ Paused: its template takes too long or too much memory. Make it simpler',
  pausedForOwner: '⏸ Paused until its owner is back or somebody renews it',
  pausedUnreadable: '⏸ Paused: I cannot read it any more. Give it a new time, or delete it',
  completed: '🏁 Finished',
  deleted: '🗑 Deleted',
  deletedAt: (at: string): string => `🗑 Deleted on ${at}`,

  scheduled: (words: string, zone: string, files: readonly MediaKind[]): Rich =>
    files.length === 0 ? say`${words} (${zone})` : say`${words} (${zone}), with ${filesWords(files)}`,
  standing: (state: string, schedule: Rich): Rich => say`${state} · ${schedule}`,
  oneLine: (parts: readonly (Rich | string)[]): Rich =>
    parts.map((part) => say`${part}`).reduce((line, part) => say`${line} · ${part}`),
  next: (times: string): string => `Next: ${times}`,
  noNext: 'Next: nothing planned',
  skipped: (times: string, more: number): string => `Skipped: ${times}${more === 0 ? '' : ` and ${more} more`}`,
  grantUntil: (at: string): string => `May run until ${at}`,
  grantExpired: (at: string): string => `⚠️ May not run: its right ended ${at}. /grants renews it`,
  grantRevoked: '⚠️ May not run: somebody took back its right. /grants renews it',
  context: (fields: readonly string[], more: number): string =>
    `Context: ${and(fields)}${more === 0 ? '' : ` and ${more} more`}`,
  stale: (since: string): string => `Stale since ${since}`,
  /** `zone` is null where a line above names it. */
  last: (was: string, at: string, { done, zone, runs }: LastFacts): string => {
    const beside = [zone, runs === 0 ? null : plural(runs, { one: '{n} run', other: '{n} runs' })].filter(
      (each) => each !== null,
    );
    return `Last: ${was} ${at}${done}${beside.length === 0 ? '' : ` (${beside.join(', ')})`}`;
  },
  /** The end of a run and of its result. */
  lastWas: {
    delivered: 'delivered',
    waits: 'not delivered yet',
    notDelivered: 'could not be delivered',
    ran: 'ran',
    failed: 'failed',
    cancelled: 'cancelled',
  },
  doneBy: (name: string): string => `, done by ${name}`,
  done: { notAsked: '', open: ', not done yet', notDone: ', not done' },
  asOf: (at: string): Rich => italic(`As of ${at}`),
  nextAsOf: (next: string, at: string): Rich => say`${next} ${italic(`(as of ${at})`)}`,
  started: (at: string, url: string | null): Rich =>
    url === null
      ? say`Started ${at}; the result comes in its topic`
      : say`Started ${at}; the result comes in ${link('its topic', url)}`,
  startedShared: (at: string, url: string | null): Rich =>
    url === null
      ? say`Started ${at}; the result comes in Reminders`
      : say`Started ${at}; the result comes in ${link('Reminders', url)}`,
  lastError: (error: string): Rich => say`Error: ${italic(oneLine(error, errorShownMax))}`,
  inTopic: (url: string | null): Rich =>
    url === null ? say`Results: in its own topic` : say`Results: ${link('in its own topic', url)}`,
  inShared: (url: string | null): Rich =>
    url === null ? say`Results: in Reminders` : say`Results: ${link('in Reminders', url)}`,
  topicLater: 'Results: in its own topic, made at the first run',
  snoozedTo: (times: string): string => `Snoozed to ${times}`,
  snoozedHeld: (times: string): string => `Snoozed to ${times}, if resumed before`,
  madeOn: (name: string | null, at: string): string => `Made${name === null ? '' : ` by ${name}`} on ${at}`,
  takenOver: (name: string, at: string): string => `Belongs to ${name}, made on ${at}`,
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
  more: 'More',
  less: 'Less',
  undo: 'Undo',
  create: 'Create',
  changeTime: 'Change time',
  cancel: 'Cancel',
  asPlain: 'Send as plain text',
  yes: 'Yes',
  noChange: 'No, change',
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
  /** Marks the choice that holds now. */
  chosen: (label: string): string => `✓ ${label}`,
  newTask: 'New',
  newest: '‹ Newest',
  older: 'Older ›',
  why: (at: string): string => `Why ${at}`,
  filters: {
    all: 'Current',
    active: 'Active',
    paused: 'Paused',
    failing: 'Failing',
    completed: 'Completed',
    mine: 'Mine',
  },
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
  about: (subjects: readonly string[]): string => `Tasks for ${and(subjects.map((one) => oneLine(one, 40)))}`,
  none: (): Rich => say`No tasks here yet. Make the first one: ${code('/new every weekday at 9 Stand up')}`,
  noneOf: 'None. /tasks shows all of them.',
  zone: (zone: string): string => `Times in ${zone} unless a zone is named.`,
  more: (shown: number, total: number): string => `${shown} of ${total} shown. Add another word to narrow it down.`,
  row: (name: Rich, cells: readonly string[]): Rich => say`${name}: ${cells.join(' · ')}`,
  sign: { active: '🟢', failing: '🔴', paused: '⏸', ended: '🏁' },
  next: (distance: string): string => `next ${distance}`,
  comes: (distance: string): string => distance,
  snoozed: (at: string, more: number): string => `snoozed to ${at}${more === 0 ? '' : ` and ${more} more`}`,
  stale: (since: string): string => `stale since ${since}`,
  failing: (count: number, ago: string | null): string =>
    `${plural(count, { one: 'failed', other: 'failed {n} times in a row' })}${ago === null ? '' : `, last ${ago}`}`,
  mayNotRun: '⚠️ may not run: no right',
  paused: (by: string | null, until: string | null): string =>
    `paused${by === null ? '' : ` by ${by}`}${until === null ? '' : ` until ${until}`}`,
  pausedForFailures: 'paused after failures',
  never: 'never ran',
  last: {
    succeeded: (ago: string): string => `last ok ${ago}`,
    failed: (ago: string): string => `last failed ${ago}`,
    cancelled: (ago: string): string => `last cancelled ${ago}`,
    open: (ago: string): string => `not done yet, ${ago}`,
    notDone: (ago: string): string => `not done, ${ago}`,
  },
  ended: (count: number): string => `${number(count)} ended.`,
  showEnded: (count: number): string => `Show ${count} ended`,
  noneOpen: 'Nothing is planned here. /new makes a task.',
  /** `named` is the command with a task that there is, and what was typed after the command is kept. */
  whichOne: (named: string, words: string): Rich =>
    words === ''
      ? say`Which task? Press one, or name it: ${code(named)}`
      : say`Which task? Press one, or name it: ${code(`${named} ${oneLine(words, 200)}`)}`,
  whichOfThese: 'Which one?',
  isThisMeant: 'Do you mean this one?',
  noSuchName: (words: string): string => `No task here is called “${oneLine(words, 60)}”.`,
  whichOver: 'That was too long ago. Send it again.',
  whichTheirs: 'Only the person who wrote that may press here.',
  /** `name` is the task of the topic; null outside of one. */
  leftOver: (verb: string, rest: string, { name, number }: { name: Rich | null; number: number }): Rich =>
    lines(
      say`I do not understand “${oneLine(rest, 80)}” there, so I did nothing.`,
      name === null
        ? say`Write the number alone: ${code(`${verb} #${number}`)}`
        : say`Here ${code(verb)} alone means ${name}; ${code(`${verb} #3`)} means another task.`,
    ),
  noSuchNumber: (number: number): string => `There is no task #${number} in this chat.`,
  existing: 'These tasks are here:',
  noneAtAll: 'There are no tasks in this chat yet. /new makes one.',
} as const;

export const historyTexts = {
  answered: (status: number): string => `HTTP ${status}`,
  heading: (name: Rich): Rich => say`History of ${name}`,
  none: 'It has not run yet.',
  row: (at: Rich | string, facts: readonly string[], error: string | null): Rich =>
    say`${at}: ${facts.join(', ')}${error === null ? '' : ` (${oneLine(error, 120)})`}`,
  took: (time: string): string => `took ${time}`,
  late: (time: string): string => `${time} late`,
  byHand: 'by hand',
  catchUp: 'caught up late',
  snoozed: 'snoozed',
  retried: 'a retry',
  replayed: 'run again',
  refreshed: 'a refresh',
  run: (number: number): string => `run ${number}`,
  attempts: (count: number): string => plural(count, { one: '{n} attempt', other: '{n} attempts' }),
  delivered: 'delivered',
  unchanged: 'the same result as before',
  notShown: 'not shown',
  notDelivered: 'not delivered yet',
  deliveryBlocked: 'not delivered: somebody must fix the cause',
  deliveryFailed: 'could not be delivered',
  deliveryUnknown: 'may not have arrived',
  forApproval: (at: string): string => `waits for approval since ${at}`,
  discarded: 'discarded',
  held: (at: string): string => `held for quiet hours until ${at}`,
  doneBy: (name: string, at: string): string => `done by ${oneLine(name, 40)} ${at}`,
  notDoneYet: (nags: number): string =>
    nags === 0
      ? 'not done yet'
      : plural(nags, { one: 'not done yet, {n} reminder', other: 'not done yet, {n} reminders' }),
  notDone: (nags: number): string =>
    nags === 0
      ? 'nobody said Done'
      : plural(nags, { one: 'nobody said Done, {n} reminder', other: 'nobody said Done, {n} reminders' }),
  footer: (zone: string): Rich => say`Times in ${zone}. ${code('/why')} explains each run.`,
  upcoming: (name: Rich): Rich => say`What is coming for ${name}`,
  nothingComing: 'Nothing is planned.',
  nothingRuns: 'Its runs are skipped.',
  notOn: (days: string): string => `Not on: ${days}`,
  snoozedTo: (at: string): string => `${at}, snoozed`,
  snoozedHeld: (at: string): string => `${at}, snoozed, if resumed before`,
  why: (name: Rich): Rich => say`Why, for ${name}`,
  whyRun: (number: number): string => ` Run ${number}.`,
  whyNothing: 'Nothing was due then.',
  whyMore: (number: number, date: string): Rich =>
    say`There is more. Ask about a shorter time: ${code(`/why #${number} ${date}`)}`,
  whyUnread: (): Rich =>
    lines('I did not understand when. For example:', code('last friday'), code('this morning'), code('27 nov 16:00')),
} as const;

/** Answers to words that were not understood, or that are no commands. */
export const replyTexts = {
  /** Words that people take for commands; `task` is the one that they named, with a space before it, or nothing. */
  synonyms: {
    restore: (task: string): Rich =>
      say`${code(`/undo${task}`)} brings back a task that was deleted in the last 24 hours.`,
    unskip: (task: string): Rich => say`${code(`/undo${task}`)} brings back a skipped run.`,
    quiet: (): Rich => say`${code('/settings quiet 22:00-07:00')} sets the quiet hours of this chat.`,
    stop: (task: string): Rich =>
      say`${code(`/pause${task}`)} stops a task until it is resumed, and ${code(`/delete${task}`)} for good.`,
  } as Readonly<Record<string, (task: string) => Rich>>,
  doneWhich: 'Which one is done?',
  doneHow: 'Reply “done” to the message, or write it in the topic of the task.',
  nothingOpen: (name: Rich): Rich => say`${name} is not waiting for Done.`,
  neverRan: (name: Rich): Rich => say`${name} has not run yet, so there is nothing to mark as done.`,
  notDoneBefore: (name: Rich): Rich => say`Nobody said that ${name} is done, so nothing changed.`,
  welcome: 'You are welcome.',
  welcomeOpen: (name: Rich): Rich => say`You are welcome. ${name} is still open: say ${code('done')} when it is done.`,
  delete: (name: Rich): Rich => say`Delete ${name}? You can undo that for 24 hours.`,
  stop: (name: Rich): Rich => say`Pause ${name}, or delete it? You can undo a deletion for 24 hours.`,
  retimeHow: (name: Rich, when: string): Rich =>
    say`To change when ${name} comes, say ${code(`edit ${oneLine(when, 100)}`)}.`,
  noTask: 'I do not know which task you mean, so I did nothing. /help shows what you can say.',
  talk: (name: Rich): Rich =>
    lines(
      say`In this topic I read a few words, and they mean ${name}:`,
      say`${code('done')}, ${code('in 2 hours')}, ${code('tomorrow 9')}, ${code('skip')}, ${code('pause')}, ${code('why')}`,
      'For anything else, reply to me.',
    ),
  hint: (name: Rich): Rich =>
    lines(
      say`I do not understand that about ${name}. You can say:`,
      say`${code('done')}, ${code('not yet')}, ${code('in 2 hours')}, ${code('tomorrow 9')}, ${code('skip')}, ${code('again')}`,
      say`${code('pause')}, ${code('resume')}, ${code('edit 18:00')}, ${code('why?')}, ${code('next')}, ${code('delete')}`,
    ),
} as const;

/** Something that somebody did. `detail` is what was changed, or when the run was to be. */
interface Deed {
  readonly by: string;
  readonly name: Rich;
  readonly detail: string;
  readonly at: string;
}

export const undoTexts = {
  undone: (what: Rich): Rich => say`Undone: ${what}.`,
  /** Deeds, as the sentences around them tell them. */
  deeds: {
    edit: ({ by, name, detail, at }: Deed): Rich => say`${at}, ${by} changed ${detail} of ${name}`,
    pause: ({ by, name, at }: Deed): Rich => say`${at}, ${by} paused ${name}`,
    resume: ({ by, name, at }: Deed): Rich => say`${at}, ${by} resumed ${name}`,
    delete: ({ by, name, at }: Deed): Rich => say`${at}, ${by} deleted ${name}`,
    restore: ({ by, name, at }: Deed): Rich => say`${at}, ${by} restored ${name}`,
    skip: ({ by, name, detail, at }: Deed): Rich => say`${at}, ${by} skipped ${name} on ${detail}`,
    unskip: ({ by, name, detail, at }: Deed): Rich => say`${at}, ${by} brought back ${name} on ${detail}`,
    snooze: ({ by, name, detail, at }: Deed): Rich => say`${at}, ${by} snoozed ${name} to ${detail}`,
  } as Readonly<Record<string, (deed: Deed) => Rich>>,
  fields: {
    schedule: 'the time',
    instructions: 'the text',
    title: 'the title',
    policies: 'the settings',
    tags: 'the tags',
    action: 'what it does',
    subject: 'the subject',
    grant_expires_at: 'the end of the right',
  } as Readonly<Record<string, string>>,
  anything: 'something',
  and: (fields: readonly string[]): string => and(fields),
  together: (count: number, left: number): Rich =>
    lines(
      plural(count, { one: 'Undone for {n} task.', other: 'Undone for {n} tasks.' }),
      left === 0 ? null : plural(left, { one: '{n} task stays as it is.', other: '{n} tasks stay as they are.' }),
    ),
  made: (name: Rich, at: string): Rich => say`Your last change here made ${name}, ${at}. Undoing it deletes the task.`,
  unchanged: (name: Rich, at: string): Rich =>
    say`${name} was made ${at}, and nothing was changed since. Undoing that deletes the task.`,
  delete: (number: number): string => `Delete #${number}`,
  before: (what: Rich): Rich => say`That was already undone: ${what}. Nothing changed now.`,
  over: (what: Rich): Rich => say`There is nothing left to undo: ${what}.`,
  beforeWord: 'Already undone',
  overWord: 'Nothing left to undo',
  none: (): Rich =>
    lines(
      'You made no change here in the last 24 hours that I can undo.',
      say`I cannot undo runs and messages. ${code('/undo #3')} undoes the last change of that task.`,
    ),
} as const;

export const pickTexts = {
  pick: 'Pick…',
  day: (name: Rich): Rich =>
    say`On which day should ${name} come again? Press one, or reply with a time: ${code('tomorrow 9')}`,
  hour: (name: Rich, day: string): Rich =>
    say`At what time on ${day} should ${name} come again? Press one, or reply with a time.`,
  toast: 'Press one, or reply with a time: tomorrow 9',
  today: 'Today',
  tomorrow: 'Tomorrow',
  untilTomorrow: 'Until tomorrow',
  untilMonday: 'Until Monday',
  pauseDay: (name: Rich): Rich => say`Until which day should I pause ${name}?`,
  over: 'That day has passed. Choose another one.',
} as const;

const moreOf = (count: number): string | null => (count === 0 ? null : `and ${number(count)} more`);
export const agendaTexts = {
  day: 'The next 24 hours',
  week: 'The next 7 days',
  toWeek: 'Next 7 days',
  toDay: 'Next 24 hours',
  none: 'Nothing is planned.',
  row: (at: string, name: Rich): Rich => say`${at} ${name}`,
  snoozed: (at: string, name: Rich): Rich => say`${at} ${name}, snoozed`,
  many: (from: string, name: Rich, words: string): Rich => say`${from} ${name} (${words})`,
  more: (number: number): Rich => say`There is more. ${code(`/next #${number}`)} shows one task.`,
  paused: (which: readonly Rich[], more: number): Rich => lines('Paused:', ...which, moreOf(more)),
  pausedOne: (name: Rich, until: string | null): Rich => (until === null ? name : say`${name}, until ${until}`),
  noRight: (which: readonly Rich[], more: number): Rich =>
    lines('⚠️ May not run until somebody renews its right (/grants):', ...which, moreOf(more)),
} as const;
