import { setTimeout as pause } from 'node:timers/promises';
import { readRows, type Breach } from '../invariants/rows.ts';
import { patienceMs } from '../support/patience.ts';
import { call, create, type WireTask } from './api.ts';
import { becomes, readyUrl, start, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

const dayMs = 86_400_000;
/** The grace of the server, and time for what comes after it. */
const stopWithinMs = 15_000;

/**
 * A stop under load: what runs ends by itself when it can; what takes longer than the grace is left to the next process,
 * which repeats it when it may be repeated. Either way no attempt is lost.
 */
export async function stopUnderLoad(options: StartOptions): Promise<Breach[]> {
  const breaches: Breach[] = [];
  const server = start(options);
  const url = await readyUrl(server);
  // Each is run by hand, so that all are there before the first begins, however slow the machine is.
  const once = { kind: 'once', once_at: new Date(Date.now() + dayMs).toISOString(), timezone: 'UTC' };
  const tasks: WireTask[] = [];
  const kinds = [
    { title: 'short', delay_ms: 1500, repeatable: true },
    { title: 'long', delay_ms: 14_000, repeatable: true },
    { title: 'long, once only', delay_ms: 14_000, repeatable: false },
  ];
  for (const { title, ...action } of kinds) {
    for (let copy = 0; copy < 10; copy += 1) {
      const body = {
        title: `${title} ${copy}`,
        instructions: 'Work.',
        schedule: once,
        action: { kind: 'echo', ...action },
      };
      tasks.push(await create(url, threadOf(), { ...body, policies: { timeout: 'PT1M' } }));
    }
  }
  const burst = Array.from({ length: 20 }, (_value, index) =>
    create(url, threadOf(options.telegram.forums[index]), {
      instructions: 'A burst.',
      schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' },
    }),
  );
  await Promise.all(burst);
  const ask = ({ task_id: id }: WireTask) => call(url, { method: 'POST', path: `/v1/tasks/${id}/run-now` });
  await Promise.all(tasks.map(ask));
  // On a slow machine the short ones may be over before the last one has begun.
  const begun = async () => {
    const { runs } = await readRows(options.databaseUrl);
    const named = new Set(tasks.map(({ task_id: id }) => id));
    return runs.filter(({ task_id: task, status }) => named.has(task ?? '') && status !== 'queued').length === 30;
  };
  if (!(await becomes(begun, patienceMs)))
    breaches.push({ promise: 'the load runs', rows: await readRows(options.databaseUrl) });
  const asked = performance.now();
  const { code } = await server.stop();
  const tookMs = Math.round(performance.now() - asked);
  if (code !== 0 || tookMs > stopWithinMs)
    breaches.push({ promise: 'a stop under load ends in time with code 0', rows: { code, tookMs } });
  breaches.push(...(await lookAtStopped(options.databaseUrl)));
  await pause(100);
  const next = start(options);
  await readyUrl(next);
  const settled = async () =>
    (await statuses(options.databaseUrl)).every(([, status]) => status === 'succeeded' || status === 'failed');
  if (!(await becomes(settled, patienceMs)))
    breaches.push({
      promise: 'what was left is taken up at the next start',
      rows: await statuses(options.databaseUrl),
    });
  const wanted = (title: string) => (title.startsWith('long, once') ? 'failed' : 'succeeded');
  const wrong = (await statuses(options.databaseUrl)).filter(([title, status]) => status !== wanted(title));
  if (wrong.length > 0) breaches.push({ promise: 'what may be repeated is repeated, and nothing else', rows: wrong });
  const last = await next.stop();
  if (last.code !== 0) breaches.push({ promise: 'a stop by SIGTERM ends with code 0', rows: last });
  return breaches;
}

async function statuses(databaseUrl: string): Promise<(readonly [string, string])[]> {
  const { tasks, occurrences } = await readRows(databaseUrl);
  const titles = new Map(tasks.map(({ id, title, once_at }) => [id, once_at === null ? null : title]));
  return occurrences.flatMap((one) => {
    const title = titles.get(one.task_id);
    return typeof title === 'string' ? [[title, one.status] as const] : [];
  });
}

/** After the stop the short ones have their end, and the long ones stand open for the next process to find. */
async function lookAtStopped(databaseUrl: string): Promise<Breach[]> {
  const all = await statuses(databaseUrl);
  const wrong = all.filter(([title, status]) => status !== (title.startsWith('short') ? 'succeeded' : 'dispatched'));
  return all.length === 30 && wrong.length === 0
    ? []
    : [{ promise: 'a stop waits for what can end in time', rows: { count: all.length, wrong } }];
}
