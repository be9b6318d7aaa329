import { AppError } from '../domain/errors.ts';
import { faultOf } from './errors.ts';

interface App {
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

const probes: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/version', '/metrics']);

/**
 * While a server stops it takes nothing new: whoever asks is told so at once, and comes back to the next one. Whoever
 * watches it still sees it stop.
 */
export function untilStopping(app: App, isStopping: () => boolean): App {
  return {
    fetch: (request, env) => {
      if (!isStopping() || probes.has(new URL(request.url).pathname)) return app.fetch(request, env);
      const { body, status, headers } = faultOf(
        new AppError('stopping', 'The server is stopping. Ask again soon.'),
        '',
      );
      return Response.json(body, { status, headers });
    },
  };
}
