import { posix } from 'node:path';
import type { SourceFile } from './source.ts';

export const limits = { files: 480, siblings: 18, lines: 390 } as const;

/** As much as a person finds their way through: few files, few beside each other, each on a few screens. */
export function sizeFaults(files: readonly SourceFile[]): readonly string[] {
  const folders = new Map<string, number>();
  for (const { path } of files) folders.set(posix.dirname(path), (folders.get(posix.dirname(path)) ?? 0) + 1);
  const crowded = [...folders].filter(([, count]) => count > limits.siblings);
  const long = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
  return [
    ...(files.length > limits.files ? [`${files.length} files, and ${limits.files} are allowed`] : []),
    ...crowded.map(([folder, count]) => `${folder}: ${count} files side by side`),
    ...long.filter(({ lines }) => lines > limits.lines).map(({ path, lines }) => `${path}: ${lines} lines`),
  ];
}
