import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../domain/errors.ts';
import { connectionsShareMax, sentAheadMax, stopGraceMs } from '../domain/limits.ts';
import { faultOf } from './errors.ts';

/** Is told of the connection as well, which a request by itself knows nothing of. */
interface App {
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

interface Serving {
  readonly app: App;
  /** Takes a request over, connection and all, and says so; what it leaves is the app's. */
  readonly takeOver?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
  readonly host: string;
  readonly port: number;
  /** Ends what would go on for ever, before what is in flight is waited for. */
  readonly leave?: () => Promise<void>;
  /** How long a stop lets requests in flight go on. */
  readonly graceMs?: number;
  readonly patience?: Patience;
}

/** A client that sends slower than this holds a connection for nothing. */
interface Patience {
  readonly headersMs: number;
  /** The headers and the body. */
  readonly requestMs: number;
  /** How often slow ones are looked for. */
  readonly lookMs: number;
}

export interface Listening {
  readonly port: number;
  /**
   * Resolves when the requests that are in flight now have been answered, or cut because their grace is over. Streams are
   * ended at once: their clients go on elsewhere from where they stood. Requests from now on are answered as before.
   */
  drain(): Promise<void>;
  /** Takes no new request, and resolves when those in flight have been answered or their grace is over. */
  close(): Promise<void>;
}

const somePatience: Patience = { headersMs: 10_000, requestMs: 30_000, lookMs: 1000 };
/** Longer than proxies and pools of clients keep an idle connection, so that it is never us who close it under a request. */
const keepAliveMs = 75_000;
/** The request line and all headers together. */
const headerBytesMax = 16_384;

export async function serveHttp(serving: Serving): Promise<Listening> {
  const { app, takeOver, host, port, graceMs = stopGraceMs, leave = async () => {}, patience = somePatience } = serving;
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
    // HTTP/1.0 knows no Host, and old watchers speak it.
    hostname: 'localhost',
    errorHandler: unreadable,
  });
  const server = createServer({
    requestTimeout: patience.requestMs,
    headersTimeout: patience.headersMs,
    connectionsCheckingInterval: patience.lookMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: headerBytesMax,
  });
  server.maxConnections = connectionsMax();
  const inFlight = new Set<ServerResponse>();
  const awaited = new WeakSet<ServerResponse>();
  const unanswered = new WeakMap<Socket, number>();
  const count = (socket: Socket, change: 1 | -1) => {
    const waiting = (unanswered.get(socket) ?? 0) + change;
    unanswered.set(socket, waiting);
    return waiting;
  };
  server.on('request', (incoming, outgoing) => {
    const { socket } = incoming;
    if (count(socket, 1) > sentAheadMax) {
      socket.destroy();
      return;
    }
    inFlight.add(outgoing);
    outgoing.once('close', () => {
      inFlight.delete(outgoing);
      count(socket, -1);
    });
    if (takeOver?.(incoming, outgoing) !== true) void listener(incoming, outgoing);
    else if (awaited.delete(outgoing)) outgoing.writeContinue();
  });
  // A client that asks first whether its body is welcome hears that from the app, which knows who it is and what it wants.
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    awaited.add(outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseBytes(socket, error.code));
  await listen(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    drain: async () => {
      await leave();
      await drained(inFlight, graceMs);
    },
    close: async () => {
      const closed = closeServer(server, inFlight, graceMs);
      await leave();
      await closed;
    },
  };
}

function connectionsMax(): number {
  const limits = '/proc/self/limits';
  const [, files = 'unlimited'] = existsSync(limits)
    ? (/^Max open files\s+(\S+)/m.exec(readFileSync(limits, 'utf8')) ?? [])
    : [];
  return files === 'unlimited' ? Infinity : Math.floor(Number(files) * connectionsShareMax);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error & { code?: string }) => reject(unheard(error, `${host}:${port}`));
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

function unheard(error: Error & { code?: string }, place: string): AppError {
  const reason = error.code === 'EADDRINUSE' ? 'something else listens there' : (error.code ?? error.message);
  return new AppError(
    'internal',
    `Cannot listen on ${place}: ${reason}. Set HTTP_HOST and HTTP_PORT to a free place.`,
    {
      cause: error,
    },
  );
}

async function drained(inFlight: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  const grace = AbortSignal.timeout(graceMs);
  const draining = [...inFlight];
  const cutAll = () => draining.forEach((outgoing) => outgoing.destroy());
  grace.addEventListener('abort', cutAll);
  const ends = draining.map((outgoing) => {
    const ended = new Promise<void>((resolve) => {
      outgoing.once('close', () => resolve());
    });
    if (isStream(outgoing)) outgoing.destroy();
    else if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
    return ended;
  });
  await Promise.all(ends);
  grace.removeEventListener('abort', cutAll);
}

/** A stream has begun and is not written to its end: every other answer is written in one piece. */
function isStream(outgoing: ServerResponse): boolean {
  return outgoing.headersSent && !outgoing.writableEnded;
}

/** Connections that are kept alive would hold the stop up, so each answer from now on is the last of its connection. */
function closeServer(server: Server, inFlight: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  for (const outgoing of inFlight) {
    if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
    outgoing.once('close', () => server.closeIdleConnections());
  }
  const grace = AbortSignal.timeout(graceMs);
  const cut = () => server.closeAllConnections();
  grace.addEventListener('abort', cut);
  return new Promise((resolve) => {
    server.close(() => {
      grace.removeEventListener('abort', cut);
      resolve();
    });
  });
}

/** The target or the host of the request is not one; the app has not seen it. */
function unreadable(): Response {
  const { body, status } = faultOf(
    new AppError('invalid_request', 'The target or the host of this request cannot be read.'),
    '',
  );
  return Response.json(body, { status });
}

interface RawFault {
  readonly status: string;
  readonly error: AppError;
}

const rawFaults: Readonly<Record<string, RawFault>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    error: new AppError(
      'payload_too_large',
      `The address and the headers of a request have at most ${headerBytesMax} bytes together.`,
    ),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    error: new AppError('invalid_request', 'The request did not arrive in time.'),
  },
};
const unreadableFault: RawFault = {
  status: '400 Bad Request',
  error: new AppError('invalid_request', 'This is not a readable HTTP request.'),
};

/** Bytes that are not HTTP are answered in HTTP all the same, where the other side still listens. */
function refuseBytes(socket: Socket, code: string | undefined): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, error } = rawFaults[code ?? ''] ?? unreadableFault;
  const text = JSON.stringify(faultOf(error, '').body);
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

const probes: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/version', '/metrics']);

/**
 * While a server stops it takes nothing new: clients are told so at once, and come back to the next one. Probes still see
 * it stop.
 */
export function untilStopping(app: App, isStopping: () => boolean): App {
  return {
    fetch: (request, env) => {
      if (!isStopping() || probes.has(new URL(request.url).pathname)) return app.fetch(request, env);
      const { body, status, headers } = faultOf(
        new AppError('stopping', 'The server is stopping. Ask again soon.'),
        '',
      );
      return Response.json(body, { status, headers });
    },
  };
}
