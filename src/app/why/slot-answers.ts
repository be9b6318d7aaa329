import { isByHand } from '../../domain/occurrence.ts';
import { leftOutAt } from '../../domain/schedule/schedule.ts';
import { dayOfWall } from '../../domain/schedule/time/calendar.ts';
import { toWall } from '../../domain/schedule/time/zone.ts';
import type { GapRow, SlotRow, SlotRun } from '../ports/why.ts';
import { point, stretchOf, type Answer, type Evidence } from './answers.ts';
import { evidenceOf } from './stretch-answers.ts';
import type { Span, Stretch } from './stretches.ts';
import {
  isAhead,
  lastAllowed,
  lastError,
  namedSlots,
  rulingAt,
  startedAfterMs,
  stretchAt,
  versionAt,
  type Bound,
  type Case,
  type Neighbour,
  type Open,
  type Timeline,
} from './timeline.ts';

/** The truth about one slot that has its row. */
export function answerSlot(timeline: Timeline, row: SlotRow): Answer {
  const one: Case = { ...row, timeline, decidedAt: row.createdAt };
  return {
    ...point(row.slotAt, true),
    ...fateOf(timeline, row),
    evidence: slotEvidence(timeline, row),
    line: timeline.words.line(whenText(timeline, row), timeline.words.slot(one, row)),
  };
}

/** A slot is exact; what somebody asked for by hand came about then. */
function whenText({ moments, about }: Timeline, { source, slotAt }: SlotRow): string {
  return (isByHand(source) ? about : moments).full(slotAt);
}

function fateOf({ now }: Timeline, row: SlotRow): Pick<Answer, 'decision' | 'cause'> {
  const { status, source, reason, slotAt, run } = row;
  switch (status) {
    case 'pending':
      return source === 'snooze' && slotAt > now
        ? { decision: 'planned', cause: 'snooze' }
        : { decision: 'waiting', cause: reason ?? 'admission' };
    case 'dispatched':
      return { decision: 'running', cause: run?.status ?? 'dispatched' };
    case 'succeeded':
      return { decision: source === 'catch_up' ? 'late' : 'ran', cause: reason ?? source };
    default:
      return { decision: status, cause: reason ?? (status === 'failed' ? 'error' : status) };
  }
}

function slotEvidence(timeline: Timeline, row: SlotRow): Evidence {
  const { run } = row;
  const deed = row.deed ?? row.asker;
  const startedAfter = startedAfterMs(row);
  return {
    taskRunId: row.id,
    source: row.source,
    lateMs: row.lateMs,
    ...(startedAfter === null ? {} : { startedAfterMs: startedAfter }),
    ...(run === null ? {} : runEvidence(run, row)),
    ...(row.ack === null ? {} : { ack: row.ack }),
    ...(row.replayOf === null ? {} : { replayOf: row.replayOf }),
    ...(deed === null ? {} : { deed }),
    ...versionAt(timeline, row.slotAt),
    ...(row.error === null ? {} : { error: row.error }),
  };
}

function runEvidence({ id, number, attempts, deliveries, kindPaused }: SlotRun, row: SlotRow): Evidence {
  const last = attempts.at(-1);
  const by = last === undefined ? null : { worker: last.worker, jobId: last.jobId };
  return {
    runId: id,
    ...(number === null ? {} : { runNumber: number }),
    attempts: { count: attempts.length, lastError: lastError(row), last: by },
    ...(kindPaused === null ? {} : { kindPaused }),
    deliveries,
  };
}

/* ---- what is no slot ---- */

/** An instant that is no slot: the slots on either side of it are what the person who asks was looking for. */
export function answerNoSlot(timeline: Timeline, at: number): Answer {
  const { moments, words } = timeline;
  if (at < timeline.keptFrom) return answerRemoved(timeline, at, at);
  const stretch = stretchAt(timeline, at);
  const bound = stretch === null ? (boundAt(timeline, at) ?? exceptionAt(timeline, at)) : null;
  const neighbours = { before: beforeOf(timeline, at), after: afterOf(timeline, at) };
  return {
    ...point(at, false),
    decision: 'no_slot',
    cause: bound?.is ?? 'no_slot',
    evidence: versionAt(timeline, at),
    line: words.line(moments.exact(at), words.noSlot(timeline, at, { bound, stretch, ...neighbours })),
  };
}

/** A day of nothing else, because an exception of the schedule takes all of it. */
export function answerDayOut(timeline: Timeline, { first, last }: Span): Answer[] {
  const { moments, words, rows } = timeline;
  const [day, end] = [first, last].map((at) => dayOfWall(toWall(rows.task.schedule.timezone, at)));
  const out = day === end && day !== undefined && first >= timeline.keptFrom ? exceptionAt(timeline, first) : null;
  if (out === null || day === undefined) return [];
  const evidence = versionAt(timeline, first);
  return [
    {
      ...point(first, false),
      decision: 'no_slot',
      cause: out.is,
      evidence,
      line: words.line(moments.day(day), words.dayOut(out)),
    },
  ];
}

function exceptionAt(timeline: Timeline, at: number): Extract<Bound, { readonly is: 'exception' }> | null {
  const ruling = rulingAt(timeline, at);
  const { schedules: words } = timeline;
  const text =
    ruling === null ? null : leftOutAt(ruling.schedule, at, { words, day: (days) => timeline.moments.day(days) });
  return text === null ? null : { is: 'exception', text };
}

/** Beyond the bounds of a task that goes on, the bound is the answer. */
function boundAt(timeline: Timeline, at: number): Bound | null {
  const { now } = timeline;
  const ruling = rulingAt(timeline, at);
  if (ruling === null) return null;
  const { startAt, until, maxRuns } = ruling.policy;
  if (startAt !== undefined && at < startAt) return { is: 'start_at', at: startAt };
  if (until !== undefined && at > until) return { is: 'until', at: until };
  const last = at > now ? lastAllowed(timeline) : Number.POSITIVE_INFINITY;
  return at > last && maxRuns !== null ? { is: 'max_runs', maxRuns, last } : null;
}

function beforeOf(timeline: Timeline, at: number): Neighbour | null {
  const { rows } = timeline;
  const row = rows.around.before;
  const gap = rows.gaps.findLast(({ fromAt }) => fromAt < at);
  const inGap = gap === undefined ? null : (namedBefore(timeline, gap, at) ?? gap.fromAt);
  if (inGap !== null && (row === null || inGap > row.slotAt)) return { at: inGap, decision: 'missed' };
  return row === null ? null : { at: row.slotAt, decision: answerSlot(timeline, row).decision };
}

/** Slots of an outage looked through for the last one before an instant. */
const inGapMax = 1000;

function namedBefore(timeline: Timeline, { fromAt, toAt, count }: GapRow, at: number): number | null {
  if (toAt < at) return toAt;
  // Slots of a gap lie about evenly, so a few steps back from the instant are enough to meet one.
  const step = Math.max(1, Math.ceil((toAt - fromAt) / Math.max(1, count - 1)));
  return namedSlots(timeline, { first: Math.max(fromAt, at - 4 * step), last: at - 1 }, inGapMax).at(-1) ?? null;
}

function afterOf(timeline: Timeline, at: number): Neighbour | null {
  const { rows } = timeline;
  const row = rows.around.after;
  const named = namedSlots(timeline, { first: at + 1, last: Number.POSITIVE_INFINITY }, 1)[0] ?? null;
  if (row !== null && (named === null || row.slotAt <= named)) {
    return { at: row.slotAt, decision: answerSlot(timeline, row).decision };
  }
  if (named === null || !isAhead(timeline, named)) return null;
  const stretch = stretchAt(timeline, named);
  if (stretch !== null) return { at: named, decision: stretch.is };
  const gaps = rows.around.gap === null ? rows.gaps : [...rows.gaps, rows.around.gap];
  if (gaps.some(({ fromAt, toAt }) => fromAt <= named && named <= toAt)) return { at: named, decision: 'missed' };
  return named > lastAllowed(timeline) ? null : { at: named, decision: answerOpen(timeline, named).decision };
}

/** A slot that the schedule in force names and that no row, gap or stretch tells of. */
export function answerOpen(timeline: Timeline, slot: number): Answer {
  const { now, keptFrom, rows } = timeline;
  const nextAt = rows.task.nextAt ?? rows.task.resumeAt;
  if (slot > now) return open(timeline, slot, plannedAs(timeline, slot));
  if (nextAt !== null && slot >= nextAt) {
    return open(timeline, slot, { decision: 'due', cause: 'due' });
  }
  if (slot < keptFrom) {
    return open(timeline, slot, { decision: 'unrecorded', cause: 'retention' });
  }
  const quarantine = nextPause(timeline, slot);
  if (quarantine !== null) {
    const answer = open(timeline, slot, { decision: 'missed', cause: 'unreadable', quarantine });
    return { ...answer, evidence: evidenceOf(quarantine) };
  }
  if (versionAt(timeline, slot).version === undefined) {
    return open(timeline, slot, { decision: 'unrecorded', cause: 'no_version' });
  }
  if (rows.twice.some(({ from, to }) => from <= slot && slot <= to)) {
    return open(timeline, slot, { decision: 'unrecorded', cause: 'clock_set_back' });
  }
  return open(timeline, slot, { decision: 'unrecorded', cause: 'no_record' });
}

/** A slot that comes without a right to run will be left out, unless somebody gives the task a fresh one before. */
function plannedAs({ rows: { grant } }: Timeline, slot: number): Open {
  const decision = 'planned';
  if (grant === null) return { decision, cause: 'grant_missing' };
  if (grant.revokedAt !== null) return { decision, cause: 'grant_revoked' };
  const { expiresAt: at } = grant;
  return at === null || slot < at ? { decision, cause: 'schedule' } : { decision, cause: 'grant_expired', at };
}

/** A row that cannot be read is paused when its slot comes, which therefore nobody takes up. */
function nextPause({ stretches, rows }: Timeline, slot: number): Stretch | null {
  const next = stretches.find(({ first }) => first > slot);
  if (next?.begun?.verb !== 'quarantine') return null;
  // Only slots since the last one with a row were still to be taken up.
  return rows.slots.some(({ slotAt }) => slotAt > slot && slotAt < next.first) ? null : next;
}

function open(timeline: Timeline, slot: number, state: Open): Answer {
  const { moments, words } = timeline;
  return {
    ...point(slot, true),
    decision: state.decision,
    cause: state.cause,
    evidence: versionAt(timeline, slot),
    line: words.line(moments.full(slot), words.open(timeline, slot, state)),
  };
}

/** Time older than the records, apart from the few rows that are kept longer. */
export function answerRemoved(timeline: Timeline, from: number, to: number): Answer {
  const { moments, words } = timeline;
  const isPoint = from === to;
  return {
    ...(isPoint ? point(from, false) : stretchOf(from, to)),
    decision: 'unrecorded',
    cause: 'retention',
    evidence: {},
    line: words.line(
      isPoint ? moments.full(from) : words.between(moments.full(from), moments.full(to)),
      words.removed(timeline),
    ),
  };
}
