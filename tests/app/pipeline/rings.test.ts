import { describe, expect, it } from 'vitest';
import type { LoopName } from '../../../src/app/ports/outside.ts';
import { actor, aPipeline, hour, minute, start, hourly } from '../../support/pipeline.ts';

/** A pipeline whose loops sleep: who was rung is all that wakes them. */
async function asleep() {
  const p = await aPipeline();
  const rung = new Set<LoopName>();
  for (const room of ['scheduler', 'runner', 'deliverer'] as const) p.rooms.connect(room, () => rung.add(room));
  const schedule = async () => {
    rung.clear();
    await p.rooms.scheduler.step(p.time.now(), 100);
    return [...rung].sort();
  };
  return { ...p, rung, schedule };
}

describe('a card that has to be drawn anew', () => {
  it('is not waited for when a slot comes like any other', async () => {
    const p = await asleep();
    await p.create({ schedule: hourly });
    await p.time.advance(hour);
    expect(await p.schedule()).toEqual(['runner']);
  });

  it('is rung for when a pause ends by itself', async () => {
    const p = await asleep();
    const { id } = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause({ taskId: id, actor }, start + 10 * minute);
    await p.time.advance(10 * minute);
    expect(await p.schedule()).toEqual(['deliverer']);
  });

  it('is rung for when the last slot completes its task', async () => {
    const p = await asleep();
    await p.create({ schedule: hourly, policies: { until: new Date(start + hour).toISOString() } });
    await p.time.advance(hour);
    expect(await p.schedule()).toEqual(['deliverer', 'runner']);
  });

  it('is rung for when its task cannot be read', async () => {
    const p = await asleep();
    const { id } = await p.create({ schedule: hourly });
    p.database.prepare(`update tasks set cron = 'broken' where id = ?`).run(id);
    await p.time.advance(hour);
    expect(await p.schedule()).toContain('deliverer');
  });

  it('is rung for when a run that may not start any more pauses its task', async () => {
    const p = await asleep();
    const { id } = await p.create({ schedule: hourly, policies: { auto_pause: 3 } });
    await p.time.advance(hour);
    await p.schedule();
    p.database.prepare(`update runs set input = '{' where task_id = ?`).run(id);
    p.rung.clear();
    await p.rooms.runner.step(p.time.now(), 100);
    expect([...p.rung].sort()).toEqual(['deliverer', 'scheduler']);
  });

  it('is rung for when another definition takes the place of the old one, and so is what was due until then', async () => {
    const p = await asleep();
    const request = { onExisting: 'upsert' } as const;
    await p.create({ title: 'One', subject: 'the same', schedule: hourly }, request);
    await p.time.advance(hour);
    p.rung.clear();
    await p.create({ title: 'One', subject: 'the same', schedule: { ...hourly, cron: '30 * * * *' } }, request);
    expect([...p.rung].sort()).toEqual(['deliverer', 'runner', 'scheduler']);
  });
});
