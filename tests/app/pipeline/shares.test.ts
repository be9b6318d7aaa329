import { expect, it } from 'vitest';
import { actor, aPipeline, hour, hourly, texts } from '../../support/pipeline.ts';

const slow = { kind: 'echo', delay_ms: 20_000 };

it('leaves places for messages, however many slow calls there are', async () => {
  const p = await aPipeline({ settings: { RUN_CONCURRENCY: 8 } });
  for (let task = 0; task < 20; task += 1)
    await p.create({ title: `Slow ${task}`, instructions: 'slow', schedule: hourly, action: slow });
  await p.create({ instructions: 'quick', schedule: hourly });
  await p.pass(hour);
  const running = () => p.database.prepare(`select count(*) from runs where status = 'running'`).pluck().get();
  expect(texts(p)).toEqual(['quick']);
  expect(running()).toBe(6);

  await p.pass(20_000);
  expect(running()).toBe(6);
  for (let turn = 0; turn < 3; turn += 1) await p.pass(20_000);
  expect(texts(p).filter((text) => text === 'slow')).toHaveLength(20);
});

it('starts them in the place of those that end, and one by itself where there is a single place', async () => {
  const p = await aPipeline({ settings: { RUN_CONCURRENCY: 1 } });
  const task = await p.create({ instructions: 'slow', schedule: hourly, action: slow });
  await p.rooms.tasks.runNow({ taskId: task.id, actor });
  await p.settle();
  await p.pass(20_000);
  expect(texts(p)).toEqual(['slow']);
});
