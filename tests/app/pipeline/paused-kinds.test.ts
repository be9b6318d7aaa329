import { expect, it } from 'vitest';
import { actor, aPipeline, hour, hourly, minute, texts, type Pipeline } from '../../support/pipeline.ts';

const echo = { kind: 'echo' } as const;

const pause = (p: Pipeline, kind = 'echo') => p.rooms.kindPauses.pause(kind, { actor });
const resume = async (p: Pipeline, kind = 'echo') => {
  await p.rooms.kindPauses.resume(kind, { actor });
  await p.settle();
};
const statusesOf = async (p: Pipeline, id: string) =>
  (await p.history(id)).map(({ status, reason }) => reason ?? status);
const runs = (p: Pipeline) =>
  p.database.prepare('select status, error from runs order by id').all() as { status: string; error: string | null }[];

it('begins nothing of a kind that is paused, and everything that waited once it goes on; other kinds run', async () => {
  const p = await aPipeline();
  await p.create({ instructions: 'of echo', schedule: hourly, action: echo });
  await p.create({ instructions: 'of message', schedule: hourly });
  await pause(p);
  await p.pass(hour);
  expect(texts(p)).toEqual(['of message']);
  expect(runs(p)).toEqual(expect.arrayContaining([{ status: 'queued', error: null }]));
  await resume(p);
  expect(texts(p)).toEqual(['of message', 'of echo']);
});

it('lets what runs come to its end', async () => {
  const p = await aPipeline();
  await p.create({ instructions: 'slow', schedule: hourly, action: { kind: 'echo', delay_ms: 20_000 } });
  await p.pass(hour);
  await pause(p);
  await p.pass(20_000);
  expect(texts(p)).toEqual(['slow']);
});

it('takes no time of an attempt for the wait: its timeout begins with it', async () => {
  const p = await aPipeline();
  const task = await p.create({
    instructions: 'quick',
    schedule: hourly,
    action: { kind: 'echo', delay_ms: 1000 },
    policies: { timeout: 'PT2S' },
  });
  await pause(p);
  await p.pass(hour);
  await p.pass(30 * minute);
  await resume(p);
  await p.pass(1000);
  expect(await statusesOf(p, task.id)).toEqual(['succeeded']);
});

it.each([
  ['skip', ['succeeded', 'overlap', 'overlap']],
  ['queue', ['succeeded', 'succeeded', 'succeeded']],
  ['allow', ['succeeded', 'succeeded', 'succeeded']],
  ['replace', ['replaced', 'replaced', 'succeeded']],
] as const)('leaves slots of the meantime to the policy overlap: %s', async (overlap, expected) => {
  const p = await aPipeline();
  const task = await p.create({ instructions: 'again', schedule: hourly, action: echo, policies: { overlap } });
  await pause(p);
  for (let slot = 0; slot < 3; slot += 1) await p.pass(hour);
  await resume(p);
  await p.settle();
  expect(await statusesOf(p, task.id)).toEqual(expected);
});

it('runs late what was let in, whatever the policy missed says: nobody was away', async () => {
  const p = await aPipeline();
  const task = await p.create({
    instructions: 'late',
    schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' },
    action: echo,
    policies: { missed: 'skip', grace: 'PT1M' },
  });
  await pause(p);
  await p.pass(hour);
  await p.pass(4 * hour);
  await resume(p);
  expect(await statusesOf(p, task.id)).toEqual(['succeeded']);
});

it('stands behind a restart, and what a dead process left running waits as well', async () => {
  const p = await aPipeline();
  await p.create({ instructions: 'slow', schedule: hourly, action: { kind: 'echo', delay_ms: 20_000 } });
  await p.pass(hour);
  await pause(p);
  const next = p.restart();
  await next.rooms.kindPauses.look();
  await next.rooms.processes.begun();
  await next.settle();
  expect(runs(next)).toEqual([{ status: 'backoff', error: 'echo is paused' }]);
  await next.pass(minute);
  expect(texts(next)).toEqual([]);
  await resume(next);
  await next.pass(20_000);
  expect(texts(next)).toEqual(['slow']);
});

it('can be called off while it waits', async () => {
  const p = await aPipeline();
  const task = await p.create({ instructions: 'never', schedule: hourly, action: echo });
  await pause(p);
  const { taskRun } = await p.rooms.tasks.runNow({ taskId: task.id, actor });
  await p.settle();
  await p.rooms.tasks.cancelRun(taskRun.runId ?? '', actor);
  await resume(p);
  expect(await statusesOf(p, task.id)).toEqual(['cancelled']);
  expect(texts(p)).toEqual([]);
});

it('refuses a kind that nobody knows, and names those that are known', async () => {
  const p = await aPipeline();
  await expect(pause(p, 'htpp')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(/^There is no kind of action "htpp"\. Kinds are: .*http, message\.$/) as string,
  });
  await expect(p.rooms.kindPauses.resume('htpp', { actor })).rejects.toMatchObject({ code: 'not_found' });
});
