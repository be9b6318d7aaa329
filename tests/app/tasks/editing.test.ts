import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start } from '../../support/pipeline.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

describe('editing', () => {
  it('of the schedule keeps a slot that was due already, and the next one follows the new schedule and text', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, instructions: 'old' });
    await p.time.advance(hour + 50);
    const { task: edited } = await p.rooms.tasks.edit(
      { taskId: task.id, actor },
      { schedule: { kind: 'cron', cron: '30 * * * *', timezone: 'UTC' }, instructions: 'new' },
    );
    expect(edited.nextAt).toBe(start + hour + 30 * minute);
    await p.settle();
    await p.pass(30 * minute);
    expect((await p.history(task.id)).map(({ slotAt, status }) => [slotAt - start, status])).toEqual([
      [hour, 'succeeded'],
      [hour + 30 * minute, 'succeeded'],
    ]);
    expect(p.chat.shown.map(({ text }) => text)).toEqual(['old', 'new']);
  });

  it('with the same rule, sent again, keeps its anchor and its count', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'rrule', rrule: 'FREQ=DAILY;COUNT=3', timezone: 'UTC' } as const;
    const task = await p.create({ title: 'T', schedule });
    await p.pass(26 * hour);
    const { task: edited } = await p.rooms.tasks.edit({ taskId: task.id, actor }, { schedule });
    const upserted = await p.create({ title: 'T', schedule }, { onExisting: 'upsert' });
    expect([edited.schedule, upserted.schedule]).toEqual([task.schedule, task.schedule]);
    expect(upserted.nextAt).toBe(start + 48 * hour);
  });

  it('to an anchor that is named follows it', async () => {
    const p = await aPipeline();
    const every = (start_at: string) => ({ kind: 'interval', interval: 'P1D', start_at, timezone: 'UTC' }) as const;
    const task = await p.create({ title: 'T', schedule: every('2026-11-18T12:00:00Z') });
    const moved = await p.create({ title: 'T', schedule: every('2026-11-18T20:00:00Z') }, { onExisting: 'upsert' });
    expect([moved.id, moved.nextAt]).toEqual([task.id, start + 11 * hour]);
  });

  it('with the same schedule keeps its anchor', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } as const;
    const task = await p.create({ schedule });
    await p.pass(20 * minute);
    const { task: edited } = await p.rooms.tasks.edit({ taskId: task.id, actor }, { schedule, title: 'Same' });
    expect(edited.nextAt).toBe(start + hour);
  });

  it('names only what it changes, and null takes a policy back to its default', async () => {
    const p = await aPipeline();
    const task = await p.create({
      schedule: hourly,
      policies: { overlap: 'queue', grace: 'PT1M' },
      tags: ['a'],
      subject: 's',
    });
    const { task: edited } = await p.rooms.tasks.edit(
      { taskId: task.id, actor },
      { policies: { overlap: null, priority: 7 } },
    );
    expect(edited).toMatchObject({
      policies: { grace: 'PT1M', priority: 7 },
      tags: ['a'],
      subject: 's',
      title: task.title,
    });
    expect(edited.policies).not.toHaveProperty('overlap');
  });

  it('of the kind of action lets work that was admitted go on as it was', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, action: { kind: 'echo', fail_attempts: 1 } });
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { action: { kind: 'message' } });
    await p.pass(minute);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', attempts: [{ status: 'failed' }, {}] }]);
  });

  it('of the bounds holds for what waits already', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', delay_ms: 50_000 };
    const task = await p.create({
      schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' },
      action,
      policies: { overlap: 'queue', timeout: 'PT5M' },
    });
    await p.pass(minute);
    for (const slot of [2, 3]) await p.rooms.scheduler.step(start + slot * minute, 100);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { policies: { max_runs: 1 } });
    await p.pass(50_000);
    expect((await p.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', null],
      ['skipped', 'max_runs'],
      ['skipped', 'max_runs'],
    ]);
  });

  it('revives a completed task only within the quota', async () => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 1 } });
    const first = await p.create({ schedule: { kind: 'once', once_at: '2026-11-18T09:30:00Z', timezone: 'UTC' } });
    await p.pass(hour);
    await p.create();
    await expect(p.rooms.tasks.edit({ taskId: first.id, actor }, { schedule: hourly })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    expect((await p.rooms.tasks.get(first.id)).state).toBe('completed');
  });

  it('writes who changed what, before and after', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, title: 'Old' });
    await p.rooms.tasks.edit({ taskId: task.id, actor: 'telegram:user:7' }, { title: 'New' });
    const row = p.database.prepare(`select actor, verb, before, after from audit where verb = 'edit'`).get();
    expect(row).toEqual({
      actor: 'telegram:user:7',
      verb: 'edit',
      before: '{"title":"Old"}',
      after: '{"title":"New"}',
    });
  });
});
