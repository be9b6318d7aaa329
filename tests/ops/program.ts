import { execFileSync, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { patienceMs } from '../support/patience.ts';
import type { AtEnd } from '../support/place.ts';
import { compiledOnce, sourceFlags } from '../support/sources.ts';

/** A server as a process of its own, from the sources. */
export interface Program {
  readonly pid: number;
  /** Everything that it has written. */
  readonly written: () => string;
  /** The lines of its log. */
  readonly lines: () => readonly Readonly<Record<string, unknown>>[];
  /** Where it listens; rejects when it ends before that. */
  url(): Promise<string>;
  /** Resolves when a line of that event is in the log. */
  logs(event: string): Promise<Readonly<Record<string, unknown>>>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** `folder` is where it works, so that no `.env` of this checkout is read. `within` is a command that starts it in its own way. */
export function startProgram(
  folder: string,
  env: Readonly<Record<string, string>>,
  atEnd: AtEnd,
  within: readonly string[] = [],
): Program {
  const [command, ...args] = [...within, process.execPath, ...sourceFlags, main];
  const child = spawn(command, args, {
    cwd: folder,
    env: { HTTP_PORT: '0', ...compiledOnce, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watchers = new Set<() => void>();
  /** What a stream has brought. Each is kept by itself: a piece may end within a line, and one of the other come next. */
  const kept = (stream: Readable) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      for (const watch of watchers) watch();
    });
    return () => text;
  };
  const [out, err] = [kept(child.stdout), kept(child.stderr)];
  const written = () => out() + err();
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => resolve(code));
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = () => out().split('\n').flatMap(parsed);
  const logs = (event: string) =>
    new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      const look = () => {
        const found = lines().find((line) => line['event'] === event);
        if (found === undefined) return;
        watchers.delete(look);
        clearTimeout(late);
        resolve(found);
      };
      const late = setTimeout(() => reject(new Error(`There is no line "${event}" in:\n${written()}`)), patienceMs);
      watchers.add(look);
      void ended.then(() => {
        look();
        reject(new Error(`It ended without a line "${event}":\n${written()}`));
      });
      look();
    });
  return {
    pid: child.pid ?? 0,
    written,
    lines,
    logs,
    url: async () => new URL(String((await logs('started'))['api'])).origin,
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

function parsed(line: string): Readonly<Record<string, unknown>>[] {
  try {
    return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
  } catch {
    return [];
  }
}

/** The ids of the children of a server's pool. */
export function childrenOf(pid: number): readonly number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .filter(([, , parent, args]) => Number(parent) === pid && args?.includes('pool/program') === true)
    .map(([, child]) => Number(child));
}
