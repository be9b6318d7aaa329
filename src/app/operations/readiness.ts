import { errorText } from '../../domain/errors.ts';
import { readinessKeptMs, readinessWaitMs, heartbeatEveryMs } from '../../domain/limits.ts';
import { waitAtMost } from '../pipeline/workers.ts';
import type { Meter } from '../ports/metering.ts';
import type { Timer, World } from '../ports/outside.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import { memo } from './recent.ts';

/** Whether the product can do its work now, and what each part says: `ok`, `stuck`, or what is wrong with it. */
export interface Ready {
  readonly ok: boolean;
  readonly [part: string]: unknown;
}

export interface Watched {
  readonly name: string;
  readonly health: () => { readonly ok: boolean; readonly error: string | null };
}

interface DatabaseLookDeps extends Pick<World, 'clock' | 'stopwatch'> {
  readonly store: Pick<UpkeepStore, 'ping'>;
  readonly timer: Pick<Timer, 'after'>;
}

/** Asks the loops and commits something to the database; the answer holds for a second, because anybody may ask. */
export function createReadiness(
  { databaseLook, stopwatch }: Pick<World, 'stopwatch'> & { readonly databaseLook: DatabaseLook },
  watched: readonly Watched[],
): () => Promise<Ready> {
  return memo(stopwatch, readinessKeptMs, async () => {
    const database = await databaseLook();
    const states = watched.map(({ name, health }) => {
      const { ok, error } = health();
      return [name, error ?? (ok ? 'ok' : 'stuck')] as const;
    });
    const ok = database === 'ok' && states.every(([, state]) => state === 'ok');
    return { ok, database, ...Object.fromEntries(states) };
  });
}

/** `ok`, `stuck`, or what is wrong with the database. */
export type DatabaseLook = () => Promise<string>;

/** A database that does not answer is asked once, not again by everybody who wants to know; and nobody waits for it for long. */
export function createDatabaseLook({ store, clock, stopwatch, timer }: DatabaseLookDeps): DatabaseLook {
  const ping = memo(stopwatch, 0, () => store.ping(clock.now()).then(() => 'ok', errorText));
  return async () => {
    const told = await waitAtMost(timer, readinessWaitMs, ping());
    return told === 'late' ? 'stuck' : told;
  };
}

const openWords: ReadonlySet<unknown> = new Set(['ok', 'stuck', 'starting', 'stopping']);

/** For whoever may ask without a token: an error of a driver can name hosts, files and people. The log tells what it was. */
export function shownToAll({ ok, ...parts }: Ready): Ready {
  const shown = Object.entries(parts).map(([part, state]) => [part, openWords.has(state) ? state : 'failing']);
  return { ok, ...(Object.fromEntries(shown) as Readonly<Record<string, unknown>>) };
}

/** Calls the address of the watcher; null when it answered well, or why it did not. The words never hold the address. */
export type HeartbeatPing = () => Promise<string | null>;

interface HeartbeatDeps extends Pick<World, 'timer' | 'log'> {
  readonly ping: HeartbeatPing;
  readonly ready: () => Promise<Ready>;
  readonly meter: Meter;
}

type Beat = 'sent' | 'failed' | 'withheld';

/**
 * A sign of life for a watcher outside, who raises the alarm when it stays away: the one failure that nothing in here can
 * tell of. It is sent while the product is ready, once a minute; one that fails is not repeated before the next minute.
 */
export type Heartbeat = ReturnType<typeof createHeartbeat>;

export function createHeartbeat({ ping, ready, timer, log, meter }: HeartbeatDeps) {
  let before: Beat | null = null;
  let callOff = () => {};
  let stopped = false;

  const beat = async (): Promise<readonly [Beat, string | null]> => {
    const { ok } = await ready();
    if (!ok || stopped) return ['withheld', null];
    const error = await ping();
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
    start: (): void => {
      if (!stopped) callOff = timer.after(firstMs, () => void turn());
    },
    stop: (): void => {
      stopped = true;
      callOff();
    },
  };
}

const firstMs = 5000;
