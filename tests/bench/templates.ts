import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { createPool, type Pool } from '../../src/system/pool/pool.ts';
import { evaluate } from '../../src/system/templates/liquid.ts';
import { openClient, type Client } from './load.ts';
import { percentile, type Figure } from './report.ts';
import { end, start } from './served.ts';
import { openBench, silentLog } from './world.ts';

const usual = 'Hello {{ task.title | upcase }} at {{ run.at | date: "%H:%M" }}{% if run.late %}, late{% endif %}';
const variables = { task: { title: 'Plants' }, run: { at: '2026-11-19T09:00:00Z', late: false } };
const ask = { text: usual, zone: 'UTC', variables };
const calls = 5000;
/** One person stays within their share by this, as many do in earnest. */
const people = 100;

const bombs = [
  '{% assign a = "xxxxxxxxxxxxxxxx" %}{% for i in (1..40) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}{{ a }}',
  '{% assign a = "xxxxxxxxxxxxxxxx" %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}{{ a }}',
  '{% for i in (1..900) %}{% for j in (1..900) %}{% assign x = j %}{% endfor %}{% endfor %}',
  // Behind a condition that holds in a run alone: creation tries a template, and would refuse them.
].map((bomb) => `{% if context.armed %}${bomb}{% endif %}`);
const bombsAtOnce = 50;
const watchMs = 5000;

export async function benchTemplates(): Promise<Figure[]> {
  return [...(await usualCost()), ...(await underBombs())];
}

async function usualCost(): Promise<Figure[]> {
  const pool = createPool({ timer: systemTimer, stopwatch: systemStopwatch, log: silentLog });
  for (let index = 0; index < people; index += 1) await render(pool, index);
  const took: number[] = [];
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index += 1) {
    const from = performance.now();
    await render(pool, index);
    took.push((performance.now() - from) * 1000);
  }
  const cpu = process.cpuUsage(before);
  pool.close();
  const own: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const from = performance.now();
    evaluate(ask);
    own.push((performance.now() - from) * 1000);
  }
  const beside = { unit: 'us', baseline: percentile(own, 0.5), baselineName: 'in this process' };
  return [
    { name: 'a usual template, rendered in a child', value: percentile(took, 0.5), aim: '100 us', ...beside },
    { name: 'time of the server in it', value: (cpu.user + cpu.system) / calls, aim: '40 us', ...beside },
  ];
}

async function render(pool: Pool, index: number): Promise<void> {
  const worked = await pool.run({ kind: 'template', ask, owner: `person ${index % people}`, maxMs: 5000 });
  if (worked.is !== 'done') throw new Error(`The template was not rendered: ${worked.is}.`);
}

/** A server of its own, with templates of one person that do their worst. */
async function underBombs(): Promise<Figure[]> {
  const bench = await openBench();
  const server = await start(['product', bench.file], join(bench.folder, 'server.log'));
  const client = await openClient(server.port, 4);
  try {
    const schedule = { kind: 'cron', cron: '0 9 1 1 *', timezone: 'UTC' };
    const ids: string[] = [];
    for (let index = 0; index < bombsAtOnce; index += 1) {
      const body = {
        title: `bomb ${index}`,
        instructions: bombs[index % bombs.length],
        schedule,
        context: { armed: true },
      };
      const { task } = (await asked(client, '/v1/threads/cli:default/tasks', body)) as { task: { task_id: string } };
      ids.push(task.task_id);
    }
    await latency(client, 1000);
    const idle = await latency(client, watchMs / 2);
    const before = residentMb(server.child.pid);
    const runs = Promise.all(ids.map((id) => asked(client, `/v1/tasks/${id}/run-now`)));
    const busy = await latency(client, watchMs);
    await runs;
    return [
      {
        name: `${bombsAtOnce} bombs of one person at once: /livez, p99`,
        value: percentile(busy, 0.99),
        unit: 'ms',
        baseline: percentile(idle, 0.99),
        baselineName: 'without them',
        aim: '10 ms',
      },
      {
        name: 'memory that the server takes more',
        value: residentMb(server.child.pid) - before,
        unit: 'MB',
        aim: '50 MB',
      },
    ];
  } finally {
    client.close();
    await end(server.child);
    await bench.close();
  }
}

async function asked(client: Client, path: string, body: object = {}): Promise<unknown> {
  const { status, body: answer } = await client.ask({ method: 'POST', path, body: JSON.stringify(body) });
  if (status >= 300) throw new Error(`${path}: ${status} ${answer.toString()}`);
  return JSON.parse(answer.toString());
}

async function latency(client: Client, ms: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (const until = performance.now() + ms; performance.now() < until; await pause(2)) {
    const from = performance.now();
    await client.ask({ method: 'GET', path: '/livez' });
    took.push(performance.now() - from);
  }
  return took;
}

function residentMb(pid = 0): number {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}
