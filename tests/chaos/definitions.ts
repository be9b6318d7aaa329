import type { Policies } from '../../src/domain/policy.ts';
import type { ScheduleInput } from '../../src/domain/schedule/schedule.ts';
import type { ActionSpec } from '../../src/domain/task.ts';
import { iso } from '../invariants/rows.ts';
import type { Chance } from '../support/chance.ts';
import { hour, minute } from '../support/fakes.ts';
import { targetHost } from './target.ts';

/** What people ask for: any mix of schedules, policies and actions that could be meant. */

const zones = ['Europe/Madrid', 'America/New_York', 'Australia/Lord_Howe', 'UTC'] as const;

/** Changes of the clock in those zones, an hour or half an hour each. */
const transitions = [
  Date.UTC(2026, 9, 25, 1),
  Date.UTC(2027, 2, 28, 1),
  Date.UTC(2026, 10, 1, 6),
  Date.UTC(2027, 2, 14, 7),
  Date.UTC(2026, 9, 3, 15, 30),
  Date.UTC(2027, 3, 3, 15),
] as const;

const crons = [
  '* * * * *',
  '*/5 * * * *',
  '*/15 * * * *',
  '0 * * * *',
  '30 2 * * *',
  '15,45 1-3 * * *',
  '*/20 0-4 * * *',
  '0 9 * * 1-5',
  '0 2 * * *',
  '30 1,2,3 * * *',
  '7 3 * * 0',
];

const rrules = [
  'FREQ=HOURLY',
  'FREQ=MINUTELY;INTERVAL=15',
  'FREQ=MINUTELY;COUNT=20',
  'FREQ=DAILY;BYHOUR=2;BYMINUTE=30',
  'FREQ=DAILY;COUNT=3',
  'FREQ=HOURLY;COUNT=4',
  'FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=1,2,3;BYMINUTE=15',
];

const intervals = ['PT1M', 'PT90S', 'PT7M', 'PT1H', 'PT2H30M', 'P1D', 'P1DT1H', 'P1W', 'P1M'];

export function someSchedule(chance: Chance, now: number): ScheduleInput {
  const timezone = chance.pick(zones);
  switch (chance.pick(['once', 'cron', 'cron', 'rrule', 'interval', 'interval', 'delay'] as const)) {
    case 'once':
      return { kind: 'once', once_at: iso(now + chance.between(1, 36 * 60) * minute), timezone };
    case 'cron':
      return { kind: 'cron', cron: chance.pick(crons), timezone };
    case 'rrule':
      return { kind: 'rrule', rrule: chance.pick(rrules), timezone };
    case 'interval':
      return { kind: 'interval', interval: chance.pick(intervals), timezone, ...someAnchor(chance, now) };
    case 'delay':
      return { kind: 'interval', interval: chance.pick(intervals), from: 'completion', timezone };
  }
}

function someAnchor(chance: Chance, now: number) {
  return chance.is(0.5) ? {} : { start_at: iso(now + chance.between(-600, 600) * minute) };
}

/** Each policy is named now and then, so that all of them meet. */
export function somePolicies(chance: Chance, now: number): Policies {
  const maybe = <T extends Policies>(share: number, make: () => T): Partial<T> => (chance.is(share) ? make() : {});
  return {
    ...maybe(0.6, () => ({ missed: chance.pick(['skip', 'once', 'all', 'ask'] as const) })),
    ...maybe(0.2, () => ({ missed_limit: chance.between(1, 12) })),
    ...maybe(0.3, () => ({ grace: chance.pick(['PT0S', 'PT1M', 'PT30M', 'PT6H', 'P3D']) })),
    ...maybe(0.6, () => ({ overlap: chance.pick(['skip', 'queue', 'replace', 'allow'] as const) })),
    ...maybe(0.5, () => ({ retry: someRetry(chance) })),
    ...maybe(0.3, () => ({ timeout: chance.pick(['PT1S', 'PT5S', 'PT45S', 'PT2M']) })),
    ...maybe(0.4, () => ({ auto_pause: chance.pick([0, 3, 3, 4]) })),
    ...maybe(0.25, () => ({ max_runs: chance.between(1, 6) })),
    ...maybe(0.15, () => ({ until: iso(now + chance.between(5, 3000) * minute) })),
    ...maybe(0.1, () => ({ start_at: iso(now + chance.between(-60, 300) * minute) })),
    ...maybe(0.15, () => ({ max_age: chance.pick(['PT1M', 'PT10M', 'PT3H']) })),
    ...maybe(0.3, () => ({ unknown: chance.pick(['resend', 'ask'] as const) })),
    ...maybe(0.15, () => ({ skip_if_unchanged: chance.pick(['none', 'silent', 'skip'] as const) })),
    ...maybe(0.2, () => ({ fallback: 'creator' as const })),
    ...maybe(0.2, () => ({ refresh_after: chance.pick(['PT1H', 'PT90M', 'P1D']) })),
    ...maybe(0.2, () => ({ priority: chance.between(1, 10) })),
    ...maybe(0.15, () => ({ quiet: someQuiet(chance) })),
    ...maybe(0.25, () => ({
      ack: { nag_every: chance.pick(['PT1M', 'PT5M', 'PT1H']), nag_limit: chance.between(1, 4) },
    })),
    ...maybe(0.08, () => ({ approval: 'required' as const })),
  };
}

/** For a task, which may also be urgent. */
function someQuiet(chance: Chance) {
  return chance.is(0.3) ? ({ mode: 'off' } as const) : someQuietHours(chance);
}

/** Short ones, so that many worlds live to see the end of some. */
export function someQuietHours(chance: Chance) {
  const from = chance.between(0, 47);
  const clock = (halves: number) =>
    `${String(Math.floor(halves / 2) % 24).padStart(2, '0')}:${halves % 2 === 0 ? '00' : '30'}`;
  const to = from + chance.between(1, 10);
  return { from: clock(from), to: clock(to), mode: chance.pick(['hold', 'hold', 'silent'] as const) };
}

function someRetry(chance: Chance) {
  return {
    attempts: chance.between(1, 4),
    base: chance.pick(['PT0S', 'PT0S', 'PT1S', 'PT30S', 'PT5M']),
    factor: chance.pick([1, 2, 3]),
    jitter: chance.pick([0, 0.2, 1]),
  };
}

export function someAction(chance: Chance): ActionSpec {
  if (chance.is(0.45)) return { kind: 'message' };
  if (chance.is(0.3)) return { kind: 'http', method: 'POST', url: `https://${targetHost}/orders` };
  return {
    kind: 'echo',
    delay_ms: chance.is(0.3) ? 0 : chance.between(1, chance.is(0.3) ? 60_000 : 8000),
    fail_attempts: chance.is(0.6) ? 0 : chance.between(1, 5),
    error: chance.is(0.7) ? 'retry' : 'final',
    repeatable: chance.is(0.7),
  };
}

/** Seldom too long for one message. */
export function someText(chance: Chance, name: string): string {
  const words = `${name} says ${chance.between(0, 999_999)}.`;
  return chance.is(0.04) ? `${words} ${'Word upon word. '.repeat(chance.between(300, 700))}` : words;
}

/** In most worlds the clocks are about to change. */
export function someStart(chance: Chance): number {
  const change = chance.pick(transitions);
  const at = change - chance.between(0, chance.is(0.7) ? 3 * hour : 48 * hour);
  return chance.is(0.5) ? at : Math.floor(at / minute) * minute;
}
