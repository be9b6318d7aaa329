import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { onTestFinished } from 'vitest';
import { hostPorts } from '../../src/compose/host-ports.ts';
import { HostFault } from '../../src/host/fault.ts';
import type { Asking, HostPorts, System } from '../../src/host/ports.ts';
import { addHostVerbs } from '../../src/host/program.ts';
import { openStore, type Opened } from '../../src/store/engine/open.ts';
import { aTask, buildersOf } from '../support/builders.ts';
import { countingIds } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';

export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
  /** What was thrown; null when the verb has told its result. */
  readonly fault: HostFault | null;
}

export interface HostPlace {
  readonly folder: string;
  readonly database: string;
  readonly ports: HostPorts;
  /** Types a line, word by word. */
  readonly type: (...words: readonly string[]) => Promise<Ended>;
  /** The same with `--json`, read. */
  readonly json: <T>(...words: readonly string[]) => Promise<T>;
}

export interface PlaceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly asking?: Asking;
  readonly ports?: Partial<Omit<HostPorts, 'system'>>;
  readonly system?: Partial<System>;
  /** What comes in. */
  readonly input?: string;
  readonly columns?: number;
}

/** A working folder of its own, and the verbs of the host in it. */
export function hostPlace(options: PlaceOptions = {}): HostPlace {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-host-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return placeIn(folder, options);
}

export function placeIn(folder: string, options: PlaceOptions = {}): HostPlace {
  const database = join(folder, 'data', 'cronogram.db');
  const environment = { DATABASE_URL: `file:${database}`, ...options.environment };
  const asking = options.asking ?? nobody;
  const real = hostPorts({ version: '1.2.3', environment, folder, asking });
  const ports: HostPorts = { ...real, ...options.ports, system: { ...real.system, ...options.system } };
  const type = async (...words: readonly string[]): Promise<Ended> => {
    let [out, err, exitCode] = ['', '', 0];
    let fault: HostFault | null = null;
    const program = new Command('cronogram').exitOverride().option('--json').option('--token <token>');
    addHostVerbs(program, {
      screen: {
        out: (text) => void (out += text),
        err: (text) => void (err += text),
        canAsk: options.asking !== undefined,
        hasColours: false,
        columns: options.columns ?? 80,
        read: async () => options.input ?? '',
      },
      load: async () => ports,
      start: async () => 0,
      end: (code) => void (exitCode = code),
    });
    try {
      await program.parseAsync([...words], { from: 'user' });
    } catch (error) {
      if (!(error instanceof HostFault)) throw error;
      fault = error;
      exitCode = error.exitCode;
    }
    return { out, err, exitCode, fault };
  };
  return {
    folder,
    database,
    ports,
    type,
    json: async <T>(...words: readonly string[]) => {
      const { out, fault } = await type(...words, '--json');
      if (fault !== null) throw fault;
      return JSON.parse(out) as T;
    },
  };
}

/** Whoever asks where nobody is has a fault. */
const nobody: Asking = new Proxy({} as Asking, {
  get: (_target, name) => () => {
    throw new Error(`nobody is there for ${String(name)}`);
  },
});

export const openings = {
  holder: { pid: process.pid, host: 'here', since: 0 },
  onLost: () => {},
  onPoolError: () => {},
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
