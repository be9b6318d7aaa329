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
  readonly actionKind?: string;
}

function due({
  cron = '0 * * * *',
  policies = {},
  live = 0,
  waiting = 0,
  reserved = waiting,
  boundedRuns = 0,
  actionKind = 'message',
}: Given = {}): Due {
  const schedule = parseSchedule({ kind: 'cron', cron, timezone: 'UTC' }, nine);
  const policy = policyOf(policies, { actionKind, minGapMs: cron === '0 * * * *' ? hour : 5 * minute });
  return { schedule, policy, nextAt: nine, boundedRuns, live, waiting, reserved };
}

function told(plan: ReturnType<typeof planDue>): string[] {
  return plan.occurrences.map(({ slotAt, source, status, reason }) =>
    [new Date(slotAt).toISOString().slice(11, 16), source, status, reason].filter(Boolean).join(' '),
  );
}

describe('a slot that is due', () => {
  it('is dispatched, and the next slot is the one after it', () => {
    const plan = planDue(due(), nine + 50);
    expect(told(plan)).toEqual(['09:00 schedule dispatched']);
    expect(plan.nextAt).toBe(nine + hour);
  });

  it('still runs at the last millisecond of its grace and is late one millisecond after', () => {
    expect(told(planDue(due(), nine + 10 * minute))).toEqual(['09:00 schedule dispatched']);
    expect(told(planDue(due(), nine + 10 * minute + 1))).toEqual(['09:00 catch_up dispatched']);
  });

  it('has a grace of half its gap when that is shorter than ten minutes', () => {
    const five = { cron: '*/5 * * * *', policies: { missed: 'skip' } as const };
    expect(told(planDue(due(five), nine + 150_000))).toEqual(['09:00 schedule dispatched']);
    expect(told(planDue(due(five), nine + 150_001))).toEqual(['09:00 schedule missed late']);
  });

  it('keeps a grace that was chosen', () => {
    const strict = { policies: { grace: 'PT1S', missed: 'skip' } as const };
    expect(told(planDue(due(strict), nine + 1000))).toEqual(['09:00 schedule dispatched']);
    expect(told(planDue(due(strict), nine + 1001))).toEqual(['09:00 schedule missed late']);
  });
});

describe('slots that were missed', () => {
  const outage = 3 * hour + 30 * minute;

  it('are run once, by the newest, when the policy is once', () => {
    expect(told(planDue(due(), nine + outage))).toEqual([
      '09:00 schedule missed covered',
      '10:00 schedule missed covered',
      '11:00 schedule missed covered',
      '12:00 catch_up dispatched',
    ]);
  });

  it('are covered by a newest slot that is still on time', () => {
    expect(told(planDue(due(), nine + 2 * hour + minute))).toEqual([
      '09:00 schedule missed covered',
      '10:00 schedule missed covered',
      '11:00 schedule dispatched',
    ]);
  });

  it('end as missed when the policy is skip', () => {
    const statuses = planDue(due({ policies: { missed: 'skip' } }), nine + outage).occurrences.map(
      ({ status }) => status,
    );
    expect(statuses).toEqual(['missed', 'missed', 'missed', 'missed']);
  });

  it('run one after the other when the policy is all, up to the limit, the oldest dropped', () => {
    const all = due({ policies: { missed: 'all', missed_limit: 2 } });
    expect(told(planDue(all, nine + outage))).toEqual([
      '09:00 schedule missed beyond_limit',
      '10:00 schedule missed beyond_limit',
      '11:00 catch_up dispatched',
      '12:00 catch_up pending overlap',
    ]);
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
    const now = nine + 100 * 24 * hour;
    const first = planDue(due(), now);
    expect(first.gap?.count).toBe(1000);
    expect(first.occurrences).toEqual([]);
    expect(first.nextAt).toBe(nine + 1000 * hour);
  });

  it('are skipped by default for dense tasks that are no reminders', () => {
    const dense = due({ cron: '*/5 * * * *', actionKind: 'http' });
    expect(told(planDue(dense, nine + 4 * minute))).toEqual(['09:00 schedule missed late']);
  });
});

describe('a grace that was chosen long', () => {
  it('lets every slot within it simply run, as the overlap policy allows', () => {
    const long = { cron: '*/5 * * * *', policies: { grace: 'PT1H', overlap: 'allow' } as const };
    expect(told(planDue(due(long), nine + 12 * minute))).toEqual([
      '09:00 schedule dispatched',
      '09:05 schedule dispatched',
      '09:10 schedule dispatched',
    ]);
  });
});

describe('a grace that holds for many slots', () => {
  const wide = { cron: '*/5 * * * *', policies: { grace: 'P30D', overlap: 'allow', missed: 'skip' } } as const;

  it('lets all of them run, a hundred in each step, however long the outage', () => {
    let state = due(wide);
    const now = nine + 1200 * 5 * minute;
    const runs: number[] = [];
    while (state.nextAt <= now) {
      const plan = planDue(state, now);
      expect(plan.gap).toBeNull();
      expect(plan.occurrences.length).toBeLessThanOrEqual(100);
      runs.push(...plan.occurrences.filter(({ status }) => status === 'dispatched').map(({ slotAt }) => slotAt));
      state = { ...state, nextAt: plan.nextAt ?? now + 1 };
    }
    expect([runs.length, new Set(runs).size]).toEqual([1201, 1201]);
  });

  it('starts only the newest of them where a newer run replaces an older one', () => {
    const replace = { cron: '*/5 * * * *', policies: { grace: 'PT1H', overlap: 'replace' } } as const;
    expect(told(planDue(due(replace), nine + 12 * minute))).toEqual([
      '09:00 schedule skipped replaced',
      '09:05 schedule skipped replaced',
      '09:10 schedule dispatched',
    ]);
  });
});

describe('an outage longer than one step may look at', () => {
  it('still runs the last slots that the policy all asks for', () => {
    const all = { cron: '*/5 * * * *', policies: { missed: 'all', missed_limit: 5 } } as const;
    let state = due(all);
    const runs: string[] = [];
    const now = nine + 1003 * 5 * minute + 4 * minute;
    for (let step = 0; step < 5 && state.nextAt <= now; step += 1) {
      const plan = planDue(state, now);
      runs.push(...told(plan).filter((row) => row.includes('catch_up')));
      state = { ...state, nextAt: plan.nextAt ?? now + 1 };
    }
    expect(runs).toHaveLength(5);
  });
});

describe('overlap', () => {
  const around = (policies: Policies, live: number, waiting = 0) =>
    told(planDue(due({ policies, live, waiting }), nine))[0];

  it('skips, queues up to its limit, replaces or allows beside a live run', () => {
    expect(around({}, 1)).toBe('09:00 schedule skipped overlap');
    expect(around({ overlap: 'queue' }, 1)).toBe('09:00 schedule pending overlap');
    expect(around({ overlap: 'queue' }, 1, 10)).toBe('09:00 schedule skipped queue_full');
    expect(around({ overlap: 'replace' }, 1)).toBe('09:00 schedule pending overlap');
    expect(around({ overlap: 'allow' }, 3)).toBe('09:00 schedule dispatched');
  });

  it('asks the live run to stop only when the policy is replace', () => {
    expect(planDue(due({ policies: { overlap: 'replace' }, live: 1 }), nine).replaces).toBe(true);
    expect(planDue(due({ policies: { overlap: 'replace' } }), nine).replaces).toBe(false);
    expect(planDue(due({ policies: { overlap: 'queue' }, live: 1 }), nine).replaces).toBe(false);
  });
});

describe('max_runs', () => {
  it('completes the task with its last allowed run', () => {
    const plan = planDue(due({ policies: { max_runs: 3 }, boundedRuns: 2 }), nine);
    expect(told(plan)).toEqual(['09:00 schedule dispatched']);
    expect(plan.nextAt).toBeNull();
  });

  it('keeps a place for occurrences that wait, and completes only with what was really dispatched', () => {
    const plan = planDue(
      due({ policies: { max_runs: 3, overlap: 'queue' }, boundedRuns: 2, live: 1, waiting: 1 }),
      nine,
    );
    expect(told(plan)).toEqual(['09:00 schedule skipped max_runs']);
    expect(plan.nextAt).toBe(nine + hour);
  });

  it('keeps no place for a run by hand that waits', () => {
    const plan = planDue(
      due({ policies: { max_runs: 2, overlap: 'queue' }, boundedRuns: 1, live: 1, waiting: 1, reserved: 0 }),
      nine,
    );
    expect(told(plan)).toEqual(['09:00 schedule pending overlap']);
  });

  it('does not count slots that were skipped', () => {
    const plan = planDue(due({ policies: { max_runs: 1 }, live: 1 }), nine);
    expect(told(plan)).toEqual(['09:00 schedule skipped overlap']);
    expect(plan.nextAt).toBe(nine + hour);
  });
});

describe('a schedule that ends', () => {
  it('completes the task with its last slot', () => {
    const schedule = parseSchedule({ kind: 'once', once_at: '2026-11-18T09:00:00Z', timezone: 'UTC' }, nine - 1);
    const policy = policyOf({}, { actionKind: 'message', minGapMs: null });
    const plan = planDue({ schedule, policy, nextAt: nine, boundedRuns: 0, live: 0, waiting: 0, reserved: 0 }, nine);
    expect(told(plan)).toEqual(['09:00 schedule dispatched']);
    expect(plan.nextAt).toBeNull();
  });
});

describe('a delay after the last finish', () => {
  const schedule = parseSchedule(
    { kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' },
    nine - hour,
  );
  const policy = policyOf({}, { actionKind: 'message', minGapMs: hour });

  it('has no slot while its work goes on', () => {
    const plan = planDue(
      { schedule, policy, nextAt: nine, boundedRuns: 0, live: 1, waiting: 0, reserved: 0 },
      nine + 5,
    );
    expect(plan.occurrences).toEqual([]);
    expect(plan.nextAt).toBe(nine + 5 + hour);
  });

  it('has one slot after an outage, however long', () => {
    const plan = planDue(
      { schedule, policy, nextAt: nine, boundedRuns: 0, live: 0, waiting: 0, reserved: 0 },
      nine + 50 * hour,
    );
    expect(told(plan)).toEqual(['09:00 catch_up dispatched']);
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
