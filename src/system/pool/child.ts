import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraries, type Opinion, type SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import { poolHeapMb } from '../../domain/limits.ts';

/** Everything that children evaluate, by kind: what is asked, and what is answered. Both travel as JSON. */
export interface Kinds {
  readonly slots: { readonly ask: SlotQuestion; readonly answer: Opinion };
  readonly template: { readonly ask: TemplateAsk; readonly answer: TemplateAnswer };
  readonly selection: { readonly ask: SelectionAsk; readonly answer: SelectionAnswer };
  readonly difference: { readonly ask: DifferenceAsk; readonly answer: DifferenceAnswer };
}

export type Kind = keyof Kinds;

export interface TemplateAsk {
  readonly text: string;
  /** The zone of the server, in which Liquid shows times. */
  readonly zone: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables are examples: what a task keeps in its context may be another thing by the time of a run. */
  readonly isTrial?: true;
}

export type TemplateAnswer = { readonly text: string } | { readonly fault: string; readonly line?: number };

/** A JSONata expression, and what it chooses from, as JSON; without that it is only read. */
export interface SelectionAsk {
  readonly expression: string;
  readonly input?: string;
}

export type SelectionAnswer = { readonly value?: unknown } | { readonly fault: string; readonly position?: number };

export interface DifferenceAsk {
  readonly before: string;
  readonly after: string;
}

export interface DifferenceAnswer {
  readonly text: string | null;
}

/** Without an `ask` the kind is only loaded. */
export interface ToChild<K extends Kind = Kind> {
  readonly kind: K;
  readonly ask?: Kinds[K]['ask'];
}

/** One for each message, in their order. `cpuMs` is the time of the processor that the answer took. */
export interface FromChild {
  readonly answer?: unknown;
  readonly cpuMs: number;
}

export type Reply =
  | ({ readonly is: 'answer' } & FromChild)
  /** `isOwnFault` unless somebody else ended it: the kernel, a stop of the whole service, a person. */
  | { readonly is: 'gone'; readonly how: string; readonly isOwnFault: boolean };

/** A process that evaluates, as long as it lives. */
export interface Child {
  /** Takes one message at a time. */
  tell(message: ToChild): Promise<Reply>;
  readonly isGone: () => boolean;
  end(): void;
}

/** Stands beside this file, in the sources, where Node takes the types away by itself, and in what is built from them. */
const entry = fileURLToPath(import.meta.url).replace(/child(\.[jt]s)$/, 'program$1');

/** The folders that the program may read: our code, and its libraries as they are looked up and as they really are. */
function readRights(): readonly string[] {
  const require = createRequire(import.meta.url);
  const folders = [...Object.values(libraries), 'liquidjs', 'jsonata', 'diff'].flatMap((name) => {
    const places = (require.resolve.paths(name) ?? []).filter((folder) => existsSync(join(folder, name)));
    // A link on the way must be readable as well, and then it stands for what is in it.
    const lookedUp = places.map((folder) => (lstatSync(folder).isSymbolicLink() ? folder : join(folder, name)));
    return [...lookedUp, dirname(require.resolve(`${name}/package.json`))];
  });
  return [join(dirname(entry), '../..'), ...new Set(folders)].map((folder) => folder + sep);
}

/**
 * Starts it with a small heap, without an environment, and without the right to write, to start anything or to read more
 * than its code. It keeps no process alive.
 */
export function startChild(): Child {
  const child = fork(entry, [], {
    execArgv: [
      `--max-old-space-size=${poolHeapMb}`,
      '--permission',
      ...readRights().map((folder) => `--allow-fs-read=${folder}`),
    ],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return childOf(child);
}

/** Signals that come from outside; those of a program that ran out of memory or broke are others. */
const foreignSignals: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);

function childOf(child: ChildProcess): Child {
  let end: Extract<Reply, { is: 'gone' }> | null = null;
  let answer: (reply: Reply) => void = () => undefined;
  const gone = (how: string, isOwnFault = false) => {
    end ??= { is: 'gone', how, isOwnFault };
    answer(end);
  };
  child.once('exit', (code, signal) =>
    gone(`it ended with ${signal ?? code}`, code !== 0 && !foreignSignals.has(signal)),
  );
  child.on('error', (error) => gone(error.message));
  child.on('message', (message: FromChild) => answer({ is: 'answer', ...message }));
  return {
    tell: (message) =>
      new Promise((resolve) => {
        answer = resolve;
        if (end !== null) resolve(end);
        else child.send(message, (error) => (error === null ? undefined : gone(error.message)));
      }),
    isGone: () => end !== null,
    end: () => {
      gone('it was ended');
      child.kill('SIGKILL');
    },
  };
}
