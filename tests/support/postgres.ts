import { inject } from 'vitest';
import { createDatabase } from './postgres-server.ts';
import type { FreshDatabase } from './postgres-server.ts';

/** An empty database of its own, on the one real Postgres of this vitest run. */
export async function freshPostgres(): Promise<FreshDatabase> {
  const answer = await fetch(inject('postgresDoor'), { headers: { connection: 'close' } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`There is no Postgres to test with. ${text}`);
  return createDatabase(text);
}

/** What a server on Postgres must be given, because no file beside its database can keep it. */
export const onPostgres = { SECRETS_KEY: '5e'.repeat(32), API_TOKEN: 'the-token-of-the-tests' } as const;
