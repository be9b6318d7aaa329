import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliFault, usage } from '../cli/faults.ts';
import { facts, sentence } from '../cli/layout.ts';
import { confirmed, showing, type LocalSession, type Told } from '../cli/session.ts';
import { counted, distance } from '../cli/times.ts';
import { errorText } from '../domain/errors.ts';
import { iso } from '../domain/schedule/time/calendar.ts';
import { lockNameOf, lockState } from '../store/engine/lock.ts';
import { copyDatabase, copyName, fileBackups, listCopies, keptAside, type Copy } from '../store/files/backup.ts';
import { inspectFile, type DatabaseFacts, type Inspection } from '../store/files/inspection.ts';
import { restoreDatabase } from '../store/files/restoration.ts';
import { keyIdsOf } from '../system/vault.ts';
import { keySource, type Here } from './here.ts';
import { instantText, sizeOf, typedPath } from './words.ts';

const dumpLine = 'pg_dump --format=custom --file=cronogram.dump "$DATABASE_URL"';
const restoreLine = 'pg_restore --clean --if-exists --dbname="$DATABASE_URL" cronogram.dump';

/** Copies of a server are the work of its own tools. */
function requireFile({ settings }: Here, line: string): string {
  const { database } = settings();
  if (database === null) {
    const message = `The database is a Postgres server, which has tools of its own for that:\n\n  ${line}\n`;
    throw new CliFault('refused', message);
  }
  if (!database.endsWith(':memory:')) return database;
  throw new CliFault('refused', 'The database is not a file of this computer.');
}

const isoOf = (instant: number | null) => (instant === null ? null : iso(instant));
const slotText = (slot: number | null) => (slot === null ? 'none yet' : instantText(slot));

/* ---- making one ---- */

interface BackupWish {
  /** A file or a folder; the folder beside the database when absent. */
  readonly target: string | undefined;
  readonly keep: number | undefined;
}

/** A whole and verified copy, whether a server runs or not. */
export async function backup(session: LocalSession, here: Here, { target, keep }: BackupWish): Promise<Told> {
  const { terminal } = session;
  const database = requireFile(here, dumpLine);
  const copying = () => `Copying ${typedPath(database, here.system.folder)}, and reading the copy`;
  const made = await showing(session, copying, () => copyTo(here, database, target));
  const { tasks, activeTasks, lastSlotAt } = soundOrGone(made.file, database);
  const pruned = keep === undefined ? 0 : await fileBackups(database).prune(keep);
  const secrets = leftOut(here);
  const typed = (path: string) => typedPath(path, here.system.folder);
  const text = await facts(terminal, [
    ['copy', typed(made.file)],
    ['size', `${sizeOf(made.bytes)}, read again and whole`],
    ['contains', `${counted(tasks, 'task')} (${activeTasks} active), last slot ${slotText(lastSlotAt)}`],
    ['removed', pruned === 0 ? null : counted(pruned, 'older copy', 'older copies')],
    ['without', `${secrets.map(typed).join(' and ')}: keep those apart, they are secret`],
    ['restore', `cronogram restore ${typed(made.file)}`],
  ]);
  const about = { tasks, active_tasks: activeTasks, last_slot_at: isoOf(lastSlotAt) };
  return { json: { ...made, ...about, pruned, not_included: secrets }, text };
}

async function copyTo({ system, clock }: Here, database: string, target: string | undefined) {
  if (!existsSync(database))
    throw new CliFault('not_found', `There is no database ${database} yet; the first start makes it.`);
  if (lockState(lockNameOf(database)).is === 'held' && !existsSync(`${database}-wal`)) {
    const lost = `The log of the database (${database}-wal) was deleted under the server, and a copy would lack what is in it.`;
    throw new CliFault('refused', `${lost} Stop the server: it saves all of it beside the database, as .saved-...`);
  }
  const now = clock.now();
  if (target === undefined)
    return fileBackups(database, { isWaitedFor: true }).make(now).catch(refuseDamaged(database));
  const wished = resolve(system.folder, target);
  const isFolder = statSync(wished, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = isFolder ? join(wished, copyName(database, now)) : wished;
  if (existsSync(file)) throw new CliFault('refused', `${file} exists already. Name another file.`);
  if (!existsSync(dirname(file)))
    throw new CliFault('not_found', `There is no folder ${dirname(file)}. Make it first, or name another.`);
  return {
    file,
    bytes: await copyDatabase({ file: database, target: file, isWaitedFor: true }).catch(refuseDamaged(database)),
  };
}

/** The thread that copies tells its faults in the words of SQLite. */
function refuseDamaged(database: string) {
  return (error: unknown): never => {
    const text = errorText(error);
    throw /malformed|not a database/.test(text) ? noCopy(database, text) : error;
  };
}

function factsOf(file: string): DatabaseFacts {
  const inspection = inspectFile(file);
  if (inspection.is === 'sound') return inspection.facts;
  const reason = 'reason' in inspection ? inspection.reason : 'it is not there';
  throw new CliFault('failed', `The copy ${file} cannot be used: ${reason}. Check the disk, then make another.`);
}

/** A copy that nobody could restore is worse than none: it would be trusted, and older ones would give way to it. */
function soundOrGone(copy: string, database: string): DatabaseFacts {
  const inspection = inspectFile(copy);
  if (inspection.is === 'sound') return inspection.facts;
  rmSync(copy, { force: true });
  throw noCopy(database, 'reason' in inspection ? inspection.reason : 'it is not there');
}

function noCopy(database: string, reason: string): CliFault {
  const whole = `A copy of ${database} could not be used (${reason}), so none was kept. Was its log (-wal) deleted?`;
  const advice = '"cronogram doctor" looks at it, and "cronogram restore --list" shows copies.';
  return new CliFault('failed', `${whole} ${advice}`);
}

/** Secrets that a new home would need too; they are kept apart. */
function leftOut({ settings }: Here): string[] {
  const { config, tokenFile } = settings();
  const { file } = keySource(settings());
  const key = file !== null && existsSync(file) ? [file] : [];
  return ['.env', ...(config.API_TOKEN === undefined ? [tokenFile] : []), ...key];
}

/* ---- going back to one ---- */

interface RestoreWish {
  /** A file, or `latest`. */
  readonly from: string;
  readonly yes: boolean;
}

/** Puts a copy in the place of the database, which is kept aside. */
export async function restore(session: LocalSession, here: Here, { from, yes }: RestoreWish): Promise<Told> {
  const database = requireFile(here, restoreLine);
  const { terminal } = session;
  const { host, folder } = here.system;
  const copy = from === 'latest' ? latestOf(database) : resolve(folder, from);
  if (!yes && !terminal.canAsk) throw usage('This replaces the database. Add --yes, because nobody can be asked here.');
  const holder = { pid: process.pid, host, since: here.clock.now() };
  // The database is read in one go, during which no clock ticks: the stages are told and not the time.
  session.progress('Reading the copy ...');
  const done = await restoreDatabase({ file: database, copy, holder }, async (choice) => {
    session.progress('');
    if (!yes) terminal.err(`\n${await choiceText(session, here, { ...choice, file: typedPath(copy, folder) })}\n`);
    await confirmed(session, { question: 'Put the copy in the place of the database?', yes });
    session.progress('Putting the copy in the place of the database ...');
    return true;
  }).finally(() => session.progress(''));
  const { tasks, lastSlotAt, sealed } = done?.facts ?? factsOf(database);
  const closed = closedSecrets(here, sealed);
  const kept = done?.kept ?? null;
  const typed = (path: string) => typedPath(path, folder);
  const whole = `read again and whole: ${counted(tasks, 'task')}, last slot ${slotText(lastSlotAt)}`;
  const text = await facts(terminal, [
    ['restored', typed(copy)],
    ['database', `${typed(database)}, ${whole}`],
    ['kept aside', kept === null ? null : `${typed(kept)}; remove it when all is well`],
    ['secrets', closed === 0 ? null : keyNeeded(here, closed)],
    ['next', `Start the server. ${afterwards}`],
  ]);
  return {
    json: { restored: copy, database, kept, tasks, last_slot_at: isoOf(lastSlotAt), secrets_without_key: closed },
    text,
  };
}

/** Secrets in the copy that no key opens which is here: a copy holds none. */
function closedSecrets({ settings }: Here, sealed: DatabaseFacts['sealed']): number {
  const ids = keyIdsOf(keySource(settings()));
  return sealed.reduce((sum, { keyId, count }) => sum + (ids.includes(keyId) ? 0 : count), 0);
}

function keyNeeded({ settings, system }: Here, count: number): string {
  const { file } = keySource(settings());
  const name = file === null ? 'its key' : typedPath(file, system.folder);
  return `${counted(count, 'secret')} cannot be opened: bring ${name} from where you keep it, or set SECRETS_KEY.`;
}

function latestOf(database: string): string {
  const [newest] = listCopies(database);
  if (newest !== undefined) return newest.file;
  const message = 'There is no copy yet. "cronogram backup" makes one; a file elsewhere is given by its path.';
  throw new CliFault('not_found', message);
}

const afterwards =
  'What became due since the copy was made counts as missed, and each task does about it what its policy says; some of it may have run already.';

interface Choice {
  readonly file: string;
  readonly copy: DatabaseFacts;
  readonly present: Inspection;
}

function choiceText({ terminal }: LocalSession, here: Here, { file, copy, present }: Choice): Promise<string> {
  const now = here.clock.now();
  const closed = closedSecrets(here, copy.sealed);
  return facts(terminal, [
    ['the copy', file],
    ['has', contents(copy, now)],
    ['the database', present.is === 'sound' ? contents(present.facts, now) : reasonOf(present)],
    ['secrets', closed === 0 ? null : keyNeeded(here, closed)],
    ['then', `The database of now is kept beside it. ${afterwards}`],
  ]);
}

function contents({ bytes, tasks, activeTasks, lastSlotAt, missing }: DatabaseFacts, now: number): string {
  const slot =
    lastSlotAt === null ? 'no slot yet' : `last slot ${instantText(lastSlotAt)} (${distance(lastSlotAt, now)})`;
  const old = missing.length === 0 ? '' : ', of an older version; the next start brings it up to date';
  return `${counted(tasks, 'task')} (${activeTasks} active), ${slot}, ${sizeOf(bytes)}${old}`;
}

function reasonOf(present: Exclude<Inspection, { is: 'sound' }>): string {
  return present.is === 'absent' ? 'there is none' : `${present.is}: ${present.reason}`;
}

/* ---- the copies that there are ---- */

export async function listBackups({ terminal }: LocalSession, here: Here): Promise<Told> {
  const database = requireFile(here, restoreLine);
  const as =
    (kind: 'backup' | 'set_aside') =>
    ({ file, bytes, at }: Copy) => ({ file, bytes, made_at: iso(at), kind });
  const copies = [...listCopies(database).map(as('backup')), ...keptAside(database).map(as('set_aside'))];
  const now = here.clock.now();
  const rows = copies.map(
    ({ file, bytes, made_at: at }) =>
      [distance(Date.parse(at), now), `${typedPath(file, here.system.folder)} (${sizeOf(bytes)})`] as const,
  );
  const none = () => sentence(terminal, 'There is no copy yet. "cronogram backup" makes one.');
  return { json: { copies }, text: await (rows.length === 0 ? none() : facts(terminal, rows)) };
}
