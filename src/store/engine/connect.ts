import { Socket } from 'node:net';
import pg from 'pg';
import { AppError } from '../../domain/errors.ts';

/** Connections to Postgres of their own, beside those of the pool, and whether a pooler lends them out. */

export interface Connected {
  readonly client: pg.Client;
  /** At once, whether the server answers or not. */
  readonly drop: () => void;
}

/** Sockets of a pool, which are cut all at once: nothing waits for a server that is gone. */
export function createSockets() {
  const open = new Set<Socket>();
  return {
    stream: (): Socket => {
      const socket = new Socket().once('close', () => open.delete(socket));
      open.add(socket);
      return socket;
    },
    drop: (): void => {
      for (const socket of open) socket.destroy();
    },
  };
}

/** A connection that waits no longer than this for its answers. */
export async function connect(url: string, name: string, answerMs: number, workMs = answerMs): Promise<Connected> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    stream: () => socket,
    connectionTimeoutMillis: answerMs,
    query_timeout: workMs,
  });
  // A connection that breaks fails the question that is under way.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return { client, drop: () => socket.destroy() };
}

/** Beside an open transaction the same question goes to another process of the server where a pooler lends them out. */
export async function isLent(client: pg.Client, url: string, answerMs: number): Promise<boolean> {
  const beside = await connect(url, 'cronogram', answerMs);
  try {
    for (let round = 0; round < poolerRounds; round += 1) {
      const before = await pidOf(client);
      await beside.client.query('begin').catch((error: unknown) => {
        throw (error as { code?: unknown }).code === noTransactions ? pooled() : error;
      });
      if ((await pidOf(beside.client)) === before || (await pidOf(client)) !== before) return true;
      await beside.client.query('rollback');
    }
    return false;
  } finally {
    beside.drop();
  }
}

/** Whether the address is that of a pooler which lends its connections for a transaction. */
export async function leadsToPooler(url: string, answerMs: number): Promise<boolean> {
  const { client, drop } = await connect(url, 'cronogram', answerMs);
  return isLent(client, url, answerMs).finally(drop);
}

/**
 * Both addresses must lead to one database: locks, hints and jobs would be those of another one, and the tables would be brought up to date
 * there. A copy that follows the server passes for it here.
 */
export async function requireSame(url: string, directUrl: string, answerMs: number): Promise<void> {
  const [one, other] = await Promise.all([identityOf(url, answerMs), identityOf(directUrl, answerMs)]);
  const isSame = one.oid === other.oid && (one.server ?? other.server) === (other.server ?? one.server);
  if (isSame) return;
  throw new AppError(
    'store_unavailable',
    `DATABASE_DIRECT_URL leads to another database (${other.name}) than DATABASE_URL (${one.name}). Both must name the same one, on the same server.`,
  );
}

interface Identity {
  readonly name: string;
  readonly oid: string;
  /** Null where this user may not ask. */
  readonly server: string | null;
}

async function identityOf(url: string, answerMs: number): Promise<Identity> {
  const { client, drop } = await connect(url, 'cronogram', answerMs);
  try {
    const { rows } = await client.query<Identity>(identityText);
    if (rows[0] === undefined) throw new Error('the server does not tell which database this is');
    return rows[0];
  } finally {
    drop();
  }
}

const identityText = `select datname as name, oid::text as oid,
    case when has_function_privilege('pg_control_system()', 'execute')
      then (select system_identifier::text from pg_control_system()) end as server
  from pg_database where datname = current_database()`;

/** A pooler that lends in turns shows itself after some. */
const poolerRounds = 3;
/** The code with which one that lends for a single statement refuses transactions. */
const noTransactions = '08P01';

async function pidOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
}

export function pooled(): AppError {
  return new AppError(
    'store_unavailable',
    'DATABASE_URL leads to a pooler that lends a connection for one transaction or statement at a time, and the right to schedule hangs on a ' +
      'connection that stays. Give the address of the Postgres server itself, or of a pooler whose pool_mode is session.',
  );
}
