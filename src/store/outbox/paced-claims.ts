import type { Paced, PacedClaim, PartsAsked } from '../../app/ports/outbox.ts';
import { isUnlimited, whenFree, type Rates } from '../../domain/pacing/pace.ts';
import type { Script } from '../engine/engine.ts';
import { columns, least, like, pick } from '../engine/fields.ts';
import { differing, joined, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { chosenParts, doubtLeftBehind, markClaimed } from './outbox.ts';
import {
  forgetIdle,
  lockedPurses,
  readPurses,
  isFree,
  lastServed,
  roomIn,
  setAside,
  writePurses,
  type Purses,
} from './pace.ts';
import type { PartRow } from './part-rows.ts';

/**
 * Claims by one of several processes. Of each chat one part is in the hands of all of them: the chats that a claim looks at are
 * its own until it is over, and those of which anybody has a part in hand are passed over. The pace is looked at first, and
 * held last, so nobody waits for the search of another.
 */
export const pacedClaimStore = { claimPaced };

/** A chat that was passed over because another process looked at it is looked at again so soon. */
const contendedMs = 25;
/** The end of a call of another process is told to nobody. */
const lookAgainMs = 100;

function* claimPaced({ busy, ...asked }: PartsAsked, paced: Paced): Script<PacedClaim> {
  const { now } = asked;
  const { rates, bootId } = paced;
  yield* doubtLeftBehind(now);
  const seen = yield* purses(rates, now);
  const room = Math.min(asked.limit, roomIn(seen, rates, now));
  if (room === 0) return { room, parts: [], held: [], freeAt: yield* whenAnyMay(seen, rates, now) };
  const held = yield* heldChats(now);
  const away = new Set([...busy, ...held, ...(yield* chatsInHand())]);
  const after = isUnlimited(rates) ? asked.after : lastServed(seen);
  const { parts, isContended } = yield* chosenParts({ ...asked, limit: room, after }, away, aloneIn);
  const going = isUnlimited(rates) ? parts : yield* setAsideFor(parts, paced, now);
  const claimed = yield* markClaimed(going, bootId, now);
  const soon = isContended || going.length < parts.length ? now + contendedMs : null;
  const freeAt = soonest(soon, yield* whenOthersMay(held.length > 0, now));
  return { room, parts: claimed, held, freeAt };
}

function* purses(rates: Rates, now: number): Script<Purses> {
  const seen = yield* readPurses([], rates, now);
  if (!seen.isAnyLeft) return seen;
  const settled = yield* lockedPurses([], rates, now);
  yield* writePurses(settled, rates);
  return settled;
}

/** Others may have set calls aside since the pace was looked at, and the call of a chat may have ended that was on its way then. */
function* setAsideFor(parts: readonly PartRow[], { bootId, rates }: Paced, now: number): Script<readonly PartRow[]> {
  if (parts.length === 0) return parts;
  const purses = yield* lockedPurses(
    parts.map(({ chatId }) => chatId),
    rates,
    now,
  );
  const free = parts.filter(({ chatId }) => isFree(purses, chatId, rates, now));
  const going = free.slice(0, roomIn(purses, rates, now));
  setAside(purses, going, bootId);
  yield* writePurses(purses, rates);
  yield* forgetIdle(rates, now);
  return going;
}

function soonest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** The end of a hold on all chats, if anybody waits for it. */
function* whenAnyMay({ all: total }: Purses, { overall }: Rates, now: number): Script<number | null> {
  const waiting = yield* one(
    select(
      pick(columns.deliveries, 'id'),
    )`from deliveries where status in ('pending', 'blocked', 'unknown') and ready_at <= ${now} limit 1`,
  );
  if (waiting === undefined) return null;
  const free = whenFree(total, overall);
  return free > now && free < Infinity ? Math.ceil(free) : now + lookAgainMs;
}

const heldFields = { chatId: like(columns.deliveries.chatId, raw('scope')) };

function* heldChats(now: number): Script<string[]> {
  const held = yield* all(select(heldFields)`from pace where free_at > ${now}`);
  return held.map(({ chatId }) => chatId);
}

/** The next chat that may be called again, of those in which something waits. */
function* whenOthersMay(isAnyHeld: boolean, now: number): Script<number | null> {
  if (!isAnyHeld) return null;
  const next = yield* one(
    select({ at: least(columns.pace.freeAt) })`from pace where free_at > ${now} and exists (select 1 from deliveries d
      where d.chat_id = pace.scope and d.status in ('pending', 'blocked') and d.ready_at <= ${now})`,
  );
  return next?.at ?? null;
}

const handFields = { chatId: columns.deliveries.chatId };

/** Chats of which a process that lives has a part in hand: on its way, making its topic, or looked for. */
function* chatsInHand(): Script<string[]> {
  const found = yield* all(
    select(handFields)`from deliveries d where d.boot_id is not null
      and d.status in ('pending', 'blocked', 'sending', 'unknown')
      and exists (select 1 from processes p where p.id = d.boot_id and p.ended_at is null) group by d.chat_id`,
  );
  return found.map(({ chatId }) => chatId);
}

/** Locks of chats that end with the transaction. A row that holds them would be waited for by whoever changes the chat. */
const lockSpace = 7_290_411;
const isLocked = differing({
  sqlite: '1 = 1',
  postgres: `pg_try_advisory_xact_lock(${lockSpace}, hashtext(column1))`,
});
const comma = raw(', ');
const askedFields = { chatId: like(columns.deliveries.chatId, raw('column1')) };

/** The lock comes first, in a statement of its own: only one that begins after it sees what the process before has committed. */
function* aloneIn(chats: readonly string[]): Script<readonly string[]> {
  const named: Sql = joined(
    chats.map((chatId) => sql`(${chatId})`),
    comma,
  );
  const locked = yield* all(select(askedFields)`from (values ${named}) as asked where ${isLocked}`);
  const inHand = new Set(yield* chatsInHand());
  return locked.flatMap(({ chatId }) => (inHand.has(chatId) ? [] : chatId));
}
