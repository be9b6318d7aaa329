import { usage } from '../cli/faults.ts';
import { localVerb, showing, yesFlag, type Flag, type Group, type LocalSession, type Options } from '../cli/session.ts';
import { roles } from '../domain/processes/process.ts';
import type { Here } from './here.ts';
import type { ServiceWish } from './service/unit.ts';

export interface HostDeps {
  readonly here: () => Promise<Here>;
  /** Starts the server in this process; the code says how a start that came to nothing ends. */
  readonly start: (role: string | undefined) => Promise<number>;
}

const heading = 'This computer:';

/**
 * The verbs of this computer. What each of them does is loaded when it is asked for, so that the other verbs of the program
 * start at once.
 */
export function hostVerbs({ here, start }: HostDeps): readonly Group<LocalSession>[] {
  const service = {
    name: 'service',
    summary: 'let systemd start it with this computer, and again after a fault',
    heading,
    verbs: serviceVerbs(here),
  };
  return [{ heading, verbs: [startVerb(start), initVerb(here), doctorVerb(here), ...copyVerbs(here)] }, service];
}

const startVerb = (start: HostDeps['start']) =>
  localVerb({
    usage: 'start',
    summary: 'start the server, with what .env and ./data of this folder hold',
    examples: ['cronogram start', 'HTTP_PORT=9000 cronogram start', 'cronogram start --role worker'],
    flags: [
      { flags: '--role <role>', about: 'what this process does, on Postgres: all, bot, worker or api', choices: roles },
    ],
    does: (_session, _args, { role }) => start(role),
  });

const initVerb = (here: HostDeps['here']) =>
  localVerb({
    usage: 'init',
    summary: 'set up: the bot, its topics, its owner, the time zone; writes .env',
    examples: [
      'cronogram init',
      'cronogram init --token-file token.txt --owner 1234567 --zone Europe/Madrid',
      'cronogram init --sandbox --yes',
    ],
    flags: [
      {
        flags: '--token <token>',
        about: 'the token of the bot; others can see it in the list of processes, so rather:',
      },
      { flags: '--token-file <file>', about: 'a file that holds the token, or - for what comes in' },
      { flags: '--owner <ids>', about: 'who owns the bot: ids of people, separated by commas' },
      { flags: '--zone <zone>', about: 'the time zone, such as Europe/Madrid' },
      { flags: '--sandbox', about: 'without Telegram: a chat page on this computer' },
      { flags: '--force', about: 'put another token in the place of the one in .env' },
      { flags: '--api-root <url>', about: 'another Bot API server than the public one' },
      { flags: '-y, --yes', about: 'take what is proposed, ask nothing' },
    ],
    does: async (session, _args, options) => {
      const { initialise } = await import('./init/init.ts');
      return initialise(session, await here(), options);
    },
  });

const doctorVerb = (here: HostDeps['here']) =>
  localVerb({
    usage: 'doctor',
    summary: 'check everything that the server depends on, and say how to fix it',
    about: 'Changes nothing, and works beside a server that runs. Ends with 1 when something fails.',
    examples: ['cronogram doctor', 'cronogram doctor --offline --json'],
    flags: [{ flags: '--offline', about: 'do not use the network' }],
    does: async (session, _args, { offline }) => {
      const { diagnosisText, examine } = await import('./doctor/doctor.ts');
      const place = await here();
      const pending = new Set(['the database']);
      const looking = () => `Looking at ${[...pending].join(', ')}`;
      const diagnosis = await showing(session, looking, () => examine(place, offline === true, pending));
      const text = await diagnosisText(diagnosis, session.terminal);
      return { json: diagnosis, text, exitCode: diagnosis.ok ? 0 : 1 };
    },
  });

const copyVerbs = (here: HostDeps['here']) => [
  localVerb({
    usage: 'backup [target]',
    summary: 'make a verified copy of the database, whether the server runs or not',
    about:
      'The copy holds everything but the secrets: keep .env and the API token apart. The target is a file or a folder; without one it goes to "backups" beside the database.',
    examples: ['cronogram backup', 'cronogram backup /mnt/usb/cronogram.db', 'cronogram backup --keep 14'],
    flags: [
      {
        flags: '--keep <count>',
        about: 'keep so many copies in that folder and remove the older ones',
        whole: { min: 1, max: 9999 },
      },
    ],
    does: async (session, [target], { keep }) => {
      const { backup } = await import('./restore.ts');
      return backup(session, await here(), { target, keep });
    },
  }),
  localVerb({
    usage: 'restore [copy]',
    summary: 'put a copy in the place of the database, which is kept aside',
    about:
      'The copy is a file, or "latest". The server must not run. The copy is checked first, and the database of before is kept beside it.',
    examples: [
      'cronogram restore --list',
      'cronogram restore latest',
      'cronogram restore data/backups/cronogram.db-20270131-034000.db --yes',
    ],
    flags: [{ flags: '--list', about: 'show the copies that there are' }, yesFlag],
    does: async (session, [from], { list, yes }) => {
      const { listBackups, restore } = await import('./restore.ts');
      if (list === true) return listBackups(session, await here());
      if (from === undefined) throw usage('Which copy? Name a file, or "latest"; --list shows what there is.');
      return restore(session, await here(), { from, yes: yes === true });
    },
  }),
];

const scopeFlags = [
  { flags: '--user', about: 'of the user who types this (the default)' },
  { flags: '--system', about: 'of the system; takes root' },
  { flags: '--name <name>', about: 'what it is called; "cronogram" unless there are several' },
] as const satisfies readonly Flag[];

const serviceVerbs = (here: HostDeps['here']) => [
  localVerb({
    usage: 'install',
    summary: 'write the unit, start it now and with the computer',
    about: 'The service works in the folder in which this is typed, with the .env there.',
    examples: ['cronogram service install'],
    flags: [
      ...scopeFlags,
      { flags: '--run-as <user>', about: 'with --system: as whom it runs; else as the owner of this folder' },
      { flags: '--print', about: 'show the unit and change nothing' },
      { flags: '--no-start', about: 'do not start it now' },
    ],
    does: async (session, _args, options) => {
      const { install, printUnit } = await import('./service/service.ts');
      const wish = serviceWish(options);
      if (options.print === true) return printUnit(await here(), wish);
      return install(session, await here(), { wish, starts: options.start !== false });
    },
  }),
  localVerb({
    usage: 'status',
    summary: 'how it stands',
    about: 'Ends with 1 when it does not run.',
    examples: ['cronogram service status'],
    flags: scopeFlags,
    does: async (session, _args, options) => {
      const { status } = await import('./service/service.ts');
      return status(session, await here(), serviceWish(options));
    },
  }),
  localVerb({
    usage: 'restart',
    summary: 'restart it, and say how it is then',
    about: 'It reads .env again. Ends with 1 when it does not stay up.',
    examples: ['cronogram service restart'],
    flags: scopeFlags,
    does: async (session, _args, options) => {
      const { restart } = await import('./service/service.ts');
      return restart(session, await here(), serviceWish(options));
    },
  }),
  localVerb({
    usage: 'uninstall',
    summary: 'stop it and take the unit away; the data stays',
    examples: ['cronogram service uninstall'],
    flags: [
      ...scopeFlags,
      { flags: '--purge-data', about: 'remove the data as well: tasks, history, backups' },
      yesFlag,
    ],
    does: async (session, _args, options) => {
      const { uninstall } = await import('./service/service.ts');
      const isPurge = options.purgeData === true;
      return uninstall(session, await here(), { wish: serviceWish(options), isPurge, yes: options.yes === true });
    },
  }),
];

/** Only an installation knows `--run-as`. */
function serviceWish({
  system,
  user,
  name = 'cronogram',
  runAs,
}: Options<typeof scopeFlags> & { readonly runAs?: string }): ServiceWish {
  if (system === true && user === true) throw usage('Give --user or --system, not both.');
  if (runAs !== undefined && system !== true)
    throw usage('--run-as goes with --system; a service of the user runs as that user.');
  return { scope: system === true ? 'system' : 'user', name, runAs: runAs ?? null };
}
