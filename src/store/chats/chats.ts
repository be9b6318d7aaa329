import type { Chat, ChatBack, ChatChange, ChatGone, ChatStore, NewChat } from '../../app/ports/chats.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { refreshCards } from '../outbox/cards.ts';
import { insertMessages } from '../outbox/new-parts.ts';
import { lookAtHeld } from '../outbox/quiet-parts.ts';
import { pauseTasks } from '../tasks/auto-pauses.ts';
import { placeholder, type Columns } from '../tasks/codec.ts';
import { moveChat } from './moves.ts';
import { chatOf, findChat, readChat, telegram, type ChatRow } from './rows.ts';

type Chats = Pick<ChatStore, 'findChat' | 'noteChat' | 'changeChat' | 'moveChat' | 'chatGone' | 'chatBack'>;

/** Chats: what is known of them, and what becomes of them. */
export function chatsStore(engine: Engine): Chats {
  return {
    findChat: (address) => engine.transact(() => readOne(address)),
    noteChat: (chat) => engine.transact(() => noteChat(chat)),
    changeChat: (chatId, change, at) => engine.transact(() => changeChat(chatId, change, at)),
    moveChat: (from, to, at) => engine.transact(() => moveChat({ from, to, at })),
    chatGone: (gone) => engine.transact(() => chatGone(gone)),
    chatBack: (back) => engine.transact(() => chatBack(back)),
  };
}

function* readOne(address: string): Script<Chat | null> {
  const found = yield* findChat({ provider: telegram, address });
  return found === undefined ? null : readChat(found);
}

/** Most updates say what is known already, and that costs a look. */
function* noteChat({ newId, address, title, kind, at }: NewChat): Script<Chat> {
  const place = { provider: telegram, address };
  const known = yield* findChat(place);
  // An update that was sent under an old address tells how the chat was, not how it is.
  if (known !== undefined && known.address !== address) return readChat(known);
  if (known !== undefined && known.kind === kind && (title === null || known.title === title)) return readChat(known);
  const chat = known ?? (yield* chatOf(place, newId, at));
  yield* rows(
    `update chats set title = coalesce(?t, title), kind = ?t, updated_at = ?i where id = ?t`,
    title,
    kind,
    at,
    chat.id,
  );
  return readChat({ ...chat, title: title ?? chat.title, kind });
}

/** A state that is set holds from now on, also for a chat that was gone. */
function* changeChat(chatId: string, change: ChatChange, at: number): Script<void> {
  const columns: Columns = {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.kind === undefined ? {} : { kind: change.kind }),
    ...(change.state === undefined ? {} : { state: change.state, state_before: null }),
    ...(change.timezone === undefined ? {} : { timezone: change.timezone }),
    ...(change.settings === undefined ? {} : { settings: JSON.stringify(change.settings) }),
    ...(change.approvedBy === undefined ? {} : { approved_by: change.approvedBy }),
    updated_at: at,
  };
  const entries = Object.entries(columns);
  const sets = entries.map(([name, value]) => `${name} = ${value === null ? 'null' : placeholder(value)}`).join(', ');
  const values = entries.map(([, value]) => value).filter((value) => value !== null);
  yield* rows(`update chats set ${sets} where id = ?t`, ...values, chatId);
  if (change.settings !== undefined || change.timezone !== undefined) yield* lookAtHeld({ chatId }, at);
}

/** Told again, it does nothing: the tasks are paused, and the owners have heard of it. */
function* chatGone({ chatId, at, wordTo }: ChatGone): Script<number | null> {
  const gone = yield* row<ChatRow>(
    `update chats set state_before = state, state = 'gone', updated_at = ?i where id = ?t and state <> 'gone' returning *`,
    at,
    chatId,
  );
  if (gone === undefined) return null;
  const active = yield* rows<{ id: string }>(
    `select id from tasks where chat_id = ?t and state = 'active' order by id [for update]`,
    chatId,
  );
  const paused = yield* pauseTasks(
    active.map(({ id }) => id),
    { reason: 'chat_gone', guard: '1 = 1' },
    at,
  );
  const owners = yield* rows<ChatRow>(
    `select c.* from users u join chats c on c.provider = 'telegram' and c.address = substr(u.id, ${afterActor})
     where u.role = 'owner' and u.id like 'telegram:user:%' and c.state <> 'gone' order by u.id`,
  );
  yield* insertMessages(
    owners.map((owner) => wordTo(readChat(owner), readChat(gone), paused.length)),
    at,
  );
  return paused.length;
}

/** The address of somebody's private chat is their number, with which the name of the actor ends. */
const afterActor = 'telegram:user:'.length + 1;

/** Its tasks stay paused: whoever let the bot back in may not want all of them again. */
function* chatBack({ chatId, at, word }: ChatBack): Script<number | null> {
  const back = yield* row<ChatRow>(
    `update chats set state = coalesce(state_before, 'new'), state_before = null, updated_at = ?i
     where id = ?t and state = 'gone' returning *`,
    at,
    chatId,
  );
  if (back === undefined) return null;
  const paused = yield* rows<{ id: string }>(
    `select id from tasks where chat_id = ?t and state = 'paused' and paused_reason = 'chat_gone' order by id`,
    chatId,
  );
  const said = word(readChat(back), paused.length);
  if (said !== null) yield* insertMessages([said], at);
  yield* refreshCards(paused.map(({ id: taskId }) => ({ taskId, at, key: `back:${taskId}`, door: null })));
  return paused.length;
}
