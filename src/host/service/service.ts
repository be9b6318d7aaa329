import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliFault, isSystemError, usage } from '../../cli/faults.ts';
import { facts, sentence } from '../../cli/layout.ts';
import { confirmed, type LocalSession, type Told } from '../../cli/session.ts';
import { giveToOwnerOf } from '../../store/files/backup.ts';
import { examineDatabase, filesOf, type Here } from '../here.ts';
import { planService, unitFile, type ServiceWish } from './unit.ts';

/* ---- systemd ---- */

function ctl({ scope }: ServiceWish): readonly string[] {
  return scope === 'user' ? ['--user'] : [];
}

function ctlLine(wish: ServiceWish, verb: string): string {
  return ['systemctl', ...ctl(wish), verb, wish.name].join(' ');
}

function journalLine(wish: ServiceWish): string {
  return ['journalctl', ...ctl(wish), '-u', wish.name, '-f'].join(' ');
}

function requireSystemd({ system }: Here): void {
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
async function verifyUnit(here: Here, wish: ServiceWish, unit: string): Promise<readonly string[]> {
  const { name } = wish;
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-unit-'));
  try {
    const file = join(folder, `${name}.service`);
    writeFileSync(file, unit);
    const ran = await here.system.run('systemd-analyze', [...ctl(wish), '--man=no', 'verify', file]);
    if (ran.is === 'absent') return [];
    const lines = `${ran.out}\n${ran.err}`
      .split('\n')
      .filter((line) => line.includes(file) || line.includes(`${name}.service`));
    return lines.map((line) => line.replaceAll(`${folder}/`, '').trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How long a start is looked at: a wrong configuration ends it by then. */
const settleMs = 1500;

/** Writes the unit. The same unit again changes nothing; another one takes its place, and the service is started anew. */
export async function install(
  { terminal }: LocalSession,
  here: Here,
  { wish, starts }: { readonly wish: ServiceWish; readonly starts: boolean },
): Promise<Told> {
  const planned = planService(here, wish);
  if (!here.system.hasSystemd()) terminal.err(`${planned.unit}\n`);
  requireSystemd(here);
  const warnings = [...planned.warnings, ...(await verifyUnit(here, wish, planned.unit))];
  makeDataFolder(here, planned.dataFolder, wish);
  const isChanged = writeUnit(planned);
  if (isChanged) await systemctl(here, wish, ['daemon-reload']);
  await systemctl(here, wish, ['enable', wish.name]);
  const before = await stateOf(here, wish);
  if (starts) warnings.push(...(await start(here, wish, { isActive: before.active === 'active', isChanged })));
  const { active: state } = await stateOf(here, wish);
  warnings.push(...(await lingerNote(here, wish)));
  const text = await facts(terminal, [
    ['unit', `${planned.file}${isChanged ? '' : ', unchanged'}`],
    ['state', state],
    ['its log', journalLine(wish)],
    ['again', ctlLine(wish, 'restart')],
  ]);
  const told = await Promise.all(warnings.map((warning) => sentence(terminal, `! ${warning}`)));
  const json = { unit_file: planned.file, is_changed: isChanged, state, warnings };
  return { json, text: `${text}${told.join('')}` };
}

export function printUnit(here: Here, wish: ServiceWish): Told {
  const { file, unit, warnings } = planService(here, wish);
  // The unit goes where results go, so that it can be sent to a file; what is to be said about it does not.
  const note = warnings.length === 0 ? {} : { note: warnings.map((each) => `! ${each}`).join('\n') };
  return { json: { unit_file: file, unit, warnings }, text: unit, ...note };
}

function makeDataFolder({ system }: Here, folder: string, { runAs: user }: ServiceWish): void {
  if (existsSync(folder)) return;
  // A folder that may be written to must be there when the service starts.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user === null) giveToOwnerOf(system.folder, folder);
  else system.giveToUser(user, folder);
}

function writeUnit({ file, unit }: ReturnType<typeof planService>): boolean {
  if (existsSync(file) && readFileSync(file, 'utf8') === unit) return false;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.partial`, unit, { mode: 0o644 });
    renameSync(`${file}.partial`, file);
    return true;
  } catch (error) {
    throw forRoot(error, `You may not write ${file}. A unit of the system is installed by root: use sudo.`);
  }
}

function forRoot(error: unknown, message: string): unknown {
  return isSystemError(error, 'EACCES', 'EPERM', 'EROFS') ? new CliFault('refused', message, { cause: error }) : error;
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

const properties = 'LoadState,ActiveState,SubState,MainPID,NRestarts,ExecMainStatus,ActiveEnterTimestamp,UnitFileState';

async function stateOf(here: Here, wish: ServiceWish) {
  const out = await systemctl(here, wish, ['show', wish.name, `--property=${properties}`]);
  const facts = new Map(out.split('\n').map((line) => line.split(/=(.*)/s, 2) as [string, string | undefined]));
  const pid = Number(facts.get('MainPID') ?? 0);
  return {
    active: facts.get('ActiveState') ?? 'unknown',
    sub: facts.get('SubState') ?? 'unknown',
    pid: pid > 0 ? pid : null,
    restarts: Number(facts.get('NRestarts') ?? 0),
    exitStatus: pid > 0 ? null : Number(facts.get('ExecMainStatus') ?? 0),
    since: facts.get('ActiveEnterTimestamp') || null,
    enabled: facts.get('UnitFileState') || 'unknown',
  };
}

export async function status({ terminal }: LocalSession, here: Here, wish: ServiceWish): Promise<Told> {
  const file = installedUnit(here, wish);
  requireSystemd(here);
  const { active, sub, pid, since, restarts, exitStatus: exit, enabled } = await stateOf(here, wish);
  const isUpToDate = upToDate(here, wish, file);
  const json = {
    unit_file: file,
    state: `${active} (${sub})`,
    is_running: active === 'active',
    starts_at_boot: enabled === 'enabled',
    pid,
    since,
    restarts,
    exit_status: exit,
    is_up_to_date: isUpToDate,
  };
  const text = await facts(terminal, [
    ['state', json.state],
    ['process', pid === null ? null : `${pid}${since === null ? '' : `, since ${since}`}`],
    ['ended with', exit === null || exit === 0 ? null : `${exit}${exit === 78 ? ': the configuration is wrong' : ''}`],
    ['restarts', String(restarts)],
    ['at boot', json.starts_at_boot ? 'it is started' : `it is not started: ${ctlLine(wish, 'enable')}`],
    [
      'unit',
      `${file}${isUpToDate === false ? '; an installation now would write another one: cronogram service install' : ''}`,
    ],
    ['its log', journalLine(wish)],
  ]);
  return { json, text, exitCode: json.is_running ? 0 : 1 };
}

/** Ends it and starts it anew, as after a change of the .env. */
export async function restart(session: LocalSession, here: Here, wish: ServiceWish): Promise<Told> {
  installedUnit(here, wish);
  requireSystemd(here);
  await systemctl(here, wish, ['restart', wish.name]);
  await new Promise<void>((done) => void here.timer.after(settleMs, done));
  return status(session, here, wish);
}

/** The file of the unit; refuses where there is none. */
function installedUnit(here: Here, wish: ServiceWish): string {
  const file = unitFile(here, wish);
  if (existsSync(file)) return file;
  const other = wish.scope === 'user' ? 'system' : 'user';
  const elsewhere = existsSync(unitFile(here, { ...wish, scope: other }));
  const hint = elsewhere ? `There is one of the ${other}: add --${other}.` : 'Install it: cronogram service install';
  throw new CliFault('not_found', `The service is not installed (there is no ${file}). ${hint}`);
}

/** Whether an installation now would write the same unit; null where that cannot be told, as from another folder. */
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

interface Uninstalling {
  readonly wish: ServiceWish;
  readonly isPurge: boolean;
  readonly yes: boolean;
}

/** Stops it and takes the unit away. The data stays unless it is to be purged. */
export async function uninstall(
  session: LocalSession,
  here: Here,
  { wish, isPurge, yes }: Uninstalling,
): Promise<Told> {
  const file = installedUnit(here, wish);
  const files = filesOf(here.settings());
  // Asked first, so that a person who leaves at the question has changed nothing.
  if (isPurge) await agreeToPurge(session, files, yes);
  if (here.system.hasSystemd()) await systemctl(here, wish, ['disable', '--now', wish.name]);
  removeUnit(file);
  if (here.system.hasSystemd()) await systemctl(here, wish, ['daemon-reload']);
  if (isPurge) await purge(here, files);
  const text = await facts(session.terminal, [
    ['removed', file],
    [isPurge ? 'data, removed' : 'data, kept', files.join(', ') || 'there is none here'],
    ['kept', '.env, with the token of the bot'],
  ]);
  return { json: { removed: file, data: files, is_data_removed: isPurge }, text };
}

function removeUnit(file: string): void {
  try {
    rmSync(file);
  } catch (error) {
    throw forRoot(error, `You may not remove ${file}. A unit of the system is removed by root: use sudo.`);
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

/** A purge cannot be taken back, so it is asked twice. */
async function agreeToPurge(session: LocalSession, files: readonly string[], yes: boolean): Promise<void> {
  const { terminal } = session;
  if (!yes && !terminal.canAsk)
    throw usage('This removes all tasks and their history. Add --yes, because nobody can be asked here.');
  const list = files.join('\n') || 'nothing: there is no data here';
  if (!yes) terminal.err(`\n${await facts(terminal, [['removes', list]])}\n`);
  await confirmed(session, { question: 'Remove all tasks, their history and the backups?', yes });
  await confirmed(session, { question: 'Really? Nothing of it can be brought back.', yes });
}
