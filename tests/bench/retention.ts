import { copyFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createLoop } from '../../src/system/loop.ts';
import type { Figure } from './report.ts';
import { fill, openBench, settings, type Bench } from './world.ts';

const tasks = 10_000;
/** Old occurrences, each with its run, its attempt and its delivery. */
const count = 1_000_000;
const tables = ['occurrences', 'runs', 'attempts', 'deliveries'];
/** It goes on for minutes, because nobody waits for it; the rate and the delay are the same all the while. */
const measuredMs = 60_000;
const bareMs = 15_000;
const day = 86_400_000;
const ageMs = 200 * day;

/** The night's retention on a file of a million old occurrences with everything that hangs on them, through the real loop. */
export async function benchRetention(): Promise<Figure[]> {
  const bench = await openBench();
  const now = bench.world.clock.now();
  fill(bench, {
    count: tasks,
    chats: 200,
    now,
    schedule: () => ({ kind: 'interval', interval: 'P1D', timezone: 'UTC' }),
    nextAt: () => now + day,
  });
  const filled = performance.now();
  fillHistory(bench, now);
  console.error(`filled in ${Math.round(performance.now() - filled)} ms`);
  const baseline = byHand(bench);
  // The machine itself stalls now and then, so what nobody works on is measured before and after, and counts as the measure.
  const commits = await delayed(() => bareCommits(bench));
  const before = await delayed(() => pause(bareMs));
  const load = loadavg();
  const { rows, seconds, ...delays } = await retain(bench, now);
  const after = await delayed(() => pause(bareMs));
  const bare = worse(before, after);
  await bench.close();
  const baselineName = `nothing runs, in the same minutes (load ${load.map((one) => one.toFixed(1)).join(', ')})`;
  return [
    {
      name: 'retention of 1M old occurrences with runs, attempts, deliveries: rows removed',
      value: rows / seconds,
      unit: '/s',
      baseline: baseline.rows / baseline.seconds,
      baselineName: 'one statement for each table',
    },
    ...(
      [
        ['longest', 'max', `; one statement for each table: ${Math.round(baseline.seconds)} s`],
        ['p99.9', 'p999', ''],
        ['p99', 'p99', null],
      ] as const
    ).map(([label, key, more]) => ({
      name: `  event-loop delay meanwhile: ${label}`,
      value: delays[key],
      unit: 'ms',
      baseline: bare[key],
      baselineName: `${baselineName}${more === null ? '' : `; a durable commit of one row every 10 ms: ${commits[key].toFixed(1)} ms${more}`}`,
      aim: more === null ? '10 ms' : '15 ms',
    })),
  ];
}

const input = JSON.stringify({
  title: 'Water the plants',
  instructions: 'Water the plants in the room, and do not forget the one behind the curtain.',
  action: { kind: 'message' },
  timezone: 'Europe/Madrid',
  number: 17,
  late: false,
  delivers: true,
});

/** In the order of time, task by task in turn, as the product itself would have written it. */
function fillHistory({ database }: Bench, now: number): void {
  const from = now - ageMs;
  // Spread over a month, so that the newest of it is far beyond the limit.
  const each = `with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count}),
    rows as (select i, printf('%012x-7000-8000-%012x', ${from} + i, i) as id, ${from} + i * 2500 as at from n)`;
  const taskOf = `(select id from ids where ids.n = rows.i % ${tasks})`;
  database.pragma('synchronous = OFF');
  database.exec(`create temp table ids as select row_number() over (order by id) - 1 as n, id, chat_id from tasks;
    create unique index temp.ids_n on ids (n)`);
  database.exec(`${each} insert into occurrences (id, task_id, slot_at, source, status, run_id, late_ms, created_at, updated_at)
    select 'o' || rows.id, ${taskOf}, at, 'schedule', 'succeeded', 'r' || rows.id, 1, at, at + 5 from rows`);
  database.exec(`${each} insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, occurrence_id, owner_id,
      status, ready_at, fence, attempts, interruptions, input, output, created_at, started_at, finished_at)
    select 'r' || rows.id, 'task', 'task:' || ${taskOf} || ':scheduled_for:' || at, '0123456789012345678901234567890123456789012', 1, 5,
      ${taskOf}, 'o' || rows.id, 'system:api', 'succeeded', at, 1, 1, 0, '${input}', '{"type":"message","text":"Water the plants"}', at, at, at + 5
    from rows`);
  database.exec(`${each} insert into attempts (run_id, attempt, status, boot_id, started_at, finished_at, duration_ms)
    select 'r' || rows.id, 1, 'succeeded', '01a1ede3-0000-7000-8000-000000000000', at, at + 5, 5 from rows`);
  database.exec(`${each} insert into deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence,
      sends, put_offs, settles, platform_chat_id, message_thread_id, message_id, created_at, delivered_at)
    select 'd' || rows.id, 'r' || rows.id, ${taskOf}, (select chat_id from ids where ids.n = rows.i % ${tasks}), 'task:' || ${taskOf}, 1,
      'result', 1, 'delivered', '{"text":"Water the plants in the room, and do not forget the one behind the curtain."}', 'resend', 1, 1, 0, 0,
      '-100200300', 42, i, at, at + 50 from rows`);
  database.exec('drop table temp.ids');
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.pragma('synchronous = FULL');
}

interface Retained {
  readonly rows: number;
  readonly seconds: number;
}

/** What somebody at a prompt would do: the same rows, one statement for each table, on a copy of the same file. */
function byHand({ file }: Bench): Retained {
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  const database = new Database(copy);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('cache_size = -65536');
  const old = `select id, run_id from (select id, run_id, row_number() over (partition by task_id order by slot_at desc) as n
    from occurrences) where n > 10`;
  const from = performance.now();
  const rows = database.transaction(() => {
    database.exec(`create temp table old as ${old}`);
    return [
      'delete from attempts where run_id in (select run_id from old)',
      'delete from deliveries where run_id in (select run_id from old)',
      'delete from runs where id in (select run_id from old)',
      'delete from occurrences where id in (select id from old)',
    ].reduce((sum, text) => sum + database.prepare(text).run().changes, 0);
  })();
  const seconds = (performance.now() - from) / 1000;
  database.close();
  return { rows, seconds };
}

/** What the disk does to the loop at this moment, whatever is written. */
async function bareCommits({ store, world }: Bench): Promise<void> {
  const until = performance.now() + bareMs;
  while (performance.now() < until) {
    await store.ping(world.clock.now());
    await pause(10);
  }
}

interface Delays {
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

async function delayed(use: () => Promise<unknown>): Promise<Delays> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await use();
  delay.disable();
  const [p99 = 0, p999 = 0] = [99, 99.9].map((percent) => delay.percentile(percent) / 1e6);
  return { p99, p999, max: delay.max / 1e6 };
}

function worse(a: Delays, b: Delays): Delays {
  return { p99: Math.max(a.p99, b.p99), p999: Math.max(a.p999, b.p999), max: Math.max(a.max, b.max) };
}

async function retain(bench: Bench, now: number): Promise<Retained & Delays> {
  const { rooms, world, store } = bench;
  // The night before last was the last one, so the retention is due at once.
  await store.writeNote('chore:retention', String(now - 2 * day), now);
  const loop = createLoop(rooms.housekeeper, { ...world, batchMax: settings.BATCH_SIZE });
  await pause(200);
  const from = performance.now();
  loop.start();
  const delays = await delayed(() => pause(measuredMs));
  const seconds = (performance.now() - from) / 1000;
  await loop.stop();
  const left = tables.map((table) => bench.database.prepare(`select count(*) from ${table}`).pluck().get() as number);
  if (new Set(left).size !== 1) throw new Error(`half a story is left: ${left.join(', ')} rows`);
  return { rows: left.reduce((sum, one) => sum + count - one, 0), seconds, ...delays };
}
