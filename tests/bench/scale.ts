import type pg from 'pg';
import { startPostgres } from '../support/postgres-server.ts';
import { fillPostgres, openDatabase, openProcess } from './postgres.ts';
import { percentile, type Figure } from './report.ts';
import { settings } from './world.ts';

const sizes = [10_000, 100_000, 1_000_000];
/** Of all of them, due when claims are measured. */
const due = 2000;
const day = 86_400_000;
const history = 10_000;

/** Costs that grow with the number of tasks and of runs, on a Postgres whose commits wait for the disk. */
export async function benchScale(): Promise<Figure[]> {
  const postgres = await startPostgres({ durable: true });
  try {
    const figures: Figure[] = [];
    for (const count of sizes) figures.push(...(await withTasks(postgres.url, count)));
    return [...figures, ...(await withRuns(postgres.url))];
  } finally {
    await postgres.stop();
  }
}

const many = (count: number) => count.toLocaleString('en');

async function withTasks(adminUrl: string, count: number): Promise<Figure[]> {
  const database = await openDatabase(adminUrl);
  const { client } = database;
  const now = Date.now();
  // Texts of crons that differ, and slots over the whole day to come but for those that are due.
  await fillPostgres(client, {
    count,
    chats: Math.ceil(count / 100),
    schedule: {
      schedule_kind: `'cron'`,
      cron: `(g % 60) || ' ' || (g / 60 % 24) || ' * * *'`,
      min_gap_ms: String(day),
    },
    nextAt: `case when g <= ${due} then ${now - 1000} else ${now + 3_600_000} + (g * 7919::bigint) % ${day} end`,
  });
  await client.query('vacuum analyze tasks');
  const [heap, indexes] = await sizeOf(client, 'tasks');
  const plan = await planOf(
    client,
    `select t.* from tasks t join chats c on c.id = t.chat_id where t.next_at <= ${now} order by t.next_at limit ${settings.BATCH_SIZE} for update of t skip locked`,
  );
  const taken: number[] = [];
  const { rooms, close } = await openProcess(database.url);
  for (let left = due; left > 0;) {
    const from = performance.now();
    left -= (await rooms.scheduler.step(now, settings.BATCH_SIZE)).taken;
    taken.push(performance.now() - from);
  }
  const from = performance.now();
  await rooms.scheduler.nextAt(now);
  const nextMs = performance.now() - from;
  await close();
  await database.close();
  const among = `among ${many(count)} tasks`;
  return [
    { name: `a task, ${among}: its row`, value: heap / count, unit: 'bytes' },
    { name: `  its entries in indexes`, value: indexes / count, unit: 'bytes' },
    { name: `  the look for 100 that are due (${plan.node}), ${among}`, value: plan.ms, unit: 'ms' },
    { name: `  the claim of 100, p50, ${among}`, value: percentile(taken, 0.5), unit: 'ms' },
    { name: `  when the next one is due, ${among}`, value: nextMs, unit: 'ms' },
  ];
}

async function sizeOf(client: pg.Client, table: string): Promise<readonly [number, number]> {
  const { rows } = await client.query<{ heap: string; indexes: string }>(
    `select pg_table_size('${table}') as heap, pg_indexes_size('${table}') as indexes`,
  );
  return [Number(rows[0]?.heap), Number(rows[0]?.indexes)];
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** How the rows of tasks are found, and how long that takes. */
async function planOf(client: pg.Client, statement: string): Promise<{ readonly node: string; readonly ms: number }> {
  await client.query('begin');
  const { rows } = await client.query<{
    'QUERY PLAN': readonly { readonly Plan: Plan; readonly 'Execution Time': number }[];
  }>(`explain (analyze, format json) ${statement}`);
  await client.query('rollback');
  const told = rows[0]?.['QUERY PLAN'][0];
  const leaves = (plan: Plan): readonly Plan[] => (plan.Plans === undefined ? [plan] : plan.Plans.flatMap(leaves));
  const found = told === undefined ? [] : leaves(told.Plan);
  const first = found.find((one) => one['Index Name'] === 'tasks_due') ?? found[0];
  return {
    node: `${first?.['Node Type'] ?? ''} ${first?.['Index Name'] ?? ''}`.trim(),
    ms: told?.['Execution Time'] ?? Number.NaN,
  };
}

/* ---- runs ---- */

/** Of a run whose result goes to no chat, and that calls nobody. */
const grown = ['occurrences', 'runs', 'attempts', 'events'];

async function withRuns(adminUrl: string): Promise<Figure[]> {
  const database = await openDatabase(adminUrl);
  const { client } = database;
  const now = Date.now();
  await fillPostgres(client, {
    count: history,
    schedule: { schedule_kind: `'interval'`, interval: `'P1D'`, start_at: String(now - 1000), min_gap_ms: String(day) },
    nextAt: String(now - 1000),
  });
  await client.query('analyze');
  const { rooms, store, close } = await openProcess(database.url);
  const [before, beforeWal] = [await sizesOf(client), await walOf(client)];
  for (let more = true; more;) more = (await rooms.scheduler.step(now, settings.BATCH_SIZE)).more;
  while ((await ended(client)) < history) {
    rooms.runner.look();
    await rooms.runner.step(Date.now(), settings.BATCH_SIZE);
    await rooms.runner.idle();
  }
  await client.query('vacuum analyze');
  const [after, afterWal] = [await sizesOf(client), await walOf(client)];
  const removed = await removal(client, { store, now });
  await close();
  await database.close();
  const per = (table: string, part: 0 | 1) =>
    ((after.get(table)?.[part] ?? 0) - (before.get(table)?.[part] ?? 0)) / history;
  const sum = (part: 0 | 1) => grown.reduce((all, table) => all + per(table, part), 0);
  return [
    {
      name: 'a slot with its run and attempt: rows, with the room that their updates have left',
      value: sum(0),
      unit: 'bytes',
    },
    { name: '  entries in indexes', value: sum(1), unit: 'bytes' },
    ...grown.map((table) => ({ name: `  of it ${table}`, value: per(table, 0) + per(table, 1), unit: 'bytes' })),
    { name: '  written to the log of Postgres (WAL)', value: (afterWal - beforeWal) / history, unit: 'bytes' },
    ...removed,
  ];
}

async function sizesOf(client: pg.Client): Promise<Map<string, readonly [number, number]>> {
  const sizes = new Map<string, readonly [number, number]>();
  for (const table of grown) sizes.set(table, await sizeOf(client, table));
  return sizes;
}

async function walOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ at: string }>(`select pg_current_wal_lsn() - '0/0'::pg_lsn as at`);
  return Number(rows[0]?.at);
}

async function ended(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ ended: string }>(
    `select count(*) as ended from runs where status = 'succeeded'`,
  );
  return Number(rows[0]?.ended);
}

type Removing = Pick<Awaited<ReturnType<typeof openProcess>>, 'store'> & { readonly now: number };

/** All of that history but what each task keeps, a year later, and the vacuum after it. */
async function removal(client: pg.Client, { store, now }: Removing): Promise<Figure[]> {
  const later = now + 365 * day;
  await client.query(`update tasks set state = 'deleted', next_at = null, deleted_at = ${now}`);
  const wal = await walOf(client);
  const from = performance.now();
  let slots = 0;
  for (let after: string | null = null; ;) {
    const page = { shelf: 'occurrences', after, now: later, before: later - 90 * day, limit: 100 } as const;
    const { removed, next } = await store.prune(page);
    slots += removed['occurrences'] ?? 0;
    if (next === null) break;
    after = next;
  }
  const seconds = (performance.now() - from) / 1000;
  const written = (await walOf(client)) - wal;
  if (slots !== history) throw new Error(`${slots} slots were removed instead of ${history}`);
  const vacuumFrom = performance.now();
  await client.query(`vacuum ${grown.join()}`);
  return [
    { name: 'retention: slots removed with their runs', value: slots / seconds, unit: '/s' },
    { name: '  written to the log of Postgres for each', value: written / slots, unit: 'bytes' },
    { name: '  vacuum after it, for each', value: ((performance.now() - vacuumFrom) / slots) * 1000, unit: 'µs' },
  ];
}
