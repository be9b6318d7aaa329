import { closeSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type pg from 'pg';
import type { ProcessView } from '../../domain/processes/process.ts';
import { callerText } from '../engine/caller.ts';
import { connect, isLent, type Connected } from '../engine/connect.ts';
import { goHome, homeIn } from '../engine/home.ts';
import { holderText, type LockState } from '../engine/lock.ts';
import { readMigrations, type Migration } from '../engine/migrate.ts';

/** Facts about a database, for a look from outside. Nothing in here writes, and no lock is needed. */
export interface DatabaseFacts {
  readonly bytes: number;
  /** Steps of the schema that the program knows and the database does not have yet. */
  readonly missing: readonly string[];
  /** Steps that the database has and this program does not know: a newer one made them. */
  readonly newer: readonly string[];
  /** The rules of time with which the next slots were computed. */
  readonly zoneRules: string | null;
  readonly tasks: number;
  readonly activeTasks: number;
  /** The newest slot that was taken up. */
  readonly lastSlotAt: number | null;
  /** The last sign of life of a server. */
  readonly aliveAt: number | null;
  /** Chats in which the bot may work. */
  readonly chats: readonly ApprovedChat[];
  /** Owners who want to hear of trouble and have no private chat in which they could. */
  readonly unheard: readonly string[];
  /** Under which keys secrets are sealed, and how many. */
  readonly sealed: readonly { readonly keyId: string; readonly count: number }[];
  /** Kinds of actions of which nothing begins for now. */
  readonly pausedKinds: readonly { readonly kind: string; readonly since: number; readonly by: string }[];
}

/** A process whose row has not ended. */
export interface LiveProcess extends Pick<ProcessView, 'role' | 'release' | 'host' | 'pid' | 'connections'> {
  /** With commas between them. */
  readonly kinds: string;
  readonly seenAgoMs: number;
  /** The process has not renewed its lease in time. */
  readonly isOver: boolean;
  /** Runs and parts that it has in hand. */
  readonly runs: number;
  readonly parts: number;
}

export interface UndoneKind {
  readonly kind: string;
  readonly runs: number;
}

export interface ApprovedChat {
  readonly address: string;
  readonly title: string | null;
  readonly kind: string | null;
}

export type Inspection =
  | { readonly is: 'sound'; readonly facts: DatabaseFacts }
  | { readonly is: 'absent' }
  /** A file of something else. */
  | { readonly is: 'foreign'; readonly reason: string }
  | { readonly is: 'damaged'; readonly reason: string }
  /** The file may be sound, but the user of this process must not read it. */
  | { readonly is: 'unreadable'; readonly reason: string };

/** Enough for a commit of the server to pass. */
const busyMs = 2000;
const magic = 'SQLite format 3\u0000';

/** Reading every page takes a while for a large file. */
export function inspectFile(file: string, known = readMigrations('sqlite')): Inspection {
  const head = headOf(file);
  if (head.is !== 'read') return head;
  if (head.text !== magic) return { is: 'foreign', reason: 'it is not a SQLite file' };
  let connection: Database.Database | null = null;
  try {
    connection = new Database(file, { readonly: true, fileMustExist: true, timeout: busyMs });
    const verdict = String(connection.pragma('quick_check(1)', { simple: true }));
    if (verdict !== 'ok') return { is: 'damaged', reason: verdict };
    return inspect(connection, known);
  } catch (error) {
    return failureOf(error);
  } finally {
    connection?.close();
  }
}

/** Files that are no databases are not opened: a log that lies beside it would be taken for its own, and removed. */
export function looksLikeDatabase(file: string): boolean {
  const head = headOf(file);
  return head.is === 'read' && head.text === magic;
}

type Head = { readonly is: 'read'; readonly text: string } | Exclude<Inspection, { is: 'sound' }>;

function headOf(file: string): Head {
  let handle: number | null = null;
  try {
    // To open a pipe is to wait for whoever writes into it.
    if (!statSync(file).isFile()) return { is: 'unreadable', reason: 'it is not a regular file' };
    handle = openSync(file, 'r');
    const bytes = Buffer.alloc(magic.length);
    readSync(handle, bytes, 0, bytes.length, 0);
    return { is: 'read', text: bytes.toString('latin1') };
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string };
    return code === 'ENOENT' ? { is: 'absent' } : { is: 'unreadable', reason: code };
  } finally {
    if (handle !== null) closeSync(handle);
  }
}

function failureOf(error: unknown): Inspection {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { is: 'damaged', reason: message };
  if (code.startsWith('SQLITE_')) return { is: 'unreadable', reason: message };
  throw error;
}

function inspect(connection: Database.Database, known: readonly Migration[]): Inspection {
  const tables = new Set(connection.prepare(`select name from sqlite_master where type = 'table'`).pluck().all());
  if (!tables.has('schema_migrations') || !tables.has('tasks'))
    return { is: 'foreign', reason: 'it is a database of another program' };
  const applied = connection.prepare(`select name from schema_migrations order by name`).pluck().all() as string[];
  const difference = schemaDifference(connection, known, applied);
  if (difference !== null) return difference;
  const value = (text: string) => connection.prepare(text).pluck().get() as number | string | null | undefined;
  const [tasks, activeTasks] = [value(countTasks), value(countActive)].map(Number);
  return {
    is: 'sound',
    facts: {
      // Not the size of the file: what is new may still be in the log alone.
      bytes: Number(value('select page_count * page_size from pragma_page_count(), pragma_page_size()')),
      ...stepsOf(known, applied),
      zoneRules: textOf(value(noteText('tz_version'))),
      tasks: tasks ?? 0,
      activeTasks: activeTasks ?? 0,
      lastSlotAt: instantOf(value(lastSlotText)),
      aliveAt: instantOf(value(noteText('alive_at'))),
      chats: connection.prepare(chatsText).all() as ApprovedChat[],
      unheard: connection.prepare(unheardText).pluck().all() as string[],
      // A database of an older version has no such table yet.
      sealed: tables.has('secrets') ? sealedOf(connection.prepare(sealedText).all()) : [],
      pausedKinds: tables.has('paused_kinds') ? pausedOf(connection.prepare(pausedText).all()) : [],
    },
  };
}

/** The schema that the steps make, against the one that is there; of what a newer version makes nothing is known. */
function schemaDifference(
  connection: Database.Database,
  known: readonly Migration[],
  applied: readonly string[],
): Extract<Inspection, { is: 'damaged' | 'foreign' }> | null {
  if (stepsOf(known, applied).newer.length > 0) return null;
  const steps = known.slice(0, applied.length);
  const odd = applied.find((name, index) => name !== steps[index]?.name);
  if (odd !== undefined) return { is: 'damaged', reason: `the steps before ${odd} are not all there` };
  const [expected, found] = [shapeOfSteps(steps), shapeOf(connection)];
  const missing = [...expected.keys()].find((one) => !found.has(one));
  if (missing !== undefined) return { is: 'damaged', reason: `the ${missing} is missing` };
  const other = [...found].filter(([one, text]) => expected.get(one) !== text).map(([one]) => one);
  const foreign = other.find((one) => !expected.has(one)) ?? other[0];
  return foreign === undefined ? null : { is: 'foreign', reason: `the ${foreign} is not of Cronogram` };
}

function shapeOfSteps(steps: readonly Migration[]): ReadonlyMap<string, string> {
  const model = new Database(':memory:');
  try {
    for (const { statements } of steps) for (const statement of statements) model.exec(statement);
    return shapeOf(model);
  } finally {
    model.close();
  }
}

/** Columns by themselves, so that a difference is named; constraints, indexes and triggers by the text that made them. */
const shapeText = `select type || ' ' || name, sql from sqlite_master
    where name not like 'sqlite\\_%' escape '\\' and not (type = 'table' and name = 'schema_migrations')
  union all select 'column ' || c.name || ' of ' || m.name, '' from sqlite_master m, pragma_table_info(m.name) c
    where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\' and m.name <> 'schema_migrations'`;

function shapeOf(connection: Database.Database): ReadonlyMap<string, string> {
  const rows = connection.prepare(shapeText).raw().all() as [string, string][];
  return new Map(rows.map(([name, text]) => [name, text.replaceAll(/["`\s]/g, '')]));
}

const countTasks = `select count(*) from tasks where state <> 'deleted'`;
const countActive = `select count(*) from tasks where state = 'active'`;
const lastSlotText = `select max(slot_at) from occurrences where status <> 'pending'`;
const chatsText = `select address, title, kind from chats where provider = 'telegram' and state = 'approved' order by address`;

const unheardText = `select u.id from users u where u.role = 'owner'
  and not exists (select 1 from chats c where 'telegram:user:' || c.address = u.id and c.state not in ('gone', 'refused'))
  and not exists (select 1 from kv where scope = 'system' and key = 'alarms:' || u.id and value <> '"private"')
  order by u.id`;

const sealedText = `select key_id, count(*) as held from secrets group by key_id order by key_id`;

function sealedOf(rows: readonly unknown[]): DatabaseFacts['sealed'] {
  return (rows as readonly { key_id: string; held: number | string }[]).map((row) => ({
    keyId: row.key_id,
    count: Number(row.held),
  }));
}

const pausedText = 'select kind, since, paused_by from paused_kinds order by since, kind';

function pausedOf(rows: readonly unknown[]): DatabaseFacts['pausedKinds'] {
  return (rows as readonly { kind: string; since: number | string; paused_by: string }[]).map((row) => {
    return { kind: row.kind, since: Number(row.since), by: row.paused_by };
  });
}

const nowText = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
/** An earlier version has no column for connections. */
const processesText = `select role, release, kinds, host, pid::int as pid, (to_jsonb(p)->>'connections')::int as connections,
    (${nowText} - seen_at)::float8 as "seenAgoMs", lease_until < ${nowText} as "isOver",
    (select count(*) from runs r where r.status = 'running' and r.boot_id = p.id)::int as runs,
    (select count(*) from deliveries d where d.status = 'sending' and d.boot_id = p.id)::int as parts
  from processes p where ended_at is null order by started_at, id`;
/** Rows from before runs had a kind are left out. */
const undoneText = `select action_kind as kind, count(*)::int as runs from runs
  where status in ('queued', 'backoff') and action_kind is not null and not exists (
    select 1 from processes p where p.ended_at is null and position(',' || action_kind || ',' in ',' || p.kinds || ',') > 0)
  group by action_kind order by action_kind`;
/** Of those of the server, some are kept for its administrators. */
const connectionsText = `select (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
  - coalesce(current_setting('reserved_connections', true)::int, 0))`;

function noteText(key: 'tz_version' | 'alive_at'): string {
  return `select value from kv where scope = 'system' and key = '${key}'`;
}

function stepsOf(known: readonly Migration[], applied: readonly string[]) {
  const names = known.map(({ name }) => name);
  return {
    missing: names.filter((name) => !applied.includes(name)),
    newer: applied.filter((name) => !names.includes(name)),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whole numbers come as texts from a note, and from Postgres. */
function instantOf(value: unknown): number | null {
  const instant = value === null || value === undefined ? Number.NaN : Number(value);
  return Number.isSafeInteger(instant) ? instant : null;
}

/** An inspection does not wait long. */
const patienceMs = 5000;

export interface ServerInspection {
  readonly inspection: Inspection;
  readonly lock: LockState;
  readonly server: string | null;
  /** The address leads to a pooler that lends its connections for a transaction. */
  readonly lends?: boolean;
  /** Who it is asked as, and whether callers are served there under a role of their own; absent where nothing is known of it. */
  readonly callers?: { readonly user: string; readonly areKept: boolean };
  /** Processes that share the database; absent where nothing is known of them. */
  readonly processes?: readonly LiveProcess[];
  /** Runs that wait for a kind which no process that lives does. */
  readonly undone?: readonly UndoneKind[];
  /** Connections that the server gives to others than its administrators. */
  readonly connectionsMax?: number;
}

/** Inspects a Postgres database. What it throws of a driver never holds the address, which may hold a password. */
export async function inspectPostgres(url: string): Promise<ServerInspection> {
  let connected: Connected | null = null;
  try {
    connected = await connect(url, 'cronogram doctor', patienceMs);
    const lends = await isLent(connected.client, url, patienceMs);
    // A transaction keeps the connection, and what it was told, also behind a pooler.
    await connected.client.query('begin read only');
    return { ...(await inspectServer(connected.client)), lends };
  } catch (error) {
    const reason = error instanceof Error ? error.message || String((error as { code?: string }).code) : String(error);
    return { inspection: { is: 'unreadable', reason }, lock: { is: 'unknown', reason }, server: null };
  } finally {
    connected?.drop();
  }
}

async function inspectServer(client: pg.Client): Promise<ServerInspection> {
  const value = async (text: string): Promise<unknown> => {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return Object.values(rows[0] ?? {})[0];
  };
  const server = textOf(await value('show server_version'));
  const holder = textOf(await value(holderText));
  const lock: LockState = holder === null ? { is: 'free' } : { is: 'held', by: holderOf(holder) };
  const home = await homeIn(client);
  if (home === null) return { inspection: { is: 'absent' }, lock, server };
  await client.query(goHome(home));
  const { rows: applied } = await client.query<{ name: string }>(`select name from schema_migrations order by name`);
  const { rows: chats } = await client.query<{ address: string; title: string | null; kind: string | null }>(chatsText);
  const facts: DatabaseFacts = {
    bytes: Number(await value('select pg_database_size(current_database())')),
    ...stepsOf(
      readMigrations('postgres'),
      applied.map(({ name }) => name),
    ),
    zoneRules: textOf(await value(noteText('tz_version'))),
    tasks: Number(await value(countTasks)),
    activeTasks: Number(await value(countActive)),
    lastSlotAt: instantOf(await value(lastSlotText)),
    aliveAt: instantOf(await value(noteText('alive_at'))),
    chats,
    unheard: (await client.query<{ id: string }>(unheardText)).rows.map(({ id }) => id),
    sealed:
      (await value(`select to_regclass('secrets')`)) === null ? [] : sealedOf((await client.query(sealedText)).rows),
    pausedKinds:
      (await value(`select to_regclass('paused_kinds')`)) === null
        ? []
        : pausedOf((await client.query(pausedText)).rows),
  };
  const hasProcesses = (await value(`select to_regclass('processes')`)) !== null;
  const processes = hasProcesses ? (await client.query<LiveProcess>(processesText)).rows : [];
  const undone = hasProcesses ? (await client.query<UndoneKind>(undoneText)).rows : [];
  const connectionsMax = Number(await value(connectionsText));
  const callers = { user: String(await value('select current_user')), areKept: (await value(callerText)) === true };
  return { inspection: { is: 'sound', facts }, lock, server, callers, processes, undone, connectionsMax };
}

/** The lock on Postgres is held by a connection that is called after its process. */
function holderOf(name: string) {
  const [, pid, host] = /^process (\d+) on (.+)$/.exec(name) ?? [];
  return pid === undefined || host === undefined ? null : { pid: Number(pid), host, since: null };
}
