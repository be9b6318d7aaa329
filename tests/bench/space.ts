import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { withLoops } from './live.ts';
import type { Figure } from './report.ts';
import { openBench } from './world.ts';

const tasks = 500;
const windowMs = 12_000;

/** Disk space of a task, and of a run with its result, as the product itself writes them. */
export async function benchSpace(): Promise<Figure[]> {
  const bench = await openBench();
  const { database, rooms, world } = bench;
  const empty = kilobytes(database);
  const start = new Date(world.clock.now() + 4000).toISOString();
  for (let index = 0; index < tasks; index += 1) {
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
    await pause(windowMs);
    const runs = database.prepare(`select count(*) from runs where status = 'succeeded'`).pluck().get() as number;
    figures = [
      { name: 'disk: each task', value: (filled - empty) / tasks, unit: 'KB' },
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
