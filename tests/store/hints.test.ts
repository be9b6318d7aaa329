import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Hint } from '../../src/app/ports/hints.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { createNotifyHints } from '../../src/store/jobs/notify.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { manualTime, memoryLog, start } from '../support/fakes.ts';
import { soon } from '../support/patience.ts';
import { openPooler } from '../support/pooler.ts';
import { freshPostgres } from '../support/postgres.ts';

const pace = { gather: 5, gatherEvents: 5, beat: 50, answer: 2000, look: 50, retry: 20 };

async function aDatabase() {
  const database = await freshPostgres();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  /** Hints of a process, and how often it has heard each. */
  const hear = async (processId: string, { url = database.url, isDeaf = false, timer = systemTimer } = {}) => {
    const log = memoryLog();
    const hints = createNotifyHints({ url, processId, timer, log, pace, isDeaf });
    const heard = new Map<Hint, number>();
    for (const hint of ['scheduler', 'changed:access', 'changed:secrets'] as const)
      hints.on(hint, () => heard.set(hint, (heard.get(hint) ?? 0) + 1));
    await hints.open();
    onTestFinished(() => hints.close());
    return { hints, heard, log, events: () => log.lines.map(({ event }) => event) };
  };
  return {
    url: database.url,
    hear,
    query: async (text: string) => (await client.query<Record<string, unknown>>(text)).rows,
  };
}

test('a process whose connection for hints is ended hears again, and drops all that it has kept meanwhile', async () => {
  const { hear, query } = await aDatabase();
  const [here, there] = [await hear('here'), await hear('there')];
  there.hints.publish('scheduler');
  await soon(() => expect(here.heard.get('scheduler')).toBe(1));
  expect([...here.heard.keys()]).toEqual(['scheduler']);

  await query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cronogram-hints here'`);
  // Said while nobody listened here.
  there.hints.publish('changed:secrets');
  await soon(() => expect(here.events()).toEqual(['hints_unheard', 'hints_heard_again']));
  expect([...here.heard]).toEqual([
    ['scheduler', 2],
    ['changed:access', 1],
    ['changed:secrets', expect.any(Number)],
  ]);
  there.hints.publish('changed:access');
  await soon(() => expect(here.heard.get('changed:access')).toBe(2));
  expect(there.events()).toEqual([]);
});

test('a word of anybody shows that the connection hears, so that none of its own is said', async () => {
  const { hear, query } = await aDatabase();
  const time = manualTime(start);
  const here = await hear('here', { timer: time });
  const saysOf = async () =>
    (await query(`select query from pg_stat_activity where application_name = 'cronogram-hints here'`))[0]?.['query'];
  for (let beat = 1; beat <= 3; beat += 1) {
    await query(`select pg_notify('cronogram', '{"from": "another", "hints": ["scheduler"]}')`);
    await soon(() => expect(here.heard.get('scheduler')).toBe(beat));
    await time.advance(pace.beat);
    expect(await saysOf()).toBe('listen cronogram');
  }
  // Silence is not trusted.
  await time.advance(pace.beat);
  await soon(async () => expect(await saysOf()).toContain('pg_notify'));
  expect(here.events()).toEqual([]);
});

test('behind a pooler that lends its connections everybody looks again and again, says so, and is heard by those who can', async () => {
  const { url, hear } = await aDatabase();
  const pooler = await openPooler(url, 'transaction');
  onTestFinished(() => pooler.close());
  const [deaf, other] = [await hear('deaf', { url: pooler.url, isDeaf: true }), await hear('other')];
  expect(deaf.log.lines).toMatchObject([
    { event: 'hints_deaf', facts: { advice: expect.stringContaining('DATABASE_DIRECT_URL') as string } },
  ]);
  await soon(() => expect(deaf.heard.get('changed:access')).toBeGreaterThan(3));
  deaf.hints.publish('changed:access');
  await soon(() => expect(other.heard.get('changed:access')).toBe(1));
});

test('a process knows by its addresses whether it can listen: not over a pooler, and over the direct one all the same', async () => {
  const { url } = await aDatabase();
  const pooler = await openPooler(url, 'transaction');
  onTestFinished(() => pooler.close());
  const eventsOf = async (directUrl?: string) => {
    const log = memoryLog();
    const opened = await openStore({
      url: pooler.url,
      directUrl,
      shared: { onStandby: () => undefined },
      holder: { pid: 1, host: 'here', since: 0 },
      timer: systemTimer,
      log,
      onLost: () => undefined,
    });
    await opened.close();
    return log.lines.map(({ event }) => event).filter((event) => event.startsWith('hints'));
  };
  expect(await eventsOf()).toEqual(['hints_deaf']);
  expect(await eventsOf(url)).toEqual([]);
});

test('an address around the pooler that leads to another database is refused, and nothing is made there', async () => {
  const [one, other] = [await aDatabase(), await aDatabase()];
  const opening = openStore({
    url: one.url,
    directUrl: other.url,
    shared: { onStandby: () => undefined },
    holder: { pid: 1, host: 'here', since: 0 },
    timer: systemTimer,
    onLost: () => undefined,
  });
  await expect(opening).rejects.toThrow(/^DATABASE_DIRECT_URL leads to another database \(.+\) than DATABASE_URL/);
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  onTestFinished(() => client.end());
  expect((await client.query(`select to_regnamespace('cronogram') as home`)).rows).toEqual([{ home: null }]);
});
