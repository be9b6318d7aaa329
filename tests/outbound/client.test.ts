import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OutboundEnd } from '../../src/app/ports/outbound.ts';
import { anAuthority, type Authority } from '../support/certificates.ts';
import { anOutbound, aRequest } from '../support/outbound.ts';
import { aStub } from '../support/place.ts';
import { opened } from '../support/ports.ts';

const host = 'http://api.example.com';

/** A server that keeps what it was asked, at the name of a host outside. */
async function aTarget(answer: RequestListener = (_asked, outgoing) => void outgoing.end('ok')) {
  const asked: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const url = await aStub((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      asked.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      answer(incoming, outgoing);
    });
  });
  const { port } = new URL(url);
  return { asked, port, at: (path: string, name = host) => `${name}:${port}${path}` };
}

const to =
  (location: string, status = 302) =>
  (outgoing: ServerResponse) =>
    void outgoing.writeHead(status, { location }).end('elsewhere');

const textOf = (end: OutboundEnd) => (end.is === 'answered' ? Buffer.from(end.body).toString() : JSON.stringify(end));

describe('a request', () => {
  it('leaves as it was given, and brings the whole answer', async () => {
    const target = await aTarget((_asked, outgoing) =>
      outgoing.writeHead(201, { 'x-two': ['a', 'b'], 'content-type': 'text/plain' }).end('made'),
    );
    const end = await anOutbound().call(
      aRequest(target.at('/orders?of=tea'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'sched:7:1' },
        body: '{"cups":2}',
      }),
    );
    expect(end).toMatchObject({ is: 'answered', status: 201, url: target.at('/orders?of=tea') });
    expect(end).toMatchObject({ headers: { 'x-two': 'a, b', 'content-type': 'text/plain' } });
    expect(textOf(end)).toBe('made');
    expect(target.asked).toMatchObject([
      {
        method: 'POST',
        path: '/orders?of=tea',
        body: '{"cups":2}',
        headers: {
          host: `api.example.com:${target.port}`,
          'idempotency-key': 'sched:7:1',
          'user-agent': 'Cronogram',
          'content-length': '10',
        },
      },
    ]);
  });

  it('takes no header that the connection sets by itself', async () => {
    const target = await aTarget();
    const headers = {
      host: 'inner.example.com',
      connection: 'upgrade',
      'content-length': '3',
      'transfer-encoding': 'chunked',
    };
    await anOutbound().call(aRequest(target.at('/'), { headers }));
    expect(target.asked[0]?.headers).toMatchObject({
      host: `api.example.com:${target.port}`,
      connection: 'keep-alive',
    });
    expect(target.asked[0]?.headers).not.toHaveProperty('content-length');
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('is answered in %s and unpacks that', async (encoding, pack) => {
    const target = await aTarget((_asked, outgoing) =>
      outgoing.writeHead(200, { 'content-encoding': encoding }).end(pack(Buffer.from('tea '.repeat(500)))),
    );
    expect(textOf(await anOutbound().call(aRequest(target.at('/'))))).toBe('tea '.repeat(500));
    expect(target.asked[0]?.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
  });

  it('by HEAD has no body to unpack', async () => {
    const target = await aTarget((_asked, outgoing) =>
      outgoing.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '5000000' }).end(),
    );
    expect(await anOutbound().call(aRequest(target.at('/'), { method: 'HEAD' }))).toMatchObject({ is: 'answered' });
  });

  it('pays no heed to a proxy of the environment', async () => {
    const proxy = await aTarget();
    const target = await aTarget();
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) setVariable(name, `http://127.0.0.1:${proxy.port}`);
    await anOutbound().call(aRequest(target.at('/')));
    expect([proxy.asked.length, target.asked.length]).toEqual([0, 1]);
  });

  it('ends when it is called off', async () => {
    const target = await aTarget(() => called.abort());
    const called = new AbortController();
    expect(await anOutbound().call(aRequest(target.at('/'), { signal: called.signal }))).toEqual({
      is: 'failed',
      type: 'NETWORK',
      error: 'The call was called off.',
    });
  });

  it.each([
    ['http://no-such.example.com/', 'There is no host no-such.example.com (ENOTFOUND).'],
    ['http://closed.example.com:1/', 'closed.example.com could not be reached (ECONNREFUSED).'],
  ])('to %s fails, and may be tried again', async (url, error) => {
    const outbound = anOutbound({ allow: ['*.example.com'], addresses: { 'no-such.example.com': [] } });
    expect(await outbound.call(aRequest(url))).toEqual({ is: 'failed', type: 'NETWORK', error, isUnsent: true });
  });
});

describe('an address that is not open', () => {
  it('is refused as it is written', async () => {
    const target = await aTarget();
    const outbound = anOutbound();
    for (const name of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]'])
      expect(await outbound.call(aRequest(`http://${name}:${target.port}/`))).toMatchObject({ is: 'refused' });
    expect(target.asked).toEqual([]);
  });

  it('is refused when a name leads there, by every address of it and before one is called', async () => {
    const seen = await aWitness();
    const outbound = anOutbound({
      addresses: { 'a.example.com': ['127.0.0.1'], 'b.example.com': ['93.184.215.14', '10.0.0.1'] },
    });
    for (const name of ['a.example.com', 'b.example.com'])
      expect(await outbound.call(aRequest(`http://${name}:${seen.port}/`))).toMatchObject({
        is: 'refused',
        error: expect.stringMatching(/^\w\.example\.com leads to a \w+ address, which tasks do not reach/) as string,
      });
    expect(seen.connections()).toBe(0);
  });

  it('stays refused while a connection of another task leads to the same name', async () => {
    const target = await aTarget();
    const outbound = anOutbound({ allow: [`api.example.com:${target.port}`] });
    expect(await outbound.call(aRequest(target.at('/')))).toMatchObject({ is: 'answered' });
    expect(await outbound.call(aRequest(target.at('/'), { narrowedTo: ['*.example.org'] }))).toMatchObject({
      is: 'refused',
      error: expect.stringContaining('this chat') as string,
    });
    expect(target.asked).toHaveLength(1);
  });

  it('is judged before anything is made of it', () => {
    const outbound = anOutbound();
    expect(outbound.judge('https://api.example.org/', null)).toEqual({ is: 'open', host: 'api.example.org' });
    expect(outbound.judge('http://10.0.0.1/', null)).toMatchObject({ is: 'refused' });
  });
});

describe('a redirect', () => {
  const redirecting = (first: (outgoing: ServerResponse) => void) =>
    aTarget((incoming, outgoing) => (incoming.url === '/first' ? first(outgoing) : void outgoing.end('there')));
  const post = {
    method: 'POST',
    body: 'tea',
    headers: { 'content-type': 'text/plain', authorization: 'Bearer x', 'x-own': '1' },
  };

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
  ])('%i of %s is followed by %s', async (status, method, then) => {
    const target = await redirecting(to('/second', status));
    const hasBody = method === 'POST' || method === 'PUT';
    const end = await anOutbound().call(aRequest(target.at('/first'), hasBody ? { ...post, method } : { method }));
    expect(end).toMatchObject({ is: 'answered', url: target.at('/second') });
    expect(target.asked[1]).toMatchObject({ method: then, body: hasBody && then === method ? 'tea' : '' });
    if (then === 'GET') expect(target.asked[1]?.headers).not.toHaveProperty('content-type');
  });

  it.each([
    [303, 'POST', undefined],
    [302, 'POST', undefined],
    [307, 'POST', 'k'],
    [308, 'POST', 'k'],
    [302, 'PUT', 'k'],
    [307, 'GET', undefined],
  ])(
    'with %i tells another origin the key of a %s where it repeats what may have an effect: %s',
    async (status, method, key) => {
      const other = await aTarget();
      const target = await aTarget((_asked, outgoing) =>
        to(other.at('/', 'http://other.example.com'), status)(outgoing),
      );
      const headers = { 'idempotency-key': 'k', 'x-schedule-id': 'task-1' };
      const request = { method, headers, ...(method === 'GET' ? {} : { body: 'tea' }) };
      await anOutbound({ allow: ['*.example.com'] }).call(aRequest(target.at('/first'), request));
      expect(other.asked[0]?.headers['idempotency-key']).toBe(key);
      expect(other.asked[0]?.headers).not.toHaveProperty('x-schedule-id');
    },
  );

  it('tells the same origin all, and another the key of the call and what describes the content alone', async () => {
    const other = await aTarget();
    const target = await aTarget((incoming, outgoing) =>
      to(incoming.url === '/first' ? '/second' : other.at('/third', 'http://other.example.com'), 307)(outgoing),
    );
    const headers = { ...post.headers, cookie: 'a=b', 'idempotency-key': 'k', 'x-api-key': 'secret' };
    const outbound = anOutbound({ allow: ['*.example.com'] });
    await outbound.call(aRequest(target.at('/first'), { ...post, headers }));
    expect(target.asked[1]?.headers).toMatchObject(headers);
    expect(Object.keys(other.asked[0]?.headers ?? {}).toSorted()).toEqual(
      'accept accept-encoding connection content-length content-type host idempotency-key user-agent'.split(' '),
    );
    expect(other.asked[0]?.body).toBe('tea');
  });

  it('to what is not open is refused, and not asked', async () => {
    const inner = await aTarget();
    const target = await redirecting(to(`http://127.0.0.1:${inner.port}/v1/tasks`));
    expect(await anOutbound().call(aRequest(target.at('/first')))).toMatchObject({
      is: 'refused',
      error: expect.stringMatching(
        /^api\.example\.com redirects to an address that names 127\.0\.0\.1, a loopback/,
      ) as string,
    });
    expect(inner.asked).toEqual([]);
  });

  it('leaves the hosts of a chat as little as the first address does', async () => {
    const target = await redirecting(to('http://other.example.com/'));
    const end = await anOutbound({ allow: ['*.example.com'] }).call(
      aRequest(target.at('/first'), { narrowedTo: ['api.example.com'] }),
    );
    expect(end).toMatchObject({ is: 'refused', error: expect.stringContaining('this chat') as string });
  });

  it.each([
    ['https://api.example.com/', 'redirects from http to https'],
    ['file:///etc/passwd', 'redirects from http to file'],
    ['http://[::', 'cannot be read'],
  ])('to %s is refused', async (location, reason) => {
    const target = await redirecting(to(location));
    expect(await anOutbound().call(aRequest(target.at('/first')))).toMatchObject({
      is: 'refused',
      error: expect.stringContaining(reason) as string,
    });
  });

  it.each([300, 304, 305])('is none with status %i', async (status) => {
    const target = await redirecting(to('/second', status));
    expect(await anOutbound().call(aRequest(target.at('/first')))).toMatchObject({ is: 'answered', status });
  });

  it('is followed five times and no more', async () => {
    let steps = 5;
    const target = await aTarget((_asked, outgoing) =>
      steps > 0 ? to(`/${(steps -= 1)}`)(outgoing) : void outgoing.end('end'),
    );
    expect(textOf(await anOutbound().call(aRequest(target.at('/first'))))).toBe('end');
    steps = 6;
    expect(await anOutbound().call(aRequest(target.at('/first')))).toEqual({
      is: 'failed',
      type: 'NETWORK',
      error: 'api.example.com redirects more than 5 times.',
      isFinal: true,
    });
  });
});

describe('TLS', () => {
  it('reaches a server whose certificate is good', async () => {
    const authority = anAuthority();
    const { url } = await aTlsServer(authority, ['api.example.com']);
    expect(textOf(await anOutbound({ ca: authority.ca }).call(aRequest(url)))).toBe('secret');
  });

  it.each([
    ['an authority that nobody knows', ['api.example.com'], false, 'SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO'],
    ['the name of another', ['other.example.com'], true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ] as const)('does not speak to a server with %s', async (_what, names, isKnown, code) => {
    const authority = anAuthority();
    const { url, asked } = await aTlsServer(authority, names);
    const end = await anOutbound(isKnown ? { ca: authority.ca } : {}).call(aRequest(url));
    expect(end).toMatchObject({ is: 'failed', isFinal: true, error: expect.stringMatching(code) as string });
    expect(asked()).toBe(0);
  });

  it('shakes no hand at an address that is not open', async () => {
    const seen = await aWitness();
    const outbound = anOutbound({ allow: [] });
    const end = await outbound.call(aRequest(`https://api.example.com:${seen.port}/`));
    expect(end).toMatchObject({ is: 'refused', error: expect.stringContaining('a loopback address') as string });
    expect(seen.bytes()).toBe(0);
  });
});

describe('an address that the operator set', () => {
  it('may lie anywhere, and where it redirects to may not', async () => {
    const inner = await aTarget();
    const target = await aTarget((incoming, outgoing) =>
      incoming.url === '/away' ? to(`http://127.0.0.1:${inner.port}/`)(outgoing) : void outgoing.end('ok'),
    );
    const outbound = anOutbound();
    const own = (path: string) => aRequest(`http://127.0.0.1:${target.port}${path}`);
    expect(await outbound.callTrusted(own('/'), true)).toMatchObject({ is: 'answered', status: 200 });
    expect(await outbound.callTrusted(own('/away'), true)).toMatchObject({ is: 'refused' });
    expect(await outbound.callTrusted(own('/away'), false)).toMatchObject({ is: 'answered', status: 302 });
    expect(await outbound.call(own('/'))).toMatchObject({ is: 'refused' });
    expect(inner.asked).toEqual([]);
  });
});

describe('the fetch for libraries', () => {
  it('goes where requests of tasks may go', async () => {
    const target = await aTarget((_asked, outgoing) => void outgoing.writeHead(404).end('{"a":1}'));
    const { fetch: guarded } = anOutbound();
    const response = await guarded(target.at('/x'), { method: 'POST', body: 'tea', headers: { 'X-Own': '1' } });
    expect([response.status, await response.json()]).toEqual([404, { a: 1 }]);
    expect(target.asked).toMatchObject([{ method: 'POST', body: 'tea', headers: { 'x-own': '1' } }]);
    await expect(guarded(`http://127.0.0.1:${target.port}/`)).rejects.toThrow(TypeError);
    await expect(guarded(target.at('/'), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  });
});

function setVariable(name: string, value: string): void {
  const { env } = process;
  const before = env[name];
  env[name] = value;
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(env, name);
    else env[name] = before;
  });
}

/** Counts who comes, and what they say before they are answered. */
async function aWitness() {
  let [connections, bytes] = [0, 0];
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.on('data', (chunk) => {
      bytes += chunk.byteLength;
    });
    socket.on('error', () => undefined);
  });
  onTestFinished(() => void server.close());
  const port = await opened(server);
  return { port, connections: () => connections, bytes: () => bytes };
}

async function aTlsServer(authority: Authority, names: readonly string[]) {
  let asked = 0;
  const server = createTlsServer(authority.issue(names), (_asked, outgoing) => {
    asked += 1;
    outgoing.end('secret');
  });
  server.on('tlsClientError', () => undefined);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://api.example.com:${await opened(server)}/`, asked: () => asked };
}
