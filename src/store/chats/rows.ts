import type { Chat, ChatState } from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { threadKeyOf, type Thread } from '../../domain/thread.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { readFacts } from '../tasks/codec.ts';

export const telegram = 'telegram';

export interface ChatRow {
  readonly id: string;
  readonly address: string;
  readonly title: string | null;
  readonly kind: string | null;
  readonly state: ChatState;
  readonly state_before: ChatState | null;
  readonly timezone: string | null;
  readonly settings: string;
  readonly approved_by: string | null;
  readonly last_number: number;
}

/** Settings that cannot be read are none: the defaults hold, and the next change of a setting mends the row. */
export function readChat(chat: ChatRow): Chat {
  return {
    id: chat.id,
    address: chat.address,
    title: chat.title,
    kind: chat.kind,
    state: chat.state,
    timezone: chat.timezone,
    settings: readFacts(chat.settings) ?? {},
    approvedBy: chat.approved_by as Actor | null,
  };
}

export type Place = Pick<Thread, 'provider' | 'address'>;

const lockTriesMax = 3;

/** The chat of a thread, under its lock; made when the thread is seen for the first time. */
export function* chatOf(thread: Place, newId: string, now: number): Script<ChatRow> {
  const known = yield* lockChat(thread);
  if (known !== undefined) return known;
  yield* rows(
    `insert into chats (id, provider, address, state, settings, last_number, created_at, updated_at)
     values (?t, ?t, ?t, 'new', '{}', 0, ?i, ?i) on conflict (provider, address) do nothing`,
    newId,
    thread.provider,
    thread.address,
    now,
    now,
  );
  yield* rows(
    `insert into chat_aliases (provider, address, chat_id, created_at)
     select provider, address, id, created_at from chats where provider = ?t and address = ?t
     on conflict (provider, address) do nothing`,
    thread.provider,
    thread.address,
  );
  let made = yield* lockChat(thread);
  // Whoever waited for a row that went into another one at that moment finds the other one when it looks again.
  for (let tries = 1; made === undefined && tries < lockTriesMax; tries += 1) made = yield* lockChat(thread);
  if (made === undefined) throw new AppError('internal', `No chat row for ${threadKeyOf({ ...thread, topic: null })}.`);
  return made;
}

const byAlias = `select c.* from chat_aliases a join chats c on c.id = a.chat_id where a.provider = ?t and a.address = ?t`;

/** Nobody changes its key, so rows that refer to it can be written meanwhile. */
export function* lockChat(place: Place): Script<ChatRow | undefined> {
  // A row that went into another one while this waited for it is not found; the second look finds the other one.
  return (yield* lockByAlias(place)) ?? (yield* lockByAlias(place));
}

function* lockByAlias({ provider, address }: Place): Script<ChatRow | undefined> {
  return yield* row<ChatRow>(`${byAlias} [for no key update of c]`, provider, address);
}

export function* findChat({ provider, address }: Place): Script<ChatRow | undefined> {
  return yield* row<ChatRow>(byAlias, provider, address);
}
