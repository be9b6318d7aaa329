import { counted } from '../../domain/schedule/words.ts';
import { isDeliverable, threadKeyOf } from '../../domain/thread.ts';
import type { Task } from '../../domain/task.ts';
import type { SlotDelivery } from './store.ts';

/** Who did something, as a line names them. People have no names yet, so their id stands for them. */
export function actorText(actor: string): string {
  if (actor === 'system') return 'the system';
  if (actor === 'system:api') return 'the API';
  const token = /^api:token:(.+)$/.exec(actor)?.[1];
  return token === undefined ? actor : `the API token "${token}"`;
}

const errorLengthMax = 200;

/** One line stays one line, and a text that ends in a full stop does not get two. */
export function errorText(error: string | null): string {
  if (error === null) return '';
  const line = error.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return `: ${line.length > errorLengthMax ? `${line.slice(0, errorLengthMax - 1)}…` : line}`;
}

/** The end of a line about a run: whether the result arrived, which is another question than whether the work was done. */
export function deliveryText({ home }: Pick<Task, 'home'>, parts: readonly SlotDelivery[]): string {
  if (parts.length === 0) {
    return isDeliverable(home)
      ? '; it had nothing to show'
      : `; its result is kept in the history, as ${threadKeyOf(home)} is delivered nowhere`;
  }
  const left = parts.filter(({ status }) => status !== 'delivered');
  const [worst] = left.toSorted((a, b) => gravity[b.status] - gravity[a.status]);
  if (worst !== undefined) return leftText(worst, left.length, parts.length);
  const first = parts[0]?.messageId ?? 0;
  return parts.length === 1
    ? `; delivered as message ${first}`
    : `; delivered as ${parts.length} messages, the first of them ${first}`;
}

const gravity: Readonly<Record<SlotDelivery['status'], number>> = {
  delivered: 0,
  pending: 1,
  sending: 2,
  unknown: 3,
  blocked: 4,
  failed: 5,
};

function leftText(worst: SlotDelivery, count: number, all: number): string {
  const one = all === 1;
  const which = one ? 'its message' : `${count} of its ${counted(all, 'message')}`;
  const is = one || count === 1 ? 'is' : 'are';
  const why = errorText(worst.error ?? worst.cause);
  switch (worst.status) {
    case 'failed':
      return `, but ${which} ${is === 'is' ? 'was' : 'were'} not delivered${why}`;
    case 'blocked':
      return `, but ${which} ${is} not delivered, and somebody has to mend the cause${why}`;
    case 'unknown':
      return `, but nobody knows yet whether ${which} arrived${why}`;
    case 'sending':
    case 'pending':
    case 'delivered':
      return `, but ${which} ${is} not delivered yet${why}`;
  }
}
