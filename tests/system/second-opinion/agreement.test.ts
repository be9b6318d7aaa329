import { expect, it } from 'vitest';
import { reviewRandom } from './agreement.ts';

const seed = 20_261_118;

it.each([
  ['once', 200],
  ['cron', 400],
  ['rrule', 400],
  ['interval', 300],
] as const)('a healthy engine yields no finding: %s', async (kind, runs) => {
  const { results, findings, differences } = await reviewRandom(kind, runs, seed);
  expect(differences).toEqual([]);
  expect(findings).toEqual([]);
  expect(results['agrees']).toBeGreaterThan(runs / 2);
  expect(results['undecided'] ?? 0).toBe(0);
  expect(results['refused'] ?? 0).toBe(0);
});
