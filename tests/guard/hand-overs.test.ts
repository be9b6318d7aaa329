import { describe, expect, it } from 'vitest';
import { brokenHandOvers } from './hand-overs.ts';
import { readTree } from './source.ts';

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
