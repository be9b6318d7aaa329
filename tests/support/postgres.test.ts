import pg from 'pg';
import { expect, test } from 'vitest';
import { freshPostgres } from './postgres.ts';

async function ask(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('every caller gets an empty database of its own, and may drop it', async () => {
  const [mine, yours] = [await freshPostgres(), await freshPostgres()];
  await ask(mine.url, 'create table found (id int)');

  expect(await ask(mine.url, 'select * from found')).toEqual([]);
  await expect(ask(yours.url, 'select * from found')).rejects.toThrow('does not exist');

  await mine.drop();
  await expect(ask(mine.url, 'select 1')).rejects.toThrow('does not exist');
  expect(await ask(yours.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await yours.drop();
});
