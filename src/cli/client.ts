import type { z } from 'zod';
import type { Operation } from '../api/operation.ts';
import type { OperationId, PartsOf } from '../api/operations.ts';
import type { Clock } from '../app/ports/outside.ts';
import { pageMax } from '../domain/limits.ts';
import { CliFault, exitCodeOf, exitCodes, usage } from './faults.ts';
import type { Wire, WireAnswer, WireFile, WireHead, WireRequest, WireStream } from './network.ts';

type Needed<Name extends string, T> = undefined extends T
  ? { readonly [K in Name]?: T }
  : Record<never, never> extends T
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T };

export type Asked<K extends OperationId> = Needed<'params', PartsOf<K>['sent']['params']> &
  Needed<'query', PartsOf<K>['sent']['query']> &
  Needed<'body', PartsOf<K>['sent']['body']> & { readonly headers?: Readonly<Record<string, string>> };

export type AnswerOf<K extends OperationId> = PartsOf<K>['answer'];

/** The operations of the API, as functions. */
export interface Client {
  readonly place: string;
  call<K extends OperationId>(id: K, asked: Asked<K>): Promise<AnswerOf<K>>;
  /** The events of a server-sent stream, until it ends or the signal does. */
  listen<K extends OperationId>(id: K, asked: Asked<K>): Promise<AsyncIterable<string>>;
  /** A file, piece by piece. */
  fetch<K extends OperationId>(id: K, asked: Asked<K>): Promise<FetchedFile>;
  /** A request beside the operations: the sandbox has an API of its own. */
  ask(request: WireRequest): Promise<unknown>;
  /** By the clock of the server, as far as it has answered yet. */
  readonly clock: Clock;
  /** By the clock of the server, which is asked where it has not answered yet. */
  now(): Promise<number>;
  close(): Promise<void>;
}

export interface FetchedFile {
  /** Empty where the server names none. */
  readonly name: string;
  readonly mime: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ClientDeps {
  readonly wire: Wire;
  readonly token: () => Promise<string>;
  readonly version: string;
  readonly signal: AbortSignal;
  /** The clock of this computer. */
  readonly clock: Clock;
}

interface Parts {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createClient({ wire: bareWire, token, version, signal, clock: ownClock }: ClientDeps): Client {
  const { wire, clock } = timed(bareWire, ownClock);
  const requestFor = async (operation: Operation, parts: Parts): Promise<WireRequest> => {
    const auth = operation.scope === 'open' ? {} : { authorization: `Bearer ${await token()}` };
    const body = parts.body === undefined ? undefined : JSON.stringify(parts.body);
    return {
      method: operation.method.toUpperCase(),
      path: `${pathOf(operation, parts)}${queryOf(parts.query ?? {})}`,
      headers: { accept: 'application/json', ...auth, ...typeOf(body), ...parts.headers },
      ...(body === undefined ? {} : { body }),
    };
  };
  const differs = async (what: string): Promise<CliFault> => {
    const theirs = await versionOf(wire, signal);
    const message = `The server at ${wire.place} ${what}. It is version ${theirs}, this program is ${version}. Use the two of one version.`;
    return new CliFault('server_differs', message, { details: { server: theirs, cli: version } });
  };
  return {
    place: wire.place,
    call: async (id, asked) => {
      // Loaded by the first call: the schemas cost more time than everything else that starts, and help needs none of them.
      const { operations } = await import('../api/operations.ts');
      const operation: Operation = operations[id];
      const answer = await wire.ask(await requestFor(operation, asked as Parts), signal);
      const value = understood(wire.place, answer);
      if (isRouteMissing(answer, value)) throw await differs(`does not know how to "${operation.summary}"`);
      if (!(operation.statuses ?? [200]).some((status) => status === answer.status))
        throw refusalOf(wire.place, answer, value);
      if (!fits(operation.answer, value)) throw await differs('answers in a way that is not known here');
      // The schema has just said so.
      return value;
    },
    listen: async (id, asked) => {
      const { operations } = await import('../api/operations.ts');
      const request = await requestFor(operations[id], asked as Parts);
      const stream = await wire.listen(
        { ...request, headers: { ...request.headers, accept: 'text/event-stream' } },
        signal,
      );
      if (stream.status === 200 && stream.type.startsWith('text/event-stream')) return stream.chunks;
      return refusedAs(wire.place, stream, () => differs('does not stream events'));
    },
    fetch: async (id, asked) => {
      const { operations } = await import('../api/operations.ts');
      const file = await wire.fetch(await requestFor(operations[id], asked as Parts), signal);
      return fetched(wire.place, file, () => differs('does not hand out files'));
    },
    ask: async (request) => {
      const answer = await wire.ask({ ...request, headers: { ...request.headers, ...typeOf(request.body) } }, signal);
      const value = understood(wire.place, answer);
      if (answer.status >= 300) throw refusalOf(wire.place, answer, value);
      return value;
    },
    clock,
    now: async () => {
      if (!clock.isHeard()) await versionOf(wire, signal);
      return clock.now();
    },
    close: () => wire.close(),
  };
}

async function fetched(place: string, file: WireFile, differs: () => Promise<CliFault>): Promise<FetchedFile> {
  const { name, type: mime, chunks } = file;
  if (file.status === 200 && name !== '') return { name: nameIn(name), mime, chunks };
  return refusedAs(place, { ...file, chunks: textsOf(chunks) }, differs);
}

/** An answer that is not of the type that was asked for is a refusal, in JSON as always. */
async function refusedAs(place: string, stream: WireStream, differs: () => Promise<CliFault>): Promise<never> {
  const answer = { ...stream, text: await wholeOf(stream.chunks) };
  const value = understood(place, answer);
  if (isRouteMissing(answer, value) || stream.status === 200) throw await differs();
  throw refusalOf(place, answer, value);
}

/** The pages of a list, one after the other, `most` of them. */
export async function* pagesOf<Page extends { readonly next_cursor: string | null }>(
  ask: (place: { readonly limit: string; readonly cursor?: string }) => Promise<Page>,
  most: number,
): AsyncGenerator<Page> {
  let cursor: string | null = null;
  for (let pages = 0; pages < most; pages += 1) {
    const page: Page = await ask({ limit: String(pageMax), ...(cursor === null ? {} : { cursor }) });
    yield page;
    cursor = page.next_cursor;
    if (cursor === null) return;
  }
}

/** Clocks tell their time to the second, so less than this is no difference. */
const clockToleranceMs = 2000;

/** Reads the clock of the server off its answers: that of a sandbox may be days ahead of this computer. */
function timed(wire: Wire, own: Clock) {
  let aheadMs: number | null = null;
  const heard = <Head extends WireHead>(head: Head): Head => {
    const difference = Date.parse(head.date) - own.now();
    if (!Number.isNaN(difference)) aheadMs = Math.abs(difference) < clockToleranceMs ? 0 : difference;
    return head;
  };
  const timedWire: Wire = {
    ...wire,
    ask: async (request, until) => heard(await wire.ask(request, until)),
    listen: async (request, until) => heard(await wire.listen(request, until)),
    fetch: async (request, until) => heard(await wire.fetch(request, until)),
  };
  return { wire: timedWire, clock: { now: () => own.now() + (aheadMs ?? 0), isHeard: () => aheadMs !== null } };
}

/** A name is not a path: whatever a server calls a file, it is put where the person is. */
function nameIn(disposition: string): string {
  const [, name = ''] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  const plain = URL.canParse(`x:/${name}`) ? decodeURIComponent(name) : name;
  return plain.replaceAll(/[/\\\p{Cc}]/gu, '_').replace(/^\.+/, '');
}

function typeOf(body: string | undefined): Readonly<Record<string, string>> {
  return body === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}

function pathOf({ path }: Operation, { params = {} }: Parts): string {
  return path.replaceAll(/\{(\w+)\}/g, (_found, name: string) => segmentOf(name, textOf(params[name])));
}

/** An address without it, or with dots in its place, would be another address. */
function segmentOf(name: string, value: string): string {
  if (/^\.{0,2}$|\p{Surrogate}/u.test(value)) {
    throw usage(`"${value}" is no ${name.replaceAll('_', ' ')}. Write the one that is meant.`);
  }
  return encodeURIComponent(value);
}

/** A list is the same name several times. */
function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one): [string, string][] => (one === undefined ? [] : [[name, textOf(one)]]));
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function* textsOf(chunks: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
}

async function wholeOf(chunks: WireStream['chunks']): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

function understood(place: string, { status, type, text }: WireAnswer): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const isAway = status === 502 || status === 503 || status === 504;
  throw notOurs(place, { status, type }, isAway ? exitCodes.away : exitCodes.failed);
}

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

function refusedIn(value: unknown): Refused | null {
  const error = (value as { readonly error?: Partial<Refused> }).error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return null;
  return { code: error.code, message: error.message, details: error.details };
}

function refusalOf(place: string, { status, type }: WireAnswer, value: unknown): CliFault {
  const refused = refusedIn(value);
  if (refused === null) return notOurs(place, { status, type }, exitCodeOf(status));
  const { code, message, details } = refused;
  return new CliFault(code, `${message}${hintOf(status, details)}`, { exitCode: exitCodeOf(status), details });
}

function notOurs(place: string, { status, type }: Pick<WireAnswer, 'status' | 'type'>, exitCode: number): CliFault {
  const what = type.split(';', 1)[0] || 'no content type';
  const message = `What answers at ${place} is not Cronogram (status ${status}, ${what}). Is the address right? Name another with --api-url.`;
  return new CliFault('not_understood', message, { exitCode });
}

function hintOf(status: number, details: Readonly<Record<string, unknown>> | undefined): string {
  if (status === 401)
    return ' The one that was sent is not the one of this server: see --token and CRONOGRAM_API_TOKEN.';
  const errorId = details?.['error_id'];
  return status >= 500 && typeof errorId === 'string' ? ` (error_id ${errorId})` : '';
}

function isRouteMissing({ status }: WireAnswer, value: unknown): boolean {
  return status === 404 && /^There is no route\b/.test(refusedIn(value)?.message ?? '');
}

/** A field that is not known here is no fault: the server may be newer, and tells more than it used to. */
function fits(schema: z.ZodType, value: unknown): boolean {
  const result = schema.safeParse(value);
  return result.success || result.error.issues.every(({ code }) => code === 'unrecognized_keys');
}

async function versionOf(wire: Wire, signal: AbortSignal): Promise<string> {
  try {
    const { text } = await wire.ask({ method: 'GET', path: '/version', headers: {} }, signal);
    const { version } = JSON.parse(text) as { readonly version?: unknown };
    return typeof version === 'string' ? version.slice(0, 40) : 'unknown';
  } catch (error) {
    if (signal.aborted) throw error;
    return 'unknown';
  }
}
