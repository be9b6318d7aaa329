import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDue, type Due } from '../../src/domain/due.ts';
import { policyOf, type Policies } from '../../src/domain/policy.ts';
import { parseSchedule, slotsThrough } from '../../src/domain/schedule/schedule.ts';
import { hour, minute } from '../support/fakes.ts';

const nine = Date.UTC(2026, 10, 18, 9);

interface Given {
  readonly cron?: string;
  readonly policies?: Policies;
  readonly live?: number;
  readonly waiting?: number;
  readonly reserved?: number;
  readonly boundedRuns?: number;
  readonly held?: number;
  readonly actionKind?: string;
}

function due({
  cron = '0 * * * *',
  policies = {},
  live = 0,
  waiting = 0,
  reserved = waiting,
  boundedRuns = 0,
  held = 0,
  actionKind = 'message',
}: Given = {}): Due {
  const schedule = parseSchedule({ kind: 'cron', cron, timezone: 'UTC' }, nine);
  const policy = policyOf(policies, { actionKind, minGapMs: cron === '0 * * * *' ? hour : 5 * minute });
  return { schedule, policy, nextAt: nine, boundedRuns, held, live, waiting, reserved };
}

function told(plan: ReturnType<typeof planDue>): string[] {
  return plan.occurrences.map(({ slotAt, source, status, reason }) =>
    [new Date(slotAt).toISOString().slice(11, 16), source, status, reason].filter(Boolean).join(' '),
  );
}

const strict = { policies: { grace: 'PT1S', missed: 'skip' } } as const;
const five = { cron: '*/5 * * * *', policies: { missed: 'skip' } } as const;
const wide = { cron: '*/5 * * * *', policies: { grace: 'PT1H', overlap: 'allow' } } as const;
const outage = 3 * hour + 30 * minute;
const queued = { live: 1, waiting: 1, policies: { overlap: 'queue' } } as const;

const plans: readonly (readonly [what: string, given: Given, late: number, ...rows: string[]])[] = [
  ['a slot that is due', {}, 50, '09:00 schedule dispatched'],
  ['the last millisecond of its grace', {}, 10 * minute, '09:00 schedule dispatched'],
  ['one millisecond after its grace', {}, 10 * minute + 1, '09:00 catch_up dispatched'],
  ['a grace of half a gap that is shorter', five, 150_000, '09:00 schedule dispatched'],
  ['one millisecond after that', five, 150_001, '09:00 schedule missed late'],
  ['a grace that was chosen', strict, 1000, '09:00 schedule dispatched'],
  ['one millisecond after a grace that was chosen', strict, 1001, '09:00 schedule missed late'],
  [
    'missed slots of which the newest runs once',
    {},
    outage,
    '09:00 schedule missed covered',
    '10:00 schedule missed covered',
    '11:00 schedule missed covered',
    '12:00 catch_up dispatched',
  ],
  [
    'missed slots that a newest one on time covers',
    {},
    2 * hour + minute,
    '09:00 schedule missed covered',
    '10:00 schedule missed covered',
    '11:00 schedule dispatched',
  ],
  [
    'missed slots that are skipped',
    { policies: { missed: 'skip' } },
    outage,
    ...[9, 10, 11, 12].map((at) => `${String(at).padStart(2, '0')}:00 schedule missed late`),
  ],
  [
    'missed slots that all run, fewer than the limit',
    { policies: { missed: 'all', missed_limit: 5 } },
    hour + 30 * minute,
    '09:00 catch_up dispatched',
    '10:00 catch_up pending overlap',
  ],
  [
    'missed slots that all run, up to the limit',
    { policies: { missed: 'all', missed_limit: 2 } },
    outage,
    '09:00 schedule missed beyond_limit',
    '10:00 schedule missed beyond_limit',
    '11:00 catch_up dispatched',
    '12:00 catch_up pending overlap',
  ],
  [
    'a dense task that is no reminder',
    { ...five, policies: {}, actionKind: 'http' },
    4 * minute,
    '09:00 schedule missed late',
  ],
  [
    'a grace that holds for several slots',
    wide,
    12 * minute,
    '09:00 schedule dispatched',
    '09:05 schedule dispatched',
    '09:10 schedule dispatched',
  ],
  [
    'several slots in their grace, of which a newer run replaces the older ones',
    { ...wide, policies: { grace: 'PT1H', overlap: 'replace' } },
    12 * minute,
    '09:00 schedule skipped replaced',
    '09:05 schedule skipped replaced',
    '09:10 schedule dispatched',
  ],
  ['a live run', { live: 1 }, 0, '09:00 schedule skipped overlap'],
  ['a live run to queue behind', { ...queued, waiting: 0 }, 0, '09:00 schedule pending overlap'],
  ['a queue that is full', { ...queued, waiting: 10 }, 0, '09:00 schedule skipped queue_full'],
  ['a live run to replace', { live: 1, policies: { overlap: 'replace' } }, 0, '09:00 schedule pending overlap'],
  ['live runs to run beside', { live: 3, policies: { overlap: 'allow' } }, 0, '09:00 schedule dispatched'],
  [
    'a live run that holds the last place',
    { policies: { max_runs: 2, overlap: 'allow' }, live: 1, boundedRuns: 1, held: 1 },
    0,
    '09:00 schedule skipped max_runs',
  ],
  [
    'a run by hand that waits, for which no place is kept',
    { ...queued, policies: { max_runs: 2, overlap: 'queue' }, boundedRuns: 1, reserved: 0 },
    0,
    '09:00 schedule pending overlap',
  ],
];

it.each(plans.map(([what, given, late, ...rows]) => ({ what, given, late, rows })))(
  'plans for $what',
  ({ given, late, rows }) => {
    expect(told(planDue(due(given), nine + late))).toEqual(rows);
  },
);

it.each([
  ['the slot after it', {}, nine + hour],
  ['nothing once the last run that is allowed has ended', { policies: { max_runs: 3 }, boundedRuns: 3 }, null],
  ['the slot after the last run that is allowed, as that may never begin', { policies: { max_runs: 1 } }, nine + hour],
  ['the slot after one that a live run skipped', { policies: { max_runs: 1 }, live: 1 }, nine + hour],
  [
    'the slot after one that found all runs taken by those that wait',
    { ...queued, policies: { max_runs: 3, overlap: 'queue' }, boundedRuns: 2 },
    nine + hour,
  ],
] satisfies [string, Given, number | null][])('goes on with %s', (_what, given, nextAt) => {
  expect(planDue(due(given), nine).nextAt).toBe(nextAt);
});

it.each([
  [true, { policies: { overlap: 'replace' }, live: 1 }],
  [false, { policies: { overlap: 'replace' } }],
  [false, { policies: { overlap: 'queue' }, live: 1 }],
] satisfies [boolean, Given][])('replaces: %s for %j', (replaces, given) => {
  expect(planDue(due(given), nine).replaces).toBe(replaces);
});

describe('slots that were missed', () => {
  it('hold their place in max_runs while they wait', () => {
    const given = { ...queued, policies: { max_runs: 3, overlap: 'queue' }, boundedRuns: 2 } as const;
    expect(told(planDue(due(given), nine))).toEqual(['09:00 schedule skipped max_runs']);
  });

  it('become one question that is moot after a day when the policy is ask', () => {
    const plan = planDue(due({ policies: { missed: 'ask' } }), nine + outage);
    expect(told(plan).at(-1)).toBe('12:00 catch_up pending ask');
    expect(plan.occurrences.at(-1)?.decideBy).toBe(nine + outage + 24 * hour);
  });

  it('are one gap when there are more than a hundred, and the newest still follows the policy', () => {
    const plan = planDue(due({ cron: '*/5 * * * *' }), nine + 20 * hour + 4 * minute);
    expect(plan.gap).toEqual({ fromAt: nine, toAt: nine + 20 * hour - 5 * minute, count: 240, reason: 'covered' });
    expect(told(plan)).toEqual(['05:00 catch_up dispatched']);
  });

  it('are worked off in bounded steps when the outage is longer than one step may look at', () => {
    const first = planDue(due(), nine + 100 * 24 * hour);
    expect([first.gap?.count, first.occurrences, first.nextAt]).toEqual([1000, [], nine + 1000 * hour]);
  });

  /** Plans step by step until nothing is due any more. */
  function planned(given: Given, now: number) {
    const plans: ReturnType<typeof planDue>[] = [];
    for (let nextAt = nine; nextAt <= now;) {
      const plan = planDue({ ...due(given), nextAt }, now);
      plans.push(plan);
      nextAt = plan.nextAt ?? now + 1;
    }
    return plans;
  }

  it('all run within a grace that holds for them, a hundred in each step, however long the outage', () => {
    const given = { ...wide, policies: { grace: 'P30D', overlap: 'allow', missed: 'skip' } } as const;
    const steps = planned(given, nine + 1200 * 5 * minute);
    expect(steps.filter(({ gap, occurrences }) => gap !== null || occurrences.length > 100)).toEqual([]);
    const runs = steps.flatMap(({ occurrences }) => occurrences.filter(({ status }) => status === 'dispatched'));
    expect([runs.length, new Set(runs.map(({ slotAt }) => slotAt)).size]).toEqual([1201, 1201]);
  });

  it('run as many of the last as the policy all asks for, in an outage longer than one step may look at', () => {
    const given = { cron: '*/5 * * * *', policies: { missed: 'all', missed_limit: 5 } } as const;
    const steps = planned(given, nine + 1003 * 5 * minute + 4 * minute);
    expect(steps.flatMap(told).filter((row) => row.includes('catch_up'))).toHaveLength(5);
  });
});

describe('other schedules', () => {
  const policy = policyOf({}, { actionKind: 'message', minGapMs: hour });
  const around = { policy, nextAt: nine, boundedRuns: 0, held: 0, live: 0, waiting: 0, reserved: 0 };
  const delay = parseSchedule({ kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' }, nine - hour);

  it('complete the task with their last slot', () => {
    const schedule = parseSchedule({ kind: 'once', once_at: '2026-11-18T09:00:00Z', timezone: 'UTC' }, nine - 1);
    const plan = planDue({ ...around, schedule }, nine);
    expect([told(plan), plan.nextAt]).toEqual([['09:00 schedule dispatched'], null]);
  });

  it('have no slot while the work of a delay after the last finish goes on', () => {
    const plan = planDue({ ...around, schedule: delay, live: 1 }, nine + 5);
    expect([plan.occurrences, plan.nextAt]).toEqual([[], nine + 5 + hour]);
  });

  it('have one slot of such a delay after an outage, however long', () => {
    expect(told(planDue({ ...around, schedule: delay }, nine + 50 * hour))).toEqual(['09:00 catch_up dispatched']);
  });
});

const crons = fc.constantFrom('0 * * * *', '*/5 * * * *', '30 2 * * *', '0,30 9-17 * * 1-5', '15 3 1 * *');
const policies: fc.Arbitrary<Policies> = fc.record(
  {
    missed: fc.constantFrom('skip' as const, 'once' as const, 'all' as const, 'ask' as const),
    missed_limit: fc.integer({ min: 1, max: 5 }),
    overlap: fc.constantFrom('skip' as const, 'queue' as const, 'replace' as const, 'allow' as const),
    max_runs: fc.integer({ min: 1, max: 4 }),
    grace: fc.constantFrom('PT0S', 'PT5M', 'P1D'),
  },
  { requiredKeys: [] },
);

describe('every plan', () => {
  it('accounts for each slot exactly once, whatever the policies, the outage and what is live', () => {
    const cases = fc.record({
      cron: crons,
      policies,
      live: fc.integer({ min: 0, max: 2 }),
      waiting: fc.integer({ min: 0, max: 10 }),
      late: fc.integer({ min: 0, max: 40 * 24 * 60 }),
    });
    fc.assert(
      fc.property(cases, ({ cron, policies: chosen, live, waiting, late }) => {
        const base = due({ cron, policies: chosen, live, waiting });
        const nextAt = slotsThrough(base.schedule, nine, { through: nine + 62 * 24 * hour, limit: 1 }).next ?? nine;
        const now = nextAt + late * minute;
        const plan = planDue({ ...base, nextAt }, now);
        const seen = slotsThrough(base.schedule, nextAt, { through: now, limit: 1000 }).slots;
        // What a bounded step leaves for the next one is still due.
        const expected = seen.filter((slot) => plan.nextAt === null || slot < plan.nextAt);
        const rows = plan.occurrences.map(({ slotAt }) => slotAt);
        expect(new Set(rows).size).toBe(rows.length);
        const inGap = (slot: number) => plan.gap !== null && slot >= plan.gap.fromAt && slot <= plan.gap.toAt;
        const uncovered = expected.filter((slot) => !rows.includes(slot) && !inGap(slot));
        const twice = rows.filter(inGap);
        expect({ uncovered, twice }).toEqual({ uncovered: [], twice: [] });
        expect(rows.length + (plan.gap?.count ?? 0)).toBe(expected.length);
        expect(plan.nextAt === null || plan.nextAt > (expected.at(-1) ?? nextAt)).toBe(true);
      }),
      { numRuns: 1500, seed: 20261118 },
    );
  });
});
