import type { Context, MiddlewareHandler } from 'hono';
import type { KeptAnswer, Repeatable, Told, TellOnce } from '../app/use-cases/kept-answers.ts';
import { AppError } from '../domain/errors.ts';

/** Says that an answer is the one to an earlier request with the same key. */
export const replayedHeader = 'idempotency-replayed';

/** Puts within reach of every operation what it needs to tell the same again. */
export function repeats(tellOnce: TellOnce): MiddlewareHandler {
  return async (c, next) => {
    c.set('tellOnce', tellOnce);
    await next();
  };
}

/** Without a key everything is told anew. */
export async function toldOnce(
  c: Context,
  request: Omit<Repeatable, 'key'> & { readonly key: string | null },
  tell: () => Promise<KeptAnswer>,
): Promise<Told> {
  const { key } = request;
  if (key === null) return { ...(await tell()), isRepeated: false };
  const tellOnce = c.get('tellOnce') as TellOnce;
  const told = await tellOnce({ ...request, key }, tell);
  if (told.isRepeated) c.header(replayedHeader, 'true');
  return told;
}

/** A client that cannot set headers may send the key with its body, where there is a field for it. */
export function oneKey(inHeader: string | null, body: unknown): string | null {
  const inBody = textIn(body, 'idempotency_key');
  if (inHeader === null || inBody === null || inHeader === inBody) return inHeader ?? inBody;
  throw new AppError(
    'idempotency_key_mismatch',
    'The header Idempotency-Key and the field idempotency_key name different keys. Send one of them, or the same twice.',
    { details: { field: 'idempotency_key' } },
  );
}

/** What belongs to the key, and what the key is for: it says the same in either place, and each source has keys of its own. */
export function keyed(params: unknown, body: unknown): Pick<Repeatable, 'target' | 'payload'> {
  const source = textIn(body, 'source');
  const target = source === null ? params : [params, source];
  // An absent body asks for the same as an empty one.
  if (typeof body !== 'object' || body === null) return { target, payload: {} };
  const { idempotency_key: _key, ...payload } = body as Readonly<Record<string, unknown>>;
  return { target, payload };
}

function textIn(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : null;
}
