import { parseArgs } from 'node:util';
import { simulate, type Figures } from './simulate.ts';

/**
 * Many seeds, or one of them in full: `npx tsx tests/chaos/main.ts --seeds 10000 [--from N] [--seed N] [--trace]`. Ends
 * with 1 when a promise was broken, and says how to see it again.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    stop: { type: 'string', default: '20' },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const first = Number(values.seed ?? values.from);
const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first;
const startedAt = performance.now();
const sums: Record<string, number> = {};
let [failed, told] = [0, startedAt];

const add = (figures: Figures) => {
  for (const [name, count] of Object.entries({ ...figures })) sums[name] = (sums[name] ?? 0) + count;
};
const rate = (seeds: number) => `${((seeds * 1000) / (performance.now() - startedAt)).toFixed(1)} seeds/s`;

let seed = first;
for (; seed <= last && failed < Number(values.stop); seed += 1) {
  const { breaches, trace, figures } = await simulate(seed);
  add(figures);
  if (values.trace) for (const line of trace) say(line);
  if (breaches.length > 0) {
    failed += 1;
    for (const breach of breaches) say(`chaos failed: seed ${seed}, ${breach}`);
    say(`replay: npx tsx tests/chaos/main.ts --seed ${seed} --trace`);
  }
  if (performance.now() - told > 10_000) {
    told = performance.now();
    say(`${seed - first + 1} seeds, ${failed} failed, ${rate(seed - first + 1)}`);
  }
}
say(`${seed - first} seeds, ${failed} failed, ${rate(seed - first)}; ${JSON.stringify(sums)}`);
process.exitCode = failed === 0 ? 0 : 1;
