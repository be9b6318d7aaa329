import { parseArgs } from 'node:util';
import { reviewRandom } from './agreement.ts';

/**
 * Puts many random schedules of each kind to the second opinion: `npx tsx tests/system/second-opinion/main.ts --runs 20000
 * [--seed N]`. Ends with 1 when an answer differs, and says about which schedule.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } },
});

const runs = Number(values.runs);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
let differing = 0;
for (const kind of ['once', 'cron', 'rrule', 'interval'] as const) {
  const startedAt = performance.now();
  const { results, differences } = await reviewRandom(kind, runs, seed);
  differing += differences.length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${kind}: ${JSON.stringify(results)} in ${seconds} s, seed ${seed}\n`);
  for (const difference of differences.slice(0, 20)) process.stdout.write(`differs: ${difference}\n`);
}
process.exitCode = differing === 0 ? 0 : 1;
