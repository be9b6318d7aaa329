import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../src/store/engine/engine.ts';
import { postgresEngine, postgresPool, type Connections } from '../../src/store/engine/postgres.ts';
import { translate } from '../../src/store/engine/store.ts';
import { freshPostgres } from '../support/postgres.ts';
import { rows } from '../support/texts.ts';
import { openWay } from '../support/way.ts';

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function anEngine() {
  const fresh = await freshPostgres();
  opened.push(() => fresh.drop());
  const connections: Connections = postgresPool(fresh.url, {
    patience: { connection: 5000, query: 300 },
    home: 'public',
  });
  opened.push(() => connections.end());
  const engine = postgresEngine(connections);
  await engine.transact(() => rows('create table t (x text)'));
  return engine;
}

function* insert(text: string, sleepSeconds: number): Script<void> {
  yield* rows(`insert into t (x) values (?t)`, text);
  yield* rows(`select pg_sleep(${sleepSeconds})`);
}

describe('a Postgres that does not answer in time', () => {
  test('leaves nothing of the transaction, and lends its connection to nobody', async () => {
    const engine = await anEngine();
    const slow = engine.transact(() => insert('from the one that failed', 2)).catch(translate);
    expect(await slow).toMatchObject({ code: 'store_unavailable' });
    await engine.transact(() => insert('from the next one', 0));
    const found = await engine.transact(() => rows<{ x: string }>('select x from t'));
    expect(found).toEqual([{ x: 'from the next one' }]);
  });

  test('is told apart from a statement that it refuses', async () => {
    const engine = await anEngine();
    const refused = await engine.transact(() => rows('select 1 / 0')).catch(translate);
    expect(refused).toMatchObject({ code: 'internal' });
    expect(await engine.transact(() => rows('select 1 as one'))).toEqual([{ one: 1 }]);
  });
});

test('ends what connections that were cut have left open on the server, so that it keeps no rows', async () => {
  const fresh = await freshPostgres();
  const way = await openWay(fresh.url);
  const pool = postgresPool(way.url, { home: 'public' });
  opened.push(
    fresh.drop,
    () => pool.end(),
    async () => way.close(),
  );
  const engine = postgresEngine(pool);
  await engine.transact(() => rows('create table t (x text)'));
  await engine.transact(() => insert('one', 0));
  const held = await pool.connect();
  await held.query('begin; set local idle_in_transaction_session_timeout = 0; select from t for update', []);

  way.freeze();
  pool.drop();
  held.release(true);

  await engine.transact(() => rows(`update t set x = 'two'`));
  expect(await engine.transact(() => rows('select x from t'))).toEqual([{ x: 'two' }]);
});
