import { expect, it, onTestFinished } from 'vitest';
import type { Opinion, SlotQuestion } from '../../../src/app/housekeeping/second-opinion.ts';
import { nextSlots, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import { systemStopwatch, systemTimer } from '../../../src/system/clock.ts';
import { createPool } from '../../../src/system/pool/pool.ts';
import { createSecondOpinion } from '../../../src/system/second-opinion/opinion.ts';
import { memoryLog } from '../../support/fakes.ts';

const at = Date.UTC(2026, 10, 18, 9);
const timezone = 'Europe/Madrid';
const daily: Schedule = { kind: 'cron', cron: '0 9 * * *', timezone };

function question(schedule: Schedule): SlotQuestion {
  const upTo = at + 1000 * 86_400_000;
  const ours = nextSlots(schedule, at, { count: 3, upTo });
  return { schedule, after: at, upTo, count: 3, ours, shown: null };
}

const right = (schedule: Schedule): Opinion => ({ is: 'slots', slots: question(schedule).ours, unsure: [] });

it('comes from a child for each kind of schedule', async () => {
  const pool = createPool({ timer: systemTimer, stopwatch: systemStopwatch, log: memoryLog() });
  onTestFinished(() => pool.close());
  const opinion = createSecondOpinion(pool.run, 20_000);
  const schedules: readonly Schedule[] = [
    daily,
    { kind: 'rrule', rrule: `DTSTART;TZID=${timezone}:20260101T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR`, timezone },
    { kind: 'interval', interval: 'P1M', startAt: at - 1000, from: 'start', timezone },
    { kind: 'interval', interval: 'PT90M', startAt: at - 1000, from: 'start', timezone },
  ];
  for (const schedule of schedules) {
    const opinionOf = await opinion.slotsOf(question(schedule));
    // The clocks change in March; what lies near that does not count.
    expect({ ...opinionOf, unsure: [] }).toEqual(right(schedule));
  }
  const shown = Date.UTC(2027, 0, 31, 9);
  const onceAt = shown - 3_600_000;
  const asked = { ...question({ kind: 'once', onceAt, timezone }), shown };
  expect(await opinion.slotsOf(asked)).toEqual({ is: 'slots', slots: [onceAt], unsure: [] });
});

it.each([
  [{ is: 'late' }, 'timeout'],
  [{ is: 'died' }, 'died'],
  [{ is: 'lost' }, 'died'],
  [{ is: 'away' }, 'away'],
  [{ is: 'spent', afterMs: 1 }, 'away'],
] as const)('is none when its work is %j', async (worked, reason) => {
  const asked: unknown[] = [];
  const opinion = createSecondOpinion(async ({ owner, maxMs }) => {
    asked.push({ owner, maxMs });
    return worked;
  });
  expect(await opinion.slotsOf(question(daily))).toEqual({ is: 'none', reason });
  expect(asked).toEqual([{ owner: null, maxMs: 250 }]);
});
