import { PGlite } from '@electric-sql/pglite';
import { drizzle } from 'drizzle-orm/pglite';
import type { Engine } from '../../src/store/engine/engine.ts';
import type { Connections } from '../../src/store/engine/postgres.ts';

/** An embedded Postgres without a server; everything it holds is gone with it. */
export function startPglite(): Promise<PGlite> {
  return PGlite.create();
}

/**
 * The one session of PGlite as a pool of one connection: whoever wants to use it waits for its turn, and a single read
 * waits like a transaction, because in the middle of one it would see rows that are not committed.
 */
export function pgliteConnections(database: PGlite): Connections {
  const turns = turnstile();
  const reader = {
    query: async (...args: Parameters<PGlite['query']>) => {
      const leave = await turns.enter();
      try {
        return await database.query(...args);
      } finally {
        leave();
      }
    },
  };
  return {
    connect: async () => {
      const leave = await turns.enter();
      return { query: (text, values) => database.query(text, [...values]), release: leave };
    },
    reader: drizzle(reader as unknown as PGlite) as unknown as Engine['reader'],
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
