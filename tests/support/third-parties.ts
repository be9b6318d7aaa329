import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { getResponse, type RequestHandler } from 'msw';
import { onTestFinished } from 'vitest';
import type { GuardedOutbound } from '../../src/outbound/outbound.ts';
import { anAuthority } from './certificates.ts';
import { anOutbound } from './outbound.ts';
import type { AtEnd } from './place.ts';
import { opened } from './ports.ts';

interface ThirdParties {
  /** The client of tasks, for which the names of the third parties lead here. */
  readonly outbound: GuardedOutbound;
  /** The address of a third party, as it is written to reach the one of the test: `https://api.example.com/price`. */
  readonly at: (url: string) => string;
}

interface Wish {
  readonly hosts: readonly string[];
  readonly handlers: readonly RequestHandler[];
  readonly atEnd?: AtEnd;
}

/**
 * Third parties as handlers of msw, under the addresses that they really have. msw looks into Node's own client and not into
 * the one of tasks, so a server on this computer asks the handlers: what a test shows has gone over a real connection.
 */
export async function thirdParties({ hosts, handlers, atEnd = onTestFinished }: Wish): Promise<ThirdParties> {
  const authority = anAuthority();
  const answer = (scheme: string) => (incoming: IncomingMessage, outgoing: ServerResponse) => {
    respond(handlers, { scheme, incoming, outgoing }).catch((error: unknown) => outgoing.destroy(error as Error));
  };
  const plain = createServer(answer('http'));
  const secure = createTlsServer(authority.issue(hosts), answer('https'));
  for (const server of [plain, secure])
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
  const ports: Readonly<Record<string, number>> = { 'http:': await opened(plain), 'https:': await opened(secure) };
  return {
    outbound: anOutbound({ allow: hosts, ca: authority.ca }, atEnd),
    at: (text) => {
      const url = new URL(text);
      url.port = String(ports[url.protocol]);
      return url.href;
    },
  };
}

interface Asked {
  readonly scheme: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

async function respond(handlers: readonly RequestHandler[], { scheme, incoming, outgoing }: Asked): Promise<void> {
  const { method = 'GET', headers, url = '/' } = incoming;
  const body = await buffer(incoming);
  const [host = ''] = (headers.host ?? '').split(':');
  const request = new Request(`${scheme}://${host}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: body.byteLength === 0 ? null : new Uint8Array(body),
  });
  const response = await getResponse([...handlers], request);
  if (response === undefined) {
    outgoing.writeHead(501).end(`No third party of this test answers ${method} ${request.url}.`);
    return;
  }
  // msw stands for a connection that breaks by the answer of its own HttpResponse.error().
  if (response.type === 'error') {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}
