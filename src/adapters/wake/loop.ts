import { loopStuckMs, sleepMaxMs, stepBackoffMaxMs, stepBackoffMs } from '../../domain/limits.ts';
import type { Clock, Log, Stopwatch, Timer } from '../../app/ports.ts';
import type { Counts } from '../../app/store.ts';

/** What a loop turns: a step, and the instant of the next one. */
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
  /** Resolves when the step in hand has ended; no other begins. */
  stop(): Promise<void>;
  readonly health: () => LoopHealth;
  /** It sleeps, and nothing has rung: there is nothing that it could do now. */
  readonly isAsleep: () => boolean;
}

export interface LoopHealth {
  readonly ok: boolean;
  readonly error: string | null;
  readonly idleMs: number;
}

export interface LoopNeeds {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly log: Log;
  readonly batchMax: number;
}

/** When something is due that a step could not take, it is held by somebody; looking without a pause would only spin. */
const heldPauseMs = 100;

/**
 * A thin shell around a step. It sleeps until the nearest due row, at most 30 seconds, because timers overflow, machines
 * sleep, clocks jump and rings get lost. A step that fails is logged and tried again, later and later; the loop never ends
 * by itself.
 */
export function createLoop(work: Work, needs: LoopNeeds): Loop {
  const { timer, stopwatch } = needs;
  const turns = createTurns(work, needs);
  let running: Promise<void> | null = null;
  let stopping = false;
  let rung = false;
  let wake: (() => void) | null = null;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const callOff = timer.after(ms, resolve);
      wake = () => {
        callOff();
        wake = null;
        resolve();
      };
      // A ring does not shorten the pause after a failure: the store that was away a moment ago needs it.
      if ((rung && turns.error() === null) || stopping) wake();
    });

  const run = async () => {
    while (!stopping) {
      rung = false;
      const pause = await turns.take();
      // Between two full batches everybody else gets a turn: requests, chats, timers.
      if (pause === 0) await timer.yield();
      else await sleep(Math.ceil(pause));
      wake = null;
    }
  };

  return {
    name: work.name,
    start: () => {
      running ??= run();
    },
    ring: () => {
      rung = true;
      if (turns.error() === null) wake?.();
    },
    stop: async () => {
      stopping = true;
      wake?.();
      await running;
    },
    isAsleep: () => wake !== null && !rung,
    health: () => {
      const idleMs = stopwatch.elapsed() - turns.lastAt();
      return { ok: turns.error() === null && idleMs < loopStuckMs, error: turns.error(), idleMs: Math.round(idleMs) };
    },
  };
}

interface Turns {
  /** Makes one step and answers how long to wait for the next; it never throws. */
  take(): Promise<number>;
  error(): string | null;
  /** When a step last succeeded, on the monotonic clock. */
  lastAt(): number;
}

function createTurns(work: Work, { clock, stopwatch, log, batchMax }: LoopNeeds): Turns {
  let failures = 0;
  let lastError: string | null = null;
  let lastAt = stopwatch.elapsed();

  const succeeded = () => {
    if (failures > 0) log.info('loop_recovered', { loop: work.name, failures });
    failures = 0;
    lastError = null;
    lastAt = stopwatch.elapsed();
  };

  const failed = (error: unknown): number => {
    failures += 1;
    lastError = error instanceof Error ? error.message : String(error);
    log.error('step_failed', { loop: work.name, error: lastError, failures });
    return Math.min(stepBackoffMs * 2 ** Math.min(failures - 1, 10), stepBackoffMaxMs);
  };

  return {
    take: async () => {
      try {
        // Both are asked about the same instant, so that nothing falls between them.
        const now = clock.now();
        const counts = await work.step(now, batchMax);
        const pause = counts.more ? 0 : pauseUntil(await work.nextAt(now), { now, clock, taken: counts.taken });
        succeeded();
        return pause;
      } catch (error) {
        return failed(error);
      }
    },
    error: () => lastError,
    lastAt: () => lastAt,
  };
}

interface Asked {
  readonly now: number;
  readonly clock: Clock;
  readonly taken: number;
}

function pauseUntil(next: number | null, { now, clock, taken }: Asked): number {
  if (next === null) return sleepMaxMs;
  if (next <= now) return taken > 0 ? 0 : heldPauseMs;
  return Math.min(Math.max(next - clock.now(), 0), sleepMaxMs);
}
