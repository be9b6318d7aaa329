import { heartbeatEveryMs } from '../../domain/limits.ts';
import type { Meter } from '../ports/meter.ts';
import type { Log, Timer } from '../ports/outside.ts';
import type { Ready } from './readiness.ts';

/**
 * A sign of life for a watcher outside, who raises the alarm when it stays away: the one failure that nothing in here can
 * tell of. It is sent while the product is ready, once a minute; one that fails is not repeated before the next minute.
 */
export interface Heartbeat {
  start(): void;
  stop(): void;
}

/** Asks the watcher's address; null when it answered well, or why it did not. The words never hold the address. */
export type Knock = () => Promise<string | null>;

interface Needs {
  readonly knock: Knock;
  readonly ready: () => Promise<Ready>;
  readonly timer: Timer;
  readonly log: Log;
  readonly meter: Meter;
}

type Beat = 'sent' | 'failed' | 'withheld';

export function createHeartbeat({ knock, ready, timer, log, meter }: Needs): Heartbeat {
  let before: Beat | null = null;
  let callOff = () => {};
  let stopped = false;

  const beat = async (): Promise<readonly [Beat, string | null]> => {
    const { ok } = await ready();
    if (!ok || stopped) return ['withheld', null];
    const error = await knock();
    return error === null ? ['sent', null] : ['failed', error];
  };

  /** One line for each change: the watcher tells people, not the log. */
  const tell = (now: Beat, error: string | null) => {
    meter.count('heartbeats_total', { result: now });
    if (now === before) return;
    if (now === 'sent') log.info('heartbeat_sent', before === null ? {} : { after: before });
    else if (now === 'failed') log.warn('heartbeat_failed', { error });
    else log.warn('heartbeat_withheld');
    before = now;
  };

  const turn = async () => {
    try {
      tell(...(await beat()));
    } catch (error) {
      tell('failed', error instanceof Error ? error.name : 'unknown');
    }
    if (!stopped) callOff = timer.after(heartbeatEveryMs, () => void turn());
  };

  return {
    // The first look is a little later: a start takes a moment, and is nothing to be told of.
    start: () => {
      if (!stopped) callOff = timer.after(firstMs, () => void turn());
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}

const firstMs = 5000;
