import { describe, expect, it } from 'vitest';
import { checkLayers } from './layers.ts';
import { importsOf, readTree } from './source.ts';
import type { SourceFile } from './source.ts';

// A guard that reads nothing finds nothing. Raise both to about three quarters of the truth as the tree grows.
const filesMin = 350;
const edgesMin = 2000;

it('keeps the real tree in its layers', () => {
  const files = readTree('src');
  const { edges, faults } = checkLayers(files);
  expect(faults).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(filesMin);
  expect(edges).toBeGreaterThanOrEqual(edgesMin);
});

it('lets the composition alone know the sandbox', () => {
  const users = readTree('src')
    .filter((file) => !file.path.startsWith('src/sandbox/'))
    .filter((file) => importsOf(file).some(({ target }) => target?.startsWith('src/sandbox/') === true))
    .map(({ path }) => path);
  expect(users).toContain('src/compose/telegram-or-sandbox.ts');
  expect(users.filter((path) => !path.startsWith('src/compose/'))).toEqual([]);
});

const sound: readonly SourceFile[] = [
  { path: 'src/domain/words.ts', text: 'export const word = 1;' },
  { path: 'src/domain/task.ts', text: "import type { Words } from './words.ts';" },
  { path: 'src/app/ports.ts', text: "import type { Task } from '../domain/task.ts';" },
  { path: 'src/app/tasks.ts', text: "import type { Store } from './ports.ts';" },
  { path: 'src/app/actions/http.ts', text: "import type { Store } from '../ports.ts';" },
  {
    path: 'src/store/store.ts',
    text: "import type { Store } from '../app/ports.ts'; import pg from 'pg';",
  },
  { path: 'src/http/server.ts', text: "import { tasks } from '../app/tasks.ts';" },
  { path: 'src/config/config.ts', text: "import { z } from 'zod';" },
  {
    path: 'src/system/second-opinion/program.ts',
    text: "import { Cron } from 'croner'; import 'luxon'; import 'rrule';",
  },
  {
    path: 'src/system/templates/liquid.ts',
    text: "import 'liquidjs';",
  },
  {
    path: 'src/compose/server.ts',
    text: "import '../config/config.ts'; import '../store/store.ts'; import '../http/server.ts';",
  },
  { path: 'src/runtime.ts', text: "import { spawn } from 'node:child_process';" },
  { path: 'src/main.ts', text: "import { onFitNode } from './runtime.ts'; await import('./compose/server.ts');" },
];

describe('a tree in memory', () => {
  it('is sound without a planted fault', () => {
    expect(checkLayers(sound)).toEqual({ edges: 18, faults: [] });
  });

  it.each([
    ['domain imports app', 'src/domain/x.ts', "import '../app/tasks.ts';", 'domain must not import app'],
    [
      'domain imports a type of an outer room',
      'src/domain/x.ts',
      "import type { S } from '../store/store.ts';",
      'must not import store',
    ],
    ['domain imports node', 'src/domain/x.ts', "import { join } from 'node:path';", 'domain imports no package'],
    ['domain imports a library', 'src/domain/x.ts', "import { Cron } from 'croner';", 'domain imports no package'],
    [
      'an outer room calculates with a library',
      'src/http/x.ts',
      "import 'luxon';",
      'only src/system/second-opinion/ imports it',
    ],
    [
      'the server loads the second opinion',
      'src/compose/server.ts',
      "import '../system/second-opinion/program.ts';",
      'main.ts -> src/compose/server.ts -> src/system/second-opinion/program.ts: loads into this process',
    ],
    [
      'a request goes around the rules',
      'src/http/x.ts',
      "import { Agent } from 'undici';",
      'only src/outbound/ imports it',
    ],
    ['a template is rendered here', 'src/http/x.ts', "import 'liquidjs';", 'only src/system/templates/ imports it'],
    [
      'the server loads the library of templates',
      'src/compose/server.ts',
      "import '../system/templates/liquid.ts';",
      'src/system/templates/liquid.ts: loads into this process',
    ],
    ['app imports a package', 'src/app/x.ts', "import { z } from 'zod';", 'app imports no package'],
    ['app imports node', 'src/app/x.ts', "export { join } from 'node:path';", 'app imports no package'],
    [
      'app imports an outer room',
      'src/app/actions/x.ts',
      "await import('../../http/server.ts');",
      'must not import http',
    ],
    ['app imports the configuration', 'src/app/x.ts', "import '../config/config.ts';", 'app must not import config'],
    ['an outer room imports another', 'src/http/x.ts', "import '../store/store.ts';", 'must not import store'],
    ['an outer room imports the configuration', 'src/http/x.ts', "import '../config/config.ts';", 'import config'],
    ['an outer room imports the composition', 'src/http/x.ts', "import '../compose/server.ts';", 'import compose'],
    ['an entry imports an outer room', 'src/main.ts', "import './http/server.ts';", 'main.ts must not import http'],
    ['a file that does not exist', 'src/app/x.ts', "import './gone.ts';", 'no such file'],
    ['a path without its ending', 'src/app/x.ts', "import './ports';", 'no such file'],
    ['a computed target', 'src/http/x.ts', 'await import(`./${name}.ts`);', 'plain string'],
    ['a room behind an alias', 'src/http/x.ts', "import '#store';", 'relative paths'],
    ['a file without a room', 'src/helpers.ts', '', 'belongs to no room'],
    ['a folder that is no room', 'src/clocks/clock.ts', '', 'belongs to no room'],
    ['a file that imports itself', 'src/app/x.ts', "import './x.ts';", 'circle'],
  ])('bites when there is %s', (_name, path, text, fault) => {
    const { faults } = checkLayers([...sound.filter((file) => file.path !== path), { path, text }]);
    expect(faults.join('\n')).toContain(fault);
  });

  const sandbox: readonly SourceFile[] = [
    { path: 'src/sandbox/sandbox.ts', text: "import type { Store } from '../app/ports.ts';" },
    { path: 'src/compose/telegram-or-sandbox.ts', text: "import '../sandbox/sandbox.ts';" },
  ];

  it('is sound when the composition imports the sandbox', () => {
    expect(checkLayers([...sound, ...sandbox]).faults).toEqual([]);
  });

  it.each([
    ...['domain', 'app', 'api', 'store', 'telegram', 'http', 'cli', 'host', 'system', 'outbound'].map(
      (room) => `src/${room}/x.ts`,
    ),
    ...['config/config', 'runtime', 'main', 'cli'].map((entry) => `src/${entry}.ts`),
  ])('bites when %s imports the sandbox', (path) => {
    const [, folder = ''] = /^src\/(\w+)\//.exec(path) ?? [];
    const specifier = folder === '' ? './sandbox/sandbox.ts' : '../sandbox/sandbox.ts';
    const fault = `${path}:1: ${specifier}: ${folder || path.slice('src/'.length)} must not import sandbox`;
    for (const text of [
      `import '${specifier}';`,
      `import type { S } from '${specifier}';`,
      `await import('${specifier}');`,
    ]) {
      const files = [...sound, ...sandbox].filter((file) => file.path !== path);
      expect(checkLayers([...files, { path, text }]).faults).toContain(fault);
    }
  });

  it('bites when types go in a circle over three files', () => {
    const circle = ['a', 'b', 'c'].map((name, index) => ({
      path: `src/app/${name}.ts`,
      text: `import type { T } from './${'bca'.charAt(index)}.ts';`,
    }));
    expect(checkLayers([...sound, ...circle]).faults).toContain(
      'src/app/a.ts -> src/app/b.ts -> src/app/c.ts -> src/app/a.ts: imports in a circle',
    );
  });
});
