import { pino } from 'pino';
import type { Log } from '../../app/ports.ts';

/** Names under which a secret might ever stand; whatever stands there is not written. */
const secretPaths = ['token', 'authorization', 'password', 'secret', 'apiKey', 'api_key', 'url'].flatMap((name) => [
  name,
  `*.${name}`,
]);

/** JSON lines on stdout, each with a stable `event` name. */
export function createLog(level: string): Log {
  const logger = pino({
    level,
    messageKey: 'event',
    base: null,
    formatters: { level: (label) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secretPaths, censor: '[secret]' },
  });
  return {
    debug: (event, facts) => logger.debug(facts ?? {}, event),
    info: (event, facts) => logger.info(facts ?? {}, event),
    warn: (event, facts) => logger.warn(facts ?? {}, event),
    error: (event, facts) => logger.error(facts ?? {}, event),
  };
}
