import type { UpkeepStore } from '../../app/ports/upkeep.ts';
import type { Twice } from '../../app/ports/why.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';

const scope = 'system';

/** Notes of the product to itself, and what keeping the place in order needs. */
export function upkeepStore(engine: Engine): UpkeepStore {
  return {
    readNote: (key) => engine.transact(() => readNote(key)),
    writeNote: (key, value, now) => engine.transact(() => writeNote(key, value, now)),
    shiftClock: (byMs) => engine.transact(() => shiftClock(byMs)),
    noteSetBack: (twice) => engine.transact(() => noteSetBack(twice)),
    ping: (now) => engine.transact(() => writeNote('ping', String(now), now)),
  };
}

export function* readNote(key: string): Script<string | null> {
  const found = yield* row<{ value: string }>(`select value from kv where scope = ?t and key = ?t`, scope, key);
  return found?.value ?? null;
}

export function* writeNote(key: string, value: string, now: number): Script<void> {
  yield* rows(
    `insert into kv (scope, key, value, updated_at) values (?t, ?t, ?t, ?i)
     on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at`,
    scope,
    key,
    value,
    now,
  );
}

/** Set-backs that are kept: a clock that is set more often than this in the time of the records tells no truth at all. */
const setBacksMax = 100;

export function* noteSetBack({ from, to }: Twice): Script<void> {
  yield* rows(`insert into set_backs (from_at, to_at) values (?i, ?i)`, from, to);
  yield* rows(`delete from set_backs where id <= (select max(id) from set_backs) - ?i`, setBacksMax);
}

/** Slots and the ends of quiet hours stay where they are, because they mean what the clock on the wall says; pauses measured from "now" move along. */
function* shiftClock(byMs: number): Script<void> {
  yield* rows(`update runs set ready_at = ready_at + ?i where status in ('queued', 'backoff')`, byMs);
  yield* rows(
    `update deliveries set ready_at = ready_at + ?i
     where status in ('pending', 'blocked') and ready_at is not null and (held_until is null or ready_at < held_until)`,
    byMs,
  );
  // A part that waits for a person's word has no instant of its own, but it holds its thread from the time it was sent;
  // and one that is on its way may be looked for later.
  yield* rows(
    `update deliveries set ready_at = ready_at + ?i, sent_at = sent_at + ?i where status in ('unknown', 'sending')`,
    byMs,
    byMs,
  );
  yield* rows(`update acks set nag_at = nag_at + ?i where status = 'open' and nag_at is not null`, byMs);
  yield* rows(`update tasks set topic_asked_at = topic_asked_at + ?i where topic_state = 'creating'`, byMs);
  yield* rows(`update kv set expires_at = expires_at + ?i where scope = 'hold'`, byMs);
  // Or what was said about somebody with the old clock would be believed until the old hour comes again.
  yield* rows(`update members set checked_at = checked_at + ?i`, byMs);
}
