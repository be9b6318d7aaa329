import { describe, expect, it } from 'vitest';
import { bannedCalls } from './banned-calls.ts';
import { readTree } from './source.ts';

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
