import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Log } from '../../app/ports/outside.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import { SandboxRefusal, type RefusalCode } from '../world/world.ts';
import type { FaultedJson } from './shapes.ts';

/** A file of 5 MiB as base64, with its message; every other deed is far smaller. */
export const controlBytesMax = 8 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export function json(value: unknown, status = 200): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

export function send(outgoing: ServerResponse, answer: Answer): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  outgoing.writeHead(answer.status, {
    ...commonHeaders,
    'content-type': answer.type,
    'content-length': String(Buffer.byteLength(answer.body)),
    ...answer.headers,
  });
  outgoing.end(answer.body);
}

export const commonHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Any other refusal of the product, 409, is a matter of its present state. */
const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid_request: 400,
  not_found: 404,
  payload_too_large: 413,
  unsupported_media_type: 415,
  quota_exceeded: 429,
  budget_exhausted: 409,
  kind_paused: 409,
  no_worker: 409,
  internal: 500,
  store_unavailable: 503,
};

const refusals: Readonly<Record<RefusalCode, number>> = {
  no_person: 404,
  no_chat: 404,
  no_topic: 404,
  no_message: 404,
  no_button: 404,
  not_a_member: 409,
  not_allowed: 409,
  topic_closed: 409,
  bad_text: 400,
  bad_input: 400,
};

export function fault(status: number, code: string, message: string): Answer {
  return json({ error: { code, message } } satisfies FaultedJson, status);
}

/** A fault of ours is told to the log alone, by its first line: further ones may hold what people wrote. */
export function faultOf(error: unknown, { log, route }: { readonly log: Log; readonly route: string }): Answer {
  if (error instanceof SandboxRefusal) return fault(refusals[error.code], error.code, error.message);
  if (error instanceof AppError && error.code !== 'internal') {
    const { code, message } = error;
    const answer = fault(statuses[code] ?? 409, code, message);
    // The rest of the body is not read, so the connection cannot serve another request.
    return code === 'payload_too_large' ? { ...answer, headers: { connection: 'close' } } : answer;
  }
  const line = error instanceof Error ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}` : typeof error;
  log.error('sandbox_control_fault', { route, error: line.slice(0, 300) });
  return fault(500, 'internal', 'Something went wrong in the sandbox itself. The log names the cause.');
}

export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const type = incoming.headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    const message = 'The body must be JSON: send it with the header "content-type: application/json".';
    throw new AppError('unsupported_media_type', message);
  }
  const bytes = await readBytes(incoming);
  try {
    const parsed: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return parsed;
  } catch (error) {
    throw new AppError('invalid_request', 'The body is not JSON in UTF-8. Send one JSON object.', { cause: error });
  }
}

/** Listens by hand: leaving an async iteration early would cut the connection before the refusal is sent. */
export function readBytes(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= controlBytesMax) {
        chunks.push(chunk);
        return;
      }
      incoming.off('data', take);
      incoming.pause();
      reject(
        new AppError(
          'payload_too_large',
          `A body has at most ${controlBytesMax} bytes. Send a shorter text, or a smaller file.`,
        ),
      );
    };
    incoming.on('data', take);
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', (cause) => {
      reject(new AppError('invalid_request', 'The body ended before it was complete. Send it again.', { cause }));
    });
  });
}

/** Reads a body or a query by its schema; the first problem is told with the way to its field. */
export function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  const field = (issue?.path ?? []).map(String).join('.').slice(0, 80);
  const problem = (issue?.message ?? 'cannot be read').slice(0, 300);
  throw new AppError('invalid_request', field === '' ? `${problem}.` : `${field}: ${problem}.`);
}

type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out what is undefined, so that an absent field stays absent. */
export function given<T extends object>(facts: T): Given<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Given<T>;
}
