import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { AppError } from '../../src/domain/errors.ts';
import { goHome, ownSchema } from '../../src/store/engine/home.ts';
import { openStore, type Opened } from '../../src/store/engine/open.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { nine } from '../support/builders.ts';
import { openPooler, type PoolMode } from '../support/pooler.ts';
import { freshPostgres } from '../support/postgres.ts';
import { openWay } from '../support/way.ts';

const pace = { proof: 50, answer: 400, retry: 10 };

/** A database behind a way, stores over it, and what is told of their sessions. */
async function aPlace(paceMs = pace) {
  const database = await freshPostgres();
  const way = await openWay(database.url);
  const direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  await direct.query(goHome(ownSchema));
  const told: string[] = [];
  const opening = (url: string, pid: number, shared: boolean) => ({
    ...(shared ? { shared: { onStandby: (by: string | null) => void told.push(`standby: ${by}`) } } : {}),
    url,
    holder: { pid, host: 'garden', since: nine },
    onLost: (error: Error) => void told.push(`lost: ${error.message}`),
    onAway: (error: Error | null) => void told.push(error === null ? 'back' : 'away'),
    timer: systemTimer,
    pace: paceMs,
  });
  const opened: Opened[] = [];
  const close = async () => {
    for (const one of opened.splice(0)) await one.close();
  };
  onTestFinished(async () => {
    await close();
    way.close();
    await direct.end();
    await database.drop();
  });
  const open = async (url: string, pid = 4711, shared = false) => {
    const one = await openStore(opening(url, pid, shared));
    opened.push(one);
    return one;
  };
  return {
    way,
    told,
    close,
    open: (pid?: number) => open(way.url, pid),
    openDirectly: (pid: number) => open(database.url, pid),
    openPooled: async (mode: PoolMode, shared = false) => {
      const pooler = await openPooler(database.url, mode);
      onTestFinished(() => pooler.close());
      return { pooler, opened: open(pooler.url, 4711, shared) };
    },
    /** Past the way. */
    ask: async (sql: string) => (await direct.query<Record<string, unknown>>(sql)).rows,
  };
}

test('a process that hands out work and is alone all the same, as with a sandbox, keeps out those who share, and is refused beside them', async () => {
  const database = await freshPostgres();
  onTestFinished(() => database.drop());
  const told: (string | null)[] = [];
  const open = (pid: number, isAlone: boolean) =>
    openStore({
      url: database.url,
      holder: { pid, host: 'garden', since: nine },
      shared: { onStandby: (by) => void told.push(by) },
      isAlone,
      onLost: () => undefined,
      timer: systemTimer,
      pace,
    });
  const first = await open(1, false);
  await expect(open(2, true)).rejects.toThrow('is held by process 1 on garden');
  await first.close();
  const alone = await open(2, true);
  expect(alone.work).not.toBeNull();
  const waiting = open(3, false);
  await until(() => told.length > 0);
  await alone.close();
  await (await waiting).close();
  expect(told).toEqual(['process 2 on garden', null]);
});

/** Every connection with the lock of that key, in the database of who asks. */
const holding = (key: number) => `(select pid from pg_locks where locktype = 'advisory' and objid = ${key % 2 ** 32}
  and database = (select oid from pg_database where datname = current_database()))`;
const scheduler = holding(7_290_411_002);
const lent = holding(7_290_411_003);
const end = (pids: string) => `select pg_terminate_backend(pid) from pg_stat_activity where pid in ${pids}`;

const remedy = /pooler.*Give the address of the Postgres server itself/;

const until = async (seen: () => boolean | Promise<boolean>) => {
  await expect.poll(seen, { interval: 5 }).toBe(true);
};
const writes = ({ store }: Opened) =>
  store.writeNote('k', 'v', nine).then(
    () => 'written',
    (error: unknown) => (error as AppError).code,
  );

test('a connection that is ended while it is in use fails what was asked of it, and nothing else', async () => {
  const { open, ask, told } = await aPlace();
  const opened = await open();
  let doubts = 0;
  opened.onDoubt(() => (doubts += 1));
  // A transaction sees the connections that were there when it looked first.
  expect(await writes(opened)).toBe('written');
  await ask('begin; lock table kv');
  const writing = writes(opened);
  await until(async () => (await ask(end(lent))).length > 0);
  expect(await writing).toBe('store_unavailable');
  // It might have been committed.
  expect(doubts).toBe(1);
  await ask('rollback');
  expect(await writes(opened)).toBe('written');
  // One that nobody uses is not missed.
  await ask(end(lent));
  await until(async () => (await writes(opened)) === 'written');
  expect(told).toEqual([]);
});

test('without its lock a process commits nothing, and goes on when it has the lock again', async () => {
  const { open, openDirectly, ask, told, way } = await aPlace();
  const opened = await open();
  // A transaction sees the connections that were there when it looked first.
  expect(await opened.store.readNote('k')).toBeNull();
  await ask('begin; lock table kv');
  const writing = writes(opened);
  await until(async () => (await ask(`select from pg_stat_activity where wait_event = 'relation'`)).length > 0);
  way.cut();
  await until(() => told.length > 0);
  await ask('rollback');
  expect([await writing, await writes(opened)]).toEqual(['store_unavailable', 'store_unavailable']);
  way.mend();
  await until(() => told.includes('back'));
  expect(told).toEqual(['away', 'back']);
  expect(await opened.store.readNote('k')).toBeNull();
  expect(await writes(opened)).toBe('written');
  await expect(openDirectly(4712)).rejects.toThrow(/held by process 4711 on garden/);
});

test('whoever loses the lock to another process is told which', async () => {
  const { open, openDirectly, told, way } = await aPlace();
  const opened = await open();
  way.cut();
  await until(() => told.includes('away'));
  const rival = await openDirectly(4712).catch(() => openDirectly(4712));
  way.mend();
  await until(() => told.length > 1);
  expect(told[1]).toMatch(/^lost: .*held by process 4712 on garden.*stop that one first/);
  expect([await writes(opened), await writes(rival)]).toEqual(['store_unavailable', 'written']);
});

test('what connections that lead nowhere have left is cleared away before the process goes on', async () => {
  const { open, ask, told, way } = await aPlace();
  const opened = await open();
  expect(await writes(opened)).toBe('written');
  await ask('begin; lock table kv');
  const writing = writes(opened);
  await until(async () => (await ask(`select from pg_stat_activity where wait_event = 'relation'`)).length > 0);
  way.freeze();
  // The server finishes the statement, waits for a commit that never comes, and keeps the row locked.
  await ask('rollback');
  expect(await writing).toBe('store_unavailable');
  await until(() => told.includes('back'));
  expect(told).toEqual(['away', 'back']);
  expect(await writes(opened)).toBe('written');
});

test('the lock is taken again after the connection that holds it was ended by hand', async () => {
  const { open, ask, told } = await aPlace();
  const opened = await open();
  await ask(end(scheduler));
  await until(() => told.includes('back'));
  expect(told).toEqual(['away', 'back']);
  expect(await writes(opened)).toBe('written');
});

test('a try to take the lock again that leads nowhere holds up nobody for long', async () => {
  const { open, told, way } = await aPlace({ ...pace, answer: 60_000 });
  const opened = await open();
  way.cut();
  way.mend();
  way.block();
  await until(() => told.includes('away'));
  way.mend();
  await expect.poll(() => told, { timeout: 20_000 }).toEqual(['away', 'back']);
  expect(await writes(opened)).toBe('written');
});

test('a server that says that it is starting up is waited for', async () => {
  const { open, way } = await aPlace();
  way.startUp(3);
  expect(await writes(await open())).toBe('written');
});

test('a store can be closed while its database is away', async () => {
  const { open, close, told, way } = await aPlace();
  await open();
  way.cut();
  await until(() => told.includes('away'));
  await close();
  expect(told).toEqual(['away']);
});

test.each(['transaction', 'statement'] as const)(
  'a pooler that lends connections for a %s is refused with the remedy, and keeps no lock',
  async (mode) => {
    const { openPooled, openDirectly, ask } = await aPlace();
    const { opened } = await openPooled(mode);
    await expect(opened).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(remedy) as string,
    });
    expect(await ask(`select from pg_locks where locktype = 'advisory' and pid in ${scheduler}`)).toEqual([]);
    expect(await writes(await openDirectly(4712))).toBe('written');
  },
);

test('a pooler that lends connections for a session is as good as none', async () => {
  const { openPooled, openDirectly, told } = await aPlace();
  const opened = await (await openPooled('session')).opened;
  expect(await writes(opened)).toBe('written');
  await expect(openDirectly(4712)).rejects.toThrow(/held by process 4711 on garden/);
  expect(told).toEqual([]);
});

test('a pooler that begins to lend connections for a transaction ends the process with the remedy', async () => {
  const { openPooled, told } = await aPlace();
  const { pooler, opened } = await openPooled('session');
  const over = await opened;
  pooler.turnTo('transaction');
  const work = async () =>
    (await Promise.all(Array.from({ length: 5 }, () => writes(over)))).length > 0 && told.length > 0;
  await until(work);
  expect(told).toEqual([expect.stringMatching(remedy)]);
  expect(await writes(over)).toBe('store_unavailable');
});

test('one of many processes works through a pooler that lends connections for a transaction', async () => {
  const { openPooled, ask, told } = await aPlace();
  const opened = await (await openPooled('transaction', true)).opened;
  const written = await Promise.all(Array.from({ length: 30 }, () => writes(opened)));
  expect(new Set(written)).toEqual(new Set(['written']));
  const keys = await Promise.all(Array.from({ length: 30 }, () => opened.store.readNote('k')));
  expect(new Set(keys)).toEqual(new Set(['v']));
  // Rows of a caller are kept apart there too.
  expect((await opened.store.within(['chat']).taskTally('', 10)).counts).toEqual([]);
  // Nothing of it stays on a connection that the next one is lent.
  expect(await ask(`select from pg_locks where locktype = 'advisory' and pid in ${scheduler}`)).toEqual([]);
  // One that wants the database for itself is let go first, also where no lock can say so.
  await ask('select pg_advisory_lock(7290411002)');
  await until(() => told.includes('away'));
  expect(await writes(opened)).toBe('store_unavailable');
  await ask('select pg_advisory_unlock(7290411002)');
  await until(() => told.includes('back'));
  expect(await writes(opened)).toBe('written');
});
