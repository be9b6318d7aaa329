import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AppError } from '../../src/domain/errors.ts';
import { openStore, type Opened } from '../../src/store/engine/open.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { nine } from '../support/builders.ts';
import { freshPostgres } from '../support/postgres.ts';
import { openWay } from '../support/way.ts';

/** What becomes of those who wait for a database that does not answer, for a process alone and for one of many. */

const pace = { proof: 60_000, answer: 400, retry: 10 };
const pulsePace = { wait: 100, answer: 300, retry: 10 };
const until = async (seen: () => boolean | Promise<boolean>) => {
  await expect.poll(seen, { timeout: 20_000, interval: 5 }).toBe(true);
};

async function aStore(shared: boolean, proof = pace.proof) {
  const database = await freshPostgres();
  const ends: (() => Promise<unknown> | void)[] = [database.drop];
  onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  ends.push(() => client.end());
  const ask = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows;
  const user = `guest_${process.pid}_${(users += 1)}`;
  await ask(`create role ${user} login password 'x' createrole`);
  await ask(`grant create on database ${new URL(database.url).pathname.slice(1)} to ${user}`);
  await ask(`create schema cronogram authorization ${user}; set search_path to cronogram`);
  ends.push(() => ask(`drop owned by ${user} cascade; drop role ${user}`));
  const as = new URL(database.url);
  [as.username, as.password] = [user, 'x'];
  const way = await openWay(as.href);
  ends.push(() => way.close());
  const told: string[] = [];
  const opened = await openStore({
    url: way.url,
    holder: { pid: 4711, host: 'garden', since: nine },
    onLost: (error) => void told.push(`lost: ${error.message}`),
    onAway: (error) => void told.push(error === null ? 'back' : 'away'),
    timer: systemTimer,
    pace: { ...pace, proof },
    pulsePace,
    ...(shared ? { shared: { onStandby: () => undefined } } : {}),
  });
  ends.push(() => opened.close());
  return { way, told, opened, ask, user };
}

let users = 0;

const writes = ({ store }: Opened, key = 'k') =>
  store.writeNote(key, 'v', nine).then(
    () => 'written',
    (error: unknown) => (error as AppError).code,
  );

describe.each([
  ['a process that has the database for itself', false],
  ['one of many processes', true],
] as const)('%s', (_who, shared) => {
  test('is told at once when the server swallows what it is asked, and goes on when it answers', async () => {
    const { way, told, opened } = await aStore(shared);
    expect(await writes(opened)).toBe('written');
    way.block();
    const underWay = Array.from({ length: 15 }, (_one, index) => writes(opened, `k${index}`));
    // More than there are connections.
    expect(new Set(await Promise.all(underWay))).toEqual(new Set(['store_unavailable']));
    expect(told).toEqual(['away']);
    // Nobody waits any more.
    const asked = performance.now();
    expect(await writes(opened)).toBe('store_unavailable');
    expect(performance.now() - asked).toBeLessThan(pulsePace.wait);
    way.mend();
    await until(() => told.includes('back'));
    await until(async () => (await writes(opened)) === 'written');
    expect(told.filter((one) => one.startsWith('lost'))).toEqual([]);
  });

  test('is back for good, also where the connection of its lock was the one that led nowhere', async () => {
    const { way, told, opened, ask } = await aStore(shared, 300);
    way.block();
    expect(await writes(opened)).toBe('store_unavailable');
    way.mend();
    await until(() => told.includes('back'));
    const [{ now } = { now: null }] = await ask('select clock_timestamp() as now');
    const proofs = `select from pg_stat_activity where application_name = 'process 4711 on garden' and query_start > '${(now as Date).toISOString()}'`;
    await until(async () => (await ask(proofs)).length > 0);
    expect(told).toEqual(['away', 'back']);
  });

  test('waits for a statement that takes long, because the server answers meanwhile', async () => {
    const { told, opened, ask } = await aStore(shared);
    await opened.store.readNote('k');
    await ask('begin; lock table kv');
    const writing = writes(opened);
    await until(async () => (await ask(`select from pg_locks where not granted`)).length > 0);
    await ask(`select pg_sleep(${(4 * pulsePace.wait) / 1000})`);
    await ask('rollback');
    expect([await writing, told]).toEqual(['written', []]);
  });

  test('refuses while the server has no connection left, and goes on when it has', async () => {
    const { told, opened, ask, user } = await aStore(shared);
    expect(await writes(opened)).toBe('written');
    await ask(`alter role ${user} connection limit 1`);
    const lent = `select pid from pg_locks where locktype = 'advisory' and objid = ${7_290_411_003 % 2 ** 32} and database =
      (select oid from pg_database where datname = current_database())`;
    await ask(`select pg_terminate_backend(pid, 5000) from (${lent}) as l`);
    await until(async () => (await writes(opened)) === 'store_unavailable');
    expect(await writes(opened)).toBe('store_unavailable');
    await ask(`alter role ${user} connection limit 20`);
    await until(async () => (await writes(opened)) === 'written');
    expect(told).toEqual([]);
  });
});
