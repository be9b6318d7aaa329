import Database from 'better-sqlite3';
import type { Breach } from '../invariants/rows.ts';
import { patienceMs } from '../support/patience.ts';
import { call, create, read, runsOf } from './api.ts';
import { becomes, readyUrl, start, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

interface Damage {
  readonly name: string;
  readonly sql: string;
}

/** What a failing disk, a hand in the database or an older fault may leave behind. */
const damages: readonly Damage[] = [
  { name: 'cron', sql: `update tasks set cron = 'every now and then' where id = ?` },
  { name: 'timezone', sql: `update tasks set timezone = 'Moon/Tranquility' where id = ?` },
  { name: 'policies', sql: `update tasks set policies = '{"grace":' where id = ?` },
  { name: 'policy', sql: `update tasks set policies = '{"grace":"soon"}' where id = ?` },
  { name: 'action', sql: `update tasks set action = '[]' where id = ?` },
  { name: 'tags', sql: `update tasks set tags = 'none' where id = ?` },
  { name: 'context', sql: `update tasks set context = '7' where id = ?` },
  { name: 'next_at as text', sql: `update tasks set next_at = 'soon' where id = ?` },
  { name: 'next_at beyond all time', sql: `update tasks set next_at = 9000000000000000 where id = ?` },
  { name: 'next_at before all time', sql: `update tasks set next_at = -9000000000000000 where id = ?` },
  { name: 'next_at as a fraction', sql: `update tasks set next_at = next_at + 0.5 where id = ?` },
  { name: 'start_at beyond all time', sql: `update tasks set start_at = 9000000000000000 where id = ?` },
];

const cron = { kind: 'cron', cron: '* * * * *', timezone: 'UTC' };
const interval = { kind: 'interval', interval: 'PT1S', timezone: 'UTC' };

/** A row that lies is paused with the reason and can be read; the others never notice. */
export async function corruptRows(options: StartOptions): Promise<Breach[]> {
  const whole = start(options);
  const firstUrl = await readyUrl(whole);
  const sound = await create(firstUrl, threadOf(), {
    title: 'sound',
    instructions: 'Sound.',
    schedule: interval,
  });
  const damaged = new Map<string, Damage>();
  for (const damage of damages) {
    const schedule = damage.name === 'cron' || damage.name === 'timezone' ? cron : interval;
    const task = await create(firstUrl, threadOf(), { title: damage.name, instructions: 'Unsound.', schedule });
    damaged.set(task.task_id, damage);
  }
  await whole.stop();
  const now = Date.now();
  const connection = new Database(options.databaseUrl.slice('file:'.length));
  for (const [id, { sql }] of damaged) {
    connection.prepare('update tasks set next_at = ? where id = ?').run(now, id);
    connection.prepare(sql).run(id);
  }
  connection.close();
  const server = start(options);
  const url = await readyUrl(server);
  const breaches: Breach[] = [];
  const runsBefore = (await runsOf(url, sound.task_id)).length;
  if (!(await becomes(async () => (await runsOf(url, sound.task_id)).length >= runsBefore + 3, patienceMs))) {
    breaches.push({ promise: 'the others run beside an unreadable row', rows: { runsBefore } });
  }
  for (const [id, damage] of damaged) breaches.push(...(await look(url, id, damage)));
  const list = await call(url, { method: 'GET', path: '/v1/tasks?limit=200' });
  if (list.body.tasks?.length !== damages.length + 1) {
    breaches.push({
      promise: 'the list of tasks is whole beside an unreadable row',
      rows: { status: list.status, error: list.body.error },
    });
  }
  const ready = await call(url, { method: 'GET', path: '/readyz' });
  if (ready.status !== 200)
    breaches.push({ promise: 'an unreadable row does not make the server unready', rows: ready });
  await server.stop();
  return breaches;
}

async function look(url: string, id: string, { name }: Damage): Promise<Breach[]> {
  let last: unknown;
  const told = await becomes(async () => {
    const { status, body } = await read(url, id);
    last = {
      status,
      state: body.task?.state,
      reason: body.task?.paused_reason,
      next: body.task?.next_run_at,
      error: body.error,
    };
    if (status !== 200) return false;
    return body.task?.state === 'paused' && body.task.paused_reason?.startsWith('unreadable') === true;
  }, patienceMs);
  return told
    ? []
    : [{ promise: 'an unreadable row is paused, and its task can be read', rows: { damage: name, last } }];
}
