import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { aFolder } from '../../support/place.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Lists the faults that the compiler finds in the script of the page, each by its file, its code and its words. */
function faultsIn(tree: string): readonly string[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const told = spawnSync(process.execPath, [compiler, '-p', 'src/sandbox/page', '--pretty', 'false'], {
    cwd: tree,
    encoding: 'utf8',
  });
  expect([told.signal, told.error]).toEqual([null, undefined]);
  const lines = told.stdout.split('\n').filter((line) => line.includes('error TS'));
  expect(told.status === 0).toBe(lines.length === 0);
  return lines.map((line) => line.replace(/^src\/sandbox\/page\/script\//, '').replace(/\(\d+,\d+\)/, ''));
}

/** Copies the sandbox and replaces each text in it by another. */
function planted(faults: readonly (readonly [file: string, text: string, fault: string])[]): string {
  const tree = aFolder();
  const read = ['src/api/wire.ts', 'src/domain/schedule/time/calendar.ts'];
  for (const name of ['package.json', 'tsconfig.json', 'src/sandbox', ...read])
    cpSync(join(root, name), join(tree, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (const [name, text, fault] of faults) {
    const file = join(tree, 'src/sandbox', name);
    const before = readFileSync(file, 'utf8');
    expect([name, before.split(text).length]).toEqual([name, 2]);
    writeFileSync(file, before.replace(text, fault));
  }
  return tree;
}

test('the script of the page is sound', () => {
  expect(faultsIn(root)).toEqual([]);
});

test('a planted fault is found, on either side of the wire', () => {
  const tree = planted([
    ['page/script/page.js', 'state.clock.now)', 'state.clock.naw)'],
    ['page/script/tools/clock.js', "post('jump', { to })", "post('jump', { at: to })"],
    ['page/script/chat/composer.js', "if (chat === null) throw new Error('No chat is open.');", ''],
    ['page/script/live.js', 'setTimeout(connect, 3000)', 'setTimeout(connekt, 3000)'],
    ['control/shapes.ts', 'readonly has_older: boolean;', 'readonly has_more: boolean;'],
  ]);
  expect(faultsIn(tree).toSorted()).toEqual([
    expect.stringMatching(/^chat\/composer\.js.*null/),
    expect.stringMatching(/^live\.js.*connekt/),
    expect.stringMatching(/^page\.js.*has_older/),
    expect.stringMatching(/^page\.js.*naw/),
    expect.stringMatching(/^tools\/clock\.js.*\bat\b/),
  ]);
});
