import { englishForms, type Translated } from '../../domain/schedule/words/forms.ts';
import { amountText, type TellableAmount } from './amounts.ts';

const { plural } = englishForms;

/** The words of a digest: the heading of each group, and a line of it. `name` is the task's sign and title. */
export const englishDigest = {
  nothing: 'There is nothing to tell right now.',
  more: (count: number): string => `and ${count} more`,
  name: (number: number, called: string): string => `#${number} ${called}`,
  heads: {
    notDone: 'Not done',
    failed: (since: string): string => `Failed since ${since}`,
    waiting: 'Waiting for you',
    coming: (until: string, zone: string): string => `Coming until ${until} (${zone})`,
    stale: 'Stale',
    snoozed: 'Snoozed',
    paused: 'Paused',
    noRight: 'Without a right to run (/grants renews it)',
    ran: 'Ran',
    used: 'Used',
  },
  notDone: (name: string, at: string): string => `${name}, ${at}`,
  failed: (name: string, count: number, why: string | null): string =>
    `${name}${times(count)}${why === null ? '' : `: ${why}`}`,
  waitsForDone: (name: string, count: number): string => `${name}: Done${times(count)}`,
  waitsForApproval: (name: string, count: number): string => `${name}: Deliver or Discard${times(count)}`,
  coming: (at: string, name: string, later: number): string =>
    later === 0
      ? `${at} ${name}`
      : `${at} ${name}${plural(later, { one: ', and {n} more time', other: ', and {n} more times' })}`,
  stale: (name: string, since: string): string => `${name}, since ${since}`,
  snoozed: (at: string, name: string): string => `${at} ${name}`,
  /** Runs, and how many of them were confirmed, or asked for that in vain. */
  ran: (name: string, count: number, confirmed: { readonly done: number; readonly notDone: number }): string => {
    const { done, notDone } = confirmed;
    const confirmedAll = done === count ? ', done' : `, ${done} done`;
    return `${name}${times(count)}${done === 0 ? '' : confirmedAll}${notDone === 0 ? '' : `, ${notDone} not done`}`;
  },
  used: (amounts: readonly TellableAmount[]): string => amounts.map(amountText).join(', '),
} as const;

function times(count: number): string {
  return count === 1 ? '' : plural(count, { other: ', {n} times' });
}

export type DigestWords = Translated<typeof englishDigest>;
