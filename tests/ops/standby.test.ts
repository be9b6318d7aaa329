import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { manualTime, second, start } from '../support/fakes.ts';
import { aFolder } from '../support/place.ts';
import { freePort } from '../support/ports.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { bearer, drift, serverIn } from '../support/server.ts';

/** A process that waits for another one, which has the database for itself as releases before did. */
async function aStandby() {
  const database = await freshPostgres();
  const onLost = (error: Error) => {
    throw error;
  };
  const before = await openStore({
    url: database.url,
    holder: { pid: 4711, host: 'garden', since: start },
    timer: systemTimer,
    onLost,
  });
  const time = manualTime(start);
  const port = await freePort();
  // Without a bot it would share with nobody.
  const bot = {
    TELEGRAM_BOT_TOKEN: `123456789:${'A'.repeat(35)}`,
    TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
    ROLE: 'api',
  };
  const env = { ...onPostgres, ...bot, DATABASE_URL: database.url, HTTP_PORT: String(port) };
  const starting = serverIn({ folder: aFolder(), env, time });
  let isStarted = false;
  void starting.then(() => (isStarted = true));
  const place = `http://127.0.0.1:${port}`;
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(place + path, { headers });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: await answer.json(),
    };
  };
  const until = async (is: () => Promise<boolean>) => {
    while (!(await is())) await drift(time, second);
  };
  let isEnded = false;
  const end = async () => {
    if (!isEnded) await before.close();
    isEnded = true;
  };
  onTestFinished(async () => {
    await end();
    await until(async () => isStarted);
    const { server } = await starting;
    let isOver = false;
    const stopping = server.stop().finally(() => (isOver = true));
    await until(async () => isOver);
    await stopping;
    await database.drop();
  });
  await until(() =>
    ask('/livez').then(
      () => true,
      () => false,
    ),
  );
  return { ask, end, until, starting, isStarted: () => isStarted };
}

it('a process that waits for another one says so, and nothing else, until it takes over', async () => {
  const { ask, end, until, starting, isStarted } = await aStandby();
  expect(await ask('/livez')).toMatchObject({ status: 200, body: { ok: true } });
  expect(await ask('/version')).toMatchObject({ status: 200, body: { name: 'cronogram', version: '0.0.0' } });
  const server = 'standby: waits for another process, which has the database for itself';
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: { ok: false, server } });
  for (const path of ['/v1/tasks', '/v1/status', '/metrics', '/docs'])
    expect(await ask(path)).toMatchObject({
      status: 503,
      retryAfter: '5',
      body: { error: { code: 'store_unavailable', message: expect.stringContaining('stands by') as string } },
    });
  // The operator is told its name.
  const told = await ask('/v1/status', bearer);
  expect(JSON.stringify(told.body)).toContain('waits for process 4711 on garden, which has the database for itself');
  expect(isStarted()).toBe(false);

  await end();
  await until(async () => (await ask('/readyz')).status === 200);
  expect(await ask('/v1/tasks', bearer)).toMatchObject({ status: 200 });
  const { log } = await starting;
  const events = log.lines.map(({ event }) => event);
  expect(events.indexOf('standby')).toBeLessThan(events.indexOf('standby_over'));
});
