import type { Library, SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import { Frequency, periodMs, readRule, type RuleOptions } from './rrule.ts';
import { dayMs } from './wall.ts';

/**
 * A fault of a library that is known. Each has a test that shows the library still wrong, so that a version that mends it
 * is noticed and the entry can go.
 */
export interface KnownFault {
  readonly library: Library;
  readonly name: string;
  readonly appliesTo: (question: SlotQuestion) => boolean;
  /** The wall times about which it is wrong; absent where nothing that it says counts, or where it would never end. */
  readonly spoils?: (wall: number) => boolean;
}

export const knownFaults: readonly KnownFault[] = [
  {
    library: 'croner',
    name: 'loses the first days of March when the day field names a day from 29 to 31',
    appliesTo: ({ schedule }) => schedule.kind === 'cron' && namesLateDay(schedule.cron),
    spoils: (wall) => isBetween(wall, '03-01', '03-03'),
  },
  ofRule('wants a numbered weekday to be among the plain ones of its list as well', ({ byweekday = [] }) => {
    const numbered = byweekday.filter(({ n = 0 }) => n !== 0).length;
    return numbered > 0 && numbered < byweekday.length;
  }),
  ofRule('takes the first run of a set for a position before it', ({ bysetpos = [] }) =>
    bysetpos.some((position) => position < -1),
  ),
  {
    ...ofRule('counts the weeks at the turn of the year wrongly', ({ byweekno }) => byweekno !== undefined),
    spoils: (wall) => isBetween(wall, '12-25', '12-31') || isBetween(wall, '01-01', '01-07'),
  },
  ofRule('picks positions from weeks that it counts wrongly', ({ byweekno, bysetpos }) =>
    [byweekno, bysetpos].every((list) => list !== undefined),
  ),
  ofRule('loses count of its minutes between the hours that it names', (options) => {
    const { freq, interval, byhour } = options;
    return freq === Frequency.MINUTELY && byhour !== undefined && (60 % interval !== 0 || namesDays(options));
  }),
  ofRule(
    'loses count of its seconds, or takes too long, between the times that it names',
    ({ freq, byhour, byminute }) => freq === Frequency.SECONDLY && (byhour !== undefined || byminute !== undefined),
  ),
  ofRule(
    'never ends when its steps meet none of the times that it names',
    (options, startWall) => options.freq >= Frequency.HOURLY && !meetsItsTimes(options, startWall),
  ),
];

function ofRule(name: string, isMet: (options: RuleOptions, startWall: number) => boolean): KnownFault {
  return {
    library: 'rrule',
    name,
    appliesTo: ({ schedule }) => {
      if (schedule.kind !== 'rrule') return false;
      const { rules, exceptions } = readRule(schedule);
      return [...rules, ...exceptions].some(({ options, startWall }) => isMet(options, startWall));
    },
  };
}

/** Both days count. */
function isBetween(wall: number, from: string, to: string): boolean {
  const date = new Date(wall).toISOString().slice(5, 10);
  return date >= from && date <= to;
}

function namesLateDay(cron: string): boolean {
  const [, , days = ''] = cron.split(' ');
  return days.split(',').some((item) => {
    const [, first, last = first, step = '1'] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?/.exec(item) ?? [];
    if (first === undefined || item === '*') return false;
    const [low, high] = first === '*' ? [1, 31] : [Number(first), Number(last)];
    return high - ((high - low) % Number(step)) > 28;
  });
}

function namesDays({ byweekday, bymonth, bymonthday, byyearday }: RuleOptions): boolean {
  return [byweekday, bymonth, bymonthday, byyearday].some((list) => list !== undefined);
}

/** Looks at every time of the day to which the steps can come. */
function meetsItsTimes({ freq, interval, byhour, byminute, bysecond }: RuleOptions, startWall: number): boolean {
  const period = periodMs[freq] ?? dayMs;
  const step = divisor(interval * period, dayMs);
  const allows = (list: readonly number[] | undefined, value: number) => list === undefined || list.includes(value);
  for (let time = (Math.floor(startWall / period) * period) % step; time < dayMs; time += step) {
    const at = new Date(time);
    const meets =
      allows(byhour, at.getUTCHours()) &&
      (freq < Frequency.MINUTELY || allows(byminute, at.getUTCMinutes())) &&
      (freq < Frequency.SECONDLY || allows(bysecond, at.getUTCSeconds()));
    if (meets) return true;
  }
  return false;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
