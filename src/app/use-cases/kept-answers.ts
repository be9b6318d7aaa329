import { AppError, errorText } from '../../domain/errors.ts';
import { idempotencyRetentionMs } from '../../domain/limits.ts';
import type { World } from '../ports/outside.ts';

/** A request that must not be done twice: the same key with another payload is refused. */
export interface Once {
  /** The verb or the operation, and what it is about: a task, or the digest of a target; empty where it makes something. */
  readonly scope: string;
  readonly target: string;
  readonly key: string;
  readonly payloadHash: string;
  readonly expiresAt: number;
}

export interface AnswerStore {
  /** The first answer under the key; null when nothing was. Another payload under the same key is refused. */
  keptAnswer(once: Once, now: number): Promise<string | null>;
  /** Keeps what is told now, beside what was done, unless something was told before. */
  keepAnswer(once: Once, answer: string, now: number): Promise<void>;
}

/** An answer as its client was told it, and is told it again for the same key, byte for byte. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** A request that a client may send again. What it asks for is told by its operation, its target and its payload. */
export interface Repeatable {
  readonly operation: string;
  readonly target: unknown;
  readonly payload: unknown;
  readonly key: string;
}

export interface GivenAnswer extends KeptAnswer {
  readonly isRepeated: boolean;
}

/** Tells once, and tells the same again. The effect is to commit with the key that `tell` is given. */
export type TellOnce = (request: Repeatable, tell: (once: Once) => Promise<KeptAnswer>) => Promise<GivenAnswer>;

type KeptAnswersDeps = Pick<World, 'clock' | 'digest' | 'log'> & { readonly store: AnswerStore };

/**
 * The effect of a request commits with its key, so it can never come twice, whatever becomes of the answer. The answer joins
 * it after that; when the process dies in between, the repetition is told what was done, as it stands by then. While the
 * first request is at work in this process a second one is sent away; in another process it waits for the commit of the
 * first. A refusal is not kept: nothing was done, and by the next time it may be possible.
 */
export function createKeptAnswers({ store, clock, digest, log }: KeptAnswersDeps): TellOnce {
  const atWork = new Map<string, string>();

  const keep = async (once: Once, answer: KeptAnswer) => {
    try {
      await store.keepAnswer(once, JSON.stringify(answer), clock.now());
    } catch (error) {
      // The deed is done, and the client is told so all the same.
      log.warn('answer_not_kept', { scope: once.scope, error: errorText(error) });
    }
  };

  const tellFirst = async (once: Once, tell: (once: Once) => Promise<KeptAnswer>): Promise<GivenAnswer> => {
    const kept = await store.keptAnswer(once, clock.now());
    if (kept !== null) return { ...(JSON.parse(kept) as KeptAnswer), isRepeated: true };
    const answer = await tell(once);
    await keep(once, answer);
    return { ...answer, isRepeated: false };
  };

  return async ({ operation, target, payload, key }, tell) => {
    const once: Once = {
      scope: `answer:${operation}`,
      target: digest.of(canonical(target)),
      key,
      payloadHash: digest.of(canonical(payload)),
      expiresAt: clock.now() + idempotencyRetentionMs,
    };
    const name = JSON.stringify([once.scope, once.target, key]);
    const other = atWork.get(name);
    if (other !== undefined) throw other === once.payloadHash ? inProgress() : keyUsedOtherwise();
    atWork.set(name, once.payloadHash);
    try {
      return await tellFirst(once, tell);
    } finally {
      atWork.delete(name);
    }
  };
}

/** Clients may write the fields of one request in any order. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_name, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? ''
  );
}

function inProgress(): AppError {
  return new AppError(
    'request_in_progress',
    'The first request with this Idempotency-Key is still at work. Send it again in a moment to be told its answer.',
  );
}

export function keyUsedOtherwise(): AppError {
  return new AppError(
    'idempotency_mismatch',
    'This Idempotency-Key was used before with another request; use a new key for a new request.',
  );
}
