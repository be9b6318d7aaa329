import type { IncomingMessage } from 'node:http';
import { CliFault, usage } from './faults.ts';

/** A server that is alive answers sooner; the slowest thing that is asked of it is an audit of everything. */
const answerMaxMs = 60_000;
/** Far more than any page of rows; what is longer is no answer of ours. */
const answerBytesMax = 64 * 1024 * 1024;

/** A plain request of node:http: the global fetch would cost each command a tenth of the time in which it should be done. */
export function networkWire(address: string): Wire {
  const base = baseOf(address);
  const place = `${base.origin}${base.pathname.replace(/\/$/, '')}`;
  const open = async (asked: WireRequest, signal: AbortSignal) => {
    try {
      return await answerTo(new URL(`${place}${asked.path}`), asked, signal);
    } catch (error) {
      throw signal.aborted ? error : away(place, error);
    }
  };
  return {
    place,
    ask: async (asked, signal) => {
      const timeout = AbortSignal.timeout(answerMaxMs);
      const answer = await open(asked, AbortSignal.any([signal, timeout])).catch((error: unknown) => {
        throw timeout.aborted ? late(place) : error;
      });
      try {
        return { ...headOf(answer), text: await textOf(answer) };
      } catch (error) {
        if (error instanceof CliFault || signal.aborted) throw error;
        throw timeout.aborted ? late(place) : away(place, error);
      }
    },
    listen: async (asked, signal) => {
      const answer = await open(asked, signal);
      answer.setEncoding('utf8');
      return { ...headOf(answer), chunks: answer as AsyncIterable<string> };
    },
    fetch: async (asked, signal) => {
      const answer = await open(asked, signal);
      const name = answer.headers['content-disposition'] ?? '';
      return { ...headOf(answer), name, chunks: answer as AsyncIterable<Uint8Array> };
    },
    close: async () => {},
  };
}

/** The address is not repeated where it carries a password. */
function baseOf(address: string): URL {
  const wanted = 'Write it like http://127.0.0.1:8787.';
  if (!URL.canParse(address))
    throw usage(`The address of the server cannot be read: ${address.slice(0, 100)}. ${wanted}`);
  const url = new URL(address);
  if (url.username !== '' || url.password !== '')
    throw usage(`The address of the server carries no user name or password; the token goes into --token. ${wanted}`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw usage(`The address of the server begins with http:// or https://. ${wanted}`);
  return url;
}

function answerTo(url: URL, { method, headers, body }: WireRequest, signal: AbortSignal): Promise<IncomingMessage> {
  // An import would read every name of the module, and with some of them all of fetch: 40 ms of each command.
  const { request: ask } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    const asked = ask(url, { method, headers: { ...headers, connection: 'close' }, signal }, resolve);
    asked.once('error', reject);
    asked.end(body);
  });
}

function headOf({ statusCode = 0, headers }: IncomingMessage): WireHead {
  return { status: statusCode, type: headers['content-type'] ?? '', date: headers.date ?? '' };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > answerBytesMax) throw new CliFault('not_understood', 'The answer is too long to be one of Cronogram.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const remedies =
  'Start the server with npm start, name another address with --api-url, or add --offline to work on a stopped one.';

function away(place: string, cause: unknown): CliFault {
  const code = (cause as { code?: unknown } | null)?.code;
  const [why] =
    typeof code === 'string' ? [reasons[code] ?? `the connection failed (${code})`] : ['the connection failed'];
  return new CliFault('server_away', `Cannot reach the server at ${place}: ${why}. ${remedies}`, { cause });
}

function late(place: string): CliFault {
  const message = `The server at ${place} took more than ${answerMaxMs / 1000} seconds to answer. Look at its log, and try again.`;
  return new CliFault('server_away', message);
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection broke before the answer was there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no network',
  ETIMEDOUT: 'the host does not answer',
  HPE_INVALID_CONSTANT: 'what answers there does not speak HTTP',
  EPROTO: 'what answers there does not speak TLS; try http://',
};

/** How a request reaches the API: over the network, or straight into one that this process opened itself. */
export interface Wire {
  /** Where it goes, as it may be shown to people. */
  readonly place: string;
  ask(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  /** The lines of an answer that goes on until the client leaves. */
  listen(request: WireRequest, signal: AbortSignal): Promise<WireStream>;
  /** The bytes of a file. */
  fetch(request: WireRequest, signal: AbortSignal): Promise<WireFile>;
  close(): Promise<void>;
}

export interface WireRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WireHead {
  readonly status: number;
  readonly type: string;
  /** The clock of the server, to the second; empty where it does not tell. */
  readonly date: string;
}

export interface WireAnswer extends WireHead {
  readonly text: string;
}

export interface WireFile extends WireHead {
  /** The header that names it; empty where there is none. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface WireStream extends WireHead {
  readonly chunks: AsyncIterable<string>;
}
