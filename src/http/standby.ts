import { AppError } from '../domain/errors.ts';
import { faultOf } from './errors.ts';
import { isToken } from './token.ts';

interface Standing {
  readonly version: string;
  /** API_TOKEN; absent where nobody has one. */
  readonly token: string | undefined;
  /** The process that has the database for itself; null once it is free, and the start goes on. */
  readonly holder: () => string | null;
}

/**
 * Answers of a process that waits for another one which has the database for itself: how it is, and to everything else that it cannot
 * be asked yet. Whoever shows the token of the operator is told whom it waits for.
 */
export function standbyApp({ version, token, holder }: Standing) {
  const why = (request: Request): string => {
    const given = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    const isKnown = given !== undefined && token !== undefined && isToken(given, token);
    return `waits for ${isKnown ? holder() : 'another process'}, which has the database for itself`;
  };
  return {
    fetch: (request: Request): Response => {
      const path = new URL(request.url).pathname;
      if (path === '/livez' || path === '/healthz') return Response.json({ ok: true });
      if (path === '/version') return Response.json({ name: 'cronogram', version, node: process.versions.node });
      const isOver = holder() === null;
      if (path === '/readyz') {
        const server = isOver ? 'starting' : `standby: ${why(request)}`;
        return Response.json({ ok: false, server }, { status: 503, headers: { 'cache-control': 'no-store' } });
      }
      const message = isOver ? 'The server is starting.' : `The server stands by: it ${why(request)}.`;
      const { body, status, headers } = faultOf(new AppError('store_unavailable', `${message} Ask again soon.`), '');
      return Response.json(body, { status, headers });
    },
  };
}
