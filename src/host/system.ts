import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Ran, SettingsRead, System } from './ports.ts';

export interface SystemNeeds {
  /** The working folder. */
  readonly folder: string;
  /** The folder of the program. */
  readonly program: string;
  /** Where the programs of the user keep what is set. */
  readonly userConfig: string;
  readonly readEnv: (text: string) => SettingsRead;
  readonly giveTo: (like: string, path: string) => void;
}

/** The operating system, as far as these verbs need it. */
export function createSystem({ folder, program, userConfig, readEnv, giveTo }: SystemNeeds): System {
  return {
    folder,
    program,
    node: { path: process.execPath, version: process.versions.node, zoneRules: process.versions['tz'] ?? 'unknown' },
    host: hostname(),
    userUnits: join(userConfig, 'systemd', 'user'),
    systemUnits: '/etc/systemd/system',
    userName: userInfo().username,
    zoneGuess: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    isRunning,
    hasSystemd: () => existsSync('/run/systemd/system'),
    run,
    envFile: () => {
      const file = join(folder, '.env');
      return existsSync(file) ? readEnv(readFileSync(file, 'utf8')) : null;
    },
    giveTo,
    giveToUser: (user, path) => {
      if (process.getuid?.() === 0) execFileSync('chown', [user, path]);
    },
    ownerName: (path) => nameOf(statSync(path).uid),
  };
}

/** Signal 0 is never delivered; it only asks. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

const patienceMs = 30_000;

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, [...args], { timeout: patienceMs, encoding: 'utf8' }, (error, out, err) => {
      if (error === null) resolve({ is: 'ran', code: 0, out, err });
      else if (error.code === 'ENOENT') resolve({ is: 'absent' });
      else if (typeof error.code === 'number') resolve({ is: 'ran', code: error.code, out, err });
      else if (error.killed === true) resolve({ is: 'ran', code: -1, out, err: `${command} did not end in time` });
      else resolve({ is: 'ran', code: -1, out, err: err || error.message });
    });
  });
}

/** The number where there is no name; systemd takes both. */
function nameOf(uid: number): string {
  const { uid: ownUid, username } = userInfo();
  if (uid === ownUid) return username;
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  const entry = lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid));
  return entry?.[0] ?? String(uid);
}
