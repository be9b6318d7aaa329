import { AppError } from '../domain/errors.ts';

/** How a verb ends, for scripts. */
export const exits = { failed: 1, usage: 2, notFound: 3, refused: 4 } as const;

export type FaultCode =
  | 'usage'
  | 'not_found'
  | 'refused'
  | 'invalid_configuration'
  | 'telegram_unreachable'
  | 'no_systemd'
  | 'cancelled'
  | 'failed';

const exitOf: Readonly<Record<FaultCode, number>> = {
  usage: exits.usage,
  not_found: exits.notFound,
  refused: exits.refused,
  invalid_configuration: exits.refused,
  telegram_unreachable: exits.failed,
  no_systemd: exits.failed,
  cancelled: exits.failed,
  failed: exits.failed,
};

/** A verb that could not do what it was asked. The message says what to do next, and holds no secret. */
export class HostFault extends Error {
  override readonly name = 'HostFault';
  readonly code: FaultCode;
  readonly exitCode: number;

  constructor(code: FaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitOf[code];
  }
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

/** What the data room or the operating system refused, in words. */
export function faultOf(error: unknown): unknown {
  if (error instanceof AppError) return appFault(error);
  if (!isSystemError(error)) return error;
  const { code, path } = error;
  return new HostFault('failed', `${path ?? 'A file'}: ${reasons[code] ?? 'the system refused'} (${code}).`, error);
}

/** No server was asked, so that a store which is away is one that refuses. */
function appFault(error: AppError): unknown {
  if (error.code === 'not_found') return new HostFault('not_found', error.message, error);
  if (error.code === 'store_unavailable' || error.code === 'invalid_request')
    return new HostFault('refused', error.message, error);
  return error;
}
