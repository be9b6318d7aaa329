import { describe, expect, it } from 'vitest';
import { chain, graphOf } from './layers.ts';
import { type SourceFile, codeOf, importsOf, lineAt, readTree } from './source.ts';

/** Methods of the store that write what a task is. Only the use cases around tasks may call them. */
const definitionWriters = ['createTask', 'changeTask'];
const definitionRooms = /^src\/(?:app\/tasks\/|store\/)/;

const scheduler = /^src\/app\/pipeline\/scheduler(?:\.ts$|[-/])/;
/** All but what there is to know of an action without doing it. */
const executors = /^src\/app\/actions\/(?!(?:kinds|forms|(?:\w+\/)?form)\.ts$)/;
const executorUsers = /^src\/(?:app\/(?:pipeline\/runner(?:\.ts$|[-/])|actions\/)|compose\/)/;
const telegram = /^src\/telegram\//;

/**
 * A hand-over between the steps of an occurrence is a row, never a call: definitions are written in one place, the
 * scheduler neither executes nor talks to a chat, and only the runner executes.
 */
function brokenHandOvers(files: readonly SourceFile[]): readonly string[] {
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

// A guard that reads nothing finds nothing. Raise it to about three quarters of the truth as the tree grows.
const filesMin = 350;

it('finds the hand-overs of the real tree unbroken', () => {
  const files = readTree('src');
  expect(brokenHandOvers(files)).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(filesMin);
});

const sound = [
  { path: 'src/app/ports/tasks.ts', text: 'export interface TaskStore { createTask(t: Task): Promise<void>; }' },
  { path: 'src/app/tasks/tasks.ts', text: 'await store.createTask(t); await store.changeTask(t);' },
  { path: 'src/app/tasks/edit.ts', text: 'await store.changeTask(t);' },
  { path: 'src/app/pipeline/scheduler.ts', text: "import type { S } from '../ports/tasks.ts';" },
  { path: 'src/app/actions/http.ts', text: "import type { S } from '../ports/tasks.ts';" },
  { path: 'src/app/pipeline/runner.ts', text: "import type { A } from '../actions/http.ts';" },
  { path: 'src/telegram/bot.ts', text: "import { Bot } from 'grammy';" },
  { path: 'src/compose/assembly.ts', text: "import { http } from '../app/actions/http.ts';" },
];

describe('a tree in memory', () => {
  it('is sound without a planted fault', () => {
    expect(brokenHandOvers(sound)).toEqual([]);
  });

  it.each([
    ['the scheduler changes a task', 'src/app/pipeline/scheduler.ts', 'await store.changeTask(t);', '.changeTask'],
    ['an outer room creates a task', 'src/http/routes.ts', 'store\n  .createTask(t)', '.createTask'],
    ['a task is created by reference', 'src/compose/assembly.ts', 'const create = store.createTask;', '.createTask'],
    [
      'the scheduler imports an executor',
      'src/app/pipeline/scheduler.ts',
      "import '../actions/http.ts';",
      'actions/http.ts: the scheduler',
    ],
    [
      'the scheduler reaches an executor',
      'src/app/pipeline/scheduler.ts',
      "import './runner.ts';",
      'runner.ts -> src/app/actions',
    ],
    ['a part of the scheduler uses grammY', 'src/app/pipeline/scheduler-tick.ts', "import 'grammy';", '-> grammy'],
    [
      'the scheduler reaches the bot',
      'src/app/pipeline/scheduler.ts',
      "import '../../telegram/bot.ts';",
      'telegram/bot.ts: the',
    ],
    ['an outer room imports an executor', 'src/http/x.ts', "import '../app/actions/http.ts';", 'only the runner'],
    ['an outer room imports the registry', 'src/cli/x.ts', "import '../app/actions/registry.ts';", 'only the runner'],
    [
      'tasks imports an executor',
      'src/app/tasks/x.ts',
      "import type { H } from '../actions/http.ts';",
      'only the runner',
    ],
  ])('bites when %s', (_name, path, text, fault) => {
    const faults = brokenHandOvers([...sound.filter((file) => file.path !== path), { path, text }]);
    expect(faults.join('\n')).toContain(fault);
  });
});
