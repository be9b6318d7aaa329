import type { ChatStore, WaitingResults } from '../../app/ports/chats.ts';
import type { PaceStore, SentCall } from '../../app/ports/outbox.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { backlogCountedMax } from '../../domain/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, mapped, pick } from '../engine/fields.ts';
import { isOfTelegram } from '../engine/queries.ts';
import { allOf, limit, raw, sql, text, type Sql } from '../engine/sql.ts';
import { all, insert, offer, one, run, select, updateReturning } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import { heldParts } from './quiet-parts.ts';

/** Reasons that keep parts from going out: Telegram's word, the budget, and what waits for a person. */
export const holdStore = { settleByHand, retryBlocked, readHolds, writeHold, sentSince, heldParts, waitingResults };

const { deliveries, kv } = columns;

/**
 * A person's word is believed, but a part counts as delivered only when Telegram has given an id for it, so one that
 * arrived ends as failed with the reason that it is not confirmed. A look that is under way loses its claim.
 */
function* settleByHand(deliveryId: string, arrived: boolean, at: number): Script<boolean> {
  const evidence = JSON.stringify({ by_hand: arrived ? 'arrived' : 'absent', at });
  const settled = arrived
    ? ({ status: 'failed', error: 'unconfirmed: a person says that it arrived', readyAt: null } as const)
    : ({ ...putBack, readyAt: at, bootId: null } as const);
  const [found] = yield* updateReturning(
    'deliveries',
    { ...settled, evidence, fence: raw('fence + 1') },
    sql`id = ${deliveryId} and status = 'unknown'`,
    pick(deliveries, 'taskId', 'chatId'),
  );
  if (found === undefined) return false;
  yield* offer({ chats: [found.chatId] });
  if (arrived) yield* tellEvents([{ kind: 'delivery.failed', at, taskId: found.taskId, ref: deliveryId }]);
  return true;
}

const putBack = {
  status: 'pending',
  error: 'a person says that it did not arrive',
  settles: 0,
  doubtedAt: null,
  cause: null,
} as const;

type Filter = Parameters<ChatStore['retryBlocked']>[0];

export function* retryBlocked(filter: Filter, at: number): Script<number> {
  if (filter.inDoubt) {
    const inDoubt = sql`topic_state = 'blocked' and topic_cause = 'topic_in_doubt'`;
    const { taskId } = filter;
    // Of a topic that tasks share it is known of one of them alone, and whichever waits for it may be answered for.
    const shared = sql`topic_shared = 1 and chat_id in (select t.chat_id from tasks t where t.id = ${text(taskId)} and t.topic_shared = 1)`;
    yield* run(
      sql`update tasks set topic_cause = null where ${inDoubt} and (${allOf(...named(filter, 'id'))} or (${shared}))`,
    );
  }
  // Parts that wait for approval have no trouble that could end.
  const others = filter.inDoubt ? undefined : sql`coalesce(cause, '') <> 'topic_in_doubt'`;
  const waits = sql`status in ('pending', 'blocked') and status = 'blocked' and ready_at > ${at}
    and coalesce(cause, '') <> 'approval'`;
  const again = yield* updateReturning(
    'deliveries',
    { readyAt: at },
    allOf(waits, others, ...named(filter, 'task_id')),
    pick(deliveries, 'chatId'),
  );
  yield* offer({ chats: again.map(({ chatId }) => chatId) });
  return again.length;
}

function named({ chatId, taskId }: Filter, task: 'id' | 'task_id'): readonly (Sql | undefined)[] {
  return [
    chatId === null ? undefined : sql`chat_id = ${chatId}`,
    taskId === null ? undefined : sql`${raw(task)} = ${taskId}`,
  ];
}

const scope = 'hold';
/** The hold on everything. */
const everything = '*';

type Hold = Awaited<ReturnType<PaceStore['readHolds']>>[number];

const holdFields = {
  chatId: mapped(kv.key, (key) => (key === everything ? null : key)),
  until: mapped(kv.expiresAt, (until) => until ?? 0),
};

function* readHolds(now: number): Script<Hold[]> {
  return yield* all(select(holdFields)`from kv where scope = ${scope} and expires_at > ${now} order by key`);
}

/** Of two waits that Telegram asks for the later end holds: a call that left before the first of them may answer after it. */
function* writeHold(chatId: string | null, until: number, now: number): Script<void> {
  yield* insert(
    'kv',
    { scope, key: chatId ?? everything, value: '', expiresAt: until, updatedAt: now },
    raw(`on conflict (scope, key) do update set expires_at = excluded.expires_at, updated_at = excluded.updated_at
      where kv.expires_at < excluded.expires_at`),
  );
}

const c = columnsOf('chats', 'c');
const sentFields = {
  chatId: c.id,
  address: c.address,
  at: like(columns.inbox.receivedAt, raw('calls.at')),
  messages: like(deliveries.messages, raw('calls.messages')),
};

function* sentSince(since: number): Script<SentCall[]> {
  return yield* all(
    select(sentFields)`from (
        select chat_id, sent_at as at, messages from deliveries where sent_at is not null and sent_at >= ${since}
        union all
        select chat_id, topic_called_at as at, 1 as messages from tasks where topic_called_at is not null and topic_called_at >= ${since}
      ) calls join chats c on c.id = calls.chat_id where ${isOfTelegram} order by calls.at`,
  );
}

// Parts held for quiet hours do not wait for Telegram until those hours end.
const waitingFields = { since: like(deliveries.createdAt, raw('coalesce(held_until, created_at)')) };

/** The index of what is ready lists the parts of one chat, so a long backlog is read only as far as it is counted. */
function* waitingResults(chatId: string, before: number): Script<WaitingResults | null> {
  const waiting = yield* all(
    select(waitingFields)`from deliveries
      where chat_id = ${chatId} and rank = ${outboxRanks.result} and status in ('pending', 'blocked') and status = 'pending'
        and coalesce(held_until, created_at) <= ${before}
      order by id ${limit(backlogCountedMax)}`,
  );
  const chat = yield* one(select(pick(columns.chats, 'provider', 'address'))`from chats where id = ${chatId}`);
  if (chat === undefined || waiting.length === 0) return null;
  const oldestAt = Math.min(...waiting.map(({ since }) => since));
  return { count: waiting.length, oldestAt, thread: { ...chat, topic: null } };
}
