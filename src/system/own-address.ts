import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../app/ports/outside.ts';
import { errorText } from '../domain/errors.ts';

export const addressFileName = 'server.json';

interface Kept {
  readonly url: string;
  readonly pid: number;
  readonly host: string;
  /** When the process began, as far as the system tells: a number that was given anew is another process. */
  readonly began?: string | undefined;
}

/**
 * Keeps the address of a server beside its database, so that the command line finds it there, whatever variables that server
 * alone was given. Answers what takes the file away again.
 */
export function keepAddress(folder: string, url: string, log: Pick<Log, 'warn'>): () => void {
  const file = join(folder, addressFileName);
  const kept: Kept = { url, pid: process.pid, host: hostname(), began: beganAt(process.pid) };
  const tried = (work: () => void) => {
    try {
      work();
    } catch (error) {
      // A disk that is full is no reason not to serve: the command line is told the address by hand.
      log.warn('address_not_kept', { file, error: errorText(error) });
    }
  };
  tried(() => {
    // Where the database is a server, nothing else has made the folder.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  });
  return () => tried(() => rmSync(file, { force: true }));
}

/** The address of the server that works in the folder; null where none runs on this computer. */
export function keptAddress(folder: string): string | null {
  try {
    const { url, pid, host, began } = JSON.parse(readFileSync(join(folder, addressFileName), 'utf8')) as Partial<Kept>;
    if (typeof url !== 'string' || !URL.canParse(url) || typeof pid !== 'number') return null;
    return host === hostname() && isRunning(pid) && beganAt(pid) === began ? url : null;
  } catch {
    // None was kept, or by something else: the variables name the address then.
    return null;
  }
}

/** The ticks at which a process began, counted from the start of this computer; absent where no such file tells. */
function beganAt(pid: number): string | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  // The name of the program stands in brackets before it, and may hold spaces.
  const fields = readFileSync(file, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  // A process that nobody has buried yet, as in a container without an init, still has its number.
  return fields[0] === 'Z' ? undefined : fields[19];
}

/** Signal 0 is never delivered; it only asks. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
