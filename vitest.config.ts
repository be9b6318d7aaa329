import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { patienceMs, testMaxMs } from './tests/support/patience.ts';
import { compiledOnce, quickFlags } from './tests/support/sources.ts';

/**
 * Databases of tests live for seconds. Where the machine offers memory as a folder, and enough of it, they live there, so
 * that no test waits for a disk: they are real files of real engines all the same.
 */
const memory = '/dev/shm';
const roomBytes = 1024 ** 3;
const env = { ...compiledOnce, ...(hasRoom(memory) ? { TMPDIR: memory } : {}) };

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= roomBytes;
}

const execArgv = [...quickFlags];

const fast = ['tests/domain/**/*.test.ts', 'tests/app/**/*.test.ts', 'tests/guard/**/*.test.ts'];
const store = ['tests/store/**/*.test.ts'];

/** Offers Postgres to every test of a project; the server starts when the first test asks for a database. */
const globalSetup = ['tests/support/postgres-setup.ts'];

/** They end what hangs. A machine that has much else to do draws out everything, even what is pure. */
const limits = {
  testTimeout: testMaxMs,
  hookTimeout: testMaxMs,
  expect: { poll: { timeout: patienceMs, interval: 20 } },
} as const;

export default defineConfig({
  test: {
    // Most of a run waits for databases and sockets, so that no core need be kept free.
    maxWorkers: '100%',
    // Each test builds its own world, so files need none of their own, and load what they share once.
    // One name per speed: `fast` is pure and part of every check, `store` proves the two engines, `edges` is the rest.
    projects: [
      { test: { name: 'fast', include: fast, isolate: false, env, execArgv, ...limits } },
      {
        test: {
          name: 'store',
          isolate: false,
          env,
          execArgv,
          include: store,
          globalSetup,
          ...limits,
        },
      },
      {
        test: {
          name: 'edges',
          env,
          execArgv,
          include: ['tests/**/*.test.ts'],
          exclude: [...fast, ...store],
          isolate: false,
          globalSetup,
          ...limits,
        },
      },
    ],
  },
});
