import { keyUsedOtherwise, type AnswerStore, type Once } from '../../app/use-cases/kept-answers.ts';
import { AppError } from '../../domain/errors.ts';
import { row, write, type Script, rows, type Engine } from '../engine/engine.ts';

/** A key has one row: what was done under it commits with the effect, and what its client was told joins it after that. */
export function answerStore(engine: Engine): AnswerStore {
  return {
    keptAnswer: (once, now) => engine.transact(() => keptAnswer(once, now)),
    keepAnswer: (once, answer, now) => engine.transactLightly(() => keepAnswer(once, answer, now)),
  };
}

/**
 * Claims the key, or answers what the first call under it made. A racing call waits at the unique key until the first one
 * has committed. A key past its time is as good as new.
 */
export function* claimOnce<T>(once: Once | null, now: number): Script<T | null> {
  if (once === null) return null;
  const fresh = yield* row(
    `insert into idempotency_keys (scope, key, payload_hash, result, created_at, expires_at)
     values (?t, ?t, ?t, '', ?i, ?i)
     on conflict (scope, key) do update set payload_hash = excluded.payload_hash, result = '', answer = null,
       created_at = excluded.created_at, expires_at = excluded.expires_at
     where idempotency_keys.expires_at <= excluded.created_at
     returning key`,
    once.scope,
    once.key,
    once.payloadHash,
    now,
    once.expiresAt,
  );
  if (fresh !== undefined) return null;
  const known = yield* resultUnder<T>(once, now);
  if (known === null) throw new AppError('internal', 'An idempotency key vanished.');
  return known;
}

/** What the first call under the key made; null when the key is free. */
export function* resultUnder<T>(once: Once, now: number): Script<T | null> {
  const known = yield* keptUnder(once, now);
  // What was told without a claim has its effect under a key of its own.
  return known === null || known.result === '' ? null : (JSON.parse(known.result) as T);
}

function* keptAnswer(once: Once, now: number): Script<string | null> {
  return (yield* keptUnder(once, now))?.answer ?? null;
}

interface KeptRow {
  readonly payload_hash: string;
  readonly result: string;
  readonly answer: string | null;
}

export function* settleOnce(once: Once | null, result: object): Script<void> {
  if (once === null) return;
  yield* write(
    `update idempotency_keys set result = ?t where scope = ?t and key = ?t`,
    JSON.stringify(result),
    once.scope,
    once.key,
  );
}

/** Another payload under the same key is refused. */
function* keptUnder(once: Once, now: number): Script<KeptRow | null> {
  const known = yield* row<KeptRow>(
    `select payload_hash, result, answer from idempotency_keys where scope = ?t and key = ?t and expires_at > ?i`,
    once.scope,
    once.key,
    now,
  );
  if (known === undefined) return null;
  if (known.payload_hash !== once.payloadHash) throw keyUsedOtherwise();
  return known;
}

/** A key past its time is as good as new; else what was told first stays. */
function* keepAnswer(once: Once, answer: string, now: number): Script<void> {
  yield* rows(
    `insert into idempotency_keys (scope, key, payload_hash, result, answer, created_at, expires_at)
     values (?t, ?t, ?t, '', ?t, ?i, ?i)
     on conflict (scope, key) do update set payload_hash = excluded.payload_hash, answer = excluded.answer,
       created_at = excluded.created_at, expires_at = excluded.expires_at
     where idempotency_keys.answer is null or idempotency_keys.expires_at <= excluded.created_at`,
    once.scope,
    once.key,
    once.payloadHash,
    answer,
    now,
    once.expiresAt,
  );
}
