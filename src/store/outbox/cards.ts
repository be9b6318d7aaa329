import { outboxRanks } from '../../domain/delivery.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, int, list, raw, sql } from '../engine/sql.ts';
import { all, offer, one, returning, select, updateReturning } from '../engine/statements.ts';
import { cardLane, nameLane, waitsIn } from './lanes.ts';
import { insertPart } from './new-parts.ts';
import { redrawSoon, redrawWords } from './standing.ts';

/** A card shows the task as it stands when it is drawn; after an hour the next change draws it soon enough. */
const cardExpiryMs = 60 * 60_000;

/** Within a day a deletion can be taken back; a topic that could not be closed until then stays as it is. */
const topicExpiryMs = 24 * 60 * 60_000;

/**
 * The card waits a moment for what comes at the same time and must not wait for it: the answer to whoever made the change,
 * and the result of the last slot, which is taken up before its run has ended.
 */
const cardWaitMs = 1000;

export interface CardChange {
  readonly taskId: string;
  readonly at: number;
  /** Names the change, so that its rows have ids of their own, and sorts after the changes before it. */
  readonly key: string;
  /** The topic is closed or opened with the change. */
  readonly topic: 'close' | 'open' | null;
  /** The title, where that has changed: the topic is called so from now on. */
  readonly title?: string | null;
  /** A person made it, and is answered first. */
  readonly isAnswered?: boolean;
  /** False where the card need not be drawn anew; it is with the next change. */
  readonly isDrawn?: boolean;
}

const placeFields = {
  ...pick(columnsOf('tasks', 't'), 'id', 'chatId'),
  // No join, which may be begun at the chats and walk all of their tasks.
  address: like(columns.chats.address, raw('(select c.address from chats c where c.id = t.chat_id)')),
};

/**
 * Has the pinned cards drawn anew of tasks that have a topic of their own, and, when there is time for it, whatever else tells how they
 * stand. In a chat that cannot be reached that waits until it can be.
 */
export function* refreshCards(changes: readonly CardChange[]): Script<void> {
  const [first] = changes;
  if (first === undefined) return;
  const placed = yield* all(
    select(
      placeFields,
    )`from tasks t where t.id in ${list(changes.map(({ taskId }) => taskId))} and t.topic_state = 'ready' and t.topic_shared = 0
      and exists (select 1 from chats c where c.id = t.chat_id and c.provider = 'telegram' and c.state <> 'gone')`,
  );
  const places = new Map(placed.map((place) => [place.id, place]));
  const underWay: string[] = [];
  for (const { taskId, at, key, topic, title = null, isAnswered = true, isDrawn = true } of changes) {
    const place = places.get(taskId);
    if (place === undefined) continue;
    const { chatId, address } = place;
    const id = (what: string) => idAt(at, `${key}:${what}`);
    const readyAt = at + cardWaitMs;
    // A topic that is closed or opened says it, and costs a call; in a private chat none can be closed, so the card must say it.
    if (isDrawn && (topic === null || isPrivate(address))) {
      yield* addCard({ id: id('card'), taskId, chatId, at, readyAt, expiresAt: at + cardExpiryMs });
      underWay.push(taskId);
    }
    if (title !== null)
      yield* nameTopic({ id: id('rename'), taskId, chatId, at, readyAt: isAnswered ? readyAt : at, title });
    if (topic === null) continue;
    yield* insertCardPart({ id: id(topic), taskId, chatId, at, readyAt, expiresAt: at + topicExpiryMs, kind: topic });
  }
  const changed = changes.map(({ taskId }) => taskId);
  yield* redrawSoon(changed, first.at, underWay);
}

function isPrivate(address: string): boolean {
  return !address.startsWith('-');
}

interface NewCard {
  readonly id: string;
  readonly taskId: string;
  readonly chatId: string;
  readonly at: number;
  readonly readyAt?: number;
  readonly expiresAt: number | null;
}

/** One card that waits is enough, because it shows whatever is true when it is drawn; it only has to wait longer now. */
export function* addCard(card: NewCard): Script<void> {
  const expiry = int(card.expiresAt);
  const waiting = yield* updateReturning(
    'deliveries',
    {
      expiresAt: sql`case when expires_at < ${expiry} then ${expiry} else expires_at end`,
      rank: sql`case when rank > ${outboxRanks.card} then ${outboxRanks.card} else rank end`,
    },
    sql`${waitsIn(cardLane(card.taskId))} and kind = 'card'`,
    pick(columns.deliveries, 'id'),
  );
  if (waiting.length === 0) yield* insertCardPart({ ...card, kind: 'card' });
}

type NewName = Omit<NewCard, 'expiresAt'> & { readonly title: string };

/** Of two names the later one is given, and nobody waits for the one before it. */
export function* nameTopic({ id, taskId, chatId, at, readyAt = at, title }: NewName): Script<void> {
  const lane = nameLane(taskId);
  const named = { content: JSON.stringify({ text: title }), expiresAt: at + topicExpiryMs };
  const waiting = yield* updateReturning(
    'deliveries',
    { ...named, readyAt, error: null },
    waitsIn(lane),
    pick(columns.deliveries, 'id'),
  );
  yield* offer({ chats: [chatId] });
  if (waiting.length > 0) return;
  const part = { id, taskId, chatId, lane, rank: outboxRanks.answer, readyAt, expiresAt: named.expiresAt };
  yield* insertPart({ ...part, kind: 'rename', content: { text: title } }, at);
}

export function* topicNaming(taskId: string): Script<{ error: string | null } | null> {
  const named = sql`lane = ${nameLane(taskId)} and status in ('pending', 'blocked', 'sending', 'unknown')`;
  const where = allOf(named, yield* seen(columns.deliveries.chatId.sql));
  return (
    (yield* one(select(pick(columns.deliveries, 'error'))`from deliveries where ${where} order by id desc limit 1`)) ??
    null
  );
}

/** The right to pin is there: the cards are pinned after all, where it was told that they were not. */
export function* pinAgain(chatId: string, at: number): Script<boolean> {
  const word = sql`delete from told where chat_id = ${chatId} and word = 'not_pinned'`;
  if ((yield* all(returning(pick(columns.told, 'chatId'), word))).length === 0) return false;
  const cards = yield* all(
    select(pick(columns.tasks, 'id', 'cardMessageId'))`from tasks where chat_id = ${chatId} and topic_state = 'ready'
      and topic_shared = 0 and card_message_id is not null and state in ('active', 'paused') order by id`,
  );
  for (const { id: taskId, cardMessageId: edits } of cards)
    if (edits !== null)
      yield* insertCardPart({ id: idAt(at, `pin:${taskId}`), taskId, chatId, at, expiresAt: null, kind: 'pin', edits });
  yield* redrawWords(chatId, at);
  return true;
}

type CardPart = NewCard & {
  readonly kind: 'card' | 'pin' | 'close' | 'open';
  /** The message to pin. A card is sent as a change of the card that the task has when it goes out. */
  readonly edits?: number;
};

export function* insertCardPart(part: CardPart): Script<void> {
  const { at, ...more } = part;
  // The card is drawn when it is sent, so its row holds no more than that.
  const content = { view: 'card' };
  yield* insertPart({ ...more, content, lane: cardLane(part.taskId), rank: outboxRanks.card }, at);
}
