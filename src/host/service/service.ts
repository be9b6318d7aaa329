import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CliFault, isSystemError, usage } from '../../cli/faults.ts';
import { stopMaxMs } from '../../domain/limits.ts';
import { giveToOwnerOf } from '../../store/files/backup.ts';
import { examineDatabase, filesOf, type Here, type Settings } from '../here.ts';
import { unitText, type Scope, oddLines } from './unit.ts';

/** Cronogram as a service of systemd: of the user who installs it, or of the system. */
export interface ServiceWish {
  readonly scope: Scope;
  readonly name: string;
  readonly runAs: string | null;
}

export interface Planned {
  readonly file: string;
  readonly unit: string;
  /** The configuration as the service will see it: out of `.env` alone. */
  readonly settings: Settings;
  readonly dataFolder: string;
  readonly warnings: readonly string[];
}

function unitFile({ system }: Here, { scope, name }: Pick<ServiceWish, 'scope' | 'name'>): string {
  if (!/^[\w-]{1,64}$/.test(name))
    throw usage('--name takes letters, digits, underscores and hyphens, for example cronogram.');
  return join(scope === 'system' ? system.systemUnits : system.userUnits, `${name}.service`);
}

/** Works out the unit; nothing is written yet. */
export function planService(here: Here, wish: ServiceWish): Planned {
  const { system } = here;
  const file = unitFile(here, wish);
  const envFile = join(system.folder, '.env');
  const own = system.envFile();
  const settings = own ?? here.settings();
  requireSound(settings);
  const entry = join(system.program, 'dist', 'main.js');
  if (!existsSync(entry)) throw new CliFault('refused', `There is no ${entry} yet. Build it first: npm run build`);
  const dataFolder = resolve(system.folder, settings.dataFolder);
  const hasUserNamespaces = letsUsersHaveNamespaces();
  const unit = unitText({
    scope: wish.scope,
    node: system.node.path,
    entry,
    folder: system.folder,
    envFile,
    dataFolder,
    port: settings.config.HTTP_PORT,
    runAs: wish.scope === 'system' ? runAs(here, wish) : null,
    stopMaxMs,
    hasUserNamespaces,
  });
  return {
    file,
    unit,
    settings,
    dataFolder,
    warnings: [
      ...(own === null
        ? [`There is no .env in ${system.folder}, so the service starts in the sandbox. "cronogram init" writes one.`]
        : []),
      ...(own === null ? [] : envWarnings(envFile)),
      ...(wish.scope === 'user' && !hasUserNamespaces
        ? [
            'This computer lets no user have namespaces: the service cannot be kept from reading your files. --system can.',
          ]
        : []),
    ],
  };
}

function requireSound({ faults }: Settings): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ variable, problem, example }) => `  ${variable} ${problem}. Example: ${example}`);
  throw new CliFault('invalid_configuration', `The service would not start. Mend .env first:\n${lines.join('\n')}`);
}

function envWarnings(envFile: string): string[] {
  return oddLines(readFileSync(envFile, 'utf8')).map(
    ({ line, variable }) =>
      `.env line ${line}: systemd reads ${variable} otherwise than Cronogram does. Put it into single quotes, and a comment on a line of its own.`,
  );
}

function runAs({ system }: Here, { runAs: wished }: ServiceWish): string {
  const user = wished ?? system.ownerName(system.folder);
  if (user !== 'root' && user !== '0') return user;
  if (wished !== null) throw new CliFault('refused', 'Cronogram needs no root. Name another user with --run-as.');
  throw usage(
    `${system.folder} belongs to root, and Cronogram needs no root. Make a user for it and name it with --run-as: useradd --system cronogram; chown -R cronogram ${system.folder}`,
  );
}

/** Several distributions let no user make them; a unit that asks for them would not start. */
const namespaceSwitches = [
  ['/proc/sys/kernel/unprivileged_userns_clone', '0'],
  ['/proc/sys/user/max_user_namespaces', '0'],
  ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'],
] as const;

function letsUsersHaveNamespaces(): boolean {
  return namespaceSwitches.every(([file, refused]) => {
    try {
      return readFileSync(file, 'utf8').trim() !== refused;
    } catch {
      return true;
    }
  });
}

/* ---- systemd ---- */

function ctl({ scope }: Pick<ServiceWish, 'scope'>): readonly string[] {
  return scope === 'user' ? ['--user'] : [];
}

export function ctlLine(wish: Pick<ServiceWish, 'scope' | 'name'>, verb: string): string {
  return ['systemctl', ...ctl(wish), verb, wish.name].join(' ');
}

export function journalLine({ scope, name }: Pick<ServiceWish, 'scope' | 'name'>): string {
  return scope === 'user' ? `journalctl --user -u ${name} -f` : `journalctl -u ${name} -f`;
}

export function requireSystemd({ system }: Here): void {
  if (system.hasSystemd()) return;
  throw new CliFault(
    'no_systemd',
    'This computer was not started by systemd, so there is nothing to install into. Let whatever starts programs here run "node dist/main.js" in this folder; "service install --print" shows the unit.',
  );
}

async function systemctl(here: Here, wish: ServiceWish, args: readonly string[]): Promise<string> {
  const ran = await here.system.run('systemctl', [...ctl(wish), ...args]);
  if (ran.is === 'absent') throw new CliFault('no_systemd', 'There is no systemctl on this computer.');
  if (ran.code === 0) return ran.out;
  const words = (ran.err || ran.out).trim();
  if (/connect to bus|No medium found|XDG_RUNTIME_DIR/i.test(words)) {
    throw new CliFault(
      'refused',
      `systemd does not answer this user: ${words}. Log in as that user (not by su or sudo), or install for the system: --system`,
    );
  }
  throw new CliFault('failed', `systemctl ${args.join(' ')} failed: ${words || `exit ${ran.code}`}`);
}

/** The verdict of systemd on the unit, before it is installed. */
async function verifyUnit(here: Here, { scope, name }: ServiceWish, unit: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-unit-'));
  try {
    const file = join(folder, `${name}.service`);
    writeFileSync(file, unit);
    const manager = scope === 'user' ? ['--user'] : [];
    const ran = await here.system.run('systemd-analyze', [...manager, '--man=no', 'verify', file]);
    if (ran.is === 'absent') return [];
    const lines = `${ran.out}\n${ran.err}`
      .split('\n')
      .filter((line) => line.includes(file) || line.includes(`${name}.service`));
    return lines.map((line) => line.replaceAll(`${folder}/`, '').trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Installed {
  readonly unit_file: string;
  readonly is_changed: boolean;
  readonly state: string;
  readonly warnings: readonly string[];
}

/** How long a start is looked at: a wrong configuration ends it by then. */
const settleMs = 1500;

/** The same again changes nothing; another unit is put in its place and the service is started anew. */
export async function installService(
  here: Here,
  wish: ServiceWish,
  { starts }: { readonly starts: boolean },
): Promise<Installed> {
  const planned = planService(here, wish);
  requireSystemd(here);
  const notes = [...planned.warnings, ...(await verifyUnit(here, wish, planned.unit))];
  makeDataFolder(here, planned.dataFolder, wish);
  const isChanged = writeUnit(planned);
  if (isChanged) await systemctl(here, wish, ['daemon-reload']);
  await systemctl(here, wish, ['enable', wish.name]);
  const before = await stateOf(here, wish);
  if (starts) notes.push(...(await start(here, wish, { isActive: before.active === 'active', isChanged })));
  const { active } = await stateOf(here, wish);
  notes.push(...(await lingerNote(here, wish)));
  return { unit_file: planned.file, is_changed: isChanged, state: active, warnings: notes };
}

function makeDataFolder({ system }: Here, folder: string, { runAs: user }: ServiceWish): void {
  if (existsSync(folder)) return;
  // A folder that may be written to must be there when the service starts.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user === null) giveToOwnerOf(system.folder, folder);
  else system.giveToUser(user, folder);
}

function writeUnit({ file, unit }: Planned): boolean {
  if (existsSync(file) && readFileSync(file, 'utf8') === unit) return false;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.partial`, unit, { mode: 0o644 });
    renameSync(`${file}.partial`, file);
    return true;
  } catch (error) {
    if (!isSystemError(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
    throw new CliFault('refused', `You may not write ${file}. A unit of the system is installed by root: use sudo.`, {
      cause: error,
    });
  }
}

async function start(
  here: Here,
  wish: ServiceWish,
  { isActive, isChanged }: { isActive: boolean; isChanged: boolean },
): Promise<string[]> {
  if (isActive && !isChanged) return [];
  const lock = isActive ? ({ is: 'free' } as const) : (await examineDatabase(here.settings())).lock;
  if (lock.is === 'held') {
    const who = lock.by === null ? 'Another process' : `Process ${lock.by.pid}`;
    return [`${who} has the database, so the service was not started. Stop that one, then: ${ctlLine(wish, 'start')}`];
  }
  await systemctl(here, wish, [isActive ? 'restart' : 'start', wish.name]);
  await new Promise<void>((done) => void here.timer.after(settleMs, done));
  const { active } = await stateOf(here, wish);
  return active === 'active' ? [] : [`It does not stay up (${active}). Its log says why: ${journalLine(wish)}`];
}

/** Without it a service of a user ends with the last session of that user. */
async function lingerNote({ system }: Here, { scope }: ServiceWish): Promise<string[]> {
  if (scope === 'system') return [];
  const ran = await system.run('loginctl', ['show-user', system.userName, '--property=Linger', '--value']);
  if (ran.is === 'ran' && ran.out.trim() === 'yes') return [];
  return [`It ends when you log out. To keep it: sudo loginctl enable-linger ${system.userName}`];
}

/* ---- how it stands ---- */

export interface State {
  readonly load: string;
  readonly active: string;
  readonly sub: string;
  readonly pid: number | null;
  readonly restarts: number;
  readonly exitStatus: number | null;
  readonly since: string | null;
  readonly enabled: string;
}

const properties = 'LoadState,ActiveState,SubState,MainPID,NRestarts,ExecMainStatus,ActiveEnterTimestamp,UnitFileState';

async function stateOf(here: Here, wish: ServiceWish): Promise<State> {
  const out = await systemctl(here, wish, ['show', wish.name, `--property=${properties}`]);
  const facts = Object.fromEntries(
    out.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  ) as Readonly<Record<string, string | undefined>>;
  const pid = Number(facts['MainPID'] ?? 0);
  return {
    load: facts['LoadState'] ?? 'unknown',
    active: facts['ActiveState'] ?? 'unknown',
    sub: facts['SubState'] ?? 'unknown',
    pid: pid > 0 ? pid : null,
    restarts: Number(facts['NRestarts'] ?? 0),
    exitStatus: pid > 0 ? null : Number(facts['ExecMainStatus'] ?? 0),
    since: facts['ActiveEnterTimestamp'] || null,
    enabled: facts['UnitFileState'] || 'unknown',
  };
}

export interface Standing {
  readonly unit_file: string;
  readonly state: string;
  readonly is_running: boolean;
  readonly starts_at_boot: boolean;
  readonly pid: number | null;
  readonly since: string | null;
  readonly restarts: number;
  readonly exit_status: number | null;
  /** Whether an installation now would write the same unit; null when that cannot be told. */
  readonly is_up_to_date: boolean | null;
}

export async function serviceStanding(here: Here, wish: ServiceWish): Promise<Standing> {
  const file = unitFile(here, wish);
  if (!existsSync(file)) throw notInstalled(here, wish, file);
  requireSystemd(here);
  const { active, sub, pid, since, restarts, exitStatus, enabled } = await stateOf(here, wish);
  return {
    unit_file: file,
    state: `${active} (${sub})`,
    is_running: active === 'active',
    starts_at_boot: enabled === 'enabled',
    pid,
    since,
    restarts,
    exit_status: exitStatus,
    is_up_to_date: upToDate(here, wish, file),
  };
}

function notInstalled(here: Here, wish: ServiceWish, file: string): CliFault {
  const other = wish.scope === 'user' ? 'system' : 'user';
  const elsewhere = existsSync(unitFile(here, { ...wish, scope: other }));
  const hint = elsewhere ? `There is one of the ${other}: add --${other}.` : 'Install it: cronogram service install';
  return new CliFault('not_found', `The service is not installed (there is no ${file}). ${hint}`);
}

/** From another folder, or with a configuration that is wrong, another unit would come out. */
function upToDate(here: Here, wish: ServiceWish, file: string): boolean | null {
  const there = readFileSync(file, 'utf8');
  if (!there.includes(`\nWorkingDirectory=${here.system.folder.replaceAll('%', '%%')}\n`)) return null;
  const user = /^User=(.*)$/m.exec(there)?.[1] ?? null;
  try {
    return planService(here, { ...wish, runAs: wish.runAs ?? user }).unit === there;
  } catch (error) {
    if (error instanceof CliFault) return null;
    throw error;
  }
}

/* ---- the end of it ---- */

export interface Uninstalled {
  readonly removed: string;
  readonly data: readonly string[];
  readonly is_data_removed: boolean;
}

/** Stops it and takes the unit away. The data stays unless `purges` says otherwise. */
export async function uninstallService(
  here: Here,
  wish: ServiceWish,
  purges: (files: readonly string[]) => Promise<boolean>,
): Promise<Uninstalled> {
  const file = unitFile(here, wish);
  if (!existsSync(file)) throw notInstalled(here, wish, file);
  const files = filesOf(here.settings());
  // Asked first, so that whoever leaves at the question has changed nothing.
  const isPurge = await purges(files);
  if (here.system.hasSystemd()) await systemctl(here, wish, ['disable', '--now', wish.name]);
  removeUnit(file);
  if (here.system.hasSystemd()) await systemctl(here, wish, ['daemon-reload']);
  if (isPurge) await purge(here, files);
  return { removed: file, data: files, is_data_removed: isPurge };
}

function removeUnit(file: string): void {
  try {
    rmSync(file);
  } catch (error) {
    if (!isSystemError(error, 'EACCES', 'EPERM', 'EROFS')) throw error;
    throw new CliFault('refused', `You may not remove ${file}. A unit of the system is removed by root: use sudo.`, {
      cause: error,
    });
  }
}

async function purge(here: Here, files: readonly string[]): Promise<void> {
  const { lock } = await examineDatabase(here.settings());
  if (lock.is === 'held')
    throw new CliFault(
      'refused',
      'The unit is removed, but a server still has the database, so the data stays. Stop that one first.',
    );
  for (const file of files) rmSync(file, { recursive: true, force: true });
}
