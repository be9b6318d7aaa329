import type { Operation } from '../../src/api/operation.ts';
import { token } from '../http/door.ts';
import type { Chance } from '../support/chance.ts';
import { broken, bytesOf, fitting, hostile, hostileTexts, schemaOf } from './values.ts';

/** What is there to be named by a request. */
type Named = 'task_id' | 'run_id' | 'grant_id' | 'token_id' | 'id' | 'actor' | 'name';

export interface Known {
  /** Of each kind of id, those that name something. */
  readonly ids: Readonly<Record<Named, string[]>>;
  /** Names that nobody may be told anything about: what never was, and what is something else. */
  readonly strangers: Readonly<Record<Named, readonly string[]>>;
  readonly threads: readonly string[];
  readonly cursors: string[];
}

export interface Asked {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** It names something that is not there for whoever asks. */
  readonly isStranger: boolean;
}

/** One request to an operation: sound, nearly sound, or nothing of the kind. */
export function requestOf(chance: Chance, operation: Operation, known: Known): Asked {
  const { target, isStranger } = targetOf(chance, operation, known);
  const method = chance.is(0.04)
    ? chance.pick(['PUT', 'OPTIONS', 'HEAD', 'GET', 'POST', 'DELETE', 'FOO'])
    : operation.method.toUpperCase();
  const isBodyless = method === 'GET' || method === 'HEAD';
  const body = isBodyless ? undefined : bodyOf(chance, operation, known);
  return { operation, method, target, headers: headersOf(chance, body !== undefined), body, isStranger };
}

function targetOf(chance: Chance, operation: Operation, known: Known) {
  let isStranger = false;
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === 'thread_key')
      return encoded(chance, chance.is(0.85) ? chance.pick(known.threads) : chance.pick(hostileTexts));
    // The number of a file: of the runs here only a few have one.
    if (name === 'n') return chance.is(0.8) ? String(chance.between(0, 3)) : encoded(chance, chance.pick(hostileTexts));
    // A kind of action that no task here has, so that a pause of it holds up nobody.
    if (name === 'kind') return chance.is(0.7) ? 'digest' : encoded(chance, chance.pick(hostileTexts));
    const kind = name as keyof Known['ids'];
    if (chance.is(0.68)) return encodeURIComponent(chance.pick(known.ids[kind]));
    isStranger = true;
    return chance.is(0.6)
      ? encodeURIComponent(chance.pick(known.strangers[kind]))
      : encoded(chance, chance.pick(hostileTexts));
  });
  const odd = chance.is(0.03) ? chance.pick(['/', '//', '/..', '/%2e%2e', '/%', '/x/y', ';a=b', '/'.repeat(2000)]) : '';
  return { target: `${path}${odd}${queryOf(chance, operation, known)}`, isStranger };
}

function encoded(chance: Chance, text: string): string {
  if (chance.is(0.05)) return chance.pick(['%', '%zz', '%c0%af', '%ff', '%00']);
  const whole = text.replace(/\p{Surrogate}/gu, '\ufffd').slice(0, 3000);
  // A segment of a path that is empty is another path.
  return encodeURIComponent(whole === '' || whole === '.' || whole === '..' ? 'x' : whole);
}

function queryOf(chance: Chance, { query }: Operation, { threads, cursors }: Known): string {
  const fields =
    query === undefined ? {} : ((schemaOf(query)['properties'] ?? {}) as Record<string, Record<string, unknown>>);
  const pairs: string[] = [];
  const say = (name: string, value: string) =>
    pairs.push(`${encoded(chance, name)}=${value === '' ? '' : encoded(chance, value)}`);
  for (const [name, field] of Object.entries(fields)) {
    if (!chance.is(0.3)) continue;
    if (chance.is(0.15)) say(name, chance.pick(hostileTexts));
    else if (name === 'cursor' || name === 'after')
      say(name, chance.pick([...cursors, 'bm9uc2Vuc2U', 'x'.repeat(300)]));
    else if (name === 'thread_key') say(name, chance.pick(threads));
    else say(name, String(fitting(chance, field, name)));
    if (chance.is(0.05)) say(name, 'again');
  }
  if (chance.is(0.05)) say(chance.pick(hostileTexts), chance.pick(hostileTexts));
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function bodyOf(chance: Chance, { body }: Operation, known: Known): string | Uint8Array | undefined {
  if (body === undefined) return chance.is(0.9) ? undefined : bytesOf(chance, hostile(chance));
  const right = withNames(chance, fitting(chance, schemaOf(body)), known);
  const roll = chance.next();
  if (roll < 0.03) return undefined;
  if (roll < 0.6) return JSON.stringify(right) ?? '';
  if (roll < 0.94) return bytesOf(chance, broken(chance, right));
  return bytesOf(chance, hostile(chance, 4));
}

/** Where a body names something, it mostly names what is there. */
function withNames(chance: Chance, value: unknown, { ids, threads }: Known): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const named = (name: string, field: unknown): unknown => {
    if (name === 'thread_key') return chance.pick(threads);
    return name in ids && chance.is(0.8) ? chance.pick(ids[name as keyof Known['ids']]) : field;
  };
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, unknown>>).map(([name, field]) => [name, named(name, field)]),
  );
}

/** Signs that a header can hold; everything else never leaves a client. */
const headerTexts = ['key-1', 'key-2', 'a b', '', '\u00ff\u00fe', 'x'.repeat(300), '__proto__', '*/*', '1'];

function headersOf(chance: Chance, hasBody: boolean): Record<string, string> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  const maybe = (probability: number, name: string, values: readonly string[]) => {
    if (chance.is(probability)) headers[name] = chance.pick(values);
  };
  if (hasBody) headers['content-type'] = 'application/json';
  maybe(0.03, 'authorization', [
    '',
    'Bearer',
    'Bearer x',
    `bearer  ${token}`,
    `Basic ${token}`,
    `Bearer ${token} x`,
    '\u00ff',
  ]);
  maybe(0.04, 'content-type', [
    'text/plain',
    'application/json; charset=latin1',
    'application/jsonx',
    '\u00ff',
    'multipart/form-data',
  ]);
  maybe(0.2, 'idempotency-key', headerTexts);
  maybe(0.1, 'x-request-id', headerTexts);
  maybe(0.05, 'accept', ['text/html', 'application/xml', '*/*', 'nonsense']);
  maybe(0.03, 'content-encoding', ['gzip', 'br', 'nonsense']);
  maybe(0.03, 'content-length', ['0', '-1', '99999999999', 'x']);
  maybe(0.03, 'last-event-id', headerTexts);
  maybe(0.02, 'x-http-method-override', ['DELETE', 'PUT']);
  return headers;
}
