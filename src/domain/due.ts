import * as limits from './limits.ts';
import type { OccurrenceSource, Reason } from './occurrence.ts';
import { graceMs, type Policy } from './policy.ts';
import { isDelay, nextSlot, slotsThrough, type Schedule } from './schedule/schedule.ts';

/** A task whose next slot has come, with what stands around it. */
export interface Due {
  readonly schedule: Schedule;
  readonly policy: Policy;
  readonly nextAt: number;
  readonly boundedRuns: number;
  /** Live runs that hold a place in `max_runs`: each is counted when it ends, unless it never began. */
  readonly held: number;
  /** Live runs of the task. */
  readonly live: number;
  /** Occurrences that wait for admission, apart from questions to a person. */
  readonly waiting: number;
  /** How many of them hold a place as well. */
  readonly reserved: number;
  /** Slots to come that a person has skipped; they have their rows and are no business of a plan. */
  readonly skipped?: readonly number[];
}

export interface PlannedOccurrence {
  readonly slotAt: number;
  readonly source: OccurrenceSource;
  readonly status: 'pending' | 'dispatched' | 'skipped' | 'missed';
  readonly reason: Reason | null;
  /** For a question: when it is moot. */
  readonly decideBy: number | null;
}

export interface Gap {
  readonly fromAt: number;
  readonly toAt: number;
  readonly count: number;
  readonly reason: Reason;
}

export interface DuePlan {
  readonly occurrences: readonly PlannedOccurrence[];
  readonly gap: Gap | null;
  /** Null completes the task. */
  readonly nextAt: number | null;
  /** The policy `replace`: the live run is asked to stop and older waiting occurrences give way. */
  readonly replaces: boolean;
}

/**
 * Decides what becomes of every slot from `nextAt` through `now`: each ends in exactly one planned occurrence or inside
 * the gap. Slots beyond their grace were missed; the newest slot, when it is within its grace, simply runs. One call looks
 * at a bounded number of slots; when more are due, it plans the oldest of them and leaves `nextAt` in the past.
 */
export function planDue(due: Due, now: number): DuePlan {
  if (isDelay(due.schedule)) return planAfterCompletion(due, now);
  const page = slotsThrough(due.schedule, due.nextAt, {
    through: now,
    limit: limits.slotsPerStepMax,
    bounds: due.policy,
  });
  const slots = page.slots.filter((slot) => due.skipped?.includes(slot) !== true);
  const next = openFrom(due, page.next);
  const grace = due.policy.graceMs;
  const first = grace === null ? -1 : slots.findIndex((slot) => now - slot <= grace);
  if (first >= 0) return planLongGrace(due, { slots, next, now }, first);
  return next !== null && next <= now ? planPage(due, slots, next) : planWindow(due, { slots, next, now });
}

/** The slot, or the first one after it that nobody has skipped. */
export function openFrom(
  { schedule, policy, skipped = [] }: Pick<Due, 'schedule' | 'policy' | 'skipped'>,
  slot: number | null,
): number | null {
  let next = slot;
  while (next !== null && skipped.includes(next)) {
    next = nextSlot(schedule, next, policy);
  }
  return next;
}

/**
 * The outage is longer than one step may look at: none of these slots is the newest, so none of them runs. The last ones
 * are left for the next step where the policy may want to run them.
 */
function planPage({ policy }: Due, slots: readonly number[], next: number): DuePlan {
  const kept = policy.missed === 'all' || policy.missed === 'ask' ? policy.missedLimit : 0;
  const told = kept === 0 ? slots : slots.slice(0, -kept);
  const nextAt = kept === 0 ? next : (slots.at(-kept) ?? next);
  return { ...nothingUntil(nextAt), gap: gapOf(told, droppedReason(policy)) };
}

/** A grace that was chosen long may hold for many slots: they run in several steps, so that no step grows without end. */
function planLongGrace(due: Due, { slots, next, now }: Window, first: number): DuePlan {
  const end = first + limits.onTimePerStepMax;
  return planWindow(due, { slots: slots.slice(0, end), next: slots[end] ?? next, now });
}

function droppedReason({ missed }: Policy): Reason {
  if (missed === 'skip') return 'late';
  return missed === 'all' || missed === 'ask' ? 'beyond_limit' : 'covered';
}

/** A delay after the last finish has no slot while its work goes on: the due instant is only a stand-in, moved along. */
function planAfterCompletion(due: Due, now: number): DuePlan {
  const next = nextSlot(due.schedule, now, due.policy);
  if (due.live > 0 || due.waiting > 0) return nothingUntil(next);
  const isSkipped = due.skipped?.includes(due.nextAt) === true;
  return planWindow(due, { slots: isSkipped ? [] : [due.nextAt], next, now });
}

function nothingUntil(nextAt: number | null): DuePlan {
  return { occurrences: [], gap: null, nextAt, replaces: false };
}

interface Window {
  readonly slots: readonly number[];
  readonly next: number | null;
  readonly now: number;
}

function planWindow(due: Due, window: Window): DuePlan {
  const { slots, next, now } = window;
  const newest = slots.at(-1);
  if (newest === undefined) return nothingUntil(next);
  const grace = graceMs(due.policy, newest, next);
  // The default is too short for any but the newest slot; a grace that was chosen may hold for several.
  const onTime = slots.filter((slot) => now - slot <= grace && (slot === newest || due.policy.graceMs !== null));
  const missed = slots.slice(0, slots.length - onTime.length);
  const choice = chooseMissed(due.policy, missed, onTime.length > 0);
  // Where a newer run replaces an older one, only the newest of several has any business to start.
  const replaced = due.policy.overlap === 'replace' ? onTime.slice(0, -1) : [];
  const wanted = [
    ...choice.late.map((slotAt) => ({ slotAt, source: 'catch_up' as const })),
    ...onTime.slice(replaced.length).map((slotAt) => ({ slotAt, source: 'schedule' as const })),
  ];
  const admitted = admit(due, wanted);
  const dropped = choice.dropped;
  const tooMany = dropped.length > limits.missedRowsMax;
  return {
    occurrences: [
      ...rows(tooMany ? [] : dropped, { status: 'missed', reason: choice.reason }),
      ...rows(choice.asked, {
        source: 'catch_up',
        status: 'pending',
        reason: 'ask',
        decideBy: now + limits.askExpiryMs,
      }),
      ...rows(replaced, { status: 'skipped', reason: 'replaced' }),
      ...admitted.occurrences,
    ],
    gap: tooMany ? gapOf(dropped, choice.reason) : null,
    nextAt: isSpent(due.policy, due.boundedRuns) ? null : next,
    replaces: admitted.replaces,
  };
}

/** `once` means one run for the whole outage: when the newest slot is still on time, that run covers the older ones. */
function chooseMissed(policy: Policy, missed: readonly number[], onTime: boolean) {
  const first = Math.max(missed.length - keptOf(policy, onTime), 0);
  const [dropped, kept] = [missed.slice(0, first), missed.slice(first)];
  const [late, asked] = policy.missed === 'ask' ? [[], kept] : [kept, []];
  return { late, asked, dropped, reason: droppedReason(policy) };
}

function keptOf({ missed, missedLimit }: Policy, onTime: boolean): number {
  if (missed === 'once') return onTime ? 0 : 1;
  return missed === 'skip' ? 0 : missedLimit;
}

/** The last run that `max_runs` allows has ended, so nothing is left to run. */
export function isSpent({ maxRuns }: Pick<Policy, 'maxRuns'>, boundedRuns: number): boolean {
  return maxRuns !== null && boundedRuns >= maxRuns;
}

/**
 * Applies `max_runs`, then the overlap policy, slot by slot. What waits and what runs holds its place in `max_runs`, so the
 * task is completed only when the last allowed run has really been made.
 */
function admit(due: Due, wanted: readonly Pick<PlannedOccurrence, 'slotAt' | 'source'>[]) {
  const occurrences: PlannedOccurrence[] = [];
  let { live, waiting, reserved } = due;
  let dispatched = 0;
  let replaces = false;
  for (const { slotAt, source } of wanted) {
    const left =
      due.policy.maxRuns === null ? Infinity : due.policy.maxRuns - due.boundedRuns - due.held - reserved - dispatched;
    const { status, reason } = left <= 0 ? spent : overlap(due.policy.overlap, { live, waiting, source });
    if (status === 'dispatched') {
      dispatched += 1;
      live += 1;
    }
    if (status === 'pending') {
      const takesOver = due.policy.overlap === 'replace' && source === 'schedule';
      replaces ||= takesOver;
      // Occurrences that waited before this plan give way; catch-ups planned beside it keep their turn.
      waiting += takesOver ? 1 - due.waiting : 1;
      reserved += takesOver ? 1 - due.reserved : 1;
    }
    occurrences.push({ slotAt, source, status, reason, decideBy: null });
  }
  return { occurrences, replaces };
}

type Verdict = Pick<PlannedOccurrence, 'status' | 'reason'>;
type Around = Pick<Due, 'live' | 'waiting'> & Pick<PlannedOccurrence, 'source'>;

const spent: Verdict = { status: 'skipped', reason: 'max_runs' };
const waits: Verdict = { status: 'pending', reason: 'overlap' };

/** Catch-ups were asked for by a policy of their own, so they wait for their turn even where an overlap would be skipped. */
function overlap(policy: Policy['overlap'], { live, waiting, source }: Around): Verdict {
  if (policy === 'allow' || (live === 0 && waiting === 0)) return { status: 'dispatched', reason: null };
  if (source === 'catch_up' || policy === 'replace') return waits;
  if (policy === 'skip') return live === 0 ? waits : { status: 'skipped', reason: 'overlap' };
  return waiting >= limits.queueLengthMax ? { status: 'skipped', reason: 'queue_full' } : waits;
}

type Settled = Verdict & Partial<PlannedOccurrence>;

function rows(slots: readonly number[], settled: Settled): readonly PlannedOccurrence[] {
  return slots.map((slotAt) => ({ slotAt, source: 'schedule', decideBy: null, ...settled }));
}

/**
 * The slots that are due at the moment in which a task is paused by its failures: nobody decides about them any more, so
 * they are told as one gap.
 */
export function gapBeforePause(
  { schedule, policy, nextAt }: Pick<Due, 'schedule' | 'policy' | 'nextAt'>,
  now: number,
): Gap | null {
  // A delay after the last finish has no slots of its own, only a stand-in.
  if (isDelay(schedule)) return null;
  const options = { through: now, limit: limits.slotsPerStepMax, bounds: policy };
  const told = { fromAt: nextAt, toAt: nextAt, count: 0 };
  for (let next: number | null = nextAt; next !== null && next <= now;) {
    const page: ReturnType<typeof slotsThrough> = slotsThrough(schedule, next, options);
    if (told.count === 0) told.fromAt = page.slots[0] ?? nextAt;
    told.toAt = page.slots.at(-1) ?? told.toAt;
    told.count += page.slots.length;
    next = page.next;
  }
  return told.count === 0 ? null : { ...told, reason: 'paused' };
}

function gapOf(slots: readonly number[], reason: Reason): Gap | null {
  const first = slots[0];
  const last = slots.at(-1);
  return first === undefined || last === undefined ? null : { fromAt: first, toAt: last, count: slots.length, reason };
}
