import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';

/** So many worlds in one test: few enough that one that hangs is found, many enough that the names do not fill the screen. */
const worldsPerTest = 5;

/** The tests of the seeds: each tells which promise was broken, and how to see that again line by line. */
export function livesThrough({ from, to }: { readonly from: number; readonly to: number }): void {
  for (let first = from; first <= to; first += worldsPerTest) {
    const last = Math.min(first + worldsPerTest - 1, to);
    it(`keeps every promise in the worlds ${first} to ${last}`, { timeout: 60_000 }, async () => {
      for (let seed = first; seed <= last; seed += 1) {
        const { breaches } = await simulate(seed);
        expect(
          breaches,
          `chaos failed: seed ${seed}; replay: npx tsx tests/chaos/main.ts --seed ${seed} --trace`,
        ).toEqual([]);
      }
    });
  }
}
