import type { ChatStore, Member, User } from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
import { membershipFreshMs } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { afterDeletion, left } from '../tasks/grants.ts';
import { lockUser } from '../tasks/quota.ts';

type PeopleStore = Pick<
  ChatStore,
  'noteUser' | 'changeUser' | 'readUser' | 'listOwners' | 'readMember' | 'noteMember' | 'staleMembers'
>;

/** People, and in which chats they are. */
export function peopleStore(engine: Engine): PeopleStore {
  return {
    noteUser: (user, at) => engine.transact(() => noteUser(user, at)),
    changeUser: (id, change, at) => engine.transact(() => changeUser(id, change, at)),
    readUser: (id) => engine.transact(() => readUser(id)),
    listOwners: () => engine.transact(() => rows<User>(`${userColumns} where role = 'owner' order by created_at, id`)),
    readMember: (chatId, userId) => engine.transact(() => readMember(chatId, userId)),
    noteMember: (member) => engine.transact(() => noteMember(member)),
    staleMembers: (until, staleAt, limit) => engine.transact(() => staleMembers({ until, staleAt, limit })),
  };
}

const userColumns = `select id, name, role, timezone from users`;

function* readUser(id: Actor): Script<User | null> {
  return (yield* row<User>(`${userColumns} where id = ?t`, id)) ?? null;
}

function* noteUser({ id, name }: Pick<User, 'id' | 'name'>, at: number): Script<User> {
  const known = yield* readUser(id);
  if (known !== null && (name === null || known.name === name)) return known;
  yield* lockUser(id, at);
  yield* rows(`update users set name = coalesce(?t, name), updated_at = ?i where id = ?t`, name, at, id);
  const noted = yield* readUser(id);
  return noted ?? { id, name, role: 'user', timezone: null };
}

function* changeUser(id: Actor, change: Partial<Pick<User, 'role' | 'timezone'>>, at: number): Script<void> {
  yield* lockUser(id, at);
  if (change.role !== undefined) {
    yield* rows(`update users set role = ?t, updated_at = ?i where id = ?t`, change.role, at, id);
  }
  if (change.timezone !== undefined) {
    yield* rows(`update users set timezone = ?t, updated_at = ?i where id = ?t`, change.timezone, at, id);
  }
}

function* readMember(chatId: string, userId: Actor): Script<Member | null> {
  const found = yield* row<Member>(
    `select chat_id as "chatId", user_id as "userId", status, checked_at as "checkedAt" from members
     where chat_id = ?t and user_id = ?t`,
    chatId,
    userId,
  );
  return found ?? null;
}

/**
 * An answer that is older than the one that is known says nothing. Answers overtake each other by seconds; one that is known
 * from far ahead was written down before the clock was set back.
 */
function* noteMember({ chatId, userId, status, checkedAt }: Member): Script<void> {
  // Two words about one person that come at the same moment are judged one after the other.
  const before = yield* row<{ status: string }>(
    `select status from members where chat_id = ?t and user_id = ?t [for update]`,
    chatId,
    userId,
  );
  const noted = yield* rows(
    `insert into members (chat_id, user_id, status, checked_at) values (?t, ?t, ?t, ?i)
     on conflict (chat_id, user_id) do update set status = excluded.status, checked_at = excluded.checked_at
     where members.checked_at <= excluded.checked_at or members.checked_at > ?i returning user_id`,
    chatId,
    userId,
    status,
    checkedAt,
    checkedAt + membershipFreshMs,
  );
  const isOut = status === 'out';
  if (noted.length === 0 || (before !== undefined && before.status !== 'out' && !isOut)) return;
  yield* applyMembership({ chatId, userId, isOut, at: checkedAt });
}

interface Membership {
  readonly chatId: string;
  readonly userId: Actor;
  readonly isOut: boolean;
  readonly at: number;
}

/**
 * Whoever is out of a chat has no right there, and gets back on return what was taken for that reason alone. The right of
 * an owner comes from being one, and they may approve chats in which they are not.
 */
export function* applyMembership({ chatId, userId, isOut, at }: Membership): Script<void> {
  const mine = `id in (select t.grant_id from tasks t where t.owner_id = ?t and t.chat_id = ?t)`;
  if (isOut) {
    yield* rows(
      `update grants set revoked_at = ?i, revoked_by = '${left}' where ${mine} and revoked_at is null
         and not exists (select 1 from users u where u.id = ?t and u.role = 'owner')`,
      at,
      userId,
      chatId,
      userId,
    );
    return;
  }
  // The grant of a deleted task comes back with the task.
  yield* rows(
    `update grants set revoked_by = '${afterDeletion}' where revoked_by = '${left}'
       and id in (select t.grant_id from tasks t where t.owner_id = ?t and t.chat_id = ?t and t.state = 'deleted')`,
    userId,
    chatId,
  );
  yield* rows(
    `update grants set revoked_at = null, revoked_by = null where ${mine} and revoked_by = '${left}'`,
    userId,
    chatId,
  );
}

interface Stale {
  readonly until: number;
  readonly staleAt: number;
  readonly limit: number;
}

type StaleMember = Awaited<ReturnType<ChatStore['staleMembers']>>[number];

/** Groups have negative addresses. Those come first about whom nothing is known, then those asked longest ago. */
function* staleMembers({ until, staleAt, limit }: Stale): Script<StaleMember[]> {
  return yield* rows<StaleMember>(
    `select t.chat_id as "chatId", c.address, t.owner_id as "userId"
     from tasks t join chats c on c.id = t.chat_id
       left join members m on m.chat_id = t.chat_id and m.user_id = t.owner_id
     where t.next_at < ?i and c.provider = 'telegram' and c.address like '-%' and c.state <> 'gone'
       and t.owner_id like 'telegram:user:%' and coalesce(m.checked_at, 0) < ?i
     group by t.chat_id, c.address, t.owner_id, m.checked_at
     order by coalesce(m.checked_at, 0), t.chat_id, t.owner_id limit ?i`,
    until,
    staleAt,
    limit,
  );
}
