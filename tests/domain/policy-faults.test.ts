import { expect, test } from 'vitest';
import { checkPolicies, type Policies } from '../../src/domain/policy.ts';
import { sentenceOf } from '../../src/telegram/chat/kit/answers.ts';
import { inLocale } from '../../src/telegram/chat/texts.ts';
import { pseudo } from '../support/pseudo.ts';

function faultOf(policies: Policies): unknown {
  try {
    checkPolicies(policies);
  } catch (error) {
    return error;
  }
  return null;
}

test.each<[Policies, string]>([
  [{ quiet: { mode: 'off', from: '22:00' } }, 'policies.quiet is either off or has hours, not both.'],
  [
    { quiet: { mode: 'hold', from: '22:00', to: '22:00' } },
    'policies.quiet begins and ends at the same time; leave it out, or choose another end.',
  ],
  [{ auto_pause: 1 }, 'policies.auto_pause is 0 (off) or 3 to 100.'],
  [{ timeout: 'P40D' }, 'policies.timeout is out of range: 0.001 s to 86400 s.'],
  [{ retry: { base: 'soon' } }, 'policies.retry.base is a duration such as PT90S, PT10M, PT2H or P1D;'],
  [{ until: '2027-02-30T09:00:00Z' }, 'policies.until is an instant with its offset, such as 2027-01-31T09:00:00Z.'],
])('%j is refused in the language of the chat, with the same bounds', (policies, english) => {
  const fault = faultOf(policies);
  const told = String(sentenceOf(fault));
  expect(told).toContain(english);
  const other = String(inLocale(pseudo, () => sentenceOf(fault)));
  expect(other).not.toContain('is');
  expect(other.match(/\d+/g)).toEqual(told.match(/\d+/g));
});
