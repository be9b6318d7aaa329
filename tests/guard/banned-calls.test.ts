import { describe, expect, it } from 'vitest';
import { type SourceFile, codeOf, lineAt, readTree } from './source.ts';

interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
  /** Files and folders that may: the one place from which everybody else is given it. */
  readonly rooms: readonly string[];
}

const system = 'src/system/';
const entries = ['src/main.ts', 'src/cli.ts', 'src/runtime.ts'];
const processes = ['src/compose/server-process.ts', 'src/compose/cli.ts'];
const commandLine = [...entries, ...processes, 'src/cli/', 'src/host/'];

/** Whatever reads the world behind the back of the ports makes a step that no test can repeat. */
const bans: readonly Ban[] = [
  { what: 'Date.now', pattern: /\bDate\s*\.\s*now\b/g, rooms: [system] },
  { what: 'new Date without an argument', pattern: /\bnew\s+Date\b\s*(?:\(\s*\)|(?![\s(]))/g, rooms: [system] },
  { what: 'Date as a function', pattern: /(?<!\bnew\s+|[.\w$])Date\s*\(/g, rooms: [system] },
  {
    what: 'luxon reading the clock',
    pattern: /\bDateTime\s*\.\s*(?:now\s*\(|(?:local|utc)\s*\(\s*\))/g,
    rooms: [system],
  },
  { what: 'croner reading the clock', pattern: /\.\s*(?:nextRun|previousRun|msToNext)\s*\(\s*\)/g, rooms: [system] },
  { what: 'performance', pattern: /\bperformance\s*\.\s*(?:now|timeOrigin)\b/g, rooms: [system] },
  { what: 'process.hrtime', pattern: /\bprocess\s*\.\s*(?:hrtime|uptime)\b/g, rooms: [system] },
  { what: 'Math.random', pattern: /\bMath\s*\.\s*random\b/g, rooms: [system] },
  {
    what: 'random bytes',
    pattern: /\b(?:randomUUID|randomBytes|randomInt|randomFill|randomFillSync|getRandomValues)\b/g,
    rooms: [system],
  },
  {
    what: 'a timer',
    pattern: /(?:\bglobalThis\s*\.\s*|(?<![.\w$]))(?:setTimeout|setInterval|setImmediate)\b/g,
    rooms: [system],
  },
  { what: 'console', pattern: /(?<![.\w$])console\s*(?:\?\.|\.|\[)/g, rooms: [system] },
  { what: 'process.env', pattern: /\bprocess\s*\.\s*env\b/g, rooms: ['src/config/', 'src/system/pool/program.ts'] },
  { what: 'process taken apart', pattern: /\bprocess\s*(?:\?\.|\[)|=\s*process\b(?!\s*\.)/g, rooms: [] },
  {
    what: 'the life of the process',
    pattern: /\bprocess\s*\.\s*(?:on|once|exit|exitCode|kill|stdin|stdout|stderr)\b/g,
    rooms: [system, ...commandLine],
  },
];

/** Modules that hand out the same things under other names, or (`module`) any module at all. */
const bannedModules =
  /\b(?:from|import)\s*\(?\s*(['"])(?:node:)?(?:module|process|timers|timers\/promises|perf_hooks)\1/g;

function bannedCalls(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => [...bansIn(file), ...modulesIn(file)]);
}

function bansIn(file: SourceFile): readonly string[] {
  const code = codeOf(file.text);
  return bans
    .filter((ban) => !ban.rooms.some((room) => file.path.startsWith(room)))
    .flatMap((ban) => [...code.matchAll(ban.pattern)].map((match) => fault(file, match.index, ban.what)));
}

function modulesIn(file: SourceFile): readonly string[] {
  if (file.path.startsWith(system)) return [];
  const code = codeOf(file.text);
  return [...file.text.matchAll(bannedModules)]
    .filter((match) => /^\w/.test(code.slice(match.index)))
    .map((match) => fault(file, match.index, match[0]));
}

function fault(file: SourceFile, index: number, what: string): string {
  return `${file.path}:${lineAt(file.text, index)}: ${what}`;
}

// A guard that reads nothing finds nothing. Raise it to about three quarters of the truth as the tree grows.
const filesMin = 350;

it('finds no banned call in the real tree', () => {
  const files = readTree('src');
  expect(bannedCalls(files)).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(filesMin);
});

const faultsOf = (text: string, path = 'src/app/x.ts') => bannedCalls([{ path, text }]);

describe('a planted fault', () => {
  it.each([
    ['Date.now()'],
    ['f(Date . now)'],
    ['new Date()'],
    ['new Date( )'],
    ['new Date'],
    ['new Date;'],
    ['Date()'],
    ['DateTime.now()'],
    ['DateTime.utc()'],
    ['new Cron(text).nextRun()'],
    ['performance.now()'],
    ['process.hrtime.bigint()'],
    ['Math.random()'],
    ["import { randomUUID } from 'node:crypto';"],
    ['crypto.getRandomValues(a)'],
    ['setTimeout(f, 1)'],
    ['globalThis.setInterval(f, 1)'],
    ['await new Promise(setImmediate)'],
    ["import { setTimeout as sleep } from 'node:timers/promises';"],
    ["import process from 'node:process';"],
    ["import { createRequire } from 'node:module';"],
    ['process.env.HOME'],
    ["process['env']"],
    ['const { env } = process;'],
    ['console.log(1)'],
    ['process.exit(1)'],
    ['`${Date.now()}`'],
  ])('is found: %s', (text) => {
    expect(faultsOf(`a;\n${text}`).join()).toContain('src/app/x.ts:2: ');
  });

  it.each([
    ['// Date.now()'],
    ['/* console.log */'],
    ["'setTimeout'"],
    ['`process.env`'],
    ['/Math.random/.test(x)'],
    ['new Date(at)'],
    ['new Date(\n  at,\n)'],
    ['value instanceof Date'],
    ['type D = Date;'],
    ['DateTime.utc(2027, 1, 31)'],
    ['cron.nextRun(from)'],
    ['server.setTimeout(0)'],
    ['this.console.page()'],
    ["// import process from 'node:process';"],
    ['process.version'],
  ])('is not seen in: %s', (text) => {
    expect(faultsOf(text)).toEqual([]);
  });

  it('is allowed in its room and nowhere beside it', () => {
    expect(faultsOf('Date.now(); setTimeout(f); console.log(1);', 'src/system/clock.ts')).toEqual([]);
    expect(faultsOf('process.env.A', 'src/config/config.ts')).toEqual([]);
    expect(faultsOf('process.env.A', 'src/system/clock.ts')).toHaveLength(1);
    expect(faultsOf('process.exit(1)', 'src/main.ts')).toEqual([]);
    expect(faultsOf('Date.now()', 'src/main.ts')).toHaveLength(1);
  });
});
