import { createRequire } from 'node:module';
import { Cron } from 'croner';
import type { rrulestr as parseRules } from 'rrule';
import {
  describe,
  minGapMs,
  nextSlot,
  parseSchedule,
  refusals,
  type Schedule,
  type ScheduleInput,
  slotsThrough,
  warnings,
} from '../../src/domain/schedule/schedule.ts';
import type { Figure } from './report.ts';

// The package is CommonJS and tells ECMAScript imports nothing about its names.
const { rrulestr } = createRequire(import.meta.url)('rrule') as { rrulestr: typeof parseRules };

const NOW = Date.parse('2026-11-18T09:00:00Z');
const ZONES = ['Europe/Madrid', 'America/New_York', 'Asia/Tokyo', 'Australia/Sydney', 'America/Sao_Paulo', 'UTC'];
const RULES_OLD = [
  'FREQ=MINUTELY',
  'FREQ=MINUTELY;INTERVAL=15',
  'FREQ=HOURLY',
  'FREQ=DAILY',
  'FREQ=WEEKLY;BYDAY=MO,WE,FR',
];

/** Expressions chosen to make a search long: days that never come, sparse steps, long lists. */
const HOSTILE: ScheduleInput[] = [
  ...[
    '0 0 30 2 *',
    '0 0 31 2,4,6,9,11 *',
    '0 0 29 2 +1',
    '59 23 31 12 +5#5',
    `${Array.from({ length: 60 }, (_, index) => index).join()} * * * *`,
  ].map((cron) => ({ kind: 'cron' as const, cron, timezone: 'Europe/Madrid' })),
  ...[
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2',
    'FREQ=DAILY;BYDAY=MO;BYSETPOS=2',
    'FREQ=DAILY;INTERVAL=7;BYDAY=MO',
    'FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO;BYMONTHDAY=30',
    'FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO;BYMONTH=6',
    'FREQ=SECONDLY;INTERVAL=86399;BYHOUR=3;BYMINUTE=4;BYSECOND=5',
    'FREQ=SECONDLY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;INTERVAL=86399;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=4;BYSECOND=5',
    'FREQ=HOURLY;INTERVAL=2;BYHOUR=1',
    'FREQ=MINUTELY;INTERVAL=1439;BYDAY=MO;BYHOUR=4;BYMINUTE=7',
    'FREQ=HOURLY;INTERVAL=999999;BYDAY=MO;BYMONTH=2;BYMONTHDAY=29',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=10000',
    'FREQ=DAILY;BYMONTHDAY=13;BYDAY=FR;COUNT=10000',
    'FREQ=SECONDLY;COUNT=10000',
    'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=5;COUNT=10000',
    `FREQ=DAILY;BYHOUR=${Array.from({ length: 24 }, (_, index) => index).join()};BYMINUTE=${Array.from({ length: 60 }, (_, index) => index).join()};BYSETPOS=-1`,
    `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, index) => index + 1).join()};BYMONTHDAY=30;BYMONTH=2`,
    `FREQ=DAILY;BYDAY=MO;BYHOUR=1,2;BYSETPOS=${Array.from({ length: 364 }, (_, index) => index + 3).join()}`,
    `FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2\nRDATE:${Array.from({ length: 100 }, (_, index) => `2027${String((index % 12) + 1).padStart(2, '0')}${String(Math.floor(index / 12) + 1).padStart(2, '0')}T000000Z`).join()}`,
    'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6',
    'FREQ=YEARLY;INTERVAL=399;BYMONTH=2;BYMONTHDAY=29',
  ].map((rrule) => ({ kind: 'rrule' as const, rrule, timezone: 'Europe/Madrid' })),
  { kind: 'interval', interval: 'PT1S', start_at: '1970-01-01T00:00', timezone: 'Europe/Madrid' },
  { kind: 'interval', interval: 'P1D', start_at: '0001-01-01T00:00', timezone: 'Europe/Madrid' },
];

function microseconds(calls: number, work: (index: number) => void): number {
  const begin = performance.now();
  for (let index = 0; index < calls; index += 1) work(index);
  return ((performance.now() - begin) * 1_000) / calls;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function distinctCron(index: number): string {
  const minute = index % 60;
  const hour = Math.floor(index / 60) % 24;
  const shapes = ['* * *', '* * 1-5', '1 * *', '*/3 * *', '1,15 * *'];
  return `${minute}${index % 3 === 0 ? `,${(minute + 7) % 60}` : ''} ${hour} ${shapes[Math.floor(index / 1_440) % 5] ?? '* * *'}`;
}

function cronMeasures(): Figure[] {
  const zone = (index: number) => ZONES[index % ZONES.length] ?? 'UTC';
  const stored = Array.from({ length: 60_000 }, (_, index): Schedule => {
    const cron = distinctCron(index % 7_200);
    return {
      kind: 'cron',
      cron:
        index >= 7_200
          ? cron.replace(/ (\d+) /, ` $1,${(Number(cron.split(' ')[1]) + Math.floor(index / 7_200)) % 24} `)
          : cron,
      timezone: zone(index),
    };
  });
  for (const timezone of ZONES)
    for (let week = 0; week < 60; week += 1)
      nextSlot({ kind: 'cron', cron: '* * * * *', timezone }, NOW + week * 7 * 86_400_000);
  const cold = microseconds(stored.length, (index) =>
    nextSlot(stored[index] ?? { kind: 'once', onceAt: 0, timezone: 'UTC' }, NOW),
  );
  const warmed = stored.slice(0, 1_000);
  const warm = microseconds(100_000, (index) =>
    nextSlot(warmed[index % 1_000] ?? { kind: 'once', onceAt: 0, timezone: 'UTC' }, NOW + index * 1_000),
  );
  const cronerCold = microseconds(1_500, (index) =>
    new Cron(distinctCron(index), { timezone: zone(index), paused: true }).nextRun(new Date(NOW)),
  );
  const job = new Cron('0 9 * * 1-5', { timezone: 'Europe/Madrid', paused: true });
  const cronerWarm = microseconds(5_000, (index) => job.nextRun(new Date(NOW + index * 1_000)));
  return [
    {
      name: 'cron: stored text to next slot, 60,000 distinct',
      value: rounded(cold),
      unit: 'us',
      baseline: rounded(cronerCold),
      baselineName: 'croner 11',
      aim: 'under 5 us, so that 25,000/s leave room for the store',
    },
    {
      name: 'cron: next slot, already parsed',
      value: rounded(warm),
      unit: 'us',
      baseline: rounded(cronerWarm),
      baselineName: 'croner 11',
    },
  ];
}

function packageNext(body: string, start: number): number {
  const ical = new Date(start).toISOString().replace(/[-:]|\.\d{3}/g, '');
  return microseconds(1, () => {
    rrulestr(`DTSTART:${ical}\nRRULE:${body}`).after(new Date(NOW));
  });
}

function ruleMeasures(): Figure[] {
  return RULES_OLD.flatMap((body) => {
    const cost = (start: string) =>
      microseconds(300, (index) => {
        const second = String(index % 60).padStart(2, '0');
        const minute = String(Math.floor(index / 60)).padStart(2, '0');
        nextSlot(
          {
            kind: 'rrule',
            rrule: `DTSTART;TZID=Europe/Madrid:${start}T00${minute}${second}\nRRULE:${body}`,
            timezone: 'Europe/Madrid',
          },
          NOW,
        );
      });
    cost('20260101');
    // From 1970 the package would need seconds for a rule of minutes; a month shows the growth well enough there.
    const start = body.startsWith('FREQ=MINUTELY') ? NOW - 30 * 86_400_000 : Date.UTC(1970, 0, 1);
    const since = body.startsWith('FREQ=MINUTELY') ? 'rrule 2.8.1 from a month ago' : 'rrule 2.8.1 from 1970';
    return [
      {
        name: `rrule ${body}, DTSTART 1970: text to next slot`,
        value: rounded(cost('19700102')),
        unit: 'us',
        baseline: rounded(packageNext(body, start)),
        baselineName: since,
        aim: 'the same as from a recent DTSTART',
      },
      { name: `rrule ${body}, DTSTART 2026: text to next slot`, value: rounded(cost('20260102')), unit: 'us' },
    ];
  });
}

function intervalMeasures(): Figure[] {
  return ['PT1S', 'PT15M', 'P1D', 'P1M'].map((interval) => {
    const schedule: Schedule = {
      kind: 'interval',
      interval,
      startAt: Date.UTC(1970, 0, 31, 9),
      from: 'start',
      timezone: 'Europe/Madrid',
    };
    return {
      name: `interval ${interval}, anchor 1970: next slot`,
      value: rounded(microseconds(20_000, (index) => nextSlot(schedule, NOW + index * 1_000))),
      unit: 'us',
    };
  });
}

function hostileMeasures(): Figure[] {
  const costs: Array<{ name: string; ms: number }> = [];
  const time = (name: string, work: () => void) => {
    const begin = performance.now();
    work();
    costs.push({ name, ms: performance.now() - begin });
  };
  for (const input of HOSTILE) {
    const text = `${input.cron ?? input.rrule ?? input.interval ?? ''}`.slice(0, 60);
    let schedule: Schedule = { kind: 'once', onceAt: 0, timezone: 'UTC' };
    time(`parse ${text}`, () => (schedule = parseSchedule(input, NOW)));
    time(`next ${text}`, () => nextSlot(schedule, NOW));
    time(`gap ${text}`, () => minGapMs(schedule));
    time(`refusals ${text}`, () => refusals(schedule, { now: NOW, minIntervalMs: 60_000 }));
    time(`warnings ${text}`, () => warnings(schedule, { now: NOW }));
    time(`describe ${text}`, () => describe(schedule));
  }
  costs.sort((a, b) => a.ms - b.ms);
  const at = (part: number) =>
    costs[Math.min(costs.length - 1, Math.floor(costs.length * part))] ?? { name: '', ms: 0 };
  return [
    { name: 'hostile inputs: median of a call', value: rounded(at(0.5).ms), unit: 'ms', aim: 'under 0.2 ms' },
    { name: 'hostile inputs: 99th percentile of a call', value: rounded(at(0.99).ms), unit: 'ms' },
    { name: `hostile inputs: worst call (${at(1).name})`, value: rounded(at(1).ms), unit: 'ms', aim: 'under 25 ms' },
  ];
}

function catchUpMeasure(): Figure {
  const schedule: Schedule = { kind: 'cron', cron: '*/5 * * * *', timezone: 'Europe/Madrid' };
  const from = Date.parse('2026-10-01T00:00:00Z');
  const each = microseconds(20, () => slotsThrough(schedule, from, { through: NOW, limit: 10_000 })) / 10_000;
  return { name: 'catch-up: cost of each of 10,000 missed slots', value: rounded(each), unit: 'us' };
}

/** What the next slot costs, cold and warm, beside the packages that could have been used instead. */
export async function benchSchedule(): Promise<Figure[]> {
  return [...cronMeasures(), ...ruleMeasures(), ...intervalMeasures(), catchUpMeasure(), ...hostileMeasures()];
}
