import type { Schedule } from '../domain/schedule/schedule.ts';
import type { Actor } from '../domain/actor.ts';
import type { Gap, PlannedOccurrence } from '../domain/due.ts';
import type { Grant } from '../domain/grant.ts';
import type { OccurrenceSource, Reason } from '../domain/occurrence.ts';
import type { UnknownPolicy } from '../domain/policy.ts';
import type { AttemptStatus, NewRun, RunInput, RunStatus } from '../domain/run.ts';
import type { DeliveryKind, DeliveryStatus } from '../domain/delivery.ts';
import type { BlockedCause, Shown, MediaKind } from '../domain/shown.ts';
import type { Definition, TaskState } from '../domain/task.ts';
import type { Thread } from '../domain/thread.ts';
import type { NewMessage, OnlyFor } from './chat-store.ts';
import type { Route, SentIds } from './ports.ts';

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
  /** Slots to come that a person has skipped: they have their rows already. */
  readonly skipped: readonly number[];
}

export interface NewOccurrence extends PlannedOccurrence {
  readonly id: string;
  readonly runId: string | null;
  readonly lateMs: number;
  /** For a retry or a replay: the occurrence that is done again. */
  readonly replayOf?: string;
}

/** What becomes of one task whose slots are due. `nextAt` null means that nothing is left to run. */
export interface Claim {
  readonly taskId: string;
  readonly expectNextAt: number;
  readonly occurrences: readonly NewOccurrence[];
  readonly runs: readonly NewRun[];
  readonly gap: (Gap & { readonly id: string }) | null;
  readonly nextAt: number | null;
  /** Where the task would go on if its bound were not used up; a slot that has its row already uses up none. */
  readonly onward?: number | null;
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
}

export interface WaitingOccurrence {
  readonly id: string;
  readonly slotAt: number;
  readonly source: OccurrenceSource;
  readonly lateMs: number;
  readonly task: DueTask | Unreadable;
}

export type Admission =
  | {
      readonly occurrenceId: string;
      readonly taskId: string;
      readonly run: NewRun;
      /** It counts against `max_runs`. */
      readonly bounded: boolean;
      /** It is the last one that `max_runs` allows. */
      readonly completes: boolean;
    }
  | { readonly occurrenceId: string; readonly taskId: string; readonly skip: Reason };

export interface StartableRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly fence: number;
  readonly attempts: number;
  readonly interruptions: number;
  readonly taskId: string | null;
  readonly occurrenceId: string | null;
  readonly chatId: string | null;
  readonly ownerId: Actor;
  readonly taskVersion: number | null;
  readonly createdAt: number;
  readonly cancelRequested: boolean;
  readonly taskState: TaskState | null;
  readonly grant: Grant | null;
  readonly input: RunInput;
}

/** `start` opens the next attempt; everything else ends the run, or an attempt that a dead process left behind. */
export type StartPlan =
  | { readonly runId: string; readonly does: 'start'; readonly interrupted: boolean }
  | {
      readonly runId: string;
      readonly does: 'end';
      readonly interrupted: boolean;
      readonly status: 'failed' | 'cancelled';
      readonly occurrence: 'failed' | 'cancelled' | 'skipped';
      readonly reason: Reason | null;
      readonly error: string;
      /** As for the end of an attempt; absent where nobody is told. */
      readonly notices?: EndNotices;
    };

export interface StartedRun {
  readonly run: StartableRun;
  readonly attempt: number;
  readonly fence: number;
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
  /** It is shown only when somebody approves it, at the latest then. */
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
  readonly output: Facts | null;
  readonly deliveries: readonly NewDelivery[];
  /** Somebody has to confirm what it brought. */
  readonly ack?: { readonly nagEveryMs: number; readonly nagLimit: number };
  /** The question whether what it brought is shown at all; then every delivery of it has an `approveBy`. */
  readonly approval?: NewApproval;
  /** Words about how it ended; which of them are said depends on what was said before. */
  readonly notices: EndNotices;
  readonly context: Facts | null;
  readonly usage: readonly { readonly kind: string; readonly quantity: number }[];
  /** For a delay after the last finish: the next slot, now that the end is known; null completes the task. */
  readonly follows: { readonly schedule: Schedule; readonly nextAt: number | null } | null;
}

/**
 * A failure is told once for each cause, until a run succeeds, which is told then. What a person asked for by hand is told
 * each time. The pause that too many failures bring about is told always. How many failures there were, and since when, is
 * known to the store alone, so it sets `failures` and `since` of the views that it keeps.
 */
export interface EndNotices {
  /** What the failure is about, without what differs from run to run; null when it did not fail. */
  readonly cause: string | null;
  readonly byHand: boolean;
  readonly failed: NewDelivery | null;
  readonly autoPaused: NewDelivery | null;
  readonly recovered: NewDelivery | null;
}

export interface NewApproval {
  /** The delivery of the question, in the thread where the task was asked for. */
  readonly id: string;
  readonly text: string;
  readonly mediaKind?: MediaKind;
  readonly decideBy: number;
}

export interface Finished {
  /** Ends that were written; the others had lost their claim. */
  readonly written: number;
  readonly autoPaused: readonly string[];
}

export interface OutboxPart {
  readonly id: string;
  readonly fence: number;
  readonly status: DeliveryStatus;
  readonly runId: string | null;
  readonly taskId: string | null;
  readonly chatId: string;
  readonly part: number;
  readonly sends: number;
  /** How often it was put off without having left. */
  readonly putOffs: number;
  readonly settles: number;
  readonly sentAt: number | null;
  readonly expiresAt: number | null;
  readonly unknown: UnknownPolicy;
  readonly kind: DeliveryKind;
  readonly shown: Shown;
  /** The message of ours that it changes or removes; null for a new one. */
  readonly edits: number | null;
  /** It comes without a sound. */
  readonly silent: boolean;
  /** The one person who sees it, where the platform can do that. */
  readonly onlyFor: OnlyFor | null;
  /** An earlier send of it got no answer, and no evidence has settled what became of it. */
  readonly isResent: boolean;
  /** When the oldest of those sends left; null when there is none. */
  readonly doubtSince: number | null;
  readonly route: Route;
  readonly topic: TopicView | null;
  /** Where the task was asked for, for words about its topic; null when it has no task. */
  readonly home: Thread | null;
}

/** The topic of the part's task, when it has one to be made. */
export interface TopicView {
  readonly taskId: string;
  readonly name: string;
  readonly state: 'none' | 'creating' | 'ready' | 'blocked';
  readonly id: number | null;
  readonly askedAt: number | null;
  /** The name under which its creation was asked for; the task may be called otherwise by now. */
  readonly askedName: string | null;
  /** Why it is blocked. */
  readonly cause: BlockedCause | null;
}

/** The end of one send or of one look for evidence, guarded by the fence of its claim. */
export type PartEnd = { readonly id: string; readonly fence: number; readonly taskId?: string | null } & (
  | {
      readonly status: 'delivered';
      readonly ids: SentIds;
      readonly at: number;
      readonly evidence: string | null;
      /** For a new card: the id of the delivery that pins it. The task remembers the card as its own. */
      readonly pinId: string | null;
    }
  | {
      readonly status: 'pending';
      /** It is known not to have left, so the send does not count. */
      readonly unsent: boolean;
      /** The send before got no answer and may have arrived: the next one `isResent`. False settles what was in doubt. */
      readonly inDoubt: boolean;
      readonly readyAt: number;
      readonly error: string | null;
      readonly evidence: string | null;
    }
  | {
      readonly status: 'blocked';
      readonly unsent: boolean;
      readonly readyAt: number;
      readonly cause: BlockedCause;
      readonly error: string;
      /** Told in the thread where the task was asked for, once while the cause lasts. */
      readonly guidance: NewMessage | null;
    }
  | {
      readonly status: 'unknown';
      /** Null leaves it to a person. */
      readonly readyAt: number | null;
      readonly error: string;
      readonly evidence: string;
      /** The question to a person, where the task was asked for. */
      readonly guidance: NewMessage | null;
    }
  | {
      readonly status: 'failed';
      readonly error: string;
      readonly evidence: string | null;
      /** Said once in the topic, or where the task was asked for. */
      readonly guidance?: NewMessage | null;
      /** The card that was to be changed is not there any more: the next change makes a new one. */
      readonly cardGone?: number | null;
    }
);

export type TopicEnd = { readonly taskId: string } & (
  | {
      readonly state: 'ready';
      readonly id: number;
      /** The delivery of its card, and the one that says that it was made again if it was deleted before. */
      readonly cardId: string;
      readonly remadeId: string;
      readonly at: number;
    }
  /** `lost` when it was there and is gone; otherwise it was not made yet. */
  | { readonly state: 'none'; readonly lost: boolean }
  | { readonly state: 'blocked'; readonly cause: BlockedCause }
);

/** What the scheduler needs. */
export interface SlotStore {
  /** Locks due tasks, oldest first, and writes what `plan` decided about them. */
  claimDue(
    at: Batch,
    plan: (due: readonly (DueTask | Unreadable)[]) => readonly (Claim | Quarantine)[],
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
    at: WaitingBatch,
    plan: (due: readonly (DueTask | Unreadable)[]) => readonly (Resume | Quarantine)[],
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

export interface WaitingBatch extends Batch {
  /** Waits for rows that others hold, instead of leaving them for the next time. */
  readonly waits: boolean;
}

/** The pause of a task has ended: null when nothing is left to run. */
export interface Resume {
  readonly taskId: string;
  readonly resumeAt: number;
  readonly nextAt: number | null;
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

/** What the runner needs. */
export interface RunStore {
  /** Adds a run, or finds the one with the same source and key; another payload under that key is refused. */
  addRun(run: NewRun): Promise<{ readonly runId: string; readonly created: boolean }>;
  /** Locks runs that are ready or were left behind by another boot, and starts or ends them as `plan` decides. */
  startRuns(
    at: Batch,
    bootId: string,
    plan: (runs: readonly (StartableRun | Unreadable)[]) => readonly StartPlan[],
  ): Promise<Started>;
  /** Writes the ends of attempts: run, occurrence, counters, context, usage, deliveries. Idempotent by the fence. */
  finishRuns(ends: readonly RunEnd[]): Promise<Finished>;
  /** Running runs of this boot that somebody asked to stop. */
  cancelRequested(bootId: string): Promise<readonly string[]>;
  nextRunAt(bootId: string, now: number): Promise<number | null>;
}

export interface Started extends Counts {
  readonly started: readonly StartedRun[];
}

export interface OutboxBatch extends Batch {
  /** The chat served last: the others have their turn before it comes again. */
  readonly after: string;
  /** Chats that were sent so many answers in a row that a result has its turn before the next one. */
  readonly resultsFirst?: ReadonlySet<string>;
}

/** What the deliverer needs. */
export interface OutboxStore {
  /** Claims at most one part for each chat that is not busy or held: the most urgent one that nothing holds back. */
  claimParts(at: OutboxBatch, bootId: string, busyChats: ReadonlySet<string>): Promise<readonly OutboxPart[]>;
  endParts(ends: readonly PartEnd[], now: number): Promise<number>;
  /** Marks the topic as being made, if nobody else makes it; false means that somebody does. */
  beginTopic(topic: Pick<TopicView, 'taskId' | 'name'>, bootId: string, now: number): Promise<boolean>;
  endTopic(end: TopicEnd): Promise<void>;
  nextPartAt(now: number): Promise<number | null>;
}

/** What keeping the place in order needs. */
export interface UpkeepStore {
  readNote(key: string): Promise<string | null>;
  writeNote(key: string, value: string, now: number): Promise<void>;
  /** The wall clock was set back: instants that were computed with the old one are moved along. */
  shiftClock(byMs: number): Promise<void>;
  /** Throws when the store cannot commit. */
  ping(now: number): Promise<void>;
}
