import type { Counts } from '../ports/pipeline.ts';

/**
 * One piece of keeping the place in order. A step is bounded, so that no transaction of it holds up the event loop; `more`
 * means that it wants to go on after everybody else had a turn.
 */
export interface Chore {
  readonly name: string;
  step(now: number, limit: number): Promise<Counts>;
  /** When it is due next: an instant that has passed means now, null means not until somebody rings. */
  nextAt(now: number): Promise<number | null>;
}
