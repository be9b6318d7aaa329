import type { ChatStore, Member, User } from '../../app/ports/chats.ts';
import { userIdOf, type Actor } from '../../domain/access.ts';
import { membershipFreshMs } from '../../domain/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, pick } from '../engine/fields.ts';
import { isOfTelegram } from '../engine/queries.ts';
import { reach } from '../engine/reach.ts';
import { forUpdate, limit as limited, sql } from '../engine/sql.ts';
import { all, hold, one, returning, run, select, update } from '../engine/statements.ts';
import { redrawWords } from '../outbox/standing.ts';
import { afterDeletion, left, letGoOn, lockUser, waitsForOwner } from '../tasks/grants.ts';

/** People, and in which chats they are. */
export const peopleStore = {
  noteUser,
  changeUser,
  readUser,
  listOwners,
  readMember,
  noteMember,
  isAwaited,
};
/** Asked each minute, so without a transaction around it. */
export const peopleReads = { staleMembers };

export const userFields = pick(columns.users, 'id', 'name', 'role', 'timezone');

export function* readUser(id: Actor): Script<User | null> {
  // People belong to no chat: whoever may read what one of them did there may read their name.
  yield* reach();
  return (yield* one(select(userFields)`from users where id = ${id}`)) ?? null;
}

function* listOwners(): Script<User[]> {
  return yield* all(select(userFields)`from users where role = 'owner' order by created_at, id`);
}

function* noteUser({ id, name }: Pick<User, 'id' | 'name'>, at: number): Script<User> {
  const known = yield* readUser(id);
  if (known !== null && (name === null || known.name === name)) return known;
  yield* lockUser(id, at);
  yield* update('users', { name: name ?? undefined, updatedAt: at }, sql`id = ${id}`);
  const noted = yield* readUser(id);
  return noted ?? { id, name, role: 'user', timezone: null };
}

export function* changeUser(id: Actor, change: Partial<Pick<User, 'role' | 'timezone'>>, at: number): Script<void> {
  yield* lockUser(id, at);
  yield* update('users', { ...change, updatedAt: at }, sql`id = ${id}`);
  if (change.role === undefined) return;
  // An owner has a right where they are no member, and loses it with the role.
  const { members } = columns;
  const out = yield* all(select(pick(members, 'chatId'))`from members where user_id = ${id} and status = 'out'`);
  for (const { chatId } of out) yield* applyMembership({ chatId, userId: id, isOut: change.role !== 'owner', at });
}

function* readMember(chatId: string, userId: Actor): Script<Member | null> {
  const { members } = columns;
  const fields = pick(members, 'chatId', 'userId', 'status', 'checkedAt');
  return (yield* one(select(fields)`from members where chat_id = ${chatId} and user_id = ${userId}`)) ?? null;
}

/**
 * An answer that is older than the one that is known says nothing. Answers overtake each other by seconds; one that is known
 * from far ahead was written down before the clock was set back. Whoever was denied is out, wherever they are.
 */
export function* noteMember({ chatId, userId, status: told, checkedAt }: Member): Script<boolean> {
  const status = told !== 'out' && (yield* isDenied(userId)) ? 'out' : told;
  // Two words about one person that come at the same moment are judged one after the other.
  const before = yield* one(
    select(pick(columns.members, 'status'))`from members
      where chat_id = ${chatId} and user_id = ${userId} ${forUpdate}`,
  );
  const noted = yield* all(
    returning(
      pick(columns.members, 'userId'),
      sql`insert into members (chat_id, user_id, status, checked_at) values (${chatId}, ${userId}, ${status}, ${checkedAt})
        on conflict (chat_id, user_id) do update set status = excluded.status, checked_at = excluded.checked_at
        where members.checked_at <= excluded.checked_at or members.checked_at > ${checkedAt + membershipFreshMs}`,
    ),
  );
  const isOut = status === 'out';
  if (noted.length === 0 || (before !== undefined && before.status !== 'out' && !isOut)) return false;
  return yield* applyMembership({ chatId, userId, isOut, at: checkedAt });
}

/** The private chat of a person has their number. */
function* isDenied(userId: Actor): Script<boolean> {
  const closed = yield* one(
    select(pick(columns.chats, 'id'))`from chats
      where provider = 'telegram' and address = ${String(userIdOf(userId) ?? '')} and state = 'refused'`,
  );
  return closed !== undefined;
}

interface Membership {
  readonly chatId: string;
  readonly userId: Actor;
  readonly isOut: boolean;
  readonly at: number;
}

/**
 * A member out of a chat has no right there, and gets back on return what was taken for that reason alone; tasks that
 * waited for that go on: true where there are any. The right of an owner comes from being one, and they may approve chats in which they are not.
 */
export function* applyMembership({ chatId, userId, isOut, at }: Membership): Script<boolean> {
  // A task that is being paused for this person is waited for, or it would wait for them for ever.
  yield* hold(sql`select id from tasks where owner_id = ${userId} and chat_id = ${chatId} order by id ${forUpdate}`);
  const mine = sql`id in (select t.grant_id from tasks t where t.owner_id = ${userId} and t.chat_id = ${chatId})`;
  if (isOut) {
    yield* update(
      'grants',
      { revokedAt: at, revokedBy: left },
      sql`${mine} and revoked_at is null
        and not exists (select 1 from users u where u.id = ${userId} and u.role = 'owner')`,
    );
    return false;
  }
  // The grant of a deleted task comes back with the task.
  yield* update(
    'grants',
    { revokedBy: afterDeletion },
    sql`revoked_by = ${left} and id in (select t.grant_id from tasks t
      where t.owner_id = ${userId} and t.chat_id = ${chatId} and t.state = 'deleted')`,
  );
  yield* update('grants', { revokedAt: null, revokedBy: null }, sql`${mine} and revoked_by = ${left}`);
  yield* run(sql`delete from told where chat_id = ${chatId} and word = 'owner_gone' and about = ${userId}`);
  yield* redrawWords(chatId, at);
  return yield* letGoOn(sql`owner_id = ${userId} and chat_id = ${chatId}`, at);
}

function* isAwaited(chatId: string, userId: Actor): Script<boolean> {
  const waits = yield* one(
    select(pick(columns.tasks, 'id'))`from tasks where owner_id = ${userId} and chat_id = ${chatId}
      and state in ('active', 'paused') and grant_id in (select g.id from grants g where g.revoked_by = ${left}) limit 1`,
  );
  return waits !== undefined;
}

type StaleMember = Awaited<ReturnType<ChatStore['staleMembers']>>[number];

const owning = columnsOf('tasks', 'owning');
const staleFields = { chatId: owning.chatId, address: columnsOf('chats', 'c').address, userId: owning.ownerId };

/**
 * Groups have negative addresses. Those come first about whom nothing is known, then those asked longest ago. Owners for
 * whom tasks wait are asked about too: where the bot is no admin, nobody tells it that they are back.
 */
function* staleMembers(until: number, staleAt: number, limit: number): Script<StaleMember[]> {
  const owners = sql`select chat_id, owner_id from tasks where next_at < ${until}
    union select chat_id, owner_id from tasks where ${waitsForOwner}`;
  return yield* all(
    select(staleFields)`from (${owners}) owning join chats c on c.id = owning.chat_id
        left join members m on m.chat_id = owning.chat_id and m.user_id = owning.owner_id
      where ${isOfTelegram} and c.address like '-%' and c.state <> 'gone'
        and owning.owner_id like 'telegram:user:%' and coalesce(m.checked_at, 0) < ${staleAt}
      order by coalesce(m.checked_at, 0), owning.chat_id, owning.owner_id ${limited(limit)}`,
  );
}
