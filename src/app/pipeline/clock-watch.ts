import { isSpent, openFrom } from '../../domain/due.ts';
import { AppError } from '../../domain/errors.ts';
import { clockStepMs, clockToldMs } from '../../domain/limits.ts';
import { isDelay, nextSlot, slotsThrough, type Schedule } from '../../domain/schedule/schedule.ts';
import { iso, MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import type { Alarms } from '../housekeeping/alarms.ts';
import type { World } from '../ports/outside.ts';
import type { Processes } from '../ports/processes.ts';
import type { Overtaken, SetBack, TurnedBack, UpkeepStore } from '../ports/upkeep.ts';
import { isolate } from './quarantine.ts';
import { policyFor } from './run-requests.ts';

interface ClockWatchDeps extends Pick<World, 'clock' | 'ids' | 'stopwatch' | 'log'> {
  readonly store: Pick<UpkeepStore, 'setBack' | 'turnBack' | 'endSetBack'>;
  readonly alarms: Pick<Alarms, 'tell'>;
  readonly processes: Pick<Processes, 'isKeeper'>;
}

/**
 * Notices a wall clock that was set back, by comparing it with the monotonic one, and takes up what a start has noticed.
 * Pauses that were measured from "now" would grow by the step, so they are moved along with it. Tasks are planned again, page
 * by page, because the clock may have been ahead: what it passed over without a run comes when its time comes, and
 * what has run keeps its row, so that it does not run twice. At last the owners are told.
 */
export type ClockWatch = ReturnType<typeof createClockWatch>;

export function createClockWatch(deps: ClockWatchDeps) {
  const { store, clock, stopwatch, ids, log, processes } = deps;
  /** Names a set-back until it is known to be written, because an answer may get lost. */
  let noticed: string | null = null;
  let wall = clock.now();
  let elapsed = stopwatch.elapsed();
  /** Also at the start, because the process before may have left something to do. */
  let isOpen = true;

  const look = async () => {
    const nowWall = clock.now();
    const nowElapsed = stopwatch.elapsed();
    const stepMs = Math.round(nowWall - wall - (nowElapsed - elapsed));
    if (Math.abs(stepMs) > clockStepMs) log.warn('clock_was_set', { step_ms: stepMs });
    // All processes of a database have its clock, and one of them is enough to mend what it did.
    if (stepMs < -clockStepMs && processes.isKeeper()) {
      // The moment at which it was set lies anywhere since the last look.
      const sinceMs = Math.ceil(nowElapsed - elapsed);
      noticed ??= ids.next();
      await store.setBack({ id: noticed, byMs: stepMs, twice: { from: nowWall - sinceMs, to: wall + sinceMs } });
      noticed = null;
      isOpen = true;
    }
    wall = nowWall;
    elapsed = nowElapsed;
  };

  return {
    /** Answers whether there is more to plan again. */
    check: async (limit: number): Promise<boolean> => {
      await look();
      if (!isOpen || !processes.isKeeper()) return false;
      const back = await planPage(deps, limit);
      if (back === 'refused') return false;
      isOpen = back !== null && back.after !== null;
      if (back === null || isOpen) return isOpen;
      log.info('planned_after_set_back', { by_ms: back.byMs, moved: back.moved });
      if (-back.byMs >= clockToldMs) await tellOwners(deps, back);
      await store.endSetBack();
      return false;
    },
  };
}

/** A page that the database refuses is tried again with the next look, and keeps nobody from running meanwhile. */
async function planPage({ store, clock, log }: ClockWatchDeps, limit: number): Promise<SetBack | null | 'refused'> {
  const now = clock.now();
  try {
    return await store.turnBack({ now, limit }, (found, back) =>
      found.map((task) => isolate({ log }, task, (one) => turnedBack(one, back, now))),
    );
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'internal') throw error;
    log.error('set_back_refused', { error: error.message });
    return 'refused';
  }
}

/** One word for each hour that the clock shows, however often it is set: a clock that jumps to and fro says nothing new. */
function tellOwners({ alarms, clock }: ClockWatchDeps, { byMs, twice, moved }: SetBack): Promise<void> {
  const facts = { cause: 'clock', byMs: -byMs, to: twice.from, moved } as const;
  return alarms.tell({ about: iso(twice.from).slice(0, 13), since: twice.from, facts }, clock.now());
}

function turnedBack(task: Overtaken, { byMs }: SetBack, now: number): TurnedBack {
  const policy = policyFor(task);
  const earlier = task.madeAhead ? begunEarlier(task, byMs, now) : task.schedule;
  const schedule = nextSlot(earlier, now, policy) === null ? task.schedule : earlier;
  const nextAt = nextOf(task, schedule, now);
  const isOver = task.state === 'completed' && nextAt === null;
  if (isOver) return { taskId: task.id, nextAt, begins: null, gaps: [], isOver };
  const gaps = task.gaps.map((gap) => pastOf(gap, task, now));
  const begins = schedule === task.schedule ? null : beginningOf(schedule);
  return { taskId: task.id, nextAt, begins, gaps, isOver };
}

/** As much of an outage as is past. The slots of an earlier schedule are known by their number alone, and lie about evenly. */
function pastOf(gap: Overtaken['gaps'][number], task: Overtaken, now: number): Overtaken['gaps'][number] {
  const { fromAt, toAt, count } = gap;
  const bounds = policyFor(task);
  const { slots } = slotsThrough(task.schedule, fromAt, { through: toAt, limit: count + 1, bounds });
  const isOfNow = slots[0] === fromAt && slots.at(-1) === toAt && slots.length === count;
  if (!isOfNow) {
    return { ...gap, toAt: now, count: 1 + Math.floor(((count - 1) * (now - fromAt)) / (toAt - fromAt)) };
  }
  const past = slots.filter((slot) => slot <= now);
  return { ...gap, toAt: past.at(-1) ?? now, count: past.length };
}

/**
 * A beginning on the full minute was named by somebody; any other was measured from a now that was ahead, as in "in 20
 * minutes". Intervals count from the minute that was running, which therefore is no later than that now. Slots that have run
 * keep their rows, so their instants must stay slots of the schedule.
 */
function begunEarlier({ schedule, skipped }: Overtaken, byMs: number, now: number): Schedule {
  const isMeasured = (instant: number) => instant > now && instant % MINUTE_MS !== 0;
  if (schedule.kind === 'once' && isMeasured(schedule.onceAt) && skipped.length === 0) {
    const onceAt = Math.max(schedule.onceAt + byMs, now + 1);
    const { startAt } = schedule;
    return { ...schedule, onceAt, ...(startAt === undefined ? {} : { startAt: Math.min(startAt, onceAt) }) };
  }
  const wasRunning = (instant: number) => instant > now && instant <= now - byMs;
  if (schedule.kind === 'interval' && (isMeasured(schedule.startAt) || wasRunning(schedule.startAt))) {
    const stepMs = (nextSlot(schedule, schedule.startAt) ?? schedule.startAt) - schedule.startAt;
    const earlierMs = skipped.length === 0 || stepMs === 0 ? -byMs : Math.ceil(-byMs / stepMs) * stepMs;
    return { ...schedule, startAt: schedule.startAt - earlierMs };
  }
  return schedule;
}

function beginningOf(schedule: Schedule): TurnedBack['begins'] {
  if (schedule.kind === 'once') return { onceAt: schedule.onceAt, startAt: schedule.startAt ?? null };
  return schedule.kind === 'interval' ? { startAt: schedule.startAt } : null;
}

/** The first slot from now on that has no row; null where the task stays as it is. A slot that is due stays due. */
function nextOf(task: Overtaken, schedule: Schedule, now: number): number | null {
  const policy = policyFor(task);
  // A task that has come to its end goes on only where that end is not yet true.
  const goesOn = task.state === 'active' ? task.nextAt > now : task.isTakenBack && !isSpent(policy, task.boundedRuns);
  if (task.state === 'paused' || !goesOn) return null;
  const first = openFrom({ ...task, schedule, policy }, nextSlot(schedule, now, policy));
  if (first === null || task.state === 'completed') return first;
  // A delay waits for no longer than it would from now on.
  const next = isDelay(schedule) ? Math.min(first, task.nextAt) : first;
  return next === task.nextAt ? null : next;
}
