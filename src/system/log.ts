import { pino } from 'pino';
import type { Secrets } from '../app/operations/secrets.ts';
import type { Log } from '../app/ports/outside.ts';

/** Names under which a secret might ever stand; whatever stands there is not written. */
const secretPaths = ['token', 'authorization', 'password', 'secret', 'apiKey', 'api_key', 'url'].flatMap((name) => [
  name,
  `*.${name}`,
]);

export interface LogWish {
  readonly level: string;
  /** A person reads it as it comes. */
  readonly isTerminal: boolean;
}

/**
 * JSON lines on stdout, each with a stable `event` name, and without any of the secrets, wherever they would stand. On a
 * terminal the same lines as a person reads them.
 */
export function createLog({ level, isTerminal }: LogWish, secrets: Pick<Secrets, 'hide'>): Log {
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
    { write: (line) => out.write(isTerminal ? shortLine(secrets.hide(line)) : secrets.hide(line)) },
  );
  return {
    debug: (event, facts) => logger.debug(facts ?? {}, event),
    info: (event, facts) => logger.info(facts ?? {}, event),
    warn: (event, facts) => logger.warn(facts ?? {}, event),
    error: (event, facts) => logger.error(facts ?? {}, event),
  };
}

const valueLengthMax = 160;

/** `15:36:02 warn  loop_failed: loop=runner error=...`, each value on one line. */
export function shortLine(line: string): string {
  const { level, time, event, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const known = Object.entries(facts).map(([name, value]) => `${name}=${shortValue(value)}`);
  return `${[clock, String(level).padEnd(5), `${String(event)}${known.length === 0 ? '' : ':'}`, ...known].join(' ')}\n`;
}

function shortValue(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/[\s\p{C}]+/gu, ' ');
  return text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}...` : text;
}
