import type { OnlyFor } from '../../app/ports/chats.ts';
import type { OutboxPart, TopicView } from '../../app/ports/outbox.ts';
import type { DeliveryKind } from '../../domain/delivery.ts';
import type { UnknownPolicy } from '../../domain/policy.ts';
import type { BlockedCause, Shown } from '../../domain/shown.ts';
import type { DeliveryRow } from '../runs/codec.ts';

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
  readonly task_policies: string | null;
  readonly task_timezone: string | null;
  readonly chat_settings: string | null;
  readonly chat_timezone: string | null;
  readonly trace_id: string | null;
};

export const partSource = `select d.*, c.provider, c.address, t.home_topic, t.topic_state, t.topic_id, t.topic_cause,
    t.topic_name, t.topic_asked_at, t.card_message_id, t.title,
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
    isResent: isResent(part, status),
    doubtSince: part.doubted_at,
    route: { provider: part.provider, address: part.address, topic: topicIdOf(part) },
    topic: topicOf(part),
    home: homeOf(part),
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
