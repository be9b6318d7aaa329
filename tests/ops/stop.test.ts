import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { signalRepeatMs, stopGraceMs } from '../../src/domain/limits.ts';
import { soon } from '../support/patience.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { openBotApi } from './bot-api.ts';
import { startProgram } from './program.ts';

const token = 'the-token-of-the-tests';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** A stream that is read until its other end closes it. */
async function aStream(url: string): Promise<{ readonly closed: Promise<void> }> {
  const answer = await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
  const drain = async () => {
    try {
      for await (const chunk of answer.body ?? []) void chunk;
    } catch {
      // Cut is as good as closed.
    }
  };
  return { closed: drain() };
}

describe.concurrent('a signal', () => {
  it('ends the server with 0 at once, although streams are open', async ({ onTestFinished: atEnd }) => {
    const program = startProgram(aFolder(atEnd), { DATABASE_URL: 'file:c.db', API_TOKEN: token }, atEnd);
    const url = await program.url();
    const streams = [await aStream(`${url}/v1/events`), await aStream(`${url}/sandbox/control/events`)];
    program.kill('SIGTERM');
    await Promise.all(streams.map(({ closed }) => closed));
    expect(await program.ended).toBe(0);
    const last = program.lines().at(-1);
    expect(last).toMatchObject({ level: 'info', event: 'stopped' });
    // That is the grace of what is in flight, which nothing is.
    expect(last?.['ms']).toBeLessThan(stopGraceMs);
  });

  it('that comes a second time ends it without waiting, and it says what it waited for', async ({
    onTestFinished: atEnd,
  }) => {
    const telegram = await openBotApi();
    atEnd(() => telegram.close());
    // Only sends hang: a menu or a look at the chat under way would be an update that the stop waits for first.
    for (const method of ['createForumTopic', 'sendMessage']) telegram.behave(method, 'hang');
    const program = startProgram(
      aFolder(atEnd),
      {
        DATABASE_URL: 'file:c.db',
        API_TOKEN: token,
        TELEGRAM_BOT_TOKEN: '123456789:the-token-of-the-bot-of-the-tests',
        TELEGRAM_API_ROOT: telegram.root,
        TELEGRAM_CHATS: '1001',
        TELEGRAM_OWNERS: '1002',
        LOG_LEVEL: 'debug',
      },
      atEnd,
    );
    const url = await program.url();
    const body = { instructions: 'Hello', schedule: { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } };
    const made = await fetch(`${url}/v1/threads/telegram:chat:1001/tasks`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const { task } = (await made.json()) as { task: { task_id: string } };
    await fetch(`${url}/v1/tasks/${task.task_id}/run-now`, { method: 'POST', headers });
    const isHanging = () =>
      expect(telegram.asked.some((method) => /^(?:sendMessage|createForumTopic)$/.test(method))).toBe(true);
    await soon(isHanging);
    // At first a second signal is taken for the same one, sent twice by a terminal and a package manager.
    program.kill('SIGTERM');
    program.kill('SIGINT');
    await program.logs('stopping');
    const told = performance.now();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const waits = () => program.lines().findLast(({ event }) => event === 'stop_waits');
    await soon(() => expect(waits()).toMatchObject({ for: 'deliveries under way' }));
    await soon(() => expect(performance.now() - told).toBeGreaterThan(signalRepeatMs));
    program.kill('SIGTERM');
    expect(await program.ended).toBe(1);
    expect(program.lines().at(-1)).toMatchObject({ event: 'stop_cut_short', waits_for: 'deliveries under way' });
  });

  it('ends at once a process that stands by, which holds nothing', async ({ onTestFinished: atEnd }) => {
    const database = await freshPostgres();
    atEnd(() => database.drop());
    const own = { ...onPostgres, DATABASE_URL: database.url, API_TOKEN: token };
    const before = startProgram(aFolder(atEnd), { ...own, ENGINE: 'embedded' }, atEnd);
    await before.url();
    // Without a bot it would share with nobody.
    const bot = { TELEGRAM_BOT_TOKEN: `123456789:${'A'.repeat(35)}`, TELEGRAM_API_ROOT: 'http://127.0.0.1:9' };
    const program = startProgram(aFolder(atEnd), { ...own, ...bot, ROLE: 'api' }, atEnd);
    await soon(() => expect(program.lines()).toContainEqual(expect.objectContaining({ event: 'standby' })));
    program.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.lines().at(-1)).toMatchObject({ level: 'info', event: 'stopped' });
    before.kill('SIGTERM');
    expect(await before.ended).toBe(0);
  });

  it('ends a start that waits for a database which never answers', async ({ onTestFinished: atEnd }) => {
    const open = new Set<Socket>();
    const silent = createServer((socket) => open.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    atEnd(() => {
      for (const socket of open) socket.destroy();
      silent.close();
    });
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : null;
    const url = `postgres://somebody@127.0.0.1:${port}/somewhere`;
    const program = startProgram(aFolder(atEnd), { DATABASE_URL: url, ...onPostgres, API_TOKEN: token }, atEnd);
    await soon(() => expect(open.size).toBe(1));
    program.kill('SIGTERM');
    await program.logs('stopping');
    expect(await program.ended).toBe(1);
    expect(program.written()).toContain('stop_failed');
  });
});
