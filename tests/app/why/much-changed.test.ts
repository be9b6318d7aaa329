import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { story, told } from './asking.ts';

const daily = { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } as const;
const dense = { kind: 'cron', cron: '*/20 13-14 * * *', timezone: 'UTC' } as const;

/** The same story, however long its pages are. */
async function everyStory(p: Pipeline, task: { readonly id: string }): Promise<readonly string[]> {
  const window = { from: start - hour, to: p.time.now() };
  const whole = (await story(p, task, { ...window, limit: 200 })).map(told);
  for (const limit of [1, 3, 50]) expect((await story(p, task, { ...window, limit })).map(told)).toEqual(whole);
  return whole;
}

describe('a task to which much was done in a short time', () => {
  it('has the slots of the schedule that was in force, not of one of its many edits', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: daily });
    const by = { taskId: task.id, actor } as const;
    for (let edits = 0; edits < 260; edits += 1) {
      await p.rooms.tasks.edit(by, { schedule: edits % 2 === 0 ? dense : daily });
      await p.time.advance(1000);
    }
    for (let hours = 0; hours < 8; hours += 1) await p.pass(hour);
    const lines = await everyStory(p, task);
    expect(lines.map((line) => line.split(':', 1)[0])).toEqual(['not_created, not_created', 'ran, schedule']);
  });

  it('was paused when it was paused, and never else', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { ...daily, cron: '*/30 * * * *' } });
    const by = { taskId: task.id, actor } as const;
    for (let turns = 0; turns < 9; turns += 1) {
      await p.rooms.tasks.pause(by, null);
      await p.time.advance(1000);
      // All of this in one instant.
      for (let times = 0; times < 25; times += 1) {
        await p.rooms.tasks.resume(by);
        await p.rooms.tasks.pause(by, null);
      }
      await p.rooms.tasks.resume(by);
      await p.time.advance(1000);
    }
    await p.settle();
    await p.pass(hour);
    await p.pass(10 * minute);
    const lines = await everyStory(p, task);
    expect(lines.filter((line) => line.startsWith('paused'))).toHaveLength(9);
    expect(lines.filter((line) => /no record|unrecorded/.test(line))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^ran, schedule/);
  });
});
