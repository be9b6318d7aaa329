import type { LoopName } from './outside.ts';

/** What processes that share a database tell each other. All of it is hints: one that is lost costs time, never work. */

/**
 * `scheduler` and `acks`: a row is ready for these loops, wherever they turn. `cancels`: a run that is under way is to stop. `events`:
 * events were written. `changed:<what>`: what others may have kept of it is not true any more.
 */
export type Hint = Extract<LoopName, 'scheduler' | 'acks'> | 'cancels' | 'events' | `changed:${string}`;

export interface Hints {
  /** Tells the other processes, a moment after a commit. Several of a kind in a row are told once. */
  publish(hint: Hint): void;
  /**
   * Calls when another process has told it, and after a time in which nothing could be heard, because then it may have been.
   * Answers how to stop that.
   */
  on(hint: Hint, call: () => void): () => void;
}

/** Of a process that is alone on its database. */
export const noHints: Hints = { publish: () => {}, on: () => () => {} };

/** Work that is ready: runs by their ids and kinds of action, and chats in which something waits to be delivered. */
export interface Offer {
  readonly runs?: readonly OfferedRun[];
  readonly chats?: readonly string[];
}

export interface OfferedRun {
  readonly id: string;
  /** Null for a row from before there was one. */
  readonly kind: string | null;
}
