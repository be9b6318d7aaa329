import type { Command } from 'commander';
import { faultOf, HostFault } from './fault.ts';
import type { HostPorts } from './ports.ts';
import type { Screen } from './screen.ts';

/**
 * The verbs of this computer. What each of them does is loaded when it is asked for, so that the other verbs of the program
 * start at once.
 */
export interface HostNeeds {
  readonly screen: Screen;
  readonly load: () => Promise<HostPorts>;
  /** Starts the server in this process; the code says how a start that came to nothing ends. */
  readonly start: () => Promise<number>;
  /** The verb has told its result, and ends with this all the same. */
  readonly end: (exitCode: number) => void;
}

const group = 'This computer:';

export function addHostVerbs(program: Command, needs: HostNeeds): void {
  addStart(program, needs);
  addInit(program, needs);
  addDoctor(program, needs);
  addBackup(program, needs);
  addRestore(program, needs);
  addService(program, needs);
}

/** What every verb has in common: where it tells its result, as text or as JSON, and how faults are told. */
interface Telling {
  readonly screen: Screen;
  readonly ports: HostPorts;
  readonly end: (exitCode: number) => void;
  readonly tell: <T>(value: T, text: (value: T) => string) => void;
}

interface Given<O> {
  readonly options: O;
  readonly args: readonly (string | undefined)[];
}

type Act<O> = (telling: Telling, given: Given<O>) => Promise<void>;

function verb<O extends object>({ screen, load, end }: HostNeeds, act: Act<O>) {
  return async (...given: readonly unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const options = typedOptions<O & { json?: boolean }>(command);
    const isJson = options.json === true;
    const told: Telling = {
      // Whoever reads JSON is a program, which answers no questions.
      screen: isJson ? { ...screenOf(screen), canAsk: false } : screen,
      ports: await load(),
      end,
      tell: (value, text) => screen.out(isJson ? `${JSON.stringify(value, null, 2)}\n` : text(value)),
    };
    try {
      await act(told, { options, args: command.processedArgs as (string | undefined)[] });
    } catch (error) {
      throw faultOf(error);
    }
  };
}

/** Only what was typed: a global option of the same name may take its value from elsewhere, and mean something else. */
function typedOptions<O extends object>(command: Command): O {
  const all = Object.entries(command.optsWithGlobals());
  return Object.fromEntries(all.filter(([name]) => command.getOptionValueSourceWithGlobals(name) === 'cli')) as O;
}

/** A screen may be an object with methods of a class, which a spread would lose. */
function screenOf(screen: Screen): Screen {
  return {
    out: (text) => screen.out(text),
    err: (text) => screen.err(text),
    read: () => screen.read(),
    canAsk: screen.canAsk,
    hasColours: screen.hasColours,
    columns: screen.columns,
  };
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new HostFault('usage', `${name} takes a whole number from 0 to 9999, and not "${text.slice(0, 40)}".`);
}

function addStart(program: Command, { start, end }: HostNeeds): void {
  program
    .command('start')
    .helpGroup(group)
    .description('start the server, with what .env and ./data of this folder hold')
    .addHelpText('after', '\nExamples:\n  $ cronogram start\n  $ HTTP_PORT=9000 cronogram start')
    .action(async () => {
      const code = await start();
      if (code !== 0) end(code);
    });
}

const jsonWords = 'answer with JSON, and ask nothing';

function addInit(program: Command, needs: HostNeeds): void {
  program
    .command('init')
    .helpGroup(group)
    .description('set up: the bot, its topics, its owner, the time zone; writes .env')
    .option('--token <token>', 'the token of the bot; others can see it in the list of processes, so rather:')
    .option('--token-file <file>', 'a file that holds the token, or - for what comes in')
    .option('--owner <ids>', 'who owns the bot: ids of people, separated by commas')
    .option('--zone <zone>', 'the time zone, such as Europe/Madrid')
    .option('--sandbox', 'without Telegram: a chat page on this computer')
    .option('--force', 'put another token in the place of the one in .env')
    .option('--api-root <url>', 'another Bot API server than the public one')
    .option('-y, --yes', 'take what is proposed, ask nothing')
    .option('--json', jsonWords)
    .addHelpText('after', initExamples)
    .action(
      verb<InitOptions>(needs, async ({ ports, screen, tell }, { options }) => {
        const { initialise } = await import('./init/init.ts');
        const { initText } = await import('./init/init.ts');
        const done = await initialise(ports, initWish(options), screen);
        tell(done, (value) => initText(value, screen));
      }),
    );
}

const initExamples = `
Examples:
  $ cronogram init
  $ cronogram init --token-file token.txt --owner 1234567 --zone Europe/Madrid
  $ cronogram init --sandbox --yes`;

interface InitOptions {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly owner?: string;
  readonly zone?: string;
  readonly sandbox?: boolean;
  readonly force?: boolean;
  readonly apiRoot?: string;
  readonly yes?: boolean;
}

function initWish({ token, tokenFile, owner, zone, sandbox, force, apiRoot, yes }: InitOptions) {
  return {
    token: token?.trim() ?? null,
    tokenFile: tokenFile ?? null,
    owners: (owner ?? '').split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()])),
    zone: zone ?? null,
    apiRoot: apiRoot ?? null,
    isSandbox: sandbox === true,
    isForced: force === true,
    isAgreed: yes === true,
  };
}

function addDoctor(program: Command, needs: HostNeeds): void {
  program
    .command('doctor')
    .helpGroup(group)
    .description('look at everything that the server depends on, and say how to mend it')
    .option('--offline', 'ask nobody over the network')
    .option('--json', jsonWords)
    .addHelpText('after', doctorExamples)
    .action(
      verb<{ offline?: boolean }>(needs, async ({ ports, screen, tell, end }, { options }) => {
        const { diagnosisText, examine } = await import('./doctor/doctor.ts');
        const diagnosis = await examine(ports, options.offline === true);
        tell(diagnosis, (value) => diagnosisText(value, screen));
        if (!diagnosis.ok) end(1);
      }),
    );
}

const doctorExamples = `
Changes nothing, and works beside a server that runs.
Ends with 1 when something fails.

Examples:
  $ cronogram doctor
  $ cronogram doctor --offline --json`;

function addBackup(program: Command, needs: HostNeeds): void {
  program
    .command('backup')
    .helpGroup(group)
    .description('make a verified copy of the database, whether the server runs or not')
    .argument('[file]', 'where to; without it, into the folder "backups" beside the database')
    .option('--keep <n>', 'then remove all but the n newest copies in that folder')
    .option('--json', jsonWords)
    .addHelpText('after', backupExamples)
    .action(
      verb<{ keep?: string }>(needs, async ({ ports, screen, tell }, { options, args }) => {
        const { backupText, makeBackup } = await import('./restore.ts');
        const keep = whole('--keep', options.keep);
        if (keep === 0) throw new HostFault('usage', '--keep takes 1 or more: the copy just made stays.');
        const made = await makeBackup(ports, { target: args[0] ?? null, keep });
        tell(made, (value) => backupText(value, ports, screen));
      }),
    );
}

const backupExamples = `
The copy holds everything but the secrets: keep .env and the API token apart.

Examples:
  $ cronogram backup
  $ cronogram backup /mnt/usb/cronogram.db
  $ cronogram backup --keep 14`;

function addRestore(program: Command, needs: HostNeeds): void {
  program
    .command('restore')
    .helpGroup(group)
    .description('put a copy in the place of the database, which is kept aside')
    .argument('[file]', 'the copy, or "latest"')
    .option('--list', 'show the copies that there are')
    .option('-y, --yes', 'do not ask')
    .option('--json', jsonWords)
    .addHelpText('after', restoreExamples)
    .action(
      verb<{ list?: boolean; yes?: boolean }>(needs, async ({ ports, screen, tell }, { options, args }) => {
        const { copiesText, listCopies, restoreBackup, restoreText } = await import('./restore.ts');
        const [from] = args;
        if (options.list === true) {
          tell({ copies: listCopies(ports) }, ({ copies }) => copiesText(copies, ports, screen));
          return;
        }
        if (from === undefined)
          throw new HostFault('usage', 'Which copy? Name a file, or "latest"; --list shows what there is.');
        const done = await restoreBackup(ports, { from, isAgreed: options.yes === true }, screen);
        if (done === null) throw new HostFault('cancelled', 'Nothing was changed.');
        tell(done, (value) => restoreText(value, ports, screen));
      }),
    );
}

const restoreExamples = `
The server must not run. The copy is checked first, and the database of before
is kept beside it.

Examples:
  $ cronogram restore --list
  $ cronogram restore latest
  $ cronogram restore data/backups/cronogram.db-20270131-034000.db --yes`;

/* ---- the service ---- */

interface ServiceOptions {
  readonly system?: boolean;
  readonly user?: boolean;
  readonly name?: string;
  readonly runAs?: string;
  readonly print?: boolean;
  readonly start?: boolean;
  readonly purgeData?: boolean;
  readonly yes?: boolean;
}

function addService(program: Command, needs: HostNeeds): void {
  const service = program
    .command('service')
    .helpGroup(group)
    .description('let systemd start it with this computer, and again after a fault');
  const scoped = (name: string, description: string) =>
    service
      .command(name)
      .description(description)
      .option('--user', 'of the user who types this (the default)')
      .option('--system', 'of the system; takes root')
      .option('--name <name>', 'what it is called; "cronogram" unless there are several')
      .option('--json', jsonWords)
      .addHelpText('after', `\nExample:\n  $ cronogram service ${name}`);
  addInstall(scoped('install', 'write the unit, start it now and with the computer'), needs);
  scoped('status', 'how it stands').action(
    verb<ServiceOptions>(needs, async ({ ports, screen, tell, end }, { options }) => {
      const { serviceStanding } = await import('./service/service.ts');
      const { standingText } = await import('./service/told.ts');
      const standing = await serviceStanding(ports, serviceWish(options));
      tell(standing, (value) => standingText(value, serviceWish(options), screen));
      if (!standing.is_running) end(1);
    }),
  );
  addUninstall(scoped('uninstall', 'stop it and take the unit away; the data stays'), needs);
}

function serviceWish({ system, user, name, runAs }: ServiceOptions) {
  if (system === true && user === true) throw new HostFault('usage', 'Give --user or --system, not both.');
  if (runAs !== undefined && system !== true)
    throw new HostFault('usage', '--run-as goes with --system; a service of the user runs as that user.');
  return { scope: system === true ? 'system' : 'user', name: name ?? 'cronogram', runAs: runAs ?? null } as const;
}

function addInstall(command: Command, needs: HostNeeds): void {
  command
    .option('--run-as <user>', 'with --system: as whom it runs; else as the owner of this folder')
    .option('--print', 'show the unit and change nothing')
    .option('--no-start', 'do not start it now')
    .addHelpText('after', '\nThe service works in the folder in which this is typed, with the .env there.')
    .action(
      verb<ServiceOptions>(needs, async ({ ports, screen, tell }, { options }) => {
        const { installService, planService, requireSystemd } = await import('./service/service.ts');
        const { installedText, plannedText } = await import('./service/told.ts');
        const wish = serviceWish(options);
        const planned = planService(ports, wish);
        const { file, unit, warnings } = planned;
        if (options.print === true) {
          tell({ unit_file: file, unit, warnings }, () => plannedText(planned, screen));
          return;
        }
        if (!ports.system.hasSystemd()) screen.err(`${plannedText(planned, screen)}\n`);
        requireSystemd(ports);
        const installed = await installService(ports, wish, { starts: options.start !== false });
        tell(installed, (value) => installedText(value, wish, screen));
      }),
    );
}

function addUninstall(command: Command, needs: HostNeeds): void {
  command
    .option('--purge-data', 'remove the data as well: tasks, history, backups')
    .option('-y, --yes', 'do not ask')
    .action(
      verb<ServiceOptions>(needs, async ({ ports, screen, tell }, { options }) => {
        const { uninstallService } = await import('./service/service.ts');
        const { agreeToPurge, uninstalledText } = await import('./service/told.ts');
        const isPurge = options.purgeData === true;
        const wish = { isPurge, isAgreed: options.yes === true };
        const done = await uninstallService(ports, serviceWish(options), (files) =>
          agreeToPurge(ports, { ...wish, files }, screen),
        );
        tell(done, (value) => uninstalledText(value, screen));
      }),
    );
}
