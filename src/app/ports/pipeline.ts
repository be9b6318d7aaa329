import type { Actor } from '../../domain/access.ts';
import type { DeliveryKind } from '../../domain/delivery.ts';
import type { Gap, PlannedOccurrence } from '../../domain/due.ts';
import type { Grant } from '../../domain/grant.ts';
import type { Obstacle, OccurrenceSource, Reason } from '../../domain/occurrence.ts';
import type { Policy, UnknownPolicy } from '../../domain/policy.ts';
import type {
  AttemptStatus,
  Consent,
  MessageInput,
  NewRun,
  RunErrorCode,
  RunInput,
  RunStatus,
} from '../../domain/run.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { MediaKind, Shown } from '../../domain/shown.ts';
import type { Booking, Costs, Reserved } from '../../domain/spending/usage.ts';
import type { Definition, TaskState } from '../../domain/task.ts';
import type { FileRef, Watched } from './blobs.ts';
import type { PlaceAsked } from './outbound.ts';
import type { Claimable } from './processes.ts';
import type { Finished, Progress } from './runs.ts';

/** The store: every method is one transaction, and no transaction leaves it. */

type Facts = Readonly<Record<string, unknown>>;

/** A row that cannot be read. It is marked and reported, and never stops the others. */
export interface Unreadable {
  readonly id: string;
  readonly unreadable: string;
}

export interface DueTask extends Definition {
  readonly id: string;
  readonly version: number;
  readonly number: number;
  readonly nextAt: number;
  readonly minGapMs: number | null;
  readonly boundedRuns: number;
  readonly ownerId: Actor;
  readonly chatId: string;
  readonly provider: string;
  readonly context: Facts;
  readonly grant: Grant | null;
  readonly live: number;
  readonly waiting: number;
  readonly reserved: number;
  readonly held: number;
  /** Slots to come that a person has skipped: they have their rows already. */
  readonly skipped: readonly number[];
}

export interface NewOccurrence extends PlannedOccurrence {
  readonly id: string;
  readonly runId: string | null;
  readonly lateMs: number;
  /** For a retry or a replay: the occurrence that is done again; for a snooze: the one whose result is put off. */
  readonly replayOf?: string;
}

/** The plan for one task whose slots are due. `nextAt` null means that nothing is left to run. */
export interface SlotPlan {
  readonly taskId: string;
  readonly expectNextAt: number;
  readonly occurrences: readonly NewOccurrence[];
  readonly runs: readonly NewRun[];
  readonly gap: (Gap & { readonly id: string }) | null;
  readonly nextAt: number | null;
  readonly replaces: boolean;
  /** The delivery that asks in the topic what becomes of missed slots; absent when nothing is asked. */
  readonly questionId?: string;
}

export interface Quarantine {
  readonly taskId: string;
  readonly quarantine: string;
}

export interface Counts {
  /** Rows taken up. */
  readonly taken: number;
  /** More may be ready right now. */
  readonly more: boolean;
  /** Runs that were left out because a budget had no room. */
  readonly unpaid?: number;
}

export interface WaitingOccurrence {
  readonly id: string;
  readonly slotAt: number;
  readonly source: OccurrenceSource;
  readonly lateMs: number;
  /** The task was paused after this was asked for, and is paused still. */
  readonly isHeld: boolean;
  readonly task: DueTask | Unreadable;
}

export type Admission =
  | {
      readonly occurrenceId: string;
      readonly taskId: string;
      readonly run: NewRun;
    }
  | { readonly occurrenceId: string; readonly taskId: string; readonly skip: Reason };

export interface StartableRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly fence: number;
  readonly attempts: number;
  readonly interruptions: number;
  readonly freeAttempts: number;
  readonly taskId: string | null;
  readonly occurrenceId: string | null;
  readonly chatId: string | null;
  readonly ownerId: Actor;
  readonly taskVersion: number | null;
  /** The version of the context that it was given; null for a run from before there was one. */
  readonly contextVersion: number | null;
  /** The number of the run within its task; null for what no task sends. */
  readonly runNumber: number | null;
  /** When its first attempt began. */
  readonly startedAt: number | null;
  readonly createdAt: number;
  readonly cancelRequested: boolean;
  readonly taskState: TaskState | null;
  readonly grant: Grant | null;
  /** The request in whose course it was asked for; null for what a schedule asked for. */
  readonly traceId: string | null;
  /** Held for its next attempt; null where that needs nothing, or must be reserved when it starts. */
  readonly reserved: Reserved | null;
  /** Null where nobody was asked. */
  readonly consent: Consent | null;
  readonly input: RunInput;
  /** The policies in force for it, read from the input once. */
  readonly policy: Policy;
}

/** `start` opens the next attempt, `wait` puts it off; everything else ends the run, or an attempt that a dead process left behind. */
export type StartPlan =
  | {
      readonly runId: string;
      readonly does: 'start';
      readonly interrupted: boolean;
      /** To be reserved first, with the end that the run comes to where its budgets have no room; absent where nothing is to be. */
      readonly reserve?: { readonly costs: Costs; readonly without: UnstartedEnd };
      /** To be taken with it; without one it waits. */
      readonly place?: PlaceAsked;
    }
  /** It begins no attempt, and stays in `backoff` until then with the reason as its error. */
  | {
      readonly runId: string;
      readonly does: 'wait';
      readonly interrupted: boolean;
      readonly until: number;
      readonly reason: string;
      /** The question whether it may happen at all; absent where it was asked before. */
      readonly question?: NewQuestion;
    }
  | UnstartedEnd;

/** The end of a run without another attempt. */
export interface UnstartedEnd {
  readonly runId: string;
  readonly does: 'end';
  readonly interrupted: boolean;
  readonly status: 'failed' | 'cancelled';
  readonly occurrence: 'failed' | 'cancelled' | 'skipped';
  readonly reason: Reason | null;
  readonly error: string;
  readonly errorCode: RunErrorCode;
  /** As for the end of an attempt; absent where nobody is told. */
  readonly notices?: EndNotices;
}

export interface StartedRun {
  readonly run: StartableRun;
  readonly attempt: number;
  readonly fence: number;
  /** The job that has named it; null or absent where it was found without one. */
  readonly jobId?: string | null;
  /** The host at which its start has taken a place; null where it took none. */
  readonly placeAt: string | null;
}

export interface NewDelivery {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly rank: number;
  readonly part: number;
  readonly content: Shown;
  readonly unknown: UnknownPolicy;
  readonly expiresAt: number | null;
  /** Quiet hours do not apply to it: somebody asked for it just now, or its task is urgent. */
  readonly urgent?: true;
  /** Without a sound. */
  readonly silent?: true;
  /** A thread of the chat; the topic of the task, whichever that is by then, without it. */
  readonly thread?: { readonly topic: number | null };
  /** In a group, the one person who sees it. */
  readonly onlyFor?: MessageInput['onlyFor'];
  /** Until when somebody must have approved it; without that it is not shown. */
  readonly approveBy?: number;
}

/** The end of an attempt, and of its run unless it will be tried again at `readyAt`. */
export interface RunEnd {
  readonly run: StartableRun;
  readonly attempt: number;
  readonly fence: number;
  readonly attemptStatus: Exclude<AttemptStatus, 'running' | 'interrupted'>;
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'backoff';
  readonly readyAt: number | null;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly durationMs: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
  /** The policy does not count this attempt. */
  readonly isFree?: true;
  /** Not the action failed but what is around it. */
  readonly isInternal?: true;
  /** Its task is paused, because another run of it would harm the work of others again. */
  readonly isHarmful?: true;
  /** Its settings cannot be carried out, whenever it is tried. */
  readonly isInvalid?: true;
  /** Its task may not do that, which only the attempt could find out: its slot is skipped for the reason. */
  readonly leftOut?: Obstacle;
  /** The value that its action watches is as it was. */
  readonly isUnchanged?: true;
  readonly output: Facts | null;
  readonly deliveries: readonly NewDelivery[];
  /** A result that is the same as that of the last success comes without a sound, or is not shown and asks nobody anything. */
  readonly ifUnchanged?: 'silent' | 'skip';
  /** The confirmation that its result needs. */
  readonly ack?: { readonly nagEveryMs: number; readonly nagLimit: number };
  /** The question whether what it brought is shown at all; then every delivery of it has an `approveBy`. */
  readonly approval?: NewApproval;
  /** Words about how it ended; which of them are said depends on what was said before. */
  readonly notices: EndNotices;
  /** The context as the run left it; null as well where that is too large. */
  readonly context: Facts | null;
  /** Null where nobody knows what the attempt has spent: then all that was reserved for it counts. */
  readonly usage: readonly Booking[] | null;
  /** Files of its result, whose bytes are in the store. */
  readonly files?: readonly FileRef[];
  /** The value that the next run of its task compares its own with. */
  readonly watched?: Watched;
  /** For a delay after the last finish: the next slot, now that the end is known; null completes the task. */
  readonly follows: { readonly schedule: Schedule; readonly nextAt: number | null } | null;
}

/**
 * The first failure is told, and the success that ends the incident. What a person asked for by hand is told each time. The
 * pause that too many failures bring about is told always. How many failures there were, and since when, is known to the
 * store alone, so it sets `failures` and `since` of the views that it keeps.
 */
export interface EndNotices {
  readonly byHand: boolean;
  readonly failed: NewDelivery | null;
  readonly autoPaused: NewDelivery | null;
  readonly recovered: NewDelivery | null;
  /** Where it may be the last run that `max_runs` allows; how many there were stands in the store as well. */
  readonly completed: NewDelivery | null;
  /** Of a run that left a context: told where its task keeps another. */
  readonly context?: NewDelivery;
}

/** An effect in words, for whoever must allow it. Without an id there is nobody to ask. */
export interface NewQuestion {
  readonly id: string | null;
  readonly text: string;
  readonly decideBy: number;
}

export interface NewApproval {
  /** The delivery of the question, in the thread where the task was asked for. */
  readonly id: string;
  readonly text: string;
  readonly mediaKind?: MediaKind;
  readonly decideBy: number;
}

/** The store of the scheduler. */
export interface SlotStore {
  /** Locks due tasks, oldest first, and writes what `plan` decided about them. */
  claimDue(
    at: Batch,
    plan: (due: readonly (DueTask | Unreadable)[]) => readonly (SlotPlan | Quarantine)[],
  ): Promise<Counts>;
  /** Locks tasks with a waiting occurrence and no live run, one occurrence for each, and writes what `plan` decided. */
  admitWaiting(
    at: Batch,
    plan: (waiting: readonly WaitingOccurrence[]) => readonly (Admission | Quarantine)[],
  ): Promise<Counts>;
  /** Ends questions that nobody answered in time. */
  expireQuestions(at: Batch): Promise<Counts>;
  /** Locks tasks whose pause ends by itself, and lets them go on as `plan` decides. A task's `nextAt` is that end. */
  resumeDue(
    at: Batch,
    plan: (due: readonly (DueTask | Unreadable)[]) => readonly (Resume | Quarantine)[],
  ): Promise<Counts>;
  /** Locks active tasks whose last success is too old, and of which nothing runs, waits or is due, oldest first, and writes what `plan` decided. */
  refreshStale(
    at: Batch,
    plan: (stale: readonly (DueTask | Unreadable)[]) => readonly (Refresh | Quarantine)[],
  ): Promise<Counts>;
  /** The next instant at which the scheduler has something to do, or null. */
  nextDueAt(now: number): Promise<number | null>;
  /** Recomputes the next slot of active tasks after the id, in pages, when the rules of time changed. */
  replanTasks(
    after: string | null,
    at: Batch,
    plan: (due: readonly (DueTask | Unreadable)[]) => readonly (Replan | Quarantine)[],
  ): Promise<ReplanPage>;
}

export interface Batch {
  readonly now: number;
  readonly limit: number;
}

/** The pause of a task has ended: null when nothing is left to run. */
export interface Resume {
  readonly taskId: string;
  readonly resumeAt: number;
  readonly nextAt: number | null;
}

/** A run beside the schedule, for a result that has grown too old. */
export interface Refresh {
  readonly taskId: string;
  readonly occurrence: NewOccurrence;
  readonly run: NewRun;
}

export interface Replan {
  readonly taskId: string;
  readonly expectNextAt: number;
  readonly nextAt: number | null;
}

export interface ReplanPage {
  readonly seen: number;
  readonly changed: number;
  readonly last: string | null;
}

/** The store of the runner. */
export interface RunStore {
  /** Adds a run, or finds the one with the same source and key; another payload under that key is refused. */
  addRun(run: NewRun): Promise<{ readonly runId: string; readonly created: boolean }>;
  /** Locks runs that are ready or were left behind by a process that is gone, and starts or ends them as `plan` decides. */
  startRuns(
    at: StartBatch,
    bootId: string,
    plan: (runs: readonly (StartableRun | Unreadable)[]) => readonly StartPlan[],
  ): Promise<Started>;
  /** Writes the ends of attempts: run, occurrence, counters, context, usage, deliveries. Idempotent by the fence. */
  finishRuns(ends: readonly RunEnd[]): Promise<Finished>;
  /** Keeps how far a run is, and tells it as an event, while the claim holds. */
  noteProgress(progress: Progress): Promise<void>;
  /** Running runs of this boot that somebody asked to stop. */
  cancelRequested(bootId: string): Promise<readonly string[]>;
  nextRunAt(now: number, claimable?: Claimable): Promise<number | null>;
}

export interface StartBatch extends Batch {
  /** Runs that this process may take up; all of them where it is absent. */
  readonly claimable?: Claimable;
  /** Kinds of actions of which no more may begin now; none where it is absent. Runs that the plan leaves out stay as they are. */
  readonly without?: readonly string[];
  /** Of these alone, and nothing that was left behind. */
  readonly only?: readonly string[];
  /** The job that has named a run; absent where none did. */
  readonly jobOf?: (runId: string) => string | null;
  /** Runs that wait for their first attempt since then have jobs of their own. */
  readonly queuedBefore?: number;
}

export interface Started extends Counts {
  readonly started: readonly StartedRun[];
}
