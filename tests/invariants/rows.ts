import Database from 'better-sqlite3';
import pg from 'pg';
import type { Schedule } from '../../src/domain/schedule/schedule.ts';
import type { StoredRow } from '../support/stored-rows.ts';

const names = ['tasks', 'chats', 'occurrences', 'gaps', 'runs', 'attempts', 'deliveries', 'audit', 'acks'] as const;

type Name = (typeof names)[number];
export type Row<N extends Name> = StoredRow<N>;
export type Rows = { readonly [N in Name]: readonly Row<N>[] };

/** Everything that a server wrote, read behind its back. */
export function readRows(databaseUrl: string): Promise<Rows> {
  return databaseUrl.startsWith('file:') ? Promise.resolve(readFile(databaseUrl.slice(5))) : readPostgres(databaseUrl);
}

/**
 * The rows of some tasks of a database file that is too large to be read at once; with the words that belong to no task
 * where `withWords` says so.
 */
export function readRowsOf(databaseUrl: string, ids: readonly string[], { withWords }: { withWords: boolean }): Rows {
  const connection = new Database(databaseUrl.slice(5), { readonly: true });
  const among = `in (select value from json_each(?))`;
  const ofTask = `task_id ${among}${withWords ? ' or task_id is null' : ''}`;
  const where: Readonly<Partial<Record<Name, string>>> = {
    tasks: `where id ${among}`,
    attempts: `where run_id in (select id from runs where ${ofTask})`,
  };
  try {
    const read = names.map((name) => {
      if (name === 'chats') return [name, connection.prepare('select * from chats').all()] as const;
      const statement = connection.prepare(`select * from ${name} ${where[name] ?? `where ${ofTask}`}`);
      return [name, statement.all(JSON.stringify(ids))] as const;
    });
    return Object.fromEntries(read) as unknown as Rows;
  } finally {
    connection.close();
  }
}

function readFile(file: string): Rows {
  const connection = new Database(file, { readonly: true });
  try {
    const check = connection.pragma('integrity_check', { simple: true });
    if (check !== 'ok') throw new Error(`The database file is damaged: ${String(check)}`);
    return rowsIn(connection);
  } finally {
    connection.close();
  }
}

export function rowsIn(connection: Database.Database): Rows {
  const read = names.map((name) => [name, connection.prepare(`select * from ${name}`).all()] as const);
  return Object.fromEntries(read) as unknown as Rows;
}

const bigint = 20;

async function readPostgres(url: string): Promise<Rows> {
  const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
    Number(oid) === bigint ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown);
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser },
    options: '-c search_path=cronogram,public',
  });
  await client.connect();
  try {
    const read: [Name, unknown[]][] = [];
    // In the order in which they were made, which the server keeps no more than it must.
    for (const name of names) read.push([name, (await client.query(`select * from ${name} order by 1`)).rows]);
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

/** The groups in which one would have been right. */
export function repeated<T>(items: readonly T[], keyOf: (item: T) => string | null): readonly T[][] {
  return [...groupBy(items, keyOf).values()].filter(({ length }) => length > 1);
}

/** A promise that was not kept, with what shows it. */
export interface Breach {
  readonly promise: string;
  readonly rows: unknown;
}

/** A few of those that break a promise tell as much as all. */
export function tell(promise: string, found: readonly unknown[]): Breach[] {
  return found.length === 0 ? [] : [{ promise, rows: found.slice(0, 3).map(brief) }];
}

const long = new Set(['input', 'content', 'output', 'payload_hash', 'idempotency_key', 'instructions']);

/** Without the texts that fill a screen and prove nothing. */
function brief(found: unknown): unknown {
  if (Array.isArray(found)) return found.map(brief);
  if (typeof found !== 'object' || found === null) return found;
  const kept = Object.entries(found).filter(([name, value]) => !long.has(name) && value !== null);
  return Object.fromEntries(kept.map(([name, value]) => [name, brief(value)]));
}

export const iso = (at: number) => new Date(at).toISOString();

export function scheduleOf(task: Row<'tasks'>): Schedule {
  const { timezone, once_at: onceAt, cron, rrule, interval, start_at: startAt } = task;
  if (onceAt !== null) return { kind: 'once', onceAt, timezone };
  if (cron !== null) return { kind: 'cron', cron, timezone };
  if (rrule !== null) return { kind: 'rrule', rrule, timezone };
  const from = task.interval_from === 'completion' ? 'completion' : 'start';
  return { kind: 'interval', interval: interval ?? '', startAt: startAt ?? 0, from, timezone };
}
