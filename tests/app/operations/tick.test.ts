import { describe, expect, it } from 'vitest';
import { createTick } from '../../../src/app/operations/tick.ts';
import { createLoop } from '../../../src/system/loop.ts';
import { aPipeline, hour, minute, type Pipeline, hourly, withTask } from '../../support/pipeline.ts';

/** The rooms of a pipeline behind loops, which turn by themselves only once they are started. */
function turned({ rooms, time, log }: Pipeline) {
  const work = {
    scheduler: rooms.scheduler,
    runner: rooms.runner,
    deliverer: rooms.deliverer,
    acks: rooms.nagging,
  };
  const loops = Object.entries(work).map(([name, room]) => {
    const step = (now: number, limit: number) => room.step(now, limit);
    const loop = createLoop(
      { name, step, nextAt: (now) => room.nextAt(now) },
      { clock: time, stopwatch: time, timer: time, log, batchMax: 100 },
    );
    rooms.connect(name as keyof typeof work, () => loop.ring());
    return loop;
  });
  const idle = { runner: () => rooms.runner.idle(), deliverer: () => rooms.deliverer.idle() };
  return { loops, tick: createTick({ loops, idle, timer: time }) };
}

describe('a tick', () => {
  it('takes up what is due, runs it and delivers it, although nothing turns by itself', async () => {
    const p = await aPipeline();
    for (let made = 0; made < 3; made += 1) await p.create({ schedule: hourly, title: `Task ${made}` });
    const { tick } = turned(p);
    const none = { scheduled: 0, started: 0, deliveries: 0, reminders: 0 };
    expect(await tick()).toEqual({ ...none, more: false, failed: [], elsewhere: false });
    await p.time.advance(hour);
    const first = await tick();
    expect(first).toMatchObject({ scheduled: 3, started: 3, failed: [] });
    // One call is in flight per chat, so the results of one chat come one after the other.
    for (let more = 0; p.chat.shown.length < 3 && more < 20; more += 1) await tick();
    expect(p.chat.shown).toHaveLength(3);
  });

  it('of a process that does no work tells those that do, and counts nothing', async () => {
    const { time } = await aPipeline();
    let told = 0;
    const tick = createTick({ loops: [], idle: {}, timer: time, tellOthers: async () => void (told += 1) });
    expect(await tick()).toMatchObject({ scheduled: 0, more: false, failed: [], elsewhere: true });
    expect(told).toBe(1);
  });

  it('counts what the loops took up themselves meanwhile, and never makes two steps of a room at once', async () => {
    const { p } = await withTask({ schedule: hourly });
    const { loops, tick } = turned(p);
    let [atOnce, most] = [0, 0];
    const { scheduler } = p.rooms;
    const step: typeof scheduler.step = scheduler.step.bind(scheduler);
    Object.assign(p.rooms.scheduler, {
      step: async (now: number, limit: number) => {
        most = Math.max(most, (atOnce += 1));
        const counts = await step(now, limit);
        await p.time.yield();
        atOnce -= 1;
        return counts;
      },
    });
    for (const loop of loops) loop.start();
    await p.time.advance(hour);
    while (!loops.every((loop) => loop.isAsleep())) await p.time.advance(0);
    await p.create({
      schedule: { kind: 'once', once_at: new Date(p.time.now() + minute).toISOString(), timezone: 'UTC' },
    });
    p.time.setWall(p.time.now() + minute);
    const [one, two] = await Promise.all([tick(), tick()]);
    expect([one.scheduled, two.scheduled]).toEqual([1, 1]);
    expect(most).toBe(1);
    for (const loop of loops) await loop.stop();
  });

  it('does not wait for a run that takes its time, and says that something is left', async () => {
    const { p } = await withTask({
      schedule: hourly,
      action: { kind: 'echo', delay_ms: 60_000 },
      policies: { timeout: 'PT5M' },
    });
    const { tick } = turned(p);
    await p.time.advance(hour);
    const ticked = tick();
    for (let waits = 0; waits < 20; waits += 1) await p.time.advance(500);
    expect(await ticked).toMatchObject({ scheduled: 1, started: 1, deliveries: 0, more: true });
  });

  it('names the rooms whose step failed, and goes on with the others', async () => {
    const p = await aPipeline();
    Object.assign(p.rooms.scheduler, { step: async () => Promise.reject(new Error('away')) });
    const { tick } = turned(p);
    expect(await tick()).toMatchObject({ scheduled: 0, more: true, failed: ['scheduler'] });
  });
});
