import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { composeRooms } from '../../src/compose/assembly.ts';
import { everyKind } from '../../src/domain/processes/process.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { createIds } from '../../src/system/ids.ts';
import { freePort } from '../support/ports.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { nullTransport, settings, silentLog } from './world.ts';

/** A Postgres of several processes, filled by statements, and what all of them cost. */

export interface Filled {
  readonly count: number;
  /** The kind of schedule and its columns, as SQL over the number `g` of the task, by their names. */
  readonly schedule: Readonly<Record<string, string>>;
  /** SQL for its next slot. */
  readonly nextAt: string;
  readonly chats?: number;
  readonly prefix?: string;
}

/** Puts tasks straight into the tables; nobody is shown their results. */
export async function fillPostgres(client: pg.Client, { count, schedule, nextAt, chats = 200, prefix = 'a' }: Filled) {
  const columns = Object.keys(schedule);
  await client.query(`
    insert into users (id, role, created_at, updated_at) values ('system:api', 'system', 0, 0) on conflict do nothing;
    insert into chats (id, provider, address, state, settings, last_number, created_at, updated_at)
      select 'chat' || lpad(g::text, 8, '0'), 'cli', 'bench-' || g, 'new', '{}', 0, 0, 0 from generate_series(1, ${chats}) g on conflict do nothing;
    insert into grants (id, owner_id, chat_id, scopes, created_at, created_by)
      select 'grant' || lpad(g::text, 8, '0'), 'system:api', 'chat' || lpad(g::text, 8, '0'), '["action:*","host:*"]', 0, 'system'
      from generate_series(1, ${chats}) g on conflict do nothing;
    insert into tasks (id, chat_id, number, owner_id, grant_id, version, state, next_at, title, instructions, action, action_kind,
        timezone, policies, auto_pause, tags, context, runs, failures, consecutive_failures, bounded_runs, topic_state,
        created_at, created_by, updated_at, updated_by, ${columns.join()})
      select '${prefix}' || lpad(g::text, 31, '0'), 'chat' || lpad((1 + g % ${chats})::text, 8, '0'), ascii('${prefix}') * 100000000::bigint + g,
        'system:api', 'grant' || lpad((1 + g % ${chats})::text, 8, '0'), 1, 'active', ${nextAt}, 'Task ' || g,
        'Water the plants in room ' || g, '{"kind":"message"}', 'message', 'UTC', '{}', 10, '[]', '{}', 0, 0, 0, 0, 'none',
        0, 'system', 0, 'system', ${columns.map((name) => schedule[name]).join()}
      from generate_series(1, ${count}) g`);
}

/** A database of its own with tables and nothing in them. */
export interface BenchDatabase {
  readonly url: string;
  readonly client: pg.Client;
  close(): Promise<void>;
}

export async function openDatabase(adminUrl: string): Promise<BenchDatabase> {
  const database = await createDatabase(adminUrl);
  // The start of a process makes the tables.
  const first = await startWorkers(database.url, 1);
  await first.stop();
  const client = new pg.Client({ connectionString: database.url, options: '-c search_path=cronogram' });
  client.on('error', () => undefined);
  await client.connect();
  return {
    url: database.url,
    client,
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}

export interface Workers {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Built processes, as an operator starts them. Their chats are nobody's. */
export async function startWorkers(databaseUrl: string, count: number): Promise<Workers> {
  const started = await Promise.all(Array.from({ length: count }, () => startWorker(databaseUrl)));
  return {
    pids: started.map(({ pid }) => pid),
    stop: async () => {
      await Promise.all(started.map(({ stop }) => stop()));
    },
  };
}

const readyMaxMs = 60_000;

/** A process of the product, as it was built, in a folder of its own. */
export async function spawnServer(own: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-bench-'));
  const port = await freePort();
  const child = spawn(process.execPath, ['--max-semi-space-size=8', join(process.cwd(), 'dist/main.js')], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SECRETS_KEY: '5e'.repeat(32),
      API_TOKEN: 'a-token-for-the-bench-and-for-nothing-else',
      HTTP_PORT: String(port),
      TELEGRAM_BOT_TOKEN: '123456789:the-token-of-the-bot-of-the-bench',
      TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
      LOG_LEVEL: 'error',
      ...own,
    },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // A bench that breaks off leaves nobody behind.
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    child,
    port,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startWorker(databaseUrl: string) {
  const { child, port, stop } = await spawnServer({ DATABASE_URL: databaseUrl, ROLE: 'worker' });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const until = performance.now() + readyMaxMs; !(await isReady());) {
    if (child.exitCode !== null || performance.now() > until) throw new Error('a worker does not start');
    await pause(50);
  }
  return { pid: child.pid ?? 0, stop };
}

/** One of several processes, in this one: its rooms are stepped by hand, and its chats answer at once. */
export async function openProcess(databaseUrl: string) {
  const timer = systemTimer;
  const opened = await openStore({
    url: databaseUrl,
    holder: { pid: process.pid, host: 'bench', since: Date.now() },
    onLost: (error) => {
      throw error;
    },
    timer,
    shared: { onStandby: () => undefined },
  });
  const world = {
    clock: systemClock,
    stopwatch: systemStopwatch,
    timer,
    ids: createIds(() => Date.now()),
    log: silentLog,
  };
  const sharing = { wall: systemClock, stopwatch: systemStopwatch, timer, onTime: () => undefined };
  const own = { role: 'worker', release: 'bench', host: 'bench', pid: process.pid, takes: everyKind, sharing } as const;
  const { store } = opened;
  const rooms = composeRooms(settings, world, { store, transport: () => nullTransport(), process: own });
  await rooms.processes.begun();
  return {
    rooms,
    store,
    close: async () => {
      await rooms.processes.end();
      await opened.close();
    },
  };
}

/* ---- CPU ---- */

/** The unit by which the kernel counts time. */
const tickMs = 10;

interface Ticks {
  readonly parent: number;
  readonly own: number;
  readonly ofEnded: number;
}

function ticksOf(pid: number): Ticks | null {
  try {
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ').map(Number);
    const at = (index: number) => fields[index] ?? 0;
    return { parent: at(1), own: at(11) + at(12), ofEnded: at(13) + at(14) };
  } catch {
    return null;
  }
}

/** CPU of processes so far. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (ticksOf(pid)?.own ?? 0) * tickMs, 0);
}

/** CPU of a server with all its processes, also those that have ended. */
export function cpuMsOfServer(pid: number): number {
  const main = ticksOf(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => ticksOf(Number(name)) ?? [])
    .filter(({ parent }) => parent === pid);
  const all = (main?.own ?? 0) + (main?.ofEnded ?? 0) + children.reduce((sum, { own }) => sum + own, 0);
  return all * tickMs;
}

export async function serverPid(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return ticksOf(rows[0]?.pid ?? 0)?.parent ?? 0;
}
