import type { Clock, Stopwatch, Timer } from '../app/ports/outside.ts';

export const systemClock: Clock = { now: () => Date.now() };

export const systemStopwatch: Stopwatch = { elapsed: () => performance.now() };

/** A longer timeout would overflow to one millisecond; whoever waits longer is woken early and looks again. */
const timeoutMaxMs = 2 ** 31 - 1;

export const systemTimer: Timer = {
  after: (ms, call) => {
    const handle = setTimeout(call, Math.min(Math.max(ms, 0), timeoutMaxMs));
    return () => clearTimeout(handle);
  },
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};
