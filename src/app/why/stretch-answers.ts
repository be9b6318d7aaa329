import { isSpent } from '../../domain/due.ts';
import { failuresPause, ownerGonePause } from '../../domain/task.ts';
import type { Deed, GapRow } from '../ports/why.ts';
import { point, stretchOf, type Answer, type Evidence } from './answers.ts';
import { minuteOf, type Moments } from './moments.ts';
import { caseOfGap, sentenceFor, actorText, errorText } from './sentences.ts';
import type { Stretch } from './stretches.ts';
import { namedSlots, versionAt, type Timeline } from './timeline.ts';

/** The truth about slots that share one record, or have none. */

export function answerGap(timeline: Timeline, gap: GapRow): Answer {
  const { moments, about } = timeline;
  const { id, fromAt, toAt, count, reason, createdAt } = gap;
  const runs = count === 1 ? '1 run' : `${count.toLocaleString('en')} runs`;
  const span = fromAt === toAt ? moments.full(fromAt) : `From ${moments.full(fromAt)} to ${moments.full(toAt)}`;
  // A task that its failures stop, or a purge, has slots left that are due, and nobody decides about them any more.
  const told =
    reason === 'paused' || reason === 'deleted'
      ? `${runs} left out, as the task was ${reason} by then (${about.beside(createdAt, toAt)})`
      : `${runs} missed in one outage; ${sentenceFor(reason, caseOfGap(timeline, gap))}`;
  return {
    ...stretchOf(fromAt, toAt),
    decision: 'gap',
    cause: reason,
    evidence: { gap: { id, count }, ...versionAt(timeline, fromAt) },
    line: `${span}: ${told}.`,
  };
}

/** A whole stretch without slots, for a list. */
export function answerStretch(timeline: Timeline, stretch: Stretch): Answer {
  const from = stretch.is === 'not_created' ? null : Math.max(stretch.first - 1, 0);
  const to = endOf(stretch);
  // Within one minute only the seconds tell one end from the other.
  const isShort = from !== null && to !== null && minuteOf(from) === minuteOf(to);
  const moments = isShort ? timeline.moments : timeline.about;
  const begins = from === null ? '' : `From ${moments.full(from)}`;
  const ends = to === null ? ' on' : `${from === null ? 'Until' : ' to'} ${moments.full(to)}`;
  const verb = to !== null && to <= timeline.now ? 'nothing was due' : 'nothing is due';
  return {
    ...stretchOf(from, to),
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: `${begins}${ends}: ${verb}; ${standingText(timeline, stretch, null)}.`,
  };
}

export interface Point {
  readonly at: number;
  readonly isSlot: boolean;
}

/** A point in such a stretch. */
export function answerStanding(timeline: Timeline, stretch: Stretch, { at, isSlot }: Point): Answer {
  const text = standingText(timeline, stretch, at);
  const isAhead = at > timeline.now;
  const verb = isSlot ? (isAhead ? 'no run planned' : 'no run') : isAhead ? 'nothing is due' : 'nothing was due';
  return {
    ...point(at, isSlot),
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: `${timeline.moments.exact(at)}: ${verb}; ${text}.`,
  };
}

/** One word: a reason that goes on to say what is wrong with a row is told by its first. */
function causeOf(timeline: Timeline, stretch: Stretch): string {
  if (spentBound(timeline, stretch) !== null) return 'max_runs';
  if (stretch.is !== 'paused') return stretch.is;
  return reasonOf(timeline, stretch).split(': ', 1)[0] ?? 'paused';
}

/** The `max_runs` that completed the task before its schedule had come to its end; null for any other end. */
function spentBound(timeline: Timeline, { is, ended, lastSlot }: Stretch): number | null {
  const policy = timeline.rulings.at(-1)?.policy;
  if (is !== 'completed' || ended !== null || lastSlot === null || policy === undefined) return null;
  if (!isSpent(policy, timeline.rows.task.counters.boundedRuns)) return null;
  const isCut = namedSlots(timeline, { first: lastSlot + 1, last: Number.POSITIVE_INFINITY }, 1).length > 0;
  return isCut ? policy.maxRuns : null;
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

/** One sentence for why a task has no slots there; `at` is the instant that is asked about, null for all of them. */
export function standingText(timeline: Timeline, stretch: Stretch, at: number | null): string {
  const { rows } = timeline;
  const { begun, ended, lastSlot, until } = stretch;
  const when = (instant: number) => momentsFor(timeline, instant, at).full(instant);
  switch (stretch.is) {
    case 'not_created': {
      const creator = actorText(ended?.actor ?? rows.task.created.by);
      return `${creator} created the task only on ${when(rows.task.created.at)}`;
    }
    case 'paused': {
      const end = until === null ? '' : `, until ${when(until)}`;
      return `${pausedText(stretch, when)}${pauseText(reasonOf(timeline, stretch))}${end}`;
    }
    case 'deleted':
      return doneText(begun, ['deleted', 'the task'], when);
    case 'completed': {
      const bound = spentBound(timeline, stretch);
      if (bound !== null) return `the task was completed, because max_runs (${bound}) was used up`;
      return lastSlot === null
        ? 'the task was completed by then: nothing was left to run'
        : `the task was completed: its last time was ${timeline.moments.full(lastSlot)}`;
    }
  }
}

/** A deed in the very minute that is asked about is told to the second, or one would not know which came first. */
function momentsFor({ moments, about }: Timeline, instant: number, at: number | null): Moments {
  return at !== null && minuteOf(at) === minuteOf(instant) ? moments : about;
}

/** A restored task is as paused as it was when it was deleted. */
function pausedText({ begun, pausedBy }: Stretch, when: (instant: number) => string): string {
  if (begun?.stateBefore !== 'deleted') return doneText(begun, ['paused', 'it'], when);
  if (pausedBy === null) return 'the task was paused';
  const actor = 'by' in pausedBy ? pausedBy.by : pausedBy.actor;
  return `${actorText(actor)} had paused it on ${when(pausedBy.at)}, before it was deleted and restored`;
}

function doneText(
  deed: Deed | null,
  [did, what]: readonly [string, string],
  when: (instant: number) => string,
): string {
  if (deed === null) return `the task was ${did}`;
  return `${actorText(deed.actor)} had ${did} ${what} on ${when(deed.at)}`;
}

function pauseText(reason: string): string {
  if (reason === failuresPause) return ', as its runs had failed too often in a row';
  if (reason === ownerGonePause) return ', as its owner was not in the chat any more';
  if (reason === 'harmful_template') return ', as its template would harm the work of others';
  if (!reason.startsWith('unreadable')) return '';
  return `, as its row could not be read${errorText(reason.slice('unreadable: '.length))}`;
}
