import { graceMs, policyOf, type Policy } from '../../domain/policy.ts';
import { isDelay, isTimezone, minGapMs, nextSlot, nextSlots, type Schedule } from '../../domain/schedule/schedule.ts';
import { MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import type { ScheduleWords } from '../../domain/schedule/words/facts.ts';
import type { GapRow, InForce, SlotRow, TruthRows } from '../ports/why.ts';
import type { Decision, Evidence } from './answers.ts';
import { coarse, momentsIn, type Moments } from './moments.ts';
import { held, stretchesOf, type Span, type Stretch } from './stretches.ts';

/** The version that was in force for the slots of a span. */
export interface Ruling extends Span {
  readonly version: number | null;
  readonly schedule: Schedule;
  readonly policy: Policy;
  /** Null for a schedule that names one slot. */
  readonly minGapMs: number | null;
}

/** The facts for a sentence about one slot, or about the slots of one gap. */
export interface Case extends Pick<SlotRow, 'slotAt' | 'status' | 'source' | 'decideBy' | 'deed' | 'asker'> {
  readonly timeline: Timeline;
  /** When it was decided about. */
  readonly decidedAt: number;
}

/** A bound or an exception of a task that goes on, beyond which it has no slot. */
export type Bound =
  | { readonly is: 'start_at' | 'until'; readonly at: number }
  | { readonly is: 'max_runs'; readonly maxRuns: number; readonly last: number }
  | { readonly is: 'exception'; readonly text: string };

/** The slot before or after an instant. */
export interface Neighbour {
  readonly at: number;
  readonly decision: Decision;
}

export interface NoSlot {
  readonly bound: Bound | null;
  readonly stretch: Stretch | null;
  readonly before: Neighbour | null;
  readonly after: Neighbour | null;
}

/** A slot without a record: what is known of it all the same. */
export type Open =
  | { readonly decision: 'planned'; readonly cause: 'schedule' | 'grant_missing' | 'grant_revoked' }
  | { readonly decision: 'planned'; readonly cause: 'grant_expired'; readonly at: number }
  | { readonly decision: 'due'; readonly cause: 'due' }
  | { readonly decision: 'missed'; readonly cause: 'unreadable'; readonly quarantine: Stretch }
  | {
      readonly decision: 'unrecorded';
      readonly cause: 'retention' | 'no_version' | 'clock_set_back' | 'no_record';
    };

interface Standing {
  /** The instant that is asked about; null for all of the stretch. */
  readonly at: number | null;
  readonly verb: 'nothingIsDue' | 'nothingWasDue' | 'noRunPlanned' | 'noRun';
}

/** The words of one language for all answers. Each text stands behind its time, without a full stop; `line` joins them. */
export interface WhyWords {
  line(when: string, text: string): string;
  /** A stretch of time; null where it has no end. */
  between(from: string | null, to: string | null): string;
  /** As it stands in `slot` behind a comma or semicolon: a chat links it to the message. */
  readonly delivered: string;
  slot(one: Case, row: SlotRow): string;
  gap(timeline: Timeline, gap: GapRow): string;
  standing(timeline: Timeline, stretch: Stretch, standing: Standing): string;
  noSlot(timeline: Timeline, at: number, around: NoSlot): string;
  dayOut(exception: Extract<Bound, { readonly is: 'exception' }>): string;
  open(timeline: Timeline, slot: number, state: Open): string;
  removed(timeline: Timeline): string;
}

/** The records of a task around a stretch of time, in the form in which questions are answered. */
export interface Timeline {
  readonly rows: TruthRows;
  readonly now: number;
  readonly words: WhyWords;
  readonly schedules: ScheduleWords;
  /** For slots, which are told as the schedule names them. */
  readonly moments: Moments;
  /** For what people and the clock did: to the minute, unless the schedule itself counts in seconds. */
  readonly about: Moments;
  readonly stretches: readonly Stretch[];
  readonly rulings: readonly Ruling[];
  /** Records of slots older than this have been removed. */
  readonly keptFrom: number;
  /** By the retention that holds now; where that was shorter once, more is gone. */
  readonly retentionMs: number;
}

/** The language in which the truth is told. */
export interface WhyLocale {
  readonly tag: string;
  readonly texts: { readonly why: WhyWords; readonly schedule: ScheduleWords };
}

interface Telling {
  readonly now: number;
  readonly retentionMs: number;
  readonly locale: WhyLocale;
}

export function timelineOf(rows: TruthRows, { now, retentionMs, locale }: Telling): Timeline {
  const { timezone } = rows.task.schedule;
  const keptFrom = Math.max(now - retentionMs, rows.removedBefore ?? -Infinity, (rows.lastNotKept ?? -Infinity) + 1);
  const moments = momentsIn(isTimezone(timezone) ? timezone : 'UTC', now, 'en', locale.tag);
  const rulings = rulingsOf(rows);
  return {
    rows,
    now,
    words: locale.texts.why,
    schedules: locale.texts.schedule,
    moments,
    about: rulings.some(isFine) ? moments : coarse(moments),
    stretches: stretchesOf(rows, keptFrom),
    rulings,
    keptFrom,
    retentionMs,
  };
}

/** Its slots do not lie on full minutes apart, so a minute says too little about them. */
function isFine({ minGapMs: gap }: Ruling): boolean {
  return gap !== null && gap % MINUTE_MS !== 0;
}

/** An edit holds for the slots after it; those up to it were taken up before it was made. */
function rulingsOf({ task, versions }: TruthRows): Ruling[] {
  const kept = versions.length > 0 ? versions : [{ version: task.version, at: task.updated.at, definition: task }];
  const known = held(kept).filter(({ first, last }) => first <= last);
  // The version before the oldest that is kept is not known.
  const before = known.slice(0, 1).map(({ one, first }) => ({
    one: { ...one, version: null },
    first: Number.NEGATIVE_INFINITY,
    last: first - 1,
  }));
  return [...before, ...known].flatMap(readRuling);
}

interface Held extends Span {
  readonly one: Pick<InForce, 'definition'> & Pick<Ruling, 'version'>;
}

/** A definition that cannot be read has no slots that anybody could name. */
function readRuling({ one: { version, definition }, first, last }: Held): Ruling[] {
  const { schedule, policies, action } = definition;
  try {
    const gap = minGapMs(schedule);
    const policy = policyOf(policies, { actionKind: action.kind, minGapMs: gap });
    return [{ first, last, version, schedule, policy, minGapMs: gap }];
  } catch {
    return [];
  }
}

export function rulingAt({ rulings }: Timeline, instant: number): Ruling | null {
  return rulings.find(({ first, last }) => first <= instant && instant <= last) ?? null;
}

/** The version in force at that instant, as evidence; empty where none is known. */
export function versionAt(timeline: Timeline, instant: number): Pick<Evidence, 'version'> {
  const version = rulingAt(timeline, instant)?.version ?? null;
  return version === null ? {} : { version };
}

export function stretchAt({ stretches }: Timeline, instant: number): Stretch | null {
  return stretches.find(({ first, last }) => first <= instant && instant <= last) ?? null;
}

export function gapAt({ rows }: Timeline, instant: number): GapRow | null {
  return rows.gaps.find(({ fromAt, toAt }) => fromAt <= instant && instant <= toAt) ?? null;
}

/** The slots that the schedules in force name within a span, whatever became of them. */
export function namedSlots(timeline: Timeline, span: Span, max: number): number[] {
  const slots: number[] = [];
  for (const ruling of timeline.rulings) {
    const part = overlap(ruling, span);
    if (part !== null && slots.length < max)
      slots.push(...slotsIn(timeline, ruling, { ...part, count: max - slots.length }));
  }
  return slots;
}

interface Wanted extends Span {
  readonly count: number;
}

function slotsIn(
  { rows: { task, ahead } }: Timeline,
  { schedule, policy }: Ruling,
  { first, last, count }: Wanted,
): number[] {
  // A delay after the last finish has no slots but those that were taken up, and the one to come once that is known.
  if (isDelay(schedule)) {
    if (ahead.awaitsEnd) return [];
    return task.nextAt !== null && first <= task.nextAt && task.nextAt <= last ? [task.nextAt] : [];
  }
  try {
    return nextSlots(schedule, first - 1, { count, bounds: policy, upTo: last });
  } catch {
    return [];
  }
}

/** The slots within a span that should have, or will get, a row and have none: no stretch, gap or row tells of them. */
export function openSlots(timeline: Timeline, span: Span, max: number): number[] {
  const { rows, stretches, keptFrom } = timeline;
  const taken = new Set(rows.slots.map(({ slotAt }) => slotAt));
  const told: readonly Span[] = [
    { first: Number.NEGATIVE_INFINITY, last: keptFrom - 1 },
    ...stretches,
    ...rows.gaps.map(({ fromAt, toAt }) => ({ first: fromAt, last: toAt })),
  ];
  const allowed = span.last > timeline.now ? lastAllowed(timeline) : Number.POSITIVE_INFINITY;
  const slots: number[] = [];
  for (const part of without(span, told)) {
    // Rows stand at most where slots are, so this many slots hold as many open ones as are asked for.
    const named = namedSlots(timeline, part, max + taken.size - slots.length);
    slots.push(...named.filter((slot) => !taken.has(slot) && slot <= allowed && isAhead(timeline, slot)));
    if (slots.length >= max) break;
  }
  return slots.slice(0, max);
}

/** The future begins with the next slot that is planned. */
export function isAhead({ rows: { task }, now }: Timeline, slot: number): boolean {
  return slot <= now || task.nextAt === null || slot >= task.nextAt;
}

/** Farther ahead than this nobody counts the slots that `max_runs` leaves. */
const countedAheadMax = 1000;

/** The last slot that `max_runs` lets run, if every slot until then runs: one that is skipped uses up no run. */
export function lastAllowed(timeline: Timeline): number {
  const { task, ahead } = timeline.rows;
  const ruling = timeline.rulings.at(-1);
  const next = task.nextAt ?? task.resumeAt;
  if (ruling === undefined || next === null || ruling.policy.maxRuns === null) return Number.POSITIVE_INFINITY;
  const left = ruling.policy.maxRuns - task.counters.boundedRuns - ahead.reserved;
  if (left <= 0) return next - 1;
  if (left > countedAheadMax) return Number.POSITIVE_INFINITY;
  const count = left + ahead.skipped.length;
  const slots = slotsIn(timeline, ruling, { first: next, last: Number.POSITIVE_INFINITY, count });
  const open = slots.filter((slot) => !ahead.skipped.includes(slot));
  return open[left - 1] ?? Number.POSITIVE_INFINITY;
}

export function overlap(a: Span, b: Span): Span | null {
  const first = Math.max(a.first, b.first);
  const last = Math.min(a.last, b.last);
  return first > last ? null : { first, last };
}

/** The rest of a span when others are taken out of it, oldest first. */
function without(span: Span, others: readonly Span[]): Span[] {
  const left: Span[] = [];
  let { first } = span;
  for (const other of [...others].sort((a, b) => a.first - b.first)) {
    if (other.last < first) continue;
    if (other.first > span.last) break;
    if (other.first > first) left.push({ first, last: other.first - 1 });
    first = Math.max(first, other.last + 1);
  }
  return first > span.last ? left : [...left, { first, last: span.last }];
}

/* ---- facts of one slot ---- */

export function caseOfGap(timeline: Timeline, { toAt, createdAt }: GapRow): Case {
  return {
    timeline,
    slotAt: toAt,
    status: 'missed',
    source: 'schedule',
    decidedAt: createdAt,
    decideBy: null,
    deed: null,
    asker: null,
  };
}

/** Null where no schedule can be read that was in force. */
export function policyOfCase({ timeline, slotAt }: Case) {
  return rulingAt(timeline, slotAt)?.policy ?? null;
}

/** Null where no schedule can be read that was in force. */
export function graceOf({ timeline, slotAt }: Case): number | null {
  const ruling = rulingAt(timeline, slotAt);
  if (ruling === null) return null;
  try {
    return graceMs(ruling.policy, slotAt, nextSlot(ruling.schedule, slotAt));
  } catch {
    return null;
  }
}

/** Nothing could be written then, though the server may have been up. */
export function wasUnwritable({ timeline, slotAt }: Pick<Case, 'timeline' | 'slotAt'>): boolean {
  return timeline.rows.unwritable.some(({ from, to }) => from <= slotAt && slotAt <= to);
}

/** A pause holds what was snoozed before it. */
export function isHeld({ timeline: { rows } }: Case, createdAt: number): boolean {
  const { state, paused } = rows.task;
  return state === 'paused' && paused !== null && createdAt < paused.at;
}

/** A snooze brings back what has come before, unless it was the first run that there ever was. */
export function isAgain({ timeline: { rows } }: Case, { source }: SlotRow): boolean {
  return source === 'snooze' && rows.task.counters.runs > 1;
}

export function lastError({ run }: SlotRow): string | null {
  return run?.attempts.findLast(({ error }) => error !== null)?.error ?? null;
}

export function startedAfterMs({ run, slotAt }: SlotRow): number | null {
  const startedAt = run?.startedAt ?? null;
  return startedAt === null ? null : Math.max(0, startedAt - slotAt);
}
