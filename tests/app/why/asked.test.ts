import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start } from '../../support/pipeline.ts';
import { said, why } from './asking.ts';

const daily = { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } as const;
const slot = start + 30 * minute;

describe('a slot whose result somebody is to confirm', () => {
  it('tells that nobody has, how often people were reminded, and in the end who has', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: daily, policies: { ack: { nag_limit: 2 } } });
    const ran = 'ran, schedule: Wed 18 Nov 09:30: ran on time; delivered; ';
    await p.pass(30 * minute);
    expect(await said(p, task, slot)).toBe(`${ran}nobody has said Done yet.`);
    await p.pass(20 * minute);
    expect(await said(p, task, slot)).toBe(`${ran}nobody has said Done yet, after 1 reminder.`);
    await p.pass(10 * minute);
    await p.pass(10 * minute);
    expect(await said(p, task, slot)).toBe(`${ran}nobody said Done, not even after the last of 2 reminders.`);
    const [run] = await p.history(task.id);
    await p.rooms.acks.done({ taskId: task.id, occurrenceId: run?.id ?? '', actor });
    expect(await said(p, task, slot)).toBe(`${ran}done by telegram:user:1001 at 10:10, after 2 reminders.`);
    expect((await why(p, task, slot)).evidence.ack).toEqual({
      status: 'done',
      nags: 2,
      doneAt: start + 70 * minute,
      doneBy: actor,
    });
  });

  it('tells that it was asked for anew, or that nobody is asked any more', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: daily, policies: { ack: {} } });
    await p.pass(30 * minute);
    await p.rooms.tasks.snooze({ taskId: task.id, actor }, { forMs: hour });
    expect(await said(p, task, slot)).toContain('; nobody said Done, until it was asked for anew.');
    await p.pass(hour);
    await p.rooms.tasks.pause({ taskId: task.id, actor }, null);
    expect(await said(p, task, slot + hour)).toContain('; nobody said Done, and nobody is asked any more.');
  });
});

describe('a slot whose result is kept back', () => {
  it('waits for approval, and tells who has given it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: daily, policies: { approval: 'required' } });
    await p.pass(30 * minute);
    expect(await said(p, task, slot)).toBe(
      'ran, schedule: Wed 18 Nov 09:30: ran on time; its message waits for approval since 09:30.',
    );
    await p.pass(minute);
    const [run] = await p.history(task.id);
    await p.rooms.approvals.decide({ runId: run?.runId ?? '', actor, isGiven: true });
    await p.settle();
    expect(await said(p, task, slot)).toMatch(/ran on time; approved by telegram:user:1001 at 09:31, delivered\.$/);
  });

  it('is discarded by somebody, or by the time', async () => {
    const p = await aPipeline();
    const [one, two] = [
      await p.create({ schedule: daily, policies: { approval: 'required' } }),
      await p.create({ schedule: daily, policies: { approval: 'required' } }),
    ];
    await p.pass(30 * minute);
    const [run] = await p.history(one.id);
    await p.rooms.approvals.decide({ runId: run?.runId ?? '', actor, isGiven: false });
    expect(await said(p, one, slot)).toContain(
      'ran on time; its message was discarded by telegram:user:1001 at 09:30.',
    );
    await p.pass(24 * hour);
    expect(await said(p, two, slot)).toContain('was not delivered: nobody approved it within 1 day.');
  });

  it('waits for the end of quiet hours', async () => {
    const p = await aPipeline();
    const quiet = { from: '09:00', to: '11:00', mode: 'hold' } as const;
    const task = await p.create({ schedule: daily, policies: { quiet } });
    await p.pass(30 * minute);
    expect(await said(p, task, slot)).toBe(
      'ran, schedule: Wed 18 Nov 09:30: ran on time; its message waits for the end of quiet hours at 11:00.',
    );
    await p.pass(90 * minute);
    expect(await said(p, task, slot)).toContain('; delivered.');
  });
});
