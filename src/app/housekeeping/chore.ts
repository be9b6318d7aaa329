import type { Counts } from '../ports/pipeline.ts';

/**
 * One piece of keeping the place in order. When it was last done is the housekeeper's to know; a chore says what it does and
 * how often. A step is bounded, so that no transaction of it holds up the event loop; `more` means that it wants to go on
 * after everybody else had a turn.
 */
export interface Chore {
  readonly name: string;
  readonly when: When;
  /** The other chores go on while a step of it waits for something outside of the database. */
  readonly beside?: boolean;
  /** How long it rests when a step has failed, where that is not longer and longer. */
  readonly retryMs?: number;
  readonly step: (now: number, limit: number) => Promise<Done>;
}

/** Each so many milliseconds, once a night so long after its start, or while somebody asks for it. */
export type When = { readonly every: number } | { readonly nightly: number } | { readonly asked: () => boolean };

export interface Done extends Counts {
  /** How long it rests, where that is not what `when` says. */
  readonly afterMs?: number;
}

/**
 * Long work as steps: each `yield` tells what the step took up, and is the end of it. Where a step fails, the next one begins
 * the work from its front.
 */
export function inSteps(work: () => AsyncGenerator<number, void>): Chore['step'] {
  let current: AsyncGenerator<number, void> | null = null;
  return async () => {
    current ??= work();
    const going = current;
    current = null;
    const turn = await going.next();
    if (turn.done === true) return { taken: 1, more: false };
    current = going;
    return { taken: turn.value, more: true };
  };
}
