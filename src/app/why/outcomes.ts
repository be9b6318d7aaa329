import { counted } from '../../domain/schedule/words/words.ts';
import { isDeliverable, threadKeyOf } from '../../domain/thread.ts';
import { on, type Case } from './sentences.ts';
import type { SlotAck, SlotDelivery, SlotRun } from '../ports/why.ts';
import { actorText, errorText } from './texts.ts';

/** What became of what a run brought: whether people were shown it, and whether they have confirmed it. */

/** The end of a line about a run: whether the result arrived, which is another question than whether the work was done. */
export function deliveryText(one: Case, run: Pick<SlotRun, 'deliveries' | 'place'> | null): string {
  const parts = run?.deliveries ?? [];
  const place = { ...(run?.place ?? one.timeline.rows.task.home), topic: null };
  if (parts.length === 0) {
    return isDeliverable(place)
      ? '; it had nothing to show'
      : `; its result is kept in the history, as ${threadKeyOf(place)} is delivered nowhere`;
  }
  const left = parts.filter(({ status }) => status !== 'delivered');
  const [worst] = left.toSorted((a, b) => gravity[b.status] - gravity[a.status]);
  if (worst !== undefined) return keptText(one, worst, parts.length) ?? leftText(worst, left.length, parts.length);
  const approved = approvedText(one, parts[0]);
  return `; ${approved}delivered${parts.length === 1 ? '' : ` in ${parts.length} messages`}`;
}

function approvedText(one: Case, part: SlotDelivery | undefined): string {
  const decision = part?.decision ?? null;
  return decision === null ? '' : `approved by ${actorText(decision.by)} ${on(one, decision.at)}, `;
}

/** It is kept back on purpose, which is no trouble that anybody has to mend; null when it is not. */
function keptText(one: Case, part: SlotDelivery, all: number): string | null {
  const { status, cause, heldUntil, createdAt, decision, error } = part;
  const waits = all === 1 ? 'its message waits' : `its ${counted(all, 'message')} wait`;
  if (status === 'blocked' && cause === 'approval') return `; ${waits} for approval since ${sinceText(one, createdAt)}`;
  if (status === 'failed') return decision?.isGiven === false ? discardedText(one, decision, all) : null;
  const isHeld = status === 'pending' && error === null && heldUntil !== null && heldUntil > one.timeline.now;
  return isHeld ? `; ${waits} for the end of quiet hours ${on(one, heldUntil)}` : null;
}

function discardedText(one: Case, { by, at }: NonNullable<SlotDelivery['decision']>, all: number): string {
  const were = all === 1 ? 'its message was' : `its ${counted(all, 'message')} were`;
  return `; ${were} discarded by ${actorText(by)} ${on(one, at)}`;
}

function sinceText({ timeline: { about }, slotAt }: Case, instant: number): string {
  return about.beside(instant, slotAt);
}

/** Whether somebody has confirmed it, where somebody was asked or has said so. */
export function ackText(one: Case, ack: SlotAck | null): string {
  if (ack === null) return '';
  const { status, nags, doneAt, doneBy } = ack;
  const after = nags === 0 ? '' : `, after ${counted(nags, 'reminder')}`;
  switch (status) {
    case 'done':
      return `; done${doneBy === null ? '' : ` by ${actorText(doneBy)}`}${doneAt === null ? '' : ` ${on(one, doneAt)}`}${after}`;
    case 'open':
      return `; nobody has said Done yet${after}`;
    case 'given_up':
      return `; nobody said Done${nags === 0 ? '' : `, not even after the last of ${counted(nags, 'reminder')}`}`;
    case 'superseded':
      return `; nobody said Done${after}, until it was asked for anew`;
    case 'dropped':
      return `; nobody said Done${after}, and nobody is asked any more`;
  }
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
