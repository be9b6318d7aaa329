import { describe, expect, it } from 'vitest';
import { simulate } from './simulate.ts';

describe('a seed', () => {
  it('is always the same world, to the last row', async () => {
    for (const seed of [5, 8]) {
      const tables: string[] = [];
      const dump = () =>
        simulate(seed, ({ database }) => {
          const names = ['tasks', 'occurrences', 'gaps', 'runs', 'attempts', 'deliveries', 'audit'];
          tables.push(JSON.stringify(names.map((name) => database.prepare(`select * from ${name}`).all())));
        });
      const [first, second] = [await dump(), await dump()];
      expect(second.trace).toEqual(first.trace);
      expect(tables[1]).toBe(tables[0]);
    }
  });

  it('that differs is another world', async () => {
    expect((await simulate(5)).trace).not.toEqual((await simulate(6)).trace);
  });
});
