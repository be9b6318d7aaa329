import { expect, it } from 'vitest';
import { nameFaults } from './names.ts';
import { readTree } from './source.ts';

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
