import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { AppError } from '../../domain/errors.ts';
import { stopGraceMs } from '../../domain/limits.ts';
import { faultOf } from './errors.ts';

export interface Serving {
  readonly app: { fetch(request: Request): Response | Promise<Response> };
  /** Takes a request over, connection and all, and says so; what it leaves is the app's. */
  readonly takeOver?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
  readonly host: string;
  readonly port: number;
  /** How long a stop lets requests in flight go on. */
  readonly graceMs?: number;
}

export interface Listening {
  readonly port: number;
  /** Takes no new request, and resolves when those in flight have been answered or their grace is over. */
  close(): Promise<void>;
}

/** A client that sends slower than this holds a connection for nothing. */
const requestTimeoutMs = 30_000;
const headersTimeoutMs = 10_000;

export async function serveHttp({ app, takeOver, host, port, graceMs = stopGraceMs }: Serving): Promise<Listening> {
  const listener = getRequestListener((request) => app.fetch(request), {
    overrideGlobalObjects: false,
    errorHandler: unreadable,
  });
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: headersTimeoutMs });
  const inFlight = new Set<ServerResponse>();
  server.on('request', (incoming, outgoing) => {
    inFlight.add(outgoing);
    outgoing.once('close', () => inFlight.delete(outgoing));
    if (takeOver?.(incoming, outgoing) !== true) void listener(incoming, outgoing);
  });
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseBytes(socket, error.code));
  await listen(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => closeServer(server, inFlight, graceMs),
  };
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

const rawStatuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is not HTTP is answered in HTTP all the same, where the other side still listens. */
function refuseBytes(socket: Socket, code: string | undefined): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = rawStatuses[code ?? ''] ?? '400 Bad Request';
  const text = JSON.stringify(
    faultOf(new AppError('invalid_request', 'This is not a readable HTTP request.'), '').body,
  );
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
