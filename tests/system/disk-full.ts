import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRows, type Breach } from '../invariants/rows.ts';
import { breachesOf } from './account.ts';
import { call, create, runsOf, type WireTask } from './api.ts';
import { becomes, readyUrl, start, type Boot, type StartOptions } from './program.ts';
import { openTelegram, threadOf } from './telegram.ts';

/** A way to leave a database no room to grow, and to give the room back. */
interface Squeeze {
  readonly folder: string;
  take(pid: number): void;
  giveBack(pid: number): void;
  end(): void;
}

export interface FullResult {
  readonly breaches: readonly Breach[];
  /** What could not be tried here, and why. */
  readonly skipped: readonly string[];
}

/** The longest pause of a loop that failed, and a margin. */
const recoverMs = 25_000;

export async function diskFull(options: StartOptions): Promise<FullResult> {
  const breaches: Breach[] = [];
  const skipped: string[] = [];
  for (const make of [sizeLimit, smallDisk]) {
    const squeeze = make(options.folder);
    if (typeof squeeze === 'string') {
      skipped.push(squeeze);
      continue;
    }
    // Each has chats of its own, so that these hold what its database tells and nothing else.
    const telegram = await openTelegram();
    try {
      const databaseUrl = `file:${join(squeeze.folder, 'full.db')}`;
      breaches.push(...(await fill({ ...options, databaseUrl, telegram }, squeeze)));
    } finally {
      await telegram.close();
      squeeze.end();
    }
  }
  return { breaches, skipped };
}

/** A limit on the size of files, set on the running process: the soft limit is everybody's to lower and to raise again. */
function sizeLimit(folder: string): Squeeze | string {
  const limit = (pid: number, bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  try {
    limit(process.pid, 'unlimited');
  } catch (error) {
    return `file size limit: prlimit cannot be used here (${String(error).split('\n', 1)[0]})`;
  }
  const place = join(folder, 'limited');
  mkdirSync(place);
  return { folder: place, take: (pid) => limit(pid, '1'), giveBack: (pid) => limit(pid, 'unlimited'), end: () => {} };
}

/** A disk of a few megabytes in memory, filled up by a file of ours. Mounting takes the rights of an administrator. */
function smallDisk(folder: string): Squeeze | string {
  const place = join(folder, 'small-disk');
  mkdirSync(place);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', place], { stdio: 'pipe' });
  } catch (error) {
    return `small disk: a file system cannot be mounted here (${String(error).split('\n', 1)[0]})`;
  }
  const ballast = join(place, 'ballast');
  return {
    folder: place,
    take: () => fillUp(ballast),
    giveBack: () => rmSync(ballast),
    end: () => execFileSync('umount', [place]),
  };
}

function fillUp(file: string): void {
  for (let size = 8 << 20; size >= 4096; size >>= 1) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
    }
  }
}

interface World {
  readonly boot: Boot;
  readonly url: string;
  readonly databaseUrl: string;
  readonly tasks: readonly WireTask[];
  readonly breaches: Breach[];
}

async function fill(options: StartOptions, squeeze: Squeeze): Promise<Breach[]> {
  const boot = start(options);
  const url = await readyUrl(boot);
  const tasks: WireTask[] = [];
  for (const missed of ['skip', 'once', 'all', 'all']) {
    const action = tasks.length === 3 ? { action: { kind: 'echo', delay_ms: 700 } } : {};
    const body = {
      title: `Task ${tasks.length}`,
      instructions: 'Room is short.',
      schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' },
      ...action,
    };
    tasks.push(await create(url, threadOf(), { ...body, policies: { missed } }));
  }
  const world: World = { boot, url, tasks, databaseUrl: options.databaseUrl, breaches: [] };
  await pause(2000);
  squeeze.take(boot.pid);
  await whileFull(world);
  squeeze.giveBack(boot.pid);
  await afterwards(world);
  const asked = Date.now();
  const { code, at } = await boot.stop();
  if (code !== 0)
    world.breaches.push({ promise: 'a stop by SIGTERM ends with code 0', rows: { code, errors: boot.errors() } });
  const rows = await readRows(options.databaseUrl);
  // A full disk is told in the log; that is not what is proved here.
  const log = boot.log.filter(({ level }) => level !== 'error');
  return [...world.breaches, ...breachesOf(rows, options.telegram.seen(), { stop: { asked, ended: at }, log })];
}

const statusOf = async (url: string, path: string) => (await call(url, { method: 'GET', path })).status;

async function whileFull({ boot, url, databaseUrl, breaches }: World): Promise<void> {
  if (!(await becomes(async () => (await statusOf(url, '/readyz')) === 503, 10_000))) {
    breaches.push({
      promise: 'readyz says 503 while the disk is full',
      rows: await call(url, { method: 'GET', path: '/readyz' }),
    });
  }
  const before = await readRows(databaseUrl);
  const body = { instructions: 'There is no room.', schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' } };
  const refused = await call(url, { method: 'POST', path: `/v1/threads/${threadOf()}/tasks`, body });
  if (refused.status !== 503) breaches.push({ promise: 'what cannot be written is refused with 503', rows: refused });
  await pause(4000);
  const after = await readRows(databaseUrl);
  if (after.tasks.length !== before.tasks.length)
    breaches.push({ promise: 'nothing is written by halves', rows: after.tasks });
  const live = await statusOf(url, '/livez');
  const gone = await Promise.race([boot.exit, Promise.resolve(null)]);
  if (live !== 200 || gone !== null)
    breaches.push({ promise: 'the process stays alive while the disk is full', rows: { live, gone } });
  const lost = after.tasks.filter(({ state }) => state !== 'active');
  if (lost.length > 0) breaches.push({ promise: 'a full disk ends no task', rows: lost });
}

/** The slots stood due all the time: now they are taken, each by the policy of its task. */
async function afterwards({ url, tasks, breaches }: World): Promise<void> {
  const counts = async () => Promise.all(tasks.map(async ({ task_id: id }) => (await runsOf(url, id)).length));
  const before = await counts();
  const goOn = async () => (await counts()).every((count, index) => count > (before[index] ?? 0) + 2);
  if (!(await becomes(goOn, recoverMs)))
    breaches.push({ promise: 'slots are taken once there is room', rows: { before, after: await counts() } });
  if (!(await becomes(async () => (await statusOf(url, '/readyz')) === 200, recoverMs))) {
    breaches.push({
      promise: 'readyz says 200 once there is room',
      rows: await call(url, { method: 'GET', path: '/readyz' }),
    });
  }
}
