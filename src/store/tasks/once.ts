import { keyUsedOtherwise, type Once } from '../../app/use-cases/kept-answers.ts';
import { AppError } from '../../domain/errors.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick, type Answer } from '../engine/fields.ts';
import { raw, sql, type Sql } from '../engine/sql.ts';
import { insert, one, select, update } from '../engine/statements.ts';

/** A key has one row: what was done under it commits with the effect, and what its client was told joins it after that. */
export const answerStore = { keptAnswer };

/**
 * Claims the key, or answers what the first call under it made. A racing call waits at the unique key until the first one
 * has committed. A key past its time is as good as new.
 */
export function* claimOnce<T>(once: Once | null, now: number): Script<T | null> {
  if (once === null) return null;
  const isFresh = yield* insert(
    'idempotencyKeys',
    { ...once, result: '', createdAt: now },
    raw(`on conflict (scope, target, key) do update set payload_hash = excluded.payload_hash, result = '', answer = null,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      where idempotency_keys.expires_at <= excluded.created_at`),
  );
  if (isFresh) return null;
  const known = yield* resultUnder<T>(once, now);
  if (known === null) throw new AppError('internal', 'An idempotency key vanished.');
  return known;
}

/** The result of the first call under the key; null when the key is free. */
export function* resultUnder<T>(once: Once, now: number): Script<T | null> {
  const known = yield* keptUnder(once, now);
  // A call told without a claim has its effect under a key of its own.
  return known === null || known.result === '' ? null : (JSON.parse(known.result) as T);
}

function* keptAnswer(once: Once, now: number): Script<string | null> {
  return (yield* keptUnder(once, now))?.answer ?? null;
}

export function* settleOnce(once: Once | null, result: object): Script<void> {
  if (once === null) return;
  yield* update('idempotencyKeys', { result: JSON.stringify(result) }, under(once));
}

const keptFields = pick(columns.idempotencyKeys, 'payloadHash', 'result', 'answer');

function under({ scope, target, key }: Once): Sql {
  return sql`scope = ${scope} and target = ${target} and key = ${key}`;
}

/** Another payload under the same key is refused. */
function* keptUnder(once: Once, now: number): Script<Answer<typeof keptFields> | null> {
  const known = yield* one(select(keptFields)`from idempotency_keys where ${under(once)} and expires_at > ${now}`);
  if (known === undefined) return null;
  if (known.payloadHash !== once.payloadHash) throw keyUsedOtherwise();
  return known;
}

/** A key past its time is as good as new; else what was told first stays. */
export function* keepAnswer(once: Once, answer: string, now: number): Script<void> {
  yield* insert(
    'idempotencyKeys',
    { ...once, result: '', answer, createdAt: now },
    raw(`on conflict (scope, target, key) do update set payload_hash = excluded.payload_hash, answer = excluded.answer,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      where idempotency_keys.answer is null or idempotency_keys.expires_at <= excluded.created_at`),
  );
}
