import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run test:nodes`: the quick suite on the oldest Node that is promised, the brought one and the newest. Each is
 * installed into a folder of its own, because a Node among the packages of the repository would become the one of all scripts.
 */
const versions = ['22.19.0', '24.21.0', '26.10.0'];
const root = fileURLToPath(new URL('../../', import.meta.url));
const quick = ['tests/domain', 'tests/app', 'tests/guard', 'tests/runtime.test.ts', 'tests/store/sqlite.test.ts'];
const native = [
  'tests/store/store.sqlite.test.ts',
  'tests/cli',
  'tests/ops/start.test.ts',
  'tests/system/crash.test.ts',
  'tests/system/second-opinion',
  'tests/system/pool.test.ts',
  'tests/system/templates.test.ts',
];

function passesOn(version: string, folder: string): boolean {
  const name = `node-${process.platform}-${process.arch}`;
  const install = ['install', '--no-audit', '--no-fund', '--silent', '--prefix', folder, `${name}@${version}`];
  if (spawnSync('npm', install, { stdio: 'inherit' }).status !== 0) return false;
  const bin = join(folder, 'node_modules', name, 'bin');
  const path = [bin, process.env['PATH'] ?? ''].join(':');
  const suite = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=dot', ...quick, ...native];
  return (
    spawnSync(join(bin, 'node'), suite, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: path } }).status ===
    0
  );
}

const results = versions.map((version) => {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-node-'));
  try {
    return { version, passes: passesOn(version, folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
for (const { version, passes } of results) console.log(`${passes ? 'ok  ' : 'FAIL'} Node ${version}`);
const failed = results.filter(({ passes }) => !passes).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
