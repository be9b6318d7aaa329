import type { Redrawing, Redrawn } from '../../app/ports/upkeep.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { isView, type View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, least, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { limit as limited, raw, sql } from '../engine/sql.ts';
import { all, one, run, select, update } from '../engine/statements.ts';
import { cardLane } from './lanes.ts';
import { insertPart } from './new-parts.ts';
import { shownOf } from './part-rows.ts';

/**
 * Draws messages anew that tell how something stands, when nothing else is on its way in their chat or soon will be: a drawing
 * never delays what somebody waits for.
 */
export const redrawStore = { drawAnew, nextRedrawAt };

function* nextRedrawAt(): Script<number | null> {
  const next = yield* one(select({ at: least(columns.standing.dueAt) })`from standing where due_at is not null`);
  return next?.at ?? null;
}

/** One message of each chat that is calm. What was not its turn is looked at next. */
function* drawAnew({ now, limit, after, room }: Redrawing): Script<Redrawn> {
  const chats = yield* all(
    select(chatFields)`from standing s where s.due_at is not null and s.due_at <= ${now} and s.chat_id > ${after}
      and exists (select 1 from chats c where c.id = s.chat_id and c.state <> 'gone')
      group by s.chat_id order by s.chat_id ${limited(limit)}`,
  );
  let drawn = 0;
  for (const { chatId } of chats) {
    if ((yield* isCalm(chatId, room, now)) && (yield* drawNext(chatId, now))) drawn += 1;
  }
  return { drawn, after: chats.length < limit ? '' : (chats.at(-1)?.chatId ?? '') };
}

const s = columnsOf('standing', 's');
const d = columnsOf('deliveries', 'd');
const chatFields = { chatId: s.chatId };
const { tasks, deliveries, runs } = columns;

/** So long before a run, or a part that waits, nothing is drawn anew: Telegram takes one call a second in a chat. */
const nearMs = 5000;
/** The messages that a chat was sent in the last minute, and those that fall due in the next one. */
const minuteMs = 60_000;

/**
 * Nothing is on its way or about to be, and what was sent lately and is to be sent soon leaves so much room that a drawing
 * delays nothing.
 */
function* isCalm(chatId: string, room: number, now: number): Script<boolean> {
  const near = now + nearMs;
  const inChat = sql`chat_id = ${chatId}`;
  const part = yield* one(
    select(
      pick(deliveries, 'id'),
    )`from deliveries where ${inChat} and status in ('pending', 'blocked') and status = 'pending' and ready_at <= ${near} limit 1`,
  );
  const away = yield* one(
    select(pick(deliveries, 'id'))`from deliveries where status = 'sending' and ${inChat} limit 1`,
  );
  if (part !== undefined || away !== undefined) return false;
  const live = yield* one(
    select(
      pick(runs, 'id'),
    )`from runs where status in ('queued', 'backoff') and ready_at <= ${near} and ${inChat} limit 1`,
  );
  const running = yield* one(select(pick(runs, 'id'))`from runs where status = 'running' and ${inChat} limit 1`);
  const due = yield* one(
    select(pick(tasks, 'id'))`from tasks where next_at is not null and next_at <= ${near} and ${inChat} limit 1`,
  );
  if (live !== undefined || running !== undefined || due !== undefined) return false;
  const sent = yield* one(
    select({ count })`from deliveries where sent_at is not null and sent_at > ${now - minuteMs} and ${inChat}`,
  );
  const coming = yield* one(
    select({ count })`from tasks where next_at is not null and next_at <= ${now + minuteMs} and ${inChat}`,
  );
  return (sent?.count ?? 0) + (coming?.count ?? 0) < room;
}

const nextFields = {
  ...pick(s, 'id', 'kind', 'taskId', 'chatId', 'print'),
  deliveryId: d.id,
  messageId: d.messageId,
  topic: d.messageThreadId,
  content: d.content,
};

/** Numbers of messages hold at the address at which they were given, which a group changes once. */
const mayStand = raw(`d.status <> 'failed' and (d.platform_chat_id is null
  or d.platform_chat_id = (select c.address from chats c where c.id = standing.chat_id))`);

/** A row without a message that stands is of no use any more; one that is on its way is waited for. */
function* drawNext(chatId: string, now: number): Script<boolean> {
  const due = sql`due_at is not null and due_at <= ${now} and chat_id = ${chatId}`;
  const message = sql`select 1 from deliveries d where d.id = standing.delivery_id and ${mayStand}`;
  yield* run(sql`delete from standing where ${due} and not exists (${message})`);
  const next = yield* one(
    select(nextFields)`from standing s join deliveries d on d.id = s.delivery_id
      where s.due_at is not null and s.due_at <= ${now} and s.chat_id = ${chatId}
        and d.status = 'delivered' and d.message_id > 0 order by s.due_at, s.id limit 1`,
  );
  if (next === undefined) return false;
  // Another process may draw it at this very moment.
  if (!(yield* update('standing', { dueAt: null }, sql`id = ${next.id} and due_at is not null`))) return false;
  yield* insertDrawing(next, now);
  return true;
}

/** Somebody has said Done, and the words that nobody has are settled: they say so at once, as far as the pace of their chat lets them. */
export function* redrawSettled(taskId: string, now: number, pressed = 0): Script<void> {
  const settled = yield* all(
    select(nextFields)`from standing s join deliveries d on d.id = s.delivery_id
      where s.task_id = ${taskId} and s.kind = 'escalated' and d.status = 'delivered'
        and d.message_id > 0 and d.message_id <> ${pressed} order by s.id`,
  );
  for (const word of settled) {
    yield* update('standing', { dueAt: null }, sql`id = ${word.id}`);
    yield* insertDrawing(word, now);
  }
}

function* insertDrawing(next: Answer<typeof nextFields>, now: number): Script<void> {
  const { id: lane, chatId, topic, messageId, print } = next;
  const taskId = next.taskId === '' ? null : next.taskId;
  const content = { ...viewOf(next), ...(print === null ? {} : { unless: print }) };
  // The pinned card is a part of its topic; every other message stands where it was said.
  const isPinned = lane === cardLane(next.taskId);
  const part = isPinned
    ? ({ kind: 'card' } as const)
    : ({ kind: 'answer', thread: { topic }, edits: messageId } as const);
  const id = idAt(now, `redraw:${lane}`);
  yield* insertPart({ ...part, id, taskId, chatId, lane, rank: outboxRanks.redraw, content, isSilent: true }, now);
}

function viewOf({ kind, content }: Pick<Answer<typeof nextFields>, 'kind' | 'content'>): View {
  if (kind === 'started') return { view: kind };
  const shown = kind === 'card' ? null : shownOf(content);
  return shown !== null && isView(shown) ? shown : { view: 'card' };
}
