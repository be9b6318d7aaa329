import { contextBytesMax } from '../../../domain/limits.ts';
import type { Obstacle } from '../../../domain/occurrence.ts';
import type { BlockedCause, DowntimeCause, MediaKind } from '../../../domain/shown.ts';
import { mediaWords, withArticle } from '../kit/english.ts';
import { blocks, bold, lines, pre, say, shortened, oneLine, type Rich, quote } from '../kit/rich.ts';

const errorShownMax = 600;

export const privateTopics = (bot: string): string =>
  `Open BotFather’s Mini App, then My bots, ${bot}, Bot Settings, Threads Settings, and switch Threaded Mode on.`;
export const groupTopics = 'Open the group’s settings and switch Topics on.';
export const groupRight = 'Open the group’s administrators, choose this bot, and allow “Manage topics”.';

/** Words for the kind of chat, where that is known. */
const topicsOffTodo = {
  group: groupTopics,
  private: `This bot’s owner can do it: ${privateTopics('this bot')}`,
  unknown: `In a group: ${groupTopics} In a private chat the bot’s owner does it: ${privateTopics('this bot')}`,
} as const;

const causes: Readonly<Record<BlockedCause, { readonly what: string; readonly todo: string }>> = {
  topics_off: { what: 'topics are switched off here.', todo: topicsOffTodo.unknown },
  no_topic_right: { what: 'I may not manage topics in this group.', todo: groupRight },
  topic_closed: {
    what: 'its topic is closed, and I may not write there.',
    todo: 'Reopen the topic, or allow me “Manage topics”.',
  },
  no_write_right: { what: 'I may not write in this chat.', todo: 'Allow me to send messages here.' },
  chat_gone: { what: 'I was removed from this chat, or blocked.', todo: 'Add me again, or unblock me.' },
  topic_in_doubt: {
    what: 'I asked for its topic, and the answer was lost, so I do not know whether it was made.',
    todo: 'Look whether the topic is there; delete it if it is empty. Then press Retry, and I make a new one.',
  },
  topic_gone: {
    what: 'its topic was deleted soon after I had made it anew.',
    todo: 'Leave the topic there: I make it again within the hour.',
  },
  topic_astray: {
    what: 'Telegram does not show in its topic what I send there, nor in a new one.',
    todo: 'That is a fault of Telegram, and I take such messages back.',
  },
  other: { what: 'Telegram refuses it.', todo: 'See the error below.' },
};

export const noticeTexts = {
  failed: (name: Rich): Rich => say`${bold('Failed:')} ${name}`,
  dueAt: (at: string, zone: string): string => `Due ${at} (${zone})`,
  byHand: 'Started by hand',
  attempts: (count: number): string => (count === 1 ? 'Tried once' : `Tried ${count} times`),
  error: (error: string): Rich => pre(shortened(error.trim() || 'no error text', errorShownMax)),
  errorCut: 'The error is longer: press Show error.',
  /** What has become of the matter of a word, in the line below it. */
  over: {
    resumed: (name: string, at: string): string => `Resumed by ${name}, ${at}`,
    goesOn: 'Not paused any more',
    deleted: 'Deleted',
    nothingWaits: 'Over: nothing waits for this any more',
    atHome: 'Over: results come in the topic again',
    renamed: 'Done: the topic has its new name',
    settled: 'Settled',
  },
  nextTry: (at: string): string => `Next: ${at}`,
  recovered: (name: Rich, since: string, failures: number): Rich =>
    say`${bold('Works again:')} ${name}. It had failed ${failures === 1 ? 'once' : `${failures} times`} since ${since}.`,
  completed: (name: Rich, runs: number): Rich =>
    say`${bold('Completed:')} ${name}. That was ${runs === 1 ? 'its only run' : `the last of its ${runs} runs`}.`,
  contextLeft: (name: Rich, size: number): Rich =>
    size > contextBytesMax
      ? say`${bold('Context too large:')} ${name} keeps the one before, because a run left one of ${size.toLocaleString('en')} characters. ${contextBytesMax.toLocaleString('en')} is the most, so let it keep less.`
      : say`${bold('Your context stays:')} ${name} was given another context while a run was under way. The one that the run left is in the output of that run.`,
  autoPaused: (name: Rich, failures: number): Rich =>
    say`${bold('Paused:')} ${name}, because ${failures} ${failures === 1 ? 'run' : 'runs'} in a row failed.`,
  autoPausedOther: (name: Rich): Rich => say`${bold('Paused:')} ${name}.`,
  pauseReasons: {
    chat_gone: 'This chat could not be reached.',
    harmful_template: 'Its template would harm others.',
  } as Readonly<Record<string, string>>,
  autoPausedTodo: 'It stays paused until somebody presses Resume.',
  blocked: (name: Rich | null, cause: BlockedCause): Rich =>
    say`${bold('A result waits:')} ${name === null ? 'it' : name} cannot be shown, because ${causes[cause].what}`,
  fallback: (name: Rich | null, cause: BlockedCause): Rich =>
    say`${bold('Shown here:')} ${name ?? 'a task'} cannot be shown in its topic, because ${causes[cause].what}`,
  blockedTodo: (cause: BlockedCause, kind: keyof typeof topicsOffTodo): string => {
    const todo = cause === 'topics_off' ? topicsOffTodo[kind] : causes[cause].todo;
    // Whether a topic was made only a person can tell.
    return cause === 'topic_in_doubt' ? todo : `${todo} I look again by myself; Retry looks now.`;
  },
  inDoubt: (name: Rich | null, at: string): Rich =>
    blocks(
      say`${bold('Did it arrive?')} Telegram never answered when I sent a message${name === null ? '' : ' of '}${name ?? ''} at ${at}.`,
      'Look above, and press what is true.',
    ),
  topicRemade: (name: Rich | null, isAstray: boolean): Rich =>
    isAstray
      ? say`Telegram did not show a message in the topic of ${name ?? 'this task'}, so I made the topic anew. What stood elsewhere I took back.`
      : say`Somebody deleted the topic of ${name ?? 'this task'}, so I made it again. To stop the task, press Pause or Delete on its card.`,
  notRenamed: (name: Rich | null, cause: BlockedCause): Rich =>
    say`This topic should be called ${name ?? 'otherwise'} now and keeps its old name, because ${causes[cause].what} I try again every ten minutes, for a day.`,
  notPinned: 'I may not pin messages here, so the card above is not pinned. Allow “Pin messages” to have it on top.',
  downtime: (from: string, to: string, zone: string, cause?: DowntimeCause | null): Rich =>
    say`${bold(cause === 'database' ? 'My database could not be written' : 'I was not there')} from ${from} until ${to} (${zone}).`,
  downtimeCounts: (counts: {
    readonly late: number;
    readonly missed: number;
    readonly asked: number;
    readonly skipped: number;
  }): string => {
    const parts = [
      counts.late > 0 ? `${counts.late} made up for` : null,
      counts.missed > 0 ? `${counts.missed} missed` : null,
      counts.asked > 0 ? `${counts.asked} for you to decide` : null,
      counts.skipped > 0 ? `${counts.skipped} skipped, as their tasks say` : null,
    ].filter((part) => part !== null);
    return parts.length === 0 ? 'No run was due in that time.' : `Runs: ${parts.join(', ')}.`;
  },
  downtimeTasks: (names: readonly Rich[], more: number): Rich => lines(...names, more > 0 ? `and ${more} more` : null),
  downtimeWhy: 'Ask /why for the truth about each of them.',
  backlog: (waiting: string, since: string, zone: string): Rich =>
    say`${bold(`${waiting} results are waiting`)}, the oldest from ${since} (${zone}). Telegram lets about 20 messages a minute into a group, so they come one after the other. Nothing is lost.`,
  chatGone: (title: string, paused: number, cause: string): Rich =>
    blocks(
      say`${bold('A chat is gone:')} I cannot reach ${oneLine(title, 80)} any more (${oneLine(cause, 200)}).`,
      paused === 0
        ? 'No active task was there.'
        : `${paused} ${paused === 1 ? 'task there is' : 'tasks there are'} paused. When I am back, /resume all lets them go on.`,
    ),
  chatBack: (paused: number): Rich =>
    blocks(
      bold('I am back.'),
      paused === 0
        ? null
        : `While I was away ${paused === 1 ? 'one task was' : `${paused} tasks were`} paused. /tasks paused shows them; /resume all lets them go on.`,
    ),
  errorOf: (name: Rich): Rich => say`The error of ${name}:`,
  noError: 'There is no error to show.',
} as const;

/** Trouble of the product itself. */
export const alarmTexts = {
  over: (at: string): Rich => bold(`Over since ${at}.`),
  database: (since: string): Rich => say`${bold('My database cannot be used')} since ${since}.`,
  disk: (since: string): Rich => say`${bold('The disk of my database is full')} since ${since}.`,
  nothingLost: 'No slot is lost: those that come due meanwhile are decided when I can work again.',
  clock: (by: string, to: string, moved: number): Rich =>
    blocks(
      say`${bold('The clock of my computer was set back')} by ${by}, to ${to}.`,
      `${moved === 0 ? 'No task had to be planned again.' : `${moved === 1 ? 'One task was' : `${moved} tasks were`} planned again from what the clock shows now.`} What has run does not run twice; what only the wrong clock passed over comes at its time.`,
    ),
  chatsTold: 'Each chat that lost something was told. cronogram downtimes lists them all.',
  audit: (at: string): Rich => say`${bold('My audit has found what must never be')}, ${at}.`,
  finding: (sentence: string, count: number): string => `${sentence}${count === 1 ? '' : ` (${count} times)`}`,
  auditTodo: (mended: boolean): string =>
    `cronogram audit --run tells where.${mended ? ' cronogram reconcile --fix mends it.' : ''} Please report it: it is a fault of mine.`,
  autoPause: (count: number, since: string): Rich =>
    say`${bold(count === 1 ? 'A task was paused' : `${count} tasks were paused`)} because ${count === 1 ? 'it' : 'they'} failed too often in a row, ${since}:`,
  autoPauseTodo:
    'The history tells the error. Mend that, then let them go on: Resume on the card, or cronogram task resume.',
  differ: (name: Rich): Rich =>
    say`${bold('Two calculations differ')} about when ${name} runs next. I compute each schedule twice, with different programs.`,
  slotsOf: (program: string, slots: string): string => `${program}: ${slots === '' ? 'no more runs' : slots}`,
  slotsZone: (zone: string): string => `Zone: ${zone}`,
  differTodo:
    'The task runs as Cronogram computes it. Please look which is right, and report it: one of the two has a fault. cronogram audit --run tells more.',
} as const;

const quoteMax = 300;
const approvalQuoteMax = 3000;

/** Words about results to confirm, to decide or to approve. */
export const reminderTexts = {
  done: 'Done',
  doneBy: (name: string, at: string): string => `Done by ${name}, ${at}`,
  doneBefore: (name: string, at: string): string => `${name} has done it already: ${at}`,
  notDone: 'Taken back: it is not done yet',
  notDoneOnly: (name: string): string => `Only ${name} or an admin may take that back.`,
  quote: (text: string): Rich => quote(shortened(text, quoteMax)),

  stillOpen: (name: Rich, since: string, which: string): Rich =>
    say`${bold(`Still open since ${since}:`)} ${name} (${which} reminder)`,
  gaveUp: (times: string): string =>
    `Nobody has said Done, after ${times}. I stop asking; Done can still be pressed above.`,
  gaveUpTold: (times: string, told: string): string =>
    `Nobody has said Done, after ${times}. I stop asking, and have told ${oneLine(told, 40)}. Done can still be pressed above.`,
  theGroup: 'the group',
  escalated: (name: Rich, due: string, times: string): Rich =>
    say`${bold('Not done:')} ${name} was due ${due}. Nobody has said Done, after ${times}.`,
  escalatedOwner: (owner: string): string => `${oneLine(owner, 40)}, it is your task.`,
  escalatedIn: (chat: string): string => `It is in ${oneLine(chat, 80)}.`,
  times: (count: number): string => (count === 0 ? 'no reminder' : count === 1 ? 'one reminder' : `${count} reminders`),

  missedOne: (name: Rich, at: string, zone: string): Rich =>
    say`${bold('Missed:')} ${name}, due ${at} (${zone}), because I was not there. Shall it run after all?`,
  missedMany: (
    name: Rich,
    told: { readonly count: number; readonly from: string; readonly to: string; readonly zone: string },
  ): Rich =>
    say`${bold('Missed:')} ${told.count} runs of ${name}, due from ${told.from} to ${told.to} (${told.zone}), because I was not there. Which of them shall run after all?`,
  missedUntil: (until: string): string => `Without an answer by ${until} none of them runs.`,
  missedUntilOne: (until: string): string => `Without an answer by ${until} it does not run.`,
  missedDecided: {
    latest: (name: string): string => `${name}: run the latest`,
    all: (name: string): string => `${name}: run all of them`,
    none: (name: string): string => `${name}: run none of them`,
  },
  missedWord: { latest: 'It runs now', all: 'They run now', none: 'None of them runs' },
  missedOver: 'Nobody answered in time, so none of them runs.',

  approval: (name: Rich, mediaKind: MediaKind | undefined): Rich =>
    say`${bold('For approval:')} this is what ${name} wants to show${mediaKind === undefined ? '' : `, with ${withArticle(mediaWords[mediaKind])}`}.`,
  approvalUntil: (until: string, isGroup: boolean): string =>
    `${isGroup ? 'An admin can deliver it. ' : ''}Without an answer by ${until} it is thrown away.`,
  approvalQuote: (text: string): Rich => quote(shortened(text.trim() || '(no text)', approvalQuoteMax)),
  approved: (name: string, at: string): string => `Delivered by ${name}, ${at}`,
  discarded: (name: string, at: string): string => `Discarded by ${name}, ${at}`,
  approvedWord: 'It goes out now',
  discardedWord: 'Discarded',
  approvalExpired: 'Nobody approved it in time; thrown away.',

  mayNotRun: (name: Rich, reason: Obstacle, kind: string): Rich =>
    say`${bold('Not run:')} ${name} was left out, because ${mayNotBecause(reason, kind)} So are its next runs, and I tell this once.`,
  mayNotRunTodo: (who: string | null): string =>
    `It goes on when ${who === null ? 'you press Renew' : `${who} presses Renew, whose task it is then`}.`,
  mayNotRunNow: (name: string, ...why: Parameters<typeof mayNotBecause>): string =>
    `${name} may not run, because ${mayNotBecause(...why)}`,
  waitsForOwner: (name: string): string => `${name} may not run, because its owner is not in this chat any more.`,
  whoRenews: 'Whoever renews it owns it then.',
  ownerOrAdmin: (owner: string | null): string => `${owner === null ? 'its owner' : oneLine(owner, 40)} or an admin`,
  ownerGone: (name: string | null, tasks: number): Rich => {
    const who = name === null ? 'The owner of a task here' : oneLine(name, 40);
    const [theirs, verb] = tasks === 1 ? ['task here', 'stops'] : [`${tasks} tasks here`, 'stop'];
    return blocks(
      say`${bold(`${who} is not in this chat any more,`)} so their ${theirs} ${verb}, each at its next run. They go on by themselves when their owner is back.`,
      'To have them go on now, an admin presses Renew, and owns them from then on.',
    );
  },
  renewedBy: (name: string, tasks: number): string =>
    `Renewed by ${name}, who owns ${tasks === 1 ? 'it' : `these ${tasks} tasks`} now`,
  renewedBefore: 'Nothing is left to renew: it may run',

  history: {
    done: (name: string, at: string): string => `, done by ${oneLine(name, 40)} ${at}`,
    open: (nags: number): string =>
      `, not done yet${nags === 0 ? '' : `, ${nags} ${nags === 1 ? 'reminder' : 'reminders'}`}`,
    notDone: (nags: number): string =>
      `, nobody said Done${nags === 0 ? '' : `, ${nags} ${nags === 1 ? 'reminder' : 'reminders'}`}`,
    forApproval: (at: string): string => `, waits for approval since ${at}`,
    discarded: ', discarded',
    held: (at: string): string => `, held for quiet hours until ${at}`,
  },

  button: {
    notDone: 'Not done yet',
    open: 'Open it',
    runIt: 'Run it',
    runLatest: 'Run the latest',
    runAll: (count: number): string => `Run all ${count}`,
    skip: 'Skip',
    deliver: 'Deliver',
    discard: 'Discard',
    renew: 'Renew',
  },
} as const;

function mayNotBecause(reason: Obstacle, kind: string): string {
  if (reason === 'gone_kind') return `what it does (${oneLine(kind, 40)}) is not there any more.`;
  if (reason === 'grant_expired') return 'its right to run has expired.';
  if (reason === 'grant_scope') return 'its right to run does not cover what it does.';
  return 'its right to run was taken back.';
}
