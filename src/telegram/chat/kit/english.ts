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
  next_unknown: 'This task is running now. Its next run is known when this one ends: skip it then.',
  no_change: 'There is nothing to undo. Runs and changes from more than 24 hours ago stay as they are.',
  change_old: 'That was more than 24 hours ago, so I cannot undo it. Change it by hand.',
  deleted_long_ago: 'This task was deleted more than 24 hours ago. Make a new one with /new.',
  unreadable: 'I cannot read this task any more. Give it a new time, or delete it.',
  rate_limited: 'This task was started too often within one second. Try again.',
  run_in_progress: 'This task is running now. Wait until it ends, or stop it with /cancel.',
  no_task: 'This run belongs to no task. Send its text again instead.',
  run_succeeded: 'This run succeeded, so there is nothing to retry. Press Run again to repeat it.',
  nothing_to_answer: 'This was answered already.',
};

export const chatTexts = {
  greeting: (name: string): Rich =>
    say`Hello ${name}. I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.`,
  claimed: 'You are the owner of this bot now. Only you, and whoever you let in, can use it.',
  helloGroup:
    'Hello! I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.',
  notApproved: 'Only owners may use me here so far. /allow lets the members of this chat in.',
  tryNew: (): Rich => say`Now try: ${code('/new every weekday at 9:00 Stand up')}`,
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
  zoneKept: 'Tasks that exist keep their own zone; /edit #3 zone changes it.',
  zoneYes: (zone: string): string => `Good: ${zone}`,
  zoneOffset: (): Rich =>
    say`An offset such as +2 is not a time zone, because clocks change in summer. Write a city, such as ${code('/tz Madrid')}, or press one:`,
  zoneUnknown: (zone: string): Rich =>
    say`I do not know a time zone called ${italic(oneLine(zone, 40))}. Write a larger city nearby, or press one:`,
  zoneSeveral: (zone: string): Rich => say`Which ${italic(oneLine(zone, 40))} do you mean?`,
  zoneByClock: (clock: string): Rich => say`It is ${clock} in these places now. Press yours:`,
  zoneNoClock: (clock: string): Rich => say`It is ${clock} nowhere that I know of. Write a city: ${code('/tz Madrid')}`,
  theApi: 'the API',
  somebody: 'somebody',
  noSuchTask: 'There is no such task here.',
  gone: 'This task is not there any more.',
  oldButton: 'This button is from another time. Here is how things stand now.',
  unknownCommand: (name: string, nearest: string | null): Rich =>
    nearest === null
      ? say`I do not know ${code(`/${oneLine(name, 32)}`)}. /help shows what I know.`
      : say`I do not know ${code(`/${oneLine(name, 32)}`)}. Did you mean /${nearest}?`,
  allowed: (id: string): string => `Approved. The members of the chat ${id} may use me there now.`,
  allowedGroup: 'This group is approved now. Members may use me here.',
  allowedUser: (id: string): string =>
    `Approved. The person with the id ${id} may use me in their private chat now, and begins there with /start.`,
  allowedBefore: 'That was approved before.',
  allowNotHere: 'That is no id: an id is a number, such as 123456789.',
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
  startedWaits: (name: Rich): Rich =>
    say`Started ${name}. Its result waits, because its topic cannot be made here. See /start.`,
  waitsTurn: (name: string): string => `${name} is running now. This run waits, and starts when that one has ended.`,
  takesOver: (name: string): string => `${name} was running. I stop that run, and this one starts when it has ended.`,
  startedHere: (name: Rich): Rich => say`Started ${name}.`,
  paused: (name: Rich, until: string | null, zone: string): Rich =>
    say`Paused ${name}${until === null ? '' : ` until ${until} (${zone})`}.`,
  pausedBefore: (name: Rich, { since, by, until }: PausedBefore): Rich =>
    say`${name} is paused already${since === null ? '' : `, since ${since}`}${by === null ? '' : ` by ${by}`}, ${until === null ? 'until somebody resumes it' : `until ${until}`}.`,
  notPausable: (name: Rich): Rich => say`${name} is completed, so there is nothing to pause.`,
  goesOn: (name: Rich): Rich => say`${name} goes on.`,
  leftOut: (name: Rich, at: string, zone: string): Rich => say`Left out of ${name}: ${at} (${zone}).`,
  leftOutNext: (words: Rich, next: string): Rich => lines(words, next),
  andMore: (first: string, count: number, last: string): string => `${first} and ${count} more, the last ${last}`,
  leftOutWord: (at: string): string => `Left out: ${at}`,
  skippedBefore: 'That run was skipped already',
  skipHow: (max: number, number: number): Rich =>
    lines(
      `I cannot read which runs to leave out: a number from 1 to ${max}, or a day. These can be read:`,
      code(`/skip #${number} 2`),
      code(`/skip #${number} friday`),
    ),
  snoozed: (name: Rich, at: string, zone: string): Rich => say`Snoozed: ${name} comes again ${at} (${zone}).`,
  snoozeMoved: (name: Rich, when: { readonly at: string; readonly before: string; readonly zone: string }): Rich =>
    say`Snoozed again: ${name} comes ${when.at} (${when.zone}) instead of ${when.before}.`,
  snoozedToo: (times: string): string => `Also snoozed to ${times}.`,
  snoozesHeld: (times: string): string => `Snoozed to ${times}: that comes only if resumed before.`,
  snoozesPassed: (times: string, count: number): string =>
    `${count === 1 ? 'This snooze' : 'These snoozes'} passed while it was paused: ${times}.`,
  snoozeHow: (number: number): Rich =>
    lines(
      'I cannot read that as a moment. These can be read:',
      code(`/snooze #${number} 10 min`),
      code(`/snooze #${number} 2 hours`),
      code(`/snooze #${number} tomorrow at 9`),
    ),
  snoozeFor: (name: Rich): Rich => say`Until when shall ${name} wait?`,
  /** `which` is a task with its sign, or all of them. */
  untilHow: (which: string): Rich =>
    lines(
      'I cannot read until when. These can be read:',
      code(`/pause ${which} until friday at 9:00`),
      code(`/pause ${which} for 2 hours`),
    ),
  deleted: (name: Rich): Rich => say`Deleted ${name}. It can be brought back within 24 hours.`,
  isDeleted: (name: Rich): Rich => say`${name} is deleted. It can still be brought back.`,
  cancelledRun: (name: Rich): Rich => say`Stopping what ${name} runs now.`,
  nothingRuns: (name: Rich): Rich => say`Nothing of ${name} runs at the moment.`,
  nothingToCancel: 'There is nothing to cancel here: no draft is open, and no task is named. /cancel #3 stops a run.',
  pausedAll: (count: number, left: number, until: string | null): string =>
    count + left === 0 ? 'There is nothing to pause here.' : all('Paused', count, { left, until }),
  resumedAll: (count: number, left: number): string =>
    count + left === 0 ? 'There is nothing to resume here.' : all('Resumed', count, { left }),
  retried: 'Trying again',
  answerArrived: 'Noted: it arrived',
  answerResend: 'Sending it again',
  settledBefore: 'That is settled already.',
  looking: (count: number): string => (count === 0 ? 'Nothing waits any more' : 'Looking again now'),
  snoozedLine: (name: string, at: string, zone: string): string => `Snoozed by ${name}: comes again ${at} (${zone})`,
  tonightIsOver: 'That hour has passed. Choose another one.',
  settledLine: (name: string, arrived: boolean): string => `${name}: ${arrived ? 'it arrived' : 'it is sent again'}`,
  snoozedWord: (at: string): string => `Snoozed until ${at}`,
  pausedWord: 'Paused',
  resumedWord: 'Resumed',
  startedWord: 'Started',
  deletedWord: 'Deleted',
  restoredWord: 'Brought back',
  undoneWord: 'Taken back',
} as const;

function all(verb: string, count: number, { left, until = null }: { left: number; until?: string | null }): string {
  const tasks = `${count} ${count === 1 ? 'task' : 'tasks'}${until === null ? '' : ` until ${until}`}`;
  return left === 0 ? `${verb} ${tasks}.` : `${verb} ${tasks}. ${left} stayed as they are.`;
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

const errorShownMax = 300;

/** Words about what is on its way out. */
export const outTexts = {
  fileGone: (kind: MediaKind): string => `(Its ${mediaWords[kind]} is missing: Telegram does not take it any more.)`,
  topicNotRemoved: (cause: BlockedCause, error: string): Rich =>
    cause === 'no_topic_right' || cause === 'no_write_right'
      ? say`The topic is still there, because I may not delete it. Open the group’s administrators, choose this bot, and allow “Delete messages” and “Manage topics”; or delete the topic yourself.`
      : lines(
          say`The topic is still there, because Telegram refused to delete it. You can delete it yourself.`,
          pre(shortened(error, errorShownMax)),
        ),
  bundleHead: (from: string, to: string): string => `While it was quiet, ${from}–${to}:`,
  bundleHeadUntil: (to: string): string => `While it was quiet, until ${to}:`,
  bundleMore: (count: number): string => `and ${count} more`,
  messages: (count: number): string => (count === 1 ? '1 message' : `${count} messages`),
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
  groupRefused: 'Hello! I only work in groups that my owner has approved.',
  pressRefused: 'This bot is private.',
  claimWrong: 'This is not the code that the server printed at its last start.',
  claimLocked:
    'Too many wrong codes were sent. Start the server again; it prints a new code, and you can try with that.',
  postAsYourself:
    'You are posting as the group, so I cannot tell who you are. Post as yourself (turn off “Remain anonymous” in your admin rights) and send it again.',
  cannotTellWho: 'I cannot ask Telegram right now who you are in this chat. Please try again in a minute.',
  tooFast: 'That was a lot at once. Please try again in a minute.',
  /** To somebody who is not in the chat, or was denied. */
  mayNot: 'You may not use me in this chat.',
  notYours:
    'Somebody else wrote that, so I do not take it as a command. Write it yourself, or reply to it: /new tomorrow at 9 sends you its text then.',
  textOnly:
    'I can schedule texts, pictures, videos, voice messages, audio and other files, but not this. Send /help to see what I understand.',
  oldButton: 'This button is from an earlier time. Here is how things stand now.',
  storeAway: 'I cannot reach my database right now. I have kept this and will handle it as soon as I can.',
  fault: (errorId: string): string =>
    `Something went wrong on my side, and it was not your fault. Please try again. (Error ${errorId})`,
  givenUp: (errorId: string): string =>
    `Something went wrong: I tried this several times and could not do it. (Error ${errorId})`,
} as const;
