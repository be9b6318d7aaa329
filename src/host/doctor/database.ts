import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { counted, durationWords } from '../../cli/times.ts';
import { isShared } from '../../config/config.ts';
import { callerRole } from '../../store/engine/caller.ts';
import type { LockState } from '../../store/engine/lock.ts';
import { listCopies, newestCopy } from '../../store/files/backup.ts';
import type { Here } from '../here.ts';
import { instantText, sizeOf } from '../words.ts';
import { fail, ok, warn, type Check, type Patient, type Verdict } from './finding.ts';
import { isOpenToOthers } from './runtime.ts';

/** The data: whether it is there, whole, writable, of the right version, and copied. */

const onPostgres = ({ settings }: Patient) => (settings.database === null ? 'the database is a Postgres server' : null);

const folder: Check = {
  check: 'data_folder',
  title: 'Data folder',
  leftOut: onPostgres,
  look: ({ settings: { dataFolder, database: file } }) => {
    if (!existsSync(dataFolder)) {
      const parent = ancestorOf(dataFolder);
      if (mayWrite(parent)) return [ok(`${dataFolder} is made at the first start`)];
      return [fail(`${dataFolder} is not there and cannot be made.`, `Give yourself the right to write to ${parent}.`)];
    }
    const owner = `sudo chown -R "$(id -un)" ${dataFolder}`;
    const files = ['', '-wal', '-shm', '.lock'].map((rest) => `${file}${rest}`);
    const closed = [dataFolder, ...files].filter((path) => existsSync(path) && !mayWrite(path));
    if (closed.length > 0) return [fail(`${closed.join(', ')} cannot be written.`, owner)];
    const open = [dataFolder, ...files.slice(0, 1)].filter((path) => existsSync(path) && isOpenToOthers(path));
    if (open.length === 0) return [ok(`${dataFolder}, for its owner alone`)];
    return [warn(`Others on this computer can look into ${open.join(' and ')}.`, `chmod -R go= ${dataFolder}`)];
  },
};

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The nearest folder above that exists. */
function ancestorOf(path: string): string {
  return existsSync(path) ? path : ancestorOf(dirname(path));
}

const database: Check = {
  check: 'database',
  title: 'Database',
  look: ({ settings, examined: { inspection, server } }) => {
    const name = settings.database ?? `Postgres${server === null ? '' : ` ${server}`}`;
    if (inspection.is === 'absent') return [absent(name, settings.database)];
    if (inspection.is === 'sound') {
      const { bytes, tasks, activeTasks } = inspection.facts;
      return [ok(`${name}: whole, ${sizeOf(bytes)}, ${counted(tasks, 'task')} (${activeTasks} active)`)];
    }
    return [unsound(name, inspection.is, inspection.reason)];
  },
};

function absent(name: string, file: string | null): Verdict {
  const copy = file === null ? null : newestCopy(file);
  if (copy === null) return ok(`${name}: empty; it is set up at the first start`);
  return warn(`There is no ${name}, although copies of one are beside it.`, `cronogram restore ${copy}`);
}

function unsound(name: string, is: 'foreign' | 'damaged' | 'unreadable', reason: string): Verdict {
  if (is === 'damaged')
    return fail(`${name} is damaged: ${reason}.`, 'Stop the server, then: cronogram restore latest');
  if (is === 'foreign') return fail(`${name}: ${reason}.`, 'Let DATABASE_URL name another file.');
  const fix = name.startsWith('Postgres')
    ? 'Check the host, the user and the password in DATABASE_URL, and that the server runs.'
    : 'Look at the permissions of the file and its folder.';
  return fail(`${name} cannot be read: ${reason}.`, fix);
}

const lock: Check = {
  check: 'lock',
  title: 'Server process',
  look: ({ here, examined }) => [holderVerdict(examined.lock, here)],
};

function holderVerdict(held: LockState, { system, clock }: Here): Verdict {
  if (held.is === 'free') return ok('none runs on this database');
  if (held.is === 'unknown') return warn(`Whether one runs cannot be told: ${held.reason}.`, 'Run doctor as its user.');
  if (held.by === null) return ok('one has the database');
  const { pid, host, since } = held.by;
  const age = since === null ? '' : `, for ${durationWords(clock.now() - since)}`;
  if (host !== system.host) return ok(`process ${pid} on ${host} has the database${age}`);
  if (system.isRunning(pid)) return ok(`process ${pid} has the database${age}`);
  return warn(
    `Process ${pid} is said to have the database, and is not there; another one has it.`,
    `Look who has it open: fuser -v <the file>.lock`,
  );
}

const migrations: Check = {
  check: 'migrations',
  title: 'Schema',
  look: ({ examined: { inspection, lock: held } }) => {
    if (inspection.is === 'absent') return [ok('is set up at the first start')];
    if (inspection.is !== 'sound') return [];
    const { missing, newer } = inspection.facts;
    if (newer.length > 0) {
      return [
        fail(
          `The database was written by a newer version (it has ${newer.join(', ')}).`,
          'Install that version, or restore a copy from before the upgrade: cronogram restore --list',
        ),
      ];
    }
    if (missing.length === 0) return [ok('up to date')];
    const text = `${counted(missing.length, 'step')} missing (${missing.join(', ')}).`;
    if (held.is !== 'held') return [ok(`${text} The next start adds them and keeps a copy from before.`)];
    return [warn(`${text} An older version runs.`, 'Start the server again, so that the new version runs.')];
  },
};

/** Below this the server soon stops taking up slots, because nothing can be committed. */
const scarceBytes = 256 * 1024 * 1024;
const emptyBytes = 64 * 1024 * 1024;

const disk: Check = {
  check: 'disk',
  title: 'Disk space',
  look: ({ settings: { dataFolder, database: file } }) => {
    const { bavail, bsize } = statfsSync(ancestorOf(dataFolder));
    const free = bavail * bsize;
    const size = file === null ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    const text = `${sizeOf(free)} free in ${dataFolder}`;
    const fix = 'Free some space, or lower BACKUP_KEEP and RETENTION_DAYS.';
    if (free < emptyBytes) return [fail(`Only ${text}: slots cannot be recorded when it is full.`, fix)];
    if (free < size + emptyBytes) return [warn(`Only ${text}: too little for a backup of ${sizeOf(size)}.`, fix)];
    return [free < scarceBytes ? warn(`Only ${text}.`, fix) : ok(text)];
  },
};

/** One is made each night; two missed nights are no accident. */
const staleMs = 50 * 3_600_000;

const backups: Check = {
  check: 'backups',
  title: 'Backups',
  leftOut: (patient) =>
    onPostgres(patient) ?? (existsSync(patient.settings.database ?? '') ? null : 'there is no database yet'),
  look: ({ here, settings }) => {
    const file = settings.database ?? '';
    const copies = listCopies(file);
    const [newest] = copies;
    const make = 'Make one now: cronogram backup. The server makes one each night while it runs.';
    const kept = settings.config.BACKUP_KEEP;
    const none = kept === 0 ? ' BACKUP_KEEP=0: the server makes none.' : '';
    const { birthtimeMs } = statSync(file);
    const now = here.clock.now();
    if (newest === undefined) {
      const isNew = now - birthtimeMs < staleMs && kept > 0;
      return [isNew ? ok('none yet; the first is made tonight') : warn(`There is none.${none}`, make)];
    }
    const age = now - newest.at;
    const text = `${counted(copies.length, 'copy', 'copies')}, the newest from ${instantText(newest.at)} (${sizeOf(newest.bytes)})`;
    if (age <= staleMs) return [ok(text)];
    return [warn(`The newest is ${durationWords(age)} old.${none}`, make)];
  },
};

const alarms: Check = {
  check: 'alarms',
  title: 'Alarms',
  look: ({ examined: { inspection } }) => {
    if (inspection.is !== 'sound') return [];
    const { unheard } = inspection.facts;
    if (unheard.length === 0) return [ok('every owner can be told of trouble, or wants to hear of none')];
    const who = `${unheard.join(', ')} cannot be told of trouble, for want of a private chat with the bot.`;
    return [warn(`${who} The log and /status tell of it alone.`, 'They send /start to the bot in private.')];
  },
};

/** Behind the statements, the database itself shows a token of some chats the rows of these chats alone. */
const callers: Check = {
  check: 'callers',
  title: 'Rows of callers',
  look: ({ examined: { callers: found } }) => {
    if (found === undefined) return [];
    if (found.areKept)
      return [ok(`callers of some chats are served as ${callerRole}, to whom the database shows these alone`)];
    return [
      warn(
        `${found.user} may not become ${callerRole}: the statements alone keep callers of some chats apart.`,
        `As an administrator of the database run: create role ${callerRole} nologin; grant ${callerRole} to "${found.user}"; then start again.`,
      ),
    ];
  },
};

const connections: Check = {
  check: 'connections',
  title: 'Connections',
  look: ({ settings: { config }, examined: { lends } }) => {
    if (lends === undefined) return [];
    if (!lends) return [ok('lead to the server itself, or to a pooler that lends them for a session')];
    const what = 'DATABASE_URL leads to a pooler that lends a connection for one transaction';
    if (!isShared(config))
      return [
        fail(`${what}, and ENGINE=embedded needs one that stays.`, 'Give the address of the Postgres server itself.'),
      ];
    if (config.DATABASE_DIRECT_URL !== undefined)
      return [ok(`${what}; DATABASE_DIRECT_URL leads past it, to listen and to hold the lock`)];
    return [
      warn(
        `${what}: this process hears of the others once a second, and no lock keeps out a server with ENGINE=embedded.`,
        'Let DATABASE_DIRECT_URL name the Postgres server itself.',
      ),
    ];
  },
};

export const databaseChecks: readonly Check[] = [
  folder,
  database,
  connections,
  callers,
  lock,
  migrations,
  disk,
  backups,
  alarms,
];
