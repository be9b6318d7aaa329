import { setTimeout as pause } from 'node:timers/promises';
import { createLoops } from '../../src/compose/loops.ts';
import { stopGraceMs } from '../../src/domain/limits.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { pipelineByHand, timersByHand } from './by-hand.ts';
import { beyondDisk, spread, type Figure } from './report.ts';
import { fill, nullTransport, openBench, settings, type Bench } from './world.ts';

/** The product in this process, with its loops and its timer; only the chat answers at once. */
export async function withLoops({ rooms, world }: Bench, work: () => Promise<void>): Promise<void> {
  const loops = createLoops(settings, { world, rooms });
  await rooms.downtimes.open();
  for (const loop of loops) loop.start();
  await work();
  for (const loop of loops.toReversed()) await loop.stop();
  await rooms.runner.stop(stopGraceMs);
  await rooms.deliverer.stop(stopGraceMs);
  await rooms.downtimes.close();
}

const baselineName = 'a bare timer and two commits';
/** For the start of the loops; the other tasks are in the database by then. */
const startMs = 3000;
/** As many for the tail of a bare timer as for ours. */
export const bareTimers = { count: 1000, gapMs: 10 };

/** From the slot to the start of its action, read from the rows, with a hundred thousand other tasks in the database. */
export async function benchLateness(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, perSecond, windowMs, aim } of [
    { name: 'idle', perSecond: 25, windowMs: 40_000, aim: '10 ms' },
    { name: '300 due/s', perSecond: 300, windowMs: 8000, aim: '25 ms' },
  ]) {
    const bench = await openBench();
    const count = (perSecond * windowMs) / 1000;
    const bare = await timersByHand(bench.database, bareTimers);
    fill(bench, {
      count: 100_000,
      chats: 100,
      now: bench.world.clock.now(),
      schedule: () => ({ kind: 'interval', interval: 'P30D', timezone: 'UTC' }),
      nextAt: () => null,
    });
    const base = bench.world.clock.now() + startMs;
    const slot = (index: number) => base + Math.floor((index * windowMs) / count) + ((index * 7919) % 97);
    fill(bench, {
      count,
      chats: 100,
      provider: 'cli',
      now: base - 1000,
      schedule: (index) => ({ kind: 'once', once_at: new Date(slot(index)).toISOString(), timezone: 'UTC' }),
      nextAt: slot,
    });
    let late: number[] = [];
    let cpuMs = 0;
    await withLoops(bench, async () => {
      await pause(base - bench.world.clock.now());
      const before = process.cpuUsage();
      await pause(windowMs + 1000);
      const { user, system } = process.cpuUsage(before);
      cpuMs = (user + system) / 1000;
      late = bench.database
        .prepare(`select last_run_at - once_at from tasks where schedule_kind = 'once' and last_run_at is not null`)
        .pluck()
        .all() as number[];
    });
    if (late.length !== count) throw new Error(`${late.length} runs instead of ${count}`);
    figures.push(
      ...spread((label) => `lateness ${label}, ${name}`, late, { baseline: bare.late, baselineName, aim }),
      ...beyondDisk(`  ${name}`, late, bare.commits),
      { name: `  ${name}: CPU of a slot`, value: cpuMs / count, unit: 'ms', aim: '3.5 ms' },
    );
    await bench.close();
  }
  return figures;
}

const runs = 30_000;

/** Due slot, occurrence, run, attempt, result, delivery, confirmation: all of it, until the last part is confirmed. */
export async function benchPipeline(): Promise<Figure[]> {
  let sends = 0;
  const bench = await openBench({ transport: nullTransport(() => (sends += 1)) });
  const dueAt = bench.world.clock.now() - 1000;
  fill(bench, {
    count: runs,
    chats: 1000,
    now: dueAt - 86_400_000,
    schedule: () => ({ kind: 'interval', interval: 'P1D', start_at: new Date(dueAt).toISOString(), timezone: 'UTC' }),
    nextAt: () => dueAt,
  });
  let seconds = 0;
  const from = performance.now();
  await withLoops(bench, async () => {
    const delivered = bench.database.prepare(`select count(*) from deliveries where status = 'delivered'`).pluck();
    while (sends < runs) await pause(5);
    while ((delivered.get() as number) < runs) await pause(5);
    seconds = (performance.now() - from) / 1000;
  });
  const database = openSqlite(bench.file);
  const baseline = pipelineByHand(database, dueAt);
  database.close();
  await bench.close();
  return [
    {
      name: 'whole pipeline, null transport',
      value: runs / seconds,
      unit: 'runs/s',
      baseline,
      baselineName: 'the same reads and writes by hand',
      aim: '10,000/s',
    },
    ...(await benchRights()),
  ];
}

const spending = { runs: 10_000, chats: 100, rounds: 3 } as const;

interface Spending {
  readonly kind: 'bytes' | 'requests';
  readonly scopes: readonly string[];
}

/** What each run uses is counted in both: bytes, which no budget limits, or calls, of which each chat may make so many a month. */
const unlimited: Spending = { kind: 'bytes', scopes: ['*'] };
const limited: Spending = { kind: 'requests', scopes: ['host:api.example.com', 'secret:TOKEN', 'action:echo'] };

/** The same pipeline with and without a right and a budget that are looked at, in turns, because computers are faster at some times. */
async function benchRights(): Promise<Figure[]> {
  const [without, within]: [Spent[], Spent[]] = [[], []];
  for (let round = 0; round < spending.rounds; round += 1) {
    without.push(await spent(unlimited));
    within.push(await spent(limited));
  }
  const baselineName = 'the same, allowed and unlimited';
  const best = (all: readonly Spent[]) => ({
    rate: Math.max(...all.map(({ rate }) => rate)),
    cpuUs: Math.min(...all.map(({ cpuUs }) => cpuUs)),
  });
  const [before, after] = [best(without), best(within)];
  const name = 'whole pipeline with a grant check and a budget';
  return [
    { name, value: after.rate, unit: 'runs/s', baseline: before.rate, baselineName, aim: '95 %' },
    { name: `  CPU of a run`, value: after.cpuUs, unit: 'µs', baseline: before.cpuUs, baselineName, aim: '105 %' },
  ];
}

interface Spent {
  readonly rate: number;
  readonly cpuUs: number;
}

async function spent({ kind, scopes }: Spending): Promise<Spent> {
  const bench = await openBench({ transport: nullTransport() });
  const dueAt = bench.world.clock.now() - 1000;
  fill(bench, {
    count: spending.runs,
    chats: spending.chats,
    now: dueAt - 86_400_000,
    scopes,
    schedule: () => ({ kind: 'interval', interval: 'P1D', start_at: new Date(dueAt).toISOString(), timezone: 'UTC' }),
    nextAt: () => dueAt,
    action: () => ({ kind: 'echo', spends: [{ kind, quantity: 1, source: 'api.example.com' }] }),
  });
  if (kind === 'requests') await limitChats(bench, dueAt);
  const delivered = bench.database.prepare(`select count(*) from deliveries where status = 'delivered'`).pluck();
  const left = bench.database
    .prepare(`select (select count(*) from tasks where next_at <= ${dueAt})
      + (select count(*) from runs where status in ('queued', 'backoff')) + (select count(*) from runs where status = 'running')
      + (select count(*) from deliveries where status in ('pending', 'blocked')) + (select count(*) from deliveries where status = 'sending')`)
    .pluck();
  const from = performance.now();
  const before = process.cpuUsage();
  let took: Spent = { rate: 0, cpuUs: 0 };
  await withLoops(bench, async () => {
    while ((left.get() as number) > 0) await pause(10);
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - from) / 1000;
    took = { rate: spending.runs / seconds, cpuUs: (user + system) / spending.runs };
  });
  const done = delivered.get() as number;
  await bench.close();
  if (done !== spending.runs) throw new Error(`${done} results instead of ${spending.runs}`);
  return took;
}

/** Long before, so that what was spent is not summed up at each look. */
async function limitChats({ database, store }: Bench, dueAt: number): Promise<void> {
  const chats = database.prepare<[], { readonly id: string }>('select id from chats').all();
  for (const { id } of chats) {
    const limit = { scope: 'chat', account: id, per: 'month' } as const;
    const one = {
      ...limit,
      chatId: id,
      kind: 'requests',
      quantity: 1_000_000,
      currency: null,
      timezone: 'UTC',
    } as const;
    await store.changeBudgets({
      ...limit,
      kinds: ['requests'],
      set: [one],
      actor: 'system:api',
      at: dueAt - 86_400_000,
    });
  }
}
