import { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { goHome, ownSchema } from '../../src/store/engine/home.ts';
import type { Connections } from '../../src/store/engine/postgres.ts';

/** An embedded Postgres without a server; everything it holds is gone with it. */
export function startPglite(): Promise<PGlite> {
  return PGlite.create();
}

/** What the driver takes for a socket: all that it sends at once is one question to the embedded Postgres. */
class Wire extends Duplex {
  readonly #database: PGlite;

  constructor(database: PGlite) {
    super();
    this.#database = database;
  }

  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    // Answers are pushed when they are there.
  }

  override _write(question: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const answer = async () => done(await this.#ask(question));
    void answer();
  }

  override _writev(parts: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(parts.map(({ chunk }) => chunk)), '', done);
  }

  async #ask(question: Buffer): Promise<Error | null> {
    try {
      this.push(Buffer.from(await this.#database.execProtocolRaw(question)));
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

const int8 = 20;

async function clientOf(database: PGlite): Promise<pg.Client> {
  const client = new pg.Client({
    stream: () => new Wire(database),
    user: 'postgres',
    database: 'postgres',
    types: {
      getTypeParser: (oid: number) =>
        oid === int8 ? Number : (pg.types.getTypeParser(oid) as (text: string) => unknown),
    },
  });
  await client.connect();
  await client.query(goHome(ownSchema));
  return client;
}

/**
 * The one session of PGlite as a pool of one connection: whoever wants to use it waits for its turn, and a single read
 * waits like a transaction, because in the middle of one it would see rows that are not committed.
 */
export function pgliteConnections(database: PGlite): Connections {
  const turns = turnstile();
  const opened = clientOf(database);
  const names = new Map<string, string>();
  /** Planning a statement costs more than doing it, so each text is planned once. */
  const named = (text: string) => {
    if (!/^\s*(?:select|with|insert|update|delete)\b/i.test(text)) return {};
    const name = names.get(text) ?? `s${names.size}`;
    names.set(text, name);
    return { name };
  };
  return {
    connect: async () => {
      const leave = await turns.enter();
      const client = await opened;
      return { query: (text, values) => client.query({ ...named(text), text, values: [...values] }), release: leave };
    },
    // The instance belongs to the test file, and outlives the stores that are opened over it.
    end: () => Promise.resolve(),
  };
}

function turnstile() {
  let last: Promise<void> = Promise.resolve();
  return {
    enter: async (): Promise<() => void> => {
      const before = last;
      let leave: () => void = () => {};
      last = new Promise((resolve) => {
        leave = resolve;
      });
      await before;
      return leave;
    },
  };
}
