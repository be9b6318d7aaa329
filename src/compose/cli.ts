import { readFileSync } from 'node:fs';
import { createProgram, type Part, type Program } from '../cli/program.ts';
import { CliFault, exitCodes } from '../cli/faults.ts';
import type { Host, Surroundings } from '../cli/session.ts';
import { remoteVerbs } from '../cli/verbs/all.ts';
import { systemClock, systemStopwatch, systemTimer } from '../system/clock.ts';
import type { CliConfig } from '../config.ts';
import type { Command } from 'commander';
import { addHostVerbs as add } from '../host/program.ts';
import type { Screen } from '../host/screen.ts';

/** What the process gives: a test gives something else. */
export interface Started
  extends Pick<Host, 'terminal' | 'interrupted' | 'version'>, Partial<Pick<Host, 'clock' | 'stopwatch' | 'timer'>> {
  /** The variables of the process when absent, and those of a `.env` file beside it. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The program `cronogram`. What costs time to load is loaded by the verb that needs it. */
export function composeCli(started: Started): Program {
  const host: Host = {
    clock: systemClock,
    stopwatch: systemStopwatch,
    timer: systemTimer,
    ...started,
    surroundings: async () => surroundingsOf((await configOf(started)).readCliConfig(started.environment)),
    offline: async () => {
      const { faultLines, readConfig } = await configOf(started);
      const read = readConfig(started.environment);
      if ('faults' in read) {
        throw new CliFault('bad_config', faultLines(read.faults).trimEnd(), { exitCode: exitCodes.usage });
      }
      const { openOffline } = await import('./offline.ts');
      return openOffline(read.config, started.version);
    },
  };
  const hostVerbs: Part = (program, _add, end) =>
    addHostVerbs(program, { version: started.version, terminal: started.terminal, end });
  return createProgram(host, [...remoteVerbs, hostVerbs]);
}

async function configOf({ environment }: Started) {
  const config = await import('../config.ts');
  if (environment === undefined) config.loadEnvFile();
  return config;
}

function surroundingsOf(config: CliConfig): Surroundings {
  const { apiUrl, threadKey, noColour, ownTokenFile } = config;
  return {
    apiUrl,
    threadKey,
    noColour,
    tokenFile: ownTokenFile,
    token: (url) => {
      if (config.token !== null) return config.token;
      if (config.tokenFile !== null) return namedToken(config.tokenFile);
      // The token of this folder opens the server of this folder; nobody else is to see it.
      if (!isThisComputer(url) && url !== ownAddressOf(config)) return null;
      return config.ownToken ?? keptToken(ownTokenFile);
    },
  };
}

function ownAddressOf({ apiUrl, isApiUrlNamed }: CliConfig): string | null {
  return isApiUrlNamed ? null : apiUrl;
}

function isThisComputer(url: string): boolean {
  return URL.canParse(url) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(new URL(url).hostname);
}

function namedToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const why = (error as { code?: string }).code ?? 'unknown';
    const message = `CRONOGRAM_API_TOKEN_FILE names ${file}, which cannot be read (${why}).`;
    throw new CliFault('unauthorized', message, { exitCode: exitCodes.usage, cause: error });
  }
}

function keptToken(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null;
    const why = (error as { code?: string }).code ?? 'unknown';
    throw new CliFault(
      'unauthorized',
      `The token file ${file} cannot be read (${why}). Run this as the user of the server, or set CRONOGRAM_API_TOKEN.`,
      {
        exitCode: exitCodes.refused,
        cause: error,
      },
    );
  }
}

interface HostVerbsNeeds {
  readonly version: string;
  readonly terminal: Screen;
  /** A verb has told its result and ends with this code all the same. */
  readonly end: (exitCode: number) => void;
}

/** Adds the verbs of this computer to the program. What they need is loaded when one of them is asked for. */
function addHostVerbs(program: Command, { version, terminal, end }: HostVerbsNeeds): void {
  add(program, {
    screen: terminal,
    end,
    start: async () => {
      const { runServer } = await import('./server-process.ts');
      return runServer();
    },
    load: async () => {
      const { hostPorts } = await import('./host-ports.ts');
      return hostPorts({ version });
    },
  });
}
