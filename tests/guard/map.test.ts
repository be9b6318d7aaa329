import { expect, it } from 'vitest';
import { type SourceFile, readAll, readText, readTree } from './source.ts';

/** Places that a page names between backticks: files and folders of the repository. A pattern, such as `<story>`, names no place. */
function placesIn(page: string): readonly string[] {
  const named = [...page.matchAll(/`((?:src|tests|drizzle|fixtures|docs)\/[^`\s]*)`/g)].map(([, place = '']) => place);
  return [...new Set(named)].filter((place) => !/[<>*]/.test(place));
}

/** What a page gets wrong about the tree: places that are not there, and names that no file at their place declares. */
function mapFaults(page: string, files: readonly SourceFile[]): readonly string[] {
  const all = files.map(({ path }) => path);
  const missing = placesIn(page).filter((place) => {
    const folder = `${place.replace(/\/$/, '')}/`;
    return !all.includes(place) && !all.some((path) => path.startsWith(folder));
  });
  const named = [...page.matchAll(/`(\w+)`(?: and `(\w+)`)? in `(src\/[^`]+)`/g)].flatMap(
    ([, first = '', second, place = '']) =>
      [first, second].flatMap((name) => (name === undefined ? [] : [{ name, place }])),
  );
  const undeclared = named.filter(({ name, place }) => {
    const text = files.find(({ path }) => path === place)?.text ?? '';
    return !new RegExp(`(?:function\\*?|const|class|interface|type) ${name}\\b|^  ${name}: `, 'm').test(text);
  });
  return [
    ...missing.map((place) => `${place}: there is no such place`),
    ...undeclared.map(({ name, place }) => `${place}: it declares no ${name}`),
  ];
}

/** Folders of the source that a page does not name, down to the second level. */
function unnamedFolders(page: string, files: readonly SourceFile[]): readonly string[] {
  const folders = files.flatMap(({ path }) => {
    const parts = path.split('/').slice(1, -1);
    return [parts[0], parts[1]].filter((part) => part !== undefined);
  });
  return [...new Set(folders)].filter((folder) => !page.includes(`${folder}/`));
}

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
