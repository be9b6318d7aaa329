import { keyUsedOtherwise, type Once, type AnswerStore } from '../../app/use-cases/kept-answers.ts';
import { AppError } from '../../domain/errors.ts';
import { row, write, type Script, rows, type Engine } from '../engine/engine.ts';

/**
 * Claims the key, or answers what the first call under it made. A racing call waits at the unique key until the first one
 * has committed. A key past its time is as good as new.
 */
export function* claimOnce(once: Once | null, now: number): Script<string | null> {
  if (once === null) return null;
  const fresh = yield* row(
    `insert into idempotency_keys (scope, key, payload_hash, result, created_at, expires_at)
     values (?t, ?t, ?t, '', ?i, ?i)
     on conflict (scope, key) do update set payload_hash = excluded.payload_hash, result = '',
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
  const known = yield* resultUnder(once, now);
  if (known === null) throw new AppError('internal', 'An idempotency key vanished.');
  return known;
}

/** What the first call under the key made; null when the key is free. Another payload under the same key is refused. */
export function* resultUnder(once: Once, now: number): Script<string | null> {
  const known = yield* row<{ payload_hash: string; result: string }>(
    `select payload_hash, result from idempotency_keys where scope = ?t and key = ?t and expires_at > ?i`,
    once.scope,
    once.key,
    now,
  );
  if (known === undefined) return null;
  refuseOtherPayload(once, known.payload_hash);
  return known.result;
}

function refuseOtherPayload(once: Once, payloadHash: string): void {
  if (payloadHash !== once.payloadHash) throw keyUsedOtherwise();
}

export function* settleOnce(once: Once | null, result: string): Script<void> {
  if (once === null) return;
  yield* write(`update idempotency_keys set result = ?t where scope = ?t and key = ?t`, result, once.scope, once.key);
}

/** What clients were told, beside the keys of what was done for them. */
export function answerStore(engine: Engine): AnswerStore {
  return {
    keptAnswer: (once, now) => engine.transact(() => keptAnswer(once, now)),
    keepAnswer: (once, answer, now) => engine.transactLightly(() => keepAnswer(once, answer, now)),
  };
}

function* keptAnswer(once: Once, now: number): Script<string | null> {
  const known = yield* row<{ payload_hash: string; answer: string | null }>(
    `select payload_hash, answer from idempotency_keys where scope = ?t and key = ?t and expires_at > ?i`,
    once.scope,
    once.key,
    now,
  );
  if (known === undefined) return null;
  refuseOtherPayload(once, known.payload_hash);
  return known.answer;
}

/** A key past its time is as good as new; else what was told first stays. */
function* keepAnswer(once: Once, answer: string, now: number): Script<void> {
  yield* rows(
    `insert into idempotency_keys (scope, key, payload_hash, result, answer, created_at, expires_at)
     values (?t, ?t, ?t, '', ?t, ?i, ?i)
     on conflict (scope, key) do update set payload_hash = excluded.payload_hash, answer = excluded.answer,
       created_at = excluded.created_at, expires_at = excluded.expires_at
     where idempotency_keys.expires_at <= excluded.created_at`,
    once.scope,
    once.key,
    once.payloadHash,
    answer,
    now,
    once.expiresAt,
  );
}
