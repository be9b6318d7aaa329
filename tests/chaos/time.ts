import type { Clock, Stopwatch, Timer } from '../../src/app/ports/outside.ts';

/** Time in the hands of the simulation: it moves only when told, and nothing is left half done when it has moved. */
export interface SimulatedTime extends Clock, Stopwatch, Timer {
  advance(ms: number): Promise<void>;
  /** Lets everything go on that waits for a turn and not for time. */
  drain(): Promise<void>;
  setWall(now: number): void;
  /** How long until the next timer fires, or null. */
  untilTimer(): number | null;
}

interface Alarm {
  readonly at: number;
  readonly call: () => void;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

export function simulatedTime(start: number): SimulatedTime {
  const alarms = new Map<number, Alarm>();
  let [wall, mono, order, yielding] = [start, 0, 0, 0];

  const earliest = (): readonly [number, Alarm] | undefined => {
    let found: readonly [number, Alarm] | undefined;
    // Ids count up, so of two alarms for one instant the one that was set first stays.
    for (const entry of alarms) if (found === undefined || entry[1].at < found[1].at) found = entry;
    return found;
  };
  const drain = async () => {
    do await turn();
    while (yielding > 0);
  };
  return {
    now: () => wall,
    elapsed: () => mono,
    after: (ms, call) => {
      const id = (order += 1);
      alarms.set(id, { at: mono + Math.max(ms, 0), call });
      return () => alarms.delete(id);
    },
    yield: async () => {
      yielding += 1;
      await turn();
      yielding -= 1;
    },
    advance: async (ms) => {
      const end = mono + ms;
      for (let due = earliest(); due !== undefined && due[1].at <= end; due = earliest()) {
        const [id, { at, call }] = due;
        alarms.delete(id);
        wall += at - mono;
        mono = at;
        call();
        await drain();
      }
      wall += end - mono;
      mono = end;
      await drain();
    },
    drain,
    setWall: (now) => {
      wall = now;
    },
    untilTimer: () => {
      const due = earliest();
      return due === undefined ? null : due[1].at - mono;
    },
  };
}
