import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { token } from './load.ts';
import { percentile, type Figure } from './report.ts';
import { end, start } from './served.ts';
import { fill, openBench } from './world.ts';

const starts = 20;
const tasks = 100;

/** How long the command line takes from the first key to the last line, beside a runtime that does nothing. */
export async function benchCli(): Promise<Figure[]> {
  const bench = await openBench();
  const schedule = () => ({ kind: 'interval', interval: 'P1D', timezone: 'UTC' }) as const;
  fill(bench, { count: tasks, chats: 1, now: bench.world.clock.now(), schedule, nextAt: () => null });
  const server = await start(['product', bench.file], join(bench.folder, 'server.log'));
  const env = {
    ...process.env,
    CRONOGRAM_API_URL: `http://127.0.0.1:${server.port}`,
    CRONOGRAM_API_TOKEN: token,
  };
  try {
    const bare = taken(['-e', '0'], env);
    return [['--version'], ['--help'], ['task', 'list']].flatMap((words) => {
      const own = taken(['dist/cli.js', ...words], env);
      const figure = (label: string, share: number, aim: string | null): Figure => ({
        name: `cronogram ${words.join(' ')}, ${label} of ${starts} starts`,
        value: percentile(own, share),
        unit: 'ms',
        baseline: percentile(bare, share),
        baselineName: 'node -e 0',
        ...(aim === null ? {} : { aim }),
      });
      return [figure('median', 0.5, '200 ms'), figure('p95', 0.95, null)];
    });
  } finally {
    await end(server.child);
    await bench.close();
  }
}

function taken(words: readonly string[], env: NodeJS.ProcessEnv): number[] {
  return Array.from({ length: starts }, () => {
    const from = performance.now();
    const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`node ${words.join(' ')} ended with ${status}: ${stderr}`);
    return performance.now() - from;
  });
}
