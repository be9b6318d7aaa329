import { parseArgs } from 'node:util';
import { fuzzCli } from './cli.ts';
import { fuzzHttp } from './http.ts';

/** A longer fuzz than the suite has time for: `tsx tests/fuzz/main.ts --cases 100000 --seed 7`. */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

for (const fuzz of [fuzzHttp, fuzzCli]) {
  if (values.only !== undefined && values.only !== fuzz.name) continue;
  const from = performance.now();
  const { faults, counts } = await fuzz(Number(values.seed), Number(values.cases));
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  process.stdout.write(
    `${fuzz.name}: ${faults.length} faults, ${seconds} s, ${JSON.stringify([...counts].sort(([a], [b]) => a - b))}\n${faults.join('\n')}\n`,
  );
  if (faults.length > 0) process.exitCode = 1;
}
