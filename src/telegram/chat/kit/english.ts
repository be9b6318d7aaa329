import type { ActionForm, ActionWords } from '../../../app/actions/form.ts';
import { forms } from '../../../app/actions/forms.ts';
import type { SecretUse } from '../../../app/ports/secrets.ts';
import { amountText, type TellableAmount } from '../../../app/words/amounts.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { BlockedCause, MediaKind } from '../../../domain/shown.ts';
import { blocks, bold, code, italic, lines, link, oneLine, say, type Rich, pre, shortened } from './rich.ts';

const { number, or, plural } = englishForms;

/** Times, beside the dates that Intl writes. */
export const clockTexts = {
  once: (day: string, clock: string): string => `once on ${day} at ${clock}`,
  ahead: {
    now: 'now',
    minutes: (count: number): string => `in ${count} min`,
    hours: (count: number): string => `in ${count} h`,
    days: (count: number): string => plural(count, { one: 'in {n} day', other: 'in {n} days' }),
  },
  ago: {
    now: 'just now',
    minutes: (count: number): string => `${count} min ago`,
    hours: (count: number): string => `${count} h ago`,
    days: (count: number): string => plural(count, { one: '{n} day ago', other: '{n} days ago' }),
  },
  long: {
    seconds: (count: number): string => `${number(count)} s`,
    minutes: (count: number): string => `${count} min`,
    hours: (count: number): string => `${count} h`,
    days: (count: number): string => plural(count, { one: '{n} day', other: '{n} days' }),
  },
} as const;

/** Rights that somebody lacks. */
export const accessTexts = {
  notTheirs: (owner: string | null): string => `Only ${owner ?? 'its owner'} or an admin may do that.`,
  adminsOnly: (names: readonly string[]): string =>
    names.length === 0
      ? 'Only an admin of this chat may do that.'
      : `Only an admin of this chat may do that. Ask ${or(names)}.`,
  ownersOnly: 'Only an owner of this bot may do that.',
} as const;

/** Refusals of the use cases, by the reason in their details, or by their code where that has one reason. */
export const refusalTexts: Readonly<Record<string, string>> = {
  no_run: 'This task has no coming run to skip.',
  no_run_then: 'This task has no run in that time to skip.',
  next_unknown: 'This task has a run that has not ended. Its next run is known when that one ends: skip it then.',
  no_change: 'There is nothing to undo. Runs and changes from more than 24 hours ago stay as they are.',
  change_old: 'That was more than 24 hours ago, so I cannot undo it. Change it by hand.',
  deleted_long_ago: 'This task was deleted more than 24 hours ago. Make a new one with /new.',
  unreadable: 'I cannot read this task any more. Give it a new time, or delete it.',
  rate_limited: 'This task was started too often within one second. Try again.',
  run_in_progress: 'This task has a run that has not ended. Wait until it ends, or stop it with /cancel.',
  no_task: 'This run belongs to no task. Send its text again instead.',
  run_succeeded: 'This run succeeded, so there is nothing to retry. Press Run again to repeat it.',
  nothing_to_answer: 'This was answered already.',
  secrets_unavailable: 'I cannot open secrets now: my operator must put their key back. `cronogram doctor` tells how.',
};

/** Actions of tasks besides sending a text. */
export const actionTexts = {
  kinds: Object.fromEntries(Object.values<ActionForm>(forms).map(({ kind, words }) => [kind, words])) as Readonly<
    Record<string, ActionWords | undefined>
  >,
  reaches: (hosts: readonly string[]): string => `Reaches ${hosts.join(', ')}`,
  usesSecrets: (use: SecretUse, names: readonly string[], host: string): string => {
    const secrets = `the ${names.length === 1 ? 'secret' : 'secrets'} ${names.join(', ')}`;
    if (use === 'sign') return `Signs calls to ${host} with ${secrets}`;
    return use === 'prove' ? `Shows ${host} a certificate by ${secrets}` : `Sends ${secrets} to ${host}`;
  },
  costs: (often: TellableAmount, per: 'day' | 'month' | 'year', month: TellableAmount): string =>
    per === 'day'
      ? `About ${amountText(often)} a day, ${amountText(month)} a month`
      : `About ${amountText(often)} a ${per}`,
  costsOnce: (amount: TellableAmount): string => amountText(amount),
  window: (attempts: number, span: string): string =>
    attempts === 1
      ? `Tried once, for up to ${span}`
      : `Tried up to ${number(attempts)} times, within about ${span} in all`,
  worst: (runs: number, amount: TellableAmount): string =>
    `After a long outage up to ${number(runs)} runs come at once: ${amountText(amount)}`,
  askWhen: (ask: string, how: string, tries: readonly string[]): Rich =>
    blocks(lines(bold(ask), `Choose, or ${how} when and what, for example:`), lines(...tries.map(code))),
  asked: (ask: string, how: string, tries: readonly string[]): Rich =>
    lines(bold(ask), `${how}, for example:`, ...tries.map(code)),
  unread: (ask: string, tries: readonly string[]): Rich => lines(ask, 'For example:', ...tries.map(code)),
  timeBehind: (words: string): string =>
    `“${oneLine(words, 60)}” looks like time, and does not go with the rest. Write the time before the address; a text begins on a new line.`,
  change: 'Change call',
  editHint: (number: number, name: string, example: string, names: readonly string[]): Rich =>
    say`What it calls: ${code(`/edit #${number} ${name} ${example}`)}, and so on with ${names.join(', ')}.`,
  lastStatus: (status: number): string => `answered ${status}`,
  test: 'Test now',
  testAsk: (brief: string): Rich =>
    lines(bold('Call it once, now?'), say`${code(shortened(brief, 200))} may change something there.`),
  testYes: 'Call it now',
  testing: 'Calling…',
  tested: (title: string, status: number | null, took: string | null): string => {
    const end = status === null ? 'done' : `answered ${status}`;
    const time = took === null ? '' : ` in ${took}`;
    return `Test of ${oneLine(title, 60)}: ${end}${time}. Nothing was made.`;
  },
  testedNothing: 'There is nothing to show: such a run sends no message.',
  testFailed: (title: string, status: number | null): Rich =>
    say`${bold('The test failed:')} ${oneLine(title, 60)}${status === null ? '' : ` answered ${status}`}. Nothing was made.`,
} as const;

export const chatTexts = {
  greeting: (name: string): Rich =>
    say`Hello ${name}. I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.`,
  claimed: 'You own this bot now. Only you and the people you approve can use it.',
  helloGroup:
    'Hello! I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.',
  notApproved: 'Only owners can use me here so far. /allow approves the members of this chat.',
  tryNew: (isPrivate: boolean): Rich =>
    say`Now try: ${code(isPrivate ? 'every weekday at 9:00 stand up' : '/new every weekday at 9:00 Stand up')}`,
  seeHelp: 'Everything else: /help',
  zoneIs: (zone: string, clock: string): string => `Times here are in ${zone}, where it is ${clock} now.`,
  zoneAsk: (zone: string, clock: string): Rich =>
    say`Times here are in ${zone}. ${bold(`Is it ${clock} for you now?`)}`,
  zoneAdmin: (zone: string): string => `Times here are in ${zone}. An admin can change that with /tz.`,
  zonePick: (): Rich =>
    blocks(
      'Which time zone is right for this chat? Press one, or write its city:',
      lines(code('/tz Madrid'), code('/tz Europe/Madrid')),
      say`Or tell me what your clock shows: ${code('/tz 14:05')}`,
    ),
  zoneSet: (zone: string, clock: string): Rich =>
    say`Times in this chat are in ${bold(zone)} now. It is ${clock} there.`,
  zoneLeft: (count: number, zone: string): string =>
    plural(count, { one: `{n} task is still in ${zone}.`, other: `{n} tasks are still in ${zone}.` }),
  zoneKept: 'Tasks that exist keep their zone.',
  zoneMove: (count: number): string => plural(count, { one: 'Move {n} task', other: 'Move {n} tasks' }),
  zoneKeep: 'Keep theirs',
  zoneNothing: 'Nothing is left to move.',
  zoneMoved: (count: number, zone: string): string =>
    `${plural(count, { one: 'Moved {n} task', other: 'Moved {n} tasks' })} to ${zone}, at the same time of day.`,
  zoneWaits: 'Waits, such as “in 2 hours”, still end at the same moment.',
  zoneSnoozed: 'Snoozes keep their moment:',
  zoneNextHead: 'Next:',
  zoneNext: (name: Rich, at: string): Rich => say`${at} ${name}`,
  zoneStayed: 'Not moved, because its time would have passed, or no run would be left:',
  zoneMoveOver: 'The zone was changed again since. /undo takes single changes back.',
  zoneMovedBack: (count: number, zone: string): string =>
    `${plural(count, { one: 'Moved {n} task', other: 'Moved {n} tasks' })} back to ${zone}.`,
  zoneYes: (zone: string): string => `Good: ${zone}`,
  zoneOffset: (): Rich =>
    say`An offset such as +2 is not a time zone, because clocks change in summer. Write a city, such as ${code('/tz Madrid')}, or press one:`,
  zoneUnknown: (zone: string): Rich =>
    say`I do not know a time zone called ${italic(oneLine(zone, 40))}. Write a larger city nearby, or press one:`,
  zoneSeveral: (zone: string): Rich => say`Which ${italic(oneLine(zone, 40))} do you mean?`,
  zoneByClock: (clock: string): Rich => say`It is ${clock} in these places now. Press yours:`,
  zoneNoClock: (clock: string): Rich =>
    say`I know no place where it is ${clock} now. Write a city: ${code('/tz Madrid')}`,
  theApi: 'the API',
  somebody: 'somebody',
  noSuchTask: 'There is no such task here.',
  gone: 'This task no longer exists.',
  oldButton: 'This button is old. Here is how things stand now.',
  unknownCommand: (name: string, nearest: string | null): Rich =>
    nearest === null
      ? say`I do not know ${code(`/${oneLine(name, 32)}`)}. /help shows what I know.`
      : say`I do not know ${code(`/${oneLine(name, 32)}`)}. Did you mean /${nearest}?`,
  allowed: (id: string): string => `Approved. The members of the chat ${id} can use me there now.`,
  allowedGroup: 'This group is approved now. Members can use me here.',
  allowedUser: (id: string): string =>
    `Approved. The person with the id ${id} can now send me /start in a private chat.`,
  allowedBefore: 'That was approved before.',
  allowNotHere: 'That is not an id. An id is a number, such as 123456789.',
} as const;

interface PausedBefore {
  readonly since: string | null;
  readonly by: string | null;
  /** With its zone; null where nobody has named an end. */
  readonly until: string | null;
}

export const deedTexts = {
  started: (name: Rich, url: string | null): Rich =>
    url === null
      ? say`Started ${name}. The result comes in its topic.`
      : say`Started ${name}. The result comes in ${link('its topic', url)}.`,
  startedShared: (name: Rich, url: string | null): Rich =>
    url === null
      ? say`Started ${name}. The result comes in Reminders.`
      : say`Started ${name}. The result comes in ${link('Reminders', url)}.`,
  startedWaits: (name: Rich): Rich =>
    say`Started ${name}. Its result waits, because I cannot make its topic here. See /start.`,
  waitsTurn: (name: string): string => `${name} has a run that has not ended. This run starts when that one ends.`,
  takesOver: (name: string): string => `${name} was running. I am stopping that run; this one starts when it ends.`,
  startedLater: (name: Rich): Rich => say`${name} will run.`,
  startedHere: (name: Rich): Rich => say`Started ${name}.`,
  paused: (name: Rich, until: string | null, zone: string): Rich =>
    until === null ? say`Paused ${name}.` : say`Paused ${name} until ${until} (${zone}).`,
  notPaused: (name: Rich): Rich => say`${name} is not paused.`,
  pausedBefore: (name: Rich, { since, by, until }: PausedBefore): Rich =>
    lines(
      since === null
        ? say`${name} is already paused.`
        : by === null
          ? say`${name} has been paused since ${since}.`
          : say`${by} paused ${name} on ${since}.`,
      until === null ? 'It stays paused until somebody resumes it.' : `It resumes ${until}.`,
    ),
  notPausable: (name: Rich): Rich => say`${name} is finished, so there is nothing to pause.`,
  goesOn: (name: Rich): Rich => say`Resumed ${name}.`,
  skipped: (name: Rich, at: string, zone: string): Rich => say`Skipped: ${name} on ${at} (${zone}).`,
  andMore: (first: string, count: number, last: string): string => `${first} and ${count} more, the last ${last}`,
  skippedWord: (at: string): string => `Skipped: ${at}`,
  skippedBefore: 'That run was skipped already',
  skipTooLate: (at: string): string => `Nothing skipped: the run of ${at} is over`,
  skipHow: (max: number, number: number): Rich =>
    lines(
      `Which runs should I skip? Send a number from 1 to ${max}, or a day. For example:`,
      code(`/skip #${number} 2`),
      code(`/skip #${number} friday`),
    ),
  /** `planned` is when it comes for the first time, where it has not run yet: that stays. */
  snoozed: (
    name: Rich,
    when: { readonly at: string; readonly zone: string; readonly hasRun: boolean; readonly planned: string | null },
  ): Rich => {
    if (when.planned !== null)
      return say`Snoozed: ${name} comes ${when.at} (${when.zone}), and ${when.planned} as planned.`;
    return when.hasRun
      ? say`Snoozed: ${name} comes again ${when.at} (${when.zone}).`
      : say`Snoozed: ${name} comes ${when.at} (${when.zone}).`;
  },
  snoozeMoved: (name: Rich, when: { readonly at: string; readonly before: string; readonly zone: string }): Rich =>
    say`Snoozed again: ${name} comes ${when.at} (${when.zone}) instead of ${when.before}.`,
  skipPaused: (name: Rich): Rich =>
    say`${name} is paused, and only the runs of an active task can be skipped. Resume it first.`,
  snoozedPaused: 'It is paused; this comes all the same.',
  snoozedToo: (times: string): string => `Also snoozed to ${times}.`,
  snoozesHeld: (times: string): string => `Snoozed to ${times}, but only if you resume it before then.`,
  snoozesHeldAll: (count: number): string =>
    plural(count, { one: 'Resume in time, or {n} snooze is lost.', other: 'Resume in time, or {n} snoozes are lost.' }),
  snoozesPassed: (times: string, count: number): string =>
    `${plural(count, { one: 'A snooze', other: '{n} snoozes' })} passed while it was paused: ${times}.`,
  snoozesPassedAll: (count: number): string =>
    plural(count, { one: 'A snooze passed during the pause:', other: '{n} snoozes passed during the pause:' }),
  snoozesPassedOf: (name: Rich, times: string): Rich => say`${name}: ${times}`,
  snoozeHow: (number: number): Rich =>
    lines(
      'I did not understand when. For example:',
      code(`/snooze #${number} 10 min`),
      code(`/snooze #${number} 2 hours`),
      code(`/snooze #${number} tomorrow at 9`),
    ),
  snoozeFor: (name: Rich): Rich => say`When should ${name} come again?`,
  /** `which` is a task with its sign, or all of them. */
  untilHow: (which: string): Rich =>
    lines(
      'I did not understand until when. For example:',
      code(`/pause ${which} until friday at 9:00`),
      code(`/pause ${which} for 2 hours`),
    ),
  deleted: (name: Rich): Rich => say`Deleted ${name}. You can undo this for 24 hours.`,
  isDeleted: (name: Rich): Rich => say`${name} is deleted. You can still undo that.`,
  noSubject: (subject: string): Rich =>
    say`No task here is for ${italic(oneLine(subject, 60))}. /tasks lists all of them, and ${code('/edit #3 subject Anna')} says whom a task is for.`,
  cancelledAll: (tasks: number): string =>
    tasks === 0
      ? 'Nothing of them is running.'
      : plural(tasks, { one: 'Stopped the run of {n} task.', other: 'Stopped the runs of {n} tasks.' }),
  cancelledRun: (name: Rich): Rich => say`Stopping the run of ${name}.`,
  nothingRuns: (name: Rich): Rich => say`${name} is not running now.`,
  nothingToCancel: 'There is nothing to cancel here. To stop a run, name its task: /cancel #3',
  pausedAll: (count: number, left: number, until: string | null): string =>
    count + left === 0
      ? 'There is nothing to pause here.'
      : lines(
          until === null
            ? plural(count, { one: 'Paused {n} task.', other: 'Paused {n} tasks.' })
            : plural(count, { one: `Paused {n} task until ${until}.`, other: `Paused {n} tasks until ${until}.` }),
          unchanged(left),
        ).text,
  resumedAll: (count: number, left: number): string =>
    count + left === 0
      ? 'There is nothing to resume here.'
      : lines(plural(count, { one: 'Resumed {n} task.', other: 'Resumed {n} tasks.' }), unchanged(left)).text,
  retried: 'Trying again',
  answerArrived: 'Noted: it arrived',
  answerResend: 'Sending it again',
  settledBefore: 'That was answered already.',
  looking: (count: number): string => (count === 0 ? 'Nothing is waiting any more' : 'Checking again now'),
  snoozedLine: (name: string, at: string, zone: string): string => `Snoozed by ${name}: comes again ${at} (${zone})`,
  tonightIsOver: 'That hour has passed. Choose another one.',
  settledLine: (name: string, arrived: boolean): string => (arrived ? `${name}: it arrived` : `${name}: sent again`),
  snoozedWord: (at: string): string => `Snoozed until ${at}`,
  pausedWord: 'Paused',
  resumedWord: 'Resumed',
  startedWord: 'Started',
  deletedWord: 'Deleted',
  restoredWord: 'Restored',
  undoneWord: 'Undone',
} as const;

function unchanged(left: number): string | null {
  return left === 0
    ? null
    : plural(left, { one: '{n} other stayed as it was.', other: '{n} others stayed as they were.' });
}

/** Names of kinds of files. */
export const mediaWords: Readonly<Record<MediaKind, string>> = {
  photo: 'photo',
  document: 'file',
  video: 'video',
  audio: 'audio file',
  voice: 'voice message',
  animation: 'animation',
};

export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

const severalFiles: Readonly<Record<MediaKind, Parameters<typeof plural>[1]>> = {
  photo: { one: '{n} photo', other: '{n} photos' },
  document: { one: '{n} file', other: '{n} files' },
  video: { one: '{n} video', other: '{n} videos' },
  audio: { one: '{n} audio file', other: '{n} audio files' },
  voice: { one: '{n} voice message', other: '{n} voice messages' },
  animation: { one: '{n} animation', other: '{n} animations' },
};

/** "a photo", "3 photos", and "3 files" where they are of several kinds. */
export function filesWords(kinds: readonly MediaKind[]): string {
  const [first = 'document', ...others] = kinds;
  if (others.length === 0) return withArticle(mediaWords[first]);
  return plural(kinds.length, severalFiles[others.every((kind) => kind === first) ? first : 'document']);
}

const errorShownMax = 300;

/** Words about what is on its way out. */
export const outTexts = {
  fileGone: (kind: MediaKind): string => `(The ${mediaWords[kind]} is missing: Telegram no longer has it.)`,
  topicNotRemoved: (cause: BlockedCause, error: string): Rich =>
    cause === 'no_topic_right' || cause === 'no_write_right'
      ? say`I could not delete the topic, because I may not. Open the group’s administrators, choose this bot, and allow “Delete messages” and “Manage topics”; or delete the topic yourself.`
      : lines(
          say`I could not delete the topic, because Telegram refused. You can delete it yourself.`,
          pre(shortened(error, errorShownMax)),
        ),
  shownToAll: 'Shown to all, because Telegram lets me answer one person alone for a few seconds only',
  bundleHead: (from: string, to: string): string => `While it was quiet, ${from}–${to}:`,
  bundleHeadUntil: (to: string): string => `While it was quiet, until ${to}:`,
  bundleMore: (count: number): string => `and ${count} more`,
  messages: (count: number): string => plural(count, { one: '{n} message', other: '{n} messages' }),
};

/** Words that intake says by itself, before or instead of a command. */
export const intakeTexts = {
  /** An owner needs the number, and hardly anybody knows their own. Which groups there are is nobody's business here. */
  strangerRefused: (userId: number): string =>
    [
      'Hello! I am a private bot, and you are not on my list yet.',
      `Ask the person who runs this bot to send me: /allow ${userId}`,
      'In a group where I am approved you can write to me right away.',
    ].join('\n'),
  /** While there is no owner, whoever writes is most likely the one who has just started the server. */
  unclaimed:
    'Hello! Nobody owns this bot yet. If it is yours, send /start and the code that the server printed when it was started: /start CODE',
  /** Anybody can add a bot to a group, so its owners are not named there. */
  groupRefused:
    'Hello! This group is not approved yet, so I cannot do that here. An owner of this bot can approve it: /allow, sent here.',
  pressRefused: 'This bot is private.',
  claimWrong: 'This is not the code that the server printed at its last start.',
  claimLocked: 'Too many wrong codes. Start the server again: it prints a new code to send.',
  postAsYourself:
    'You are posting as the group, so I cannot tell who you are. Post as yourself (turn off “Remain anonymous” in your admin rights) and send it again.',
  cannotTellWho: 'I cannot ask Telegram right now who you are in this chat. Please try again in a minute.',
  tooFast: 'That was a lot at once. Please try again in a minute.',
  /** To somebody who is not in the chat, or was denied. */
  mayNot: 'You cannot use me in this chat.',
  notYours:
    'Somebody else wrote that, so I do not take it as a command. Write it yourself, or reply to it: /new tomorrow at 9 sends its text then.',
  textOnly:
    'I can schedule texts, pictures, videos, voice messages, audio and other files, but not this. Send /help to see what I understand.',
  oldButton: 'This button is old. Here is how things stand now.',
  storeAway: 'I cannot reach my database right now. I have kept this and will handle it as soon as I can.',
  fault: (errorId: string): string =>
    `Something went wrong on my side, and it was not your fault. Please try again. (Error ${errorId})`,
  givenUp: (errorId: string): string =>
    `Something went wrong. I tried several times and could not do this. (Error ${errorId})`,
} as const;
