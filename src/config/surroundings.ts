import { dirname, join } from 'node:path';

/** The variables that the command line reads. They need no schemas, which cost a command a tenth of its time. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Adds the variables of a `.env` file in the working folder to the environment; those that are set already win. */
export function loadEnvFile(): void {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
  }
}

/** The surroundings of the command line, which may be on another computer than the server. */
export interface CliConfig {
  readonly apiUrl: string;
  readonly isApiUrlNamed: boolean;
  /** The files of the server of this folder lie there, beside its database. */
  readonly ownFolder: string;
  /** The token that is meant for whichever server is asked. */
  readonly token: string | null;
  readonly tokenFile: string | null;
  /** The token of the server of this folder: it is for this computer alone. */
  readonly ownToken: string | null;
  readonly ownTokenFile: string;
  readonly threadKey: string;
  readonly noColour: boolean;
}

/** Nothing is checked here that the command line does not use: a fault in the server's variables must not stop it. */
export function readCliConfig(environment: Environment = process.env): CliConfig {
  const given = (name: string) => environment[name] || null;
  const file = given('DATABASE_URL')?.replace(/^file:/, '');
  const isFile = file !== undefined && !/^postgres(ql)?:/.test(file);
  const ownFolder = isFile ? dirname(file) : 'data';
  const named = given('CRONOGRAM_API_URL');
  return {
    apiUrl: named ?? ownAddress(given('HTTP_HOST'), given('HTTP_PORT')),
    isApiUrlNamed: named !== null,
    ownFolder,
    token: given('CRONOGRAM_API_TOKEN'),
    tokenFile: given('CRONOGRAM_API_TOKEN_FILE'),
    ownToken: given('API_TOKEN'),
    ownTokenFile: given('API_TOKEN_FILE') ?? join(ownFolder, 'api-token'),
    threadKey: given('CRONOGRAM_THREAD_KEY') ?? 'cli:default',
    noColour: given('NO_COLOR') !== null || environment['TERM'] === 'dumb',
  };
}

/** A server that listens on every address is asked on this computer's own. */
export function ownAddress(host: string | null, port: string | null): string {
  const own = host === null || host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port ?? '8787'}`;
}
