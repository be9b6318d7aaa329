import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requestBytesMax, sentAheadMax } from '../../src/domain/limits.ts';
import { serveHttp } from '../../src/http/server.ts';
import { bearer, createPath, creation, task, told, type Asked } from './door.ts';
import { aServer, raw } from './socket.ts';

const jsonType = { 'content-type': 'application/json' };

function chunked(size: number): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    pull: (controller) => {
      if (left <= 0) return controller.close();
      controller.enqueue(new Uint8Array(Math.min(left, 16_384)).fill(0x20));
      left -= 16_384;
    },
  });
}

function post(url: string, body: string | ReadableStream<Uint8Array>): Promise<Response> {
  return fetch(`${url}${createPath}`, {
    method: 'POST',
    headers: { ...bearer, ...jsonType },
    body,
    duplex: 'half',
  });
}

describe('the server', () => {
  it('answers over a socket, and names the port it took', async () => {
    const { url, port } = await aServer();
    expect(port).toBeGreaterThan(0);
    expect((await told(await fetch(`${url}/v1/tasks/task-1`, { headers: bearer }))).json.task.task_id).toBe('task-1');
  });

  it('does not start where another one listens', async () => {
    const { app, port } = await aServer();
    await expect(serveHttp({ app, host: '127.0.0.1', port })).rejects.toMatchObject({
      message: expect.stringContaining('something else listens there') as string,
    });
  });

  it('reads a body whose length nobody declared', async () => {
    const { url } = await aServer();
    const body = new Blob([JSON.stringify(creation)]).stream();
    expect((await post(url, body)).status).toBe(201);
  });

  it.each([
    ['declared', (size: number) => ' '.repeat(size)],
    ['chunked', chunked],
  ])('refuses a body that is too large when it is %s', async (_how, body) => {
    const { url, asked } = await aServer();
    const { status, json } = await told(await post(url, body(requestBytesMax + 1)));
    expect([status, json.error.code, asked]).toEqual([413, 'payload_too_large', []]);
  });

  it('reads more of a message, and says what it cannot do with that', async () => {
    const { url, asked } = await aServer();
    const send = async (body: string | ReadableStream<Uint8Array>) => {
      const init = { method: 'POST', headers: { ...bearer, ...jsonType }, body, duplex: 'half' } as const;
      const { status, json } = await told(await fetch(`${url}/v1/messages`, init));
      return [status, json.error.code, json.error.details];
    };
    const images = { field: 'images', limit_bytes: requestBytesMax };
    expect(await send(' '.repeat(requestBytesMax + 1))).toEqual([400, 'images_unavailable', images]);
    expect(await send(chunked(requestBytesMax * 20))).toEqual([400, 'images_unavailable', images]);
    const most = 75 * 1024 * 1024;
    expect(await send(chunked(most + 1))).toEqual([413, 'payload_too_large', { field: 'body', limit_bytes: most }]);
    expect(asked).toEqual([]);
  });

  it('refuses a body of a hundred times the limit without an error of the connection', async () => {
    const { port } = await aServer();
    const head = `POST ${createPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\ncontent-type: application/json\r\ncontent-length: ${requestBytesMax * 100}\r\n\r\n`;
    expect(await raw(port, head)).toMatch(/^HTTP\/1\.1 413 .*payload_too_large/s);
  });

  it('refuses a body that ends too soon, and goes on', async () => {
    const { port, url, log } = await aServer();
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST ${createPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\ncontent-length: 100\r\n\r\n{`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(log.lines.filter(({ event }) => event === 'http_fault')).toEqual([]);
  });

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['no host', 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['a host that is none', 'GET /livez HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n', 400],
    ['a backslash in the target', 'GET /v1\\tasks HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
    ['two lengths', 'POST /v1/tasks HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400],
  ])('answers %s with a refusal', async (_what, text, status) => {
    const { port } = await aServer();
    const answer = await raw(port, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('answers a watcher that speaks HTTP/1.0, which knows no host', async () => {
    const { port } = await aServer();
    expect(await raw(port, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['says nothing', '', { headersMs: 20, requestMs: 60_000 }],
    ['does not end its headers', 'GET /livez HTTP/1.1\r\nhost: x\r\n', { headersMs: 20, requestMs: 60_000 }],
    [
      'does not end its body',
      `POST ${createPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      { headersMs: 10, requestMs: 20 },
    ],
  ])('cuts a client off that %s in time, and tells it so', async (_what, text, patience) => {
    const { port, asked, log } = await aServer({}, { patience: { ...patience, lookMs: 5 } });
    expect(await raw(port, text)).toMatch(/^HTTP\/1\.1 408 /);
    expect([asked, log.lines.filter(({ event }) => event === 'http_fault')]).toEqual([[], []]);
  });

  it('cuts a client off that sends ahead without end, before its answers fill the memory', async () => {
    let answered = 0;
    const app = {
      fetch: () => {
        answered += 1;
        return new Response('x');
      },
    };
    const { port } = await aServer({}, { app });
    await raw(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1000));
    expect(answered).toBe(sentAheadMax);
    const one = 'GET / HTTP/1.1\r\nhost: x\r\n';
    const told = await raw(port, `${`${one}\r\n`.repeat(sentAheadMax - 1)}${one}connection: close\r\n\r\n`);
    expect(told.match(/ 200 OK/g)).toHaveLength(sentAheadMax);
  });

  it('leaves the globals of the process alone', async () => {
    const before = globalThis.Request;
    await aServer();
    expect(globalThis.Request).toBe(before);
  });
});

function gate() {
  let open = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open: () => open() };
}

describe('a stop', () => {
  it('lets a request in flight finish, and takes no other', async () => {
    const reached = gate();
    const held = gate();
    const server = await aServer({
      get: async () => {
        reached.open();
        await held.closed;
        return task;
      },
    });
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const answer = new Promise<Pick<Asked, 'status'> & { connection: string | undefined }>((resolve, reject) => {
      request(`${server.url}/v1/tasks/task-1`, { agent, headers: bearer }, (incoming) => {
        incoming.resume();
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode ?? 0, connection: incoming.headers.connection }),
        );
      })
        .on('error', reject)
        .end();
    });
    await reached.closed;
    const closed = server.close();
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow('fetch failed');
    held.open();
    expect(await answer).toEqual({ status: 200, connection: 'close' });
    await closed;
  });

  it('does not wait for a connection that is kept alive', async () => {
    const server = await aServer();
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    await new Promise<void>((resolve, reject) => {
      request(`${server.url}/livez`, { agent }, (incoming) => {
        incoming.resume();
        incoming.on('end', resolve);
      })
        .on('error', reject)
        .end();
    });
    await server.close();
  });

  it('waits for many requests at once without a warning of the process', async () => {
    const held = gate();
    let waiting = 0;
    const server = await aServer({
      get: async () => {
        waiting += 1;
        await held.closed;
        return task;
      },
    });
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const answers = Array.from({ length: 15 }, () => fetch(`${server.url}/v1/tasks/task-1`, { headers: bearer }));
    while (waiting < 15) await new Promise((resolve) => setImmediate(resolve));
    const drained = server.drain();
    held.open();
    await drained;
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it('cuts off what does not end within its grace', async () => {
    const reached = gate();
    const server = await aServer(
      {
        get: async () => {
          reached.open();
          return new Promise(() => {});
        },
      },
      { graceMs: 20 },
    );
    const answer = fetch(`${server.url}/v1/tasks/task-1`, { headers: bearer }).then(
      () => 'answered',
      () => 'cut',
    );
    await reached.closed;
    await server.close();
    expect(await answer).toBe('cut');
  });
});
