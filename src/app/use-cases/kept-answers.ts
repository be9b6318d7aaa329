import { AppError, errorText } from '../../domain/errors.ts';
import { idempotencyRetentionMs } from '../../domain/limits.ts';
import type { Clock, Digest, Log } from '../ports/outside.ts';

/** What the outside of a request must not do twice. */
export interface Once {
  readonly scope: string;
  readonly key: string;
  readonly payloadHash: string;
  readonly expiresAt: number;
}

/** What a client was told, and is told again for the same key, byte for byte. */
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

export interface AnswerStore {
  /** What was told first under the key; null when nothing was. Another payload under the same key is refused. */
  keptAnswer(once: Once, now: number): Promise<string | null>;
  /** Keeps what is told now, unless something was told before. */
  keepAnswer(once: Once, answer: string, now: number): Promise<void>;
}

export interface Told extends KeptAnswer {
  readonly isRepeated: boolean;
}

/** Tells once, and tells the same again. */
export type TellOnce = (request: Repeatable, tell: () => Promise<KeptAnswer>) => Promise<Told>;

interface Needs {
  readonly store: AnswerStore;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
}

/**
 * The effect of a request commits with its key, so it can never come twice, whatever becomes of the answer. The answer is
 * kept after that; when the process dies in between, the repetition is told how things stand by then. While the first
 * request is at work in this process a second one is sent away; in another process it waits for the commit of the first.
 * A refusal is not kept: nothing was done, and by the next time it may be possible.
 */
export function createKeptAnswers({ store, clock, digest, log }: Needs): TellOnce {
  const atWork = new Map<string, string>();

  const keep = async (once: Once, answer: KeptAnswer) => {
    try {
      await store.keepAnswer(once, JSON.stringify(answer), clock.now());
    } catch (error) {
      // It is done, and whoever asked for it is told so all the same.
      log.warn('answer_not_kept', { scope: once.scope, error: errorText(error) });
    }
  };

  const tellFirst = async (once: Once, tell: () => Promise<KeptAnswer>): Promise<Told> => {
    const kept = answerIn(await store.keptAnswer(once, clock.now()));
    if (kept !== null) return { ...kept, isRepeated: true };
    const answer = await tell();
    await keep(once, answer);
    return { ...answer, isRepeated: false };
  };

  return async ({ operation, target, payload, key }, tell) => {
    const once: Once = {
      scope: `answer:${operation}:${digest.of(canonical(target))}`,
      key,
      payloadHash: digest.of(canonical(payload)),
      expiresAt: clock.now() + idempotencyRetentionMs,
    };
    const name = JSON.stringify([once.scope, key]);
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

/** An answer that another version wrote in another way is as good as none. */
function answerIn(text: string | null): KeptAnswer | null {
  if (text === null) return null;
  try {
    const { status, body } = JSON.parse(text) as { readonly status?: unknown; readonly body?: unknown };
    return typeof status === 'number' && typeof body === 'string' ? { status, body } : null;
  } catch {
    return null;
  }
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
