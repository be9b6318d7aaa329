import { isSpent } from '../../domain/due.ts';
import type { Deed, GapRow } from '../ports/why.ts';
import { point, stretchOf, type Answer, type Evidence } from './answers.ts';
import { minuteOf } from './moments.ts';
import type { Stretch } from './stretches.ts';
import { namedSlots, versionAt, type Timeline } from './timeline.ts';

/** The truth about slots that share one record, or have none. */

export function answerGap(timeline: Timeline, gap: GapRow): Answer {
  const { moments, words } = timeline;
  const { id, fromAt, toAt, count, reason } = gap;
  const span = fromAt === toAt ? moments.full(fromAt) : words.between(moments.full(fromAt), moments.full(toAt));
  return {
    ...stretchOf(fromAt, toAt),
    decision: 'gap',
    cause: reason,
    evidence: { gap: { id, count }, ...versionAt(timeline, fromAt) },
    line: words.line(span, words.gap(timeline, gap)),
  };
}

/** A whole stretch without slots, for a list. */
export function answerStretch(timeline: Timeline, stretch: Stretch): Answer {
  const from = stretch.is === 'not_created' ? null : Math.max(stretch.first - 1, 0);
  const to = endOf(stretch);
  // Within one minute only the seconds tell one end from the other.
  const isShort = from !== null && to !== null && minuteOf(from) === minuteOf(to);
  const moments = isShort ? timeline.moments : timeline.about;
  const { words } = timeline;
  const span = words.between(from === null ? null : moments.full(from), to === null ? null : moments.full(to));
  const verb = to !== null && to <= timeline.now ? 'nothingWasDue' : 'nothingIsDue';
  return {
    ...stretchOf(from, to),
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: words.line(span, words.standing(timeline, stretch, { at: null, verb })),
  };
}

export interface Point {
  readonly at: number;
  readonly isSlot: boolean;
}

/** A point in such a stretch. */
export function answerStanding(timeline: Timeline, stretch: Stretch, { at, isSlot }: Point): Answer {
  const isAhead = at > timeline.now;
  const verb = isSlot ? (isAhead ? 'noRunPlanned' : 'noRun') : isAhead ? 'nothingIsDue' : 'nothingWasDue';
  return {
    ...point(at, isSlot),
    decision: stretch.is,
    cause: causeOf(timeline, stretch),
    evidence: evidenceOf(stretch),
    line: timeline.words.line(timeline.moments.exact(at), timeline.words.standing(timeline, stretch, { at, verb })),
  };
}

/** One word: a reason that goes on to say what is wrong with a row is told by its first. */
function causeOf(timeline: Timeline, stretch: Stretch): string {
  if (spentBound(timeline, stretch) !== null) return 'max_runs';
  if (stretch.is !== 'paused') return stretch.is;
  return reasonOf(timeline, stretch).split(': ', 1)[0] ?? 'paused';
}

/** The `max_runs` that completed the task before its schedule had come to its end; null for any other end. */
export function spentBound(timeline: Timeline, { is, ended, lastSlot }: Stretch): number | null {
  const policy = timeline.rulings.at(-1)?.policy;
  if (is !== 'completed' || ended !== null || lastSlot === null || policy === undefined) return null;
  if (!isSpent(policy, timeline.rows.task.counters.boundedRuns)) return null;
  const isCut = namedSlots(timeline, { first: lastSlot + 1, last: Number.POSITIVE_INFINITY }, 1).length > 0;
  return isCut ? policy.maxRuns : null;
}

/** Why it was paused, in one word, which a fault of the row may follow. */
export function reasonOf({ rows: { task } }: Timeline, { begun, ended, pausedBy }: Stretch): string {
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
