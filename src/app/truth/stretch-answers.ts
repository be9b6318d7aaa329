import type { Answer, Evidence } from './answers.ts';
import { caseOfGap, sentenceFor } from './sentences.ts';
import type { Stretch } from './standing.ts';
import type { Deed, GapRow } from './store.ts';
import { actorText, errorText } from './texts.ts';
import { rulingAt, type Timeline } from './timeline.ts';

/** The truth about slots that share one record, or have none. */

export function answerGap(timeline: Timeline, gap: GapRow): Answer {
  const { moments } = timeline;
  const { id, fromAt, toAt, count, reason, createdAt } = gap;
  const slots = count === 1 ? '1 slot' : `${count.toLocaleString('en')} slots`;
  const span = fromAt === toAt ? moments.full(fromAt) : `From ${moments.full(fromAt)} to ${moments.full(toAt)}`;
  // A task that its failures stop has slots left that are due, and nobody decides about them any more.
  const told =
    reason === 'paused'
      ? `${slots} left out, as the task was paused by then (${moments.beside(createdAt, toAt)})`
      : `${slots} missed in one outage; ${sentenceFor(reason, caseOfGap(timeline, gap))}`;
  const version = rulingAt(timeline, fromAt)?.version ?? null;
  return {
    at: null,
    from: fromAt,
    to: toAt,
    slot: null,
    decision: 'gap',
    cause: reason,
    evidence: { gap: { id, count }, ...(version === null ? {} : { version }) },
    line: `${span}: ${told}.`,
  };
}

/** A whole stretch without slots, for a list. */
export function answerStretch(timeline: Timeline, stretch: Stretch): Answer {
  const { moments } = timeline;
  const from = stretch.is === 'not_created' ? null : Math.max(stretch.first - 1, 0);
  const to = endOf(stretch);
  const begins = from === null ? '' : `From ${moments.full(from)}`;
  const ends = to === null ? ' on' : `${from === null ? 'Until' : ' to'} ${moments.full(to)}`;
  return {
    at: null,
    from,
    to,
    slot: null,
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: `${begins}${ends}: no slots; ${standingText(timeline, stretch)}.`,
  };
}

export interface Point {
  readonly at: number;
  readonly isSlot: boolean;
}

/** A point in such a stretch. */
export function answerStanding(timeline: Timeline, stretch: Stretch, { at, isSlot }: Point): Answer {
  const text = standingText(timeline, stretch);
  const verb = isSlot ? (at > timeline.now ? 'no run planned' : 'no run') : 'no slot';
  return {
    at,
    from: null,
    to: null,
    slot: isSlot ? at : null,
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: `${timeline.moments.exact(at)}: ${verb}; ${text}.`,
  };
}

/** One word: a reason that goes on to say what is wrong with a row is told by its first. */
function causeOf(timeline: Timeline, stretch: Stretch): string {
  if (stretch.is !== 'paused') return stretch.is;
  return reasonOf(timeline, stretch).split(': ', 1)[0] ?? 'paused';
}

function reasonOf({ rows: { task } }: Timeline, { begun, ended, pausedBy }: Stretch): string {
  const pause = pausedBy !== null && 'verb' in pausedBy ? pausedBy : begun;
  const reason = pause?.after?.['reason'] ?? (ended === null ? task.pausedReason : null);
  return typeof reason === 'string' ? reason : 'paused';
}

export function evidenceOf({ is, begun, ended, pausedBy }: Stretch): Evidence {
  const paused = pausedBy !== null && 'verb' in pausedBy ? pausedBy : begun;
  const deed = is === 'not_created' ? ended : is === 'completed' ? null : paused;
  return deed === null ? {} : { deed: shown(deed) };
}

function shown({ id, at, actor, verb }: Deed): NonNullable<Evidence['deed']> {
  return { id, at, actor, verb };
}

/** A pause that ends by itself ends at the first instant that is free again. */
function endOf({ last, until }: Stretch): number | null {
  if (until !== null && last === until - 1) return until;
  return Number.isFinite(last) ? last : null;
}

/** One sentence for why a task has no slots there. */
export function standingText(timeline: Timeline, stretch: Stretch): string {
  const { moments, rows } = timeline;
  const { begun, ended, lastSlot, until } = stretch;
  switch (stretch.is) {
    case 'not_created': {
      const creator = actorText(ended?.actor ?? rows.task.created.by);
      return `${creator} created the task only on ${moments.full(rows.task.created.at)}`;
    }
    case 'paused': {
      const end = until === null ? '' : `, until ${moments.full(until)}`;
      return `${pausedText(timeline, stretch)}${pauseText(reasonOf(timeline, stretch))}${end}`;
    }
    case 'deleted':
      return doneText(timeline, begun, ['deleted', 'the task']);
    case 'completed':
      return lastSlot === null
        ? 'the task was completed by then: nothing was left to run'
        : `the task was completed by its last slot, ${moments.full(lastSlot)}`;
  }
}

/** A restored task is as paused as it was when it was deleted. */
function pausedText(timeline: Timeline, { begun, pausedBy }: Stretch): string {
  if (begun?.stateBefore !== 'deleted') return doneText(timeline, begun, ['paused', 'it']);
  if (pausedBy === null) return 'the task was paused';
  const actor = 'by' in pausedBy ? pausedBy.by : pausedBy.actor;
  return `${actorText(actor)} had paused it on ${timeline.moments.full(pausedBy.at)}, before it was deleted and restored`;
}

function doneText({ moments }: Timeline, deed: Deed | null, [did, what]: readonly [string, string]): string {
  if (deed === null) return `the task was ${did}`;
  return `${actorText(deed.actor)} had ${did} ${what} on ${moments.full(deed.at)}`;
}

function pauseText(reason: string): string {
  if (reason === 'auto:consecutive_failures') return ', as its runs had failed too often in a row';
  if (!reason.startsWith('unreadable')) return '';
  return `, as its row could not be read${errorText(reason.slice('unreadable: '.length))}`;
}
