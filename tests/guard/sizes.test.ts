import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { roomOf } from './layers.ts';
import { type SourceFile, importsOf, readAll } from './source.ts';

const limits = { files: 660, siblings: 18, lines: 390, linesAlone: 40 } as const;

/** As much as a person finds their way through: few files, few beside each other, each on a few screens, none a crumb. */
function sizeFaults(files: readonly SourceFile[]): readonly string[] {
  const folders = new Map<string, number>();
  for (const { path } of files) folders.set(posix.dirname(path), (folders.get(posix.dirname(path)) ?? 0) + 1);
  const crowded = [...folders].filter(([, count]) => count > limits.siblings);
  const sizes = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  const imports = files.flatMap(importsOf);
  return [
    ...(files.length > limits.files ? [`${files.length} files, and ${limits.files} are allowed`] : []),
    ...crowded.map(([folder, count]) => `${folder}: ${count} files side by side`),
    ...sizes.filter(({ lines }) => lines > limits.lines).map(({ path, lines }) => `${path}: ${lines} lines`),
    ...sizes
      .filter(({ lines }) => lines < limits.linesAlone)
      .flatMap(({ path, lines }) => {
        const [user, ...others] = new Set(imports.filter(({ target }) => target === path).map(({ file }) => file));
        // Another room is a reason for a small file, and an entry or a program has no user.
        const isAlone = user !== undefined && others.length === 0 && roomOf(user) === roomOf(path);
        return isAlone ? [`${path}: ${lines} lines, for ${user} alone`] : [];
      }),
  ];
}

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
