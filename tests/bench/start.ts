import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { withLoops } from './live.ts';
import type { Figure } from './report.ts';
import { fill, openBench } from './world.ts';

const port = 18_787;
const tasks = 1_000_000;

/** A real process on a file of a million tasks, beside one on an empty database: until it says that it is ready, and what it holds then. */
export async function benchStart(): Promise<Figure[]> {
  const [empty, full] = [await openBench(), await openBench()];
  fill(full, {
    count: tasks,
    chats: 2000,
    now: full.world.clock.now(),
    schedule: (index) => ({ kind: 'interval', interval: `P${1 + (index % 300)}D`, timezone: 'UTC' }),
    nextAt: (index) => full.world.clock.now() + 3_600_000 + index,
  });
  for (const { database } of [empty, full]) database.close();
  try {
    const [bare, started] = [await startOn(empty.file), await startOn(full.file)];
    const baselineName = 'an empty database';
    return [
      {
        name: 'start with 1M tasks: until ready',
        value: started.readyMs,
        unit: 'ms',
        baseline: bare.readyMs,
        baselineName,
        aim: '1.4 x',
      },
      {
        name: 'start with 1M tasks: memory',
        value: started.megabytes,
        unit: 'MB',
        baseline: bare.megabytes,
        baselineName,
        aim: '1.4 x',
      },
    ];
  } finally {
    for (const { folder } of [empty, full]) execFileSync('rm', ['-rf', folder]);
  }
}

async function startOn(file: string): Promise<{ readonly readyMs: number; readonly megabytes: number }> {
  const from = performance.now();
  const child = spawn(process.execPath, ['--max-semi-space-size=8', 'dist/main.js'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DATABASE_URL: `file:${file}`,
      HTTP_PORT: String(port),
      API_TOKEN: 'a-token-for-the-bench',
    },
  });
  try {
    await untilReady();
    const readyMs = performance.now() - from;
    await pause(1000);
    const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
    return { readyMs, megabytes: Number(resident) / 1024 };
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

async function untilReady(): Promise<void> {
  for (let tries = 0; tries < 3000; tries += 1) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await pause(5);
  }
  throw new Error('the server did not become ready within 15 s');
}

const spaceTasks = 500;
const spaceMs = 12_000;

/** Disk space of a task, and of a run with its result, as the product itself writes them. */
export async function benchSpace(): Promise<Figure[]> {
  const bench = await openBench();
  const { database, rooms, world } = bench;
  const empty = kilobytes(database);
  const start = new Date(world.clock.now() + 4000).toISOString();
  for (let index = 0; index < spaceTasks; index += 1) {
    await rooms.tasks.create({
      threadKey: `telegram:chat:-100${1000 + (index % 20)}`,
      input: {
        instructions: `Water the plants in room ${index}`,
        schedule: { kind: 'interval', interval: 'PT2S', start_at: start, timezone: 'Europe/Madrid' },
        policies: { overlap: 'queue' },
      },
      actor: 'system:api',
      idempotencyKey: null,
    });
  }
  const filled = kilobytes(database);
  let figures: Figure[] = [];
  await withLoops(bench, async () => {
    await pause(spaceMs);
    const runs = database.prepare(`select count(*) from runs where status = 'succeeded'`).pluck().get() as number;
    figures = [
      { name: 'disk: each task', value: (filled - empty) / spaceTasks, unit: 'KB' },
      { name: 'disk: each run with its result', value: (kilobytes(database) - filled) / runs, unit: 'KB' },
    ];
  });
  await bench.close();
  return figures;
}

/** Size of all pages in use. */
function kilobytes(database: Database): number {
  const read = (name: string) => database.pragma(name, { simple: true }) as number;
  return ((read('page_count') - read('freelist_count')) * read('page_size')) / 1024;
}
