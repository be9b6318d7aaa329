import { pino } from 'pino';
import type { Secrets } from '../app/operations/secrets.ts';
import type { Log } from '../app/ports/outside.ts';

/** Names under which a secret might ever stand; whatever stands there is not written. */
const secretPaths = ['token', 'authorization', 'password', 'secret', 'apiKey', 'api_key', 'url'].flatMap((name) => [
  name,
  `*.${name}`,
]);

/** JSON lines on stdout, each with a stable `event` name, and without any of the secrets, wherever they would stand. */
export function createLog(level: string, secrets: Pick<Secrets, 'hide'>): Log {
  // Written at once, so that the last words of a process that ends are not lost.
  const out = pino.destination({ fd: 1, sync: true });
  const logger = pino(
    {
      level,
      messageKey: 'event',
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretPaths, censor: '[secret]' },
    },
    { write: (line) => out.write(secrets.hide(line)) },
  );
  return {
    debug: (event, facts) => logger.debug(facts ?? {}, event),
    info: (event, facts) => logger.info(facts ?? {}, event),
    warn: (event, facts) => logger.warn(facts ?? {}, event),
    error: (event, facts) => logger.error(facts ?? {}, event),
  };
}
