import { HostFault } from './fault.ts';
import type { Copy, DataFacts, HostPorts } from './ports.ts';
import { counted, instantText, listed, sizeOf, typedPath, type Screen } from './screen.ts';

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
export function requireFile({ settings }: HostPorts, line: string): string {
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

export function isoOf(instant: number | null): string | null {
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
