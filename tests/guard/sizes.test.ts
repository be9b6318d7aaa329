import { expect, it } from 'vitest';
import { limits, sizeFaults } from './sizes.ts';
import { readAll } from './source.ts';

it('keeps the source within its sizes', () => {
  const files = readAll('src');
  expect(sizeFaults(files)).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(350);
});

const many = (count: number, folder: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => ({ path: `src/${folder(index)}/f${index}.ts`, text: '\n' }));

it.each([
  ['too many files', many(limits.files + 1, (index) => `d${Math.floor(index / 10)}`), '481 files'],
  ['a crowded folder', many(limits.siblings + 1, () => 'app'), 'src/app: 19 files side by side'],
  ['a long file', [{ path: 'src/app/x.ts', text: '\n'.repeat(limits.lines + 1) }], 'src/app/x.ts: 391 lines'],
])('bites on %s', (_name, files, fault) => {
  expect(sizeFaults(files).join()).toContain(fault);
});
