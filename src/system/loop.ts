import type { Clock, Log, Stopwatch, Timer } from '../app/ports/outside.ts';
import type { Counts } from '../app/ports/pipeline.ts';
import { createFaults } from '../domain/errors.ts';
import { backoffMs, loopStuckMs, sleepMaxMs } from '../domain/limits.ts';

/** The work of a loop: a step, and the instant of the next one. */
export interface Work {
  readonly name: string;
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
}

export interface Loop {
  readonly name: string;
  start(): void;
  /** Something is ready; a loop that sleeps looks at once, a loop that works looks once more. */
  ring(): void;
  /**
   * Makes a step now, also while the loop does not turn, and never beside another one of it. Answers what that step took
   * up; null when it failed, or when the loop has stopped.
   */
  turn(): Promise<Counts | null>;
  /** Rows that all steps so far have taken up. */
  readonly taken: () => number;
  /** Resolves when the step in hand has ended; no other begins. */
  stop(): Promise<void>;
  readonly health: () => LoopHealth;
  /** Whether it sleeps and nothing has rung: there is nothing that it could do now. */
  readonly isAsleep: () => boolean;
}

export interface LoopHealth {
  readonly ok: boolean;
  readonly error: string | null;
  /** Since a step last succeeded. */
  readonly idleMs: number;
  /** Since a step last ended, well or not: a loop that fails again and again turns all the same. */
  readonly turnMs: number;
}

export interface LoopDeps {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly log: Log;
  readonly batchMax: number;
}

/** Work that is due and that a step could not take is held elsewhere; looking without a pause would only spin. */
const heldPauseMs = 100;

/**
 * A thin shell around a step. It sleeps until the nearest due row, at most 30 seconds, because timers overflow, machines
 * sleep, clocks jump and rings get lost. A step that fails is logged and tried again, later and later; the loop never ends
 * by itself.
 */
export function createLoop(work: Work, deps: LoopDeps): Loop {
  const { timer } = deps;
  const turns = createTurns(work, deps);
  let running: Promise<void> | null = null;
  let stopping = false;
  let rung = false;
  let wake: (() => void) | null = null;
  /** The steps that were asked for before it turned by itself. */
  let alone: Promise<unknown> | null = null;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const callOff = timer.after(ms, resolve);
      wake = () => {
        callOff();
        wake = null;
        resolve();
      };
      // A ring does not shorten the pause after a failure: the store that was away a moment ago needs it.
      if ((rung && turns.error() === null) || turns.isAsked() || stopping) wake();
    });

  const run = async () => {
    while (!stopping) {
      rung = false;
      const pause = await turns.take();
      // Between two full batches requests, chats and timers get a turn.
      if (pause === 0) await timer.yield();
      else await sleep(Math.ceil(pause));
      wake = null;
    }
  };

  return {
    name: work.name,
    start: () => {
      running ??= alone === null ? run() : alone.then(run);
    },
    ring: () => {
      const isFirst = !rung && wake !== null && turns.error() === null;
      rung = true;
      // Rings of the same turn of the process share the step, and with it the wait for the disk.
      if (isFirst) void timer.yield().then(() => wake?.());
    },
    turn: async () => {
      if (stopping) return null;
      const turned = turns.ask();
      if (running !== null) wake?.();
      else alone = alone === null ? turns.take() : alone.then(() => turns.take());
      return turned;
    },
    taken: turns.taken,
    stop: async () => {
      stopping = true;
      wake?.();
      await Promise.all([running, alone]);
      turns.refuse();
    },
    isAsleep: () => wake !== null && !rung,
    health: turns.health,
  };
}

/** Callers that wait for the next step to begin and to end. */
function createWaiters() {
  let waiting: ((counts: Counts | null) => void)[] = [];
  return {
    isAny: () => waiting.length > 0,
    join: () => new Promise<Counts | null>((resolve) => waiting.push(resolve)),
    /** A step begins: how to tell those who have waited for it, and not those who come later. */
    leave: () => {
      const left = waiting;
      waiting = [];
      return (counts: Counts | null) => {
        for (const tell of left) tell(counts);
      };
    },
  };
}

function createTurns(work: Work, { clock, stopwatch, log, batchMax }: LoopDeps) {
  const { name: loop } = work;
  const faults = createFaults();
  let taken = 0;
  const waiters = createWaiters();
  let lastAt = stopwatch.elapsed();
  let endedAt = lastAt;

  const succeeded = () => {
    const failures = faults.over();
    if (failures > 0) log.info('loop_recovered', { loop, failures });
    lastAt = stopwatch.elapsed();
    endedAt = lastAt;
  };

  const failed = (error: unknown): number => {
    endedAt = stopwatch.elapsed();
    const { isNews, ...fault } = faults.met(error);
    if (isNews) log.error('step_failed', { loop, ...fault });
    return backoffMs(fault.failures);
  };

  return {
    /** Makes one step and answers how long to wait for the next; it never throws. */
    take: async (): Promise<number> => {
      const tell = waiters.leave();
      try {
        // Both are asked about the same instant, so that nothing falls between them.
        const now = clock.now();
        const counts = await work.step(now, batchMax);
        taken += counts.taken;
        const pause = counts.more ? 0 : pauseUntil(await work.nextAt(now), { now, clock, taken: counts.taken });
        succeeded();
        tell(counts);
        return pause;
      } catch (error) {
        tell(null);
        return failed(error);
      }
    },
    /** The counts of the next step to begin; null when it fails, or is never made. */
    ask: waiters.join,
    isAsked: waiters.isAny,
    /** No step is made any more. */
    refuse: () => waiters.leave()(null),
    taken: () => taken,
    error: faults.last,
    health: (): LoopHealth => {
      const now = stopwatch.elapsed();
      const idleMs = now - lastAt;
      const error = faults.last();
      const ok = error === null && idleMs < loopStuckMs;
      return { ok, error, idleMs: Math.round(idleMs), turnMs: Math.round(now - endedAt) };
    },
  };
}

interface StepMade {
  readonly now: number;
  readonly clock: Clock;
  readonly taken: number;
}

function pauseUntil(next: number | null, { now, clock, taken }: StepMade): number {
  if (next === null) return sleepMaxMs;
  if (next <= now) return taken > 0 ? 0 : heldPauseMs;
  return Math.min(Math.max(next - clock.now(), 0), sleepMaxMs);
}
