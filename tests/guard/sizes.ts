import { posix } from 'node:path';
import { roomOf } from './layers.ts';
import { importsOf, type SourceFile } from './source.ts';

export const limits = { files: 467, siblings: 18, lines: 390, linesAlone: 40 } as const;

/** As much as a person finds their way through: few files, few beside each other, each on a few screens, none a crumb. */
export function sizeFaults(files: readonly SourceFile[]): readonly string[] {
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
