import type { OnlyFor } from '../../app/ports/chats.ts';
import type { OutboxPart, TopicView } from '../../app/ports/outbox.ts';
import type { ResultTask } from '../../app/ports/outside.ts';
import { settingsOf, sharedTopicName } from '../../domain/chat-settings.ts';
import type { Shown } from '../../domain/shown.ts';
import { columns, columnsOf, like, maybe, pick, type Answer, type Field } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { readFacts } from '../tasks/codec.ts';
import { isCleaning, taskLane } from './lanes.ts';

const d = columnsOf('deliveries', 'd');
const c = columnsOf('chats', 'c');
const t = columnsOf('tasks', 't');

/** Columns of a part that the outbox reads, with its place. */
export const partFields = {
  ...pick(d, 'id', 'lane', 'kind', 'part', 'status', 'content', 'fence', 'sends', 'settles', 'cause', 'edits', 'rank'),
  ...pick(d, 'urgent', 'silent', 'runId', 'taskId', 'chatId', 'unknownPolicy', 'expiresAt', 'putOffs', 'sentAt'),
  ...pick(d, 'createdAt', 'goesTo', 'toTopic', 'doubtedAt', 'heldUntil', 'onlyFor'),
  ...pick(c, 'provider', 'address'),
  number: maybe(t.number),
  scheduleKind: maybe(t.scheduleKind),
  topicShared: maybe(t.topicShared),
  ...pick(t, 'homeTopic', 'topicId', 'topicCause', 'topicName', 'topicAskedAt', 'topicLostAt', 'cardMessageId'),
  topicState: maybe(t.topicState),
  title: maybe(t.title),
  taskState: maybe(t.state),
  taskChatId: maybe(t.chatId),
  taskAction: maybe(t.action),
  traceId: like(columns.runs.traceId, raw('(select r.trace_id from runs r where r.id = d.run_id)')),
  taskPolicies: maybe(t.policies),
  taskTimezone: maybe(t.timezone),
  chatSettings: maybe(c.settings),
  chatTimezone: c.timezone,
};

export type PartRow = Answer<typeof partFields>;

export const partSource = raw('deliveries d join chats c on c.id = d.chat_id left join tasks t on t.id = d.task_id');

/**
 * The number of a message where the chat has it: the supergroup that a group became counts anew, and another message has that
 * number there.
 */
export function numberHere(of: Pick<typeof d, 'messageId' | 'platformChatId' | 'chatId'>): Field<number | null> {
  return like(
    of.messageId,
    sql`case when ${of.platformChatId.sql} = (select h.address from chats h where h.id = ${of.chatId.sql}) then ${of.messageId.sql} end`,
  );
}

/** Null when it shows nothing that anybody could read. */
export function shownOf(content: string): Shown | null {
  try {
    const shown = JSON.parse(content) as { text?: unknown; view?: unknown } | null;
    return typeof shown?.text === 'string' || typeof shown?.view === 'string' ? (shown as unknown as Shown) : null;
  } catch {
    return null;
  }
}

/** An unreadable limit means everybody: an answer that more people see is better than none. */
function onlyForOf(text: string | null): OnlyFor | null {
  if (text === null) return null;
  try {
    const read = JSON.parse(text) as Partial<OnlyFor> | null;
    return typeof read?.userId === 'number' && typeof read.until === 'number' ? (read as OnlyFor) : null;
  } catch {
    return null;
  }
}

const decoration: ReadonlySet<string> = new Set(['card', 'pin', 'close', 'open', 'rename']);

export const movedAway = 'the task has moved to another chat';

/** Why a part can never go out; null when it can. No topic is made for the sake of its decoration. */
export function faultOf(part: PartRow): string | null {
  // A part that was in doubt when its task left the chat, and has not arrived: the topic of the task is elsewhere.
  const isLeftBehind = goesToTopic(part) && part.taskChatId !== part.chatId && part.status !== 'unknown';
  if (isLeftBehind) return decoration.has(part.kind) ? `moot: ${movedAway}` : movedAway;
  if (decoration.has(part.kind) && part.topicState !== 'ready') return 'moot: its topic is not there';
  if (part.kind === 'remove' && part.edits === null) return 'unreadable: no message is named that could be removed';
  if (part.kind === 'removeTopic' && part.toTopic === null)
    return 'unreadable: no topic is named that could be removed';
  return shownOf(part.content) === null ? 'unreadable: content is no JSON' : null;
}

function goesToTopic(part: PartRow): boolean {
  return part.goesTo === 'task' && part.taskId !== null && part.topicState !== null;
}

export function statusAfterClaim(part: PartRow): 'sending' | 'pending' | 'blocked' | 'unknown' {
  if (part.status === 'unknown') return 'unknown';
  const needsTopic = goesToTopic(part) && part.topicState !== 'ready';
  return needsTopic ? (part.status as 'pending' | 'blocked') : 'sending';
}

/** A part right after it was claimed at the instant. */
export function claimedPart(row: PartRow, now: number): OutboxPart {
  const status = statusAfterClaim(row);
  const isSent = status === 'sending';
  const { id, runId, traceId, taskId, chatId, kind, part, edits, putOffs, settles, createdAt, expiresAt } = row;
  const plain = { id, runId, traceId, taskId, chatId, kind, part, edits, putOffs, settles, createdAt, expiresAt };
  return {
    ...plain,
    status,
    fence: row.fence + 1,
    sends: row.sends + (isSent ? 1 : 0),
    sentAt: isSent ? now : row.sentAt,
    unknown: row.unknownPolicy,
    shown: shownOf(row.content) ?? { text: '' },
    silent: row.silent === 1,
    onlyFor: onlyForOf(row.onlyFor),
    resultOf: resultOf(row),
    isResent: isResent(row, status),
    doubtSince: row.doubtedAt,
    route: { provider: row.provider, address: row.address, topic: topicIdOf(row) },
    topic: topicOf(row),
    isOneOfMany: isCleaning(row.lane),
    home: homeOf(row),
    fallback: fallbackOf(row),
  };
}

/** A result keeps the lane of its task wherever it goes. */
function fallbackOf({ taskId, lane, goesTo, taskPolicies }: PartRow): OutboxPart['fallback'] {
  if (taskId === null || lane !== taskLane(taskId)) return null;
  if (goesTo === 'thread') return 'taken';
  return readFacts(taskPolicies)?.['fallback'] === 'creator' ? 'allowed' : null;
}

function resultOf(part: PartRow): ResultTask | null {
  const { kind, taskId: id, taskState: state, taskAction: action, taskPolicies: policies, number, title } = part;
  if (kind !== 'result' || id === null || state === null || number === null || title === null) return null;
  const { ack } = readFacts(policies) ?? {};
  return {
    id,
    state,
    number,
    title,
    isTopicShared: goesToTopic(part) && sharesTopic(part),
    action: { kind: String(readFacts(action)?.['kind']) },
    policies: ack === undefined ? {} : { ack },
  };
}

/** A part with status unknown is in doubt; it is a second send only if the doubt is older than its send. */
function isResent({ doubtedAt, sentAt }: PartRow, status: OutboxPart['status']): boolean {
  if (doubtedAt === null) return false;
  return status !== 'unknown' || doubtedAt < (sentAt ?? doubtedAt);
}

function topicIdOf(part: Pick<PartRow, 'goesTo' | 'toTopic' | 'taskId' | 'topicId'>): number | null {
  if (part.goesTo === 'thread') return part.toTopic;
  return part.taskId === null ? null : part.topicId;
}

/** A one-off that has no topic yet goes where those of its chat go; one that has keeps it. */
function sharesTopic({ topicShared, topicState, scheduleKind, chatSettings }: PartRow): boolean {
  if (topicShared === 1) return true;
  if (topicState !== 'none' || scheduleKind !== 'once') return false;
  return settingsOf(readFacts(chatSettings) ?? {}).oneOffs === 'together';
}

function topicOf(part: PartRow): TopicView | null {
  const {
    taskId,
    topicState: state,
    topicId: id,
    topicAskedAt: askedAt,
    topicLostAt: lostAt,
    topicName: askedName,
    topicCause: cause,
    cardMessageId: cardId,
  } = part;
  if (taskId === null || state === null || !goesToTopic(part)) return null;
  const isShared = sharesTopic(part);
  const name = isShared ? sharedTopicName : (part.title ?? '');
  return { taskId, name, state, id, askedAt, lostAt, cardId, askedName, cause, isShared };
}

function homeOf({ taskId, title, provider, address, homeTopic: topic }: PartRow): OutboxPart['home'] {
  return taskId === null || title === null ? null : { provider, address, topic };
}
