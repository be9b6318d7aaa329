import Database from 'better-sqlite3';
import pg from 'pg';
import type { StoredRow } from '../support/stored-rows.ts';

const names = ['tasks', 'chats', 'occurrences', 'gaps', 'runs', 'attempts', 'deliveries', 'audit'] as const;

type Name = (typeof names)[number];
export type Row<N extends Name> = StoredRow<N>;
export type Rows = { readonly [N in Name]: readonly Row<N>[] };

/** Everything that the server wrote, read behind its back once it has stopped. */
export function readRows(databaseUrl: string): Promise<Rows> {
  return databaseUrl.startsWith('file:') ? Promise.resolve(readFile(databaseUrl.slice(5))) : readPostgres(databaseUrl);
}

function readFile(file: string): Rows {
  const connection = new Database(file, { readonly: true });
  try {
    const check = connection.pragma('integrity_check', { simple: true });
    if (check !== 'ok') throw new Error(`The database file is damaged: ${String(check)}`);
    return Object.fromEntries(
      names.map((name) => [name, connection.prepare(`select * from ${name}`).all()]),
    ) as unknown as Rows;
  } finally {
    connection.close();
  }
}

const bigint = 20;

async function readPostgres(url: string): Promise<Rows> {
  const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
    Number(oid) === bigint ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown);
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
  await client.connect();
  try {
    const read: [Name, unknown[]][] = [];
    for (const name of names) read.push([name, (await client.query(`select * from ${name}`)).rows]);
    return Object.fromEntries(read) as unknown as Rows;
  } finally {
    await client.end();
  }
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** A promise that was not kept, with the rows that show it. */
export interface Breach {
  readonly promise: string;
  readonly rows: unknown;
}
