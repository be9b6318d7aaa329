import {
  type SharedTopic,
  topicLosses,
  type TopicEnd,
  type TopicLoss,
  type TopicView,
} from '../../app/ports/outbox.ts';
import { settingsOf, sharedTopicName } from '../../domain/chat-settings.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { missing } from '../../domain/errors.ts';
import { oneOffTopicsOffered } from '../../domain/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdateOf, raw, sql, type Sql } from '../engine/sql.ts';
import { one, select, update } from '../engine/statements.ts';
import { readFacts } from '../tasks/codec.ts';
import { addCard, nameTopic } from './cards.ts';
import { insertPart, isNews } from './new-parts.ts';
import { redrawStarted } from './standing.ts';

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

const t = columnsOf('tasks', 't');

const makerFields = {
  taskId: t.id,
  ...pick(t, 'topicState', 'topicId', 'topicAskedAt', 'topicLostAt', 'topicName', 'topicCause'),
};

const sharers = (chatId: string): Sql => sql`chat_id = ${chatId} and topic_shared = 1`;

/** However often it is lost, and whichever of them notices, the shared topic is made again once an hour at most. */
export function* joinTopic(taskId: string): Script<SharedTopic> {
  const chat = yield* one(
    select(pick(columnsOf('chats', 'c'), 'id', 'sharedTopic'))`from chats c
      where c.id = (select t.chat_id from tasks t where t.id = ${taskId}) ${forUpdateOf('c')}`,
  );
  const ofChat = sharers(chat?.id ?? '');
  yield* update(
    'tasks',
    // The loss of its own topic is no news in one that it shares.
    { topicShared: 1, topicLost: null, topicLostAt: sql`(select max(s.topic_lost_at) from tasks s where s.${ofChat})` },
    sql`id = ${taskId} and topic_shared = 0`,
  );
  const own = yield* one(select(makerFields)`from tasks t where t.id = ${taskId}`);
  if (own === undefined) throw missing('task');
  const id = chat?.sharedTopic ?? null;
  if (id !== null) {
    yield* update('tasks', readyAs(id), sql`id = ${taskId} and topic_state <> 'ready'`);
    return { is: 'ready', id, lostAt: own.topicLostAt };
  }
  const made = sql`t.${ofChat} and t.topic_asked_at is not null and t.topic_state <> 'ready'`;
  const maker = (yield* one(select(makerFields)`from tasks t where ${made} order by t.id limit 1`)) ?? own;
  const { topicState: state, topicAskedAt: askedAt, topicLostAt: lostAt, topicName: askedName } = maker;
  const view = { taskId: maker.taskId, name: sharedTopicName, state, id: maker.topicId, askedAt, lostAt, askedName };
  return { is: 'wanted', maker: { ...view, cardId: null, cause: maker.topicCause, isShared: true } };
}

function readyAs(id: number) {
  return { topicState: 'ready', topicId: id, topicCause: null, topicBoot: null, topicAskedAt: null } as const;
}

/** Tasks that share a topic have it together, and lose it together. */
function* shareEnd({ chatId, topicId }: Answer<typeof ownerFields>, end: TopicEnd): Script<void> {
  if (end.state === 'ready') {
    yield* update('chats', { sharedTopic: end.id }, sql`id = ${chatId}`);
    yield* update('tasks', readyAs(end.id), sql`${sharers(chatId)} and topic_state <> 'ready'`);
  }
  if (end.state !== 'none' || end.lost === null || topicId === null) return;
  yield* update('chats', { sharedTopic: null }, sql`id = ${chatId} and shared_topic = ${topicId}`);
  const lost = { topicState: 'none', topicId: null, topicLostAt: end.at } as const;
  yield* update('tasks', lost, sql`${sharers(chatId)} and topic_id = ${topicId}`);
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

/** An owner who leaves a chat loses the right under which their tasks run there, and a chat may be let in no more. */
export function* isOwnerThere(taskId: string): Script<boolean> {
  const found = yield* one(
    select(pick(columnsOf('tasks', 't'), 'id'))`from tasks t join chats c on c.id = t.chat_id
      join grants g on g.id = t.grant_id where t.id = ${taskId} and c.state not in ('refused', 'gone') and g.revoked_at is null`,
  );
  return found !== undefined;
}

const ownerFields = {
  ...pick(columnsOf('tasks', 't'), 'chatId', 'state', 'topicState', 'topicId', 'topicLost', 'title', 'topicName'),
  ...pick(columnsOf('tasks', 't'), 'topicShared', 'scheduleKind', 'homeTopic'),
  ...pick(columnsOf('chats', 'c'), 'provider', 'settings'),
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
  if (task.topicShared === 1) yield* shareEnd(task, end);
  if (end.state !== 'ready') return;
  if (task.topicShared === 1) yield* tellRemade(task, end, yield* lossOf(task.chatId));
  else if (task.state !== 'deleted') yield* furnish(task, end);
}

/** While nobody knows whether it was made, it is kept since when to look for it. */
function mayTurnUp(end: TopicEnd): boolean {
  return end.state === 'blocked' && end.cause === 'topic_in_doubt';
}

type Ready = Extract<TopicEnd, { state: 'ready' }>;

/** A new topic of a task gets its card. */
function* furnish(task: Answer<typeof ownerFields>, end: Ready): Script<void> {
  const { chatId, provider, title, topicName } = task;
  const { taskId, cardId, at } = end;
  if (provider === 'telegram') yield* addCard({ id: cardId, taskId, chatId, at, expiresAt: null });
  yield* redrawStarted(taskId, at);
  // The title may have changed while the topic was made.
  if (provider === 'telegram' && topicName !== null && topicName !== title)
    yield* nameTopic({ id: idAt(at, `named:${cardId}`), taskId, chatId, at, title });
  yield* tellRemade(task, end, task.topicLost);
  if (task.scheduleKind === 'once') yield* offerShared(task, end);
}

/** A topic that takes the place of another one says why. */
function* tellRemade(
  { chatId, provider }: Answer<typeof ownerFields>,
  { taskId, remadeId, at }: Ready,
  lost: TopicLoss | null,
): Script<void> {
  if (lost === null) return;
  yield* update('tasks', { topicLost: null }, sql`id = ${taskId}`);
  if (provider !== 'telegram') return;
  const content = { view: 'topicRemade', isAstray: lost === topicLosses.astray } as const;
  yield* insertPart({ id: remadeId, taskId, chatId, kind: 'notice', content }, at);
}

/** Whichever of the tasks noticed that the topic they share was lost, the one that makes it again tells it. */
function* lossOf(chatId: string): Script<TopicLoss | null> {
  const wasLost = sql`${sharers(chatId)} and topic_lost is not null`;
  const found = yield* one(select(pick(columns.tasks, 'topicLost'))`from tasks where ${wasLost} limit 1`);
  if (found !== undefined) yield* update('tasks', { topicLost: null }, wasLost);
  return found?.topicLost ?? null;
}

const finishedFields = { topics: count };

/** Once in a chat, when topics of one-offs that are over have piled up. */
function* offerShared(
  { chatId, provider, settings, homeTopic }: Answer<typeof ownerFields>,
  { remadeId, at }: Ready,
): Script<void> {
  if (provider !== 'telegram' || settingsOf(readFacts(settings) ?? {}).oneOffs === 'together') return;
  const found = yield* one(
    select(finishedFields)`from tasks where chat_id = ${chatId} and schedule_kind = 'once' and state = 'completed'
      and topic_state = 'ready' and topic_shared = 0`,
  );
  const topics = found?.topics ?? 0;
  if (topics < oneOffTopicsOffered || !(yield* isNews(chatId, { word: 'one_offs' }, at))) return;
  const part = { id: idAt(at, `shared:${remadeId}`), taskId: null, chatId, thread: { topic: homeTopic } };
  const content = { view: 'oneOffs', topics } as const;
  yield* insertPart({ ...part, kind: 'notice', content, rank: outboxRanks.card }, at);
}
