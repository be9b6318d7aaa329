import { setTimeout as pause } from 'node:timers/promises';
import { readRows, type Breach } from '../invariants/rows.ts';
import { patienceMs } from '../support/patience.ts';
import { slotsOf } from './account.ts';
import { create, read } from './api.ts';
import { becomes, readyUrl, start, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

const autoPause = 3;
/** Longer than a few slots. */
const downMs = 2500;

/**
 * A task whose work takes the process down with it is paused at the start after the last crash, while the slots of the
 * outage are still to be taken up. They must have their rows all the same.
 */
export async function pausedByCrashes(options: StartOptions): Promise<Breach[]> {
  let boot = start(options);
  const { task_id: id } = await create(await readyUrl(boot), threadOf(), {
    instructions: 'It takes everything down.',
    schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' },
    action: { kind: 'echo', delay_ms: 30_000, repeatable: false },
    policies: { auto_pause: autoPause, missed: 'skip' },
  });
  for (let crash = 1; crash <= autoPause; crash += 1) {
    const opened = async () => (await readRows(options.databaseUrl)).attempts.length === crash;
    if (!(await becomes(opened, patienceMs)))
      return [{ promise: 'the task runs again after a crash', rows: { crash } }];
    await boot.kill();
    await pause(crash === autoPause ? downMs : 0);
    boot = start(options);
    await readyUrl(boot);
  }
  const url = await readyUrl(boot);
  const isPaused = async () => (await read(url, id)).body.task?.state === 'paused';
  const paused = await becomes(isPaused, patienceMs);
  const asked = Date.now();
  const { at } = await boot.stop();
  const rows = await readRows(options.databaseUrl);
  const breaches = slotsOf(rows, { stop: { asked, ended: at } }).breaches;
  return paused ? [...breaches] : [...breaches, { promise: 'failures in a row pause a task', rows: rows.tasks }];
}
