import type { Claim, Lease } from '../../app/ports/upkeep.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, pick } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { all, insert, one, run, select } from '../engine/statements.ts';

/** Leases for work that one of several processes does at a time, and the code by which the first owner is known to all of them. */
export const leaseStore = { holdLease, endLease, openClaim, readClaim, noteWrongClaim, useClaim, reopenClaim };

const { kv } = columns;
const leases = 'lease';

/** A lease is taken that nobody has, or whose holder is gone. */
const takenOver = raw(`on conflict (scope, key) do update set value = excluded.value, expires_at = excluded.expires_at,
    updated_at = excluded.updated_at
  where kv.value = excluded.value or kv.expires_at <= excluded.updated_at
    or not exists (select 1 from processes p where p.id = kv.value and p.ended_at is null)`);

function* holdLease(
  name: string,
  bootId: string,
  { now, ms }: { readonly now: number; readonly ms: number | null },
): Script<Lease> {
  const lease = { scope: leases, key: name, value: bootId, expiresAt: ms === null ? null : now + ms, updatedAt: now };
  if (yield* insert('kv', lease, takenOver)) return { isMine: true, until: lease.expiresAt ?? now };
  const held = yield* one(select(pick(kv, 'expiresAt'))`from kv where scope = ${leases} and key = ${name}`);
  return { isMine: false, until: held?.expiresAt ?? now };
}

function* endLease(name: string, bootId: string): Script<void> {
  yield* run(sql`delete from kv where scope = ${leases} and key = ${name} and value = ${bootId}`);
}

const claims = 'claim';
const codeKey = 'code';
const usedKey = 'used';

function* openClaim(hash: string, now: number): Script<void> {
  yield* run(sql`delete from kv where scope = ${claims}`);
  yield* insert('kv', { scope: claims, key: codeKey, value: hash, updatedAt: now });
}

function* readClaim(): Script<Claim | null> {
  const noted = yield* all(
    select(pick(kv, 'key', 'value'))`from kv where scope = ${claims} and key in (${codeKey}, ${usedKey})`,
  );
  const code = noted.find(({ key }) => key === codeKey);
  if (code === undefined) return null;
  return { hash: code.value, isUsed: noted.length > 1, wrong: yield* wrongClaims() };
}

function* wrongClaims(): Script<number> {
  const wrong = yield* one(select({ count })`from kv where scope = ${claims} and key not in (${codeKey}, ${usedKey})`);
  return wrong?.count ?? 0;
}

/** An update that Telegram brings again is the same try. */
function* noteWrongClaim(updateId: number, now: number): Script<number> {
  const wrong = { scope: claims, key: String(updateId), value: '', updatedAt: now };
  yield* insert('kv', wrong, raw('on conflict (scope, key) do nothing'));
  return yield* wrongClaims();
}

function* useClaim(now: number): Script<boolean> {
  const used = { scope: claims, key: usedKey, value: '', updatedAt: now };
  return yield* insert('kv', used, raw('on conflict (scope, key) do nothing'));
}

function* reopenClaim(): Script<void> {
  yield* run(sql`delete from kv where scope = ${claims} and key = ${usedKey}`);
}
