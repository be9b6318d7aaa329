import type { Actor } from '../../domain/access.ts';
import type { CheckName, Found } from '../../domain/audit.ts';
import type { Gap } from '../../domain/due.ts';
import type { AlarmFacts, DowntimeCause, StoppedTask } from '../../domain/shown.ts';
import type { TaskState } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { NewMessage } from './chats.ts';
import type { Place } from './outside.ts';
import type { Batch, DueTask, Quarantine, Unreadable } from './pipeline.ts';
import type { Twice } from './why.ts';

/** The store of housekeeping. Every method is one short transaction, whatever the tables hold. */

/**
 * The walk of retention: first the history of tasks that keep less of it than the server does, then by tables. Last come the tasks, of which nothing may be left by then, and rows that belong to no task
 * any more.
 */
export const shelves = [
  'history',
  'occurrences',
  'runs',
  'deliveries',
  'gaps',
  'audit',
  'events',
  'downtimes',
  'inbox',
  'tasks',
  'task_versions',
  'grants',
  'processes',
] as const;
export type Shelf = (typeof shelves)[number];

export interface PruneRequest {
  readonly shelf: Shelf;
  /** Where the page before has ended; null for the first one. */
  readonly after: string | null;
  readonly now: number;
  /** Only what is older than this instant goes; and of the history of a task what is older than the task keeps it. */
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

export const auditedTables = ['tasks', 'occurrences', 'runs', 'deliveries', 'budgets'] as const;
export type AuditedTable = (typeof auditedTables)[number];

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
  /** Where the sample begins, between the oldest task (0) and now (1). */
  readonly part: number;
  readonly now: number;
  readonly limit: number;
}

export interface AccountRequest {
  readonly taskId: string;
  /** The task was not changed after this instant. */
  readonly untouchedSince: number;
  /** The slots after the one instant and up to the other. */
  readonly from: number;
  readonly through: number;
}

/** The rows and gaps that stand for the slots of a task. */
export interface SlotAccount {
  readonly slots: readonly number[];
  readonly gaps: readonly { readonly fromAt: number; readonly toAt: number }[];
}

export interface RepairRequest {
  readonly check: CheckName;
  readonly id: string;
  readonly now: number;
  readonly actor: Actor;
  readonly bootId: string;
  /** Plans an enabled task that has no next slot, or a wrong one; its slots through `decided` need nothing any more. */
  readonly plan: (task: DueTask | Unreadable, decided: number) => Replanned;
}

export type Replanned = { readonly nextAt: number | null } | { readonly pause: string };

export interface MissingSlot extends Pick<RepairRequest, 'id' | 'now' | 'actor'> {
  readonly taskId: string;
  readonly slotAt: number;
}

export interface HousekeepingStore {
  prune(request: PruneRequest): Promise<Pruned>;
  /** Removes keys, drafts and notes that have expired. */
  dropExpired(at: { readonly now: number; readonly limit: number }): Promise<{ removed: Removed; more: boolean }>;
  /** Marks all runs of this boot but those that it holds as left behind; whoever claims next takes them up. */
  letRunsGo(bootId: string, held: readonly string[]): Promise<number>;
  letPartsGo(bootId: string, held: readonly string[]): Promise<number>;
  /** Runs the checks of one table over a page of it. */
  auditPage(request: AuditPageRequest): Promise<AuditPage>;
  /** Ids of active tasks. */
  sampleTasks(request: SampleRequest): Promise<readonly string[]>;
  /** Active tasks after the id, oldest first. */
  pageOfActive(after: string, at: Batch): Promise<readonly (DueTask | Unreadable)[]>;
  /** An active task; null when something was done to it since then that may have changed its slots. */
  standingTask(taskId: string, since: number): Promise<DueTask | Unreadable | null>;
  /** The account of the slots of a task; null when something was done to it in the meantime. */
  slotAccount(request: AccountRequest): Promise<SlotAccount | null>;
  tellFindings(findings: readonly { readonly check: CheckName; readonly count: number }[], now: number): Promise<void>;
  /** Mends what a check has found, if it is still so. Answers what was done, or null when there was nothing to mend. */
  repair(request: RepairRequest): Promise<string | null>;
  /** Writes the row that a slot never got. */
  recordMissing(slot: MissingSlot): Promise<string | null>;
}

/** A task that a clock which was ahead has carried too far. Its `skipped` are all slots to come that have a row. */
export interface Overtaken extends DueTask {
  readonly state: TaskState;
  /** It was made or edited by the clock that was ahead. */
  readonly madeAhead: boolean;
  /** Something never ran, because the clock was ahead, and can come when its time comes. */
  readonly isTakenBack: boolean;
  /** Slots of an outage that lie partly in the future again. */
  readonly gaps: readonly Outage[];
}

type Outage = Pick<Gap, 'fromAt' | 'toAt' | 'count'>;

export interface TurnedBack {
  readonly taskId: string;
  /** Null where it stays as it is. */
  readonly nextAt: number | null;
  /** Another beginning of its schedule, where it was measured from a now that was ahead. */
  readonly begins: { readonly onceAt: number; readonly startAt: number | null } | { readonly startAt: number } | null;
  /** As much of them as is past. */
  readonly gaps: readonly Outage[];
  /** It stays at its end: nothing of it comes again, so it keeps the records of what was passed over. */
  readonly isOver: boolean;
}

export interface NoticedSetBack {
  readonly id: string;
  /** Less than zero. */
  readonly byMs: number;
  readonly twice: Twice;
}

/** A clock that was set back, while tasks are planned again for it. */
export interface SetBack extends NoticedSetBack {
  /** The tasks up to this one are planned again; null when all are. */
  readonly after: string | null;
  /** How many tasks came to another next slot so far. */
  readonly moved: number;
}

/** Notes of the product to itself, its clock, and the check that it can commit. */
export interface UpkeepStore {
  readNote(key: string): Promise<string | null>;
  writeNote(key: string, value: string, now: number): Promise<void>;
  /**
   * The wall clock was set back by so much: pauses that were measured with it are moved along, the stretch of time that comes
   * twice is kept for the truth about it, and all tasks are to be planned again. The same one, by its id, is written once.
   */
  setBack(noticed: NoticedSetBack): Promise<void>;
  /** Plans tasks again after the clock was set back, in pages; null when nothing of that is left to do. */
  turnBack(
    at: Batch,
    plan: (found: readonly (Overtaken | Unreadable)[], back: SetBack) => readonly (TurnedBack | Quarantine)[],
  ): Promise<SetBack | null>;
  /** All tasks are planned, and whoever is to know was told. */
  endSetBack(): Promise<void>;
  /** Throws when the store cannot commit. */
  ping(now: number): Promise<void>;
}

/** The cost of one downtime, in slots. */
export interface DowntimeCounts {
  readonly missed: number;
  readonly late: number;
  readonly asked: number;
  readonly skipped: number;
}

export interface OpenDowntime {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** Null where no process was there. */
  readonly cause: DowntimeCause | null;
}

export interface Downtime extends OpenDowntime {
  /** Null until every slot of that time was decided about. */
  readonly counts: DowntimeCounts | null;
  readonly reportedAt: number | null;
}

/** How many slots of one task came to what in a downtime. */
export interface Cost {
  /** The base thread of its chat. */
  readonly thread: Thread;
  /** The chat was refused, or can be reached no more. */
  readonly isMute: boolean;
  readonly number: number;
  readonly title: string;
  readonly became: keyof DowntimeCounts;
  readonly count: number;
}

export interface ToldDowntime {
  readonly id: string;
  readonly counts: DowntimeCounts;
  readonly at: number;
  /** One for each chat that is told. */
  readonly messages: readonly NewMessage[];
}

export interface DowntimeStore {
  /**
   * Opens the row of the time since the last sign of life, if there was one, or makes the one that is open still reach to
   * now; and gives the next sign. In one step.
   */
  openDowntime(id: string, now: number, cause: DowntimeCause | null): Promise<Opened>;
  /** Gives a sign of life. */
  markAlive(now: number): Promise<void>;
  /** The one without a report. */
  lastDowntime(): Promise<OpenDowntime | null>;
  /** Whether every slot up to the instant has been decided about. */
  isDecided(upTo: number): Promise<boolean>;
  /** Counts the slots of a downtime by their fate, as far as their tasks are still there. */
  costOf(downtime: Pick<OpenDowntime, 'id' | 'from' | 'to'>): Promise<readonly Cost[]>;
  /** Writes the report, its event and the words about it, once. */
  reportDowntime(told: ToldDowntime): Promise<void>;
  listDowntimes(limit: number): Promise<readonly Downtime[]>;
}

export type Opened =
  | { readonly is: 'opened'; readonly downtime: OpenDowntime }
  /** The first start: there is no sign of an earlier life. */
  | { readonly is: 'first' }
  /** The last sign lies in the future: the clock was set back, and nobody knows for how long nobody was there. */
  | { readonly is: 'clockBack'; readonly aliveAt: number };

/** Trouble as it is seen: the same one has the same key, however often it is looked at. */
export interface Sighting {
  /** Tells it from other trouble of its cause; empty where there is but one. */
  readonly about: string;
  readonly since: number;
  readonly facts: AlarmFacts;
}

/** Where an owner wants to hear of it. */
export type AlarmPlace = 'private' | 'off' | Thread;

/** A place that nobody can read any more is the private chat. */
export function alarmPlaceOf(text: string | null): AlarmPlace {
  try {
    const place: unknown = JSON.parse(text ?? '"private"');
    if (place === 'off') return 'off';
    const { provider, address, topic } = place as Partial<Thread>;
    const isThread = typeof provider === 'string' && typeof address === 'string' && topic !== undefined;
    return isThread ? { provider, address, topic } : 'private';
  } catch {
    return 'private';
  }
}

/** Owners who want to hear of trouble, and where; null for one whose place cannot be reached. */
export type Ears = ReadonlyMap<Actor, Place | null>;

/** Trouble of which owners were told. It is kept while it lasts, and until every message about it says that it is over. */
export interface Alarm extends Sighting {
  readonly over: number | null;
  /** The message that tells each owner, by their id; several may read the same one. */
  readonly told: Readonly<Record<string, string>>;
  /** Messages that say how it stands now. */
  readonly current: readonly string[];
}

/** A look at the messages that tell how something stands. */
export interface Redrawing extends Batch {
  /** The chat looked at last: the others have their turn before it comes again. */
  readonly after: string;
  /** Calls of a minute in one chat above which nothing is drawn anew there. */
  readonly room: number;
}

export interface Redrawn {
  readonly drawn: number;
  readonly after: string;
}

export interface StandingStore {
  /** Puts one message of each chat that is calm into the outbox, to be drawn anew where it looks otherwise by now. */
  drawAnew(look: Redrawing): Promise<Redrawn>;
  /** The instant at which the next one is due, which may have passed; null when none is. */
  nextRedrawAt(): Promise<number | null>;
}

export interface AlarmStore {
  listAlarms(): Promise<readonly Alarm[]>;
  /**
   * Keeps it and puts the new messages into the outbox. Messages that told of it before and are not current are changed, as
   * soon as they have arrived; it answers whether all of them are current now.
   */
  keepAlarm(alarm: Alarm, messages: readonly NewMessage[], now: number): Promise<boolean>;
  /** Differs whenever something has changed from which an alarm could come. */
  alarmSigns(): Promise<string>;
  /** Tasks that have failed too often in a row and that nobody has resumed, the latest first. */
  stoppedTasks(limit: number): Promise<readonly StoppedTask[]>;
}

export interface Lease {
  readonly isMine: boolean;
  /** The end of the lease of the process that has it, unless it is renewed. */
  readonly until: number;
}

/** The code by which the first owner is known, as its hash, and how many wrong ones were said. */
export interface Claim {
  readonly hash: string;
  readonly isUsed: boolean;
  readonly wrong: number;
}

export interface LeaseStore {
  /** Takes the lease, or holds it on; without `ms` for as long as its process lives. */
  holdLease(name: string, bootId: string, at: { readonly now: number; readonly ms: number | null }): Promise<Lease>;
  endLease(name: string, bootId: string): Promise<void>;
  /** A new code takes the place of the one before. */
  openClaim(hash: string, now: number): Promise<void>;
  readClaim(): Promise<Claim | null>;
  /** Answers how many were wrong by now. */
  noteWrongClaim(updateId: number, now: number): Promise<number>;
  /** False where it was used before. */
  useClaim(now: number): Promise<boolean>;
  reopenClaim(): Promise<void>;
}
