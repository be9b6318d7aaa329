import type { TopicEnd, TopicView } from '../../app/ports/outbox.ts';
import { type Script, row, write } from '../engine/engine.ts';
import { addCard } from './cards.ts';
import { insertPart } from './new-parts.ts';

interface TopicBegin {
  readonly topic: Pick<TopicView, 'taskId' | 'name'>;
  readonly bootId: string;
  readonly now: number;
}

/** The creation is committed before the call leaves, so that two deliveries, or two processes, never make two topics. */
export function* beginTopic({ topic, bootId, now }: TopicBegin): Script<boolean> {
  return yield* write(
    `update tasks set topic_state = 'creating', topic_boot = ?t, topic_asked_at = ?i, topic_called_at = ?i,
       topic_name = ?t, topic_cause = null
     where id = ?t and topic_state in ('none', 'blocked')`,
    bootId,
    now,
    now,
    topic.name,
    topic.taskId,
  );
}

interface TopicRow {
  readonly chat_id: string;
  readonly provider: string;
  readonly state: string;
  readonly topic_state: TopicView['state'];
  readonly topic_id: number | null;
  readonly topic_lost: number | null;
}

/** Answers whether the part that waited for the topic is `sending` now: only then may it leave. */
export function* endTopic(end: TopicEnd): Script<boolean> {
  yield* writeEnd(end);
  if (end.state !== 'ready' || end.first === undefined) return false;
  const { first, at, taskId, id } = end;
  return yield* write(
    `update deliveries set status = 'sending', sends = sends + 1, sent_at = ?i
     where id = ?t and fence = ?i and status in ('pending', 'blocked')
       and exists (select 1 from tasks t where t.id = ?t and t.topic_state = 'ready' and t.topic_id = ?i)`,
    at,
    first.id,
    first.fence,
    taskId,
    id,
  );
}

function* writeEnd(end: TopicEnd): Script<void> {
  const task = yield* row<TopicRow>(
    `select t.chat_id, c.provider, t.state, t.topic_state, t.topic_id, t.topic_lost
     from tasks t join chats c on c.id = t.chat_id
     where t.id = ?t and t.topic_state in ('creating', 'ready', 'blocked') [for update of t]`,
    end.taskId,
  );
  if (task === undefined) return;
  const isLost = end.state === 'none' && end.lost ? 1 : null;
  // A card belongs to its topic, so another topic has none yet.
  const isKnown = end.state === 'ready' && task.topic_state === 'ready' && task.topic_id === end.id;
  if (isKnown) return;
  yield* write(
    `update tasks set topic_state = ?t, topic_id = ?i, topic_cause = ?t, topic_boot = null,
       topic_asked_at = case when ?i = 1 then topic_asked_at end, topic_lost = coalesce(?i, topic_lost), card_message_id = null
     where id = ?t`,
    end.state,
    end.state === 'ready' ? end.id : null,
    end.state === 'blocked' ? end.cause : null,
    mayTurnUp(end) ? 1 : 0,
    isLost,
    end.taskId,
  );
  if (end.state === 'ready' && task.state !== 'deleted') yield* furnish(task, end);
}

/** While nobody knows whether it was made, it is kept since when to look for it. */
function mayTurnUp(end: TopicEnd): boolean {
  return end.state === 'blocked' && end.cause === 'topic_in_doubt';
}

/** A new topic gets its card, and when it takes the place of one that a person deleted, it says so. */
function* furnish(
  task: TopicRow,
  { taskId, cardId, remadeId, at }: Extract<TopicEnd, { state: 'ready' }>,
): Script<void> {
  yield* write(`update tasks set topic_lost = null where id = ?t`, taskId);
  if (task.provider !== 'telegram') return;
  yield* addCard({ id: cardId, taskId, chatId: task.chat_id, at, expiresAt: null });
  if (task.topic_lost !== 1) return;
  const content = { view: 'topicRemade' };
  yield* insertPart({ id: remadeId, taskId, chatId: task.chat_id, kind: 'notice', content }, at);
}
