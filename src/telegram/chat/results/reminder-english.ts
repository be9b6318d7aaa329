import type { GrantFault } from '../../../domain/grant.ts';
import type { MediaKind } from '../../../domain/shown.ts';
import { mediaWords } from '../kit/english-out.ts';
import { bold, oneLine, quote, say, shortened, type Rich } from '../kit/rich.ts';

const quoteMax = 300;
const approvalQuoteMax = 3000;

/** What has to be confirmed, decided or approved. */
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

  mayNotRun: (name: Rich, reason: GrantFault, hasLeft: boolean): Rich =>
    say`${bold('Not run:')} ${name} was left out, because ${mayNotBecause(reason, hasLeft)} Its runs are left out until that is mended; I tell you this once.`,

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
  },
} as const;

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function mayNotBecause(reason: GrantFault, hasLeft: boolean): string {
  if (hasLeft) return 'its owner is not in this chat any more.';
  if (reason === 'grant_expired') return 'its right to run has expired.';
  if (reason === 'grant_scope') return 'its right to run does not cover what it does.';
  return 'its right to run was taken back.';
}
