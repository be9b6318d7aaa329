import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Figure } from './report.ts';

/** Figures that a process of `api-server.ts` measures by itself, where its memory is a part of them. */
export async function measuredBy(kind: string): Promise<readonly Figure[]> {
  const file = fileURLToPath(new URL('./api-server.js', import.meta.url));
  // The flag is the one of `npm start`.
  const execArgv = ['--max-semi-space-size=8'];
  const child = fork(file, [kind], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [figures] = (await once(child, 'message')) as [readonly Figure[]];
  await end(child);
  return figures;
}

/** A process of `api-server.ts` and the port on which it listens. */
export interface Child {
  readonly child: ChildProcess;
  readonly port: number;
}

/** What it logs goes to the file, as it would in earnest. */
export async function start(given: readonly string[], log: string | null): Promise<Child> {
  const file = fileURLToPath(new URL('./api-server.js', import.meta.url));
  const out = log === null ? 'ignore' : openSync(log, 'w');
  const child = fork(file, given, { stdio: ['ignore', out, 'inherit', 'ipc'] });
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

export async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.disconnect();
  await gone;
}
