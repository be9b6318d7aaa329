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

/** Longer than a stop may take: whoever is killed leaves work to the next start. */
const stopSpareSeconds = 15;
const firstFreePort = 1024;
/** How the server ends when its configuration is wrong: a start would end the same way. */
const configurationFault = 78;

export function unitText(facts: UnitFacts): string {
  const { scope, node, entry, folder, envFile, stopMaxMs, runAs } = facts;
  const isSystem = scope === 'system';
  return `${[
    '# Written by "cronogram service install". An installation writes it anew; put changes of your own into',
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
    `ExecStart=${[node, entry].map(argument).join(' ')}`,
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
