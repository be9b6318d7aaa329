import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { openHere, type Here, type System } from '../../src/host/here.ts';
import type { Asking } from '../../src/host/init/asking.ts';
import { hostVerbs } from '../../src/host/verbs.ts';
import { openStore, type Opened } from '../../src/store/engine/open.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { aTask, buildersOf } from '../support/builders.ts';
import { countingIds } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';
import { aFolder } from '../support/place.ts';

export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
  /** The text beside the result, on one line; null when all went well. */
  readonly fault: { readonly exitCode: number; readonly message: string } | null;
}

export interface HostPlace {
  readonly folder: string;
  readonly database: string;
  readonly here: Here;
  /** Types a line, word by word. */
  readonly type: (...words: readonly string[]) => Promise<Ended>;
  /** Types a line with `--json`, and reads what comes. */
  readonly json: <T>(...words: readonly string[]) => Promise<T>;
}

export interface PlaceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly asking?: Asking;
  /** Lines that a person types, one for each question. */
  readonly answers?: readonly string[];
  readonly timer?: Here['timer'];
  readonly system?: Partial<System>;
  /** The input. */
  readonly input?: string;
  readonly columns?: number;
  /** A person watches. */
  readonly showsProgress?: boolean;
}

/** A working folder of its own, and the verbs of the host in it. */
export function hostPlace(options: PlaceOptions = {}): HostPlace {
  return placeIn(aFolder(), options);
}

export function placeIn(folder: string, options: PlaceOptions = {}): HostPlace {
  const database = join(folder, 'data', 'cronogram.db');
  const environment = { DATABASE_URL: `file:${database}`, ...options.environment };
  const real = openHere({ version: '1.2.3', environment, folder });
  const { asking = nobody, timer = real.timer, answers } = options;
  const here: Here = { ...real, asking, timer, system: { ...real.system, ...options.system } };
  const left = [...(answers ?? [])];
  const type = async (...words: readonly string[]): Promise<Ended> => {
    let [out, err] = ['', ''];
    const terminal = {
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
      showsProgress: options.showsProgress === true,
      canAsk: options.asking !== undefined || answers !== undefined,
      hasColours: false,
      columns: options.columns ?? 80,
      read: async () => options.input ?? '',
      ask: async () => left.shift() ?? '',
      askHidden: async () => left.shift() ?? '',
    };
    const unused = () => Promise.reject(new Error('no verb of this computer asks a server'));
    const interrupted = new AbortController().signal;
    const times = { clock: systemClock, stopwatch: systemStopwatch, timer: systemTimer };
    const host = { ...times, terminal, interrupted, version: '1.2.3', surroundings: unused, offline: unused };
    const local = hostVerbs({ here: async () => here, start: async () => 0 });
    const program = createProgram(host, { remote: () => [], local });
    const exitCode = await program.run(words);
    const message = (words.includes('--json') ? out : err).replaceAll(/\s+/g, ' ');
    return { out, err, exitCode, fault: exitCode === 0 ? null : { exitCode, message } };
  };
  return {
    folder,
    database,
    here,
    type,
    json: async <T>(...words: readonly string[]) => {
      const { out } = await type(...words, '--json');
      return JSON.parse(out) as T;
    },
  };
}

/** A question where no person is there is a fault. */
const nobody: Asking = new Proxy({} as Asking, {
  get: (_target, name) => () => {
    throw new Error(`nobody is there for ${String(name)}`);
  },
});

export function expectRefused({ fault }: Ended, exitCode: number, words: string): void {
  expect(fault).toMatchObject({ exitCode, message: expect.stringContaining(words) as string });
}

export const openings = {
  holder: { pid: process.pid, host: 'here', since: 0 },
  onLost: () => {},
  timer: systemTimer,
};

/** A database with some tasks in it, as a server leaves it, or holds it. */
export async function openedAt(database: string, tasks: number): Promise<Opened> {
  mkdirSync(join(database, '..'), { recursive: true, mode: 0o700 });
  if (!existsSync(database)) await freshSqliteFile(database);
  const opened = await openStore({ url: `file:${database}`, ...openings });
  const make = buildersOf(countingIds('host'));
  for (let number = 0; number < tasks; number += 1) await aTask({ store: opened.store, make });
  return opened;
}

export async function databaseAt(database: string, tasks: number): Promise<void> {
  const opened = await openedAt(database, tasks);
  await opened.close();
}
