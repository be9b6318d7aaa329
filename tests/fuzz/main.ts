import { parseArgs } from 'node:util';
import { fuzzCli } from './cli.ts';
import { fuzzHttp } from './http.ts';
import { kinds, rare } from './outcome.ts';

/** A longer fuzz than the suite has time for, a part of every nightly: `npm run fuzz -- --cases 100000 --seed 7`. */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

/** Of ten thousand cases six at least end in each way. */
const least = Math.ceil((Number(values.cases) * 6) / 10_000);

const fuzzes = [
  { fuzz: fuzzHttp, expected: [...kinds.http, ...kinds.seldomHttp] },
  { fuzz: fuzzCli, expected: kinds.cli },
];

for (const { fuzz, expected } of fuzzes) {
  if (values.only !== undefined && values.only !== fuzz.name) continue;
  const from = performance.now();
  const { faults, counts } = await fuzz(Number(values.seed), Number(values.cases));
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  const few = rare(counts, expected, least).map((kind) => `hardly an answer is ${kind}`);
  process.stdout.write(
    `${fuzz.name}: ${faults.length} faults, ${seconds} s, ${JSON.stringify([...counts].sort(([a], [b]) => a - b))}\n${[...faults, ...few].join('\n')}\n`,
  );
  if (faults.length + few.length > 0) process.exitCode = 1;
}
