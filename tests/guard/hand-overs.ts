import { chain, graphOf } from './layers.ts';
import { codeOf, importsOf, lineAt } from './source.ts';
import type { SourceFile } from './source.ts';

/** Methods of the store that write what a task is. Only the use cases around tasks may call them. */
const definitionWriters = ['createTask', 'changeTask'];
const definitionRooms = /^src\/(?:app\/tasks\/|store\/)/;

const scheduler = /^src\/app\/pipeline\/scheduler(?:\.ts$|[-/])/;
const executors = /^src\/app\/actions\//;
const executorUsers = /^src\/(?:app\/(?:pipeline\/runner(?:\.ts$|[-/])|actions\/)|compose\/)/;
const telegram = /^src\/telegram\//;

/**
 * A hand-over between the steps of an occurrence is a row, never a call: definitions are written in one place, the
 * scheduler neither executes nor talks to a chat, and only the runner executes.
 */
export function brokenHandOvers(files: readonly SourceFile[]): readonly string[] {
  return [...files.flatMap(strayWrites), ...schedulerReaches(files), ...strayExecutors(files)];
}

function strayWrites(file: SourceFile): readonly string[] {
  if (definitionRooms.test(file.path)) return [];
  const call = new RegExp(`\\.\\s*(?:${definitionWriters.join('|')})\\b`, 'g');
  return [...codeOf(file.text).matchAll(call)].map(
    (match) => `${file.path}:${lineAt(file.text, match.index)}: ${match[0]} is called outside src/app/tasks`,
  );
}

function schedulerReaches(files: readonly SourceFile[]): readonly string[] {
  const imports = files.flatMap(importsOf);
  const graph = graphOf(imports);
  const usesGrammy = new Set(imports.filter((each) => /^@?grammy/.test(each.specifier)).map((each) => each.file));
  const forbidden = (path: string) => executors.test(path) || telegram.test(path) || usesGrammy.has(path);
  return files
    .map((file) => file.path)
    .filter((path) => scheduler.test(path))
    .flatMap((path) => {
      const found = usesGrammy.has(path) ? [path, 'grammy'] : chain(graph, path, forbidden);
      return found === null ? [] : [`${found.join(' -> ')}: the scheduler reaches an executor or a chat`];
    });
}

function strayExecutors(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter((file) => !executorUsers.test(file.path))
    .flatMap(importsOf)
    .filter((each) => each.target !== null && executors.test(each.target))
    .map((each) => `${each.file}:${each.line}: ${each.specifier} is an executor, which only the runner uses`);
}
