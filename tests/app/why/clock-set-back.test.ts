import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start } from '../../support/pipeline.ts';
import { said, story, told, why } from './asking.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

describe('a time that came twice, because the clock was set back', () => {
  it('was not paused but where somebody had paused it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    const by = { taskId: task.id, actor } as const;
    await p.pass(90 * minute);
    await p.rooms.tasks.pause(by, null);
    await p.pass(30 * minute);
    await p.rooms.tasks.resume(by);
    // At 11:00 the clock shows 09:30 again.
    p.time.setWall(start + 30 * minute);
    await p.pass(15 * minute);
    await p.rooms.tasks.pause({ ...by, actor: 'telegram:user:1002' }, null);
    await p.pass(4 * hour + 30 * minute);
    await p.rooms.tasks.resume(by);
    for (let hours = 0; hours < 2; hours += 1) await p.pass(hour);

    const lines = (await story(p, task, { from: start, to: p.time.now() })).map(told);
    expect(lines.filter((line) => line.startsWith('paused'))).toEqual([
      'paused, manual: From Wed 18 Nov 09:45 to Wed 18 Nov 14:15: nothing was due; telegram:user:1002 had paused it on Wed 18 Nov 09:45.',
    ]);
    expect(lines.filter((line) => line.includes('no record'))).toEqual([]);
    expect(await said(p, task, start + 3 * hour)).toContain('telegram:user:1002 had paused it on Wed 18 Nov 09:45');
    expect((await why(p, task, start + hour)).decision).toBe('late');
    for (const limit of [1, 200]) {
      expect((await story(p, task, { from: start, to: p.time.now(), limit })).map(told)).toEqual(lines);
    }
  });

  it('was the end of a task in the one of its two turns', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, policies: { until: '2026-11-18T10:00:00Z' } });
    const by = { taskId: task.id, actor } as const;
    await p.pass(hour);
    await p.pass(5 * hour);
    await p.rooms.tasks.edit(by, { policies: { until: null } });
    p.time.setWall(start + 3 * hour);
    await p.rooms.tasks.delete(by);
    expect(await said(p, task, start + 2 * hour)).toContain('completed: its last time was Wed 18 Nov 10:00');
    expect((await why(p, task, start + 4 * hour)).decision).toBe('deleted');
  });

  it('may have a slot that a schedule names which held only in the second turn', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { ...hourly, cron: '5 * * * *' } });
    const by = { taskId: task.id, actor } as const;
    await p.pass(80 * minute);
    await p.rooms.tasks.edit(by, { schedule: { ...hourly, cron: '15 * * * *' } });
    p.time.setWall(start + 50 * minute);
    await p.rooms.tasks.edit(by, { instructions: 'Sit down!' });
    for (let quarters = 0; quarters < 8; quarters += 1) await p.pass(15 * minute);
    expect((await why(p, task, start + 65 * minute)).decision).toMatch(/ran|late/);
    expect(await said(p, task, start + 75 * minute)).toBe(
      'unrecorded, clock_set_back: Wed 18 Nov 10:15: no record; the clock was set back around then, so this time came twice, and the schedule that names it did not hold both times.',
    );
    expect((await why(p, task, start + 135 * minute)).decision).toBe('ran');
  });
});
