import { describe, expect, it } from 'vitest';
import { aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';

/** Lets the housekeeper do what is due, from pause to pause, until nothing is due for a minute. */
async function tidy({ rooms, time }: Pipeline): Promise<void> {
  for (let turns = 0; turns < 5000; turns += 1) {
    await rooms.housekeeper.step(time.now(), 100);
    const next = await rooms.housekeeper.nextAt(time.now());
    if (next === null || next > time.now() + 20_000) return;
    await time.advance(Math.max(next - time.now(), 0));
  }
  throw new Error('the housekeeper does not come to rest');
}

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
    for (const table of ['runs', 'attempts', 'deliveries']) expect(count(p, table)).toBe(history.length);
    const nights = lines(p, 'retention');
    expect(nights).toHaveLength(40);
    expect(nights.at(-1)?.facts).toMatchObject({ occurrences: 1, runs: 1, attempts: 1, deliveries: 1 });
    expect(JSON.parse((await p.store.readNote('retention')) ?? '')).toMatchObject({ removed: { occurrences: 1 } });
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('leaves the last ten runs of a task that runs rarely, and work that never ended', async () => {
    const p = await aPipeline({ settings: { RETENTION_DAYS: 17 } });
    const yearly = await p.create({ schedule: { kind: 'cron', cron: '0 10 * * 1', timezone: 'UTC' } });
    await p.create({ action: { kind: 'echo' } });
    await tidy(p);
    await p.pass(day);
    p.database.exec(`update tasks set state = 'paused', next_at = null where id <> '${yearly.id}'`);
    const live = p.database.prepare(`select id from runs limit 1`).pluck().get() as string;
    p.database.exec(`update runs set status = 'waiting', finished_at = null where id = '${live}'`);
    for (let week = 0; week < 15; week += 1) await days(p, 7);
    expect(await p.history(yearly.id)).toHaveLength(10);
    expect((await p.store.readRun(live))?.status).toBe('waiting');
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

  it('forgets keys soon after they have expired', async () => {
    const p = await aPipeline();
    await p.create({}, { idempotencyKey: 'k' });
    await tidy(p);
    expect(count(p, 'idempotency_keys')).toBe(1);
    await p.time.advance(25 * hour);
    await tidy(p);
    expect(count(p, 'idempotency_keys')).toBe(0);
  });
});

describe('the audit', () => {
  it('of the night finds nothing in a place that is in order, and says what it looked at', async () => {
    const p = await aPipeline();
    await p.create();
    await p.create({ schedule: { kind: 'rrule', rrule: 'FREQ=HOURLY', timezone: 'Europe/Madrid' } });
    await tidy(p);
    await days(p, 3);
    expect(lines(p, 'audit_finding')).toEqual([]);
    expect(lines(p, 'audit')).toHaveLength(3);
    expect(lines(p, 'audit').at(-1)?.facts).toMatchObject({ findings: 0, checked: { tasks: 2, slots: 2 } });
  });

  it('tells a finding in the log, as an event and in its report, and mends nothing', async () => {
    const p = await aPipeline();
    await p.create();
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

  it('finds a slot that nothing stands for', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'UTC' } });
    for (let half = 0; half < 96; half += 1) await p.pass(30 * minute);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    const lost = start + 2 * day - 3 * hour;
    p.database.exec(`delete from occurrences where slot_at = ${lost}`);
    const { findings } = await p.rooms.audit.run();
    expect(findings).toMatchObject([
      { check: 'slot_unaccounted', count: 1, examples: [`${task.id}@${new Date(lost).toISOString()}`] },
    ]);
  });

  it('takes what lies in a gap for accounted, and leaves a task that was paused alone', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } });
    const other = await p.create();
    await p.pass(2 * day);
    await p.rooms.tasks.pause({ taskId: other.id, actor: 'system' }, null);
    for (let turns = 0; turns < 12; turns += 1) await p.pass(2 * hour);
    expect(p.database.prepare('select count(*) from gaps where task_id = ?').pluck().get(task.id)).toBeGreaterThan(0);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('does not call late what a busy scheduler is on its way to', async () => {
    const p = await aPipeline();
    await p.create();
    await p.settle();
    await p.time.advance(hour);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slot_overdue' }]);
    const busy = p.restart();
    expect((await busy.rooms.audit.run()).findings).toEqual([]);
  });

  it('is made once for all who ask at the same time', async () => {
    const p = await aPipeline();
    await p.create();
    const [first, second] = await Promise.all([p.rooms.audit.run(), p.rooms.audit.run()]);
    expect(first).toBe(second);
    expect(lines(p, 'audit')).toHaveLength(1);
    expect(await p.rooms.audit.run()).not.toBe(first);
  });

  it('looks at another part of the tasks each time', async () => {
    const p = await aPipeline();
    for (let index = 0; index < 210; index += 1)
      await p.create({ schedule: { kind: 'interval', interval: 'PT6H', timezone: 'UTC' } });
    for (let quarter = 0; quarter < 8; quarter += 1) await p.pass(6 * hour);
    expect((await p.rooms.audit.run()).checked['slots']).toBe(200);
    expect((await p.rooms.audit.run()).checked['slots']).toBe(10);
    expect((await p.rooms.audit.run()).checked['slots']).toBe(200);
  });
});

describe('reconcile', () => {
  const damaged = async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: { kind: 'cron', cron: '*/30 * * * *', timezone: 'UTC' } });
    for (let half = 0; half < 96; half += 1) await p.pass(30 * minute);
    const lost = start + 2 * day - 3 * hour;
    p.database.exec(`delete from occurrences where slot_at = ${lost}`);
    p.database.exec(`update occurrences set status = 'dispatched' where slot_at = ${start + day}`);
    return { p, task, lost };
  };

  it('only tells, unless it is told to mend', async () => {
    const { p } = await damaged();
    const told = await p.rooms.reconcile({ fix: false, actor: 'api:token:default' });
    expect(told.findings.map(({ check }) => check)).toEqual(['dispatched_without_run', 'slot_unaccounted']);
    expect(told.fixed).toEqual([]);
    expect((await p.rooms.audit.run()).findings).toHaveLength(2);
  });

  it('mends what it can, names it, and finds nothing the second time', async () => {
    const { p, task, lost } = await damaged();
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

  it('plans an enabled task anew that had lost its next slot', async () => {
    const p = await aPipeline();
    const task = await p.create();
    await p.settle();
    p.database.pragma('ignore_check_constraints = on');
    p.database.exec('update tasks set next_at = null');
    const { fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(fixed).toMatchObject([{ check: 'enabled_without_next', id: task.id }]);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + 5 * minute);
    await p.pass(5 * minute);
    expect(await p.history(task.id)).toHaveLength(1);
  });

  it('leaves a run alone that this process works on', async () => {
    const p = await aPipeline();
    await p.create({ action: { kind: 'echo', delay_ms: 10_000 } });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    p.database.exec('delete from attempts');
    const { findings, fixed } = await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect([findings.map(({ check }) => check), fixed]).toEqual([['running_without_attempt'], []]);
  });
});
