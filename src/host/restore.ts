import { resolve } from 'node:path';
import { HostFault } from './fault.ts';
import type { Copy, DataFacts, HostPorts, Inspected } from './ports.ts';
import { counted, instantText, listed, sizeOf, stretchOf, typedPath, type Screen } from './screen.ts';

const restoreLine = 'pg_restore --clean --if-exists --dbname="$DATABASE_URL" cronogram.dump';

export interface RestoreWish {
  /** A file, or `latest`. */
  readonly from: string;
  readonly isAgreed: boolean;
}

export interface RestoreDone {
  readonly restored: string;
  readonly database: string;
  readonly kept: string | null;
  readonly tasks: number;
  readonly last_slot_at: string | null;
}

/** Puts a copy in the place of the database, which is kept aside. Null when the person at the terminal said no. */
export async function restoreBackup(ports: HostPorts, wish: RestoreWish, screen: Screen): Promise<RestoreDone | null> {
  const database = requireFile(ports, restoreLine);
  const copy = copyOf(ports, wish.from);
  if (!wish.isAgreed && !screen.canAsk)
    throw new HostFault('usage', 'This replaces the database. Add --yes, because there is nobody here to ask.');
  const done = await ports.data.restore({
    copy,
    reached: () => undefined,
    approve: async (choice) => {
      if (wish.isAgreed) return true;
      screen.err(
        `\n${choiceText({ ...choice, file: typedPath(copy, ports.system.folder) }, ports.clock.now(), screen)}\n`,
      );
      return ports.asking.confirm('Put the copy in the place of the database?', false);
    },
  });
  if (done === null) return null;
  const { facts, kept } = done;
  return { restored: copy, database, kept, tasks: facts.tasks, last_slot_at: isoOf(facts.lastSlotAt) };
}

function copyOf({ data, system }: HostPorts, from: string): string {
  if (from !== 'latest') return resolve(system.folder, from);
  const [newest] = data.copies();
  if (newest !== undefined) return newest.file;
  throw new HostFault(
    'not_found',
    'There is no copy yet. "cronogram backup" makes one; a file elsewhere is given by its path.',
  );
}

const afterwards =
  'What became due since the copy was made counts as missed, and each task does about it what its policy says; some of it may have run already.';

interface Choice {
  readonly file: string;
  readonly copy: DataFacts;
  readonly present: Inspected;
}

function choiceText({ file, copy, present }: Choice, now: number, screen: Screen): string {
  const there = present.is === 'sound' ? contents(present.facts, now) : reasonOf(present);
  return listed(
    [
      ['the copy', file],
      ['has', contents(copy, now)],
      ['the database', there],
      ['then', `The database of now is kept beside it. ${afterwards}`],
    ],
    screen,
  );
}

function contents({ bytes, tasks, activeTasks, lastSlotAt, missing }: DataFacts, now: number): string {
  const slot =
    lastSlotAt === null ? 'no slot yet' : `last slot ${instantText(lastSlotAt)} (${stretchOf(now - lastSlotAt)} ago)`;
  const old = missing.length === 0 ? '' : ', of an older version; the next start brings it up to date';
  return `${counted(tasks, 'task')} (${activeTasks} active), ${slot}, ${sizeOf(bytes)}${old}`;
}

function reasonOf(present: Exclude<Inspected, { is: 'sound' }>): string {
  return present.is === 'absent' ? 'there is none' : `${present.is}: ${present.reason}`;
}

export function restoreText(done: RestoreDone, { system }: HostPorts, screen: Screen): string {
  const { tasks, last_slot_at: last } = done;
  const [from, database] = [done.restored, done.database].map((path) => typedPath(path, system.folder));
  const kept = done.kept === null ? null : typedPath(done.kept, system.folder);
  const slot = last === null ? 'no slot yet' : `last slot ${instantText(Date.parse(last))}`;
  return listed(
    [
      ['restored', from ?? ''],
      ['database', `${database}, read again and whole: ${counted(tasks, 'task')}, ${slot}`],
      ...(kept === null ? [] : [['kept aside', `${kept}; remove it when all is well`] as const]),
      ['next', `Start the server. ${afterwards}`],
    ],
    screen,
  );
}

/* ---- the copies that there are ---- */

export interface CopyListed {
  readonly file: string;
  readonly bytes: number;
  readonly made_at: string;
  readonly kind: 'backup' | 'set_aside';
}

export function listCopies(ports: HostPorts): readonly CopyListed[] {
  requireFile(ports, restoreLine);
  const as =
    (kind: CopyListed['kind']) =>
    ({ file, bytes, at }: Copy) => ({ file, bytes, made_at: new Date(at).toISOString(), kind });
  return [...ports.data.copies().map(as('backup')), ...ports.data.setAside().map(as('set_aside'))];
}

export function copiesText(copies: readonly CopyListed[], { clock, system }: HostPorts, screen: Screen): string {
  if (copies.length === 0) return 'There is no copy yet. "cronogram backup" makes one.\n';
  const now = clock.now();
  return listed(
    copies.map(({ file, bytes, made_at: at }) => {
      const age = stretchOf(now - Date.parse(at));
      return [
        age === 'less than a minute' ? 'just now' : `${age} ago`,
        `${typedPath(file, system.folder)} (${sizeOf(bytes)})`,
      ] as const;
    }),
    screen,
  );
}

export interface BackupMade {
  readonly file: string;
  readonly bytes: number;
  readonly tasks: number;
  readonly active_tasks: number;
  readonly last_slot_at: string | null;
  readonly pruned: number;
  readonly not_included: readonly string[];
}

export interface BackupWish {
  readonly target: string | null;
  readonly keep: number | null;
}

/** A whole and verified copy, whether a server runs or not. */
export async function makeBackup(ports: HostPorts, { target, keep }: BackupWish): Promise<BackupMade> {
  const { data, clock } = ports;
  requireFile(ports, dumpLine);
  const made = await data.copy(target, clock.now());
  const facts = factsOf(data.inspectFile(made.file), made);
  return {
    file: made.file,
    bytes: made.bytes,
    tasks: facts.tasks,
    active_tasks: facts.activeTasks,
    last_slot_at: isoOf(facts.lastSlotAt),
    pruned: keep === null ? 0 : await data.prune(keep),
    not_included: leftOut(ports),
  };
}

const dumpLine = 'pg_dump --format=custom --file=cronogram.dump "$DATABASE_URL"';

/** Copies of a server are the work of its own tools. */
function requireFile({ settings }: HostPorts, line: string): string {
  const { databaseFile } = settings().settings;
  if (databaseFile !== null) return databaseFile;
  throw new HostFault(
    'refused',
    `The database is a Postgres server, which has tools of its own for that:\n\n  ${line}\n`,
  );
}

function factsOf(inspected: ReturnType<HostPorts['data']['inspectFile']>, { file }: Copy): DataFacts {
  if (inspected.is === 'sound') return inspected.facts;
  const reason = 'reason' in inspected ? inspected.reason : 'it is not there';
  throw new HostFault('failed', `The copy ${file} cannot be used: ${reason}. Check the disk, then make another.`);
}

function isoOf(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}

/** What else a new home would need; it is as secret as it is small, so that it is kept apart. */
function leftOut({ settings }: HostPorts): string[] {
  const { apiToken, tokenFile } = settings().settings;
  return ['.env', ...(apiToken === null ? [tokenFile] : [])];
}

export function backupText(made: BackupMade, { system }: HostPorts, screen: Screen): string {
  const { bytes, tasks, active_tasks: active, last_slot_at: last, pruned, not_included: rest } = made;
  const file = typedPath(made.file, system.folder);
  const secret = rest.map((path) => typedPath(path, system.folder)).join(' and ');
  const facts = [
    ['copy', file],
    ['size', `${sizeOf(bytes)}, read again and whole`],
    [
      'contains',
      `${counted(tasks, 'task')} (${active} active), last slot ${last === null ? 'none yet' : instantText(Date.parse(last))}`,
    ],
    ...(pruned === 0 ? [] : [['removed', counted(pruned, 'older copy').replace(/copys$/, 'copies')] as const]),
    ['without', `${secret}: keep those apart, they are secret`],
    ['restore', `cronogram restore ${file}`],
  ] as const;
  return listed(facts, screen);
}
