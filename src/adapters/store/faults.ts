import { AppError } from '../../domain/errors.ts';

const sqliteAway = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|CORRUPT|NOTADB)/;
/** Connection lost, conflicts that did not end, too many connections, out of resources, operator intervention, system error. */
const postgresAway = /^(08|40|53|57|58)/;
const networkAway = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)/;

/** What a store throws is either our own refusal, a store that is away, or a fault of ours. */
export function translate(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (sqliteAway.test(code) || postgresAway.test(code) || networkAway.test(code) || isClosed(error)) {
    return new AppError('store_unavailable', `The database cannot be used right now (${code || 'closed'}).`, {
      cause: error,
    });
  }
  return new AppError('internal', error instanceof Error ? error.message : String(error), { cause: error });
}

/** The query builder wraps the driver's error; the driver's own code is what tells. */
function codeOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string') return code;
  }
  return '';
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && /connection is not open|Connection terminated|after calling end/.test(error.message);
}
