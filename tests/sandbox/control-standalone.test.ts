import { get } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { serveStandalone } from '../../src/sandbox/standalone.ts';
import { manualTime, memoryLog } from '../support/fakes.ts';
import { startAt } from './control-server.ts';

const token = '777000001:standalone-test';

function needs() {
  const time = manualTime(startAt);
  const limits = { globalPerSecond: null, chatPerSecond: null, groupPerMinute: null };
  return { clock: time, stopwatch: time, timer: time, log: memoryLog(), file: ':memory:', token, limits };
}

test('one server carries the page, the control API and the Bot API', async () => {
  const served = await serveStandalone(needs(), 0);
  onTestFinished(() => served.close());
  expect((await fetch(served.page)).headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await (await fetch(`${served.page}/control/state`)).json()).toMatchObject({ clock: { can_jump: false } });
  expect(await (await fetch(`${served.apiRoot}/bot${token}/getMe?x=1`)).json()).toMatchObject({ ok: true });
  const root = await fetch(`http://127.0.0.1:${served.port}/`, { redirect: 'manual' });
  expect([root.status, root.headers.get('location')]).toEqual([302, '/sandbox']);
  for (const path of ['/x', '/sandboxes', '/sandbox/x']) {
    expect([path, (await fetch(`http://127.0.0.1:${served.port}${path}`)).status]).toEqual([path, 404]);
  }
});

test('the Bot API answers no foreign host either', async () => {
  const served = await serveStandalone(needs(), 0);
  onTestFinished(() => served.close());
  const status = await new Promise((resolve, reject) => {
    const path = `/sandbox/bot${token}/getMe`;
    const headers = { host: 'evil.example' };
    get({ host: '127.0.0.1', port: served.port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
  expect(status).toBe(403);
});

test('closing ends an open stream and a hanging poll', async () => {
  const served = await serveStandalone(needs(), 0);
  const stream = await fetch(`${served.page}/control/events`);
  const poll = fetch(`${served.apiRoot}/bot${token}/getUpdates?timeout=50`).then(
    ({ status }) => status,
    () => 'cut',
  );
  await fetch(served.page);
  await served.close();
  await stream.text().catch(() => 'cut');
  await poll;
  await expect(fetch(served.page)).rejects.toThrow('fetch failed');
});

test('a port that is taken is told, and nothing stays open', async () => {
  const first = await serveStandalone(needs(), 0);
  onTestFinished(() => first.close());
  await expect(serveStandalone(needs(), first.port)).rejects.toThrow('EADDRINUSE');
});
