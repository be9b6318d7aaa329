import type { AnswerStore, Once } from '../../app/use-cases/kept-answers.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { refuseOtherPayload } from './once.ts';

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
