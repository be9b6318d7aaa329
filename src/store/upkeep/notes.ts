import type { Twice } from '../../app/ports/why.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { insert, one, run, select } from '../engine/statements.ts';

const scope = 'system';

/** Notes of the product to itself, and what keeping the place in order needs. */
export const upkeepStore = { readNote, writeNote, shiftClock, noteSetBack, ping };

export function* readNote(key: string): Script<string | null> {
  const found = yield* one(select(pick(columns.kv, 'value'))`from kv where scope = ${scope} and key = ${key}`);
  return found?.value ?? null;
}

export function* writeNote(key: string, value: string, now: number): Script<void> {
  yield* insert(
    'kv',
    { scope, key, value, updatedAt: now },
    raw('on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at'),
  );
}

function* ping(now: number): Script<void> {
  yield* writeNote('ping', String(now), now);
}

/** Set-backs that are kept: a clock that is set more often than this in the time of the records tells no truth at all. */
const setBacksMax = 100;

export function* noteSetBack({ from, to }: Twice): Script<void> {
  yield* insert('setBacks', { fromAt: from, toAt: to });
  yield* run(sql`delete from set_backs where id <= (select max(id) from set_backs) - ${setBacksMax}`);
}

/** Slots and the ends of quiet hours stay where they are, because they mean what the clock on the wall says; pauses measured from "now" move along. */
function* shiftClock(byMs: number): Script<void> {
  yield* run(sql`update runs set ready_at = ready_at + ${byMs} where status in ('queued', 'backoff')`);
  yield* run(
    sql`update deliveries set ready_at = ready_at + ${byMs}
      where status in ('pending', 'blocked') and ready_at is not null and (held_until is null or ready_at < held_until)`,
  );
  // A part that waits for a person's word has no instant of its own, but it holds its thread from the time it was sent;
  // and one that is on its way may be looked for later.
  yield* run(
    sql`update deliveries set ready_at = ready_at + ${byMs}, sent_at = sent_at + ${byMs}
      where status in ('unknown', 'sending')`,
  );
  yield* run(sql`update acks set nag_at = nag_at + ${byMs} where status = 'open' and nag_at is not null`);
  yield* run(sql`update tasks set topic_asked_at = topic_asked_at + ${byMs} where topic_state = 'creating'`);
  yield* run(sql`update kv set expires_at = expires_at + ${byMs} where scope = 'hold'`);
  // Or what was said about somebody with the old clock would be believed until the old hour comes again.
  yield* run(sql`update members set checked_at = checked_at + ${byMs}`);
}
