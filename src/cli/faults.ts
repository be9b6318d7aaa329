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
      exitCode = exitCodes.failed,
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

/** What was typed cannot be done as it stands. */
export function usage(message: string): CliFault {
  return new CliFault('usage', message, { exitCode: exitCodes.usage });
}

export function interrupted(message: string): CliFault {
  return new CliFault('interrupted', message, { exitCode: exitCodes.interrupted });
}

/** What a status of the server means for whoever called: who is to blame, and so what a script may do about it. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 404) return exitCodes.notFound;
  if ([400, 413, 414, 415, 431].includes(status)) return exitCodes.usage;
  if (status === 503) return exitCodes.away;
  if ([401, 403, 409, 422, 429].includes(status)) return exitCodes.refused;
  return exitCodes.failed;
}
