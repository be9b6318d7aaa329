import pg from 'pg';
import type { Log, Timer } from '../../app/ports/outside.ts';
import { errorText, isAway } from '../../domain/errors.ts';
import { backoffMs } from '../../domain/limits.ts';
import { createSockets } from '../engine/connect.ts';
import { translate } from '../engine/store.ts';

interface PatientDeps {
  readonly url: string;
  readonly timer: Pick<Timer, 'after'>;
  readonly log: Pick<Log, 'warn'>;
}

type Given = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: Error) => void) => void;

/** A server that accepts nobody for so long is as good as away. */
export const connectMs = 5000;
/** As many as graphile-worker has places, or it warns at each start; of these one is for whoever listens. */
export const jobConnectionsMax = 8;
/** Between the tries of one statement. */
const firstPauseMs = 100;
const lastPauseMs = 2000;

/**
 * Connections of graphile-worker. It ends its workers for good when the end of one job cannot be written at the first try, and sleeps for
 * up to two minutes when a server says that it is starting up. So its statements wait here until the database has done them; each
 * stands alone, and one that is done twice does no harm.
 */
export class PatientPool extends pg.Pool {
  readonly #deps: PatientDeps;
  readonly #sockets: ReturnType<typeof createSockets>;
  readonly #waiting = new Set<() => void>();
  #isHurried = false;
  #isTold = false;

  constructor(deps: PatientDeps) {
    const sockets = createSockets();
    super({
      connectionString: deps.url,
      max: jobConnectionsMax,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      stream: sockets.stream,
      // Jobs are hints: their ends wait for no disk, and may be lost with the power.
      verify: (client, done) => client.query('set synchronous_commit = off', (error: Error | undefined) => done(error)),
    });
    this.#deps = deps;
    this.#sockets = sockets;
    this.on('error', () => undefined);
    this.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Whoever listens has a connection of its own, and everybody else one for each statement. */
  override connect(): Promise<pg.PoolClient>;
  override connect(given: Given): void;
  override connect(given?: Given): Promise<pg.PoolClient> | void {
    if (given !== undefined) return super.connect(given);
    const client = {
      query: (asked: pg.QueryConfig, values?: unknown[]) => this.#done(asked, values),
      release: () => undefined,
    };
    return Promise.resolve(client as unknown as pg.PoolClient);
  }

  /** From now on each statement has one try, because somebody waits for the end. */
  hurry(): void {
    this.#isHurried = true;
    for (const goOn of this.#waiting) goOn();
  }

  /** Cuts all connections. */
  drop(): void {
    this.#sockets.drop();
  }

  async #done(asked: pg.QueryConfig, values?: unknown[]): Promise<unknown> {
    for (let failures = 1; ; failures += 1) {
      try {
        const answer = await this.#once(asked, values);
        this.#isTold = false;
        return answer;
      } catch (error) {
        if (this.#isHurried) throw error;
        this.#tell(error);
        await this.#pause(backoffMs(failures, firstPauseMs, lastPauseMs));
      }
    }
  }

  async #once(asked: pg.QueryConfig, values?: unknown[]): Promise<unknown> {
    const client = await super.connect();
    let isBroken = true;
    try {
      const answer: unknown = await client.query(asked, values);
      isBroken = false;
      return answer;
    } finally {
      client.release(isBroken);
    }
  }

  /** A database that is away is told of by those whose work is lost by it. */
  #tell(error: unknown): void {
    if (this.#isTold || isAway(translate(error))) return;
    this.#isTold = true;
    this.#deps.log.warn('jobs', { error: errorText(error) });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = () => {
        callOff();
        this.#waiting.delete(goOn);
        resolve();
      };
      const callOff = this.#deps.timer.after(ms, goOn);
      this.#waiting.add(goOn);
    });
  }
}
