import { expect, it } from 'vitest';
import { calls, withHttp } from '../../support/actions.ts';
import { aPipeline, hour, hourly, minute, start } from '../../support/pipeline.ts';

const http = { kind: 'http', url: 'https://api.example.com/price' } as const;

it('lets a run wait for its host without an attempt, with the reason, and begins it when there is room', async () => {
  const made = calls();
  const until = start + hour + minute;
  const hold = (_spec: unknown, now: number) => (now < until ? { until, reason: 'api.example.com is busy' } : null);
  const p = await aPipeline({ actions: withHttp(made, { hold }) });
  const task = await p.create({ schedule: hourly, action: http });
  await p.pass(hour);

  const waiting = (await p.history(task.id))[0];
  expect(waiting).toMatchObject({ status: 'dispatched', attempts: [] });
  expect(await p.rooms.tasks.getRun(waiting?.runId ?? '')).toMatchObject({
    status: 'backoff',
    error: 'api.example.com is busy',
  });
  expect(made.jobs).toEqual([]);

  await p.pass(minute);
  expect(made.jobs).toHaveLength(1);
  expect((await p.history(task.id))[0]).toMatchObject({ status: 'succeeded', attempts: [{ attempt: 1 }] });
  expect(await p.rooms.tasks.get(task.id)).toMatchObject({ counters: { runs: 1, failures: 0 } });
});

it('tells once that a run waits, however often it is looked at, and counts no failure', async () => {
  const made = calls();
  let busy = true;
  const hold = (_spec: unknown, now: number) => (busy ? { until: now + 1000, reason: 'busy' } : null);
  const p = await aPipeline({ actions: withHttp(made, { hold }) });
  await p.create({ schedule: hourly, action: http });
  await p.pass(hour);
  for (let seconds = 0; seconds < 5; seconds += 1) await p.pass(1000);
  busy = false;
  await p.pass(1000);

  const told = p.database.prepare(`select count(*) from events where kind = 'run.backoff'`).pluck().get();
  expect(told).toBe(1);
  expect(made.jobs).toHaveLength(1);
});
