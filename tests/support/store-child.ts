import { writeSync } from 'node:fs';
import { errorText } from '../../src/domain/errors.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { postgresEngine, postgresPool } from '../../src/store/engine/postgres.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { buildersOf, nine, readable } from './builders.ts';
import { countingIds } from './fakes.ts';

/** A process of its own for tests: `hold <url>` holds the lock of a database until it is killed; `claim <file>` claims what is due; `freeze <url>` stands still while it does so, `queue <url>` while it waits for itself. */
const [verb, place = ''] = process.argv.slice(2);

async function hold(): Promise<void> {
  const ignore = () => {};
  const holder = { pid: process.pid, host: 'child', since: 0 };
  await openStore({ url: place, holder, onLost: ignore, timer: systemTimer });
  process.stdout.write('held\n');
  // Something must keep the process alive: the lock itself is no work.
  process.stdin.resume();
}

async function claim(): Promise<void> {
  const store = createStore(sqliteEngine(openSqlite(place)));
  const make = buildersOf(countingIds(`child-${process.pid}`));
  process.stdout.write('ready\n');
  for await (const _start of process.stdin) break;
  let taken = 0;
  for (let more = true; more;) {
    const counts = await store.claimDue({ now: nine, limit: 5 }, (due) => due.map((row) => make.claim(readable(row))));
    taken += counts.taken;
    more = counts.more;
  }
  await store.close();
  process.stdout.write(`${taken}\n`);
}

/** Claims what is due, and stands still in the middle of the transaction until it is woken. */
async function freeze(): Promise<void> {
  const store = createStore(postgresEngine(postgresPool(place)));
  const make = buildersOf(countingIds(`child-${process.pid}`));
  const outcome = await store
    .claimDue({ now: nine, limit: 100 }, (due) => {
      writeSync(1, 'stands still\n');
      process.kill(process.pid, 'SIGSTOP');
      return due.map((row) => make.claim(readable(row)));
    })
    .then(
      ({ taken }) => `claimed ${taken}`,
      (error: unknown) => `refused: ${errorText(error)}`,
    );
  process.stdout.write(`${outcome}\n`);
  await store.close();
}

/** Stands still with a row, for which more transactions of its own wait. */
async function queue(): Promise<void> {
  const pool = postgresPool(place);
  const begun = async () => {
    const client = await pool.connect();
    await client.query('begin', []);
    return client;
  };
  const [first, others] = [await begun(), await Promise.all(Array.from({ length: 5 }, begun))];
  const hold = 'select from tasks for update';
  await first.query(hold, []);
  const settled = Promise.allSettled(others.map((client) => client.query(hold, [])));
  const beside = await pool.connect();
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query = '${hold}'`;
  while ((await beside.query(waiting, [])).rows.length < others.length);
  writeSync(1, 'stands still\n');
  process.kill(process.pid, 'SIGSTOP');
  for (const { status } of await settled) process.stdout.write(`${status}\n`);
  process.exit(0);
}

await { hold, claim, freeze, queue }[verb as 'hold' | 'claim' | 'freeze' | 'queue']();
