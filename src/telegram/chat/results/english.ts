import { contextBytesMax } from '../../../domain/limits.ts';
import type { Obstacle } from '../../../domain/occurrence.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { BlockedCause, DowntimeCause, MediaKind } from '../../../domain/shown.ts';
import { mediaWords, withArticle } from '../kit/english.ts';
import { blocks, bold, italic, lines, pre, say, shortened, oneLine, type Rich, quote } from '../kit/rich.ts';

const { number, plural } = englishForms;

const errorShownMax = 600;

export const privateTopics = (bot: string): string =>
  `Open BotFather’s Mini App, then My bots, ${bot}, Bot Settings, Threads Settings, and switch Threaded Mode on.`;
export const groupTopics = 'Open the group’s settings and switch Topics on.';
export const groupRight = 'Open the group’s administrators, choose this bot, and allow “Manage topics”.';

/** Words for the kind of chat, where that is known. */
const topicsOffTodo = {
  group: groupTopics,
  private: `This bot’s owner can switch them on: ${privateTopics('this bot')}`,
  unknown: `In a group: ${groupTopics} In a private chat the bot’s owner can switch them on: ${privateTopics('this bot')}`,
} as const;

const causes: Readonly<Record<BlockedCause, { readonly what: string; readonly todo: string }>> = {
  topics_off: { what: 'topics are off here.', todo: topicsOffTodo.unknown },
  no_topic_right: { what: 'I may not manage topics in this group.', todo: groupRight },
  topic_closed: {
    what: 'its topic is closed, and I may not write there.',
    todo: 'Reopen the topic, or allow me “Manage topics”.',
  },
  no_write_right: { what: 'I may not write in this chat.', todo: 'Allow me to send messages here.' },
  chat_gone: { what: 'I was removed from this chat, or blocked.', todo: 'Add me again, or unblock me.' },
  topic_in_doubt: {
    what: 'I asked Telegram for its topic and got no answer, so I do not know whether it exists.',
    todo: 'If there is an empty topic with its name, delete it. Then press Retry, and I will make a new one.',
  },
  topic_gone: {
    what: 'somebody deleted its topic soon after I made it.',
    todo: 'I will make it again within the hour. Please leave it there.',
  },
  topic_astray: {
    what: 'Telegram does not show my messages in its topic, nor in a new one.',
    todo: 'This is a fault of Telegram. I delete what lands elsewhere.',
  },
  other: { what: 'Telegram refuses it.', todo: 'See the error below.' },
};

export const noticeTexts = {
  failed: (name: Rich): Rich => say`${bold('Failed:')} ${name}`,
  dueAt: (at: string, zone: string): string => `Due ${at} (${zone})`,
  byHand: 'Started by hand',
  attempts: (count: number): string => plural(count, { one: 'Tried once', other: 'Tried {n} times' }),
  error: (error: string): Rich => pre(shortened(error.trim() || 'no error text', errorShownMax)),
  errorCut: 'The error is longer: press Show error.',
  /** The state of the matter of a word, in the line below it. */
  over: {
    resumed: (name: string, at: string): string => `Resumed by ${name}, ${at}`,
    goesOn: 'No longer paused',
    notAsked: 'Over: nobody needs to answer this any more',
    deleted: 'Deleted',
    nothingWaits: 'Over: nothing is waiting any more',
    atHome: 'Over: results arrive in the topic again',
    renamed: 'Done: the topic has its new name',
    settled: 'Settled',
    mayRun: 'Over: it can run again',
    secretsChanged: 'Over: a secret has been set since',
    goesOnRight: 'Over: its right to run holds for longer',
    grantTaken: 'Over: somebody took back its right to run',
    grantEnded: 'Over: its right to run has ended',
    pinned: 'Done: cards are pinned',
    worksAgain: 'Over: it works again',
    backThere: 'Over: I am back there',
  },
  nextTry: (at: string): string => `Next run planned: ${at}`,
  recovered: (name: Rich, since: string, failures: number): Rich =>
    say`${bold('Works again:')} ${name}. ${plural(failures, { one: `It failed once, ${since}.`, other: `It failed {n} times since ${since}.` })}`,
  /** `isAmong`: it has run beside them too, by hand or before it was given that many. */
  completed: (name: Rich, runs: number, isAmong: boolean): Rich =>
    isAmong
      ? say`${bold('Finished:')} ${name}. ${plural(runs, { one: 'That was its last planned run.', other: 'That was the last of its {n} planned runs.' })}`
      : say`${bold('Finished:')} ${name}. ${plural(runs, { one: 'That was its only run.', other: 'That was the last of its {n} runs.' })}`,
  contextLeft: (name: Rich, size: number): Rich =>
    size > contextBytesMax
      ? say`${bold('Context too large:')} ${name} keeps its previous context, because a run left ${number(size)} bytes. The limit is ${number(contextBytesMax)}: let it keep less.`
      : say`${bold('Your context stays:')} ${name} got another context during a run. What the run left is in its output.`,
  autoPaused: (name: Rich, failures: number): Rich =>
    say`${bold('Paused:')} ${name}. ${plural(failures, { one: 'Its last run failed.', other: 'Its last {n} runs failed.' })}`,
  autoPausedOther: (name: Rich): Rich => say`${bold('Paused:')} ${name}.`,
  pauseReasons: {
    chat_gone: 'I could not reach this chat.',
    harmful_template: 'Its template takes too long or too much memory. Make it simpler.',
  } as Readonly<Record<string, string>>,
  autoPausedTodo: 'It stays paused until somebody presses Resume.',
  blocked: (name: Rich | null, cause: BlockedCause): Rich =>
    say`${bold('A result waits:')} I cannot show ${name ?? 'it'}, because ${causes[cause].what}`,
  fallback: (name: Rich | null, cause: BlockedCause): Rich =>
    say`${bold('Shown here:')} I cannot show ${name ?? 'a task'} in its topic, because ${causes[cause].what}`,
  blockedTodo: (cause: BlockedCause, kind: keyof typeof topicsOffTodo): string => {
    const todo = cause === 'topics_off' ? topicsOffTodo[kind] : causes[cause].todo;
    // Whether a topic was made only a person can tell.
    return cause === 'topic_in_doubt' ? todo : `${todo} I check again by myself. Retry checks now.`;
  },
  inDoubt: (name: Rich | null, at: string): Rich =>
    blocks(
      name === null
        ? say`${bold('Did it arrive?')} Telegram did not answer when I sent a message at ${at}.`
        : say`${bold('Did it arrive?')} Telegram did not answer when I sent a message of ${name} at ${at}.`,
      'Is it above? Press what is true.',
    ),
  topicRemade: (name: Rich | null, isAstray: boolean): Rich =>
    isAstray
      ? say`Telegram did not show a message in the topic of ${name ?? 'this task'}, so I made a new topic. I removed what landed elsewhere.`
      : say`Somebody deleted the topic of ${name ?? 'this task'}, so I made it again. To stop the task, press Pause or Delete on its card.`,
  sharedRemade: (isAstray: boolean): string =>
    isAstray
      ? 'Telegram did not show a message in the topic Reminders, so I made a new topic. I removed what landed elsewhere.'
      : 'Somebody deleted the topic Reminders, so I made it again. /settings one-offs apart gives each one-off a topic of its own.',
  notRenamed: (name: Rich | null, cause: BlockedCause): Rich =>
    say`I could not rename this topic to ${name ?? 'its new name'}, because ${causes[cause].what} I will try again every ten minutes for a day.`,
  notPinned: 'I may not pin messages here, so the card above is not pinned. To see it on top, allow me “Pin messages”.',
  downtime: (from: string, to: string, zone: string, cause?: DowntimeCause | null): Rich =>
    say`${bold(cause === 'database' ? 'I could not write to my database' : 'I was down')} from ${from} until ${to} (${zone}).`,
  downtimeCounts: (counts: {
    readonly late: number;
    readonly missed: number;
    readonly asked: number;
    readonly skipped: number;
  }): string => {
    const parts = [
      counts.late > 0 ? `${counts.late} run late` : null,
      counts.missed > 0 ? `${counts.missed} missed` : null,
      counts.asked > 0 ? `${counts.asked} asked about` : null,
      counts.skipped > 0 ? `${counts.skipped} skipped, as their tasks say` : null,
    ].filter((part) => part !== null);
    return parts.length === 0 ? 'No run was due in that time.' : `Runs: ${parts.join(', ')}.`;
  },
  downtimeTasks: (names: readonly Rich[], more: number): Rich => lines(...names, more > 0 ? `and ${more} more` : null),
  downtimeWhy: '/why explains each of them.',
  backlog: (waiting: string, since: string, zone: string): Rich =>
    say`${bold(`${waiting} results are waiting`)}, the oldest from ${since} (${zone}). Telegram takes about 20 messages a minute for a group, so they come one by one. Nothing is lost.`,
  chatGone: (title: string, paused: number, cause: string): Rich =>
    blocks(
      say`${bold('A chat is gone:')} I cannot reach ${oneLine(title, 80)} any more (${oneLine(cause, 200)}).`,
      paused === 0
        ? 'No active task was there.'
        : plural(paused, {
            one: 'I paused {n} task there. When I am back, send /resume all there.',
            other: 'I paused {n} tasks there. When I am back, send /resume all there.',
          }),
    ),
  chatBack: (paused: number): Rich =>
    blocks(
      bold('I am back.'),
      paused === 0
        ? null
        : plural(paused, {
            one: 'I paused one task while I was away. /resume all resumes it.',
            other: 'I paused {n} tasks while I was away. /tasks paused shows them, /resume all resumes them.',
          }),
    ),
  errorOf: (name: Rich): Rich => say`The error of ${name}:`,
  noError: 'There is no error to show.',
} as const;

/** Trouble of the product itself. */
export const alarmTexts = {
  over: (at: string): Rich => bold(`Over since ${at}.`),
  database: (since: string): Rich => say`${bold('My database cannot be used')} since ${since}.`,
  disk: (since: string): Rich => say`${bold('The disk of my database is full')} since ${since}.`,
  nothingLost: 'Nothing is lost: what comes due meanwhile is decided when I can work again.',
  clock: (by: string, to: string, moved: number): Rich =>
    blocks(
      say`${bold('The clock of my computer was set back')} by ${by}, to ${to}.`,
      moved === 0
        ? 'No task had to be planned again.'
        : plural(moved, {
            one: 'I planned one task again by the new time.',
            other: 'I planned {n} tasks again by the new time.',
          }),
      'Nothing runs twice, and nothing is left without its run.',
    ),
  chatsTold: 'I told each chat that lost something. cronogram downtimes lists them all.',
  audit: (at: string): Rich => say`${bold('My audit found a fault')}, ${at}.`,
  finding: (sentence: string, count: number): string =>
    count === 1 ? sentence : plural(count, { other: `${sentence} ({n} times)` }),
  auditTodo: (mended: boolean): string =>
    mended
      ? 'cronogram audit --run shows where. cronogram reconcile --fix repairs it. Please report it.'
      : 'cronogram audit --run shows where. Please report it.',
  autoPause: (count: number, since: string): Rich =>
    say`${bold(plural(count, { one: 'I paused a task', other: 'I paused {n} tasks' }))} after too many failures in a row, ${since}:`,
  autoPauseTodo: '/history shows the error. Fix it, then press Resume on the card or run cronogram task resume.',
  differ: (name: Rich): Rich =>
    say`${bold('Two calculations differ')} about when ${name} runs next. I calculate each schedule with two programs.`,
  slotsOf: (program: string, slots: string): string => `${program}: ${slots === '' ? 'no more runs' : slots}`,
  slotsZone: (zone: string): string => `Zone: ${zone}`,
  differTodo:
    'The task runs as Cronogram says. Please check which is right and report it. cronogram audit --run shows more.',
} as const;

const quoteMax = 300;
const approvalQuoteMax = 3000;

/** Words about results to confirm, to decide or to approve. */
export const reminderTexts = {
  done: 'Done',
  /** A Done ends the snooze of its result. */
  doneForGood: (at: string): string => `Done, and it will not come again ${at}`,
  doneBy: (name: string, at: string): string => `Done by ${name}, ${at}`,
  doneForGoodBy: (name: string, at: string, again: string): string =>
    `Done by ${name}, ${at}, and it will not come again ${again}`,
  doneBefore: (name: string, at: string): string => `${name} already did it: ${at}`,
  notDone: 'Not done yet',
  notDoneOnly: (name: string): string => `Only ${name} or an admin can undo that.`,
  quote: (text: string): Rich => quote(shortened(text, quoteMax)),

  stillOpen: (name: Rich, due: string, { nag, of }: { readonly nag: number; readonly of: number }): Rich =>
    say`${bold('Not done yet:')} ${name} (due ${due}, reminder ${nag} of ${of})`,
  gaveUp: (times: string): string =>
    `Nobody said Done after ${times}, so I stop asking. You can still press Done above.`,
  gaveUpTold: (times: string, told: string): string =>
    `Nobody said Done after ${times}, so I stop asking and have told ${oneLine(told, 40)}. You can still press Done above.`,
  gaveUpOver: (times: string): string => `Nobody said Done after ${times}.`,
  theGroup: 'the group',
  escalated: (name: Rich, due: string, times: string): Rich =>
    say`${bold('Not done:')} ${name} was due ${due}. Nobody said Done after ${times}.`,
  escalatedOwner: (owner: string): string => `${oneLine(owner, 40)}, it is your task.`,
  escalatedIn: (chat: string): string => `It is in ${oneLine(chat, 80)}.`,
  times: (count: number): string => plural(count, { one: 'one reminder', other: '{n} reminders' }),

  missedOne: (name: Rich, at: string, zone: string): Rich =>
    say`${bold('Missed:')} ${name}, due ${at} (${zone}), because I was down. Should I run it now?`,
  missedMany: (
    name: Rich,
    told: { readonly count: number; readonly from: string; readonly to: string; readonly zone: string },
  ): Rich =>
    say`${bold('Missed:')} ${told.count} runs of ${name}, due from ${told.from} to ${told.to} (${told.zone}), because I was down. Which of them should I run now?`,
  missedUntil: (until: string): string => `If nobody answers by ${until}, I run none of them.`,
  missedUntilOne: (until: string): string => `If nobody answers by ${until}, I do not run it.`,
  missedDecided: {
    latest: (name: string): string => `${name}: run the latest`,
    all: (name: string): string => `${name}: run all of them`,
    none: (name: string): string => `${name}: run none of them`,
  },
  missedWord: { latest: 'Running it now', all: 'Running them now', none: 'Skipped' },
  missedOver: 'Nobody answered in time, so I ran none of them.',

  approval: (name: Rich, mediaKind: MediaKind | undefined): Rich =>
    mediaKind === undefined
      ? say`${bold('For approval:')} ${name} wants to send this.`
      : say`${bold('For approval:')} ${name} wants to send this, with ${withArticle(mediaWords[mediaKind])}.`,
  approvalUntil: (until: string, isGroup: boolean): string =>
    isGroup
      ? `An admin can deliver it. If nobody does by ${until}, I discard it.`
      : `If you do not deliver it by ${until}, I discard it.`,
  effect: (name: Rich): Rich => say`${bold('For approval:')} ${name} wants to do this.`,
  effectUntil: (until: string, isGroup: boolean): string =>
    isGroup
      ? `An admin can let it. If nobody does by ${until}, I do not do it.`
      : `If you do not let it by ${until}, I do not do it.`,
  effectAllowed: (name: string, at: string): string => `Allowed by ${name}, ${at}`,
  effectRefused: (name: string, at: string): string => `Not done: ${name} discarded it, ${at}`,
  effectAllowedWord: 'Allowed: I do it now',
  effectNoRight: 'Allowed, but it cannot be done: the task has no right to run any more. /grants renews it.',
  effectExpired: 'Nobody approved it in time, so I did not do it.',
  approvalQuote: (text: string): Rich => quote(shortened(text.trim() || '(no text)', approvalQuoteMax)),
  approved: (name: string, at: string): string => `Delivered by ${name}, ${at}`,
  discarded: (name: string, at: string): string => `Discarded by ${name}, ${at}`,
  approvedWord: 'Sent',
  discardedWord: 'Discarded',
  approvalExpired: 'Nobody approved it in time, so I discarded it.',

  mayNotRun: (name: Rich, reason: Obstacle, kind: string): Rich =>
    say`${bold('Skipped:')} ${name} cannot run, because ${mayNotBecause(reason, kind)} I skip its next runs too, and tell you only once.`,
  mayNotRunError: (error: string): Rich => say`What is missing: ${italic(oneLine(error, 300))}`,
  secretError: (error: string): Rich => italic(oneLine(error, 300)),
  mayNotRunTodo: (who: string | null): string =>
    who === null
      ? 'Press Renew to let it run again.'
      : `To let it run again, ${who} can press Renew, and then owns the task.`,
  grantEnds: (name: Rich, at: string): Rich =>
    say`${bold('Ends soon:')} the right of ${name} to run ends ${at}. From then on I skip its runs.`,
  grantEndsTodo: (who: string | null): string =>
    who === null ? 'Press Renew to let it go on.' : `To let it go on, ${who} can press Renew, and then owns the task.`,
  mayNotRunNow: (name: string, reason: Obstacle, kind: string): string =>
    `${name} cannot run, because ${mayNotBecause(reason, kind)}`,
  waitsForOwner: (name: string): string => `${name} cannot run, because its owner has left this chat.`,
  whoRenews: 'The person who renews it owns it then.',
  ownerOrAdmin: (owner: string | null): string =>
    owner === null ? 'its owner or an admin' : `${oneLine(owner, 40)} or an admin`,
  ownerGone: (name: string | null, tasks: number): Rich => {
    const who = name === null ? 'The owner of a task here' : oneLine(name, 40);
    return blocks(
      say`${bold(`${who} has left this chat.`)} ${plural(tasks, { one: 'Their task here stops at its next run. It resumes by itself when its owner is back.', other: 'Their {n} tasks here stop, each at its next run. They resume by themselves when their owner is back.' })}`,
      'To let them run now, an admin can press Renew, and then owns them.',
    );
  },
  renewedBy: (name: string, tasks: number): string =>
    `Renewed by ${name}, who owns ${plural(tasks, { one: 'it', other: 'these {n} tasks' })} now`,
  renewedBefore: 'Already renewed: it can run',

  button: {
    notDone: 'Not done yet',
    open: 'Open it',
    runIt: 'Run it',
    runLatest: 'Run the latest',
    runAll: (count: number): string => `Run all ${count}`,
    skip: 'Skip',
    deliver: 'Deliver',
    doIt: 'Do it',
    discard: 'Discard',
    renew: 'Renew',
  },
} as const;

function mayNotBecause(reason: Obstacle, kind: string): string {
  if (reason === 'gone_kind') return `I no longer know its action (${oneLine(kind, 40)}).`;
  if (reason === 'grant_expired') return 'its right to run has expired.';
  if (reason === 'grant_scope') return 'its right to run does not cover what it does.';
  if (reason === 'secret_missing') return 'a secret that it names is not there.';
  if (reason === 'secret_host') return 'a secret that it names must not go where it calls.';
  return 'somebody took back its right to run.';
}
