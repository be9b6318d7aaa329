import type { Actor } from '../../domain/access.ts';
import type { CheckName, Found } from '../../domain/audit.ts';
import type { DueTask, Unreadable } from './pipeline.ts';
import type { Twice } from './why.ts';

/** What keeping the place in order asks of the store. Every method is one short transaction, whatever the tables hold. */

/** What retention walks through, each in the order of its own key. */
export type Shelf =
  | 'occurrences'
  | 'runs'
  | 'deliveries'
  | 'gaps'
  | 'audit'
  | 'events'
  | 'downtimes'
  | 'inbox'
  | 'versions'
  | 'tasks'
  | 'grants';

export interface PruneRequest {
  readonly shelf: Shelf;
  /** Where the page before has ended; null for the first one. */
  readonly after: string | null;
  /** Only what is older than this instant goes. */
  readonly before: number;
  readonly limit: number;
}

/** Rows by table. */
export type Removed = Readonly<Record<string, number>>;

export interface Pruned {
  readonly removed: Removed;
  /** Where the next page begins; null when nothing further is old enough. */
  readonly next: string | null;
}

/** Something that a process has claimed and not ended: a run, or a part on its way. */
export interface Claimed {
  readonly id: string;
  readonly fence: number;
}

export interface ClaimsRequest {
  readonly bootId: string;
  /** The last one of the page before; empty for the first. */
  readonly after: string;
  readonly limit: number;
}

export type AuditedTable = 'tasks' | 'occurrences' | 'runs' | 'deliveries';

export interface AuditPageRequest {
  readonly table: AuditedTable;
  /** Rows before this one, newest first; null for the newest. */
  readonly below: string | null;
  readonly limit: number;
  readonly now: number;
  readonly bootId: string;
}

export interface AuditPage {
  readonly seen: number;
  readonly next: string | null;
  readonly found: readonly Found[];
}

export interface SampleRequest {
  /** The task that was looked at last. */
  readonly after: string;
  readonly limit: number;
  readonly from: number;
}

export interface AccountRequest {
  readonly taskId: string;
  /** Nothing was done to the task since then. */
  readonly untouchedSince: number;
  /** The slots after the one instant and up to the other. */
  readonly from: number;
  readonly through: number;
}

/** What became of the slots of a task. */
export interface SlotAccount {
  readonly slots: readonly number[];
  readonly gaps: readonly { readonly fromAt: number; readonly toAt: number }[];
}

export interface TaskSample {
  readonly tasks: readonly (DueTask | Unreadable)[];
  readonly last: string | null;
}

export interface RepairRequest {
  readonly check: CheckName;
  readonly id: string;
  readonly now: number;
  readonly actor: Actor;
  readonly bootId: string;
  /** What becomes of an enabled task that has no next slot. */
  readonly plan: (task: DueTask | Unreadable) => Replanned;
}

export type Replanned = { readonly nextAt: number | null } | { readonly pause: string };

export interface MissingSlot {
  readonly id: string;
  readonly taskId: string;
  readonly slotAt: number;
  readonly now: number;
  readonly actor: Actor;
}

export interface HousekeepingStore {
  prune(request: PruneRequest): Promise<Pruned>;
  /** Removes keys, drafts and notes that have expired. */
  dropExpired(at: { readonly now: number; readonly limit: number }): Promise<{ removed: Removed; more: boolean }>;
  /** Runs that are running under this boot, in the order of their ids. */
  claimedRuns(request: ClaimsRequest): Promise<readonly Claimed[]>;
  /** Parts that are being sent under this boot, in the order of their ids. */
  claimedParts(request: ClaimsRequest): Promise<readonly Claimed[]>;
  /** Marks runs as left behind, if they are still claimed as they were seen; whoever claims next takes them up. */
  letRunsGo(bootId: string, claims: readonly Claimed[]): Promise<number>;
  letPartsGo(bootId: string, claims: readonly Claimed[]): Promise<number>;
  /** Runs the checks of one table over a page of it. */
  auditPage(request: AuditPageRequest): Promise<AuditPage>;
  /** Active tasks to which nothing was done since `from`; `last` is null when there is none beyond them. */
  sampleTasks(request: SampleRequest): Promise<TaskSample>;
  /** What stands for the slots of a sampled task; null when something was done to it in the meantime. */
  slotAccount(request: AccountRequest): Promise<SlotAccount | null>;
  tellFindings(findings: readonly { readonly check: CheckName; readonly count: number }[], now: number): Promise<void>;
  /** Mends what a check has found, if it is still so. Answers what was done, or null when there was nothing to mend. */
  repair(request: RepairRequest): Promise<string | null>;
  /** Writes the row that a slot never got. */
  recordMissing(slot: MissingSlot): Promise<string | null>;
}

/** What keeping the place in order needs. */
export interface UpkeepStore {
  readNote(key: string): Promise<string | null>;
  writeNote(key: string, value: string, now: number): Promise<void>;
  /** The wall clock was set back: instants that were computed with the old one are moved along. */
  shiftClock(byMs: number): Promise<void>;
  /** Keeps for the truth about it which stretch of time came twice thereby. */
  noteSetBack(twice: Twice): Promise<void>;
  /** Throws when the store cannot commit. */
  ping(now: number): Promise<void>;
}
