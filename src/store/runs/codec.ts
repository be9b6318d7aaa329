import type { StartableRun, Unreadable } from '../../app/ports/pipeline.ts';
import type { Attempt, Delivery, EndedRun, RunView, TaskRun } from '../../app/ports/runs.ts';
import type { SlotAck } from '../../app/ports/why.ts';
import type { Actor } from '../../domain/access.ts';
import { policyOf } from '../../domain/policy.ts';
import type { MessageInput, RunInput, RunStatus } from '../../domain/run.ts';
import type { TaskState } from '../../domain/task.ts';
import { listOf, rows, type Engine, type Script } from '../engine/engine.ts';
import { readFacts, readGrant, readObject, unreadable, type GrantColumns, type Rows } from '../tasks/codec.ts';

/** Rows of runs and of what hangs on them, as the runner and whoever looks at them see them. */
export type RunRow = Rows['runs'];
export type OccurrenceRow = Rows['occurrences'];
type AttemptRow = Rows['attempts'];
export type DeliveryRow = Rows['deliveries'] & { readonly provider: string; readonly address: string };

export type StartableRow = RunRow & GrantColumns & { readonly task_state: string | null };

export function readStartable(row: StartableRow): StartableRun | Unreadable {
  try {
    return {
      id: row.id,
      status: row.status as RunStatus,
      fence: row.fence,
      attempts: row.attempts,
      interruptions: row.interruptions,
      taskId: row.task_id,
      occurrenceId: row.occurrence_id,
      chatId: row.chat_id,
      ownerId: row.owner_id as Actor,
      taskVersion: row.task_version,
      createdAt: row.created_at,
      cancelRequested: row.cancel_requested_at !== null,
      taskState: row.task_state as TaskState | null,
      grant: row.chat_id === null ? null : readGrant(row, row.chat_id),
      traceId: row.trace_id,
      ...readInput(row.input),
    };
  } catch (error) {
    return unreadable(row.id, error);
  }
}

/** What a worker relies on without asking again; a run that lacks it could not even be ended by the usual way. */
function readInput(text: string): Pick<StartableRun, 'input' | 'policy'> {
  const input = readObject('input', text) as unknown as RunInput;
  const { action, instructions, timezone, policies, follows } = input;
  if (typeof action?.kind !== 'string') throw new Error('input has no action');
  if (typeof instructions !== 'string' || typeof timezone !== 'string') throw new Error('input has no text or no zone');
  if (follows !== undefined && typeof follows.schedule?.kind !== 'string') throw new Error('input has no schedule');
  // The density of the schedule matters only for slots that were missed, and this run is past that.
  return { input, policy: policyOf(policies ?? {}, { actionKind: action.kind, minGapMs: null }) };
}

function readAttempt(row: AttemptRow): Attempt {
  return {
    attempt: row.attempt,
    status: row.status as Attempt['status'],
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    durationMs: row.duration_ms,
    httpStatus: row.http_status,
    error: row.error,
  };
}

function readDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    part: row.part,
    status: row.status as Delivery['status'],
    thread: { provider: row.provider, address: row.address, topic: topicOf(row) },
    platformChatId: row.platform_chat_id,
    messageThreadId: row.message_thread_id,
    messageId: row.message_id,
    error: row.error,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
    cause: row.cause,
    heldUntil: row.held_until,
    decision: decisionIn(row.evidence),
  };
}

/** Where it is; for what goes to a thread by its name, also where it is to be. */
function topicOf({ message_id: messageId, message_thread_id: topic, goes_to: goesTo, to_topic: asked }: DeliveryRow) {
  return goesTo === 'thread' && messageId === null ? asked : topic;
}

/** What is kept of a decision beside the part; null when there was none. */
export function decisionIn(evidence: string | null): Delivery['decision'] {
  const facts = evidence === null || !evidence.startsWith('{') ? null : readFacts(evidence);
  const by = facts?.['approved_by'] ?? facts?.['discarded_by'];
  const at = facts?.['approval_at'];
  if (typeof by !== 'string' || typeof at !== 'number') return null;
  return { isGiven: facts?.['approved_by'] !== undefined, by: by as Actor, at };
}

export function readAck(row: Pick<Rows['acks'], 'status' | 'nags' | 'done_at' | 'done_by'>): SlotAck {
  return {
    status: row.status as SlotAck['status'],
    nags: row.nags,
    doneAt: row.done_at,
    doneBy: row.done_by as Actor | null,
  };
}

interface Parts {
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly Delivery[];
}

export type TaskRunRow = OccurrenceRow & { readonly trace_id: string | null };

export function readTaskRun(row: TaskRunRow, parts: Parts, ack: TaskRun['ack']): TaskRun {
  return {
    id: row.id,
    taskId: row.task_id,
    slotAt: row.slot_at,
    source: row.source as TaskRun['source'],
    status: row.status as TaskRun['status'],
    reason: row.reason as TaskRun['reason'],
    runId: row.run_id,
    replayOf: row.replay_of,
    lateMs: row.late_ms,
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    traceId: row.trace_id,
    ...parts,
    ack,
  };
}

/** A run with the chat it belongs to, and where in it its task was asked for. */
export type ViewedRow = RunRow & {
  readonly provider: string | null;
  readonly address: string | null;
  readonly home_topic: number | null;
};

export function readRun(row: ViewedRow, parts: Parts): RunView {
  const message = row.task_id === null ? messageIn(row.input) : null;
  const topic = row.task_id === null ? (message?.topic ?? null) : row.home_topic;
  const { provider, address } = row;
  return {
    id: row.id,
    source: row.source,
    idempotencyKey: row.idempotency_key,
    taskId: row.task_id,
    occurrenceId: row.occurrence_id,
    thread: provider === null || address === null ? null : { provider, address, topic },
    userKey: message?.userKey ?? null,
    traceId: row.trace_id,
    status: row.status as RunStatus,
    output: row.output === null ? null : readObject('output', row.output),
    error: row.error,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    ...parts,
  };
}

/** A run that cannot be read was told so by whoever stumbled over it, and is still shown. */
function messageIn(input: string): Partial<MessageInput> | null {
  return (readFacts(input)?.['message'] as Partial<MessageInput> | undefined) ?? null;
}

/** A run that is over, for doing it again. Throws when what it was given cannot be read. */
export function readEnded(row: RunRow): EndedRun {
  return {
    id: row.id,
    status: row.status as RunStatus,
    taskId: row.task_id,
    taskVersion: row.task_version,
    occurrenceId: row.occurrence_id,
    input: readInput(row.input).input,
  };
}

interface RunParts {
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
  readonly deliveries: ReadonlyMap<string, readonly Delivery[]>;
}

export function partsOf(engine: Engine, runIds: readonly string[]): Promise<RunParts> {
  return engine.read(() => readParts(runIds));
}

/** What runs tried and what they brought, by the id of the run. */
export function* readParts(runIds: readonly string[]): Script<RunParts> {
  if (runIds.length === 0) return { attempts: new Map(), deliveries: new Map() };
  const { marks, values } = listOf(runIds);
  const tries = yield* rows<AttemptRow>(
    `select * from attempts where run_id in (${marks}) order by run_id, attempt`,
    ...values,
  );
  const parts = yield* rows<DeliveryRow>(
    `select d.*, c.provider, c.address from deliveries d join chats c on c.id = d.chat_id
     where d.run_id in (${marks}) and d.kind = 'result' order by d.run_id, d.id`,
    ...values,
  );
  return {
    attempts: grouped(tries.map((one) => [one.run_id, readAttempt(one)])),
    deliveries: grouped(parts.map((one) => [one.run_id ?? '', readDelivery(one)])),
  };
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key) ?? [];
    group.push(value);
    groups.set(key, group);
  }
  return groups;
}
