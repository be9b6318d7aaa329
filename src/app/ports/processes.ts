import type { Actor } from '../../domain/access.ts';
import type { KindPause, ProcessView } from '../../domain/processes/process.ts';
import type { LoopName } from './outside.ts';

/** The processes that share the database, of which this is one. */
export interface Processes {
  readonly self: ProcessView;
  /** Whether it has the database for itself. */
  readonly isAlone: boolean;
  /**
   * Whether this process may still do what leaves it: a call of Telegram, a request, the start of an action. One that was
   * frozen or cut off may not, because others have taken over by then; it asks this right before.
   */
  isHeld(): boolean;
  /** Whether it is the one that keeps the place in order: chores that only one is to do at a time are done by it. */
  isKeeper(): boolean;
  /** Resolves when this process has its row, and what nobody holds is free. */
  begun(): Promise<void>;
  /** Processes that live, the oldest first. */
  live(): Promise<readonly ProcessView[]>;
  /** Whether its renewals get through, so that the database can be used; false where it is alone. */
  isRenewing(): boolean;
  /**
   * Has this called after each renewal of the lease, with the instant of the stopwatch before it, or with null after one that failed.
   * Never where this process is alone. Answers how to stop that.
   */
  onRenewal(call: (renewal: Renewal | null, before: number) => void): () => void;
  /** Since when no process works, where that is long enough to be told; null while one does. */
  pausedSince(): Promise<number | null>;
}

export interface NewProcess extends Pick<ProcessView, 'id' | 'role' | 'release' | 'kinds' | 'host' | 'pid'> {
  /** Connections to the database that it may open; absent where the database has none. */
  readonly connections?: number | null;
  /** Null for the clock of the database, which is the one that several processes share. */
  readonly at: number | null;
  readonly leaseMs: number;
}

/** A renewal, by the clock of the database. */
export interface Renewed {
  readonly at: number;
  /** Since when it has lived without having been ended by another: what it held before that is lost. */
  readonly heldSince: number;
  readonly isKeeper: boolean;
  /** Leases of others are over, or rows are held by a process that is gone: somebody is to rescue them. */
  readonly isAnyGone: boolean;
}

/** A part of a process that looks for rows when something has become due of which it was not told. */
export type Due = Extract<LoopName, 'scheduler' | 'runner' | 'deliverer' | 'acks'> | 'inbox';

/** A renewal finds the rest in the same statement, so that nobody who has nothing to do asks for it. */
export interface Renewal extends Renewed {
  /** Kinds of actions that are paused, in the order of their names, with commas between them. */
  readonly pausedKinds: string;
  /** Loops for which something has been due for a moment, or was left behind. */
  readonly due: readonly Due[];
  /** The process that polls, and until when unless it is renewed; null where none does. Each renewal holds on the lease of its own process. */
  readonly polling: { readonly holder: string; readonly until: number } | null;
}

export interface ProcessStore {
  /**
   * Writes the row of a process that starts, and lets go what nobody holds. Leases that are over it ends where another one still holds;
   * alone it ends them all.
   */
  enrol(process: NewProcess, alone: boolean): Promise<Renewed>;
  /** Renews by one statement, which also leaves the sign of life of the database where it `signs`. A process whose row was ended stands in it again; null where there is no such row any more. */
  renewLease(id: string, leaseMs: number, signs: boolean): Promise<Renewal | null>;
  /** Ends processes whose leases are over, and lets go whatever no living process holds. Answers who was ended. */
  rescueLeft(id: string): Promise<Rescued>;
  /** The process has ended well; what it still holds is free. */
  retire(id: string, at: number | null): Promise<void>;
  /** By the clock of the database. */
  databaseTime(): Promise<number>;
  /** Processes that live, and with `since` also those that have ended after it. The oldest come first. */
  listProcesses(since: number | null): Promise<readonly ProcessView[]>;
  /** The last sign of a process that works, and how long ago it was; null where there was none. A lease that holds counts as seen now. */
  lastWorker(): Promise<{ readonly seenAt: number; readonly agoMs: number } | null>;
}

/** A change of what is paused, by whom. */
export interface KindDeed {
  readonly kind: string;
  readonly by: Actor;
  readonly at: number;
  readonly traceId: string | null;
}

/** How it stands behind a deed: null where the kind is not paused. The entry of the audit is null where nothing was changed. */
export interface KindChanged {
  readonly pause: KindPause | null;
  readonly entryId: string | null;
}

export interface KindPauseStore {
  /** One that is paused already stays as it is. */
  pauseKind(deed: KindDeed): Promise<KindChanged>;
  resumeKind(deed: KindDeed): Promise<KindChanged>;
  /** The longest first. */
  pausedKinds(): Promise<readonly KindPause[]>;
}

export interface Rescued {
  readonly ended: readonly string[];
  readonly runs: number;
  readonly parts: number;
}

/** Runs that a process may take up, by the kinds of their actions. */
export interface Claimable {
  /** Kinds that it does. One that it does not know is another's, unless no process that lives does it. Null where there are no others. */
  readonly own: readonly string[] | null;
  /** Kinds of which it begins nothing. */
  readonly never: readonly string[];
}
