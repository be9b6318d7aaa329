import { spread, type Figure } from './report.ts';
import { fill, openBench, type Bench } from './world.ts';

const minuteMs = 60_000;
const slots = 1_000_000;
const withWork = 5000;
const asks = 1000;
const baselineName = 'a bare select of one row';
const aim = '20 ms';

/**
 * Two years of a task that runs every minute, put straight into the tables: every slot with its row, the newest thousands
 * with run, attempt and delivery; an outage every three days, and people who changed something every hour.
 */
function fillHistory({ database, world }: Bench): { readonly taskId: string; readonly from: number } {
  const now = Math.floor(world.clock.now() / minuteMs) * minuteMs;
  const from = now - slots * minuteMs;
  fill({ database, world } as Bench, {
    count: 1,
    chats: 1,
    now: from,
    schedule: () => ({ kind: 'cron', cron: '* * * * *', timezone: 'Europe/Madrid' }),
    nextAt: () => now + minuteMs,
  });
  const taskId = database.prepare('select id from tasks').pluck().get() as string;
  database.prepare('update tasks set created_at = ?').run(from);
  const count = `with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)`;
  database
    .prepare(
      `${count} insert into occurrences (id, task_id, slot_at, source, status, reason, run_id, late_ms, created_at, updated_at)
       select printf('o-%08d', i), ?, ? + (i + 1) * 60000, 'schedule',
         case when i % 50 = 0 then 'skipped' else 'succeeded' end, case when i % 50 = 0 then 'overlap' end,
         printf('r-%08d', i), 3, ? + (i + 1) * 60000 + 3, ? + (i + 1) * 60000 + 9 from n`,
    )
    .run(slots, taskId, from, from, from);
  const newest = `${count} insert into`;
  const shift = slots - withWork;
  database
    .prepare(
      `${newest} runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, occurrence_id, owner_id, status,
         ready_at, fence, attempts, interruptions, input, created_at, started_at, finished_at)
       select printf('r-%08d', i + ${shift}), 'task', printf('k-%d', i), 'h', 1, 5, ?, printf('o-%08d', i + ${shift}), 'system:api',
         'succeeded', 0, 1, 1, 0, '{}', 0, ? + (i + ${shift} + 1) * 60000 + 4, 0 from n`,
    )
    .run(withWork, taskId, from);
  database
    .prepare(
      `${newest} attempts (run_id, attempt, status, boot_id, started_at, finished_at)
       select printf('r-%08d', i + ${shift}), 1, 'succeeded', 'b', 0, 1 from n`,
    )
    .run(withWork);
  database
    .prepare(
      `${newest} deliveries (id, run_id, task_id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence,
         sends, put_offs, settles, message_id, created_at, delivered_at)
       select printf('d-%08d', i), printf('r-%08d', i + ${shift}), ?, (select id from chats), 'l', 1, 'result', 1, 'delivered',
         '{}', 'resend', 1, 1, 0, 0, i, 0, 1 from n`,
    )
    .run(withWork, taskId);
  database
    .prepare(
      `${newest} audit (at, actor, verb, task_id, state_before, state_after, after)
       select ? + i * 3600000 + 1, 'system:api', case i % 12 when 0 then 'pause' when 1 then 'resume' else 'run_now' end, ?,
         case when i % 12 = 1 then 'paused' else 'active' end, case when i % 12 = 0 then 'paused' else 'active' end, '{}' from n`,
    )
    .run(16_000, from, taskId);
  database
    .prepare(
      `${newest} gaps (id, task_id, from_at, to_at, count, reason, created_at)
       select printf('g-%d', i), ?, ? + i * 259200000 + 30000, ? + i * 259200000 + 90000, 1, 'late', 0 from n`,
    )
    .run(230, taskId, from, from);
  database
    .prepare(
      `${newest} task_versions (task_id, version, at, actor, definition)
       select ?, i + 1, ? + i * 86400000, 'system',
         '{"schedule":{"kind":"cron","cron":"* * * * *","timezone":"Europe/Madrid"},"policies":{},"action":{"kind":"message"}}' from n`,
    )
    .run(690, taskId, from);
  return { taskId, from };
}

async function timed(work: (index: number) => unknown, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const from = performance.now();
    await work(index);
    taken.push(performance.now() - from);
  }
  return taken;
}

function figuresOf(name: string, taken: readonly number[], baseline: readonly number[]): Figure[] {
  return spread((label) => `${name}, ${label}`, taken, { baseline, baselineName, aim });
}

/** The truth about a task with a million slots, asked through the use case. */
export async function benchWhy(): Promise<Figure[]> {
  const bench = await openBench({ settings: { RETENTION_DAYS: 3650 } });
  const { taskId, from } = fillHistory(bench);
  const spread = (index: number) => from + (Math.floor(((index * 7919) % asks) * (slots / asks)) + 1) * minuteMs;
  const select = bench.database.prepare('select * from occurrences where task_id = ? and slot_at = ?');
  const bare = await timed((index) => select.get(taskId, spread(index)), asks);
  const { truth } = bench.rooms;
  const nothing = { at: undefined, from: undefined, to: undefined, after: null, limit: 200 };
  const one = await timed((index) => truth.why(taskId, { ...nothing, at: iso(spread(index)) }), asks);
  const between = await timed((index) => truth.why(taskId, { ...nothing, at: iso(spread(index) + 30_000) }), asks);
  const newest = from + (slots - withWork) * minuteMs;
  const day = (begin: number) => ({ ...nothing, from: iso(begin), to: iso(begin + 86_400_000), limit: 50 });
  const days = await timed((index) => truth.why(taskId, day(spread(index))), asks);
  const busy = await timed((index) => truth.why(taskId, { ...day(newest + index * minuteMs), limit: 200 }), asks);
  await bench.close();
  return [
    ...figuresOf('why at an instant, 1,000,000 slots', one, bare),
    ...figuresOf('why at an instant that is no slot', between, bare),
    ...figuresOf('why in a day, a page of 50', days, bare),
    ...figuresOf('why in a day, a page of 200 with runs and messages', busy, bare),
  ];
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
