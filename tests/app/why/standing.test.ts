import { describe, expect, it } from 'vitest';
import { second } from '../../support/fakes.ts';
import {
  actor,
  aPipeline,
  day,
  hour,
  minute,
  start,
  type Pipeline,
  hourly,
  withTask,
  afterAnHour,
} from '../../support/pipeline.ts';
import { askAt, expectWords, said, story, told, why } from './asking.ts';
const minutely = { ...hourly, cron: '* * * * *' };
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;

/** A task whose life has taken some turns, each after some minutes. */
async function live(p: Pipeline, turns: readonly (readonly [minutes: number, turn?: () => Promise<unknown>])[]) {
  for (const [minutes, turn] of turns) {
    await p.pass(minutes * minute);
    await turn?.();
  }
}

describe('an instant at which a task had no slots', () => {
  it('because it was paused, for good or until later', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await live(p, [
      [61, () => p.rooms.tasks.pause(by(task), null)],
      [24 * 60, () => p.rooms.tasks.resume({ taskId: task.id, actor: 'api:token:default' })],
      [60, () => p.rooms.tasks.pause(by(task), start + 29 * hour)],
    ]);
    const ahead = await said(p, task, start + 28 * hour, start + 29 * hour);
    await p.pass(start + 29 * hour + 2 * second - p.time.now());
    const instants = [2 * hour, 2 * hour + minute, 26 * hour, 28 * hour, 29 * hour].map((ms) => start + ms);
    await expectWords('paused', ahead, await said(p, task, ...instants));
    expect((await why(p, task, start + 2 * hour)).evidence.deed).toMatchObject({ verb: 'pause', actor });
  });

  it('because it was deleted, also after it was restored', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await live(p, [[1, () => p.rooms.tasks.delete(by(task))]]);
    const ahead = await said(p, task, start + hour);
    await live(p, [[90, () => p.rooms.tasks.restore(by(task))], [60]]);
    await expectWords('deleted', ahead, await said(p, task, start + hour, start + 2 * hour));
  });

  it('because it was paused already when it was deleted, and came back as it was', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await live(p, [
      [30, () => p.rooms.tasks.pause({ ...by(task), actor: 'telegram:user:1002' }, null)],
      [60, () => p.rooms.tasks.delete(by(task))],
      [1, () => p.rooms.tasks.restore(by(task))],
      [120, () => p.rooms.tasks.resume(by(task))],
      [60, () => p.rooms.tasks.pause(by(task), null)],
    ]);
    const known = await said(p, task, start + 3 * hour);
    expect((await why(p, task, start + 3 * hour)).evidence.deed).toMatchObject({
      verb: 'pause',
      at: start + 30 * minute,
    });
    p.database.exec(`delete from audit where verb = 'pause'`);
    await expectWords('restored', known, await said(p, task, start + 3 * hour));
  });

  it('tells who did it by their name, and by their id where none is known', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const pauser = 'telegram:user:1002';
    await live(p, [[30, () => p.rooms.tasks.pause({ ...by(task), actor: pauser }, null)], [120]]);
    expect((await why(p, task, start + hour)).line).toContain(pauser);
    await p.store.noteUser({ id: pauser, name: 'Ben' }, start);
    expect((await why(p, task, start + hour)).line).toMatch(/\bBen\b/);
  });

  it('because its row could not be read, when its slot came or when its pause was to end', async () => {
    const p = await aPipeline();
    const [due, paused] = [
      await p.create({ schedule: hourly }),
      await p.create({ schedule: { ...hourly, cron: '*/30 * * * *' } }),
    ];
    await p.rooms.tasks.pause(by(paused), start + hour);
    p.database.exec(`update tasks set cron = 'x'`);
    await p.pass(hour + second);
    await p.pass(hour);
    const broken = await said(p, paused, start + 30 * minute, start + 90 * minute, start + 150 * minute);
    await expectWords('unreadable', await said(p, due, start + hour, start + 3 * hour), broken);
  });

  it('because it did not exist yet, or had run out and was given more', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'once', once_at: '2026-11-18T10:00', timezone: 'UTC' } });
    const bounded = await p.create({ schedule: hourly, policies: { max_runs: 1 } });
    await p.pass(hour);
    const before = await said(p, task, start - hour, start, start + 30 * minute, start + 2 * hour);
    const spent = await said(p, bounded, start + 3 * hour);
    await live(p, [[60, () => p.rooms.tasks.edit(by(task), { schedule: hourly })], [60]]);
    await expectWords(
      'completed',
      before,
      spent,
      await said(p, task, start + hour, start + 90 * minute, start + 3 * hour),
    );
  });

  it('because its failures paused it, which leaves out what was due by then', async () => {
    const { p, task } = await withTask({
      action: { kind: 'echo', delay_ms: 60 * second, fail_attempts: 1 },
      schedule: minutely,
      policies: { retry: { attempts: 1 }, auto_pause: 3, missed: 'skip', overlap: 'allow', timeout: 'PT2M' },
    });
    await live(p, [[1], [1], [1], [1]]);
    await expectWords('failing', await said(p, task, start + 4 * minute, start + 50 * minute));
  });
});

describe('what is changed at the very instant of a slot', () => {
  it('holds for the slots after it', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const half = await p.create({ schedule: { ...hourly, cron: '30 * * * *' } });
    await p.time.advance(30 * minute);
    await p.rooms.tasks.edit(by(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    await p.rooms.tasks.edit(by(half), { schedule: hourly });
    await p.settle();
    expect(await why(p, task, start + 30 * minute)).toMatchObject({ decision: 'no_slot', slot: null });
    expect(await why(p, half, start + 30 * minute)).toMatchObject({ decision: 'ran', evidence: { version: 1 } });
    await p.time.advance(30 * minute);
    await p.rooms.tasks.pause(by(half), null);
    await p.settle();
    await live(p, [[60, () => p.rooms.tasks.resume(by(half))], [0]]);
    const decisions = [];
    for (const hours of [1, 2, 3]) decisions.push((await why(p, half, start + hours * hour)).decision);
    expect(decisions).toEqual(['ran', 'paused', 'planned']);
  });
});

describe('an instant that is no slot', () => {
  it('names the times around it, as the schedule that was in force then has them', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly });
    const early = [-hour, 30 * minute, 65 * minute, hour + 7].map((ms) => start + ms);
    const before = await said(p, task, ...early);
    await live(p, [[10, () => p.rooms.tasks.edit(by(task), { schedule: { ...hourly, cron: '30 * * * *' } })], [120]]);
    const later = [30 * minute, 90 * minute, 2 * hour].map((ms) => start + ms);
    await expectWords('between', before, await said(p, task, ...later));
    expect((await why(p, task, start + hour)).evidence.version).toBe(1);
    await p.rooms.tasks.pause(by(task), null);
    expect(await said(p, task, p.time.now() + 5 * second - 1)).toContain('Wed 18 Nov 12:10:04.999: not a time');
  });

  it('may lie outside of the bounds, or be any instant of a delay after the last finish', async () => {
    const p = await aPipeline();
    const policies = { start_at: '2026-11-18T12:00:00Z', until: '2026-11-18T14:00:00Z' };
    const task = await p.create({ schedule: hourly, policies });
    const limited = await p.create({ schedule: hourly, policies: { max_runs: 2 } });
    const bounds = await said(p, task, start + hour, start + 3 * hour, start + 6 * hour);
    const limit = await said(p, limited, start + 2 * hour, start + 3 * hour);
    const schedule = { kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' } as const;
    const delayed = await p.create({ schedule });
    await live(p, [[60], [10]]);
    await expectWords('bounds', bounds, limit, await said(p, delayed, start + 65 * minute, start + 2 * hour));
  });
});

describe('the time', () => {
  it('is told on the clock of the task, with offset or year where these are needed', async () => {
    // On the last Sunday of October the clocks of Madrid go back from 03:00 to 02:00.
    const p = await aPipeline({ now: Date.UTC(2026, 9, 24, 23) });
    const task = await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'Europe/Madrid' } });
    const far = await p.create({ schedule: { kind: 'once', once_at: '2027-01-31T09:00', timezone: 'UTC' } });
    await live(
      p,
      Array.from({ length: 8 }, () => [30] as const),
    );
    const twice = await said(p, task, Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30));
    await expectWords('zone', twice, await said(p, far, Date.UTC(2027, 0, 31, 9)));
  });
});

/** The same story, however long its pages are. */
async function everyStory(p: Pipeline, task: { readonly id: string }, to: number): Promise<readonly string[]> {
  const window = { from: start - hour, to };
  const whole = (await story(p, task, { ...window, limit: 200 })).map(told);
  for (const limit of [1, 2, 50]) expect((await story(p, task, { ...window, limit })).map(told)).toEqual(whole);
  return whole;
}

describe('a stretch of time', () => {
  it('is told from beginning to end, page by page, with nothing twice and nothing left out', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { until: '2026-11-18T17:00:00Z' } });
    await live(p, [
      [60, () => p.rooms.tasks.skip(by(task), { count: 1, from: null })],
      [90, () => p.rooms.tasks.pause(by(task), null)],
      [120, () => p.rooms.tasks.resume(by(task))],
      [30, () => p.rooms.tasks.runNow(by(task))],
      [0],
    ]);
    await expectWords('stretch', ...(await everyStory(p, task, start + day)));
    expect(await askAt(p, task, start + 5 * hour)).toHaveLength(2);
  });

  it('says what has been removed, by the retention that holds or by a shorter one', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 20 } });
    const task = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    await live(
      p,
      Array.from({ length: 30 }, () => [24 * 60] as const),
    );
    p.database.prepare('delete from occurrences where slot_at < ?').run(start + 10 * day);
    const point = await said(p, task, start + hour, start + 2 * hour);
    const lines = async () => (await story(p, task, { from: start, to: start + 11 * day })).map(told);
    const longer = await lines();
    const before = (at: number) =>
      p.store.writeNote('retention', JSON.stringify({ before: new Date(at).toISOString() }), start);
    await before(start + 10.5 * day);
    await expectWords('removed', point, ...longer, await said(p, task, start + hour), ...(await lines()));
  });

  it('with slots that nobody took up has one answer for all of them', async () => {
    const { p, task } = await withTask({ schedule: minutely, policies: { missed: 'skip' } });
    await p.pass(2 * day);
    await expectWords('outage', await said(p, task, start + day, start + day + 30 * second));
  });

  it('in which much was changed has the slots of the schedule in force, and every pause', async () => {
    const p = await aPipeline();
    const dense = { ...hourly, cron: '*/20 13-14 * * *' };
    const task = await p.create({ schedule: { ...hourly, cron: '0 12 * * *' } });
    for (let turns = 0; turns < 60; turns += 1) {
      await p.rooms.tasks.edit(by(task), { schedule: turns % 2 === 0 ? dense : { ...hourly, cron: '0 12 * * *' } });
      await p.rooms.tasks.pause(by(task), null);
      // All of this in one instant.
      for (let times = 0; times < 3; times += 1) {
        await p.rooms.tasks.resume(by(task));
        await p.rooms.tasks.pause(by(task), null);
      }
      await p.time.advance(1000);
      await p.rooms.tasks.resume(by(task));
      await p.time.advance(1000);
    }
    await live(
      p,
      Array.from({ length: 8 }, () => [60] as const),
    );
    const words = (await everyStory(p, task, p.time.now())).map((line) => line.split(':', 1)[0]);
    expect(words).toEqual([
      'not_created, not_created',
      ...Array.from({ length: 60 }, () => 'paused, manual'),
      'ran, schedule',
    ]);
  });
});

describe('a slot whose run was called off while it ran', () => {
  it('says who did that', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: { kind: 'echo', delay_ms: 30 * second } });
    await p.pass(10 * second);
    await p.rooms.tasks.cancel(by(task));
    const deed = { verb: 'cancel', actor, at: start + hour + 10 * second };
    expect(await why(p, task, start + hour)).toMatchObject({ decision: 'running', evidence: { deed } });
    await p.settle();
    await p.pass(second);
    expect(await why(p, task, start + hour)).toMatchObject({ decision: 'cancelled', evidence: { deed } });
  });
});

describe('a slot without a record', () => {
  it('is due, or was never accounted for, or nobody knows by which schedule it was one', async () => {
    const { p, task } = await withTask({ schedule: { ...hourly, cron: '*/5 * * * *' } });
    const slot = start + 5 * minute;
    await p.time.advance(5 * minute);
    const due = await said(p, task, slot);
    await p.settle();
    p.database.exec('delete from occurrences');
    const lost = await said(p, task, slot);
    await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(await said(p, task, slot)).toBe(lost);
    p.database.exec(`update task_versions set at = at + ${hour}`);
    await expectWords('unrecorded', due, lost, await said(p, task, slot));
    p.database.exec('delete from task_versions; delete from audit');
    expect((await why(p, task, start + 10 * minute)).decision).toBe('planned');
  });
});
