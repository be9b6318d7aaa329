import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** GET answers with the administrator URL of the Postgres of this run, and starts it when it is the first. */
    postgresDoor: string;
    /** `npm run test:postgres` */
    isOnPostgres: boolean;
  }
}

/** Everything of one vitest run: projects load this file separately, yet share one server. */
interface Shared {
  door?: Promise<Server>;
  postgres?: Promise<PostgresServer>;
  users: number;
}

const key = Symbol.for('cronogram.tests.postgres');
const world = globalThis as typeof globalThis & { [key]?: Shared | undefined };

/** A server that nobody asks for is never started: a run of SQLite tests alone pays nothing. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (world[key] ??= { users: 0 });
  shared.users += 1;
  shared.door ??= openDoor(shared);
  project.provide('postgresDoor', addressOf(await shared.door));
  project.provide('isOnPostgres', project.config.mode === 'postgres');
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    (await shared.door)?.close();
    await shared.postgres?.then(
      (postgres) => postgres.stop(),
      // The tests that asked for the server have reported why it did not start.
      () => {},
    );
    world[key] = undefined;
  };
}

function openDoor(shared: Shared): Promise<Server> {
  const door = createServer((_request, response) => {
    shared.postgres ??= startPostgres();
    shared.postgres.then(
      (postgres) => response.end(postgres.url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  return new Promise((resolve, reject) => {
    door.once('error', reject).listen(0, '127.0.0.1', () => resolve(door));
  });
}

function addressOf(door: Server): string {
  const address = door.address();
  if (address === null || typeof address === 'string') throw new Error('The door of the test Postgres has no port.');
  return `http://127.0.0.1:${address.port}`;
}
