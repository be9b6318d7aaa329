import type { LoopName } from './outside.ts';

/** Hints that processes on one database give each other: a hint that is lost costs time, never work. */

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
  /** A run that is under way was called off. */
  readonly isCancel?: true;
}

export interface OfferedRun {
  readonly id: string;
  /** Null for a row from before there was one. */
  readonly kind: string | null;
}

/** A job names a few runs of one kind, or chats: ids and nothing else, because the rows say what is to be done. */
export type Job = { readonly id: string } & (
  | { readonly kind: string; readonly runs: readonly string[] }
  | { readonly chats: readonly string[] }
);

/** The part of this process that works on jobs. */
export interface Claimant {
  /** Kinds of actions of which it takes runs. */
  readonly kinds: readonly string[];
  /** Kinds of which it has no place for one more just now; their jobs are left to others. */
  readonly full: () => readonly string[];
  /** Runs were called off; those of this worker may be among them. */
  readonly cancelled: () => void;
  /** Is given a job, and says of it `complete` or `fail`. */
  readonly work: (job: Job) => void;
}

/**
 * An engine hands out work among the processes, and is chosen by its name. Its jobs are hints: one that is lost, comes twice or names
 * what is gone costs time, because a run is started by its row alone.
 */
export interface WorkEngine {
  readonly name: EngineName;
  /** From now on jobs come to this worker. Each is its own until it is completed or failed, or until the worker is gone. */
  claim(worker: Claimant): Promise<void>;
  /** The job is over; ids that had no place here become a job for others. */
  complete(job: Job, left?: readonly string[]): void;
  /** The job comes once more, to a worker that is free; after a few times the row alone is left. */
  fail(job: Job, error: string): void;
  /** Runs that are under way were called off: whoever holds them looks. */
  cancel(): void;
  /** A row is ready for this loop, in whichever process it turns. */
  wake(loop: LoopName): void;
  /** A place has become free: jobs that were left are looked for again. */
  free(): void;
  /** Jobs of processes that are gone come to others. */
  release(processIds: readonly string[]): Promise<void>;
  /** No more jobs come; resolves when those that were given have been completed or failed. */
  stop(): Promise<void>;
}

export type EngineName = 'embedded' | 'graphile' | 'memory';
