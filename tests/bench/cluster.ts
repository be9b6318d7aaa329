import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { createDatabase, startPostgres } from '../support/postgres-server.ts';
import {
  cpuMsOf,
  cpuMsOfServer,
  fillPostgres,
  openDatabase,
  openProcess,
  serverPid,
  startWorkers,
} from './postgres.ts';
import { spread, type Figure } from './report.ts';
import { settings } from './world.ts';

/** Several processes on a Postgres whose commits wait for the disk. */
async function onPostgres<T>(measure: (url: string) => Promise<T>): Promise<T> {
  const postgres = await startPostgres({ durable: true });
  try {
    return await measure(postgres.url);
  } finally {
    await postgres.stop();
  }
}

/** Beside graphile-worker alone on the same server. */
export function benchCluster(): Promise<Figure[]> {
  return onPostgres(async (url) => {
    const plain = await plainJobs(url);
    const alone = { name: 'graphile-worker alone, a job that does nothing, 10 places', value: plain, unit: 'jobs/s' };
    return [alone, ...(await pipelines(url, plain))];
  });
}

export const benchClusterLateness = () => onPostgres(lateness);
export const benchClusterClaim = () => onPostgres(async (url) => [await claims(url)]);

const jobs = 10_000;

/** As its own bench does it: all jobs are there when it starts. */
async function plainJobs(adminUrl: string): Promise<number> {
  const database = await createDatabase(adminUrl);
  const pool = new pg.Pool({ connectionString: database.url, max: 12 });
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  await runMigrations({ pgPool: pool });
  await pool.query(
    `select graphile_worker.add_job('nothing', json_build_object('id', g)) from generate_series(1, ${jobs}) g`,
  );
  let left = jobs;
  let done = () => {};
  const allDone = new Promise<void>((resolve) => (done = resolve));
  const from = performance.now();
  const runner = await run({
    pgPool: pool,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    preset: { worker: { concurrentJobs: 10, maxPoolSize: 12, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: {
      nothing: () => {
        left -= 1;
        if (left === 0) done();
      },
    },
  });
  await allDone;
  const perSecond = jobs / ((performance.now() - from) / 1000);
  await runner.stop();
  await pool.end();
  await database.drop();
  return perSecond;
}

/* ---- the pipeline ---- */

const runs = 10_000;
/** Tasks are there before their slots. */
const aheadMs = 8000;

interface Drained {
  readonly perSecond: number;
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly busyShare: number;
}

async function pipelines(adminUrl: string, plain: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  let ofTwo = 0;
  for (const workers of [1, 2, 4]) {
    const { perSecond, workerMs, postgresMs, busyShare } = await drained(adminUrl, workers);
    if (workers === 2) ofTwo = perSecond;
    const name = `${workers} ${workers === 1 ? 'worker' : 'workers'}`;
    figures.push(
      {
        name: `slots that are due at once to ended runs, ${name}`,
        value: perSecond,
        unit: 'runs/s',
        baseline: workers === 4 ? ofTwo : plain,
        baselineName: workers === 4 ? '2 workers' : 'jobs of graphile-worker alone',
        aim: workers === 4 ? '90 %' : '100 %',
      },
      { name: `  CPU of the workers for a run, ${name}`, value: workerMs, unit: 'ms' },
      { name: `  CPU of Postgres for a run, ${name}`, value: postgresMs, unit: 'ms' },
      { name: `  share of all cores that they keep busy, ${name}`, value: 100 * busyShare, unit: '%' },
    );
  }
  return figures;
}

async function drained(adminUrl: string, count: number): Promise<Drained> {
  const database = await openDatabase(adminUrl);
  const { client } = database;
  const workers = await startWorkers(database.url, count);
  const dueAt = Date.now() + aheadMs;
  await fillPostgres(client, {
    count: runs,
    schedule: { schedule_kind: `'interval'`, interval: `'P1D'`, start_at: String(dueAt), min_gap_ms: '86400000' },
    nextAt: String(dueAt),
  });
  await tellOfTasks(client, dueAt);
  const server = await serverPid(client);
  await pause(dueAt - Date.now() - 200);
  const before = { workers: cpuMsOf(workers.pids), server: cpuMsOfServer(server), at: performance.now() };
  const isDone = async () => {
    const { rows } = await client.query<{ left: string }>(
      `select (select count(*) from tasks where next_at <= ${dueAt}) + (select count(*) from runs where status in ('queued', 'backoff'))
        + (select count(*) from runs where status = 'running') as left`,
    );
    return Date.now() > dueAt && Number(rows[0]?.left) === 0;
  };
  while (!(await isDone())) await pause(100);
  const after = { workers: cpuMsOf(workers.pids), server: cpuMsOfServer(server), at: performance.now() };
  const { rows } = await client.query<{ done: string; last: string }>(
    `select count(*) as done, max(finished_at) as last from runs where status = 'succeeded'`,
  );
  await workers.stop();
  await database.close();
  if (Number(rows[0]?.done) !== runs) throw new Error(`${rows[0]?.done ?? 0} runs instead of ${runs}`);
  const [workerMs, postgresMs] = [after.workers - before.workers, after.server - before.server];
  return {
    perSecond: runs / ((Number(rows[0]?.last) - dueAt) / 1000),
    workerMs: workerMs / runs,
    postgresMs: postgresMs / runs,
    busyShare: (workerMs + postgresMs) / (after.at - before.at) / availableParallelism(),
  };
}

/* ---- lateness ---- */

const late = { perSecond: 300, seconds: 10, others: 100_000 } as const;

/** From the slot to the start of its action, with others in the database. */
async function lateness(adminUrl: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of [1, 3]) {
    const database = await openDatabase(adminUrl);
    const { client } = database;
    const month = 30 * 86_400_000;
    await fillPostgres(client, {
      count: late.others,
      schedule: {
        schedule_kind: `'interval'`,
        interval: `'P30D'`,
        start_at: String(Date.now()),
        min_gap_ms: String(month),
      },
      nextAt: `${Date.now() + month} + g`,
    });
    await client.query('analyze');
    const workers = await startWorkers(database.url, count);
    const from = Date.now() + aheadMs;
    const slots = late.perSecond * late.seconds;
    const slot = `(${from} + g * ${1000 / late.perSecond})::bigint`;
    await fillPostgres(client, {
      count: slots,
      prefix: 'b',
      schedule: { schedule_kind: `'once'`, once_at: slot },
      nextAt: slot,
    });
    await tellOfTasks(client, from);
    await pause(from + late.seconds * 1000 - Date.now());
    const rows = await allStarted(client, slots);
    await workers.stop();
    await database.close();
    figures.push(
      ...spread(
        (label) => `lateness ${label}, ${late.perSecond} due/s, ${count} ${count === 1 ? 'worker' : 'workers'}`,
        rows.map((row) => Number(row.late)),
        { aim: count === 1 ? '25 ms' : '' },
      ),
    );
  }
  return figures;
}

const lateMax = 60_000;

async function allStarted(client: pg.Client, slots: number): Promise<readonly { readonly late: string }[]> {
  for (const until = Date.now() + lateMax; ; await pause(500)) {
    const { rows } = await client.query<{ late: string }>(
      `select last_run_at - once_at as late from tasks where schedule_kind = 'once' and last_run_at is not null`,
    );
    if (rows.length === slots) return rows;
    if (Date.now() > until) throw new Error(`${rows.length} runs instead of ${slots}`);
  }
}

/** Workers look for a first slot when they are told of one: tasks were put beside them. */
async function tellOfTasks(client: pg.Client, dueAt: number): Promise<void> {
  await client.query('analyze');
  await client.query(`select pg_notify('cronogram', '{"from":"bench","hints":["scheduler"]}')`);
  if (Date.now() > dueAt - 1000) throw new Error('the tasks came too late: this computer is busy');
}

/* ---- claims ---- */

const due = 50_000;

/** Due slots into occurrences, queued runs and their jobs, by the scheduler of one process. */
async function claims(adminUrl: string): Promise<Figure> {
  const database = await openDatabase(adminUrl);
  const now = Date.now();
  await fillPostgres(database.client, {
    count: due,
    schedule: { schedule_kind: `'interval'`, interval: `'PT1H'`, start_at: String(now - 1000), min_gap_ms: '3600000' },
    nextAt: String(now - 1000),
  });
  await database.client.query('analyze');
  const { rooms, close } = await openProcess(database.url);
  const from = performance.now();
  for (let more = true; more;) more = (await rooms.scheduler.step(now, settings.BATCH_SIZE)).more;
  const perSecond = due / ((performance.now() - from) / 1000);
  const { rows } = await database.client.query<{ made: string }>('select count(*) as made from runs');
  await close();
  await database.close();
  if (Number(rows[0]?.made) !== due) throw new Error(`${rows[0]?.made ?? 0} runs instead of ${due}`);
  return { name: 'due to durable occurrence, run and job, one process', value: perSecond, unit: '/s', aim: '10,000/s' };
}
