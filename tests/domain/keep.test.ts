import { describe, expect, it } from 'vitest';
import { keepIn, settingsOf } from '../../src/domain/chat-settings.ts';
import { checkPolicies, policyOf } from '../../src/domain/policy.ts';

describe('the history that a task keeps', () => {
  it.each([
    [{ runs: 5 }, { runs: 5, days: 1 }],
    [{ days: 30 }, { runs: 1, days: 30 }],
    [
      { runs: 5, days: 30 },
      { runs: 5, days: 30 },
    ],
  ])('is at least a run and a day: %j', (chosen, keep) => {
    expect(keepIn(chosen)).toEqual(keep);
    expect(policyOf({ keep: chosen }, { actionKind: 'message', minGapMs: null }).keep).toEqual(keep);
    expect(settingsOf({ keep: chosen }).keep).toEqual(keep);
  });

  it.each([undefined, null, {}, 7, 'all', { runs: 0 }, { days: -1 }, { runs: 1.5 }, { runs: '5' }, { days: null }])(
    'is all that the server keeps where nobody can read it: %j',
    (stored) => {
      expect(keepIn(stored)).toBeNull();
      expect(settingsOf({ keep: stored }).keep).toBeNull();
    },
  );

  it('is refused where it names neither runs nor days', () => {
    expect(() => checkPolicies({ keep: {} })).toThrow('policies.keep names runs, days or both');
    checkPolicies({ keep: { runs: 1 } });
  });
});
