import type { Actor } from '../../domain/access.ts';
import type { AckStatus } from '../../domain/ack.ts';
import type { DeliveryStatus } from '../../domain/delivery.ts';
import type { OccurrenceSource, OccurrenceStatus, Reason } from '../../domain/occurrence.ts';
import type { Role } from '../../domain/processes/process.ts';
import type { AttemptStatus, RunErrorCode, RunInput, RunStatus } from '../../domain/run.ts';
import type { Sum } from '../../domain/spending/usage.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';

/** Runs as they are shown, asked for and called off. The runner sees more of them, in pipeline.ts. */

type Facts = Readonly<Record<string, unknown>>;

export interface Attempt {
  readonly attempt: number;
  readonly status: AttemptStatus;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly durationMs: number | null;
  readonly httpStatus: number | null;
  readonly error: string | null;
  /** The job of the queue that brought it; null where the process has found it by itself. */
  readonly jobId: string | null;
  /** The process that made it; of one of an earlier release only its id is known. */
  readonly worker: {
    readonly bootId: string;
    readonly role: Role | null;
    readonly host: string | null;
    readonly pid: number | null;
  };
}

export interface Delivery {
  readonly id: string;
  readonly part: number;
  readonly status: DeliveryStatus;
  readonly thread: Thread;
  readonly platformChatId: string | null;
  readonly messageThreadId: number | null;
  readonly messageId: number | null;
  /** Of an album, the numbers of all of its messages. */
  readonly messageIds?: readonly number[];
  readonly error: string | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  /** Why it is blocked. */
  readonly cause: string | null;
  /** It went where its task was asked for, or is on its way there, because its topic could not be had. */
  readonly isFallback: boolean;
  /** The end of the quiet hours for which it waits, or has waited. */
  readonly heldUntil: number | null;
  /** The approval or discard; null where nobody has decided. */
  readonly decision: { readonly isGiven: boolean; readonly by: Actor; readonly at: number } | null;
}

/** Whether somebody has said that it is done, and how often people were reminded of it. */
export interface SlotAck {
  readonly status: AckStatus;
  readonly nags: number;
  readonly doneAt: number | null;
  readonly doneBy: Actor | null;
}

export interface TaskRun {
  readonly id: string;
  readonly taskId: string;
  readonly slotAt: number;
  readonly source: OccurrenceSource;
  readonly status: OccurrenceStatus;
  readonly reason: Reason | null;
  readonly runId: string | null;
  readonly replayOf: string | null;
  readonly lateMs: number;
  /** The number of the run within its task; null where there is none, as for the kind of its action. */
  readonly runNumber: number | null;
  readonly actionKind: string | null;
  readonly error: string | null;
  readonly errorCode: RunErrorCode | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The request that asked for its run; null where a schedule did. */
  readonly traceId: string | null;
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly Delivery[];
  /** Whether somebody has confirmed it; null where nobody was asked and nobody has said anything. */
  readonly ack: SlotAck | null;
}

export interface RunView {
  readonly id: string;
  readonly source: string;
  readonly idempotencyKey: string;
  readonly taskId: string | null;
  readonly occurrenceId: string | null;
  /** The thread that a message goes to, or where the task was asked for; null when neither is there any more. */
  readonly thread: Thread | null;
  /** For whom a message was put there, as the client calls them. */
  readonly userKey: string | null;
  readonly traceId: string | null;
  readonly status: RunStatus;
  readonly output: Facts | null;
  readonly runNumber: number | null;
  readonly actionKind: string | null;
  readonly error: string | null;
  readonly errorCode: RunErrorCode | null;
  /** The newest words of its action about how far it is. */
  readonly progress: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly Delivery[];
}

/** A run that has ended, with what it was given. */
export interface EndedRun extends Pick<RunView, 'id' | 'status' | 'taskId' | 'occurrenceId'> {
  readonly taskVersion: number | null;
  readonly createdAt: number;
  readonly input: RunInput;
}

export interface TaskRunQuery extends PageQuery {
  readonly taskId: string;
  readonly status: OccurrenceStatus | null;
}

/** Every condition that is given must hold. */
export interface RunQuery extends PageQuery {
  readonly states: readonly RunStatus[] | null;
  readonly taskId: string | null;
  readonly thread: Thread | null;
  readonly source: string | null;
  readonly subject: string | null;
  readonly tags: readonly string[];
  /** A text within the input of the run, or within the error with which it ended. */
  readonly text: string | null;
  /** When it was made, both ends included. */
  readonly from: number | null;
  readonly to: number | null;
}

export interface CancelRequest {
  readonly runId: string;
  readonly actor: Actor;
  readonly at: number;
  readonly traceId?: string | null | undefined;
}

/** Calls off the named runs, each with its row in the audit where it has a task. */
export interface CancelRunsRequest extends Omit<CancelRequest, 'runId'> {
  readonly runIds: readonly string[];
}

/** A place into which something may be said. */
export interface OpenThread {
  readonly chatId: string;
  /** The admin who let the bot in; null where nobody had to. */
  readonly approvedBy: Actor | null;
}

/** The last result of a task, null in all of it where there is none, and what became of its last slot. */
export interface LastResult extends Pick<Task, 'lastOutcome' | 'skippedAt'> {
  readonly number: number | null;
  readonly at: number | null;
  readonly output: Facts | null;
}

/** The result of a run, with whatever hangs on it. */
export interface BroughtBack {
  readonly chatId: string | null;
  readonly output: Facts | null;
  readonly usage: readonly Sum[];
}

export interface RunViewStore {
  readTaskRun(id: string): Promise<TaskRun | null>;
  listTaskRuns(query: TaskRunQuery): Promise<Page<TaskRun>>;
  readRun(runId: string): Promise<RunView | null>;
  /**
   * All runs, newest first; those of one task by the slots that asked for them. One look is bounded: a page may hold fewer
   * runs than were asked for, or none, and still have a cursor with which the look goes on.
   */
  listRuns(query: RunQuery): Promise<Page<RunView>>;
  broughtBack(runId: string): Promise<BroughtBack | null>;
  readEndedRun(runId: string): Promise<EndedRun | null>;
  /** The last success is the one of the latest slot; a replay shows what was. */
  lastResult(taskId: string): Promise<LastResult | null>;
  /** Calls a run off. False when it has ended in another way already; null when there is no such run. */
  cancelRun(request: CancelRequest): Promise<boolean | null>;
  /** Runs of a thread that have not ended and that nobody has called off. */
  liveRunsOf(thread: Thread, limit: number): Promise<readonly string[]>;
  /** Answers how many of them were called off by this; the others had ended, or were called off before. */
  cancelRuns(request: CancelRunsRequest): Promise<number>;
  /** The chat of a thread, made when it is new; null where the bot was sent away, or is no more. */
  openThread(thread: Thread, newId: string, at: number): Promise<OpenThread | null>;
}

/** The part of a list that is asked for; without a cursor it is the first. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

/** One page of a list, and where the next one begins; null on the last. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export interface Finished {
  /** Ends that were written; the others had lost their claim. */
  readonly written: number;
  /** Tasks that failed too often in a row, or whose run was harmful. */
  readonly autoPaused: readonly string[];
}

export interface Progress {
  readonly runId: string;
  readonly fence: number;
  readonly text: string;
  readonly at: number;
}
