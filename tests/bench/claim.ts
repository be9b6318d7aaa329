import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Database } from 'better-sqlite3';
import type { ScheduleInput } from '../../src/domain/schedule/schedule.ts';
import type { Figure } from './report.ts';
import { fill, openBench, settings, type Bench } from './world.ts';

const count = 100_000;
const batch = settings.BATCH_SIZE;
/** A Wednesday morning; every task was due a second ago. */
const now = Date.UTC(2026, 10, 18, 9, 0, 0);
const dueAt = now - 1000;

const kinds: readonly {
  readonly name: string;
  readonly aim?: string;
  readonly schedule: (index: number) => ScheduleInput;
}[] = [
  {
    name: 'interval',
    aim: '60,000/s',
    schedule: () => ({ kind: 'interval', interval: 'PT1H', start_at: new Date(dueAt).toISOString(), timezone: 'UTC' }),
  },
  {
    name: 'distinct crons',
    aim: '25,000/s',
    schedule: (index) => ({
      kind: 'cron',
      // A hundred thousand texts, no two of them alike.
      cron: `${index % 60} ${Math.floor(index / 60) % 24} ${1 + (Math.floor(index / 1440) % 28)} * ${(Math.floor(index / 40_320) % 3) * 2}`,
      timezone: ['Europe/Madrid', 'America/New_York', 'Asia/Tokyo', 'UTC'][index % 4] ?? 'UTC',
    }),
  },
  {
    name: 'rrule',
    schedule: (index) => ({
      kind: 'rrule',
      rrule: `FREQ=WEEKLY;INTERVAL=${1 + (index % 4)};BYDAY=MO,WE;BYHOUR=${index % 24};BYMINUTE=${index % 60};BYSECOND=0`,
      timezone: 'Europe/Madrid',
    }),
  },
  { name: 'once', schedule: () => ({ kind: 'once', once_at: new Date(dueAt).toISOString(), timezone: 'UTC' }) },
];

/** Due slots into durable occurrences and their queued runs, on SQLite with synchronous FULL. */
export async function benchClaim(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const kind of kinds) {
    const bench = await openBench();
    fill(bench, { count, chats: 200, now: dueAt - 86_400_000, schedule: kind.schedule, nextAt: () => dueAt });
    const { perSecond, delayMs } = await drain(bench);
    const baseline = rawClaim(bench.database);
    figures.push({
      name: `due to durable occurrence and run: ${kind.name}`,
      value: perSecond,
      unit: '/s',
      baseline,
      baselineName: 'the same writes by hand',
      ...(kind.aim === undefined ? {} : { aim: kind.aim }),
    });
    figures.push({ name: `  event-loop delay p99 meanwhile: ${kind.name}`, value: delayMs, unit: 'ms', aim: '10 ms' });
    await bench.close();
  }
  return figures;
}

async function drain({ rooms, world, database }: Bench): Promise<{ perSecond: number; delayMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const from = performance.now();
  delay.enable();
  for (let more = true; more;) {
    more = (await rooms.scheduler.step(now, batch)).more;
    await world.timer.yield();
  }
  delay.disable();
  const seconds = (performance.now() - from) / 1000;
  const made = database.prepare(`select count(*) from runs`).pluck().get() as number;
  if (made !== count) throw new Error(`${made} runs instead of ${count}`);
  return { perSecond: count / seconds, delayMs: delay.percentile(99) / 1e6 };
}

/** Takes what the run before wrote, empties the tables, and writes the same rows again by prepared statements alone. */
function rawClaim(database: Database): number {
  const occurrences = database.prepare(`select * from occurrences`).raw().all() as unknown[][];
  const runs = database.prepare(`select * from runs`).raw().all() as unknown[][];
  const tasks = database.prepare(`select id, next_at, state from tasks`).all() as {
    id: string;
    next_at: number | null;
    state: string;
  }[];
  database.exec(`delete from occurrences; delete from runs; update tasks set next_at = ${dueAt}, state = 'active'`);
  const places = (row: unknown[] | undefined) => (row ?? []).map(() => '?').join(', ');
  const due = database.prepare(`select * from tasks where next_at <= ? order by next_at limit ?`);
  const addOccurrence = database.prepare(`insert into occurrences values (${places(occurrences[0])})`);
  const addRun = database.prepare(`insert into runs values (${places(runs[0])})`);
  const move = database.prepare(
    `update tasks set next_at = ?, state = ?, bounded_runs = bounded_runs + 1 where id = ? and next_at = ?`,
  );
  const writeBatch = database.transaction((from: number) => {
    due.all(now, batch);
    for (let index = from; index < from + batch; index += 1) {
      const task = tasks[index];
      move.run(task?.next_at, task?.state, task?.id, dueAt);
      addOccurrence.run(...(occurrences[index] ?? []));
      addRun.run(...(runs[index] ?? []));
    }
  });
  const started = performance.now();
  for (let from = 0; from < count; from += batch) writeBatch.immediate(from);
  return count / ((performance.now() - started) / 1000);
}
