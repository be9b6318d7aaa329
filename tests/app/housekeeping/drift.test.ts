import { describe, expect, it } from 'vitest';
import type { ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import { aPipeline, day, hour, minute, start } from '../../support/pipeline.ts';
import { said } from '../why/asking.ts';

describe('a next slot that has drifted', () => {
  it.each<[drift: string, schedule: Omit<ScheduleInput, 'timezone'>, far: number, mended: number]>([
    ['a slot of its own, far ahead', { kind: 'interval', interval: 'PT5M' }, start + 500 * minute, start + 5 * minute],
    ['no slot at all', { kind: 'cron', cron: '0 * * * *' }, start + 90 * minute, start + hour],
    [
      'another time than the one that was named',
      { kind: 'once', once_at: new Date(start + 5 * minute).toISOString() },
      start + day,
      start + 5 * minute,
    ],
    [
      'a delay that is longer than the one between two runs',
      { kind: 'interval', interval: 'PT5M', from: 'completion' },
      start + day,
      start + 6 * minute,
    ],
  ])('finds and mends a next slot that is %s', async (_drift, schedule, far, mended) => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { ...schedule, timezone: 'UTC' } });
    await p.time.advance(minute);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    p.database.exec(`update tasks set next_at = ${far}`);
    expect((await p.rooms.audit.run()).findings).toMatchObject([
      { check: 'next_slot_drifted', count: 1, examples: [task.id] },
    ]);
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'api:token:default' });
    expect(fixed).toMatchObject([{ check: 'next_slot_drifted', id: task.id }]);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(mended);
    expect(await p.rooms.reconcile({ fix: true, actor: 'api:token:default' })).toEqual({ findings: [], fixed: [] });
  });

  it('takes up the slots that passed while the next one had drifted, as after an outage', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'interval', interval: 'PT5M', timezone: 'UTC' } });
    for (const _slot of [5, 10]) await p.pass(5 * minute);
    p.database.exec(`update tasks set next_at = ${start + 500 * minute}`);
    await p.pass(17 * minute);
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(fixed).toMatchObject([{ check: 'next_slot_drifted', id: task.id }]);
    await p.settle();
    const slots = (await p.history(task.id)).map(({ slotAt, status }) => [(slotAt - start) / minute, status]);
    expect(slots.sort(([a], [b]) => Number(a) - Number(b))).toEqual([
      [5, 'succeeded'],
      [10, 'succeeded'],
      [15, 'missed'],
      [20, 'missed'],
      [25, 'succeeded'],
    ]);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + 30 * minute);
    expect(await said(p, task, start + 20 * minute)).not.toContain('no record');
    // Slots of a timing that nobody asks for any more are none.
    await p.rooms.tasks.edit({ taskId: task.id, actor: 'telegram:user:7' }, { instructions: 'Other words' });
    await p.rooms.tasks.edit(
      { taskId: task.id, actor: 'telegram:user:7' },
      { schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } },
    );
    p.database.exec(`update tasks set next_at = ${start + 2000 * minute}`);
    await p.pass(1200 * minute);
    await p.rooms.reconcile({ fix: true, actor: 'system' });
    await p.settle();
    const [gap] = p.database.prepare('select from_at, count from gaps').all();
    expect(gap).toMatchObject({ from_at: start + 28 * minute });
  });

  it('leaves a delay alone whose task ends before another run could follow', async () => {
    const p = await aPipeline();
    const task = await p.create({
      schedule: { kind: 'interval', interval: 'PT2H30M', from: 'completion', timezone: 'UTC' },
      policies: { until: new Date(start + 200 * minute).toISOString() },
    });
    const { nextAt } = await p.rooms.tasks.get(task.id);
    await p.time.advance(100 * minute);
    expect((await p.rooms.reconcile({ fix: true, actor: 'system' })).findings).toEqual([]);
    await p.time.advance(minute);
    p.database.exec(`update tasks set next_at = ${start + day}`);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'next_slot_drifted', count: 1 }]);
    expect(nextAt).toBe(start + 150 * minute);
  });
});
