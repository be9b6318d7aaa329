import { Script } from 'node:vm';
import { Cron } from 'croner';
import { DateTime, Settings } from 'luxon';
import { afterEach, describe, expect, it } from 'vitest';
import type { SlotQuestion } from '../../../src/app/housekeeping/second-opinion.ts';
import { partedAt } from '../../../src/app/housekeeping/slot-review.ts';
import { nextSlots, parseSchedule, type ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import { answerTo } from '../../../src/system/second-opinion/answer.ts';
import { knownFaults } from '../../../src/system/second-opinion/known-faults.ts';
import { RRule } from '../../../src/system/second-opinion/rrule.ts';
import { isNearChange } from '../../../src/system/second-opinion/wall.ts';

/** A schedule about which a library is wrong, and what is right by the calendar. */
interface Shown {
  readonly input: Pick<ScheduleInput, 'cron' | 'rrule'>;
  readonly after: string;
  readonly right: readonly string[];
}

const shown: Readonly<Record<string, Shown>> = {
  'loses the first days of March when the day field names a day from 29 to 31': {
    input: { cron: '0 0 1,30 * *' },
    after: '2027-02-10T00:00Z',
    right: ['2027-03-01T00:00Z', '2027-03-30T00:00Z', '2027-04-01T00:00Z'],
  },
  'wants a numbered weekday to be among the plain ones of its list as well': {
    input: { rrule: 'DTSTART:20270101T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO,1FR' },
    after: '2027-01-01T00:00Z',
    right: ['2027-01-01T09:00Z', '2027-01-04T09:00Z', '2027-01-11T09:00Z'],
  },
  'takes the first run of a set for a position before it': {
    input: { rrule: 'DTSTART:20270201T090000Z\nRRULE:FREQ=MONTHLY;BYMONTHDAY=10,30;BYSETPOS=-2' },
    after: '2027-02-01T00:00Z',
    right: ['2027-03-10T09:00Z', '2027-04-10T09:00Z', '2027-05-10T09:00Z'],
  },
  'counts the weeks at the turn of the year wrongly': {
    input: { rrule: 'DTSTART:20240408T060000Z\nRRULE:FREQ=YEARLY;BYDAY=WE;BYWEEKNO=20,-53' },
    after: '2025-12-01T00:00Z',
    // The year 2026 has 53 weeks, and the first of them begins on 29 December.
    right: ['2025-12-31T06:00Z', '2026-05-13T06:00Z'],
  },
  'picks positions from weeks that it counts wrongly': {
    input: { rrule: 'DTSTART:20241015T060000Z\nRRULE:FREQ=YEARLY;BYDAY=TU;BYWEEKNO=2,-52;BYSETPOS=-1' },
    after: '2024-11-01T00:00Z',
    right: ['2024-12-31T06:00Z'],
  },
  'loses count of its minutes between the hours that it names': {
    input: { rrule: 'DTSTART:20270101T090000Z\nRRULE:FREQ=MINUTELY;INTERVAL=7;BYHOUR=9' },
    after: '2027-01-01T09:50Z',
    // 1,442 minutes are 206 times seven.
    right: ['2027-01-01T09:56Z', '2027-01-02T09:02Z', '2027-01-02T09:09Z'],
  },
  'loses count of its seconds, or takes too long, between the times that it names': {
    input: { rrule: 'DTSTART:20270101T090000Z\nRRULE:FREQ=SECONDLY;INTERVAL=70;BYHOUR=9' },
    after: '2027-01-01T09:58:30Z',
    right: ['2027-01-01T09:59:30Z', '2027-01-02T09:00:50Z', '2027-01-02T09:02:00Z'],
  },
  'never ends when its steps meet none of the times that it names': {
    input: { rrule: 'DTSTART:20270101T080000Z\nRRULE:FREQ=HOURLY;INTERVAL=2;BYHOUR=9\nRDATE:20270105T093000Z' },
    after: '2027-01-01T00:00Z',
    right: ['2027-01-05T09:30Z'],
  },
};

function questionOf({ input, after: text, right }: Shown): SlotQuestion {
  const after = Date.parse(text);
  const kind = input.cron === undefined ? 'rrule' : 'cron';
  const schedule = parseSchedule({ kind, timezone: 'UTC', ...input }, after);
  const upTo = after + 500 * 86_400_000;
  const ours = nextSlots(schedule, after, { count: right.length, upTo });
  return { schedule, after, upTo, count: right.length, ours, shown: null };
}

/** As anybody would ask the library. */
function plainAnswer({ schedule, after, count }: SlotQuestion): number[] {
  if (schedule.kind === 'cron') {
    const job = new Cron(schedule.cron, { timezone: 'UTC', paused: true });
    return job.nextRuns(count, new Date(after)).map((run) => run.getTime());
  }
  const [first = '', second = ''] = (schedule.kind === 'rrule' ? schedule.rrule : '').split('\n');
  const [, start = ''] = first.split('TZID=UTC:');
  const rule = RRule.fromString(`DTSTART:${start}Z\n${second}`);
  const end = new Date(after + 500 * 86_400_000);
  const found = rule.between(new Date(after), end, false, (_run, index) => index < count);
  return found.slice(0, count).map((run) => run.getTime());
}

const world: typeof globalThis & { plain?: () => unknown } = globalThis;

/** Null where it does not end. */
function inTime(question: SlotQuestion): readonly number[] | null {
  world.plain = () => plainAnswer(question);
  try {
    return new Script('plain()').runInThisContext({ timeout: 1500 }) as number[];
  } catch {
    return null;
  }
}

describe('a known fault', () => {
  it('has an example each', () => {
    expect(knownFaults.map(({ name }) => name)).toEqual(Object.keys(shown));
  });

  it.each(Object.entries(shown))('%s: the library still does, and its answer does not count', (name, example) => {
    const question = questionOf(example);
    const right = example.right.map((text) => Date.parse(text));
    expect(question.ours).toEqual(right);
    expect(inTime(question)).not.toEqual(right);
    expect(knownFaults.find((fault) => fault.name === name)?.appliesTo(question)).toBe(true);
    const opinion = answerTo(question);
    if (opinion.is === 'none') expect(opinion.reason).toBe('known_fault');
    else expect(partedAt(question, opinion)).toBeNull();
  });

  it.each([
    ['a day that each month has', { cron: '0 0 1,28 * *' }],
    ['any day', { cron: '0 0 * * 1-5' }],
    ['plain weekdays', { rrule: 'DTSTART:20270101T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=MO,FR;BYSETPOS=-1' }],
    ['numbered weekdays', { rrule: 'DTSTART:20270101T090000Z\nRRULE:FREQ=MONTHLY;BYDAY=1MO,-1FR' }],
    ['every quarter of some hours', { rrule: 'DTSTART:20270101T080000Z\nRRULE:FREQ=MINUTELY;INTERVAL=15;BYHOUR=8,9' }],
    ['every second hour of the day', { rrule: 'DTSTART:20270101T080000Z\nRRULE:FREQ=HOURLY;INTERVAL=2;BYHOUR=8,9,10' }],
  ])('is not seen in %s', (_name, input) => {
    const question = questionOf({ input, after: '2027-01-01T00:00Z', right: Array.from({ length: 12 }, () => '') });
    expect(knownFaults.filter((fault) => fault.appliesTo(question))).toEqual([]);
    expect(answerTo(question)).toEqual({ is: 'slots', slots: question.ours, unsure: [] });
  });

  it('spoils the days alone about which the library is wrong', () => {
    const question = questionOf({
      input: { cron: '0 0 1,30 * *' },
      after: '2027-02-10T00:00Z',
      right: ['', '', '', ''],
    });
    const missing = { ...question, ours: question.ours.filter((_slot, index) => index !== 2) };
    const opinion = answerTo(missing);
    if (opinion.is === 'none') throw new Error('there is an opinion about April');
    expect(opinion.unsure).toEqual([Date.parse('2027-03-01T00:00Z')]);
    expect(partedAt(missing, opinion)?.theirs[0]).toBe(Date.parse('2027-04-01T00:00Z'));
  });
});

describe('near a change of the clocks the libraries do not count, because', () => {
  const systemNow = Settings.now;
  afterEach(() => {
    Settings.now = systemNow;
  });

  it('luxon resolves a doubled wall time by the season of today', () => {
    const wall = { year: 2026, month: 11, day: 1, hour: 1, minute: 30 };
    const asked = () => DateTime.fromObject(wall, { zone: 'America/New_York' }).toMillis();
    Settings.now = () => Date.UTC(2026, 0, 15);
    const inWinter = asked();
    Settings.now = () => Date.UTC(2026, 6, 15);
    const inSummer = asked();
    expect(inWinter - inSummer).toBe(3_600_000);
    expect([inWinter, inSummer].map((instant) => isNearChange('America/New_York', instant))).toEqual([true, true]);
  });

  it('croner loses the first of two plain hours in spring', () => {
    const job = new Cron('0 2,14 * * *', { timezone: 'America/New_York', paused: true });
    const run = job.nextRun(new Date('2027-03-14T05:00Z'));
    expect(run?.toISOString()).toBe('2027-03-14T18:00:00.000Z');
    expect(isNearChange('America/New_York', Date.parse('2027-03-14T07:00Z'))).toBe(true);
  });
});
