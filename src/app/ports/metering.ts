import type { CounterLabels, CounterName, TimingLabels, TimingName } from '../operations/metrics.ts';

/** Counts what happens, for whoever watches the place. Nothing of it waits, throws or is read back. */
export interface Meter {
  count<N extends CounterName>(name: N, labels: CounterLabels<N>, by?: number): void;
  /** How long something took, or how late it came. */
  took<N extends TimingName>(name: N, labels: TimingLabels<N>, ms: number): void;
}

/** For whoever composes a part of the product that nobody watches. */
export const silentMeter: Meter = { count: () => undefined, took: () => undefined };

/** How much work stands in the store. Each number is counted up to a limit, so that no look costs more than a step does. */
export interface Workload {
  readonly due: Pile;
  /** Occurrences that wait for admission. */
  readonly pending: number;
  readonly runs: Readonly<Record<LiveRun, Pile>>;
  /** `pending` from when it could go out, the others from when they were made. */
  readonly deliveries: Readonly<Record<OpenDelivery, Pile>>;
  /** The same work by what is to be done. */
  readonly byKind: readonly KindPile[];
  readonly inbox: Pile;
  /** When the oldest live run, or open part, was made. */
  readonly oldestWorkAt: number | null;
  readonly databaseBytes: number;
}

export interface Pile {
  readonly count: number;
  /** The instant of the oldest; null when there is none. */
  readonly since: number | null;
}

export interface KindPile {
  readonly state: 'due' | 'pending' | LiveRun;
  readonly kind: string;
  readonly count: number;
}

export type LiveRun = 'queued' | 'running' | 'backoff';
export type OpenDelivery = 'pending' | 'sending' | 'unknown' | 'blocked';

/** Tasks of one page, by state, kind of schedule and kind of action. */
export interface TaskTally {
  readonly counts: readonly Tally[];
  /** The last task of the page; null when it is the last page. */
  readonly last: string | null;
}

export interface Tally {
  readonly state: string;
  readonly schedule: string;
  readonly action: string;
  readonly count: number;
}

/** The counts that the meter asks of the store. */
export interface WorkloadStore {
  workload(now: number, countedMax: number): Promise<Workload>;
  taskTally(after: string, limit: number): Promise<TaskTally>;
}
