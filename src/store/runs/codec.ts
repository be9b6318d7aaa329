import type { StartableRun, Unreadable } from '../../app/ports/pipeline.ts';
import type { Claimable } from '../../app/ports/processes.ts';
import type { Attempt, Delivery } from '../../app/ports/runs.ts';
import type { Actor } from '../../domain/access.ts';
import { policyOf } from '../../domain/policy.ts';
import type { Consent, RunInput } from '../../domain/run.ts';
import { snapshotOf } from '../blobs/snapshots.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, mapped, maybe, pick, together, type Answer } from '../engine/fields.ts';
import { allOf, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, select } from '../engine/statements.ts';
import { albumsOf } from '../outbox/albums.ts';
import { grantFields, readFacts, readGrant, readObject, unreadable } from '../tasks/codec.ts';

/** Rows of runs and of what hangs on them, as the runner and whoever looks at them see them. */

const r = columnsOf('runs', 'r');

/** Columns that the runner reads, over `startableSource`. */
export const startableFields = {
  ...pick(r, 'id', 'status', 'fence', 'attempts', 'interruptions', 'freeAttempts'),
  ...pick(r, 'taskId', 'occurrenceId', 'chatId', 'ownerId'),
  ...pick(
    r,
    'taskVersion',
    'contextVersion',
    'runNumber',
    'startedAt',
    'createdAt',
    'cancelRequestedAt',
    'cancelReason',
    'traceId',
  ),
  ...pick(r, 'reservedAt', 'reservedRequests', 'reservedTokens', 'reservedMoney', 'reservedCurrency'),
  ...pick(r, 'title', 'instructions', 'input', 'approval', 'snapshot'),
  snapshotBytes: snapshotOf('r'),
  taskState: maybe(columnsOf('tasks', 't').state),
  ...grantFields,
};

export const startableSource = raw(
  'runs r left join tasks t on t.id = r.task_id left join grants g on g.id = t.grant_id',
);

export type StartableRow = Answer<typeof startableFields>;

export function readStartable(row: StartableRow): StartableRun | Unreadable {
  try {
    const { id, status, fence, attempts, interruptions, freeAttempts, taskId, occurrenceId, chatId, ownerId } = row;
    const { taskVersion, contextVersion, runNumber, startedAt, createdAt, taskState, traceId } = row;
    return {
      id,
      status,
      fence,
      attempts,
      interruptions,
      freeAttempts,
      taskId,
      occurrenceId,
      chatId,
      ownerId,
      taskVersion,
      contextVersion,
      runNumber,
      startedAt,
      createdAt,
      cancelRequested: row.cancelRequestedAt !== null,
      taskState,
      grant: chatId === null ? null : readGrant(row, chatId),
      traceId,
      reserved: reservedIn(row),
      consent: consentIn(row.approval),
      ...readInput(row),
    };
  } catch (error) {
    return unreadable(row.id, error);
  }
}

export function reservedIn(row: ReservedRow): StartableRun['reserved'] {
  const { reservedAt: at, reservedRequests, reservedTokens, reservedMoney, reservedCurrency: currency } = row;
  if (at === null) return null;
  return {
    at,
    costs: { requests: reservedRequests ?? 0, tokens: reservedTokens ?? 0, money: reservedMoney ?? 0, currency },
  };
}

type ReservedRow = Pick<
  StartableRow,
  'reservedAt' | 'reservedRequests' | 'reservedTokens' | 'reservedMoney' | 'reservedCurrency'
>;

/** Input that a worker relies on without asking again; a run without it could not even be ended by the usual way. */
function readInput({
  title,
  instructions,
  input: text,
  snapshot,
  snapshotBytes,
}: Answer<typeof inputFields>): Pick<StartableRun, 'input' | 'policy'> {
  const large = snapshot === null ? {} : readObject('snapshot', snapshotBytes?.toString('utf8') ?? '');
  const input = { ...readObject('input', text), ...large, title, instructions } as unknown as RunInput;
  const { action, timezone, policies, follows } = input;
  if (typeof action?.kind !== 'string') throw new Error('input has no action');
  if (typeof timezone !== 'string') throw new Error('input has no zone');
  if (follows !== undefined && typeof follows.schedule?.kind !== 'string') throw new Error('input has no schedule');
  // The density of the schedule matters only for slots that were missed, and this run is past that.
  return { input, policy: policyOf(policies ?? {}, { actionKind: action.kind, minGapMs: null }) };
}

/** The consent to the effect of a run; null where nobody was asked. */
export function consentIn(text: string | null): Consent | null {
  const decision = decisionIn(text);
  if (decision !== null) return { is: decision.isGiven ? 'given' : 'refused', by: decision.by, at: decision.at };
  const decideBy = readFacts(text)?.['decide_by'];
  return typeof decideBy === 'number' ? { is: 'asked', decideBy } : null;
}

/** The decision about a part; null when there was none. */
export function decisionIn(text: string | null): Delivery['decision'] {
  const facts = readFacts(text);
  const by = facts?.['approved_by'] ?? facts?.['discarded_by'];
  const at = facts?.['approval_at'];
  if (typeof by !== 'string' || typeof at !== 'number') return null;
  return { isGiven: facts?.['approved_by'] !== undefined, by: by as Actor, at };
}

const inputFields = {
  ...pick(columns.runs, 'title', 'instructions', 'input', 'snapshot'),
  snapshotBytes: snapshotOf('runs'),
};

/** A run that is over, for doing it again. Throws when what it was given cannot be read. */
export const endedFields = {
  ...pick(columns.runs, 'id', 'status', 'taskId', 'taskVersion', 'occurrenceId', 'createdAt'),
  input: together(inputFields, (row) => readInput(row).input),
};

const p = columnsOf('processes', 'p');
const workerFields = { role: maybe(p.role), host: maybe(p.host), pid: maybe(p.pid) };
const attempts = columnsOf('attempts', 'a');
const attemptFields = {
  runId: attempts.runId,
  shown: {
    ...pick(attempts, 'attempt', 'status', 'startedAt', 'finishedAt', 'durationMs', 'httpStatus', 'error', 'jobId'),
    worker: { bootId: attempts.bootId, ...workerFields },
  },
};

/** A run as it is offered. */
export const offeredFields = { id: columns.runs.id, kind: columns.runs.actionKind };

const d = columnsOf('deliveries', 'd');
const c = columnsOf('chats', 'c');

const deliveryFields = {
  runId: d.runId,
  messages: d.messages,
  shown: {
    ...pick(d, 'id', 'part', 'status'),
    thread: {
      provider: c.provider,
      address: c.address,
      // Where it is; for what goes to a thread by its name, also where it is to be.
      topic: like(
        d.toTopic,
        raw(`case when d.goes_to = 'thread' and d.message_id is null then d.to_topic else d.message_thread_id end`),
      ),
    },
    ...pick(
      d,
      'platformChatId',
      'messageThreadId',
      'messageId',
      'error',
      'createdAt',
      'deliveredAt',
      'cause',
      'heldUntil',
    ),
    decision: mapped(d.decision, decisionIn),
    isFallback: together(pick(d, 'taskId', 'goesTo'), ({ taskId, goesTo }) => taskId !== null && goesTo === 'thread'),
  },
};

interface RunParts {
  readonly attempts: readonly Attempt[];
  readonly deliveries: readonly Delivery[];
}

/** Attempts and deliveries of runs, by the id of the run. */
export function* partsOf(runIds: readonly (string | null)[]): Script<(runId: string | null) => RunParts> {
  const ids = runIds.filter((id) => id !== null);
  if (ids.length === 0) return () => ({ attempts: [], deliveries: [] });
  const tries = yield* all(
    // A process of an earlier release has left no row.
    select(attemptFields)`from attempts a left join processes p on p.id = a.boot_id
      where a.run_id in ${list(ids)} order by a.run_id, a.attempt`,
  );
  const parts = yield* all(
    select(deliveryFields)`from deliveries d join chats c on c.id = d.chat_id
      where d.run_id in ${list(ids)} and d.kind = 'result' order by d.run_id, d.id`,
  );
  const [ofTries, ofParts] = [grouped(tries), grouped(yield* withAlbums(parts))];
  return (runId) => ({ attempts: ofTries.get(runId) ?? [], deliveries: ofParts.get(runId) ?? [] });
}

/** Few results are albums, and then nobody asks for more than the one number. */
function* withAlbums(parts: readonly Answer<typeof deliveryFields>[]): Script<readonly OfRun<Delivery>[]> {
  const first = parts.flatMap(({ messages, shown: { id, messageId } }) =>
    messages > 1 && messageId !== null ? [[id, messageId] as const] : [],
  );
  const albums = yield* albumsOf(new Map(first));
  return parts.map(({ runId, shown }) => {
    const messageIds = albums.get(shown.id);
    return { runId, shown: messageIds === undefined ? shown : { ...shown, messageIds } };
  });
}

interface OfRun<T> {
  readonly runId: string | null;
  readonly shown: T;
}

function grouped<T>(found: readonly OfRun<T>[]): ReadonlyMap<string | null, readonly T[]> {
  const groups = new Map<string | null, T[]>();
  for (const { runId, shown } of found) groups.set(runId, [...(groups.get(runId) ?? []), shown]);
  return groups;
}

export function notOf(kinds: readonly string[]): Sql | undefined {
  return kinds.length === 0 ? undefined : sql`(r.action_kind is null or r.action_kind not in ${list(kinds)})`;
}

/** A kind that nobody who lives does is gone, and whoever meets it ends its runs. */
export function claimableIn({ own, never }: Claimable = { own: null, never: [] }): Sql | undefined {
  if (own === null) return notOf(never);
  return allOf(
    notOf(never),
    sql`(r.action_kind is null or r.action_kind in ${list(own)} or not exists (select 1 from processes p
      where p.ended_at is null and ',' || p.kinds || ',' like '%,' || r.action_kind || ',%'))`,
  );
}
