import { describe, expect, it } from 'vitest';
import { simulate } from './simulate.ts';

/** A glance at what every nightly looks at ten thousand times: the same worlds on every run, few of which take long. */
const worlds = 40;
/** Few enough that one that hangs is found, many enough that the names do not fill the screen. */
const worldsPerTest = 8;

describe('a world in which everything goes wrong', () => {
  const firsts = Array.from({ length: worlds / worldsPerTest }, (_value, index) => index * worldsPerTest + 1);

  it.each(firsts)('keeps every promise from seed %i on', async (first) => {
    for (let seed = first; seed < first + worldsPerTest; seed += 1) {
      const { breaches } = await simulate(seed);
      expect(breaches, `seed ${seed}; replay: npx tsx tests/chaos/main.ts --seed ${seed} --trace`).toEqual([]);
    }
  });

  it('is always the same for one seed, to the last row, and another for another', async () => {
    const tables: string[] = [];
    const dump = (seed: number) =>
      simulate(seed, ({ database }) => {
        const names = ['tasks', 'occurrences', 'gaps', 'runs', 'attempts', 'deliveries', 'audit'];
        tables.push(JSON.stringify(names.map((name) => database.prepare(`select * from ${name}`).all())));
      });
    const [first, second, other] = [await dump(5), await dump(5), await dump(8)];
    expect(second.trace).toEqual(first.trace);
    expect(tables[1]).toBe(tables[0]);
    expect(other.trace).not.toEqual(first.trace);
  });
});
