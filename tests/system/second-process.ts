import type { Breach } from '../invariants/rows.ts';
import { patienceMs } from '../support/patience.ts';
import { create, runsOf } from './api.ts';
import { becomes, readyUrl, start, type StartOptions } from './program.ts';

/** One process at a time: the second is refused by name, the first goes on, and once it is dead the next one starts. */
export async function secondProcess(options: StartOptions): Promise<Breach[]> {
  const breaches: Breach[] = [];
  const first = start(options);
  const url = await readyUrl(first);
  const task = await create(url, 'cli:default', {
    instructions: 'Still here.',
    schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' },
  });
  const second = start(options);
  const { code } = await second.exit;
  const named = second.errors().includes(String(first.pid));
  if (code !== 1 || (options.databaseUrl.startsWith('file:') && !named)) {
    breaches.push({
      promise: 'a second process is refused and told who holds the database',
      rows: { code, told: second.errors() },
    });
  }
  const ran = async () => (await runsOf(url, task.task_id)).length;
  const before = await ran();
  if (!(await becomes(async () => (await ran()) >= before + 2, patienceMs)))
    breaches.push({ promise: 'the first process goes on', rows: { before, after: await ran() } });
  await first.kill();
  const third = start(options);
  const opened = await third.url;
  if (opened === null) breaches.push({ promise: 'after a kill the next process starts at once', rows: third.errors() });
  const stopped = await third.stop();
  if (stopped.code !== 0) breaches.push({ promise: 'a stop by SIGTERM ends with code 0', rows: stopped });
  return breaches;
}
