import { missing } from '../../domain/errors.ts';
import { MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import { english as englishSchedules } from '../../domain/schedule/words/english.ts';
import type { World } from '../ports/outside.ts';
import type { TruthQuery, TruthRows, TruthStore } from '../ports/why.ts';
import { englishWhy } from '../words/why.ts';
import type { Answer, Decision } from './answers.ts';
import { answerDayOut, answerNoSlot, answerOpen, answerRemoved, answerSlot } from './slot-answers.ts';
import { answerGap, answerStanding, answerStretch } from './stretch-answers.ts';
import type { Span, Stretch } from './stretches.ts';
import {
  gapAt,
  isAhead,
  lastAllowed,
  namedSlots,
  openSlots,
  overlap,
  stretchAt,
  timelineOf,
  type Timeline,
  type WhyLocale,
} from './timeline.ts';

const english: WhyLocale = { tag: 'en', texts: { why: englishWhy, schedule: englishSchedules } };

export interface WhyAnswers {
  readonly timezone: string;
  readonly answers: readonly Answer[];
  /** How often each decision stands among these answers; a gap counts its slots. */
  readonly summary: Readonly<Partial<Record<Decision, number>>>;
}

/** A place in a list: whatever begins later, or at the same instant and ranks behind, comes after it. */
export interface Place {
  readonly at: number;
  readonly rank: number;
}

export interface RangeRequest {
  readonly taskId: string;
  readonly from: number;
  readonly to: number;
  readonly after: Place | null;
  readonly limit: number;
  /** Leaves out what was over within a minute and kept nothing from running. */
  readonly isBrief?: boolean;
}

export interface WhyPage extends WhyAnswers {
  readonly next: Place | null;
}

interface WhyDeps extends Pick<World, 'clock'> {
  readonly store: Pick<TruthStore, 'readTruth'>;
  /** How long the records of slots are kept. */
  readonly retentionMs: number;
}

/** The truth about a task at any instant: one honest answer for every slot, read from the records and never guessed. */
export type Why = ReturnType<typeof createWhy>;

export function createWhy({ store, clock, retentionMs }: WhyDeps) {
  const timeline = async (query: TruthQuery, locale: WhyLocale): Promise<Timeline> => {
    const rows = await store.readTruth(query);
    if (rows === null) throw missing('task');
    return timelineOf(rows, { now: clock.now(), retentionMs, locale });
  };
  return {
    /** Answers for one instant. To the minute, it stands for the whole minute; to the second, for the second. */
    at: async (taskId: string, instant: number, locale = english): Promise<WhyAnswers> => {
      const last = instant + spanMs(instant) - 1;
      const known = await timeline({ taskId, from: instant, to: last, limit: pointsMax }, locale);
      const answers = answersAt(known, { first: instant, last });
      return { timezone: zoneIn(known), answers, summary: summaryOf(answers) };
    },
    /** Answers for a stretch of time, oldest first, a page at a time. */
    range: async (request: RangeRequest, locale = english): Promise<WhyPage> => {
      const { taskId, to, limit } = request;
      const from = request.after === null ? request.from : Math.max(request.from, request.after.at);
      // A page begins at the place where the one before it ended, so what stands there is read once more.
      const known = await timeline({ taskId, from, to, limit: limit + 1 }, locale);
      return { timezone: zoneIn(known), ...pageOf(known, request) };
    },
  };
}

function zoneIn({ rows }: Timeline): string {
  return rows.task.schedule.timezone;
}

/** The minute for which one instant can stand holds at most a row for each second, and a few by hand. */
const pointsMax = 200;

/** People name a minute and mean whatever happened in it. */
function spanMs(instant: number): number {
  if (instant % MINUTE_MS === 0) return MINUTE_MS;
  return instant % 1000 === 0 ? 1000 : 1;
}

function answersAt(timeline: Timeline, span: Span): Answer[] {
  const { rows } = timeline;
  const taken = new Set(rows.slots.map(({ slotAt }) => slotAt));
  const open = namedSlots(timeline, span, pointsMax).filter((slot) => !taken.has(slot));
  const found: Entry[] = [
    ...rows.slots
      .slice(0, pointsMax)
      .map((row) => ({ key: row.id, at: row.slotAt, make: () => answerSlot(timeline, row) })),
    ...open.flatMap((slot) => entryOfOpen(timeline, slot)),
  ];
  // Slots of one outage, or of one pause, have one answer together.
  const once = found.filter(({ key }, index) => found.findIndex((other) => other.key === key) === index);
  if (once.length > 0) return once.toSorted((a, b) => a.at - b.at).map(({ make }) => make());
  const stretch = stretchAt(timeline, span.first);
  const stands = stretch !== null && stretch.is !== 'paused';
  const at = span.first;
  return [stands ? answerStanding(timeline, stretch, { at, isSlot: false }) : answerNoSlot(timeline, at)];
}

interface Entry {
  readonly key: string;
  readonly at: number;
  readonly make: () => Answer;
}

/** A slot that the schedule names and that has no row of its own. */
function entryOfOpen(timeline: Timeline, slot: number): Entry[] {
  const gap = gapAt(timeline, slot);
  if (gap !== null) return [{ key: gap.id, at: slot, make: () => answerGap(timeline, gap) }];
  const stretch = stretchAt(timeline, slot);
  if (stretch !== null) {
    const key = `${stretch.is} ${stretch.first}`;
    return [{ key, at: slot, make: () => answerStanding(timeline, stretch, { at: slot, isSlot: true }) }];
  }
  if (slot > timeline.now && (!isAhead(timeline, slot) || slot > lastAllowed(timeline))) return [];
  return [{ key: `open ${slot}`, at: slot, make: () => answerOpen(timeline, slot) }];
}

/** Entries that begin at the same instant stand in this order. */
const ranks = { removed: 0, stretch: 1, gap: 2, slot: 3 } as const;

interface Placed extends Place {
  readonly make: () => Answer;
}

function pageOf(timeline: Timeline, request: RangeRequest): Omit<WhyPage, 'timezone'> {
  const { after, limit } = request;
  const behind = ({ at, rank }: Place) => after === null || at > after.at || (at === after.at && rank > after.rank);
  const placed = entriesIn(timeline, request)
    .filter(behind)
    .toSorted((a, b) => a.at - b.at || a.rank - b.rank);
  const page = placed.slice(0, limit);
  const isEmpty = placed.length === 0 && after === null;
  const answers = isEmpty
    ? answerDayOut(timeline, { first: request.from, last: request.to })
    : page.map(({ make }) => make());
  const last = placed.length > limit ? page.at(-1) : undefined;
  return { answers, next: last === undefined ? null : { at: last.at, rank: last.rank }, summary: summaryOf(answers) };
}

function entriesIn(timeline: Timeline, request: RangeRequest): Placed[] {
  const { rows } = timeline;
  const whole: Span = { first: request.from, last: request.to };
  const span: Span = {
    first: Math.max(request.from, request.after?.at ?? request.from),
    last: lastRead(rows, request),
  };
  const removed = overlap(whole, { first: rows.task.created.at + 1, last: timeline.keptFrom - 1 });
  const entry = (first: number, kind: keyof typeof ranks, make: () => Answer): Placed => {
    return { at: Math.max(first, request.from), rank: ranks[kind], make };
  };
  const isTold = (stretch: Stretch) =>
    overlap(stretch, whole) !== null && !(request.isBrief === true && isBlink(timeline, stretch));
  return [
    ...(removed === null ? [] : [removed]).map(({ first, last }) =>
      entry(first, 'removed', () => answerRemoved(timeline, first, last + 1)),
    ),
    ...timeline.stretches
      .filter(isTold)
      .map((stretch) => entry(stretch.first, 'stretch', () => answerStretch(timeline, stretch))),
    ...rows.gaps.map((gap) => entry(gap.fromAt, 'gap', () => answerGap(timeline, gap))),
    ...rows.slots.map((row) => entry(row.slotAt, 'slot', () => answerSlot(timeline, row))),
    ...openSlots(timeline, span, request.limit + 2).map((slot) =>
      entry(slot, 'slot', () => answerOpen(timeline, slot)),
    ),
  ];
}

/** A stretch so short that no slot fell into it. */
function isBlink(timeline: Timeline, stretch: Stretch): boolean {
  return stretch.last - stretch.first < MINUTE_MS && namedSlots(timeline, stretch, 1).length === 0;
}

/** Beyond the last row of a full page nothing has been read, so nothing can be said about it yet. */
function lastRead({ slots, gaps }: TruthRows, { to, limit }: RangeRequest): number {
  const full = limit + 1;
  const slot = slots.length > full ? (slots.at(-1)?.slotAt ?? to) : to;
  const gap = gaps.length > full ? (gaps.at(-1)?.fromAt ?? to) : to;
  return Math.min(slot, gap, to);
}

export function summaryOf(answers: readonly Answer[]): WhyPage['summary'] {
  const summary: Partial<Record<Decision, number>> = {};
  for (const { decision, evidence } of answers) {
    summary[decision] = (summary[decision] ?? 0) + (decision === 'gap' ? (evidence.gap?.count ?? 1) : 1);
  }
  return summary;
}
