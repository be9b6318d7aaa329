import { describe, expect, it } from 'vitest';
import {
  actor,
  aPipeline,
  day,
  hour,
  minute,
  start,
  type Pipeline,
  hourly,
  restarted,
  texts,
  withTask,
  afterAnHour,
} from '../../support/pipeline.ts';

async function statuses(p: Pipeline, taskId: string): Promise<string[]> {
  return (await p.history(taskId)).map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`));
}

describe('after an outage', () => {
  it('a reminder is sent once and says for when it was meant', async () => {
    const { p, task } = await withTask({ schedule: { ...hourly, timezone: 'Europe/Madrid' } });
    await p.pass(3 * hour + 30 * minute);
    expect(await statuses(p, task.id)).toEqual(['missed covered', 'missed covered', 'succeeded']);
    expect(texts(p)).toEqual(['Stand up!\n\nLate: due Wed 18 Nov 13:00, ran 13:30 (Europe/Madrid)']);
  });

  it('catch-ups run one after the other although an overlap would be skipped', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { missed: 'all' } });
    await p.pass(3 * hour + 30 * minute);
    expect(await statuses(p, task.id)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(p.chat.shown).toHaveLength(3);
  });

  it('a question that nobody answers is skipped after a day', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'cron', cron: '0 0 1 * *', timezone: 'UTC' },
      policies: { missed: 'ask' },
    });
    await p.pass(13 * day);
    expect(await statuses(p, task.id)).toEqual(['pending ask']);
    await p.pass(day - minute);
    expect(await statuses(p, task.id)).toEqual(['pending ask']);
    await p.pass(2 * minute);
    expect(await statuses(p, task.id)).toEqual(['skipped ask_expired']);
  });

  it('an outage of many slots is told as a gap, whose count and rows add up', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' },
      policies: { missed: 'skip' },
    });
    await p.pass(2 * day + 20_000);
    const gaps = p.database.prepare('select sum(count) as missed, min(from_at) as first from gaps').get() as {
      missed: number;
      first: number;
    };
    const rows = await p.history(task.id);
    expect(gaps.first).toBe(start + minute);
    expect(gaps.missed + rows.length).toBe(2 * 24 * 60);
    expect(rows.at(-1)).toMatchObject({ status: 'succeeded', slotAt: start + 2 * day });
  });
});

describe('while a run is live', () => {
  const slow = { kind: 'echo', delay_ms: 60_000 } as const;
  const long = { timeout: 'PT10M' } as const;
  const every = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } as const;

  const live = (p: Pipeline) =>
    p.database.prepare(`select count(*) as live from runs where status in ('queued', 'running', 'backoff')`).get() as {
      live: number;
    };

  it.each([
    ['skip', 'skipped overlap', 1],
    ['allow', 'dispatched', 2],
  ] as const)('the next slot comes to what its policy says: %s', async (overlap, second, count) => {
    const { p, task } = await withTask({ schedule: every, action: slow, policies: { ...long, overlap } });
    await p.pass(minute);
    await p.rooms.scheduler.step(start + 2 * minute, 100);
    expect(await statuses(p, task.id)).toEqual(['dispatched', second]);
    expect(live(p).live).toBe(count);
  });

  it('the next slot waits and is admitted when the run has ended', async () => {
    const { p, task } = await withTask({ schedule: every, action: slow, policies: { ...long, overlap: 'queue' } });
    await p.pass(minute);
    await p.rooms.scheduler.step(start + 2 * minute, 100);
    expect(await statuses(p, task.id)).toEqual(['dispatched', 'pending overlap']);
    await p.pass(minute);
    expect((await statuses(p, task.id)).slice(0, 2)).toEqual(['succeeded', 'dispatched']);
    expect(live(p).live).toBe(1);
  });

  it('the next slot replaces it once it has really ended', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' },
      action: slow,
      policies: { ...long, overlap: 'replace' },
    });
    await p.pass(5 * minute);
    await p.rooms.scheduler.step(start + 10 * minute, 100);
    expect(await statuses(p, task.id)).toEqual(['dispatched', 'pending overlap']);
    await p.settle();
    expect(await statuses(p, task.id)).toEqual(['cancelled replaced', 'dispatched']);
    await p.pass(minute);
    expect(await statuses(p, task.id)).toEqual(['cancelled replaced', 'succeeded']);
    expect(p.chat.shown).toHaveLength(1);
  });

  it('two live exclusive runs of one task are impossible in the database itself', async () => {
    const { p } = await withTask({ schedule: every, action: slow, policies: long });
    await p.pass(minute);
    p.database.exec(
      `create table copied as select * from runs; update copied set id = 'copy', idempotency_key = 'other'`,
    );
    expect(() => p.database.exec('insert into runs select * from copied')).toThrow(/UNIQUE/);
  });
});

describe('bounds', () => {
  it('max_runs counts what ran, and completes the task', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 2 } });
    await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await p.settle();
    for (let turn = 0; turn < 4; turn += 1) await p.pass(hour);
    const rows = await p.history(task.id);
    expect(rows.filter(({ source }) => source === 'schedule')).toHaveLength(2);
    expect(rows.filter(({ source }) => source === 'run_now')).toHaveLength(1);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({
      state: 'completed',
      counters: { runs: 3, boundedRuns: 2 },
    });
  });

  it('max_runs tells in the topic, after the last result, that the task is complete', async () => {
    const { p } = await withTask({ schedule: hourly, policies: { max_runs: 2 } });
    for (let turn = 0; turn < 3; turn += 1) await p.pass(hour);
    expect(p.chat.shown.map(({ text, topic }) => [text, topic === p.chat.topics[0]?.id])).toEqual([
      ['Stand up!', true],
      ['Stand up!', true],
      ['[completed]', true],
    ]);
  });

  it('max_runs keeps the place of a run whose process died before it began, and counts it once', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 1 } });
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    await p.time.advance(hour);
    const next = await restarted(p);
    expect((await next.history(task.id)).map(({ status }) => status)).toEqual(['succeeded', 'skipped']);
    expect(await next.rooms.tasks.get(task.id)).toMatchObject({ state: 'completed', counters: { boundedRuns: 1 } });
  });

  it('MAX_RUNS_DEFAULT is the limit of a task that repeats and names none', async () => {
    const p = await aPipeline({ settings: { MAX_RUNS_DEFAULT: 3 } });
    const limitOf = async ({ id }: { readonly id: string }) => (await p.rooms.tasks.get(id)).policies.max_runs;
    const once = { kind: 'once', once_at: '2026-11-18T23:30:00Z', timezone: 'UTC' } as const;
    const [free, own, single] = [
      await p.create(),
      await p.create({ policies: { max_runs: 9 } }),
      await p.create({ schedule: once }),
    ];
    expect([await limitOf(free), await limitOf(own), await limitOf(single)]).toEqual([3, 9, undefined]);
    await p.rooms.tasks.edit({ taskId: own.id, actor }, { policies: { max_runs: null } });
    await p.rooms.tasks.edit({ taskId: single.id, actor }, { schedule: hourly });
    expect([await limitOf(own), await limitOf(single)]).toEqual([3, 3]);
  });

  it('a start in the future and an end hold', async () => {
    const p = await aPipeline();
    const at = (hours: number) => new Date(start + hours * hour).toISOString();
    const task = await p.create({ schedule: hourly, policies: { start_at: at(3), until: at(5) } });
    expect(task.nextAt).toBe(start + 3 * hour);
    for (let turn = 0; turn < 8; turn += 1) await p.pass(hour);
    expect((await p.history(task.id)).map(({ slotAt }) => (slotAt - start) / hour)).toEqual([3, 4, 5]);
    expect((await p.rooms.tasks.get(task.id)).state).toBe('completed');
  });
});

describe('quotas and the minimum interval', () => {
  it('refuse one task too many, by chat and by user, and take it when there is room again', async () => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 2 } });
    const first = await p.create();
    await p.create();
    await expect(p.create()).rejects.toMatchObject({ code: 'quota_exceeded' });
    await p.create({}, { threadKey: 'telegram:chat:-77' });
    await p.rooms.tasks.delete({ taskId: first.id, actor });
    expect((await p.create()).number).toBe(3);
  });

  it('refuse what is denser than a minute, by its densest gap', async () => {
    const p = await aPipeline({ settings: { MIN_INTERVAL: 10 * minute } });
    await expect(p.create({ schedule: { kind: 'cron', cron: '0,5 9 * * *', timezone: 'UTC' } })).rejects.toMatchObject({
      code: 'invalid_schedule',
      details: { reason: 'too_dense' },
    });
    await expect(
      p.create({ schedule: { kind: 'interval', interval: 'PT9M59S', timezone: 'UTC' } }),
    ).rejects.toMatchObject({ details: { reason: 'too_dense' } });
    expect((await p.create({ schedule: { kind: 'cron', cron: '*/10 * * * *', timezone: 'UTC' } })).state).toBe(
      'active',
    );
  });

  it('refuse a past instant and a schedule that never fires', async () => {
    const p = await aPipeline();
    await expect(
      p.create({ schedule: { kind: 'once', once_at: '2026-11-18T09:00:00Z', timezone: 'UTC' } }),
    ).rejects.toMatchObject({ details: { reason: 'past' } });
    await expect(p.create({ schedule: { kind: 'cron', cron: '0 0 30 2 *', timezone: 'UTC' } })).rejects.toMatchObject({
      details: { reason: 'never' },
    });
  });
});

describe('jitter', () => {
  it('starts each slot up to that much later, the same slot always by the same amount', async () => {
    const delays = async () => {
      const { p, task } = await afterAnHour({ schedule: hourly, policies: { jitter: 'PT10M' } });
      expect(await statuses(p, task.id)).toEqual(['dispatched']);
      for (let minutes = 0; minutes < 24 * 60; minutes += 1) await p.pass(minute);
      const history = await p.history(task.id);
      return history.map(({ slotAt, attempts }) => (attempts[0]?.startedAt ?? slotAt) - slotAt);
    };
    const first = (await delays()).slice(0, 24);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...first)).toBeLessThanOrEqual(11 * minute);
    expect(new Set(first.map((ms) => Math.floor(ms / minute))).size).toBeGreaterThan(5);
  });

  it('is refused where it would reach the next slot', async () => {
    const p = await aPipeline();
    await expect(p.create({ policies: { jitter: 'PT5M' } })).rejects.toMatchObject({ code: 'invalid_policy' });
    const task = await p.create({ policies: { jitter: 'PT4M' } });
    const patch = { policies: { jitter: 'PT6M' } };
    await expect(p.rooms.tasks.edit({ taskId: task.id, actor }, patch)).rejects.toMatchObject({
      code: 'invalid_policy',
    });
  });
});
