import { describe, expect, it } from 'vitest';
import { brokenHandOvers } from './hand-overs.ts';
import { readTree } from './source.ts';

// A guard that reads nothing finds nothing. Raise it to about three quarters of the truth as the tree grows.
const filesMin = 90;

it('finds the hand-overs of the real tree unbroken', () => {
  const files = readTree('src');
  expect(brokenHandOvers(files)).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(filesMin);
});

const sound = [
  { path: 'src/app/ports.ts', text: 'export interface TaskStore { createTask(t: Task): Promise<void>; }' },
  { path: 'src/app/tasks.ts', text: 'await store.createTask(t); await store.changeTask(t);' },
  { path: 'src/app/tasks/edit.ts', text: 'await store.changeTask(t);' },
  { path: 'src/app/scheduler.ts', text: "import type { S } from './ports.ts';" },
  { path: 'src/app/actions/http.ts', text: "import type { S } from '../ports.ts';" },
  { path: 'src/app/runner.ts', text: "import type { A } from './actions/http.ts';" },
  { path: 'src/adapters/telegram/bot.ts', text: "import { Bot } from 'grammy';" },
  { path: 'src/compose.ts', text: "import { http } from './app/actions/http.ts';" },
];

describe('a tree in memory', () => {
  it('is sound without a planted fault', () => {
    expect(brokenHandOvers(sound)).toEqual([]);
  });

  it.each([
    ['the scheduler changes a task', 'src/app/scheduler.ts', 'await store.changeTask(t);', '.changeTask'],
    ['an adapter creates a task', 'src/adapters/http/routes.ts', 'store\n  .createTask(t)', '.createTask'],
    ['a task is created by reference', 'src/compose.ts', 'const create = store.createTask;', '.createTask'],
    [
      'the scheduler imports an executor',
      'src/app/scheduler.ts',
      "import './actions/http.ts';",
      'actions/http.ts: the scheduler',
    ],
    [
      'the scheduler reaches an executor',
      'src/app/scheduler.ts',
      "import './runner.ts';",
      'runner.ts -> src/app/actions',
    ],
    ['a part of the scheduler uses grammY', 'src/app/scheduler/tick.ts', "import 'grammy';", '-> grammy'],
    [
      'the scheduler reaches the bot',
      'src/app/scheduler.ts',
      "import '../adapters/telegram/bot.ts';",
      'telegram/bot.ts: the',
    ],
    [
      'an adapter imports an executor',
      'src/adapters/http/x.ts',
      "import '../../app/actions/http.ts';",
      'only the runner',
    ],
    ['tasks imports an executor', 'src/app/tasks.ts', "import type { H } from './actions/http.ts';", 'only the runner'],
  ])('bites when %s', (_name, path, text, fault) => {
    const faults = brokenHandOvers([...sound.filter((file) => file.path !== path), { path, text }]);
    expect(faults.join('\n')).toContain(fault);
  });
});
