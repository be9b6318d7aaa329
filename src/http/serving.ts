import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { type AnswerStatus, type Operation, nothing } from '../api/operation.ts';
import { operations, type OperationId, type PartsOf } from '../api/operations.ts';
import type { Kinds } from '../app/actions/kinds.ts';
import type { AuditReport } from '../app/housekeeping/audit.ts';
import type { Reconcile } from '../app/housekeeping/reconcile.ts';
import type { KindPauses } from '../app/operations/kind-pauses.ts';
import type { ServerStatus, Usage, UsageRequest } from '../app/operations/status.ts';
import type { Ticked } from '../app/operations/tick.ts';
import type { Clock } from '../app/ports/outside.ts';
import type { Bulk } from '../app/tasks/bulk.ts';
import type { AskedPreview, PreviewRequest } from '../app/tasks/preview.ts';
import type { Tasks } from '../app/tasks/tasks.ts';
import type { Once, Repeatable, TellOnce } from '../app/use-cases/kept-answers.ts';
import type { Access } from '../app/use-cases/membership.ts';
import type { Messages } from '../app/use-cases/messages.ts';
import type { Attachment, Runs } from '../app/use-cases/runs.ts';
import type { Secrets } from '../app/use-cases/secrets.ts';
import type { Spending } from '../app/use-cases/spending.ts';
import type { TestRuns } from '../app/use-cases/test-runs.ts';
import type { Tokens } from '../app/use-cases/tokens.ts';
import type { Truth } from '../app/why/truth.ts';
import { apiPrincipal, type Actor } from '../domain/access.ts';
import { AppError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { describe } from './docs/describing.ts';
import type { Description } from './docs/openapi.ts';
import { readBody, readIdempotencyKey, readParams, readQuery } from './reading.ts';
import { principalFor } from './token.ts';

interface Health {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

/**
 * The use cases that look at chats, made for one caller: for it nothing exists outside of its chats. An operation is handed
 * no others, so that no handler can look further than its caller may.
 */
export interface CallerRooms {
  readonly tasks: Tasks;
  readonly testRuns: TestRuns;
  readonly bulk: Bulk;
  readonly access: Access;
  readonly spending: Spending;
  readonly runs: Runs;
  readonly messages: Messages;
  readonly truth: Truth;
  readonly operations: {
    readonly status: () => Promise<ServerStatus>;
    readonly usage: (request: UsageRequest) => Promise<Usage>;
    readonly tick: () => Promise<Ticked>;
    readonly retentionDays: number;
    /** Where nobody names a zone. */
    readonly timezone: string;
  };
}

/** Everything that the operations are handed. */
export interface HttpRooms extends CallerRooms {
  readonly kinds: Kinds;
  readonly kindPauses: Pick<KindPauses, 'list' | 'pause' | 'resume' | 'standstill'>;
  readonly tokens: Tokens;
  readonly secrets: Pick<Secrets, 'list' | 'set' | 'delete' | 'rotate'>;
  readonly preview: (request: PreviewRequest) => AskedPreview;
  readonly upkeep: { audit(): Promise<AuditReport>; readonly reconcile: Reconcile };
  /** `live`: the process turns. `ready`: it can do its work now. */
  readonly health: { live(): Health; ready(): Promise<Health> };
  /** Whoever asks. */
  readonly principal: Principal;
  readonly actor: Actor;
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Of all operations that are served. */
  readonly description: () => Description;
  readonly tellOnce: TellOnce;
}

/** A request to an operation, read and checked. */
export type Asked<K extends OperationId> = PartsOf<K>['read'] & {
  /** Under which the effect is to commit; null where the client named no key. */
  readonly idempotencyKey: Once | null;
  /** The id of the request, under which everything that it brings about can be found. */
  readonly traceId: string;
};

/** An answer is only read, so that a view of the app may stand in it as it is. */
type Lasting<T> = T extends readonly (infer U)[]
  ? readonly Lasting<U>[]
  : T extends object
    ? { readonly [K in keyof T]: Lasting<T[K]> }
    : T;

/** An answer under another status than the first of its operation. */
export class Answer<T> {
  readonly status: AnswerStatus;
  readonly body: T;

  constructor(status: AnswerStatus, body: T) {
    this.status = status;
    this.body = body;
  }
}

/** An answer that is a file. */
export class FileAnswer {
  readonly file: Attachment;

  constructor(file: Attachment) {
    this.file = file;
  }
}

type AnswerOf<K extends OperationId> = Lasting<PartsOf<K>['answer']>;

type Handler<K extends OperationId> = (
  asked: Asked<K>,
  rooms: HttpRooms,
) => Promise<AnswerOf<K> | Answer<AnswerOf<K>> | FileAnswer>;

export type Handlers = { readonly [K in OperationId]: Handler<K> };

/** Serves an operation and puts it into the document, so that neither can be there without the other. */
export function serve<K extends OperationId>(
  app: OpenAPIHono,
  id: K,
  handlers: Handlers,
  roomsOf: (principal: Principal) => HttpRooms,
): void {
  const operation: Operation = operations[id];
  app.openAPIRegistry.registerPath(describe(id, operation));
  const { statuses = [200] } = operation;
  const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
  app.on(operation.method.toUpperCase(), path, async (c) => {
    const principal = principalFor(c, operation.scope);
    const rooms = roomsOf(principal);
    const { key, ...asked } = await receive(c, operation);
    if (operation.bytes !== undefined) return fileIn(c, await handlers[id]({ ...asked, idempotencyKey: null }, rooms));
    const { target, payload } = keyed(asked.params, asked.body);
    const tell = async (idempotencyKey: Once | null) => {
      const answer = await handlers[id]({ ...asked, idempotencyKey }, rooms);
      const { status, body } = answer instanceof Answer ? answer : { status: statuses[0], body: answer };
      return { status: status ?? 200, body: JSON.stringify(body) };
    };
    // Without a key everything is told anew.
    const request = { operation: id, target, payload: [asked.query, payload] };
    const told =
      key === null ? await tell(null) : await rooms.tellOnce({ ...request, key: ownKey(principal, key) }, tell);
    if ('isRepeated' in told && told.isRepeated) c.header(replayedHeader, 'true');
    const status = statuses.find((one) => one === told.status) ?? 200;
    return c.body(told.body, status, { 'content-type': 'application/json' });
  });
}

/** Each principal has keys of its own, or one could be told what another one did. Those of API_TOKEN stand as they are. */
function ownKey({ actor }: Principal, key: string): string {
  return actor === apiPrincipal ? key : `${actor}:${key}`;
}

/** Never shown within a page of ours, whatever it holds: it is saved, under its name. */
function fileIn(c: Context, answer: unknown): Response {
  if (!(answer instanceof FileAnswer)) throw new AppError('internal', 'no file was answered');
  const { name, mime, size, chunks } = answer.file;
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const isType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w."-]+)*$/.test(mime);
  return c.body(ReadableStream.from(chunks), 200, {
    'content-type': isType ? mime : 'application/octet-stream',
    'content-length': String(size),
    'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '_'))}`,
    'x-content-type-options': 'nosniff',
  });
}

async function receive(c: Context, operation: Operation) {
  const { params, query, body, idempotent, scope } = operation;
  const read = {
    params: params === undefined ? {} : readParams(c, params),
    // A probe may carry anything: refusing it would look like an outage.
    query: scope === 'open' ? {} : readQuery(c, query ?? nothing),
    body: body === undefined ? undefined : await readBody(c, body, operation),
  };
  // A dry run has no effect, so nothing of it is kept.
  const keeps = idempotent === true && textIn(read.query, 'dry_run') !== 'true';
  const key = keeps ? oneKey(readIdempotencyKey(c), read.body) : null;
  return { ...read, key, traceId: traceOf(c) };
}

const requestIdHeader = 'x-request-id';
const requestIdShape = /^[\w.:-]{1,128}$/;

/** Gives the request the id that its client named, or a new one, and tells it. */
export function trace(c: Context, newId: () => string): string {
  const given = c.req.header(requestIdHeader);
  const id = given !== undefined && requestIdShape.test(given) ? given : newId();
  c.set('traceId', id);
  c.header(requestIdHeader, id);
  return id;
}

export function traceOf(c: Context): string {
  return String(c.get('traceId'));
}

/** Says that an answer is the one to an earlier request with the same key. */
export const replayedHeader = 'idempotency-replayed';

/** A client that cannot set headers may send the key with its body, where there is a field for it. */
function oneKey(inHeader: string | null, body: unknown): string | null {
  const inBody = textIn(body, 'idempotency_key');
  if (inHeader === null || inBody === null || inHeader === inBody) return inHeader ?? inBody;
  throw new AppError(
    'idempotency_key_mismatch',
    'The header Idempotency-Key and the field idempotency_key name different keys. Send one of them, or the same twice.',
    { details: { field: 'idempotency_key' } },
  );
}

/** The payload under a key, and its target: the key says the same in either place, and each source has keys of its own. */
function keyed(params: unknown, body: unknown): Pick<Repeatable, 'target' | 'payload'> {
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
