import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { answerBytesMax } from '../../../src/domain/limits.ts';
import { createTelegramApi, type TelegramApi } from '../../../src/telegram/api.ts';
import { manualTime, type ManualTime } from '../../support/fakes.ts';
import { sandboxStart, sandboxToken } from '../../support/sandbox.ts';

interface Line {
  readonly time: ManualTime;
  readonly api: TelegramApi;
}

const closings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

function lineTo(apiRoot: string, token = sandboxToken): Line {
  const time = manualTime(sandboxStart);
  const api = createTelegramApi({ token, apiRoot, timer: time });
  closings.push(async () => api.close());
  return { time, api };
}

async function listening(server: Server | HttpServer, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answering(listener: RequestListener) {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  closings.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { root: await listening(server), connections: () => sockets.size };
}

/** A peer that takes connections and does with them whatever it is told. */
async function taking(scheme: string, does: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    does(socket);
  });
  closings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return listening(server, scheme);
}

const ask = ({ api }: Line) => api.ask((raw, signal) => raw.sendMessage({ chat_id: 1, text: 'x' }, signal));

const json = (body: unknown, status = 200): RequestListener => {
  return (_, outgoing) => outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Begins an answer and cuts the connection. */
function cutOff(): RequestListener {
  return (incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.write('{"ok":true', () => incoming.socket.destroy());
  };
}

describe('what never left', () => {
  it('is told apart: nobody listens', async () => {
    const server = createNetServer();
    const root = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const answer = await ask(lineTo(root));
    expect(answer).toMatchObject({ is: 'unreached', error: expect.stringContaining('ECONNREFUSED') as string });
    expect(JSON.stringify(answer)).not.toContain(sandboxToken);
  });

  it('is told apart: the name is not known', async () => {
    expect(await ask(lineTo('http://nowhere.invalid'))).toMatchObject({ is: 'unreached' });
  });

  it('is told apart: the connection is cut before it is secure', async () => {
    const root = await taking('https', (socket) => socket.once('data', () => socket.destroy()));
    expect(await ask(lineTo(root))).toMatchObject({ is: 'unreached' });
  });

  it('is told apart: the other side does not speak the same', async () => {
    const { root } = await answering(json({ ok: true, result: sent }));
    expect(await ask(lineTo(root.replace('http:', 'https:')))).toMatchObject({ is: 'unreached' });
  });

  it('is told apart: no connection comes about within eight seconds', async () => {
    let taken = () => {};
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve;
    });
    const line = lineTo(await taking('https', () => taken()));
    const asked = ask(line);
    await isTaken;
    await line.time.advance(8000);
    expect(await asked).toEqual({ is: 'unreached', error: 'no connection within 8 s' });
  });
});

describe('what left without an answer', () => {
  it.each<[string, RequestListener]>([
    ['a page of a proxy', (_, outgoing) => outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html>')],
    ['an empty answer', (_, outgoing) => outgoing.writeHead(200).end()],
    ['JSON that says nothing', json({})],
    ['JSON that is nothing', json(null)],
    ['an error without a code', json({ ok: false }, 500)],
    ['half an answer', cutOff()],
    ['a cut connection', (incoming) => incoming.socket.destroy()],
    ['a reset connection', (incoming) => incoming.socket.resetAndDestroy()],
  ])('is lost: %s', async (_, listener) => {
    const { root } = await answering(listener);
    const answer = await ask(lineTo(root));
    expect(answer).toMatchObject({ is: 'lost' });
    expect(JSON.stringify(answer)).not.toContain(sandboxToken.slice(10));
  });

  it.each([
    ['stays away', () => {}],
    // The fetching library does not notice that a body of a known length ended too early.
    ['is cut off', (socket: Socket) => socket.destroy()],
  ])('is lost when half of it came and the rest %s', async (_, does) => {
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { root } = await answering((incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      outgoing.write('{"ok":', () => {
        does(incoming.socket);
        begun();
      });
    });
    const line = lineTo(root);
    const asked = ask(line);
    await isBegun;
    await line.time.advance(15_000);
    expect(await asked).toEqual({ is: 'lost', error: 'no answer within 15 s' });
  });

  it.each([
    ['as it is', sandboxToken, sandboxToken],
    ['in another spelling', sandboxToken, sandboxToken.replace(':', '%3A')],
    ['though it looks like none', '7:short', '7:short'],
  ])('holds no token even where the platform repeats it %s', async (_, token, repeated) => {
    const description = `Bad Request: no /bot${repeated}/getMe`;
    const { root } = await answering(json({ ok: false, error_code: 400, description }, 400));
    const error = 'Bad Request: no /bot[token]/getMe';
    expect(await ask(lineTo(root, token))).toEqual({ is: 'refused', code: 400, error });
  });
});

describe('an answer', () => {
  it.each([
    [
      { ok: false, error_code: 429, description: 'Too Many Requests' },
      { is: 'wait', ms: 5000 },
    ],
    [
      { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 35 } },
      { is: 'wait', ms: 35_000 },
    ],
    [
      { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 0 } },
      { is: 'wait', ms: 5000 },
    ],
    [
      { ok: false, error_code: 429, description: 'Too Many Requests', parameters: 'later' },
      { is: 'wait', ms: 5000 },
    ],
    [{ ok: false, error_code: 500, description: 'Internal Server Error' }, { is: 'unreached' }],
    [
      { ok: false, error_code: 401, description: 'Unauthorized' },
      { is: 'refused', code: 401 },
    ],
    [
      { ok: false, error_code: 404, description: 'Not Found' },
      { is: 'refused', code: 404 },
    ],
    [
      { ok: false, error_code: 404, description: 'Not Found: method not found' },
      { is: 'refused', code: 404 },
    ],
    [
      { ok: false, error_code: 409, description: 'Conflict' },
      { is: 'refused', code: 409 },
    ],
    [
      { ok: false, error_code: 400, description: 'Bad Request', parameters: { migrate_to_chat_id: -1005 } },
      { is: 'moved', address: '-1005' },
    ],
  ])('%j is told as what it means', async (body, expected) => {
    const { root } = await answering(json(body, body.error_code));
    expect(await ask(lineTo(root))).toMatchObject(expected);
  });
});

const sent = { message_id: 1, chat: { id: 1 } };

it.each([
  { ok: true, result: { ...sent, message_id: 0 } },
  null,
  [[]],
  'no',
  {},
  { ok: false },
  { ok: false, error_code: '400', description: 5 },
  { ok: true },
])('an answer of %j is none, and is told in words', async (body) => {
  const { root } = await answering(json(body));
  const error = 'Telegram answered sendMessage with something else than its result';
  expect(await ask(lineTo(root))).toEqual({ is: 'lost', error });
});

it('takes no base thread for a topic that was made', async () => {
  const { root } = await answering(json({ ok: true, result: { message_thread_id: 1 } }));
  const { api } = lineTo(root);
  const made = await api.ask((raw, signal) => raw.createForumTopic({ chat_id: 1, name: 'x' }, signal));
  expect(made).toMatchObject({ is: 'lost' });
});

it('does not read an answer without end', async () => {
  const { root } = await answering(json({ ok: true, result: { ...sent, text: 'x'.repeat(answerBytesMax) } }));
  expect(await ask(lineTo(root))).toMatchObject({ is: 'lost', error: expect.stringContaining('over limit') as string });
});

describe('connections', () => {
  it('stay open between calls', async () => {
    const { root, connections } = await answering(json({ ok: true, result: sent }));
    const line = lineTo(root);
    for (let calls = 0; calls < 5; calls += 1) expect(await ask(line)).toMatchObject({ is: 'ok' });
    expect(connections()).toBe(1);
  });

  it('may be given with a slash at the end of the address', async () => {
    const { root } = await answering(json({ ok: true, result: sent }));
    expect(await ask(lineTo(`${root}/`))).toMatchObject({ is: 'ok' });
  });

  it('leave no timer behind', async () => {
    const { root } = await answering(json({ ok: true, result: sent }));
    const running = new Set<number>();
    let last = 0;
    const timer = {
      after: () => {
        const id = (last += 1);
        running.add(id);
        return () => running.delete(id);
      },
      yield: () => Promise.resolve(),
    };
    const api = createTelegramApi({ token: sandboxToken, apiRoot: root, timer });
    closings.push(async () => api.close());
    await api.ask((raw, signal) => raw.getMe(signal));
    expect({ started: last > 0, running: running.size }).toEqual({ started: true, running: 0 });
  });
});
