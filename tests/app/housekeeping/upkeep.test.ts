import { describe, expect, it, vi } from 'vitest';
import type { ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import { tidy as tidied } from '../../support/chores.ts';
import { aPipeline, day, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import { said } from '../why/asking.ts';

const tidy = ({ rooms, time }: Pipeline) => tidied(rooms.housekeeper, time);

const count = ({ database }: Pipeline, table: string) =>
  database.prepare(`select count(*) from ${table}`).pluck().get() as number;

const lines = ({ log }: Pipeline, event: string) => log.lines.filter((line) => line.event === event);

/** Night after night, so that nothing is skipped as an outage. */
async function days(p: Pipeline, number: number): Promise<void> {
  for (let passed = 0; passed < number; passed += 1) {
    await p.pass(day);
    await tidy(p);
  }
}

describe('retention', () => {
  it('removes what is old in the night, with all that hangs on it, and tells how much', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 20 } });
    const task = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    await tidy(p);
    await days(p, 40);
    const history = await p.history(task.id);
    expect(history.length).toBeGreaterThanOrEqual(20);
    expect(history.length).toBeLessThanOrEqual(22);
    expect(history.every(({ status, deliveries }) => status === 'succeeded' && deliveries.length === 1)).toBe(true);
    for (const table of ['runs', 'attempts']) expect(count(p, table)).toBe(history.length);
    // The pinned card of a living task keeps its row.
    expect(count(p, 'deliveries')).toBe(history.length + 1);
    const nights = lines(p, 'retention');
    expect(nights).toHaveLength(40);
    expect(nights.at(-1)?.facts).toMatchObject({ occurrences: 1, runs: 1, attempts: 1, deliveries: 1 });
    expect(JSON.parse((await p.store.readNote('retention')) ?? '')).toMatchObject({ removed: { occurrences: 1 } });
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('goes on with the rest of a night that a restart broke off, and does not repeat one that ended', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 17 } });
    await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'UTC' } });
    await tidy(p);
    for (let passed = 0; passed < 40; passed += 1) await p.pass(day / 2);
    const before = count(p, 'occurrences');
    for (let steps = 0; steps < 10; steps += 1) {
      await p.rooms.housekeeper.step(p.time.now(), 100);
      await p.time.advance(300);
    }
    expect(lines(p, 'retention')).toEqual([]);
    const again = p.restart();
    await tidy(again);
    expect(lines(again, 'retention')).toHaveLength(1);
    expect(count(p, 'occurrences')).toBeLessThan(before);
    const third = again.restart();
    await tidy(third);
    expect(lines(third, 'retention')).toEqual([]);
  });

  it('keeps what says where a task stands, so that a pause of long ago is still told', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 17 } });
    const task = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    await tidy(p);
    await days(p, 3);
    await p.rooms.tasks.pause({ taskId: task.id, actor: 'telegram:user:7' }, null);
    const pausedAt = p.time.now();
    await p.rooms.tasks.edit({ taskId: task.id, actor: 'telegram:user:7' }, { instructions: 'Something else' });
    await days(p, 200);
    // The newest row of all stays in any case.
    expect(p.database.prepare('select verb, at from audit').all()).toEqual([
      { verb: 'pause', at: pausedAt },
      { verb: 'edit', at: pausedAt },
    ]);
    const noon = Math.floor(p.time.now() / day) * day - 2 * day + 10 * hour;
    expect(await said(p, task, noon)).toContain('telegram:user:7');
  });

  it('takes nothing more that is young once a clock that ran ahead was set back', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 17 } });
    await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'UTC' } });
    await tidy(p);
    for (let passed = 0; passed < 20; passed += 1) await p.pass(day / 2);
    const now = p.time.now();
    p.time.setWall(now + 100 * day);
    for (let steps = 0; steps < 6; steps += 1) {
      await p.rooms.housekeeper.step(p.time.now(), 100);
      await p.time.advance(300);
    }
    const left = count(p, 'occurrences');
    p.time.setWall(now);
    await tidy(p);
    expect(left).toBeGreaterThan(100);
    expect(count(p, 'occurrences')).toBe(left);
  });

  it('keeps updates of Telegram for a month at most, and says since when records were kept at any time', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 90 } });
    await p.store.writeNote('retention', JSON.stringify({ before: '2026-11-01T00:00:00.000Z' }), start);
    const add = p.database.prepare(
      `insert into inbox (update_id, payload, status, attempts, received_at) values (?, '{}', 'done', 1, ?)`,
    );
    for (const [id, days] of [31, 28].entries()) add.run(id, start - days * day);
    await tidy(p);
    await days(p, 1);
    expect(p.database.prepare('select update_id from inbox').pluck().all()).toEqual([1]);
    expect(JSON.parse((await p.store.readNote('retention')) ?? '')).toMatchObject({
      before: '2026-11-01T00:00:00.000Z',
    });
  });

  it('removes what a task, or its chat, wants kept no longer; the audit and the truth know that it is gone', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'cron', cron: '0 */6 * * *', timezone: 'UTC' } as const;
    const [own, likeChat, other] = [
      await p.create({ title: 'own', schedule, policies: { keep: { runs: 2, days: 3 } } }),
      await p.create({ title: 'like its chat', schedule }),
      await p.create({ title: 'elsewhere', schedule }, { threadKey: 'telegram:chat:-1009' }),
    ];
    await p.store.changeChat(own.chatId, { settings: { keep: { runs: 2 } } }, start);
    const nights = async (number: number) => {
      for (let slots = 0; slots < 4 * number; slots += 1) {
        await p.pass(6 * hour);
        await tidy(p);
      }
    };
    await p.pass(3 * hour);
    await nights(10);
    const now = p.time.now();
    const slot = (hours: number) => Math.floor(now / hour) * hour + hours * hour;
    const hoursAgo = async (task: { readonly id: string }) =>
      (await p.history(task.id)).map(({ slotAt }) => Math.round((now - slotAt) / hour));
    const kept = (number: number) => Array.from({ length: number }, (_slot, index) => (number - 1 - index) * 6);
    expect(await hoursAgo(own)).toEqual(kept(13));
    expect(await hoursAgo(likeChat)).toEqual(kept(5));
    expect(await hoursAgo(other)).toEqual(kept(41));
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    expect(await said(p, own, slot(-78))).toMatch(/^unrecorded, retention: .* removed by the policy keep\.$/);
    expect(await said(p, own, slot(-72))).toMatch(/^ran, schedule/);
    expect(await said(p, other, slot(-78))).toMatch(/^ran, schedule/);
    // A task that keeps more again is asked about what had gone before.
    await p.rooms.tasks.edit({ taskId: own.id, actor: 'telegram:user:7' }, { policies: { keep: { days: 90 } } });
    await nights(1);
    expect(await hoursAgo(own)).toHaveLength(17);
    expect(await said(p, own, slot(-78))).toMatch(/^unrecorded, retention/);
  });

  it('forgets keys soon after they have expired', async () => {
    const { p } = await withTask({}, { idempotencyKey: 'k' });
    await tidy(p);
    expect(count(p, 'idempotency_keys')).toBe(1);
    await p.time.advance(25 * hour);
    await tidy(p);
    expect(count(p, 'idempotency_keys')).toBe(0);
  });
});

describe('the audit', () => {
  it('of the night finds nothing in a place that is in order, and says what it looked at', async () => {
    const { p } = await withTask();
    await p.create({ schedule: { kind: 'rrule', rrule: 'FREQ=HOURLY', timezone: 'Europe/Madrid' } });
    await tidy(p);
    await days(p, 3);
    expect(lines(p, 'audit_finding')).toEqual([]);
    expect(lines(p, 'audit')).toHaveLength(3);
    expect(lines(p, 'audit').at(-1)?.facts).toMatchObject({ findings: 0, checked: { tasks: 2, slots: 2 } });
  });

  it('tells a finding in the log, as an event and in its report, and mends nothing', async () => {
    const { p } = await withTask();
    await p.pass(5 * minute);
    p.database.exec(`delete from attempts; delete from runs; update occurrences set status = 'dispatched'`);
    const { findings } = await p.rooms.audit.run();
    const [occurrence] = p.database.prepare('select id from occurrences').pluck().all();
    expect(findings).toEqual([
      expect.objectContaining({ check: 'delivery_without_run', count: 1 }),
      {
        check: 'dispatched_without_run',
        count: 1,
        examples: [occurrence],
        sentence: 'An occurrence says that its run is live, and no such run is.',
      },
    ]);
    expect(lines(p, 'audit_finding').map(({ level }) => level)).toEqual(['warn', 'warn']);
    expect(
      p.database.prepare(`select ref from events where kind = 'audit.finding' order by ref`).pluck().all(),
    ).toEqual(['delivery_without_run', 'dispatched_without_run']);
    expect(JSON.parse((await p.store.readNote('audit')) ?? '')).toMatchObject({
      findings: [{ count: 1 }, { count: 1 }],
    });
    expect((await p.rooms.audit.run()).findings).toHaveLength(2);
  });

  it('takes what lies in a gap for accounted, and leaves a task that was paused alone', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } });
    const other = await p.create();
    await p.pass(2 * day);
    await p.rooms.tasks.pause({ taskId: other.id, actor: 'system' }, null);
    for (let turns = 0; turns < 12; turns += 1) await p.pass(2 * hour);
    expect(p.database.prepare('select count(*) from gaps where task_id = ?').pluck().get(task.id)).toBeGreaterThan(0);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('does not call late what a busy scheduler is on its way to', async () => {
    const { p } = await withTask();
    await p.settle();
    await p.time.advance(hour);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slot_overdue' }]);
    const busy = p.restart();
    expect((await busy.rooms.audit.run()).findings).toEqual([]);
  });

  it('is made once for all who ask at the same time', async () => {
    const { p } = await withTask();
    const [first, second] = await Promise.all([p.rooms.audit.run(), p.rooms.audit.run()]);
    expect(first).toBe(second);
    expect(lines(p, 'audit')).toHaveLength(1);
    expect(await p.rooms.audit.run()).not.toBe(first);
  });

  it('looks at a part of the tasks, at no task twice, and at the same ones whoever looks on the same day', async () => {
    const p = await aPipeline();
    await many(p, 205);
    const [sampled, parts] = [vi.spyOn(p.store, 'standingTask'), vi.spyOn(p.store, 'sampleTasks')];
    const looked: string[][] = [];
    for (let looks = 0; looks < 2; looks += 1) {
      expect((await p.rooms.audit.run()).checked['slots']).toBe(200);
      looked.push(sampled.mock.calls.splice(0).map(([taskId]) => taskId));
    }
    expect(new Set(looked[0]).size).toBe(200);
    expect(looked[1]).toEqual(looked[0]);
    for (let passed = 0; passed < 8; passed += 1) {
      await p.time.advance(day);
      await p.rooms.audit.run();
    }
    // Each day begins elsewhere, and eight days leave no quarter of the tasks out.
    const begun = new Set(parts.mock.calls.map(([{ part }]) => part));
    expect([begun.size, new Set([...begun].map((part) => Math.floor(part * 4))).size]).toEqual([9, 4]);
  });

  it('finds a slot that nothing stands for, at every instant of the day', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } });
    const now = start + 2 * day;
    fillSlots(p, { taskId: task.id, now, every: minute });
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    const lost = [now - 23 * hour, now - 7 * hour, now - 6 * minute];
    p.database.exec(`delete from occurrences where slot_at in (${lost.join(', ')})`);
    const examples = lost.map((slot) => `${task.id}@${new Date(slot).toISOString()}`);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slot_unaccounted', count: 3, examples }]);
  });

  it('takes the slots of a task that was changed in the middle of a look for unknown', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } });
    fillSlots(p, { taskId: task.id, now: start + 2 * day, every: minute });
    p.database.exec('delete from occurrences');
    const real = { ...p.store };
    const asking = vi.spyOn(p.store, 'slotAccount');
    asking.mockImplementation(async (request) => {
      if (asking.mock.calls.length === 3) await p.rooms.tasks.pause({ taskId: task.id, actor: 'system' }, null);
      return real.slotAccount(request);
    });
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slot_unaccounted', count: 200 }]);
    expect(asking).toHaveBeenCalledTimes(3);
  });

  it('sees more in the night than anybody would wait for', async () => {
    const { p, old } = await anOldFault();
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    await tidy(p);
    expect(lines(p, 'audit_finding').map(({ facts }) => facts['examples'])).toEqual([[old]]);
  });
});

/** Tasks with four slots a day, two days on, each with its rows. */
async function many(p: Pipeline, count: number) {
  const tasks = [];
  for (let index = 0; index < count; index += 1)
    tasks.push(await p.create({ schedule: { kind: 'interval', interval: 'PT6H', timezone: 'UTC' } }));
  for (const { id } of tasks) fillSlots(p, { taskId: id, now: start + 2 * day, every: 6 * hour });
  return tasks;
}

/** A row for each slot of a day and more, up to now, as if somebody had been there all the while. */
function fillSlots(p: Pipeline, { taskId, now, every }: { taskId: string; now: number; every: number }): void {
  const insert = p.database
    .prepare(`insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
      values (?, ?, ?, 'schedule', 'skipped', 0, 1, 1)`);
  for (let at = now; at > now - 30 * hour; at -= every) insert.run(`s${at}-${taskId}`, taskId, at);
  p.time.setWall(now);
  p.database
    .prepare('update tasks set created_at = 1, updated_at = 1, next_at = ? where id = ?')
    .run(now + every, taskId);
  p.database.prepare('update audit set at = 1 where task_id = ?').run(taskId);
}

/** An occurrence without its run, behind more rows than an audit looks at that somebody waits for. */
async function anOldFault() {
  const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' } });
  await tidy(p);
  const old = 'o000000';
  p.database
    .exec(`insert into occurrences (id, task_id, slot_at, source, status, run_id, late_ms, created_at, updated_at)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < 50000)
    select printf('o%06d', i), '${task.id}', ${start} - 100000000 + i, 'schedule',
      iif(i = 0, 'dispatched', 'skipped'), iif(i = 0, 'lost', null), 0, ${start}, ${start} from n`);
  p.time.setWall(start + 20 * hour);
  return { p, old };
}

describe('reconcile', () => {
  const damaged = async () => {
    const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'UTC' } });
    for (let half = 0; half < 96; half += 1) await p.pass(30 * minute);
    const lost = start + 2 * day - 3 * hour;
    p.database.exec(`delete from occurrences where slot_at = ${lost}`);
    p.database.exec(`update occurrences set status = 'dispatched' where slot_at = ${start + day}`);
    return { p, task, lost };
  };

  it('only tells unless it is told to mend; then it mends what it can, names it, and finds nothing the second time', async () => {
    const { p, task, lost } = await damaged();
    const told = await p.rooms.reconcile({ fix: false, actor: 'api:token:default' });
    expect(told.findings.map(({ check }) => check)).toEqual(['dispatched_without_run', 'slot_unaccounted']);
    expect(told.fixed).toEqual([]);
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'api:token:default' });
    expect(fixed.map(({ check, did }) => [check, did])).toEqual([
      ['dispatched_without_run', 'succeeded, as its run did'],
      ['slot_unaccounted', 'recorded as missed'],
    ]);
    const row = (await p.history(task.id)).find(({ slotAt }) => slotAt === lost);
    expect(row).toMatchObject({ status: 'missed', reason: 'unaccounted' });
    expect(await p.rooms.reconcile({ fix: true, actor: 'api:token:default' })).toEqual({ findings: [], fixed: [] });
    const verbs = p.database.prepare(`select actor from audit where verb = 'reconcile'`).pluck().all();
    expect(verbs).toEqual(['api:token:default', 'api:token:default']);
  });

  it.each([3, 250])('mends of %i tasks what the audit has just found, and nothing twice', async (count) => {
    const p = await aPipeline();
    const tasks = await many(p, count);
    const taskId = tasks[1]?.id ?? '';
    p.database.exec(`delete from occurrences where task_id = '${taskId}' and slot_at = ${p.time.now() - 6 * hour}`);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slot_unaccounted', count: 1 }]);
    const again = p.restart();
    const { findings, fixed } = await again.rooms.reconcile({ fix: true, actor: 'system' });
    expect([findings, fixed]).toMatchObject([
      [{ count: 1 }],
      [{ check: 'slot_unaccounted', did: 'recorded as missed' }],
    ]);
    expect(await again.rooms.reconcile({ fix: true, actor: 'system' })).toEqual({ findings: [], fixed: [] });
  });

  it('sees as far as the audit of the night', async () => {
    const { p, old } = await anOldFault();
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(fixed).toEqual([{ check: 'dispatched_without_run', id: old, did: 'failed: its run is missing' }]);
    expect(await p.rooms.reconcile({ fix: true, actor: 'system' })).toEqual({ findings: [], fixed: [] });
  });

  it('plans an enabled task anew that had lost its next slot', async () => {
    const { p, task } = await withTask();
    await p.settle();
    p.database.pragma('ignore_check_constraints = on');
    p.database.exec('update tasks set next_at = null');
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(fixed).toMatchObject([{ check: 'enabled_without_next', id: task.id }]);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + 5 * minute);
    await p.pass(5 * minute);
    expect(await p.history(task.id)).toHaveLength(1);
  });

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

  it('takes the last slot of a delay for what it is, though one that began now would come after the end', async () => {
    const until = new Date(start + day + 6 * hour).toISOString();
    const schedule = { kind: 'interval', interval: 'P1D', from: 'completion', timezone: 'UTC' } as const;
    const { p } = await withTask({ schedule, policies: { until } });
    await p.pass(10 * hour);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('finds a drift among more tasks than a page holds, and leaves skips and bounds alone', async () => {
    const p = await aPipeline();
    const tasks = await many(p, 250);
    const [skipped, late] = [tasks[7]?.id ?? '', tasks[240]?.id ?? ''];
    await p.rooms.tasks.skip({ taskId: skipped, actor: 'telegram:user:7' }, { count: 3, from: null });
    await p.time.advance(minute);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    p.database.exec(`update tasks set next_at = next_at + ${10 * day} where id in ('${skipped}', '${late}')`);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'next_slot_drifted', count: 2 }]);
  });

  it('leaves a run alone that this process works on', async () => {
    const { p } = await withTask({ action: { kind: 'echo', delay_ms: 10_000 } });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    p.database.exec('delete from attempts');
    const { findings, fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect([findings.map(({ check }) => check), fixed]).toEqual([['running_without_attempt'], []]);
  });
});
