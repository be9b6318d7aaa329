import type { Actor } from '../../domain/access.ts';
import type { DeedVerb, TaskVerb } from '../../domain/event.ts';
import type { Grant } from '../../domain/grant.ts';
import type { Reason } from '../../domain/occurrence.ts';
import type { NewRun } from '../../domain/run.ts';
import type { Warning } from '../../domain/schedule/schedule.ts';
import type { Counters, Definition, Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Once } from '../use-cases/kept-answers.ts';
import type { Batch, Counts, SlotPlan, DueTask, NewOccurrence, Quarantine, Resume, Unreadable } from './pipeline.ts';
import type { Page, PageQuery, RunView, RunViewStore, TaskRun } from './runs.ts';
import type { Deed } from './why.ts';

/** The store as the use cases around tasks see it. */

type Facts = Readonly<Record<string, unknown>>;

/** Tasks that can still run, at most. */
export interface Quota {
  readonly chat: number;
  readonly user: number;
}

export interface NewTask
  extends
    Definition,
    Pick<TaskFields, 'minGapMs' | 'context'>,
    Pick<ChangeRequest, 'actor' | 'at' | 'once' | 'traceId' | 'quota' | 'endPause'> {
  readonly id: string;
  readonly grant: Pick<Grant, 'id' | 'scopes' | 'unconfirmed' | 'expiresAt'>;
  readonly home: Thread;
  /** The person who made it; without one it belongs to whoever approved the thread. */
  readonly owner: Actor | null;
  /** Used when nobody has approved the thread. */
  readonly ownerIfNone: Actor;
  readonly nextAt: number;
  readonly onExisting: 'fail' | 'upsert' | 'add';
  /** A new id for the chat, used when the thread is seen for the first time. */
  readonly newChatId: string;
  /** Told to whoever makes it, and kept with its key. */
  readonly warnings: readonly Warning[];
}

/** A row of the audit, as a decision about the task sees it. */
export interface AuditRow extends Omit<Deed, 'taskId' | 'traceId'> {
  readonly actor: Actor;
  readonly verb: DeedVerb;
}

export interface Snooze {
  readonly slotAt: number;
  readonly replayOf: string | null;
}

/** A task under its lock, with what a decision about it needs. */
export interface TaskScene {
  readonly task: Task;
  readonly due: DueTask | null;
  readonly live: readonly Pick<RunView, 'id' | 'status' | 'occurrenceId'>[];
  readonly waiting: number;
  /** Slots from the asked instant on that already have a row. */
  readonly taken: ReadonlySet<number>;
  /** Slots among them that a person skipped in advance, earliest first. */
  readonly skipped: readonly number[];
  /** Those of snoozes that ended before they ran; they give way to the slots of another timing. */
  readonly unused: readonly number[];
  /** Questions about missed slots that wait for a person. */
  readonly questions: readonly string[];
  /** Open snoozes, soonest first, each with the occurrence whose result it puts off. */
  readonly snoozes: readonly Snooze[];
  /** The occurrence whose result is meant, when that was asked for; null where there is none. */
  readonly result?: string | null;
  /** Retries and replays of the occurrence that was asked about, newest first. */
  readonly replays: readonly Pick<TaskRun, 'id' | 'source' | 'status'>[];
  /** Its latest rows of the audit, newest first, when they were asked for. */
  readonly recent: readonly AuditRow[];
  readonly grant: Grant | null;
  /** Obstacles to another place, when they were asked for. */
  readonly place?: PlaceView;
}

/** A task before it gets another place. */
export interface PlaceView {
  /** The place that is meant: the thread where it is already, another one of its chat, or another chat. */
  readonly is: 'here' | 'thisChat' | 'elsewhere';
  /** Parts that are still on their way to where it is. */
  readonly openParts: number;
  /** Its topic may exist although nobody has said so. */
  readonly isTopicInDoubt: boolean;
  /** Its chat can be reached no more, and so can nothing that is there. */
  readonly isGone: boolean;
  /** The chat that is meant has sent the bot away, or is no more. */
  readonly isShut: boolean;
}

/** Another place for a task. In another chat it gets a number and a grant of that chat. */
export interface Move {
  readonly home: Thread;
  /** A new id for the chat, used when the thread is seen for the first time. */
  readonly newChatId: string;
  readonly grantId: string;
  /** An owner who stands in for nobody gives way to whoever approved the chat. */
  readonly standIn: Actor;
}

/** A fresh grant takes the place of the one that is there, which is revoked. */
export interface GivenGrant extends Pick<Grant, 'id' | 'scopes' | 'unconfirmed' | 'expiresAt' | 'ownerId'> {
  readonly is: 'given';
  /** The one who owns it where the owner is out of the chat, and nobody approved that; null where the owner alone will do. */
  readonly standIn: Actor | null;
}

export type GrantChange = GivenGrant | { readonly is: 'revoked'; readonly id: string };

export interface TaskFields
  extends
    Definition,
    Pick<Task, 'state' | 'nextAt' | 'minGapMs' | 'pausedReason' | 'resumeAt' | 'context'>,
    Pick<Counters, 'boundedRuns' | 'consecutiveFailures'> {
  readonly skipsUntil: number | null;
}

/** The change of one task: slots that were due are claimed first, then the fields are set. */
export interface TaskChange {
  readonly claims: readonly SlotPlan[];
  readonly set: Partial<TaskFields>;
  readonly stamp: 'updated' | 'paused' | 'resumed' | 'deleted' | 'restored' | null;
  readonly manual: { readonly occurrence: NewOccurrence; readonly run: NewRun | null } | null;
  /** Occurrences that wait are ended with this reason. */
  readonly endWaiting: Reason | null;
  /** New scopes of the task's grant, when what it does has changed. */
  readonly scopes: Pick<Grant, 'scopes' | 'unconfirmed'> | null;
  /** Another end of the task's grant. */
  readonly grantEnd: { readonly at: number | null } | null;
  readonly cancelLive: boolean;
  readonly move: Move | null;
  readonly grant: GrantChange | null;
  /** Slots that were skipped in advance and are not any more, or that an unused snooze gives way to. */
  readonly unskip: readonly number[];
  /** Confirmations that the change of that instant has dropped are asked for again. */
  readonly askAgain: number | null;
  /** Slots to come that are skipped again, because the change that gave them up is taken back. */
  readonly reskip: readonly NewOccurrence[];
  /** Ends the open snooze of that instant with this reason. */
  readonly endSnooze: { readonly slotAt: number; readonly reason: Reason } | null;
  /** Answers open questions: the slots run after all, or they do not. */
  readonly answer: { readonly run: readonly string[]; readonly skip: readonly string[] } | null;
  readonly audit: { readonly verb: TaskVerb; readonly before: Facts | null; readonly after: Facts | null } | null;
  /** Further facts that the verb tells of its deed, kept as JSON with its key. */
  readonly told: unknown;
}

/** A decision that changes nothing; the others say what they add to it. */
export const noChange: TaskChange = {
  claims: [],
  set: {},
  stamp: null,
  manual: null,
  endWaiting: null,
  scopes: null,
  grantEnd: null,
  cancelLive: false,
  move: null,
  grant: null,
  unskip: [],
  askAgain: null,
  reskip: [],
  endSnooze: null,
  answer: null,
  audit: null,
  told: null,
};

export interface ChangeRequest {
  readonly taskId: string;
  readonly actor: Actor;
  readonly at: number;
  readonly once: Once | null;
  /** The request in whose course it is done, as its client named it. */
  readonly traceId?: string | null | undefined;
  /** Held when a task that was completed or deleted gets something to do again. */
  readonly quota: Quota;
  /** More that the decision wants to see: the latest rows of the audit, the repeats of an occurrence, a result. */
  readonly look?: Look;
  /** How the task goes on first where its pause is over and nobody has noticed yet; its `nextAt` is that end. */
  readonly endPause?: (due: DueTask | Unreadable) => Resume | Quarantine;
}

/** `resultOf` null means the latest result. */
type Look =
  | { readonly recent: true }
  | { readonly replaysOf: string }
  | { readonly resultOf: string | null }
  | { readonly place: Thread };

export interface Changed {
  readonly task: Task;
  readonly occurrenceId: string | null;
  /** The row of the audit, by which the change can be undone; null when nothing changed. */
  readonly entryId: string | null;
  /** Whether it was done before under the same key, and so is not done again. */
  readonly replayed: boolean;
}

export interface ChangedAndTold extends Changed {
  /** Facts that the change tells, or told when it was made under the same key. */
  readonly told: unknown;
}

export interface TaskVersion {
  readonly version: number;
  readonly at: number;
  readonly actor: Actor;
  readonly definition: Definition;
}

/** Tasks that are meant together: every condition that is given must hold, and at least one is. */
export type Whose =
  | { readonly thread: Thread; readonly ownerId?: Actor | null }
  | { readonly thread?: Thread | null; readonly ownerId: Actor };

/** Counts of tasks, and of their work. */
export interface WorkCounts {
  readonly active: number;
  readonly paused: number;
  readonly completed: number;
  readonly liveRuns: number;
  readonly openDeliveries: number;
}

export interface Purge extends Pick<ChangeRequest, 'actor' | 'at' | 'traceId'> {
  readonly whose: Whose;
  /** How many tasks somebody was told of who agreed to it; null where nobody was. */
  readonly expected: number | null;
  readonly endPause: NonNullable<ChangeRequest['endPause']>;
}

/** Counts of what was deleted; of what is there where that is not what was expected, so that it was not done. */
export interface Purged {
  readonly counts: WorkCounts;
  readonly isDone: boolean;
}

export interface Unbinding {
  readonly taskId: string;
  /** The topic that is meant: by now the task may have another one. */
  readonly topicId: number;
  readonly actor: Actor;
  readonly at: number;
}

/** `before`: that was done already; `creating`: the topic is being made; `none`: it was never the task's. */
export type Unbound = 'unbound' | 'before' | 'creating' | 'none';

export interface TaskQuery extends PageQuery {
  readonly thread: Thread | null;
  /** Absent where it does not matter whose they are. */
  readonly ownerId?: string | null;
  /** `all` are those that are there; what was deleted is named by its own word. */
  readonly state: 'all' | 'enabled' | 'disabled' | Task['state'];
  readonly text: string | null;
  readonly tag: string | null;
  /** Exactly this one, or one of several. */
  readonly subject: string | readonly string[] | null;
}

/** The only store that writes definitions. */
export interface TaskStore extends RunViewStore {
  createTask(task: NewTask, existing: (scene: TaskScene) => TaskChange): Promise<Created>;
  /** The task that an earlier request with this key made; a key that was used for something else is refused. */
  madeUnder(once: Once, now: number): Promise<Created | null>;
  changeTask(request: ChangeRequest, plan: (scene: TaskScene) => TaskChange): Promise<ChangedAndTold>;
  readTask(taskId: string): Promise<Task | null>;
  listTasks(query: TaskQuery): Promise<Page<Task>>;
  listVersions(taskId: string): Promise<readonly TaskVersion[]>;
  countTasks(whose: Whose): Promise<WorkCounts>;
  /** Deletes them all, or none; each can be restored for a day. */
  purgeTasks(purge: Purge): Promise<Purged>;
  /** Tasks among them that run something now which nobody has called off. */
  tasksAtWork(taskIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Takes the topic from a task, with its row in the audit. */
  unbindTopic(unbinding: Unbinding): Promise<Unbound>;
}

export interface Created {
  readonly task: Task;
  /** False when the task was found by its identity. */
  readonly created: boolean;
  readonly warnings: readonly Warning[];
  /** Whether it was made before under the same key, as all of this tells. */
  readonly replayed: boolean;
}

/** The rights under which tasks run, as whoever keeps them in order sees them. They change only with their tasks. */

export interface GrantView extends Omit<Grant, 'chatId'> {
  /** The tasks that run under it; none once another one has taken its place. */
  readonly taskIds: readonly string[];
  /** The chat whose budget its runs spend. */
  readonly account: Thread;
  /** The base thread of the chat in which it holds. */
  readonly thread: Thread;
  /** A person or a token, or why the product took it away by itself. */
  readonly revokedBy: string | null;
  readonly createdAt: number;
  readonly createdBy: Actor;
}

export type GrantState = 'active' | 'revoked' | 'expired';

export interface GrantQuery extends PageQuery {
  /** A base thread stands for its whole chat, a topic for the tasks that were asked for in it. */
  readonly thread: Thread | null;
  readonly ownerId: string | null;
  readonly taskId: string | null;
  /** The chat whose budget they spend. */
  readonly account?: Thread | null;
  readonly state: GrantState | null;
  readonly now: number;
}

export interface GrantStore {
  /** Newest first. */
  listGrants(query: GrantQuery): Promise<Page<GrantView>>;
  readGrant(grantId: string): Promise<GrantView | null>;
  /** Tells, once for each, of grants that end soon. */
  tellGrantsEnding(at: Batch): Promise<Counts>;
}
