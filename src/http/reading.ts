import type { Context } from 'hono';
import { ZodArray, ZodDefault, ZodObject, type z } from 'zod';
import type { Operation } from '../api/operation.ts';
import { AppError, missing } from '../domain/errors.ts';
import { idempotencyKeyLengthMax, requestBytesMax } from '../domain/limits.ts';
import { refusal } from './errors.ts';

/** Settings made by hand are never nested deeper, and everything that walks a value later may do so without a thought of its stack. */
const depthMax = 32;
/** An id has 36 characters; whatever is no id at all is as unknown as one that was never given. */
const idShape = /^[\w-]{1,64}$/;
const keyShape = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyKeyLengthMax}}$`);

/** The parameters of the path. An id that cannot exist gets the same answer as one that does not. */
export function readParams(c: Context, schema: z.ZodType): unknown {
  const params: Readonly<Record<string, string>> = c.req.param();
  for (const [name, value] of Object.entries(params)) {
    // In the words of the use cases, so that the answer does not tell which texts have the shape of an id.
    if (name.endsWith('_id') && !idShape.test(value)) throw missing(name.slice(0, -'_id'.length));
  }
  return checked(schema, sound(params));
}

/** An empty parameter counts as absent, so that a form can send all of its fields. */
export function readQuery(c: Context, schema: z.ZodType): unknown {
  const found = new Map<string, string | readonly string[] | undefined>();
  const { searchParams } = new URL(c.req.url);
  for (const [name, value] of searchParams) {
    if (isMany(schema, name)) {
      found.set(
        name,
        searchParams.getAll(name).filter((one) => one !== ''),
      );
      continue;
    }
    if (found.has(name)) throw refusal([name], 'it stands twice; send it once');
    found.set(name, value === '' ? undefined : value);
  }
  return checked(schema, sound(Object.fromEntries(found)));
}

/** A parameter whose schema is a list may stand there several times; every other one is a slip. */
function isMany(schema: z.ZodType, name: string): boolean {
  const field: unknown = schema instanceof ZodObject ? schema.shape[name] : undefined;
  return field instanceof ZodDefault && field.unwrap() instanceof ZodArray;
}

/** A body is one JSON object; an absent one is `undefined`, which only some requests allow. */
export async function readBody(c: Context, schema: z.ZodType, limits: BodyLimits): Promise<unknown> {
  const text = await bodyText(c, limits);
  if (text === '') return checked(schema, undefined);
  checkType(c.req.header('content-type') ?? '');
  return checked(schema, sound(parsed(text)));
}

const jsonType = /^application\/json\s*(?:;|$)/i;
const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i;

function checkType(type: string): void {
  const isJson = jsonType.test(type);
  if (isJson && /^utf-?8$/i.test(charset.exec(type)?.[1] ?? 'utf-8')) return;
  const problem = isJson ? 'Send the body in UTF-8' : 'Send the body as JSON';
  throw new AppError('unsupported_media_type', `${problem}, with the header content-type: application/json.`);
}

export function readIdempotencyKey(c: Context): string | null {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return null;
  if (keyShape.test(key)) return key;
  throw refusal(['Idempotency-Key'], `it has 1 to ${idempotencyKeyLengthMax} visible ASCII characters`);
}

/** Refuses a target whose percent signs do not stand for text, before anything reads half of it. */
export function checkTarget(url: string): void {
  try {
    decodeURIComponent(url);
  } catch {
    throw new AppError(
      'invalid_request',
      'The URL has a percent sign that does not begin an encoded UTF-8 character; write %25 for a percent sign.',
    );
  }
}

function parsed(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError('invalid_request', 'The body is not JSON.', { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new AppError('invalid_request', 'The body is a JSON object: {...}.');
}

/** Refuses what no field may hold: it would not survive a database, a copy or a walk. */
function sound(value: unknown, path: readonly string[] = []): unknown {
  const problem = problemOf(value, path);
  if (problem !== null) throw refusal(path, problem);
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) sound(inner, [...path, name]);
  return value;
}

function problemOf(value: unknown, path: readonly string[]): string | null {
  const name = path.at(-1) ?? '';
  if (path.length > depthMax) return `a request is at most ${depthMax} levels deep`;
  if (name === '__proto__' || textProblem(name) !== null) return 'this name of a field is not allowed';
  if (typeof value === 'string') return textProblem(value);
  return typeof value === 'number' && !isExact(value)
    ? 'the number is too large to be kept exactly; send it as a text'
    : null;
}

/** Past this whole numbers have gaps: an id that is sent as one would be kept as another. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function textProblem(text: string): string | null {
  if (text.includes('\0')) return 'a text has no NUL character; take it out, so that "a\\u0000b" becomes "ab"';
  return /\p{Surrogate}/u.test(text) ? 'a text is valid Unicode; this one has half of a surrogate pair' : null;
}

function checked(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw issue === undefined ? refusal([], 'the request cannot be read') : faultOfIssue(issue, value);
}

function faultOfIssue(issue: z.core.$ZodIssue, root: unknown): AppError {
  if (issue.code === 'unrecognized_keys') return refusal([...issue.path, issue.keys[0] ?? ''], issue.message);
  if (root === undefined) return refusal([], 'this request needs a body, a JSON object');
  if (issue.path.length > 0 && valueAt(root, issue.path) === undefined) return refusal(issue.path, 'it is missing');
  return refusal(issue.path, lower(issue.message.replace(/^Invalid input: /, '')));
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Readonly<Record<PropertyKey, unknown>>)[key] : undefined,
    root,
  );
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}

/** The text of the body, never holding more than the limit, whether or not its length was declared. */
async function bodyText(c: Context, limits: BodyLimits): Promise<string> {
  const bytes = await readBytes(c, limits);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new AppError('invalid_request', 'The body is not UTF-8.', { cause: error });
  }
}

/** The largest body of an operation, and what is said of one that is only larger than usual. */
type BodyLimits = Pick<Operation, 'bodyMax' | 'large'>;

async function readBytes(c: Context, { bodyMax: max = requestBytesMax, large }: BodyLimits): Promise<Uint8Array> {
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (!/^identity$/i.test(encoding)) {
    throw new AppError('unsupported_media_type', 'Send the body as it is, without a content-encoding such as gzip.');
  }
  const declared = c.req.header('content-length');
  if (declared !== undefined && Number(declared) > max) throw tooLarge(max);
  welcome(c);
  try {
    const isFramed = declared !== undefined && c.req.header('transfer-encoding') === undefined;
    const isUsual = isFramed && Number(declared) <= requestBytesMax;
    return isUsual ? new Uint8Array(await c.req.raw.arrayBuffer()) : await readStream(c.req.raw.body, max, large);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', 'The body ended before it was complete.', { cause: error });
  }
}

/** A client that asks first whether its body is welcome hears so only now, when its token and its path were looked at. */
function welcome(c: Context): void {
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: { writeContinue(): void } };
  if (/^100-continue$/i.test(c.req.header('expect') ?? '')) outgoing?.writeContinue();
}

/** Of a body that nothing here can use the rest is read and let go, so that its client hears why it is refused. */
async function readStream(
  stream: AsyncIterable<Uint8Array> | null,
  max: number,
  large: BodyLimits['large'],
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength;
    if (size > max) throw tooLarge(max);
    if (large === undefined || size <= requestBytesMax) chunks.push(chunk);
  }
  if (large !== undefined && size > requestBytesMax) throw unused(large);
  return Buffer.concat(chunks);
}

function tooLarge(max: number): AppError {
  return new AppError('payload_too_large', `The body of this request has at most ${max} bytes.`, {
    details: { field: 'body', limit_bytes: max },
  });
}

function unused(code: NonNullable<BodyLimits['large']>): AppError {
  const message = `Images are not taken yet: send the text alone, in at most ${requestBytesMax} bytes.`;
  return new AppError(code, message, { details: { field: 'images', limit_bytes: requestBytesMax } });
}
