import { AppError } from '../domain/errors.ts';
import { flat } from './layout.ts';

/** How the program ends, for scripts. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  away: 5,
  /** As a shell tells of a program that was interrupted. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** How a fault ends the program where nothing else is said; a code that is not here has simply failed. */
const exitsOf: Readonly<Record<string, ExitCode>> = {
  usage: exitCodes.usage,
  ambiguous: exitCodes.usage,
  bad_config: exitCodes.usage,
  bad_file: exitCodes.usage,
  not_found: exitCodes.notFound,
  task_not_found: exitCodes.notFound,
  run_not_found: exitCodes.notFound,
  thread_not_found: exitCodes.notFound,
  refused: exitCodes.refused,
  invalid_configuration: exitCodes.refused,
  too_late: exitCodes.refused,
  server_away: exitCodes.away,
  store_unavailable: exitCodes.away,
  interrupted: exitCodes.interrupted,
};

/** A fault that is told to the person who typed. The message is a sentence that says what to do next. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  readonly code: string;
  readonly exitCode: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: string,
    message: string,
    {
      exitCode = exitsOf[code] ?? exitCodes.failed,
      details,
      cause,
    }: { exitCode?: number; details?: Readonly<Record<string, unknown>> | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
    this.details = details;
  }
}

interface Unclear {
  readonly what: 'task' | 'chat' | 'person';
  readonly name: string;
  /** The name is a misspelt one: it is told and not taken, because a verb may delete. */
  readonly isGuess: boolean;
  /** Those that may be meant, with the ids that name them. */
  readonly lines: readonly string[];
  readonly advice: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A name that several bear, or that only nearly fits one. */
export function unclear({ what, name, isGuess, lines, advice, details }: Unclear): CliFault {
  const quoted = `"${flat(name).slice(0, 60)}"`;
  const notFound = what === 'task' ? 'task_not_found' : 'thread_not_found';
  const many = what === 'person' ? 'people' : `${what}s`;
  const head = isGuess ? `No ${what} is called ${quoted}. Did you mean:` : `Several ${many} are called ${quoted}:`;
  return new CliFault(isGuess ? notFound : 'ambiguous', [head, ...firstOf(lines), advice].join('\n'), { details });
}

const linesMax = 3;

export function firstOf(lines: readonly string[]): readonly string[] {
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `  and ${more} more`] : lines;
}

/** A command that cannot be carried out as it was typed. */
export function usage(message: string): CliFault {
  return new CliFault('usage', message);
}

export function interrupted(message: string): CliFault {
  return new CliFault('interrupted', message);
}

/** The meaning of a status for a script: which side is to blame, and so what may be done about it. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 404) return exitCodes.notFound;
  if ([400, 413, 414, 415, 431].includes(status)) return exitCodes.usage;
  if (status === 503) return exitCodes.away;
  if ([401, 403, 409, 422, 429].includes(status)) return exitCodes.refused;
  return exitCodes.failed;
}

interface SystemError {
  readonly code: string;
  readonly path?: string;
}

export function isSystemError(error: unknown, ...codes: readonly string[]): error is Error & SystemError {
  const { code } = error as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return false;
  return codes.length === 0 || codes.includes(code);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'you may not do that there; run it as the user that Cronogram runs as',
  EPERM: 'you may not do that there; run it as the user that Cronogram runs as',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file and not a folder',
  EISDIR: 'that is a folder',
  ENOSPC: 'the disk is full; free some space',
  EROFS: 'the disk can only be read',
};

/** Refusals of the database and the operating system of this computer, in words. No server was asked: a store that is away refuses. */
export function localFault(error: unknown): unknown {
  if (error instanceof AppError) {
    const { code, message } = error;
    if (code === 'not_found') return new CliFault('not_found', message, { cause: error });
    const isRefusal = code === 'store_unavailable' || code === 'invalid_request';
    return isRefusal ? new CliFault('refused', message, { cause: error }) : error;
  }
  if (!isSystemError(error)) return error;
  const { code, path } = error;
  const message = `${path ?? 'A file'}: ${reasons[code] ?? 'the system refused'} (${code}).`;
  return new CliFault('failed', message, { cause: error });
}

/** A file that cannot be read or written, and why. */
export function unusable(done: string, path: string, cause: unknown): CliFault {
  const code = (cause as { code?: unknown }).code;
  const why =
    code === 'ENOENT' ? 'there is no such file or folder' : typeof code === 'string' ? code : 'for no known reason';
  return new CliFault('bad_file', `${path} cannot be ${done}: ${why}.`, { cause });
}
