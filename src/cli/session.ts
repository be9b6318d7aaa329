import type { Command } from 'commander';
import type { Clock, Stopwatch, Timer } from '../app/ports/outside.ts';
import type { Client } from './client.ts';
import { createClient } from './client.ts';
import { CliFault, exitCodes, usage, type ExitCode } from './faults.ts';
import { toned, type Terminal } from './layout.ts';
import { networkWire, type Wire } from './network.ts';

/** The surroundings, already read. */
export interface Surroundings {
  readonly apiUrl: string;
  readonly threadKey: string;
  readonly noColour: boolean;
  /** The token for the address, or null when nobody named one. Throws when a file that was named cannot be read. */
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
  /** Aborts when somebody presses Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly version: string;
  readonly surroundings: () => Promise<Surroundings>;
  /** The API without a server: over the database of this folder, which nobody else may hold. */
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
}

/** One command being done, which asks a server. */
export interface Session extends LocalSession {
  readonly client: Client;
  readonly threadKey: string;
  /** The thread was named on this command line, so that it may narrow what is looked at. */
  readonly namedThread: string | null;
  readonly isOffline: boolean;
  /** One line that is written over again and again, for somebody who watches; nothing for others. */
  progress(text: string): void;
}

const tokenShape = /^[\u0021-\u007E]{1,512}$/;

export function localSession(host: Host, { json }: Globals): LocalSession {
  const { terminal, clock, stopwatch, timer, interrupted, version } = host;
  const isJson = json === true;
  const sitting = { ...terminal, canAsk: terminal.canAsk && !isJson };
  return { clock, stopwatch, timer, interrupted, version, isJson, terminal: sitting };
}

export async function openSession(host: Host, globals: Globals): Promise<Session> {
  const around = await host.surroundings();
  if (globals.offline === true && globals.apiUrl !== undefined)
    throw usage('--offline works without a server, so that --api-url has nothing to name. Leave one of the two out.');
  const { wire, token } = globals.offline === true ? await offlineWire(host) : overNetwork(around, globals);
  const local = localSession(host, globals);
  const terminal = { ...local.terminal, hasColours: local.terminal.hasColours && !around.noColour };
  return {
    ...local,
    terminal,
    client: createClient({ ...local, wire, token, signal: host.interrupted }),
    threadKey: globals.threadKey ?? around.threadKey,
    namedThread: globals.threadKey ?? null,
    isOffline: globals.offline === true,
    progress: (text) => {
      // A line that is broken could not be written over.
      if (!terminal.showsProgress || local.isJson) return;
      terminal.err(`\r\u001B[K${toned(text.slice(0, terminal.columns - 1), 'dim', terminal.hasColours)}`);
    },
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

/** Ends early when somebody presses Ctrl-C. */
export function pause({ timer, interrupted: signal }: LocalSession, ms: number): Promise<void> {
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

export interface Flag {
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly isList?: true;
}

export interface Verb<O, S extends LocalSession = Session> {
  /** With its arguments: `pause [task]`. */
  readonly usage: string;
  readonly summary: string;
  /** Lines that a person may type as they stand; the first word is the program's. */
  readonly examples: readonly string[];
  /** More than fits the summary. */
  readonly about?: string;
  readonly flags?: readonly Flag[];
  /** For programs alone. */
  readonly isHidden?: true;
  /** How it ended alone, or null for well, when everything has been told meanwhile. */
  readonly does: (session: S, args: readonly string[], options: O) => Promise<Told | number | null>;
}

/** Puts a verb into a group of the program. */
export type AddVerb = <O extends object>(group: Command, verb: Verb<O>) => Command;
/** The same for a verb of this computer, which asks no server and works with a configuration that is wrong. */
export type AddLocalVerb = <O extends object>(group: Command, verb: Verb<O, LocalSession>) => Command;
