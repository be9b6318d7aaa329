import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliFault, usage } from '../../cli/faults.ts';
import { stopMaxMs } from '../../domain/limits.ts';
import type { Here, Settings } from '../here.ts';

/** Cronogram as a service of systemd: of the user who installs it, or of the system. */
export interface ServiceWish {
  readonly scope: Scope;
  readonly name: string;
  readonly runAs: string | null;
}

export function unitFile({ system }: Here, { scope, name }: Pick<ServiceWish, 'scope' | 'name'>): string {
  if (!/^[\w-]{1,64}$/.test(name))
    throw usage('--name takes letters, digits, underscores and hyphens, for example cronogram.');
  return join(scope === 'system' ? system.systemUnits : system.userUnits, `${name}.service`);
}

/** Works out the unit, with the configuration as the service will see it: out of `.env` alone. Nothing is written yet. */
export function planService(here: Here, wish: ServiceWish) {
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
  const warnings =
    own === null
      ? [`There is no .env in ${system.folder}, so the service starts in the sandbox. "cronogram init" writes one.`]
      : envWarnings(envFile);
  if (wish.scope === 'user' && !hasUserNamespaces)
    warnings.push(
      'This computer lets no user have namespaces: the service cannot be kept from reading your files. --system can.',
    );
  return { file, unit, dataFolder, warnings };
}

function requireSound({ faults }: Settings): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ variable, problem, example }) => `  ${variable} ${problem}. Example: ${example}`);
  throw new CliFault('invalid_configuration', `The service would not start. Fix .env first:\n${lines.join('\n')}`);
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

/** The unit of systemd: what runs, when it is started again, and what it may not touch. */
export interface UnitFacts {
  readonly scope: Scope;
  readonly node: string;
  readonly entry: string;
  readonly folder: string;
  readonly envFile: string;
  readonly dataFolder: string;
  readonly port: number;
  /** Of a system unit: as whom it runs. */
  readonly runAs: string | null;
  /** A stop takes at most so long. */
  readonly stopMaxMs: number;
  /** Whether a unit of a user can have a file system of its own on this computer. */
  readonly hasUserNamespaces: boolean;
}

export type Scope = 'user' | 'system';

/** Longer than a stop may take, because a kill leaves work to the next start. */
const stopSpareSeconds = 15;
const firstFreePort = 1024;
/** How the server ends when its configuration is wrong: a start would end the same way. */
const configurationFault = 78;
/** V8 would keep 128 MB for young objects after a start, and use 10 of them; package.json and the Dockerfile say the same. */
const flags = ['--max-semi-space-size=8'];

export function unitText(facts: UnitFacts): string {
  const { scope, node, entry, folder, envFile, stopMaxMs, runAs } = facts;
  const isSystem = scope === 'system';
  return `${[
    '# Written by "cronogram service install". An installation overwrites it; put your own changes into',
    '# a file of your own: systemctl edit (--user) and the name of the unit.',
    '[Unit]',
    'Description=Cronogram, a Telegram bot for scheduled work',
    ...(isSystem ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    '',
    '[Service]',
    'Type=exec',
    ...(runAs === null ? [] : [`User=${runAs}`]),
    `WorkingDirectory=${specified(folder)}`,
    `EnvironmentFile=-${specified(envFile)}`,
    'Environment=NODE_ENV=production',
    `ExecStart=${[node, ...flags, entry].map(argument).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=5',
    `RestartPreventExitStatus=${configurationFault}`,
    'KillMode=mixed',
    `TimeoutStopSec=${Math.ceil(stopMaxMs / 1000) + stopSpareSeconds}`,
    'UMask=0077',
    '',
    ...protections(facts),
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
  ].join('\n')}\n`;
}

function protections(facts: UnitFacts): string[] {
  const needsLowPort = facts.scope === 'system' && facts.port > 0 && facts.port < firstFreePort;
  return [
    '# MemoryDenyWriteExecute would end Node.js, which compiles what it runs.',
    ...(facts.scope === 'system' ? ofSystem(facts, needsLowPort) : []),
    ...ownFiles(facts),
    ...kernelAlone,
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallFilter=~@privileged @resources',
    'SystemCallErrorNumber=EPERM',
  ];
}

/** Protections that a user may ask for too: the kernel sees to them by itself. */
const kernelAlone = [
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  '# AF_NETLINK tells Node.js the addresses of this computer.',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
];

/** Protections that take the rights of the system's own manager; in a unit of a user they would keep the service from starting. */
function ofSystem({ node, entry, folder, dataFolder }: UnitFacts, needsLowPort: boolean): string[] {
  const isAtHome = [node, entry, folder, dataFolder].some((path) => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path));
  const rights = needsLowPort ? 'CAP_NET_BIND_SERVICE' : '';
  return [
    `CapabilityBoundingSet=${rights}`,
    ...(needsLowPort ? [`AmbientCapabilities=${rights}`] : []),
    `ProtectHome=${isAtHome ? 'read-only' : 'yes'}`,
    'PrivateDevices=yes',
    'PrivateMounts=yes',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'ProtectProc=invisible',
    'RemoveIPC=yes',
    'KeyringMode=private',
  ];
}

function ownFiles({ scope, dataFolder, folder, hasUserNamespaces }: UnitFacts): string[] {
  if (scope === 'user' && !hasUserNamespaces)
    return ['# This computer lets no user have namespaces, so files cannot be protected in a unit of a user.'];
  const isTemporary = [dataFolder, folder].some((path) => /^\/(?:var\/)?tmp(?:\/|$)/.test(path));
  return [
    ...(scope === 'user' ? ['PrivateUsers=yes'] : []),
    'ProtectSystem=strict',
    `ReadWritePaths=${argument(dataFolder)}`,
    ...(isTemporary ? ['# PrivateTmp would hide the data, which is in a temporary folder.'] : ['PrivateTmp=yes']),
  ];
}

/** A percent sign begins a name that systemd fills in. */
function specified(path: string): string {
  return path.replaceAll('%', '%%');
}

/** One word of a command line or of a list. */
function argument(path: string): string {
  const text = specified(path)
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`);
  return /[\s"'\\;]/.test(text) ? `"${text}"` : text;
}

/** Lines of a `.env` file that systemd reads otherwise than the server does. What a unit is given wins over the file. */
export function oddLines(text: string): readonly { readonly line: number; readonly variable: string }[] {
  return text.split('\n').flatMap((each, at) => {
    const [, variable, value = ''] = /^\s*([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*$/.exec(each) ?? [];
    return variable !== undefined && isOdd(value) ? [{ line: at + 1, variable }] : [];
  });
}

/** A comment behind a value belongs to it there, a backslash stands for what follows it, and there are no backticks. */
function isOdd(value: string): boolean {
  if (/^'[^']*'$/.test(value)) return false;
  if (/^"[^"\\]*"$/.test(value)) return false;
  return /["'`\\#]/.test(value);
}
