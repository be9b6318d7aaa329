import type { Grant } from '../../domain/grant.ts';
import type { Reason } from '../../domain/occurrence.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import type { Definition, Task, TaskState } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Attempt, Delivery, Page, PageQuery, RunView, TaskRun } from './runs.ts';

/** Records from which the truth is read. No method walks more than its page, whatever the age of the task. */

type Facts = Readonly<Record<string, unknown>>;

/** A deed: its actor, its verb and its instant. */
export interface Doing {
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
}

/** A row of the audit: somebody did something to a task. The first of a task has no state before it. */
export interface Deed extends Doing {
  readonly taskId: string | null;
  readonly stateBefore: TaskState | null;
  readonly stateAfter: TaskState | null;
  readonly before: Facts | null;
  readonly after: Facts | null;
  /** The request in whose course it was done; null where none was told. */
  readonly traceId: string | null;
}

/** The definition of a task from an instant on. */
export interface InForce {
  readonly version: number;
  readonly at: number;
  readonly definition: Pick<Definition, 'schedule' | 'policies' | 'action'>;
}

/** A message, as far as an answer tells of it. */
export type SlotDelivery = Omit<Delivery, 'platformChatId' | 'messageThreadId'>;

export interface SlotRun extends Pick<RunView, 'id' | 'status' | 'createdAt' | 'startedAt'> {
  /** The chat of its task at that time, which may have another one by now; null when nobody remembers. */
  readonly place: Pick<Thread, 'provider' | 'address'> | null;
  readonly number: number | null;
  readonly readyAt: number;
  /** The obstacle before its next attempt; null where nothing stands in its way. */
  readonly waitsFor: string | null;
  /** Its kind of actions is paused; null where it is not, or the run does not wait. */
  readonly kindPaused: KindPause | null;
  readonly attempts: readonly Pick<Attempt, 'status' | 'error' | 'worker' | 'jobId'>[];
  readonly deliveries: readonly SlotDelivery[];
}

export interface SlotRow extends Omit<
  TaskRun,
  'taskId' | 'runId' | 'updatedAt' | 'traceId' | 'attempts' | 'deliveries' | 'runNumber' | 'actionKind' | 'errorCode'
> {
  readonly decideBy: number | null;
  /** The instant of the occurrence that is done again. */
  readonly replayOfSlot: number | null;
  readonly run: SlotRun | null;
  /** The deed of a person that led to its reason. */
  readonly deed: Doing | null;
  /** Where somebody asked for it: that they did. */
  readonly asker: Doing | null;
}

export interface GapRow {
  readonly id: string;
  readonly fromAt: number;
  readonly toAt: number;
  readonly count: number;
  readonly reason: Reason;
  readonly createdAt: number;
}

export interface TruthQuery {
  readonly taskId: string;
  readonly from: number;
  readonly to: number;
  /** Slots, and gaps, at most; one more of each tells that there are more. */
  readonly limit: number;
}

/** A deed that changed the state of a task, with what cannot be read from its row. */
export interface Change extends Deed {
  /** Where it found the task completed: the last slot before it, with which the task came to its end. */
  readonly lastSlotAt: number | null;
  /** Where it brought the task back paused from its deletion: the pause to which the task came back. */
  readonly pause: Deed | null;
}

/** A stretch of time. Both ends included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One that came twice, as the clock was set back. */
export type Twice = Span;

/** Work and wishes that stand in the way of the plan. */
export interface Ahead {
  /** Slots to come that a person has skipped in advance, oldest first. */
  readonly skipped: readonly number[];
  /** Places in `max_runs` that are taken by what waits and by what runs. */
  readonly reserved: number;
  /** For a delay after the last finish: there is work whose end decides when the next slot is. */
  readonly awaitsEnd: boolean;
  /** From this instant on it has no right to run, and its slots are skipped; null where its right has no end. */
  readonly rightEndsAt: number | null;
}

/** All that is kept about one task and one stretch of time, as of one moment. */
export interface TruthRows {
  readonly task: Task;
  readonly slots: readonly SlotRow[];
  readonly gaps: readonly GapRow[];
  /**
   * The last change of its state before the stretch, those within, and the first after, in the order in which they were
   * made. Where the clock was set back between two of them, that is not the order of their instants.
   */
  readonly changes: readonly Change[];
  /** True when no change of the task's state came after those. */
  readonly reachesNow: boolean;
  /** The last slot of a task that is completed now. */
  readonly lastSlotAt: number | null;
  /** In the same order, from what was in force at `from` through the first that came after the stretch. */
  readonly versions: readonly InForce[];
  readonly twice: readonly Twice[];
  /** Times in which a process was there, and nothing could be written. */
  readonly unwritable: readonly Span[];
  readonly ahead: Ahead;
  /** The right under which what is to come would run; null where there is none. */
  readonly grant: Pick<Grant, 'expiresAt' | 'revokedAt'> | null;
  /** Records of slots before this were removed, under whatever retention held then; null when none ever were. */
  readonly removedBefore: number | null;
  /** The last slot whose record was removed because the task keeps less; null when none ever was. */
  readonly lastNotKept: number | null;
  /** Where no slot of the stretch has a row: the scheduled ones that have, on either side of it, and the next gap. */
  readonly around: {
    readonly before: SlotRow | null;
    readonly after: SlotRow | null;
    readonly gap: GapRow | null;
  };
}

export interface EventRow {
  readonly cursor: string;
  readonly at: number;
  readonly kind: string;
  readonly taskId: string | null;
  readonly ref: string | null;
  readonly data: Facts | null;
}

export interface EventQuery {
  /** Null begins with the oldest that is kept, `latest` after the newest. */
  readonly after: string | null;
  readonly taskId: string | null;
  /** One kind, or all kinds that begin with a text that ends in a point. */
  readonly kind?: string | null;
  readonly limit: number;
}

export interface EventPage {
  readonly events: readonly EventRow[];
  /** Where to go on; also when nothing has come yet. */
  readonly next: string;
}

export interface AuditQuery extends PageQuery {
  readonly taskId: string | null;
}

/** A task, with what decides when it runs beside its schedule. */
export interface Planned {
  readonly task: Task;
  readonly ahead: Ahead;
}

export interface TruthStore {
  /** Null when there never was such a task. */
  readTruth(query: TruthQuery): Promise<TruthRows | null>;
  /** A task and what stands in the way of its plan. Null when there never was such a task. */
  readPlanned(taskId: string): Promise<Planned | null>;
  readEvents(query: EventQuery): Promise<EventPage>;
  readAudit(query: AuditQuery): Promise<Page<Deed>>;
}
