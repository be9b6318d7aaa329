import { roomOf } from './layers.ts';
import type { SourceFile } from './source.ts';

/** Names that say nothing about what is inside, and barrels, which hide where a thing lives. */
const emptyNames = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'shared', 'lib', 'types', 'index']);
const part = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** File names are kebab-case nouns; a dot names the variant (`tables.sqlite.ts`) or the kind of test. */
export function nameFaults(files: readonly SourceFile[]): readonly string[] {
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
