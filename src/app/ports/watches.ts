/** The value that a task watches, as its last run saw it. It is kept beside the task, and people do not edit it. */
export interface Watched {
  /** The hash of the value, by which a change is known. */
  readonly hash: string;
  /** The value itself, as far as it is kept for a comparison that people read. */
  readonly value: string | null;
  readonly at: number;
}

export interface WatchStore {
  watchedBy(taskId: string): Promise<Watched | null>;
}
