import { tickWaitMs } from '../../domain/limits.ts';
import { waitAtMost } from '../pipeline/workers.ts';
import type { LoopName, Timer } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';

/** One round through the loops, for whoever brings a clock of their own, and for those who do not want to wait. */

/** A loop as the tick turns it: by its own turns, so that no step is ever made beside another one of it. */
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
  /** Loops whose step failed. They try again by themselves. */
  readonly failed: readonly string[];
  /** No loop turns in this process: the workers were told to look, and what they take up is not counted here. */
  readonly elsewhere: boolean;
}

interface TickDeps {
  /** Of a process without loops: tells those of others. Refuses where nobody works. */
  readonly tellOthers?: () => Promise<void>;
  readonly loops: readonly Turning[];
  /** Waits for the work that a loop has begun, and does not wait for by itself. */
  readonly idle: Readonly<Partial<Record<LoopName, () => Promise<void>>>>;
  readonly timer: Timer;
}

const order = ['scheduler', 'runner', 'deliverer', 'acks'] as const satisfies readonly LoopName[];

/** Each loop after the one that hands over to it. All that is taken up meanwhile is counted, whoever made the step. */
export function createTick({ loops, idle, timer, tellOthers }: TickDeps): () => Promise<Ticked> {
  const round = order.flatMap((name) => loops.filter((loop) => loop.name === name));
  const takenBy = (name: LoopName) => loops.find((loop) => loop.name === name)?.taken() ?? 0;
  const turnOf = async (loop: Turning): Promise<'done' | 'more' | 'failed'> => {
    const counts = await waitAtMost(timer, tickWaitMs, loop.turn());
    const rest = await waitAtMost(timer, tickWaitMs, idle[loop.name as LoopName]?.() ?? Promise.resolve());
    if (counts === null) return 'failed';
    return counts === 'late' || counts.more || rest === 'late' ? 'more' : 'done';
  };
  return async () => {
    if (tellOthers !== undefined) {
      await tellOthers();
      return { scheduled: 0, started: 0, deliveries: 0, reminders: 0, more: false, failed: [], elsewhere: true };
    }
    const before = order.map(takenBy);
    const failed: string[] = [];
    let more = false;
    for (const loop of round) {
      const turned = await turnOf(loop);
      if (turned === 'failed') failed.push(loop.name);
      more ||= turned !== 'done';
    }
    const [scheduled = 0, started = 0, deliveries = 0, reminders = 0] = order.map(
      (name, index) => takenBy(name) - (before[index] ?? 0),
    );
    return { scheduled, started, deliveries, reminders, more, failed, elsewhere: false };
  };
}
