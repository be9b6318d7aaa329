import type { Chat, ChatBack, ChatChange, ChatGone, NewChat } from '../../app/ports/chats.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { forUpdate, raw, sql } from '../engine/sql.ts';
import { all, select, update, updateReturning } from '../engine/statements.ts';
import { refreshCards } from '../outbox/cards.ts';
import { addMessages } from '../outbox/new-parts.ts';
import { lookAtHeld } from '../outbox/quiet-parts.ts';
import { pauseTasks } from '../tasks/auto-pauses.ts';
import { moveChat } from './moves.ts';
import { chatFields, chatFieldsOf, chatOf, findChat as findRow, telegram, type ChatRow } from './rows.ts';

/** Chats: what is known of them, and what becomes of them. */
export const chatsStore = { findChat, noteChat, changeChat, moveChat, chatGone, chatBack };

function* findChat(address: string): Script<Chat | null> {
  const found = yield* findRow({ provider: telegram, address });
  return found === undefined ? null : readChat(found);
}

function readChat({ stateBefore: _before, lastNumber: _last, ...chat }: ChatRow): Chat {
  return chat;
}

/** Most updates say what is known already, and that costs a look. */
function* noteChat({ newId, address, title, kind, at }: NewChat): Script<Chat> {
  const place = { provider: telegram, address };
  const known = yield* findRow(place);
  // An update that was sent under an old address tells how the chat was, not how it is.
  if (known !== undefined && known.address !== address) return readChat(known);
  if (known !== undefined && known.kind === kind && (title === null || known.title === title)) return readChat(known);
  const chat = known ?? (yield* chatOf(place, newId, at));
  yield* update('chats', { title: title ?? undefined, kind, updatedAt: at }, sql`id = ${chat.id}`);
  return readChat({ ...chat, title: title ?? chat.title, kind });
}

/** A state that is set holds from now on, also for a chat that was gone. */
function* changeChat(chatId: string, change: ChatChange, at: number): Script<void> {
  const { title, kind, state, timezone, settings, approvedBy } = change;
  yield* update(
    'chats',
    {
      title,
      kind,
      state,
      stateBefore: state === undefined ? undefined : null,
      timezone,
      settings: settings === undefined ? undefined : JSON.stringify(settings),
      approvedBy,
      updatedAt: at,
    },
    sql`id = ${chatId}`,
  );
  if (settings !== undefined || timezone !== undefined) yield* lookAtHeld({ chatId }, at);
}

/** Told again, it does nothing: the tasks are paused, and the owners have heard of it. */
function* chatGone({ chatId, at, wordTo }: ChatGone): Script<number | null> {
  const [gone] = yield* updateReturning(
    'chats',
    { stateBefore: raw('state'), state: 'gone', updatedAt: at },
    sql`id = ${chatId} and state <> 'gone'`,
    chatFields,
  );
  if (gone === undefined) return null;
  const active = yield* all(
    select(pick(columns.tasks, 'id'))`from tasks
      where chat_id = ${chatId} and state = 'active' order by id ${forUpdate}`,
  );
  const paused = yield* pauseTasks(
    active.map(({ id }) => id),
    { reason: 'chat_gone', guard: raw('1 = 1') },
    at,
  );
  const owners = yield* all(
    select(ownerFields)`from users u
        join chats c on c.provider = 'telegram' and c.address = substr(u.id, ${raw(String(afterActor))})
      where u.role = 'owner' and u.id like 'telegram:user:%' and c.state <> 'gone' order by u.id`,
  );
  yield* addMessages(
    owners.map((owner) => wordTo(owner, gone, paused.length)),
    at,
  );
  return paused.length;
}

/** The address of somebody's private chat is their number, with which the name of the actor ends. */
const afterActor = 'telegram:user:'.length + 1;
const ownerFields = chatFieldsOf('c');

/** Tasks of a chat that is back stay paused: whoever let the bot back in may not want all of them again. */
function* chatBack({ chatId, at, word }: ChatBack): Script<number | null> {
  const [back] = yield* updateReturning(
    'chats',
    { state: raw(`coalesce(state_before, 'new')`), stateBefore: null, updatedAt: at },
    sql`id = ${chatId} and state = 'gone'`,
    chatFields,
  );
  if (back === undefined) return null;
  const paused = yield* all(
    select(pick(columns.tasks, 'id'))`from tasks
      where chat_id = ${chatId} and state = 'paused' and paused_reason = 'chat_gone' order by id`,
  );
  const said = word(back, paused.length);
  if (said !== null) yield* addMessages([said], at);
  yield* refreshCards(paused.map(({ id: taskId }) => ({ taskId, at, key: `back:${taskId}`, topic: null })));
  return paused.length;
}
