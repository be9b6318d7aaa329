import { describe, expect, it } from 'vitest';
import { actor, aPipeline, day, hour, minute, start } from '../../support/pipeline.ts';
import { askAt, said, story, told, why } from './asking.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;
const second = 1000;

describe('an instant at which a task had no slots', () => {
  it('because it was paused', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour + minute);
    await p.rooms.tasks.pause(by(task), null);
    await p.pass(day);
    await p.rooms.tasks.resume({ taskId: task.id, actor: 'api:token:default' });
    await p.pass(hour);

    expect(await said(p, task, start + 2 * hour)).toBe(
      'paused, manual: Wed 18 Nov 11:00: no run; telegram:user:1001 had paused it on Wed 18 Nov 10:01.',
    );
    expect(await said(p, task, start + 2 * hour + minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 11:01: not a time of this task (every hour); telegram:user:1001 had paused it on Wed 18 Nov 10:01; the times around it are 10:00 (ran) and 12:00 (paused).',
    );
    expect(await said(p, task, start + day + 2 * hour)).toBe(
      'ran, schedule: Thu 19 Nov 11:00: ran, 1 minute after its time; delivered.',
    );
    expect((await why(p, task, start + 2 * hour)).evidence.deed).toMatchObject({ verb: 'pause', actor });
  });

  it('because it was paused until later, also when that lies ahead', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause(by(task), start + 3 * hour);
    expect(await said(p, task, start + 2 * hour)).toBe(
      'paused, manual: Wed 18 Nov 11:00: no run planned; telegram:user:1001 had paused it on Wed 18 Nov 09:00, until Wed 18 Nov 12:00.',
    );
    expect(await said(p, task, start + 3 * hour)).toBe('planned, schedule: Wed 18 Nov 12:00: planned.');
    await p.pass(3 * hour + 2 * second);
    expect(await said(p, task, start + 2 * hour)).toBe(
      'paused, manual: Wed 18 Nov 11:00: no run; telegram:user:1001 had paused it on Wed 18 Nov 09:00, until Wed 18 Nov 12:00.',
    );
    expect(await said(p, task, start + 3 * hour)).toBe(
      'ran, schedule: Wed 18 Nov 12:00: ran, 2 seconds after its time; delivered.',
    );
  });

  it('because it was deleted, and after it was restored', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(minute);
    await p.rooms.tasks.delete(by(task));
    expect(await said(p, task, start + hour)).toBe(
      'deleted, deleted: Wed 18 Nov 10:00: no run planned; telegram:user:1001 had deleted the task on Wed 18 Nov 09:01.',
    );
    await p.pass(90 * minute);
    expect(await said(p, task, start + hour)).toBe(
      'deleted, deleted: Wed 18 Nov 10:00: no run; telegram:user:1001 had deleted the task on Wed 18 Nov 09:01.',
    );
    await p.rooms.tasks.restore(by(task));
    await p.pass(hour);
    expect(await said(p, task, start + hour)).toBe(
      'deleted, deleted: Wed 18 Nov 10:00: no run; telegram:user:1001 had deleted the task on Wed 18 Nov 09:01.',
    );
    expect((await why(p, task, start + 2 * hour)).decision).toBe('late');
  });

  it('because it was paused already when it was deleted, and came back as it was', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(30 * minute);
    await p.rooms.tasks.pause({ ...by(task), actor: 'telegram:user:1002' }, null);
    await p.pass(hour);
    await p.rooms.tasks.delete(by(task));
    await p.pass(minute);
    await p.rooms.tasks.restore(by(task));
    await p.pass(2 * hour);
    const paused =
      'paused, manual: Wed 18 Nov 12:00: no run; telegram:user:1002 had paused it on Wed 18 Nov 09:30, before it was deleted and restored.';
    expect(await said(p, task, start + 3 * hour)).toBe(paused);
    expect((await why(p, task, start + 3 * hour)).evidence.deed).toMatchObject({
      verb: 'pause',
      at: start + 30 * minute,
    });
    // Also when another pause has followed since, or when the record of it is gone.
    await p.rooms.tasks.resume(by(task));
    await p.pass(hour);
    await p.rooms.tasks.pause(by(task), null);
    expect(await said(p, task, start + 3 * hour)).toBe(paused);
    p.database.exec(`delete from audit where verb = 'pause'`);
    expect(await said(p, task, start + 3 * hour)).toBe(
      'paused, paused: Wed 18 Nov 12:00: no run; the task was paused.',
    );
  });

  it('because its row could not be read when its pause was to end', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { ...hourly, cron: '*/30 * * * *' } });
    await p.rooms.tasks.pause(by(task), start + hour);
    p.database.exec(`update tasks set cron = 'x'`);
    await p.pass(2 * hour);
    expect((await why(p, task, start + 30 * minute)).line).toBe(
      'Wed 18 Nov 09:30: no run; telegram:user:1001 had paused it on Wed 18 Nov 09:00, until Wed 18 Nov 10:00.',
    );
    expect(await why(p, task, start + 90 * minute)).toMatchObject({ decision: 'missed', cause: 'unreadable' });
    expect((await why(p, task, start + 150 * minute)).line).toContain(
      'the system had paused it on Wed 18 Nov 11:00, as its row could not be read',
    );
  });

  it('because it did not exist yet', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    expect(await said(p, task, start - hour)).toBe(
      'not_created, not_created: Wed 18 Nov 08:00: no run; telegram:user:1001 created the task only on Wed 18 Nov 09:00.',
    );
    expect(await said(p, task, start)).toBe(
      'not_created, not_created: Wed 18 Nov 09:00: no run; telegram:user:1001 created the task only on Wed 18 Nov 09:00.',
    );
  });

  it('because it had run out, and gone on when it was given more', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'once', once_at: '2026-11-18T10:00', timezone: 'UTC' } });
    await p.pass(hour);
    expect(await said(p, task, start + 2 * hour)).toBe(
      'completed, completed: Wed 18 Nov 11:00: nothing is due; the task was completed: its last time was Wed 18 Nov 10:00.',
    );
    await p.pass(hour);
    await p.rooms.tasks.edit(by(task), { schedule: hourly });
    await p.pass(hour);
    expect(await said(p, task, start + 90 * minute)).toBe(
      'completed, completed: Wed 18 Nov 10:30: nothing was due; the task was completed: its last time was Wed 18 Nov 10:00.',
    );
    expect((await why(p, task, start + hour)).decision).toBe('ran');
    expect((await why(p, task, start + 3 * hour)).decision).toBe('ran');
  });
});

describe('what is changed at the very instant of a slot', () => {
  it('holds for the slots after it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    const half = await p.create({ schedule: { ...hourly, cron: '30 * * * *' } });
    await p.time.advance(30 * minute);
    await p.rooms.tasks.edit(by(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    await p.rooms.tasks.edit(by(half), { schedule: hourly });
    await p.settle();
    expect((await why(p, task, start + 30 * minute)).decision).toBe('no_slot');
    expect(await why(p, half, start + 30 * minute)).toMatchObject({ decision: 'ran', evidence: { version: 1 } });

    await p.time.advance(30 * minute);
    await p.rooms.tasks.pause(by(half), null);
    await p.settle();
    expect((await why(p, half, start + hour)).decision).toBe('ran');
    await p.pass(hour);
    await p.rooms.tasks.resume(by(half));
    await p.settle();
    expect((await why(p, half, start + 2 * hour)).decision).toBe('paused');
    expect((await why(p, half, start + 3 * hour)).decision).toBe('planned');
  });
});

describe('an instant that is no slot', () => {
  it('names the times around it', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour);
    expect(await said(p, task, start + 65 * minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 10:05: not a time of this task (every hour); the times around it are 10:00 (ran) and 11:00 (planned).',
    );
    expect(await said(p, task, start + 30 * minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 09:30: not a time of this task (every hour); the time after it is 10:00 (ran).',
    );
  });

  it('is told to the millisecond where it was asked about so', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour);
    expect(await said(p, task, start + hour + 7)).toBe(
      'no_slot, no_slot: Wed 18 Nov 10:00:00.007: not a time of this task (every hour); the times around it are 10:00 (ran) and 11:00 (planned).',
    );
    await p.rooms.tasks.pause(by(task), null);
    expect(await said(p, task, start + hour + 5 * second - 1)).toContain('Wed 18 Nov 10:00:04.999: not a time');
  });

  it('is measured by the schedule that was in force then', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour + 10 * minute);
    await p.rooms.tasks.edit(by(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    await p.pass(2 * hour);
    expect((await why(p, task, start + hour)).evidence.version).toBe(1);
    expect(await said(p, task, start + 2 * hour)).toBe(
      'no_slot, no_slot: Wed 18 Nov 11:00: not a time of this task (every hour at minute 30); the times around it are 10:30 (missed) and 11:30 (ran late).',
    );
    expect(await said(p, task, start + hour + 30 * minute)).toBe(
      'missed, covered: Wed 18 Nov 10:30: missed; nobody was there until 12:10, and the policy missed: once makes up for all missed runs with one.',
    );
    expect(await said(p, task, start + 30 * minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 09:30: not a time of this task (every hour); the time after it is 10:00 (ran).',
    );
  });

  it('may lie outside of the bounds', async () => {
    const p = await aPipeline();
    const policies = { start_at: '2026-11-18T12:00:00Z', until: '2026-11-18T14:00:00Z' };
    const task = await p.create({ schedule: hourly, policies });
    expect(await said(p, task, start + hour)).toBe(
      'no_slot, start_at: Wed 18 Nov 10:00: nothing is due, as the task begins on Wed 18 Nov 12:00 (start_at); the time after it is 12:00 (planned).',
    );
    expect(await said(p, task, start + 3 * hour)).toBe('planned, schedule: Wed 18 Nov 12:00: planned.');
    expect(await said(p, task, start + 6 * hour)).toBe(
      'no_slot, until: Wed 18 Nov 15:00: nothing is due, as the task ends on Wed 18 Nov 14:00 (until).',
    );
    const limited = await p.create({ schedule: hourly, policies: { max_runs: 2 } });
    expect((await why(p, limited, start + 2 * hour)).decision).toBe('planned');
    expect(await said(p, limited, start + 3 * hour)).toBe(
      'no_slot, max_runs: Wed 18 Nov 12:00: nothing is planned, as with max_runs (2) the run of Wed 18 Nov 11:00 may be the last one, if nothing until then is left out.',
    );
  });

  it('may be any instant of a delay after the last finish', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' } as const;
    const task = await p.create({ schedule });
    await p.pass(hour);
    await p.pass(10 * minute);
    expect(await said(p, task, start + hour + 5 * minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 10:05: not a time of this task (1 hour after each run has ended, from 2026-11-18 09:00); the times around it are 10:00 (ran) and 11:00 (planned).',
    );
    expect(await said(p, task, start + 2 * hour)).toBe('planned, schedule: Wed 18 Nov 11:00: planned.');
  });
});

describe('the time', () => {
  it('is told on the clock of the task, with its offset where the clock shows it twice', async () => {
    // On the last Sunday of October the clocks of Madrid go back from 03:00 to 02:00.
    const p = await aPipeline({ now: Date.UTC(2026, 9, 24, 23) });
    const task = await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'Europe/Madrid' } });
    for (let step = 0; step < 8; step += 1) await p.pass(30 * minute);
    const first = Date.UTC(2026, 9, 25, 0, 30);
    expect([await said(p, task, first), await said(p, task, first + hour)]).toEqual([
      'ran, schedule: Sun 25 Oct 02:30 (UTC+02:00): ran on time; delivered.',
      'ran, schedule: Sun 25 Oct 02:30 (UTC+01:00): ran on time; delivered.',
    ]);
  });

  it('has its year when that is not this one', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'once', once_at: '2027-01-31T09:00', timezone: 'UTC' } });
    expect(await said(p, task, Date.UTC(2027, 0, 31, 9))).toBe('planned, schedule: Sun 31 Jan 2027 09:00: planned.');
  });
});

describe('a stretch of time', () => {
  it('is told from beginning to end, page by page, with nothing twice and nothing left out', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour);
    await p.rooms.tasks.skip(by(task), { count: 1, from: null });
    await p.pass(90 * minute);
    await p.rooms.tasks.pause(by(task), null);
    await p.pass(2 * hour);
    await p.rooms.tasks.resume(by(task));
    await p.pass(30 * minute);
    await p.rooms.tasks.runNow(by(task));
    await p.settle();
    const lines = (await story(p, task, { to: start + 8 * hour })).map(told);
    expect(lines).toEqual([
      'not_created, not_created: Until Wed 18 Nov 09:00: nothing was due; telegram:user:1001 created the task only on Wed 18 Nov 09:00.',
      'ran, schedule: Wed 18 Nov 10:00: ran on time; delivered.',
      'skipped, skip: Wed 18 Nov 11:00: skipped, because telegram:user:1001 had skipped it in advance at 10:00.',
      'paused, manual: From Wed 18 Nov 11:30 to Wed 18 Nov 13:30: nothing was due; telegram:user:1001 had paused it on Wed 18 Nov 11:30.',
      'ran, schedule: Wed 18 Nov 14:00: ran on time; delivered.',
      'ran, run_now: Wed 18 Nov 14:00: ran, asked for by hand by telegram:user:1001; delivered.',
      'planned, schedule: Wed 18 Nov 15:00: planned.',
      'planned, schedule: Wed 18 Nov 16:00: planned.',
      'planned, schedule: Wed 18 Nov 17:00: planned.',
    ]);
    for (const limit of [1, 2, 200]) {
      expect((await story(p, task, { to: start + 8 * hour, limit })).map(told)).toEqual(lines);
    }
  });

  it('says what has been removed', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 20 } });
    const task = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    for (let step = 0; step < 30; step += 1) await p.pass(day);
    p.database.prepare('delete from occurrences where slot_at < ?').run(start + 10 * day);
    expect(await said(p, task, start + hour)).toBe(
      'unrecorded, retention: Wed 18 Nov 10:00: its record was removed after 20 days.',
    );
    expect(await said(p, task, start + 2 * hour)).toBe(
      'unrecorded, retention: Wed 18 Nov 11:00: records of that time were removed after 20 days.',
    );
    const lines = (await story(p, task, { from: start, to: start + 11 * day })).map(told);
    expect(lines).toEqual([
      'not_created, not_created: Until Wed 18 Nov 09:00: nothing was due; telegram:user:1001 created the task only on Wed 18 Nov 09:00.',
      'unrecorded, retention: From Wed 18 Nov 09:00 to Sat 28 Nov 09:00: records of that time were removed after 20 days.',
      'late, catch_up: Sat 28 Nov 10:00: ran late, on Sun 29 Nov 09:00, 23 hours after its time, as nobody was there in time; delivered.',
    ]);
  });

  it('says what was removed while records were kept for a shorter time', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    for (let step = 0; step < 12; step += 1) await p.pass(day);
    p.database.prepare('delete from occurrences where slot_at < ?').run(start + 10 * day);
    await p.store.writeNote('retention', JSON.stringify({ before: new Date(start + 10 * day).toISOString() }), start);
    expect(await said(p, task, start + hour)).toBe(
      'unrecorded, retention: Wed 18 Nov 10:00: its record was removed while records were kept for a shorter time than now.',
    );
    const [, removed] = await story(p, task, { from: start, to: start + 11 * day });
    expect(removed?.line).toBe(
      'From Wed 18 Nov 09:00 to Sat 28 Nov 09:00: records of that time were removed while records were kept for a shorter time than now.',
    );
    await p.store.writeNote('retention', '{', start);
    expect(await said(p, task, start + hour)).toContain('no_record');
  });

  it('holds what is planned', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, policies: { until: '2026-11-18T12:00:00Z' } });
    expect((await story(p, task, { from: start, to: start + day })).map(told)).toEqual([
      'not_created, not_created: Until Wed 18 Nov 09:00: nothing was due; telegram:user:1001 created the task only on Wed 18 Nov 09:00.',
      'planned, schedule: Wed 18 Nov 10:00: planned.',
      'planned, schedule: Wed 18 Nov 11:00: planned.',
      'planned, schedule: Wed 18 Nov 12:00: planned.',
    ]);
    expect(await askAt(p, task, start + hour)).toHaveLength(1);
  });
});

describe('a database from before states and versions were kept', () => {
  it('still has an answer', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour);
    await p.rooms.tasks.edit(by(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    await p.rooms.tasks.pause(by(task), null);
    await p.pass(hour);
    await p.rooms.tasks.resume(by(task));
    p.database.exec('update audit set state_before = null, state_after = null; delete from task_versions');
    expect(await said(p, task, start + hour)).toContain('ran on time');
    expect(await said(p, task, start + 30 * minute)).toBe(
      'no_slot, no_slot: Wed 18 Nov 09:30: not a time of this task (every hour); the time after it is 10:00 (ran).',
    );
    expect(await said(p, task, start + 90 * minute)).toBe(
      'paused, manual: Wed 18 Nov 10:30: no run; telegram:user:1001 had paused it on Wed 18 Nov 10:00.',
    );
    expect((await said(p, task, start + 150 * minute)).startsWith('planned')).toBe(true);
    p.database.exec('delete from audit');
    expect(await said(p, task, start + hour)).toContain('ran on time');
  });
});
