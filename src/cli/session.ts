import type { Clock, Stopwatch, Timer } from '../app/ports/outside.ts';
import { createClient, type Client } from './client.ts';
import { CliFault, exitCodes, interrupted, usage, type ExitCode } from './faults.ts';
import { measureFor, shown, toned, wrapped, type Terminal } from './layout.ts';
import { threadNamed } from './naming.ts';
import { networkWire, type Wire } from './network.ts';
import { durationWords } from './times.ts';

/** The surroundings, already read. */
export interface Surroundings {
  readonly apiUrl: string;
  readonly threadKey: string;
  readonly noColour: boolean;
  /** The token for the address, or null when none was named. Throws when a file that was named cannot be read. */
  token(apiUrl: string): string | null;
  /** Where a token was looked for, for the sentence that says that there is none. */
  readonly tokenFile: string;
}

/** The parts of the process that the program is given. */
export interface Host {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  /** Aborts on Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly version: string;
  readonly surroundings: () => Promise<Surroundings>;
  /** The API without a server: over the database of this folder, which no other process may hold. */
  readonly offline: () => Promise<Wire & { readonly token: string }>;
}

/** The flags that every verb takes. */
export interface Globals {
  readonly json?: true;
  readonly apiUrl?: string;
  readonly token?: string;
  readonly threadKey?: string;
  readonly offline?: true;
}

/** One command being done on this computer. */
export interface LocalSession extends Pick<Host, 'clock' | 'stopwatch' | 'timer' | 'interrupted' | 'version'> {
  /** Asks nothing where results are told as JSON: a program reads them. */
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** One line that is written over again and again, and is gone after an empty one, for a person who watches; nothing for others. */
  progress(text: string): void;
}

/** One command being done, which asks a server. */
export interface Session extends LocalSession {
  readonly client: Client;
  /** The clock of this computer; `clock` is that of the server. */
  readonly ownClock: Clock;
  readonly threadKey: string;
  /** The thread was named on this command line, so that it may narrow what is looked at. */
  readonly namedThread: string | undefined;
  readonly isOffline: boolean;
}

const tokenShape = /^[\u0021-\u007E]{1,512}$/;

export function localSession(host: Host, { json }: Globals): LocalSession {
  const isJson = json === true;
  const terminal = { ...host.terminal, canAsk: host.terminal.canAsk && !isJson };
  return {
    ...host,
    isJson,
    terminal,
    progress: (text) => {
      if (!terminal.showsProgress || isJson) return;
      // A line that is broken could not be written over.
      const line = shown(text).slice(0, Math.min(terminal.columns, progressColumns) - 1);
      terminal.err(`\r\u001B[K${toned(line, 'dim', terminal.hasColours)}`);
    },
  };
}

/** Results that go into a file have no width, and the terminal beside it does not say its own. */
const progressColumns = 80;

const progressEveryMs = 1000;

/** Tells a person who watches what is being done, and for how long, until it is done. */
export async function showing<T>(
  session: Pick<LocalSession, 'terminal' | 'isJson' | 'progress' | 'stopwatch' | 'timer'>,
  words: () => string,
  work: () => Promise<T>,
): Promise<T> {
  if (!session.terminal.showsProgress || session.isJson) return work();
  const started = session.stopwatch.elapsed();
  let callOff = () => {};
  const tell = () => {
    const ms = session.stopwatch.elapsed() - started;
    session.progress(ms < progressEveryMs ? `${words()} ...` : `${words()} ... ${durationWords(ms)}`);
    callOff = session.timer.after(progressEveryMs, tell);
  };
  tell();
  try {
    return await work();
  } finally {
    callOff();
    session.progress('');
  }
}

export async function openSession(host: Host, globals: Globals): Promise<Session> {
  const around = await host.surroundings();
  if (globals.offline === true && globals.apiUrl !== undefined)
    throw usage('--offline works without a server, so that --api-url has nothing to name. Leave one of the two out.');
  const { wire, token } = globals.offline === true ? await offlineWire(host) : overNetwork(around, globals);
  const terminal = { ...host.terminal, hasColours: host.terminal.hasColours && !around.noColour };
  const local = localSession({ ...host, terminal }, globals);
  const client = createClient({ ...local, wire, token, signal: host.interrupted });
  const threadKey = await threadNamed(client, globals.threadKey ?? around.threadKey).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  return {
    ...local,
    client,
    clock: client.clock,
    ownClock: host.clock,
    threadKey,
    namedThread: globals.threadKey === undefined ? undefined : threadKey,
    isOffline: globals.offline === true,
  };
}

interface Reach {
  readonly wire: Wire;
  readonly token: () => Promise<string>;
}

async function offlineWire(host: Host): Promise<Reach> {
  const wire = await host.offline();
  return { wire, token: async () => wire.token };
}

function overNetwork(around: Surroundings, globals: Globals): Reach {
  const apiUrl = globals.apiUrl ?? around.apiUrl;
  const token = async () => {
    const found = globals.token ?? around.token(apiUrl);
    if (found === null) throw tokenMissing(around);
    if (!tokenShape.test(found))
      throw usage(
        'The token has 1 to 512 printable characters without spaces. Look at --token and CRONOGRAM_API_TOKEN.',
      );
    return found;
  };
  return { wire: networkWire(apiUrl), token };
}

function tokenMissing({ tokenFile }: Surroundings): CliFault {
  const message = `There is no token of the API: ${tokenFile} does not exist, or belongs to another server than the one that is asked. Work in the folder of the server, set CRONOGRAM_API_TOKEN or CRONOGRAM_API_TOKEN_FILE, or give --token.`;
  return new CliFault('unauthorized', message, { exitCode: exitCodes.refused });
}

/** Waits; ends early when it is interrupted, as on Ctrl-C. */
export function pause(
  { timer, interrupted: signal }: Pick<LocalSession, 'timer' | 'interrupted'>,
  ms: number,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      callOff();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const callOff = timer.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

/** The result of a verb: one value for scripts, one text for people. */
export interface Told {
  readonly json: unknown;
  readonly text: string;
  /** For people beside the result: what to do next. It goes where faults go, so that a pipe gets the result alone. */
  readonly note?: string;
  /** 0 when absent. */
  readonly exitCode?: ExitCode;
}

/** The lines of a note; no note where there are none. */
export function noteOf(...lines: readonly (string | null)[]): Pick<Told, 'note'> {
  const told = lines.filter((line) => line !== null);
  return told.length === 0 ? {} : { note: told.join('\n') };
}

/** A flag of a verb. The options that a verb is given follow from its flags, in name and in type. */
export interface Flag {
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly isList?: true;
  /** Takes a whole number within these bounds. */
  readonly whole?: { readonly min: number; readonly max: number };
}

type Camel<Text> = Text extends `${infer Head}-${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Text;
type Long<F extends Flag> = F['flags'] extends `${string}--${infer Rest}` ? Rest : never;
type NameOf<Text> = Text extends `no-${infer Name}` ? Name : Text extends `${infer Name} <${string}>` ? Name : Text;
type Value<F extends Flag> = F extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : F extends { readonly isList: true }
    ? readonly string[]
    : F extends { readonly whole: object }
      ? number
      : string;

/** The flags that were typed. */
export type Options<Flags extends readonly Flag[]> = {
  readonly [F in Flags[number] as Camel<NameOf<Long<F>>>]?: Long<F> extends `no-${string}`
    ? false
    : Long<F> extends `${string} <${string}>`
      ? Value<F>
      : true;
};

export interface Verb<S = Session, Flags extends readonly Flag[] = readonly Flag[]> {
  /** With its arguments: `pause [task]`. */
  readonly usage: string;
  readonly summary: string;
  /** Lines that a person may type as they stand; the first word is the program's. */
  readonly examples: readonly string[];
  /** More than fits the summary. */
  readonly about?: string;
  readonly flags?: Flags;
  /** For programs alone. */
  readonly isHidden?: true;
  /** The words of its last argument are told apart; else they are one sentence, with or without quotes. */
  readonly keepsWords?: true;
  /** Answers null, or how it ended alone, when everything has been told meanwhile. */
  does(session: S, args: readonly string[], options: Options<Flags>): Promise<Told | number | null>;
}

export function verb<const Flags extends readonly Flag[] = []>(one: Verb<Session, Flags>): Verb {
  return one;
}

/** A verb of this computer, which asks no server and works with a configuration that is wrong. */
export function localVerb<const Flags extends readonly Flag[] = []>(
  one: Verb<LocalSession, Flags>,
): Verb<LocalSession> {
  return one;
}

export const yesFlag = { flags: '-y, --yes', about: 'do not ask' } as const satisfies Flag;

/** Verbs that belong together: behind a word of their own, or on their own at the top where the group has no name. */
export interface Group<S = Session> {
  readonly name?: string;
  readonly summary?: string;
  /** The title under which the help lists them. */
  readonly heading?: string;
  readonly verbs: readonly Verb<S>[];
}

/** Goes on only after a yes, on the command line or when asked. */
export async function confirmed(
  { terminal, interrupted: signal }: LocalSession,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  if (!terminal.canAsk) throw usage(`${question} Nobody is there to answer: say so with --yes.`);
  const text = shown(question);
  const lines = wrapped(`${text} [y/N]`, terminal.columns - 2, await measureFor([text]));
  const answer = await terminal.ask(`${lines.join('\n')} `);
  if (signal.aborted) throw interrupted('Interrupted; nothing was changed.');
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CliFault('declined', 'Nothing was changed.');
}
