import { describe, expect, it } from 'vitest';
import { actor, aPipeline, day, hour, hourly, minute, start, type Pipeline } from '../../support/pipeline.ts';

const quarterly = { kind: 'cron', cron: '*/15 * * * *', timezone: 'UTC' } as const;
const second = 1000;

/** As the scheduler's loop does it: it looks at the clock first, and takes up what is left to plan. */
async function look(p: Pipeline): Promise<void> {
  while (await p.rooms.clockWatch.check(2));
  await p.settle();
}

async function setClock(p: Pipeline, byMs: number): Promise<void> {
  p.time.setWall(p.time.now() + byMs);
  await look(p);
}

/** Minute by minute, as a process that is there takes its slots up. */
async function live(p: Pipeline, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= minute) {
    await p.time.advance(Math.min(minute, left));
    await look(p);
  }
}

async function restart(p: Pipeline): Promise<Pipeline> {
  await p.rooms.downtimes.close();
  const next = p.restart();
  await next.rooms.downtimes.open();
  await look(next);
  return next;
}

/** What became of the slots of a task, by the minutes since the beginning. */
const slotsOf = async (p: Pipeline, id: string) =>
  (await p.history(id)).map(({ slotAt, status }) => `${(slotAt - start) / minute} ${status}`);
const nextOf = async (p: Pipeline, id: string) => ((await p.rooms.tasks.get(id)).nextAt ?? 0) - start;
const runsIn = (p: Pipeline) => p.database.prepare('select count(*) from runs').pluck().get();

/** Five quarters of an hour, of which the second to the last come after the clock is right again. */
const wholeHour = ['15 missed', ...[30, 45, 60, 75, 90].map((slot) => `${slot} succeeded`)];

describe('a clock that was an hour ahead and is put right', () => {
  it('lets what it passed over come when its time comes, and nothing run twice', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'skip' } });
    await setClock(p, hour + 2 * minute);
    await live(p, 20 * minute);
    // It shows 11:22 at 10:20: 10:15 to 10:45 were passed over, 11:00 and 11:15 have run.
    await setClock(p, -hour - 2 * minute);
    expect(await nextOf(p, id)).toBe(30 * minute);
    await live(p, 70 * minute);
    expect(await slotsOf(p, id)).toEqual(wholeHour);
    expect(runsIn(p)).toBe(5);
  });

  it('was so from the start of the process on', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'skip' } });
    await look(p);
    p.time.setWall(p.time.now() + hour + 2 * minute);
    const next = await restart(p);
    await live(next, 20 * minute);
    await setClock(next, -hour - 2 * minute);
    await live(next, 70 * minute);
    expect(await slotsOf(next, id)).toEqual(wholeHour);
  });

  it('while the server was down', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'skip' } });
    await p.rooms.downtimes.open();
    await setClock(p, hour + 2 * minute);
    await live(p, 20 * minute);
    await p.rooms.downtimes.close();
    p.time.setWall(p.time.now() - hour - 2 * minute);
    const next = p.restart();
    await next.rooms.downtimes.open();
    await look(next);
    expect(await nextOf(next, id)).toBe(30 * minute);
    await live(next, 70 * minute);
    expect(await slotsOf(next, id)).toEqual(wholeHour);
  });

  it('names as the next run the first one that has not run', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'once' } });
    await setClock(p, 32 * minute);
    await setClock(p, -31 * minute);
    // 10:30 has run at 10:00, and covered 10:15.
    expect(await nextOf(p, id)).toBe(15 * minute);
    await live(p, 15 * minute);
    expect(await nextOf(p, id)).toBe(45 * minute);
  });

  it('leaves alone what a person skipped, and what is due', async () => {
    const p = await aPipeline();
    const [skipped, due] = [await p.create({ schedule: quarterly }), await p.create({ schedule: quarterly })];
    await p.rooms.tasks.skip({ taskId: skipped.id, actor }, { count: 2, from: null });
    await p.time.advance(16 * minute);
    p.time.setWall(p.time.now() + hour);
    while (await p.rooms.clockWatch.check(2));
    p.time.setWall(p.time.now() - hour);
    while (await p.rooms.clockWatch.check(2));
    expect(await nextOf(p, due.id)).toBe(15 * minute);
    expect(await nextOf(p, skipped.id)).toBe(45 * minute);
  });

  it('lets go on what only it had brought to its end', async () => {
    const p = await aPipeline();
    const once = { kind: 'once', once_at: new Date(start + 30 * minute).toISOString(), timezone: 'UTC' } as const;
    const missed = await p.create({ schedule: once, policies: { missed: 'skip', grace: 'PT1M' } });
    const bounded = await p.create({
      schedule: quarterly,
      policies: { missed: 'skip', until: new Date(start + 40 * minute).toISOString() },
    });
    const ran = await p.create({ schedule: once, policies: { missed: 'once' } });
    await setClock(p, 2 * hour);
    for (const { id } of [missed, bounded, ran]) expect((await p.rooms.tasks.get(id)).state).toBe('completed');
    await setClock(p, -2 * hour);
    expect((await p.rooms.tasks.get(ran.id)).state).toBe('completed');
    await live(p, hour);
    expect(await slotsOf(p, missed.id)).toEqual(['30 succeeded']);
    expect(await slotsOf(p, bounded.id)).toEqual(['15 succeeded', '30 succeeded']);
    expect(await slotsOf(p, ran.id)).toEqual(['30 succeeded']);
  });

  it('leaves told what was missed of a task that has used up its runs, because nothing of it comes again', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'once', max_runs: 1 } });
    await setClock(p, hour + 2 * minute);
    await setClock(p, -hour);
    await live(p, hour);
    expect((await p.rooms.tasks.get(id)).state).toBe('completed');
    expect(await slotsOf(p, id)).toEqual(['15 missed', '30 missed', '45 missed', '60 succeeded']);
  });

  it('leaves to what has run its instant, and goes on with an interval from now', async () => {
    const p = await aPipeline();
    await setClock(p, hour + 2 * minute);
    const at = (ms: number) => new Date(p.time.now() + ms).toISOString();
    const once = await p.create({ schedule: { kind: 'once', once_at: at(90 * second), timezone: 'UTC' } });
    const every = { kind: 'interval', interval: 'PT7M', start_at: at(10 * second), timezone: 'UTC' } as const;
    const { id } = await p.create({ schedule: every });
    await live(p, 20 * minute);
    await setClock(p, -hour - 2 * minute);
    expect((await p.rooms.tasks.get(once.id)).schedule).toEqual(once.schedule);
    expect(await nextOf(p, id)).toBeLessThanOrEqual(p.time.now() - start + 7 * minute);
    const { schedule } = await p.rooms.tasks.get(id);
    const slots = (await p.history(id)).map(({ slotAt }) => slotAt);
    expect(slots).toHaveLength(3);
    const begins = schedule.kind === 'interval' ? schedule.startAt : 0;
    expect(slots.map((slot) => (slot - begins) % (7 * minute))).toEqual([0, 0, 0]);
  });

  it('names no slot that has run as the next one when a task is edited or sent anew', async () => {
    const p = await aPipeline();
    const atHalfPast = { kind: 'cron', cron: '30 * * * *', timezone: 'UTC' } as const;
    const twin = (policies: object) =>
      p.create({ title: 'twin', subject: 'one', schedule: atHalfPast, policies }, { onExisting: 'upsert' });
    const edited = await p.create({ schedule: atHalfPast });
    const sent = await twin({});
    await setClock(p, 31 * minute);
    await setClock(p, -31 * minute);
    const policies = { start_at: new Date(start + minute).toISOString() };
    await p.rooms.tasks.edit({ taskId: edited.id, actor }, { policies });
    await twin(policies);
    for (const { id } of [edited, sent]) expect(await nextOf(p, id)).toBe(90 * minute);
  });

  it('is put right once, also when the process ends right after it has noticed', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: hourly });
    await p.rooms.downtimes.open();
    await setClock(p, hour);
    await p.rooms.downtimes.close();
    await p.rooms.tasks.pause({ taskId: id, actor }, p.time.now() + 3 * hour + second);
    await setClock(p, -hour);
    const next = p.restart();
    await next.rooms.downtimes.open();
    await look(next);
    expect((await next.rooms.tasks.get(id)).resumeAt).toBe(start + 3 * hour + second);
  });

  it('makes nothing wait for longer that was asked for by it', async () => {
    const p = await aPipeline();
    const [paused, snoozed] = [await p.create({ schedule: hourly }), await p.create({ schedule: hourly })];
    await setClock(p, hour + second / 2);
    const now = p.time.now();
    const interval = { kind: 'interval', interval: 'PT20M', timezone: 'UTC' } as const;
    const anchored = await p.create({ schedule: interval });
    const delay = await p.create({ schedule: { ...interval, from: 'completion' } });
    const soon = { kind: 'once', once_at: new Date(now + 20 * minute).toISOString(), timezone: 'UTC' } as const;
    const once = await p.create({ schedule: soon });
    const named = await p.create({ schedule: { ...soon, once_at: new Date(start + 3 * hour).toISOString() } });
    await p.rooms.tasks.pause({ taskId: paused.id, actor }, now + 20 * minute);
    await p.rooms.tasks.snooze({ taskId: snoozed.id, actor }, { forMs: 20 * minute });
    await setClock(p, -hour);
    const inTime = (next: number) => next > 0 && next <= 21 * minute;
    for (const { id } of [anchored, delay, once]) expect(await nextOf(p, id)).toSatisfy(inTime);
    expect(await nextOf(p, named.id)).toBe(3 * hour);
    await live(p, 21 * minute);
    expect((await p.rooms.tasks.get(paused.id)).state).toBe('active');
    for (const { id } of [snoozed, anchored, delay, once])
      expect(await slotsOf(p, id)).toContainEqual(expect.stringMatching(/succeeded/));
    expect(await slotsOf(p, named.id)).toEqual([]);
  });
});

describe('a clock that was a year ahead', () => {
  it('leaves of the outage that it made of the year what is past', async () => {
    const p = await aPipeline();
    const { id } = await p.create({ schedule: quarterly, policies: { missed: 'skip' } });
    await setClock(p, 365 * day + minute);
    await live(p, 20 * minute);
    await setClock(p, -365 * day - minute);
    const gaps = () => p.database.prepare('select to_at, count from gaps').all();
    expect(gaps()).toEqual([{ to_at: start + 15 * minute, count: 1 }]);
    expect(await nextOf(p, id)).toBe(30 * minute);
    await live(p, 31 * minute);
    expect((await slotsOf(p, id)).slice(0, 2)).toEqual(['30 succeeded', '45 succeeded']);
    expect(gaps()).toHaveLength(1);
  });
});

it('an outage under an earlier schedule still tells of every slot that is past when the clock is set back into it', async () => {
  const p = await aPipeline();
  const minutely = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } as const;
  const { id } = await p.create({ schedule: minutely, policies: { missed: 'skip' } });
  await p.time.advance(10 * hour);
  await p.settle();
  await p.rooms.tasks.edit({ taskId: id, actor }, { schedule: hourly });
  await setClock(p, -4.5 * hour);
  const [gap] = p.database.prepare('select * from gaps').all() as { to_at: number; count: number }[];
  expect(gap).toMatchObject({ to_at: start + 5.5 * hour, count: 330 });
});

describe('owners', () => {
  async function aPlace(): Promise<Pipeline> {
    const p = await aPipeline();
    await p.store.noteChat({ newId: 'chat-owner', address: '1001', title: null, kind: 'private', at: start });
    await p.store.changeUser(actor, { role: 'owner' }, start);
    return p;
  }
  const words = (p: Pipeline) =>
    p.database.prepare<[], string>(`select content from deliveries where kind = 'answer' order by id`).pluck().all();

  it('hear of it once, by how much and how many tasks were planned again', async () => {
    const p = await aPlace();
    for (let tasks = 0; tasks < 5; tasks += 1) await p.create({ schedule: quarterly });
    await setClock(p, hour);
    await setClock(p, -hour);
    await live(p, 5 * minute);
    expect(words(p).map((word) => JSON.parse(word) as unknown)).toMatchObject([
      { view: 'alarm', since: start, facts: { cause: 'clock', byMs: hour, to: start, moved: 5 } },
    ]);
  });

  it('hear of a clock that jumps to and fro once in the hour that it shows, and of seconds never', async () => {
    const p = await aPlace();
    await setClock(p, -30 * second);
    expect(words(p)).toEqual([]);
    await setClock(p, minute);
    for (let times = 0; times < 20; times += 1) {
      await setClock(p, 2 * hour);
      await setClock(p, -2 * hour);
      await live(p, minute);
    }
    expect(words(p)).toHaveLength(1);
  });

  it('hear of it also when the process ends while it plans', async () => {
    const p = await aPlace();
    for (let tasks = 0; tasks < 5; tasks += 1) await p.create({ schedule: quarterly });
    await setClock(p, hour);
    p.time.setWall(p.time.now() - hour);
    expect(await p.rooms.clockWatch.check(2)).toBe(true);
    const next = p.restart();
    await look(next);
    expect(words(next)).toHaveLength(1);
    expect(
      next.database
        .prepare('select count(*) from tasks where next_at > ?')
        .pluck()
        .get(start + 15 * minute),
    ).toBe(0);
  });
});

it('a row that cannot be read keeps no other task from being planned again', async () => {
  const p = await aPipeline();
  const [bad, good] = [await p.create({ schedule: quarterly }), await p.create({ schedule: quarterly })];
  await setClock(p, hour);
  p.database.prepare(`update tasks set policies = 'no' where id = ?`).run(bad.id);
  await setClock(p, -hour);
  expect(await nextOf(p, good.id)).toBe(15 * minute);
});
