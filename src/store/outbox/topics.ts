import { topicLosses, type TopicEnd, type TopicView } from '../../app/ports/outbox.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdateOf, raw, sql } from '../engine/sql.ts';
import { one, select, update } from '../engine/statements.ts';
import { addCard, nameTopic } from './cards.ts';
import { insertPart } from './new-parts.ts';

/** The creation is committed before the call leaves, so that two deliveries, or two processes, never make two topics. */
export function* beginTopic(
  { taskId, name }: Pick<TopicView, 'taskId' | 'name'>,
  bootId: string,
  now: number,
): Script<boolean> {
  return yield* update(
    'tasks',
    {
      topicState: 'creating',
      topicBoot: bootId,
      topicAskedAt: now,
      topicCalledAt: now,
      topicName: name,
      topicCause: null,
    },
    sql`id = ${taskId} and topic_state in ('none', 'blocked')`,
  );
}

/** Answers whether the part that waited for the topic is `sending` now: only then may it leave. */
export function* endTopic(end: TopicEnd): Script<boolean> {
  yield* writeEnd(end);
  if (end.state !== 'ready' || end.first === undefined) return false;
  const { first, at, taskId, id } = end;
  return yield* update(
    'deliveries',
    { status: 'sending', sends: raw('sends + 1'), sentAt: at },
    sql`id = ${first.id} and fence = ${first.fence} and status in ('pending', 'blocked')
      and exists (select 1 from tasks t where t.id = ${taskId} and t.topic_state = 'ready' and t.topic_id = ${id})`,
  );
}

/** Whoever leaves a chat loses the right under which their tasks run there, and a chat may be let in no more. */
export function* isOwnerThere(taskId: string): Script<boolean> {
  const found = yield* one(
    select(pick(columnsOf('tasks', 't'), 'id'))`from tasks t join chats c on c.id = t.chat_id
      join grants g on g.id = t.grant_id where t.id = ${taskId} and c.state not in ('refused', 'gone') and g.revoked_at is null`,
  );
  return found !== undefined;
}

const ownerFields = {
  ...pick(columnsOf('tasks', 't'), 'chatId', 'state', 'topicState', 'topicId', 'topicLost', 'title', 'topicName'),
  ...pick(columnsOf('chats', 'c'), 'provider'),
};

function* writeEnd(end: TopicEnd): Script<void> {
  const task = yield* one(
    select(ownerFields)`from tasks t join chats c on c.id = t.chat_id
      where t.id = ${end.taskId} and t.topic_state in ('creating', 'ready', 'blocked') ${forUpdateOf('t')}`,
  );
  if (task === undefined) return;
  // A card belongs to its topic, so another topic has none yet.
  const isKnown = end.state === 'ready' && task.topicState === 'ready' && task.topicId === end.id;
  if (isKnown) return;
  yield* update(
    'tasks',
    {
      topicState: end.state,
      topicId: end.state === 'ready' ? end.id : null,
      topicCause: end.state === 'blocked' ? end.cause : null,
      topicBoot: null,
      topicAskedAt: mayTurnUp(end) ? undefined : null,
      ...(end.state === 'none' && end.lost !== null ? { topicLost: end.lost, topicLostAt: end.at } : {}),
      cardMessageId: null,
    },
    sql`id = ${end.taskId}`,
  );
  if (end.state === 'ready' && task.state !== 'deleted') yield* furnish(task, end);
}

/** While nobody knows whether it was made, it is kept since when to look for it. */
function mayTurnUp(end: TopicEnd): boolean {
  return end.state === 'blocked' && end.cause === 'topic_in_doubt';
}

/** A new topic gets its card, and when it takes the place of another one, it says why. */
function* furnish(
  { chatId, provider, topicLost, title, topicName }: Answer<typeof ownerFields>,
  { taskId, cardId, remadeId, at }: Extract<TopicEnd, { state: 'ready' }>,
): Script<void> {
  yield* update('tasks', { topicLost: null }, sql`id = ${taskId}`);
  if (provider !== 'telegram') return;
  yield* addCard({ id: cardId, taskId, chatId, at, expiresAt: null });
  // The title may have changed while the topic was made.
  if (topicName !== null && topicName !== title)
    yield* nameTopic({ id: idAt(at, `named:${cardId}`), taskId, chatId, at, title });
  if (topicLost === null) return;
  const content = { view: 'topicRemade', isAstray: topicLost === topicLosses.astray } as const;
  yield* insertPart({ id: remadeId, taskId, chatId, kind: 'notice', content }, at);
}
