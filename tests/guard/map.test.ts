import { expect, it } from 'vitest';
import { mapFaults, placesIn, unnamedFolders } from './map.ts';
import { readAll, readText, readTree } from './source.ts';

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('finds every place that %s names', (name) => {
  const page = readText(name);
  expect(mapFaults(page, readAll('src', 'tests', 'drizzle', 'fixtures', 'docs'))).toEqual([]);
  expect(placesIn(page).length).toBeGreaterThan(1);
});

it('finds every folder of the source on the map', () => {
  expect(unnamedFolders(readText('ARCHITECTURE.md'), readTree('src'))).toEqual([]);
});

it('bites when a page is behind the tree', () => {
  const files = [{ path: 'src/app/x.ts', text: 'export function made() {}\n' }];
  const page = '`made` and `lost` in `src/app/x.ts`, `gone` in `src/app/x.ts`, `src/app/y.ts`, `src/app`, `src/web/`';
  expect(mapFaults(page, files)).toEqual([
    'src/app/y.ts: there is no such place',
    'src/web/: there is no such place',
    'src/app/x.ts: it declares no lost',
    'src/app/x.ts: it declares no gone',
  ]);
  expect(unnamedFolders('nothing', files)).toEqual(['app']);
});
