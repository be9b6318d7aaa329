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

const crumb = (text: string, path = 'src/app/x.ts') => [
  { path: 'src/app/crumb.ts', text: '\n\n\n' },
  { path, text },
];

it('takes a small file that serves two, another room, or nobody in the source', () => {
  const second = { path: 'src/app/y.ts', text: "import './crumb.ts';" };
  expect(sizeFaults([...crumb("import './crumb.ts';"), second])).toEqual([]);
  expect(sizeFaults(crumb("import '../app/crumb.ts';", 'src/compose/x.ts'))).toEqual([]);
  expect(sizeFaults(crumb(''))).toEqual([]);
});

it.each([
  ['too many files', many(limits.files + 1, (index) => `d${Math.floor(index / 10)}`), `${limits.files + 1} files`],
  ['a crowded folder', many(limits.siblings + 1, () => 'app'), 'src/app: 19 files side by side'],
  ['a long file', [{ path: 'src/app/x.ts', text: '\n'.repeat(limits.lines + 1) }], 'src/app/x.ts: 391 lines'],
  ['a crumb', crumb("import './crumb.ts';"), 'src/app/crumb.ts: 3 lines, for src/app/x.ts alone'],
])('bites on %s', (_name, files, fault) => {
  expect(sizeFaults(files).join()).toContain(fault);
});
