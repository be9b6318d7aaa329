import type { ChatStore, WaitingResults } from '../../app/ports/chats.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { backlogCountedMax } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { tellEvents } from '../records/journal.ts';
import { heldParts } from './quiet-parts.ts';

type ByHand = Pick<ChatStore, 'settleByHand' | 'retryBlocked'>;
type Holds = Pick<ChatStore, 'readHolds' | 'writeHold' | 'sentSince' | 'waitingResults' | 'heldParts'>;

/** What keeps parts from going out: the platform's word, the budget, and what waits for a person. */
export function holdStore(engine: Engine): ByHand & Holds {
  return {
    settleByHand: (deliveryId, arrived, at) => engine.transact(() => settleByHand({ deliveryId, arrived, at })),
    retryBlocked: (filter, at) => engine.transact(() => retryBlocked(filter, at)),
    readHolds: (now) => engine.transact(() => readHolds(now)),
    writeHold: (chatId, until, now) => engine.transact(() => writeHold({ chatId, until, now })),
    sentSince: (since) => engine.transact(() => sentSince(since)),
    heldParts: (chatId, until) => engine.transact(() => heldParts(chatId, until)),
    waitingResults: (chatId, before) => engine.transact(() => waitingResults(chatId, before)),
  };
}

interface Settling {
  readonly deliveryId: string;
  readonly arrived: boolean;
  readonly at: number;
}

/**
 * What a person has seen is believed, but delivered is only what the platform has given an id for, so a part that arrived
 * ends as failed with the reason that it is not confirmed. A look that is under way loses its claim.
 */
function* settleByHand({ deliveryId, arrived, at }: Settling): Script<boolean> {
  const [settled] = yield* rows<{ task_id: string | null }>(
    arrived
      ? `update deliveries set status = 'failed', error = 'unconfirmed: a person says that it arrived', evidence = ?t,
           ready_at = null, fence = fence + 1
         where id = ?t and status = 'unknown' returning task_id`
      : `update deliveries set status = 'pending', error = 'a person says that it did not arrive', evidence = ?t,
           ready_at = ?i, settles = 0, doubted_at = null, cause = null, fence = fence + 1
         where id = ?t and status = 'unknown' returning task_id`,
    JSON.stringify({ by_hand: arrived ? 'arrived' : 'absent', at }),
    ...(arrived ? [] : [at]),
    deliveryId,
  );
  if (settled === undefined) return false;
  if (arrived) yield* tellEvents([{ kind: 'delivery.failed', at, taskId: settled.task_id, ref: deliveryId }]);
  return true;
}

type Filter = Parameters<ChatStore['retryBlocked']>[0];

function* retryBlocked(filter: Filter, at: number): Script<number> {
  const { where, values } = conditionsOf(filter);
  if (filter.inDoubt) {
    yield* rows(
      `update tasks set topic_cause = null
       where topic_state = 'blocked' and topic_cause = 'topic_in_doubt'${where('chat_id', 'id')}`,
      ...values,
    );
  }
  // What waits for an approval is no trouble that could be over.
  const doubt = ` and coalesce(cause, '') <> 'approval'${filter.inDoubt ? '' : ` and coalesce(cause, '') <> 'topic_in_doubt'`}`;
  const again = yield* rows(
    `update deliveries set ready_at = ?i where status in ('pending', 'blocked') and status = 'blocked'
       and ready_at > ?i${doubt}${where('chat_id', 'task_id')}
     returning id`,
    at,
    at,
    ...values,
  );
  return again.length;
}

function conditionsOf({ chatId, taskId }: Filter) {
  const given = [chatId, taskId];
  const where = (...columns: readonly string[]) =>
    columns.map((column, index) => (given[index] === null ? '' : ` and ${column} = ?t`)).join('');
  return { where, values: given.filter((value): value is string => value !== null) };
}

const scope = 'hold';
/** The hold on everything. */
const all = '*';

type Hold = Awaited<ReturnType<ChatStore['readHolds']>>[number];

function* readHolds(now: number): Script<Hold[]> {
  const found = yield* rows<{ key: string; until: number }>(
    `select key, expires_at as until from kv where scope = '${scope}' and expires_at > ?i order by key`,
    now,
  );
  return found.map(({ key, until }) => ({ chatId: key === all ? null : key, until }));
}

/** Of two words of the platform the later end holds: a call that left before the first of them may answer after it. */
function* writeHold({ chatId, until, now }: { chatId: string | null; until: number; now: number }): Script<void> {
  yield* rows(
    `insert into kv (scope, key, value, expires_at, updated_at) values ('${scope}', ?t, '', ?i, ?i)
     on conflict (scope, key) do update set expires_at = excluded.expires_at, updated_at = excluded.updated_at
     where kv.expires_at < excluded.expires_at`,
    chatId ?? all,
    until,
    now,
  );
}

type SentCall = Awaited<ReturnType<ChatStore['sentSince']>>[number];

function* sentSince(since: number): Script<SentCall[]> {
  const values: readonly Value[] = [since, since];
  return yield* rows<SentCall>(
    `select c.id as "chatId", c.address, calls.at from (
       select chat_id, sent_at as at from deliveries where sent_at is not null and sent_at >= ?i
       union all
       select chat_id, topic_called_at as at from tasks where topic_called_at is not null and topic_called_at >= ?i) calls
     join chats c on c.id = calls.chat_id where c.provider = 'telegram' order by calls.at`,
    ...values,
  );
}

/** The index of what is ready lists the parts of one chat, so a long backlog is read only as far as it is counted. */
function* waitingResults(chatId: string, before: number): Script<WaitingResults | null> {
  const waiting = yield* rows<{ created_at: number }>(
    // What waits for the end of quiet hours does not wait for the platform until then.
    `select coalesce(held_until, created_at) as created_at from deliveries
     where chat_id = ?t and rank = ?i and status in ('pending', 'blocked') and status = 'pending' and coalesce(held_until, created_at) <= ?i
     order by id limit ?i`,
    chatId,
    outboxRanks.result,
    before,
    backlogCountedMax,
  );
  const chat = yield* row<{ provider: string; address: string }>(
    `select provider, address from chats where id = ?t`,
    chatId,
  );
  if (chat === undefined || waiting.length === 0) return null;
  const oldestAt = Math.min(...waiting.map(({ created_at: at }) => at));
  return { count: waiting.length, oldestAt, thread: { ...chat, topic: null } };
}
