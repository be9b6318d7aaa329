import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraries, type Opinion, type SlotQuestion } from '../../app/ports/second-opinion.ts';

/** `ready` comes first, once; then an answer to each question. */
export type FromChild = 'ready' | Opinion;

/** Stands beside this file, in the sources, where Node takes the types away by itself, and in what is built from them. */
const entry = fileURLToPath(import.meta.url).replace(/child(\.[jt]s)$/, 'program$1');

const heapMb = 64;

/** The folders that the program may read: its own, and those of its libraries as they are looked up and as they really are. */
function readRights(): readonly string[] {
  const require = createRequire(import.meta.url);
  const folders = Object.values(libraries).flatMap((name) => {
    const lookedUp = (require.resolve.paths(name) ?? []).map((folder) => join(folder, name));
    return [...lookedUp.filter((folder) => existsSync(folder)), dirname(require.resolve(`${name}/package.json`))];
  });
  return [dirname(entry), ...new Set(folders)].map((folder) => folder + sep);
}

/** The program of the second opinion, as long as it lives. */
export interface Child {
  /** Null when it can be asked, or why it never can. */
  readonly ready: Promise<string | null>;
  /** Takes one question at a time. */
  ask(question: SlotQuestion): Promise<Opinion>;
  readonly isGone: () => boolean;
  end(): void;
}

/** A child without a question for so long ends by itself. */
const idleMaxMs = 30_000;

/**
 * Starts it with a small heap, without an environment, and without the right to write, to start anything or to read more than its code. It keeps no process alive:
 * neither the one that started it nor, for long, itself.
 */
export function startChild(idleMs = idleMaxMs): Child {
  const child = fork(entry, [String(idleMs)], {
    execArgv: [
      `--max-old-space-size=${heapMb}`,
      '--permission',
      ...readRights().map((folder) => `--allow-fs-read=${folder}`),
    ],
    env: { TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return childOf(child);
}

function childOf(child: ChildProcess): Child {
  let isGone = false;
  let answer: (opinion: Opinion) => void = () => undefined;
  let begun: (error: string | null) => void = () => undefined;
  const ready = new Promise<string | null>((resolve) => (begun = resolve));
  const gone = (how: string) => {
    isGone = true;
    begun(how);
    answer({ is: 'none', reason: 'died' });
  };
  child.once('exit', (code, signal) => gone(`it ended with ${signal ?? code}`));
  child.on('error', (error) => gone(error.message));
  child.on('message', (message: FromChild) => {
    if (message === 'ready') begun(null);
    else answer(message);
  });
  return {
    ready,
    ask: (question) =>
      new Promise((resolve) => {
        answer = resolve;
        if (isGone) gone('it has ended');
        else child.send(question, (error) => (error === null ? undefined : gone(error.message)));
      }),
    isGone: () => isGone,
    end: () => void child.kill('SIGKILL'),
  };
}
