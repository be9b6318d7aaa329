import { createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OutboundEnd, OutboundRequest } from '../../src/app/ports/outbound.ts';
import { manualTime, second } from '../support/fakes.ts';
import { anOutbound, aRequest } from '../support/outbound.ts';
import { opened } from '../support/ports.ts';

const mebi = 1024 ** 2;
const head = (...lines: readonly string[]) => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`;

/** A server that speaks bytes and not HTTP, so that it can do anything. It answers each request that has come whole. */
async function aBrute(answer: (socket: Socket, path: string) => void) {
  const sockets = new Set<Socket>();
  let asked = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const [, path] = /^[A-Z]+ (\S+) HTTP/.exec(chunk.toString('latin1')) ?? [];
      if (path === undefined) return;
      asked += 1;
      answer(socket, path);
    });
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const port = await opened(server);
  return { url: `http://api.example.com:${port}/`, asked: () => asked, open: () => sockets.size };
}

/** Writes for as long as the other end takes it, and tells how much that was. */
function endless(socket: Socket, chunk: Buffer | string): () => number {
  let written = 0;
  const go = () => {
    while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
    written += chunk.length;
  };
  socket.on('drain', go);
  go();
  return () => written;
}

async function ended(url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundEnd> {
  return anOutbound().call(aRequest(url, more));
}

/** Calls by a clock that stands until the brute was asked, and moves it up to the timeout. */
async function overdue(brute: Awaited<ReturnType<typeof aBrute>>, isReady: () => boolean = () => brute.asked() > 0) {
  const time = manualTime(0);
  const end = anOutbound({ time }).call(aRequest(brute.url));
  while (!isReady()) await time.yield();
  await time.advance(29 * second);
  expect(await Promise.race([end, Promise.resolve('waits')])).toBe('waits');
  await time.advance(second);
  return end;
}

/** Nothing of a call may stay: a connection that is left costs until the other end thinks of it. */
async function gone(brute: Awaited<ReturnType<typeof aBrute>>): Promise<void> {
  while (brute.open() > 0) await new Promise(setImmediate);
}

describe('a target that takes its time costs the timeout', () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ['before its headers', () => undefined, 'did not answer within 30 s'],
    ['within its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: '), 'did not answer within 30 s'],
    ['after its headers', (socket) => socket.write(head('content-length: 10')), 'did not end within 30 s'],
    ['within its body', (socket) => socket.write(`${head('content-length: 10')}abc`), 'did not end within 30 s'],
    [
      'after interim answers',
      (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      'did not answer',
    ],
    ['within a chunk', (socket) => socket.write(`${head('transfer-encoding: chunked')}5\r\nab`), 'did not end within'],
  ])('%s', async (_when, answer, error) => {
    const brute = await aBrute(answer);
    expect(await overdue(brute)).toMatchObject({
      is: 'failed',
      type: 'TIMEOUT',
      error: expect.stringContaining(error) as string,
    });
    await gone(brute);
  });

  it('within its name', async () => {
    const time = manualTime(0);
    const never = { resolve: () => new Promise<never>(() => undefined) };
    const outbound = anOutbound({ time, resolver: never });
    const end = outbound.call(aRequest('http://api.example.com/'));
    await time.advance(10 * second);
    expect(await end).toEqual({
      is: 'failed',
      type: 'TIMEOUT',
      error: 'No connection to api.example.com came about within 10 s.',
      isUnsent: true,
    });
  });

  it('within its handshake', async () => {
    const brute = await aBrute(() => undefined);
    const time = manualTime(0);
    const end = anOutbound({ time }).call(aRequest(brute.url.replace('http:', 'https:')));
    while (brute.open() === 0) await time.yield();
    await time.advance(10 * second);
    expect(await end).toMatchObject({ is: 'failed', type: 'TIMEOUT' });
    await gone(brute);
  });

  it('by a byte at a time, which puts nothing off', async () => {
    const brute = await aBrute((socket) => {
      socket.write(head('content-length: 1000000'));
      const drip = () => {
        if (!socket.destroyed) socket.write('a', () => setImmediate(drip));
      };
      drip();
    });
    expect(await overdue(brute)).toMatchObject({ is: 'failed', type: 'TIMEOUT' });
    await gone(brute);
  });
});

describe('a target that breaks off fails, and may be tried again', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['with a reset', (socket) => socket.resetAndDestroy()],
    ['without a word', (socket) => socket.end()],
    ['within its headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a: ')],
    ['before the length that it promised', (socket) => socket.end(`${head('content-length: 100')}abc`)],
    ['within a chunk', (socket) => socket.end(`${head('transfer-encoding: chunked')}ff\r\nabc`)],
    ['before a chunk says the end', (socket) => socket.end(`${head('transfer-encoding: chunked')}3\r\nabc\r\n`)],
  ])('%s', async (_how, answer) => {
    const brute = await aBrute(answer);
    expect(await ended(brute.url)).toMatchObject({
      is: 'failed',
      type: 'NETWORK',
      error: expect.stringMatching(/^The connection to api\.example\.com broke off \(\w+\)\.$/) as string,
    });
    expect(brute.asked()).toBe(1);
  });
});

describe('a target that does not speak HTTP fails for good', () => {
  it.each<[string, string]>([
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['mail', '220 mail.example.com ESMTP\r\n'],
    ['no status', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a length below zero', `${head('content-length: -1')}abc`],
    ['a length that is no number', `${head('content-length: many')}abc`],
    ['a chunk that is no number', `${head('transfer-encoding: chunked')}zz\r\nabc\r\n`],
    ['a header with a zero', head('x-a: a\0b')],
  ])('%s', async (_what, bytes) => {
    const brute = await aBrute((socket) => socket.end(bytes));
    expect(await ended(brute.url)).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringContaining('does not speak HTTP') as string,
    });
  });
});

it.each<[string, string]>([
  ['two lengths', `${head('content-length: 3', 'content-length: 4')}abcd`],
  ['a length and chunks', `${head('content-length: 3', 'transfer-encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`],
])('a target that names %s is not believed', async (_what, bytes) => {
  const brute = await aBrute((socket) => socket.end(bytes));
  expect(await ended(brute.url)).toMatchObject({ is: 'failed', type: 'NETWORK' });
});

describe('a target that sends too much is left where its limit is', () => {
  const bodyBytesMax = mebi;
  const memory = process.memoryUsage.bind(process);

  it.each<[string, string, Buffer | string, RegExp]>([
    [
      'a body of 10 GB that says so',
      head('content-length: 10737418240'),
      Buffer.alloc(65_536),
      /more than 1,048,576 bytes/,
    ],
    ['a body without an end', head('connection: close'), Buffer.alloc(65_536), /more than 1,048,576 bytes/],
    [
      'chunks without an end',
      head('transfer-encoding: chunked'),
      `4000\r\n${'a'.repeat(16_384)}\r\n`,
      /more than 1,048/,
    ],
    [
      'headers without an end',
      'HTTP/1.1 200 OK\r\n',
      `x-a: ${'a'.repeat(1000)}\r\n`,
      /sends more headers than are read/,
    ],
    ['one header without an end', 'HTTP/1.1 200 OK\r\nx-a: ', 'a'.repeat(1000), /sends more headers than are read/],
  ])('%s', async (_what, start, more, error) => {
    let written = () => 0;
    const brute = await aBrute((socket) => {
      socket.write(start);
      written = endless(socket, more);
    });
    const before = memory().arrayBuffers;
    const end = await ended(brute.url, { bodyBytesMax });
    expect(end).toMatchObject({ is: 'failed', isFinal: true, error: expect.stringMatching(error) as string });
    await gone(brute);
    // Bytes in the buffers of both ends of the connection were never read.
    expect(written()).toBeLessThan(32 * mebi);
    expect(memory().arrayBuffers - before).toBeLessThan(32 * mebi);
  });

  it('many bodies at once, of which each is within its limit', async () => {
    const size = 40 * mebi;
    const brute = await aBrute((socket, path) => {
      if (path === '/small') return void socket.end(`${head('content-length: 2')}ok`);
      socket.write(head(`content-length: ${size}`));
      let left = size - mebi;
      const go = () => {
        for (; left > 0; left -= mebi) if (!socket.write(Buffer.alloc(mebi))) break;
      };
      socket.on('drain', () => {
        left -= mebi;
        go();
      });
      go();
    });
    const outbound = anOutbound();
    const stop = new AbortController();
    const limits = { bodyBytesMax: 50 * mebi, signal: stop.signal };
    const calls = Array.from({ length: 10 }, () => outbound.call(aRequest(brute.url, limits)));
    expect(await Promise.race(calls)).toMatchObject({
      is: 'failed',
      error: expect.stringContaining('fill the memory') as string,
    });
    expect(await outbound.call(aRequest(`${brute.url}small`, limits))).toMatchObject({ is: 'answered' });
    stop.abort();
    await Promise.all(calls);
    await gone(brute);
  });

  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const packed = { gzip: gzipSync, br: (bytes: Buffer) => brotliCompressSync(bytes, fast), zstd: zstdCompressSync };

  it.each(Object.keys(packed) as (keyof typeof packed)[])('a bomb in %s', async (encoding) => {
    const bomb = packed[encoding](Buffer.alloc(64 * mebi));
    const brute = await aBrute((socket) =>
      socket.end(
        Buffer.concat([Buffer.from(head(`content-encoding: ${encoding}`, `content-length: ${bomb.length}`)), bomb]),
      ),
    );
    const before = memory().arrayBuffers;
    expect(await ended(brute.url, { bodyBytesMax: 50 * mebi })).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringMatching(/unpacks to more than [\d,]+ bytes/) as string,
    });
    expect(memory().arrayBuffers - before).toBeLessThan(64 * mebi);
  });

  it('a text that honestly shrinks well is unpacked', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => `{"id":${index},"state":"ok"}`).join('\n');
    const body = gzipSync(rows);
    const brute = await aBrute((socket) =>
      socket.end(Buffer.concat([Buffer.from(head('content-encoding: gzip', `content-length: ${body.length}`)), body])),
    );
    expect(await ended(brute.url, { bodyBytesMax: 50 * mebi })).toMatchObject({ is: 'answered' });
  });

  it.each([
    ['gzip', 'no gzip at all'],
    ['gzip', gzipSync('cut').subarray(0, 12)],
    ['gzip, gzip', gzipSync(gzipSync('twice'))],
    ['rot13', 'grn'],
  ])('a body in %s that cannot be unpacked is told as that', async (encoding, body) => {
    const brute = await aBrute((socket) =>
      socket.end(
        Buffer.concat([
          Buffer.from(head(`content-encoding: ${encoding}`, `content-length: ${body.length}`)),
          Buffer.from(body),
        ]),
      ),
    );
    expect(await ended(brute.url)).toMatchObject({
      is: 'failed',
      error: expect.stringContaining('cannot be unpacked') as string,
    });
  });
});

describe('a target that lies', () => {
  it('about its length is read as far as it promised', async () => {
    const brute = await aBrute((socket) => socket.write(`${head('content-length: 3')}abcHTTP/1.1 200 OK\r\n\r\nmore`));
    const outbound = anOutbound();
    const bodies = [];
    for (let index = 0; index < 3; index += 1) {
      const end = await outbound.call(aRequest(brute.url));
      bodies.push(end.is === 'answered' ? Buffer.from(end.body).toString() : end.is);
    }
    // Messages that it sends without being asked are nobody's answer.
    expect(bodies).toEqual(['abc', 'abc', 'abc']);
  });

  it('about its letters brings its bytes as they are', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0xed, 0xa0, 0x80]);
    const brute = await aBrute((socket) =>
      socket.end(
        Buffer.concat([
          Buffer.from(head('content-type: text/plain; charset=utf-8', 'x-a: \u00ff', 'content-length: 8'), 'latin1'),
          bytes,
        ]),
      ),
    );
    const end = await ended(brute.url);
    expect(end).toMatchObject({ is: 'answered', headers: { 'x-a': '\u00ff' } });
    expect(end.is === 'answered' ? Buffer.from(end.body) : null).toEqual(bytes);
  });

  it.each([301, 302, 303, 307, 308])('in a circle of %i redirects costs six requests', async (status) => {
    const brute = await aBrute((socket, path) =>
      socket.end(`HTTP/1.1 ${status} Elsewhere\r\nlocation: ${path}a\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await ended(brute.url)).toMatchObject({ is: 'failed', isFinal: true });
    expect(brute.asked()).toBe(6);
  });

  it('with a redirect that has a body without an end is not read', async () => {
    const brute = await aBrute((socket, path) => {
      if (path !== '/') return void socket.end(`${head('content-length: 2')}ok`);
      socket.write('HTTP/1.1 302 Elsewhere\r\nlocation: /there\r\nconnection: close\r\n\r\n');
      endless(socket, Buffer.alloc(65_536));
    });
    expect(await ended(brute.url)).toMatchObject({ is: 'answered', status: 200 });
    await gone(brute);
  });

  it('with a switch of protocols that nobody asked for fails', async () => {
    const brute = await aBrute((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    );
    expect(await ended(brute.url)).toMatchObject({ is: 'failed', type: 'NETWORK' });
  });
});

describe('beside targets that hang', () => {
  it('another one is answered as if it were alone', async () => {
    const brute = await aBrute((socket, path) => path === '/ok' && void socket.end(`${head('content-length: 2')}ok`));
    const outbound = anOutbound();
    const stop = new AbortController();
    const hanging = Array.from({ length: 200 }, () => outbound.call(aRequest(brute.url, { signal: stop.signal })));
    expect(await outbound.call(aRequest(`${brute.url}ok`))).toMatchObject({ is: 'answered' });
    stop.abort();
    expect(new Set((await Promise.all(hanging)).map(({ is }) => is))).toEqual(new Set(['failed']));
    await gone(brute);
  });
});
