import type { Clock, Stopwatch, Timer } from '../app/ports/outside.ts';

export const systemClock: Clock = { now: () => Date.now() };

export const systemStopwatch: Stopwatch = { elapsed: () => performance.now() };

/** A longer timeout would overflow to one millisecond; a longer wait ends early, and the caller looks again. */
const timeoutMaxMs = 2 ** 31 - 1;

export const systemTimer: Timer = {
  after: (ms, call) => {
    const handle = setTimeout(call, Math.min(Math.max(ms, 0), timeoutMaxMs));
    return () => clearTimeout(handle);
  },
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};

/** An instant of another clock, read between two of our own. */
export interface Reading {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/**
 * The clock of the database, which several processes share: it is read now and then, and carried on by the monotonic clock,
 * so that the clocks of their hosts may say what they like. A reading moves it no further than the reading is sure of.
 */
export function createDatabaseClock(real: Clock & Stopwatch): Clock & { adopt(reading: Reading): void } {
  let ahead: number | null = null;
  return {
    now: () => (ahead === null ? real.now() : Math.floor(ahead + real.elapsed())),
    adopt: ({ at, before, after }) => {
      // The database tells whole milliseconds.
      const [least, most] = [at - after, at + 1 - before];
      ahead = ahead === null ? (least + most) / 2 : Math.min(Math.max(ahead, least), most);
    },
  };
}

/**
 * Time that can be moved forward, for trying things out: both clocks and every timer go along, so that what waits for an
 * instant wakes when that instant is skipped to. It never goes back.
 */
export interface TravelTime extends Clock, Stopwatch, Timer {
  skip(ms: number): void;
  /** How far it was moved in all. */
  skipped(): number;
}

interface Waiting {
  readonly at: number;
  readonly wake: () => void;
  callOff: () => void;
}

export function createTravelTime(real: Clock & Stopwatch & Timer): TravelTime {
  let skipped = 0;
  const waiting = new Set<Waiting>();
  const elapsed = () => real.elapsed() + skipped;
  return {
    now: () => real.now() + skipped,
    elapsed,
    after: (ms, call) => {
      const wake = () => {
        if (!waiting.delete(entry)) return;
        entry.callOff();
        call();
      };
      const entry: Waiting = { at: elapsed() + Math.max(0, ms), wake, callOff: real.after(ms, wake) };
      waiting.add(entry);
      return () => {
        waiting.delete(entry);
        entry.callOff();
      };
    },
    yield: () => real.yield(),
    skipped: () => skipped,
    skip: (ms) => {
      skipped += Math.max(0, ms);
      for (const entry of [...waiting].toSorted((a, b) => a.at - b.at)) {
        const left = entry.at - elapsed();
        if (left <= 0) entry.wake();
        else if (waiting.has(entry)) {
          // Less is left of it than it was set to.
          entry.callOff();
          entry.callOff = real.after(left, entry.wake);
        }
      }
    },
  };
}
