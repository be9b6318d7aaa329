import type { Batch, OutboxPart, OutboxStore, PartEnd, TopicEnd, TopicView } from '../../app/store.ts';
import type { UnknownPolicy } from '../../domain/policy.ts';
import * as limits from '../../domain/limits.ts';
import { listOf, each, row, rows, write, type Engine, type Script, type Tuple, type Value } from './engine.ts';
import type { DeliveryRow } from './codec.ts';
import { dropParts } from './drop-parts.ts';
import { tellEvents } from './journal.ts';

/** The outbox and the topics. A claim is one transaction; what a send brought is written under the claim's fence. */
export function outboxStore(engine: Engine): OutboxStore {
  return {
    claimParts: (at, bootId, busyChats) => engine.transact(() => claimParts({ at, bootId, busyChats })),
    endParts: (ends, now) => engine.transact(() => endParts(ends, now)),
    beginTopic: (topic, bootId, now) => engine.transact(() => beginTopic({ topic, bootId, now })),
    endTopic: (end) => engine.transact(() => endTopic(end)),
    nextPartAt: (now) => engine.transact(() => nextPartAt(now)),
  };
}

interface ClaimRequest {
  readonly at: Parameters<OutboxStore['claimParts']>[0];
  readonly bootId: string;
  readonly busyChats: ReadonlySet<string>;
}

type PartRow = DeliveryRow & {
  readonly home_topic: number | null;
  readonly topic_state: TopicView['state'] | null;
  readonly topic_id: number | null;
  readonly topic_cause: string | null;
  readonly topic_name: string | null;
  readonly topic_asked_at: number | null;
  readonly title: string | null;
};

function* claimParts({ at, bootId, busyChats }: ClaimRequest): Script<readonly OutboxPart[]> {
  yield* doubtLeftBehind(bootId, at.now);
  const parts: PartRow[] = [];
  const served = new Set(busyChats);
  // Looks for evidence are few and bounded, and come first: behind the backlog of a busy chat they would come too late.
  for (const part of yield* doubtfulParts({ now: at.now, limit: at.limit + busyChats.size })) {
    if (served.has(part.chat_id) || parts.length === at.limit) continue;
    parts.push(part);
    served.add(part.chat_id);
  }
  const chats = (yield* chatsInTurn(at, served.size)).filter((chatId) => !served.has(chatId));
  for (const chatId of chats.slice(0, at.limit - parts.length)) {
    const part = yield* headOf(chatId, at.now);
    if (part !== undefined) parts.push(part);
  }
  return yield* markClaimed(yield* readableParts(parts), bootId, at.now);
}

/** A part that a dead process was sending: nobody knows whether it left, so evidence must settle it. */
function* doubtLeftBehind(bootId: string, now: number): Script<void> {
  yield* rows(
    `update deliveries set status = 'unknown', error = 'the process ended while this part was being sent',
       ready_at = ?i, settles = 0
     where status = 'sending' and boot_id <> ?t`,
    now + (limits.settleDelaysMs[0] ?? 0),
    bootId,
  );
}

/** The chats after the one served last come first, so that no chat starves behind those with smaller ids. */
function* chatsInTurn(at: ClaimRequest['at'], busy: number): Script<string[]> {
  const limit = at.limit + busy;
  const later = yield* chatsAfter(at.after, at.now, limit);
  if (at.after === '' || later.length >= limit) return later;
  const known = new Set(later);
  const earlier = yield* chatsAfter('', at.now, limit - later.length);
  return [...later, ...earlier.filter((chatId) => !known.has(chatId))];
}

/** No earlier part of its own thread holds `d` back; one whose fate is unknown does so for a while only. */
const unheld = `not exists (select 1 from deliveries e where e.lane = d.lane and e.id < d.id
         and e.status in ('pending', 'blocked', 'sending', 'unknown')
         and (e.status <> 'unknown' or e.sent_at > ?i))`;

/**
 * Each chat once, however long its backlog: the recursion hops from chat to chat along the index. A chat that has nothing
 * but parts that are held back is passed over, or as many of them as the limit would keep all others waiting.
 */
function* chatsAfter(after: string, now: number, limit: number): Script<string[]> {
  const found = yield* rows<{ chat_id: string | null }>(
    `with recursive heads(chat_id) as (
       select min(d.chat_id) from deliveries d where d.status in ('pending', 'blocked') and d.chat_id > ?t
       union all
       select (select min(d.chat_id) from deliveries d where d.status in ('pending', 'blocked') and d.chat_id > heads.chat_id)
       from heads where heads.chat_id is not null)
     select chat_id from heads where chat_id is not null and exists (
       select 1 from deliveries d where d.chat_id = heads.chat_id and d.status in ('pending', 'blocked') and d.ready_at <= ?i
         and ${unheld})
     limit ?i`,
    after,
    now,
    now - limits.unknownHoldMs,
    limit,
  );
  return found.flatMap(({ chat_id }) => (chat_id === null ? [] : [chat_id]));
}

const partSource = `select d.*, c.provider, c.address, t.home_topic, t.topic_state, t.topic_id, t.topic_cause, t.topic_name, t.topic_asked_at, t.title
  from deliveries d join chats c on c.id = d.chat_id left join tasks t on t.id = d.task_id`;

/** The most urgent part that no earlier part of its own thread holds back. */
function* headOf(chatId: string, now: number): Script<PartRow | undefined> {
  return yield* row<PartRow>(
    `${partSource}
     where d.chat_id = ?t and d.status in ('pending', 'blocked') and d.ready_at <= ?i
       and ${unheld}
     order by d.rank, d.id limit 1 [for update of d skip locked]`,
    chatId,
    now,
    now - limits.unknownHoldMs,
  );
}

function* doubtfulParts({ now, limit }: Batch): Script<PartRow[]> {
  return yield* rows<PartRow>(
    `${partSource} where d.status = 'unknown' and d.ready_at <= ?i order by d.ready_at limit ?i [for update of d skip locked]`,
    now,
    limit,
  );
}

type ReadablePart = PartRow & { readonly text: string };

/** A part that cannot be read fails by itself; it must not keep the others of its batch from going out. */
function* readableParts(parts: readonly PartRow[]): Script<ReadablePart[]> {
  const read = parts.map((part) => ({ part, text: textOf(part) }));
  yield* each(
    `update deliveries set status = 'failed', error = 'unreadable: content is no JSON', ready_at = null
     where id = ?t and fence = ?i and status in ('pending', 'blocked', 'unknown')`,
    read.flatMap(({ part, text }): Tuple[] => (text === null ? [[part.id, part.fence]] : [])),
  );
  return read.flatMap(({ part, text }) => (text === null ? [] : [{ ...part, text }]));
}

function textOf(part: PartRow): string | null {
  try {
    const { text } = JSON.parse(part.content) as { text?: unknown };
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/**
 * The status `sending` is committed before the call leaves. A part that still needs its topic stays as it is, because
 * nothing of it has left, and a part whose evidence is looked for stays `unknown`; the fence binds all three.
 */
function* markClaimed(parts: readonly ReadablePart[], bootId: string, now: number): Script<readonly OutboxPart[]> {
  const claimed = yield* each(
    `update deliveries set status = ?t, fence = fence + 1, boot_id = ?t, sends = sends + ?i,
       sent_at = coalesce(?i, sent_at)
     where id = ?t and fence = ?i and status = ?t`,
    parts.map((part): Tuple => {
      const sends = statusAfterClaim(part) === 'sending';
      return [statusAfterClaim(part), bootId, sends ? 1 : 0, sends ? now : null, part.id, part.fence, part.status];
    }),
  );
  return parts.filter((_part, index) => claimed[index]).map((part) => readPart(part, now));
}

function needsTopic(part: PartRow): boolean {
  return part.topic_state !== null && part.topic_state !== 'ready';
}

function statusAfterClaim(part: PartRow): 'sending' | 'pending' | 'blocked' | 'unknown' {
  if (part.status === 'unknown') return 'unknown';
  return needsTopic(part) ? (part.status as 'pending' | 'blocked') : 'sending';
}

function readPart(part: ReadablePart, now: number): OutboxPart {
  const status = statusAfterClaim(part);
  return {
    id: part.id,
    fence: part.fence + 1,
    status,
    runId: part.run_id,
    taskId: part.task_id,
    chatId: part.chat_id,
    part: part.part,
    sends: part.sends + (status === 'sending' ? 1 : 0),
    putOffs: part.put_offs,
    settles: part.settles,
    sentAt: status === 'sending' ? now : part.sent_at,
    expiresAt: part.expires_at,
    unknown: part.unknown_policy as UnknownPolicy,
    text: part.text,
    route: {
      provider: part.provider,
      address: part.address,
      topic: part.task_id === null ? null : part.topic_id,
    },
    topic: part.task_id === null ? null : topicOf(part, part.task_id),
  };
}

function topicOf(part: PartRow, taskId: string): TopicView | null {
  if (part.topic_state === null) return null;
  return {
    taskId,
    name: part.title ?? '',
    state: part.topic_state,
    id: part.topic_id,
    askedAt: part.topic_asked_at,
    cause: part.topic_cause,
    askedName: part.topic_name,
  };
}

const endText = {
  delivered: `update deliveries set status = 'delivered', platform_chat_id = ?t, message_thread_id = ?i, message_id = ?i,
      delivered_at = ?i, evidence = coalesce(?t, evidence), error = null, cause = null, ready_at = null
    where id = ?t and fence = ?i and status in ('sending', 'unknown')`,
  pending: `update deliveries set status = 'pending', sends = sends - ?i, put_offs = put_offs + ?i, ready_at = ?i, error = ?t, evidence = coalesce(?t, evidence), cause = null, settles = 0
    where id = ?t and fence = ?i and status in ('sending', 'unknown', 'pending', 'blocked')`,
  blocked: `update deliveries set status = 'blocked', sends = sends - ?i, ready_at = ?i, cause = ?t, error = ?t
    where id = ?t and fence = ?i and status in ('sending', 'pending', 'blocked')`,
  unknown: `update deliveries set status = 'unknown', ready_at = ?i, error = ?t, evidence = ?t,
      settles = case when status = 'unknown' then settles + 1 else 0 end
    where id = ?t and fence = ?i and status in ('sending', 'unknown')`,
  failed: `update deliveries set status = 'failed', error = ?t, evidence = coalesce(?t, evidence), ready_at = null
    where id = ?t and fence = ?i and status in ('sending', 'unknown', 'pending', 'blocked')`,
} as const;

function* endParts(ends: readonly PartEnd[], now: number): Script<number> {
  let written = 0;
  for (const status of ['delivered', 'pending', 'blocked', 'unknown', 'failed'] as const) {
    const mine = ends.filter((end) => end.status === status);
    const took = yield* each(
      endText[status],
      mine.map((end) => [...endValues(end), end.id, end.fence]),
    );
    const won = mine.filter((_end, index) => took[index]);
    written += won.length;
    // Being put off says nothing to anybody; what became of a part does.
    if (status !== 'delivered' && status !== 'failed') yield* dropOfDeleted(won, now);
    if (status !== 'pending')
      yield* tellEvents(won.map(({ id, taskId = null }) => ({ kind: `delivery.${status}`, at: now, taskId, ref: id })));
  }
  return written;
}

/** A part that comes back to the outbox of a task that was deleted meanwhile is not sent any more. */
function* dropOfDeleted(ends: readonly PartEnd[], now: number): Script<void> {
  const ids = [...new Set(ends.flatMap(({ taskId }) => taskId ?? []))];
  if (ids.length === 0) return;
  const { marks, values } = listOf(ids);
  const gone = yield* rows<{ id: string }>(
    `select id from tasks where id in (${marks}) and state = 'deleted'`,
    ...values,
  );
  for (const { id } of gone) yield* dropParts(id, now);
}

function endValues(end: PartEnd): Value[] {
  switch (end.status) {
    case 'delivered':
      return [end.ids.chatId, end.ids.threadId, end.ids.messageId, end.at, end.evidence];
    case 'pending':
      return [end.unsent ? 1 : 0, end.unsent ? 1 : 0, end.readyAt, end.error, end.evidence];
    case 'blocked':
      return [end.unsent ? 1 : 0, end.readyAt, end.cause, end.error];
    case 'unknown':
      return [end.readyAt, end.error, end.evidence];
    case 'failed':
      return [end.error, end.evidence];
  }
}

interface TopicBegin {
  readonly topic: Pick<TopicView, 'taskId' | 'name'>;
  readonly bootId: string;
  readonly now: number;
}

/** The creation is committed before the call leaves, so that two deliveries, or two processes, never make two topics. */
function* beginTopic({ topic, bootId, now }: TopicBegin): Script<boolean> {
  return yield* write(
    `update tasks set topic_state = 'creating', topic_boot = ?t, topic_asked_at = ?i, topic_name = ?t, topic_cause = null
     where id = ?t and topic_state in ('none', 'blocked')`,
    bootId,
    now,
    topic.name,
    topic.taskId,
  );
}

function* endTopic(end: TopicEnd): Script<void> {
  yield* write(
    `update tasks set topic_state = ?t, topic_id = ?i, topic_cause = ?t, topic_asked_at = null, topic_boot = null
     where id = ?t and topic_state in ('creating', 'ready', 'blocked')`,
    end.state,
    end.state === 'ready' ? end.id : null,
    end.state === 'blocked' ? end.cause : null,
    end.taskId,
  );
}

/** The next instant at which something becomes ready. What is ready now but held back is rung for when its holder ends. */
function* nextPartAt(now: number): Script<number | null> {
  const waiting = yield* row<{ at: number | null }>(
    `select min(ready_at) as at from deliveries where status in ('pending', 'blocked') and ready_at > ?i`,
    now,
  );
  const unknown = yield* row<{ at: number | null }>(
    `select min(ready_at) as at from deliveries where status = 'unknown' and ready_at is not null`,
  );
  const held = yield* row<{ at: number | null }>(
    `select min(sent_at) as at from deliveries where status = 'unknown' and sent_at > ?i`,
    now - limits.unknownHoldMs,
  );
  const instants = [waiting?.at, unknown?.at, typeof held?.at === 'number' ? held.at + limits.unknownHoldMs : null];
  const known = instants.filter((at): at is number => typeof at === 'number');
  return known.length === 0 ? null : Math.min(...known);
}
