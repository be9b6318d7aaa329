import type {
  AccessEntry,
  KnownThread,
  LetIn,
  LettingIn,
  ShutOut,
  ShuttingOut,
  ThreadQuery,
} from '../../app/ports/chat-facts.ts';
import type { Chat, ChatBack, ChatChange, ChatGone, NewChat } from '../../app/ports/chats.ts';
import type { Page, PageQuery } from '../../app/ports/runs.ts';
import { actorAt, addressOf, isGroup } from '../../app/use-cases/membership.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError, missing } from '../../domain/errors.ts';
import { ownerGonePause } from '../../domain/task.ts';
import { telegramThread } from '../../domain/thread.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, pick, type Answer } from '../engine/fields.ts';
import { page, positionOf, writeCursor } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, forUpdate, forUpdateOf, limit as limited, raw, sql } from '../engine/sql.ts';
import { all, hold, one, run, select, update, updateReturning } from '../engine/statements.ts';
import { refreshCards } from '../outbox/cards.ts';
import { addMessages } from '../outbox/new-parts.ts';
import { lookAtHeld } from '../outbox/quiet-parts.ts';
import { redrawLost, redrawWords } from '../outbox/standing.ts';
import { recordAccess } from '../records/journal.ts';
import { pauseTasks } from '../tasks/auto-pauses.ts';
import { left } from '../tasks/grants.ts';
import { moveChat } from './moves.ts';
import { changeUser, noteMember, readUser } from './people.ts';
import { chatFields, chatFieldsOf, chatOf, findChat as findRow, readChat, telegram, type ChatRow } from './rows.ts';

/** Chats: what is known of them, and what becomes of them. */
export const chatsStore = {
  findChat,
  noteChat,
  changeChat,
  moveChat,
  chatGone,
  chatBack,
  listThreads,
  listAccess,
  letIn,
  shutOut,
};

function* findChat(address: string): Script<Chat | null> {
  const found = yield* findRow({ provider: telegram, address });
  return found === undefined ? null : readChat(found);
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
  const { title, kind, state, timezone, settings, approvedBy, approvedAt } = change;
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
      approvedAt,
      updatedAt: at,
    },
    sql`id = ${chatId}`,
  );
  if (settings !== undefined || timezone !== undefined) yield* lookAtHeld({ chatId }, at);
  if (settings !== undefined) yield* redrawWords(chatId, at);
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
  yield* redrawLost(at);
  yield* refreshCards(paused.map(({ id: taskId }) => ({ taskId, at, key: `back:${taskId}`, topic: null })));
  return paused.length;
}

/* ---- who is let in: the row of a chat, which for a person is that of their private chat ---- */

const c = columnsOf('chats', 'c');
const u = columnsOf('users', 'u');
const entryFields = {
  ...pick(c, 'id', 'address', 'title', 'approvedBy', 'approvedAt'),
  name: u.name,
  role: maybe(u.role),
};

/** A chat that cannot be reached is let in still, and may be used again when it is back. */
const isIn = raw(`(c.state = 'approved' or (c.state = 'gone' and c.state_before = 'approved'))`);

const entries = select(entryFields);
const source = raw(`chats c left join users u on u.id = 'telegram:user:' || c.address`);

function entryOf({
  role,
  title,
  name,
  approvedBy: by,
  approvedAt: since,
  ...chat
}: Answer<typeof entryFields>): AccessEntry {
  const kind = isGroup(chat.address) ? 'group' : role === 'owner' ? 'owner' : 'user';
  return { ...chat, name: name ?? title, role: kind, by, since };
}

/** Newest first. */
function* listAccess({ limit, cursor }: PageQuery): Script<Page<AccessEntry>> {
  const after = cursor === null ? undefined : sql`c.id < ${positionOf('access', cursor)}`;
  const where = allOf(sql`c.provider = ${telegram}`, isIn, after);
  const { rows, next } = yield* page({
    limit,
    found: (max) => all(entries`from ${source} where ${where} order by c.id desc ${limited(max)}`),
    keyOf: ({ id }) => id,
  });
  return { items: rows.map(entryOf), next: next === null ? null : writeCursor('access', next) };
}

const threads = select({ ...pick(c, 'id', 'address', 'title', 'state', 'timezone'), name: u.name });

function* listThreads({ of, limit, cursor }: ThreadQuery): Script<Page<KnownThread>> {
  const chat = of === null ? undefined : yield* findRow(of);
  if (of !== null && chat === undefined) return { items: [], next: null };
  const after = cursor === null ? undefined : sql`c.id < ${positionOf('thread', cursor)}`;
  const where = allOf(sql`c.provider = ${telegram}`, chat && sql`c.id = ${chat.id}`, after, yield* seen(c.id.sql));
  const { rows, next } = yield* page({
    limit,
    found: (max) => all(threads`from ${source} where ${where} order by c.id desc ${limited(max)}`),
    keyOf: ({ id }) => id,
  });
  const items = rows.map(({ address, name, title, state, timezone }) => ({
    thread: telegramThread(address),
    title: name ?? title,
    state,
    timezone,
  }));
  return { items, next: next === null ? null : writeCursor('thread', next) };
}

function stands({ state, stateBefore }: ChatRow): boolean {
  return state === 'approved' || (state === 'gone' && stateBefore === 'approved');
}

function* letIn({ address, title, role, by, newId, at, traceId }: LettingIn): Script<LetIn> {
  const before = yield* chatOf({ provider: telegram, address }, newId, at);
  const wasIn = stands(before);
  const person = isGroup(address) ? null : actorAt(address);
  const kind = before.kind ?? (person === null ? 'supergroup' : 'private');
  yield* update('chats', { kind, title: before.title ?? title, updatedAt: at }, sql`id = ${before.id}`);
  if (!wasIn) yield* beginStanding(before, { approvedBy: by, approvedAt: at }, at);
  const stood = { address, role: yield* roleOf(person) };
  const isRoleChanged = person !== null && (yield* giveRole(person, role ?? 'keep', at));
  if (before.state === 'refused' && person !== null) yield* forgetOut(before.id, person, at);
  const isChanged = !wasIn || isRoleChanged;
  const after = { address, role: yield* roleOf(person) };
  const told = { ...(wasIn && { before: stood }), after };
  const entryId = isChanged
    ? yield* recordAccess({ at, actor: by, verb: 'allow', chatId: before.id, ...told, traceId })
    : null;
  const chat = readChat(yield* chatOf({ provider: telegram, address }, newId, at));
  const [row] = yield* all(entries`from ${source} where c.id = ${chat.id}`);
  if (row === undefined) throw missing('chat');
  return { chat, entry: entryOf(row), entryId };
}

/** A new group lives by the clocks of the person who lets it in, until somebody there says otherwise. */
function* takeZone({ id, settings }: ChatRow, by: Actor, at: number): Script<void> {
  if (!by.startsWith('telegram:user:')) return;
  const { timezone = null } = (yield* findRow({ provider: telegram, address: addressOf(by) })) ?? {};
  if (timezone !== null) yield* changeChat(id, { timezone, settings: { ...settings, zoneOf: by } }, at);
}

/** A chat that is gone stands again when it is back. */
function* beginStanding(
  chat: ChatRow,
  begin: { readonly approvedBy: Actor; readonly approvedAt: number },
  at: number,
): Script<void> {
  const { id, state, address, timezone } = chat;
  if (isGroup(address) && timezone === null) yield* takeZone(chat, begin.approvedBy, at);
  if (state === 'gone') yield* update('chats', { stateBefore: 'approved', ...begin }, sql`id = ${id}`);
  else yield* changeChat(id, { state: 'approved', ...begin }, at);
}

function* roleOf(person: Actor | null): Script<AccessEntry['role']> {
  if (person === null) return 'group';
  return (yield* readUser(person))?.role === 'owner' ? 'owner' : 'user';
}

/** True when it is another one than before. The last owner stays, because nobody else could let anybody in. */
function* giveRole(person: Actor, role: 'owner' | 'user' | 'keep', at: number): Script<boolean> {
  const known = yield* readUser(person);
  if (role === 'keep' || (known?.role ?? 'user') === role) return false;
  if (role === 'user') yield* keepAnOwner(person);
  yield* changeUser(person, { role }, at);
  return true;
}

function* keepAnOwner(person: Actor): Script<void> {
  yield* hold(sql`select id from users where role = 'owner' order by id ${forUpdate}`);
  const other = yield* one(
    select(pick(columns.users, 'id'))`from users where role = 'owner' and id <> ${person} ${limited(1)}`,
  );
  if (other !== undefined) return;
  throw new AppError('last_owner', 'This is the only owner of the bot, and stays one. Let another owner in first.');
}

/** Telegram is asked anew where they are, because nothing was heard of that meanwhile. */
function* forgetOut(chatId: string, person: Actor, at: number): Script<void> {
  yield* run(sql`delete from members where user_id = ${person} and status = 'out' and chat_id <> ${chatId}`);
  yield* noteMember({ chatId, userId: person, status: 'admin', checkedAt: at });
}

function* shutOut({ address, to, by, newId, at, traceId }: ShuttingOut): Script<ShutOut> {
  const before = yield* chatOf({ provider: telegram, address }, newId, at);
  const person = isGroup(address) ? null : actorAt(address);
  const role = yield* roleOf(person);
  if (role === 'owner' && person !== null) {
    if (to === 'refused') yield* keepAnOwner(person);
    yield* changeUser(person, { role: 'user' }, at);
  }
  // The chat that somebody else has approved for them stays so when the environment names them no more.
  const closes = to === 'refused' ? before.state !== to : stands(before) && before.approvedBy === person;
  const chat = { ...readChat(before), ...(closes ? { state: to, approvedBy: null } : {}) };
  if (!closes && role !== 'owner') return { chat, entryId: null, paused: 0 };
  const told = { at, actor: by, verb: 'deny' as const, chatId: before.id, before: { address, role }, traceId };
  const entryId = yield* recordAccess(told);
  if (!closes) return { chat, entryId, paused: 0 };
  const end = { approvedBy: null, approvedAt: null };
  if (to === 'new' && before.state === 'gone')
    yield* update('chats', { stateBefore: to, ...end }, sql`id = ${before.id}`);
  else yield* changeChat(before.id, { state: to, ...end }, at);
  if (to === 'refused') yield* closeFor(before.id, person, at);
  return { chat, entryId, paused: yield* pauseAll(before.id, by, at) };
}

/** The keys of a chat that is denied go at once. */
function* closeFor(chatId: string, person: Actor | null, at: number): Script<void> {
  yield* run(sql`delete from secrets where chat_id = ${chatId}`);
  if (person !== null) yield* leaveAll(chatId, person, at);
}

/** A person who is denied is out of every chat, whatever Telegram says of them there. */
function* leaveAll(chatId: string, person: Actor, at: number): Script<void> {
  const chats = yield* all(
    select(pick(columns.members, 'chatId'))`from (select chat_id from members where user_id = ${person}
      union select chat_id from tasks where owner_id = ${person}) known order by chat_id`,
  );
  for (const id of new Set([chatId, ...chats.map((known) => known.chatId)]))
    yield* noteMember({ chatId: id, userId: person, status: 'out', checkedAt: at });
}

const activeFields = { id: columnsOf('tasks', 't').id, lostBy: columnsOf('grants', 'g').revokedBy };

/** Tasks that people can change no more must not go on by themselves. Those of a person who is out wait for them. */
function* pauseAll(chatId: string, by: Actor, at: number): Script<number> {
  const active = yield* all(
    select(activeFields)`from tasks t join grants g on g.id = t.grant_id
      where t.chat_id = ${chatId} and t.state = 'active' order by t.id ${forUpdateOf('t')}`,
  );
  let paused = 0;
  for (const reason of ['manual', ownerGonePause]) {
    const those = active.filter(({ lostBy }) => (lostBy === left) === (reason === ownerGonePause));
    const ids = those.map(({ id }) => id);
    paused += (yield* pauseTasks(ids, { reason, guard: raw('1 = 1'), by }, at)).length;
  }
  return paused;
}
