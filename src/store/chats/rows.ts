import type { Chat } from '../../app/ports/chats.ts';
import { AppError } from '../../domain/errors.ts';
import { threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, mapped, pick, type Answer } from '../engine/fields.ts';
import { reach, seen } from '../engine/reach.ts';
import { allOf, forShare, nothing, raw, sql, type Sql } from '../engine/sql.ts';
import { insert, one, run, select } from '../engine/statements.ts';
import { readFacts } from '../tasks/codec.ts';

export const telegram = 'telegram';

/** Over a table of chats under the alias, or by its own name. */
export function chatFieldsOf(alias?: string) {
  const c = columnsOf('chats', alias);
  return {
    ...pick(c, 'id', 'address', 'title', 'kind', 'state', 'timezone'),
    settings: mapped(c.settings, settingsIn),
    approvedBy: c.approvedBy,
  };
}

/** Settings that cannot be read are none: the defaults hold, and the next change of a setting mends the row. */
function settingsIn(text: string): Chat['settings'] {
  return readFacts(text) ?? {};
}

export const chatFields = chatFieldsOf();

const lockedFields = {
  ...chatFieldsOf('c'),
  ...pick(columnsOf('chats', 'c'), 'stateBefore', 'lastNumber', 'approvedAt', 'sharedTopic'),
};

export type ChatRow = Answer<typeof lockedFields>;

export type Place = Pick<Thread, 'provider' | 'address'>;

export function readChat(row: ChatRow): Chat {
  const { stateBefore: _before, lastNumber: _last, approvedAt: _since, sharedTopic: _shared, ...chat } = row;
  return chat;
}

const lockTriesMax = 3;

/** The chat of a thread, under its lock; made when the thread is seen for the first time. */
export function* chatOf(thread: Place, newId: string, now: number): Script<ChatRow> {
  const known = yield* lockChat(thread);
  if (known !== undefined) return known;
  // For a caller of some chats no other thread exists, nor comes to exist.
  if ((yield* reach()) !== null) throw unreached();
  const { provider, address } = thread;
  yield* insert(
    'chats',
    { id: newId, provider, address, state: 'new', settings: '{}', lastNumber: 0, createdAt: now, updatedAt: now },
    raw('on conflict (provider, address) do nothing'),
  );
  yield* run(sql`insert into chat_aliases (provider, address, chat_id, created_at)
    select provider, address, id, created_at from chats where provider = ${provider} and address = ${address}
    on conflict (provider, address) do nothing`);
  let made = yield* lockChat(thread);
  // A lock that waited for a row just joined to another one finds the other one when it looks again.
  for (let tries = 1; made === undefined && tries < lockTriesMax; tries += 1) made = yield* lockChat(thread);
  if (made === undefined) throw new AppError('internal', `No chat row for ${threadKeyOf({ ...thread, topic: null })}.`);
  return made;
}

function unreached(): AppError {
  return new AppError('not_found', 'There is no such thread, or the token does not hold for it.');
}

function* byAlias({ provider, address }: Place, lock: Sql): Script<ChatRow | undefined> {
  const where = allOf(sql`a.provider = ${provider} and a.address = ${address}`, yield* seen(raw('c.id')));
  return yield* one(
    select(lockedFields)`from chat_aliases a join chats c on c.id = a.chat_id
      where ${where} ${lock}`,
  );
}

const ofChat = forShare('c');

export function* lockChat(place: Place): Script<ChatRow | undefined> {
  // A row that went into another one while this waited for it is not found; the second look finds the other one.
  return (yield* byAlias(place, ofChat)) ?? (yield* byAlias(place, ofChat));
}

export function findChat(place: Place): Script<ChatRow | undefined> {
  return byAlias(place, nothing);
}
