import { expect, it } from 'vitest';
import { roomOf } from './layers.ts';
import { type SourceFile, readTree } from './source.ts';

/** Names that say nothing about what is inside, and barrels, which hide where a thing lives. */
const emptyNames = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'shared', 'lib', 'types', 'index']);
const part = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** File names are kebab-case nouns; a dot names the variant (`tables.sqlite.ts`) or the kind of test. */
function nameFaults(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path }) => {
    const parts = path.replace(/\.ts$/, '').split(/[/.]/);
    const empty = parts.filter((each) => emptyNames.has(each)).map((each) => `${path}: "${each}" says nothing`);
    const odd = parts.filter((each) => !part.test(each)).map((each) => `${path}: "${each}" is not kebab-case`);
    return [...empty, ...odd, ...repeatedFolder(path)];
  });
}

/** `store/store-codec.ts` repeats what its folder says. A file named exactly like its folder is its front door. */
function repeatedFolder(path: string): readonly string[] {
  const [file = '', folder = ''] = path.split('/').toReversed();
  if (roomOf(path) === null || !file.startsWith(`${folder}-`)) return [];
  return [`${path}: the name repeats the folder`];
}

// A guard that reads nothing finds nothing. Raise it to about three quarters of the truth as the tree grows.
const filesMin = 550;

it('finds a telling name on every file of the real tree', () => {
  const files = readTree('src', 'tests');
  expect(nameFaults(files)).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(filesMin);
});

it('accepts kebab-case nouns and variants', () => {
  const paths = ['src/main.ts', 'src/store/store.ts', 'src/store/tables/sqlite.ts'];
  expect(nameFaults(paths.map((path) => ({ path, text: '' })))).toEqual([]);
});

it.each([
  ['src/domain/utils.ts', 'says nothing'],
  ['src/app/helpers/time.ts', 'says nothing'],
  ['src/http/index.ts', 'says nothing'],
  ['src/domain/taskState.ts', 'is not kebab-case'],
  ['src/domain/task_state.ts', 'is not kebab-case'],
  ['src/http/http-routes.ts', 'repeats the folder'],
])('bites on %s', (path, fault) => {
  expect(nameFaults([{ path, text: '' }]).join()).toContain(fault);
});
