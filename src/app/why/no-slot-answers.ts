import { describe, leftOutAt } from '../../domain/schedule/schedule.ts';
import { DAY_MS, dayOfWall } from '../../domain/schedule/time/calendar.ts';
import { toWall } from '../../domain/schedule/time/zone.ts';
import type { GapRow } from '../ports/why.ts';
import { point, stretchOf, type Answer, type Decision } from './answers.ts';
import { answerSlot } from './slot-answers.ts';
import { standingText, evidenceOf } from './stretch-answers.ts';
import type { Span, Stretch } from './stretches.ts';
import { isAhead, lastAllowed, namedSlots, rulingAt, stretchAt, versionAt, type Timeline } from './timeline.ts';

/** An instant that is no slot: the slots on either side of it are what the person who asks was looking for. */
export function answerNoSlot(timeline: Timeline, at: number): Answer {
  const { moments } = timeline;
  if (at < timeline.keptFrom) return answerRemoved(timeline, at, at);
  const stretch = stretchAt(timeline, at);
  const end = stretch === null ? (endText(timeline, at) ?? exceptionText(timeline, at)) : null;
  const around = aroundText(timeline, at);
  const schedule = scheduleText(timeline, at);
  const aside = stretch === null ? '' : `; ${standingText(timeline, stretch, at)}`;
  return {
    ...point(at, false),
    decision: 'no_slot',
    cause: end?.cause ?? 'no_slot',
    evidence: versionAt(timeline, at),
    line: `${moments.exact(at)}: ${end?.text ?? `not a time of this task${schedule}${aside}`}${around}${untilEndText(timeline, at)}.`,
  };
}

/** A day of nothing else, because an exception of the schedule takes all of it. */
export function answerDayOut(timeline: Timeline, { first, last }: Span): Answer[] {
  const { moments, rows } = timeline;
  const [day, end] = [first, last].map((at) => dayOfWall(toWall(rows.task.schedule.timezone, at)));
  const out = day === end && day !== undefined && first >= timeline.keptFrom ? exceptionText(timeline, first) : null;
  if (out === null || day === undefined) return [];
  const { cause, text } = out;
  const evidence = versionAt(timeline, first);
  return [{ ...point(first, false), decision: 'no_slot', cause, evidence, line: `${moments.day(day)}: ${text}.` }];
}

function exceptionText(timeline: Timeline, at: number): { readonly cause: string; readonly text: string } | null {
  const ruling = rulingAt(timeline, at);
  const text = ruling === null ? null : leftOutAt(ruling.schedule, at, { day: (days) => timeline.moments.day(days) });
  return text === null ? null : { cause: 'exception', text: `no slot, as ${text}` };
}

/** Beyond the bounds of a task that goes on, the bound is the answer. */
function endText(timeline: Timeline, at: number): { readonly cause: string; readonly text: string } | null {
  const { moments, now } = timeline;
  const ruling = rulingAt(timeline, at);
  if (ruling === null) return null;
  const { startAt, until, maxRuns } = ruling.policy;
  if (startAt !== undefined && at < startAt) {
    return { cause: 'start_at', text: `nothing is due, as the task begins on ${moments.full(startAt)} (start_at)` };
  }
  if (until !== undefined && at > until) {
    return { cause: 'until', text: `nothing is due, as the task ends on ${moments.full(until)} (until)` };
  }
  const last = at > now ? lastAllowed(timeline) : Number.POSITIVE_INFINITY;
  if (at > last && maxRuns !== null) {
    return {
      cause: 'max_runs',
      text: `nothing is planned, as with max_runs (${maxRuns}) ${lastText(timeline, last)}`,
    };
  }
  return null;
}

function lastText({ rows: { task, ahead }, moments }: Timeline, last: number): string {
  const next = task.nextAt ?? task.resumeAt ?? last;
  if (last >= next) return `the run of ${moments.full(last)} may be the last one, if nothing is skipped before it`;
  return ahead.reserved > 0 ? 'what waits or runs by now may be the last of it' : 'nothing is left to run';
}

function scheduleText(timeline: Timeline, at: number): string {
  const ruling = rulingAt(timeline, at);
  if (ruling === null) return '';
  try {
    return ` (${describe(ruling.schedule)})`;
  } catch {
    return '';
  }
}

function aroundText(timeline: Timeline, at: number): string {
  const { moments } = timeline;
  const named = (one: Neighbour | null) => (one === null ? null : `${moments.beside(one.at, at)} (${one.word})`);
  const before = named(beforeText(timeline, at));
  const after = named(afterText(timeline, at));
  if (before !== null && after !== null) return `; the times around it are ${before} and ${after}`;
  if (before !== null) return `; the time before it is ${before}`;
  return after === null ? '' : `; the time after it is ${after}`;
}

/** While work goes on, a delay after its end cannot be planned. */
function untilEndText({ rows: { ahead }, now }: Timeline, at: number): string {
  return ahead.awaitsEnd && at > now ? '; when the next run is depends on when the one ends that is under way' : '';
}

interface Neighbour {
  readonly at: number;
  readonly word: string;
}

function beforeText(timeline: Timeline, at: number): Neighbour | null {
  const { rows } = timeline;
  const row = rows.around.before;
  const gap = rows.gaps.findLast(({ fromAt }) => fromAt < at);
  const inGap = gap === undefined ? null : (namedBefore(timeline, gap, at) ?? gap.fromAt);
  if (inGap !== null && (row === null || inGap > row.slotAt)) return { at: inGap, word: 'missed' };
  return row === null ? null : { at: row.slotAt, word: word(answerSlot(timeline, row)) };
}

/** Slots of an outage looked through for the last one before an instant. */
const inGapMax = 1000;

function namedBefore(timeline: Timeline, { fromAt, toAt, count }: GapRow, at: number): number | null {
  if (toAt < at) return toAt;
  // Slots of a gap lie about evenly, so a few steps back from the instant are enough to meet one.
  const step = Math.max(1, Math.ceil((toAt - fromAt) / Math.max(1, count - 1)));
  return namedSlots(timeline, { first: Math.max(fromAt, at - 4 * step), last: at - 1 }, inGapMax).at(-1) ?? null;
}

function afterText(timeline: Timeline, at: number): Neighbour | null {
  const { rows } = timeline;
  const row = rows.around.after;
  const named = namedSlots(timeline, { first: at + 1, last: Number.POSITIVE_INFINITY }, 1)[0] ?? null;
  if (row !== null && (named === null || row.slotAt <= named)) {
    return { at: row.slotAt, word: word(answerSlot(timeline, row)) };
  }
  if (named === null || !isAhead(timeline, named)) return null;
  const stretch = stretchAt(timeline, named);
  if (stretch !== null) return { at: named, word: stretch.is };
  const gaps = rows.around.gap === null ? rows.gaps : [...rows.gaps, rows.around.gap];
  if (gaps.some(({ fromAt, toAt }) => fromAt <= named && named <= toAt)) return { at: named, word: 'missed' };
  return named > lastAllowed(timeline) ? null : { at: named, word: answerOpen(timeline, named).decision };
}

function word({ decision }: Answer): string {
  return decision === 'late' ? 'ran late' : decision;
}

/** A slot that the schedule in force names and that no row, gap or stretch tells of. */
export function answerOpen(timeline: Timeline, slot: number): Answer {
  const { now, keptFrom, rows } = timeline;
  const nextAt = rows.task.nextAt ?? rows.task.resumeAt;
  if (slot > now) return open(timeline, slot, ['planned', 'schedule', 'planned']);
  if (nextAt !== null && slot >= nextAt) {
    return open(timeline, slot, ['due', 'due', 'due now']);
  }
  if (slot < keptFrom) {
    return open(timeline, slot, ['unrecorded', 'retention', `its record was removed ${removedText(timeline)}`]);
  }
  const quarantine = nextPause(timeline, slot);
  if (quarantine !== null) {
    const text = `no run; ${standingText(timeline, quarantine, slot)}, before this run was taken up`;
    return { ...open(timeline, slot, ['missed', 'unreadable', text]), evidence: evidenceOf(quarantine) };
  }
  if (versionAt(timeline, slot).version === undefined) {
    const text = 'no record, as the schedule of that time was not kept';
    return open(timeline, slot, ['unrecorded', 'no_version', text]);
  }
  if (rows.twice.some(({ from, to }) => from <= slot && slot <= to)) {
    const text =
      'no record; the clock was set back around then, so this time came twice, and the schedule that names it did not hold both times';
    return open(timeline, slot, ['unrecorded', 'clock_set_back', text]);
  }
  return open(timeline, slot, [
    'unrecorded',
    'no_record',
    'no record, though the schedule names this time; this should not happen, and the nightly audit reports it',
  ]);
}

/** A row that cannot be read is paused when its slot comes, which therefore nobody takes up. */
function nextPause({ stretches, rows }: Timeline, slot: number): Stretch | null {
  const next = stretches.find(({ first }) => first > slot);
  if (next?.begun?.verb !== 'quarantine') return null;
  // Only slots since the last one with a row were still to be taken up.
  return rows.slots.some(({ slotAt }) => slotAt > slot && slotAt < next.first) ? null : next;
}

/** By the task itself, by the retention that holds now, or by one that was shorter. */
function removedText({ keptFrom, now, retentionMs, rows }: Timeline): string {
  if (rows.lastNotKept === keptFrom - 1) return 'by the policy keep';
  return keptFrom > now - retentionMs
    ? 'while records were kept for a shorter time than now'
    : `after ${Math.round(retentionMs / DAY_MS)} days`;
}

function open(timeline: Timeline, slot: number, [decision, cause, text]: readonly [Decision, string, string]): Answer {
  return {
    ...point(slot, true),
    decision,
    cause,
    evidence: versionAt(timeline, slot),
    line: `${timeline.moments.full(slot)}: ${text}.`,
  };
}

/** Time older than the records, apart from the few rows that are kept longer. */
export function answerRemoved(timeline: Timeline, from: number, to: number): Answer {
  const { moments } = timeline;
  const isPoint = from === to;
  return {
    ...(isPoint ? point(from, false) : stretchOf(from, to)),
    decision: 'unrecorded',
    cause: 'retention',
    evidence: {},
    line: `${isPoint ? moments.full(from) : `From ${moments.full(from)} to ${moments.full(to)}`}: records of that time were removed ${removedText(timeline)}.`,
  };
}
