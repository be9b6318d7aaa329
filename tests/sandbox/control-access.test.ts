import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { assert } from '../../src/domain/errors.ts';
import { controlBytesMax } from '../../src/sandbox/control/answers.ts';
import { foreignness } from '../../src/sandbox/control/control.ts';
import { servePages } from './control-server.ts';

const fromHere = { as: 'ada', chat: 'ada', text: 'x' };

/** A request as the check sees it, from peers that a test on one computer cannot be. */
function incoming(remoteAddress: string | undefined, headers: Readonly<Record<string, string>>): IncomingMessage {
  const shape: unknown = { socket: { remoteAddress }, headers };
  return shape as IncomingMessage;
}

describe('who is answered', () => {
  test('peers of this computer alone', () => {
    const headers = { host: 'localhost:8080' };
    for (const peer of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1']) {
      expect([peer, foreignness(incoming(peer, headers))]).toEqual([peer, null]);
    }
    for (const peer of ['192.168.1.5', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '127.evil', '1127.0.0.1', undefined]) {
      expect([peer, foreignness(incoming(peer, headers))]).toEqual([peer, expect.stringContaining('on the computer')]);
    }
  });

  test('hosts that name this computer, with any port', async () => {
    const { ask } = await servePages();
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:65535', '127.0.0.2', '[::1]:8080', '[::1]']) {
      expect([host, (await ask('GET', '', { headers: { host } })).status]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '127.0.0',
      '0.0.0.0',
      'localhost:x',
    ]) {
      const paths = ['', '/page/script/page.js', '/control/state', '/control/events', '/nothing'];
      for (const path of paths) {
        const told = await ask('GET', path, { headers: { host } });
        expect([host, path, told.status, told.json.error.code]).toEqual([host, path, 403, 'forbidden']);
      }
    }
  });

  test('nobody behind a proxy, which is a peer of this computer itself', async () => {
    const { ask } = await servePages();
    const told = ['x-forwarded-for', 'X-Forwarded-Proto', 'forwarded', 'via', 'x-real-ip', 'cf-connecting-ip'];
    const others = ['forwarded-for', 'client-ip', 'x-cluster-client-ip', 'x-original-host', 'x-envoy-external-address'];
    const more = ['x-azure-clientip', 'fly-client-ip', 'x-remote-addr', 'cf-ray', 'cdn-loop', 'tailscale-user-login'];
    for (const name of [...told, ...others, ...more]) {
      expect([name, (await ask('GET', '', { headers: { [name]: '203.0.113.7' } })).status]).toEqual([name, 403]);
    }
  });

  test('nobody behind a proxy that tells nothing of its client, and speaks HTTP/1.0', async () => {
    const { port } = await servePages();
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET / HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(bytes.toString()).toContain('403');
  });

  test('no page of another site, even one of this computer', async () => {
    const { ask, port, sandbox } = await servePages();
    const own = `127.0.0.1:${port}`;
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${port + 1}` },
      { origin: own },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: `http://${own}`, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const said = await ask('POST', '/control/say', { body: fromHere, headers });
      expect([headers, said.status]).toEqual([headers, 403]);
      expect([headers, (await ask('GET', '/control/state', { headers })).status]).toEqual([headers, 403]);
    }
    expect(sandbox.world.messages(1001)).toEqual([]);
    for (const headers of [
      { origin: `http://${own}`, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ]) {
      expect((await ask('POST', '/control/say', { body: fromHere, headers })).status).toBe(200);
    }
  });
});

describe('what a request may be', () => {
  test('a body must be JSON by its type and by its text', async () => {
    const { ask } = await servePages();
    const raw = JSON.stringify(fromHere);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '', 'text/json']) {
      const told = await ask('POST', '/control/say', { raw, headers: { 'content-type': type } });
      expect([type, told.status, told.json.error.code]).toEqual([type, 415, 'unsupported_media_type']);
    }
    const utf = await ask('POST', '/control/say', {
      raw,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    expect(utf.status).toBe(200);
    for (const bad of ['', '{', '[]', 'null', '"text"', Buffer.from([0x22, 0xff, 0x22])]) {
      const told = await ask('POST', '/control/say', { raw: bad });
      expect([bad, told.status, told.json.error.code]).toEqual([bad, 400, 'invalid_request']);
    }
  });

  test('a body that is too large is refused, with and without its length', async () => {
    const { ask, sandbox } = await servePages();
    const raw = JSON.stringify({ ...fromHere, text: 'x'.repeat(controlBytesMax) });
    const declared = await ask('POST', '/control/say', { raw });
    expect(declared).toMatchObject({ status: 413, json: { error: { code: 'payload_too_large' } } });
    const chunked = await ask('POST', '/control/say', { raw, headers: { 'transfer-encoding': 'chunked' } });
    expect(chunked.status).toBe(413);
    expect(sandbox.world.messages(1001)).toEqual([]);
    const largest = JSON.stringify(fromHere).padEnd(controlBytesMax, ' ');
    expect((await ask('POST', '/control/say', { raw: largest })).status).toBe(200);
  });

  const nonsense: readonly (readonly [string, unknown])[] = [
    ['say', { ...fromHere, colour: 'red' }],
    ['say', { chat: 'ada', text: 'x' }],
    ['say', { ...fromHere, text: 7 }],
    ['say', { ...fromHere, wait: 60_001 }],
    ['say', { ...fromHere, chat: 1.5 }],
    ['press', { as: 'ada', chat: 'ada' }],
    ['edit', { as: 'ada', chat: 'ada', message_id: 0, text: 'x' }],
    ['topic', { action: 'burn', chat: 'lab', thread: 1 }],
    ['topic', { action: 'create', chat: 'lab', as: 'ada' }],
    ['rights', { chat: 'lab' }],
    ['rights', { chat: 'lab', can_fly: true }],
    ['bot', { chat: 'lab', status: 'creator', by: 'ada' }],
    ['member', { chat: 'lab', person: 'ben', status: 'king' }],
    ['migrate', {}],
    ['forum', { chat: 'lab', on: 'yes' }],
    ['reset', { really: true }],
    ['jump', { to: 5 }],
    ['fault', { kind: 'earthquake', method: '*' }],
    ['fault', { kind: '429', method: 'send message' }],
    ['fault', { kind: '429', method: '*', count: 0 }],
    ['fault', { kind: '429', method: '*', count: 1.5 }],
    ['fault', { kind: '429', method: '*', chance: 0 }],
    ['fault', { kind: '429', method: '*', chance: 1.5 }],
    ['fault', { kind: 'late', method: '*', delay_ms: -1 }],
  ];

  test.each(nonsense)('%s %j is refused with a sentence', async (name, body) => {
    const { post } = await servePages();
    const { status, json } = await post(name, body);
    expect([status, json.error.code]).toEqual([400, 'invalid_request']);
    expect(json.error.message).toMatch(/^.{8,}\.$/);
  });

  const missing: readonly (readonly [string, unknown, number, string])[] = [
    ['say', { ...fromHere, chat: 'attic' }, 404, 'no_chat'],
    ['say', { ...fromHere, as: 'eve' }, 404, 'no_person'],
    ['say', { ...fromHere, chat: 'lab', as: 'mallory' }, 409, 'not_a_member'],
    ['say', { ...fromHere, text: '' }, 400, 'bad_text'],
    ['say', { ...fromHere, chat: 'lab', thread: 4711 }, 404, 'no_topic'],
    ['press', { as: 'ada', chat: 'lab', message_id: 4711, button: 'x' }, 404, 'no_message'],
    ['press', { as: 'ada', chat: 'lab', button: 'x' }, 404, 'no_button'],
    ['edit', { as: 'ada', chat: 'lab', message_id: 4711, text: 'x' }, 404, 'no_message'],
    ['topic', { action: 'delete', chat: 'lab', thread: 4711 }, 404, 'no_topic'],
    ['migrate', { chat: 'lab' }, 400, 'bad_input'],
    ['bot', { chat: 'ada', status: 'administrator', by: 'ada' }, 400, 'bad_input'],
  ];

  test.each(missing)('%s %j is answered with %d %s', async (name, body, status, code) => {
    const { post } = await servePages();
    const told = await post(name, body);
    expect([told.status, told.json.error.code]).toEqual([status, code]);
    expect(told.json.error.message).toMatch(/^.{8,}\.$/);
  });

  test.each([
    'messages',
    'messages?chat=attic',
    'messages?chat=lab&chat=ada',
    'messages?chat=lab&limit=0',
    'messages?chat=lab&limit=501',
    'messages?chat=lab&thread=x',
    'messages?chat=lab&before=-1',
    'calls?after=x',
    'calls?before=1',
    'transcript?format=xml',
    'transcript?chat=attic',
    'document',
    'state?x=1',
    'events?from=1',
    'state?__proto__=1',
  ])('GET %s is refused', async (path) => {
    const { get } = await servePages();
    const { status, json } = await get(path);
    expect(status).toBe(path.includes('attic') ? 404 : 400);
    expect(json.error.message).toMatch(/^.{8,}\.$/);
  });

  test('an unknown address is 404, a wrong method 405 with those that are right', async () => {
    const { ask } = await servePages();
    for (const path of [
      '/control',
      '/control/',
      '/control/nothing',
      '/page/script/page.js/',
      '/../x',
      '/control/say/x',
    ]) {
      expect([path, (await ask('GET', path)).status]).toEqual([path, 404]);
    }
    expect(await ask('GET', '/control/say')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(await ask('PUT', '/control/fault')).toMatchObject({ status: 405, headers: { allow: 'GET, POST, DELETE' } });
    expect(await ask('OPTIONS', '/control/say')).toMatchObject({ status: 405 });
    expect(await ask('HEAD', '/control/events')).toMatchObject({ status: 405 });
  });

  test('a client that goes away in the middle of a body does no harm', async () => {
    const { port, ask, log } = await servePages();
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        const head = 'POST /sandbox/control/say HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
        socket.write(`${head}content-length: 500\r\n\r\n{"as":`, () => socket.destroy());
      });
      socket.on('close', () => resolve());
    });
    expect((await ask('GET', '/control/state')).status).toBe(200);
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a fault of ours is told without its words, which the log has', async () => {
    const { sandbox, time, log } = await servePages();
    const world = new Proxy(sandbox.world, {
      get: (target, key) => {
        if (key === 'say') return () => assert(false, 'first line\nwhat Ada wrote');
        const value: unknown = Reflect.get(target, key);
        const bound: unknown = typeof value === 'function' ? value.bind(target) : value;
        return bound;
      },
    });
    const broken = await servePages({ world, log, timer: time });
    const told = await broken.post('say', fromHere);
    expect([told.status, told.json.error.code]).toEqual([500, 'internal']);
    expect(told.text).not.toContain('line');
    expect(log.lines.at(-1)).toMatchObject({
      event: 'sandbox_control_fault',
      facts: { route: '/control/say', error: 'AppError: first line' },
    });
    expect(JSON.stringify(log.lines)).not.toContain('what Ada wrote');
  });
});
