import type { OnlyFor, FoundByPress } from '../../app/ports/chats.ts';
import type { OutboxPart, TopicView } from '../../app/ports/outbox.ts';
import type { ResultTask } from '../../app/ports/outside.ts';
import type { Shown } from '../../domain/shown.ts';
import type { Engine, Script } from '../engine/engine.ts';
import { columns, columnsOf, like, maybe, pick, type Answer } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { bind, one, select, updateReturning } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import { readFacts } from '../tasks/codec.ts';

const d = columnsOf('deliveries', 'd');
const c = columnsOf('chats', 'c');
const t = columnsOf('tasks', 't');

/** What the outbox reads of a part, with the place it goes to. */
export const partFields = {
  ...pick(d, 'id', 'lane', 'kind', 'part', 'status', 'content', 'fence', 'sends', 'settles', 'cause', 'edits', 'rank'),
  ...pick(d, 'urgent', 'silent'),
  run_id: d.runId,
  task_id: d.taskId,
  chat_id: d.chatId,
  unknown_policy: d.unknownPolicy,
  expires_at: d.expiresAt,
  put_offs: d.putOffs,
  sent_at: d.sentAt,
  created_at: d.createdAt,
  goes_to: d.goesTo,
  to_topic: d.toTopic,
  doubted_at: d.doubtedAt,
  held_until: d.heldUntil,
  only_for: d.onlyFor,
  provider: c.provider,
  address: c.address,
  home_topic: t.homeTopic,
  topic_state: maybe(t.topicState),
  topic_id: t.topicId,
  topic_cause: t.topicCause,
  topic_name: t.topicName,
  topic_asked_at: t.topicAskedAt,
  card_message_id: t.cardMessageId,
  title: maybe(t.title),
  task_state: maybe(t.state),
  task_action: maybe(t.action),
  trace_id: like(columns.runs.traceId, raw('(select r.trace_id from runs r where r.id = d.run_id)')),
  task_policies: maybe(t.policies),
  task_timezone: maybe(t.timezone),
  chat_settings: maybe(c.settings),
  chat_timezone: c.timezone,
};

export type PartRow = Answer<typeof partFields>;

export const partSource = raw('deliveries d join chats c on c.id = d.chat_id left join tasks t on t.id = d.task_id');

/** Null when it shows nothing that anybody could read. */
export function shownOf(content: string): Shown | null {
  try {
    const shown = JSON.parse(content) as { text?: unknown; view?: unknown } | null;
    return typeof shown?.text === 'string' || typeof shown?.view === 'string' ? (shown as unknown as Shown) : null;
  } catch {
    return null;
  }
}

/** What cannot be read is for everybody: an answer that more people see is better than none. */
function onlyForOf(text: string | null): OnlyFor | null {
  if (text === null) return null;
  try {
    const read = JSON.parse(text) as Partial<OnlyFor> | null;
    return typeof read?.userId === 'number' && typeof read.until === 'number' ? (read as OnlyFor) : null;
  } catch {
    return null;
  }
}

const decoration: ReadonlySet<string> = new Set(['card', 'pin', 'close', 'open']);

/** Why a part can never go out; null when it can. No topic is made for the sake of its decoration. */
export function faultOf(part: PartRow): string | null {
  if (decoration.has(part.kind) && part.topic_state !== 'ready') return 'moot: its topic is not there';
  if (part.kind === 'remove' && part.edits === null) return 'unreadable: no message is named that could be removed';
  if (part.kind === 'removeTopic' && part.to_topic === null)
    return 'unreadable: no topic is named that could be removed';
  return shownOf(part.content) === null ? 'unreadable: content is no JSON' : null;
}

function goesToTopic(part: PartRow): boolean {
  return part.goes_to === 'task' && part.task_id !== null && part.topic_state !== null;
}

export function statusAfterClaim(part: PartRow): 'sending' | 'pending' | 'blocked' | 'unknown' {
  if (part.status === 'unknown') return 'unknown';
  const needsTopic = goesToTopic(part) && part.topic_state !== 'ready';
  return needsTopic ? (part.status as 'pending' | 'blocked') : 'sending';
}

/** A part right after it was claimed at the instant. */
export function claimedPart(part: PartRow, now: number): OutboxPart {
  const status = statusAfterClaim(part);
  const sends = status === 'sending';
  const sentAt = sends ? now : part.sent_at;
  return {
    id: part.id,
    fence: part.fence + 1,
    status,
    runId: part.run_id,
    traceId: part.trace_id,
    taskId: part.task_id,
    chatId: part.chat_id,
    part: part.part,
    sends: part.sends + (sends ? 1 : 0),
    putOffs: part.put_offs,
    settles: part.settles,
    createdAt: part.created_at,
    sentAt,
    expiresAt: part.expires_at,
    unknown: part.unknown_policy,
    kind: part.kind,
    shown: shownOf(part.content) ?? { text: '' },
    edits: part.edits,
    silent: part.silent === 1,
    onlyFor: onlyForOf(part.only_for),
    resultOf: resultOf(part),
    isResent: isResent(part, status),
    doubtSince: part.doubted_at,
    route: { provider: part.provider, address: part.address, topic: topicIdOf(part) },
    topic: topicOf(part),
    home: homeOf(part),
  };
}

function resultOf(part: PartRow): ResultTask | null {
  const { kind, task_id: id, task_state: state, task_action: action, task_policies: policies } = part;
  if (kind !== 'result' || id === null || state === null) return null;
  const { ack } = readFacts(policies) ?? {};
  return {
    id,
    state,
    action: { kind: String(readFacts(action)?.['kind']) },
    policies: ack === undefined ? {} : { ack },
  };
}

/** What is looked for is itself in doubt; it is a second send only if the doubt is older than its send. */
function isResent({ doubted_at: doubtedAt, sent_at: sentAt }: PartRow, status: OutboxPart['status']): boolean {
  if (doubtedAt === null) return false;
  return status !== 'unknown' || doubtedAt < (sentAt ?? doubtedAt);
}

function topicIdOf(part: Pick<PartRow, 'goes_to' | 'to_topic' | 'task_id' | 'topic_id'>): number | null {
  if (part.goes_to === 'thread') return part.to_topic;
  return part.task_id === null ? null : part.topic_id;
}

function topicOf(part: PartRow): TopicView | null {
  if (part.task_id === null || part.topic_state === null || !goesToTopic(part)) return null;
  return {
    taskId: part.task_id,
    name: part.title ?? '',
    state: part.topic_state,
    id: part.topic_id,
    askedAt: part.topic_asked_at,
    askedName: part.topic_name,
    cause: part.topic_cause,
  };
}

function homeOf({ task_id: taskId, title, provider, address, home_topic: topic }: PartRow): OutboxPart['home'] {
  return taskId === null || title === null ? null : { provider, address, topic };
}

/** Whoever presses a button of a message proves that the message is there. */
export function pressedStore(engine: Engine) {
  return bind(engine, { foundByPress });
}

/** A send that is on its way may have arrived before its answer; of two sends nobody can tell which one was pressed. */
const doubtful = raw(`(status = 'unknown' or (status = 'sending' and sends = 1))`);

/**
 * The part that bears the buttons of a result, while nobody knows whether it arrived. What a button carries can be made up,
 * so the message must be one that no other send explains, and show the words of the part. Whoever waits for the answer, or looks
 * for evidence, loses the fence.
 */
function* foundByPress({ address, topic, messageId, occurrenceId, text, at }: FoundByPress): Script<boolean> {
  const part = yield* one(
    select(pick(columns.deliveries, 'id', 'taskId', 'content'))`from deliveries
      where run_id = (select r.id from runs r join occurrences o on o.run_id = r.id
          where o.id = ${occurrenceId} and r.occurrence_id = o.id)
        and kind = 'result' and ${doubtful} and exists (select 1 from tasks t where t.id = task_id and t.topic_id = ${topic})
      order by part desc limit 1`,
  );
  if (part === undefined || textOf(part.content) !== text) return false;
  const explained = yield* one(
    select(pick(columns.deliveries, 'id'))`from deliveries
      where platform_chat_id = ${address} and message_id = ${messageId} and message_id is not null and edits is null`,
  );
  if (explained !== undefined) return false;
  const settled = yield* updateReturning(
    'deliveries',
    {
      status: 'delivered',
      platformChatId: address,
      messageThreadId: topic,
      messageId,
      deliveredAt: at,
      evidence: JSON.stringify({ pressed: messageId }),
      error: null,
      cause: null,
      readyAt: null,
      doubtedAt: null,
      fence: raw('fence + 1'),
    },
    sql`id = ${part.id} and ${doubtful}`,
    pick(columns.deliveries, 'id'),
  );
  if (settled.length === 0) return false;
  yield* tellEvents([{ kind: 'delivery.delivered', at, taskId: part.taskId, ref: part.id }]);
  return true;
}

function textOf(content: string): string | null {
  const shown = shownOf(content);
  return shown !== null && 'text' in shown ? shown.text : null;
}
