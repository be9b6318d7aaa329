import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliFault, exitCodes } from '../cli/faults.ts';
import type { Terminal } from '../cli/layout.ts';
import { createProgram, type Program } from '../cli/program.ts';
import type { Host, Surroundings } from '../cli/session.ts';
import { remoteVerbs } from '../cli/verbs/all.ts';
import { loadEnvFile, readCliConfig, type CliConfig, type Environment } from '../config/surroundings.ts';
import { hostVerbs } from '../host/verbs.ts';
import { systemClock, systemStopwatch, systemTimer } from '../system/clock.ts';
import { keptAddress } from '../system/own-address.ts';

/** The parts of the process; a test gives others. */
export interface Started
  extends Pick<Host, 'terminal' | 'interrupted' | 'version'>, Partial<Pick<Host, 'clock' | 'stopwatch' | 'timer'>> {
  /** The variables of the process when absent, and those of a `.env` file beside it. */
  readonly environment?: Environment;
}

/** The program `cronogram`. What costs time to load is loaded by the verb that needs it. */
export function composeCli(started: Started): Program {
  const host: Host = {
    clock: systemClock,
    stopwatch: systemStopwatch,
    timer: systemTimer,
    ...started,
    surroundings: async () => {
      if (started.environment === undefined) loadEnvFile();
      return surroundingsOf(readCliConfig(started.environment));
    },
    offline: async () => {
      if (started.environment === undefined) loadEnvFile();
      const { faultLines, readConfig } = await import('../config/config.ts');
      const read = readConfig(started.environment);
      if ('faults' in read) {
        throw new CliFault('bad_config', faultLines(read.faults).trimEnd(), { exitCode: exitCodes.usage });
      }
      const { openOffline } = await import('./offline.ts');
      return openOffline(read.config, started.version);
    },
  };
  const here = async () => (await import('../host/here.ts')).openHere(started);
  const start = async (role: string | undefined) => (await import('./server-process.ts')).runServer(role);
  return createProgram(host, { remote: remoteVerbs, local: hostVerbs({ here, start }) });
}

function surroundingsOf(config: CliConfig): Surroundings {
  const { threadKey, noColour, ownTokenFile } = config;
  const own = config.isApiUrlNamed ? null : (keptAddress(config.ownFolder) ?? config.apiUrl);
  const apiUrl = own ?? config.apiUrl;
  return {
    apiUrl,
    threadKey,
    noColour,
    tokenFile: ownTokenFile,
    token: (url) => {
      if (config.token !== null) return config.token;
      if (config.tokenFile !== null) return namedToken(config.tokenFile);
      // The token of this folder opens the server of this folder; no other server is to see it.
      if (!isThisComputer(url) && url !== own) return null;
      return config.ownToken ?? keptToken(ownTokenFile);
    },
  };
}

function isThisComputer(url: string): boolean {
  return URL.canParse(url) && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(new URL(url).hostname);
}

function namedToken(file: string): string {
  const token = tokenIn(file);
  if (typeof token === 'string') return token;
  const message = `CRONOGRAM_API_TOKEN_FILE names ${file}, which cannot be read (${token.why}).`;
  throw new CliFault('unauthorized', message, { exitCode: exitCodes.usage });
}

function keptToken(file: string): string | null {
  const token = tokenIn(file);
  if (typeof token === 'string') return token || null;
  if (token.why === 'ENOENT') return null;
  const message = `The token file ${file} cannot be read (${token.why}). Run this as the user of the server, or set CRONOGRAM_API_TOKEN.`;
  throw new CliFault('unauthorized', message, { exitCode: exitCodes.refused });
}

function tokenIn(file: string): string | { readonly why: string } {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    return { why: (error as { code?: string }).code ?? 'unknown' };
  }
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Narrower than this nothing can be laid out. */
const columnsMin = 20;
/** Of a terminal that does not know. */
const columnsUsual = 80;

const interruption = new AbortController();

const terminal: Terminal = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  showsProgress: process.stderr.isTTY,
  canAsk: process.stdin.isTTY && process.stderr.isTTY,
  hasColours: process.stdout.isTTY,
  // Output into a file or another program is not cut: a search would not find what is left out.
  columns: process.stdout.isTTY
    ? Math.max(columnsMin, process.stdout.columns > 0 ? process.stdout.columns : columnsUsual)
    : Number.POSITIVE_INFINITY,
  read: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  },
  ask: (question) => typed(question, process.stderr),
  askHidden: (question) => {
    process.stderr.write(question);
    return typed('', nowhere()).finally(() => process.stderr.write('\n'));
  },
};

/** A key in PEM, which has several lines. */
const [beginsKey, endsKey] = [/^\s*-----BEGIN [A-Z ]+-----\s*$/, /^\s*-----END [A-Z ]+-----\s*$/];

/** Ctrl-C and the end of the input are answers as well, so that the question does not wait for another. */
function typed(question: string, output: NodeJS.WritableStream): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output, terminal: true });
    let answer: string | null = null;
    lines.once('SIGINT', () => {
      interruption.abort();
      lines.close();
    });
    lines.once('close', () => {
      if (answer === null) output.write('\n');
      resolve(answer ?? '');
    });
    lines.question(question, (text) => {
      answer = text;
      if (!beginsKey.test(text)) lines.close();
      // Lines that are pasted with it must not go to the shell.
      lines.on('line', (line) => {
        answer = `${text}\n${line}`;
        if (endsKey.test(line)) lines.close();
      });
    });
  });
}

function nowhere(): NodeJS.WritableStream {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** The program `cronogram` as a process of its own. */
export async function runCli(): Promise<void> {
  // The first Ctrl-C ends what is waited for and says so; the second ends the process.
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  // A pipe whose reader has seen enough, such as head, is no fault.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });

  const program = composeCli({ terminal, interrupted: interruption.signal, version });
  process.exitCode = await program.run(process.argv.slice(2));
}
