import { tickWaitMs } from '../../domain/limits.ts';
import type { Room, Timer } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import { within } from './collector.ts';

/** One round through the rooms, for whoever brings a clock of their own, and for those who do not want to wait. */

/** A room is turned by its own loop, so that no step is ever made beside another one of it. */
export interface Turning {
  readonly name: string;
  turn(): Promise<Counts | null>;
  taken(): number;
}

export interface Ticked {
  /** Tasks and occurrences that the scheduler took up. */
  readonly scheduled: number;
  /** Runs that were begun, or ended without being begun. */
  readonly started: number;
  /** Parts that were taken up to be delivered. */
  readonly deliveries: number;
  readonly reminders: number;
  /** Something is left to do right now, or has not ended yet. */
  readonly more: boolean;
  /** Rooms whose step failed. They try again by themselves. */
  readonly failed: readonly string[];
}

interface TickDeps {
  readonly rooms: readonly Turning[];
  /** Waits for the work that a room has begun, and does not wait for by itself. */
  readonly idle: Readonly<Partial<Record<Room, () => Promise<void>>>>;
  readonly timer: Timer;
}

const order = ['scheduler', 'runner', 'deliverer', 'acks'] as const satisfies readonly Room[];

/** Each room after the one that hands over to it. All that is taken up meanwhile is counted, whoever made the step. */
export function createTick({ rooms, idle, timer }: TickDeps): () => Promise<Ticked> {
  const round = order.flatMap((name) => rooms.filter((room) => room.name === name));
  const takenBy = (name: Room) => rooms.find((room) => room.name === name)?.taken() ?? 0;
  const turnOf = async (room: Turning): Promise<'done' | 'more' | 'failed'> => {
    const counts = await timely(timer, room.turn());
    const rest = await timely(timer, idle[room.name as Room]?.() ?? Promise.resolve());
    if (counts === null) return 'failed';
    return counts === 'late' || counts.more || rest === 'late' ? 'more' : 'done';
  };
  return async () => {
    const before = order.map(takenBy);
    const failed: string[] = [];
    let more = false;
    for (const room of round) {
      const turned = await turnOf(room);
      if (turned === 'failed') failed.push(room.name);
      more ||= turned !== 'done';
    }
    const [scheduled = 0, started = 0, deliveries = 0, reminders = 0] = order.map(
      (name, index) => takenBy(name) - (before[index] ?? 0),
    );
    return { scheduled, started, deliveries, reminders, more, failed };
  };
}

async function timely<T>(timer: Timer, work: Promise<T>): Promise<T | 'late'> {
  let result: T | 'late' = 'late';
  await within(
    timer,
    tickWaitMs,
    work.then((value) => {
      result = value;
    }),
  );
  return result;
}
