import { describe, expect, it, onTestFinished } from 'vitest';
import { createSlotReview, type SlotEngine } from '../../../src/app/housekeeping/slot-review.ts';
import { prefix } from '../../../src/app/operations/metrics.ts';
import { nextSlot, type ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import { toWall } from '../../../src/domain/schedule/time/zone.ts';
import { systemStopwatch, systemTimer } from '../../../src/system/clock.ts';
import { createMeter } from '../../../src/system/meter.ts';
import { createPool } from '../../../src/system/pool/pool.ts';
import { createSecondOpinion } from '../../../src/system/second-opinion/opinion.ts';
import { anOwner, aPipeline, hour } from '../../support/pipeline.ts';

const timezone = 'Europe/Madrid';
const noon = '2026-11-20T12:00';

const schedules: readonly (readonly [string, ScheduleInput])[] = [
  ['luxon', { kind: 'once', once_at: noon, timezone }],
  ['croner', { kind: 'cron', cron: '0 12 * * 1-5', timezone }],
  ['rrule', { kind: 'rrule', rrule: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=12;BYMINUTE=0;BYSECOND=0', timezone }],
  ['luxon', { kind: 'interval', interval: 'P1W', start_at: noon, timezone }],
];

const late: SlotEngine = {
  nextSlot: (schedule, after) => {
    const slot = nextSlot(schedule, after - hour);
    return slot === null ? null : slot + hour;
  },
  toWall,
};

/** The review as it is composed, with the real program and its own words, over a real database. */
async function aPlace(engine: SlotEngine) {
  const p = await aPipeline();
  await anOwner(p);
  const meter = createMeter({ ofProcess: false });
  // A busy machine may take its time.
  const pool = createPool({ timer: systemTimer, stopwatch: systemStopwatch, log: p.log });
  onTestFinished(() => pool.close());
  const opinion = createSecondOpinion(pool.run, 20_000);
  const { time, store, log } = p;
  const review = createSlotReview({
    store,
    opinion,
    engine,
    clock: time,
    timer: time,
    bell: p.rooms.bell,
    meter,
    log,
  });
  return { p, meter, review };
}

describe.each(schedules)('by %s', (library, schedule) => {
  it(`a fault planted in our engine is found in a task of kind ${schedule.kind}`, async () => {
    const { p, meter, review } = await aPlace(late);
    const task = await p.create({ schedule, title: 'Lunch' });
    for (let turn = 0; turn < 2; turn += 1) {
      review.look(task.id);
      await review.chores[0].step(p.time.now(), 100);
    }
    const { findings } = await p.rooms.audit.run();
    expect(findings).toMatchObject([{ check: 'slots_differ', count: 1, examples: [task.id] }]);
    expect(findings[0]?.sentence).toMatch(
      new RegExp(`Task #1 \\(${task.id}\\): 2026-11-.* here, 2026-11-.* by ${library}\\.`),
    );
    const counted = `${prefix}second_opinions_total{schedule="${schedule.kind}",result="differs"} 2`;
    expect(await meter.page([])).toContain(counted);
    await p.rooms.alarms.look(p.time.now());
    const words = p.database.prepare(`select content from deliveries where kind = 'answer'`).pluck().all() as string[];
    expect(words.map((word) => JSON.parse(word) as object)).toMatchObject([
      { view: 'alarm', facts: { cause: 'second_opinion', number: 1, library } },
    ]);
  });

  it(`a healthy engine is confirmed in a task of kind ${schedule.kind}`, async () => {
    const { p, meter, review } = await aPlace({ nextSlot, toWall });
    const task = await p.create({ schedule });
    review.look(task.id);
    await review.chores[0].step(p.time.now(), 100);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    const counted = `${prefix}second_opinions_total{schedule="${schedule.kind}",result="agrees"} 1`;
    expect(await meter.page([])).toContain(counted);
    expect(p.database.prepare(`select count(*) from deliveries`).pluck().get()).toBe(0);
  });
});
