import type { OnlyFor, ChatStore, FoundByPress } from '../../app/ports/chats.ts';
import type { OutboxPart, TopicView } from '../../app/ports/outbox.ts';
import type { ResultTask } from '../../app/ports/outside.ts';
import type { DeliveryKind } from '../../domain/delivery.ts';
import type { UnknownPolicy } from '../../domain/policy.ts';
import type { BlockedCause, Shown } from '../../domain/shown.ts';
import type { TaskState } from '../../domain/task.ts';
import { rows, row, type Engine, type Script } from '../engine/engine.ts';
import { tellEvents } from '../records/journal.ts';
import type { DeliveryRow } from '../runs/codec.ts';
import { readFacts } from '../tasks/codec.ts';

/** A part as the outbox reads it, with the place it goes to. */
export type PartRow = DeliveryRow & {
  readonly home_topic: number | null;
  readonly topic_state: TopicView['state'] | null;
  readonly topic_id: number | null;
  readonly topic_cause: string | null;
  readonly topic_name: string | null;
  readonly topic_asked_at: number | null;
  readonly card_message_id: number | null;
  readonly title: string | null;
  readonly task_state: string | null;
  readonly task_action: string | null;
  readonly task_policies: string | null;
  readonly task_timezone: string | null;
  readonly chat_settings: string | null;
  readonly chat_timezone: string | null;
  readonly trace_id: string | null;
};

export const partSource = `select d.*, c.provider, c.address, t.home_topic, t.topic_state, t.topic_id, t.topic_cause,
    t.topic_name, t.topic_asked_at, t.card_message_id, t.title, t.state as task_state, t.action as task_action,
    (select r.trace_id from runs r where r.id = d.run_id) as trace_id,
    t.policies as task_policies, t.timezone as task_timezone, c.settings as chat_settings, c.timezone as chat_timezone
  from deliveries d join chats c on c.id = d.chat_id left join tasks t on t.id = d.task_id`;

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
    unknown: part.unknown_policy as UnknownPolicy,
    kind: part.kind as DeliveryKind,
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
    state: state as TaskState,
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
    cause: part.topic_cause as BlockedCause | null,
  };
}

function homeOf({ task_id: taskId, title, provider, address, home_topic: topic }: PartRow): OutboxPart['home'] {
  return taskId === null || title === null ? null : { provider, address, topic };
}

/** Whoever presses a button of a message proves that the message is there. */
export function pressedStore(engine: Engine): Pick<ChatStore, 'foundByPress'> {
  return { foundByPress: (found) => engine.transact(() => foundByPress(found)) };
}

interface Doubtful {
  readonly id: string;
  readonly task_id: string | null;
  readonly content: string;
}

/** A send that is on its way may have arrived before its answer; of two sends nobody can tell which one was pressed. */
const doubtful = `(d.status = 'unknown' or (d.status = 'sending' and d.sends = 1))`;

/**
 * The part that bears the buttons of a result, while nobody knows whether it arrived. What a button carries can be made up,
 * so the message must be one that no other send explains, and show the words of the part. Whoever waits for the answer, or looks
 * for evidence, loses the fence.
 */
function* foundByPress({ address, topic, messageId, occurrenceId, text, at }: FoundByPress): Script<boolean> {
  const part = yield* row<Doubtful>(
    `select d.id, d.task_id, d.content from runs r join deliveries d on d.run_id = r.id and d.kind = 'result'
       join tasks t on t.id = d.task_id
     where r.occurrence_id = ?t and r.id = (select run_id from occurrences where id = ?t) and ${doubtful}
       and t.topic_id = ?i
     order by d.part desc limit 1`,
    occurrenceId,
    occurrenceId,
    topic,
  );
  if (part === undefined || textOf(part.content) !== text) return false;
  const explained = yield* row(
    `select id from deliveries where platform_chat_id = ?t and message_id = ?i and message_id is not null and edits is null`,
    address,
    messageId,
  );
  if (explained !== undefined) return false;
  const settled = yield* rows(
    `update deliveries set status = 'delivered', platform_chat_id = ?t, message_thread_id = ?i, message_id = ?i,
       delivered_at = ?i, evidence = ?t, error = null, cause = null, ready_at = null, doubted_at = null, fence = fence + 1
     where id = ?t and ${doubtful.replaceAll('d.', '')} returning id`,
    address,
    topic,
    messageId,
    at,
    JSON.stringify({ pressed: messageId }),
    part.id,
  );
  if (settled.length === 0) return false;
  yield* tellEvents([{ kind: 'delivery.delivered', at, taskId: part.task_id, ref: part.id }]);
  return true;
}

function textOf(content: string): string | null {
  const shown = shownOf(content);
  return shown !== null && 'text' in shown ? shown.text : null;
}
