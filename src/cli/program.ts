import { Command, CommanderError, Option } from 'commander';
import { AppError, errorText } from '../domain/errors.ts';
import { CliFault, exitCodes, interrupted as interruption, localFault, usage } from './faults.ts';
import { sentence } from './layout.ts';
import { collect, wholeOf } from './options.ts';
import {
  localSession,
  openSession,
  type Flag,
  type Globals,
  type Group,
  type Host,
  type LocalSession,
  type Options,
  type Session,
  type Told,
  type Verb,
} from './session.ts';

/** Longer lines are hard to read, and a file has no width of its own. */
const helpColumns = 80;

export interface Program {
  readonly command: Command;
  /** Does what the words say, and answers how it ended. Nothing is thrown. */
  run(words: readonly string[]): Promise<number>;
}

const about = `Scheduled work from the command line. Everything but the verbs of this host asks a running server.

A task is named by its title, by its id, or by its number in the thread that
--thread-key names: 3, or '#3' in quotes. A thread is named by its key or by
the title of its chat: --thread-key "The Lab".`;

const endings = `
Exit codes: 0 done, 1 failed, 2 cannot be done as typed, 3 not found,
            4 refused, 5 server away, 130 interrupted
Variables:  CRONOGRAM_API_URL, CRONOGRAM_API_TOKEN, CRONOGRAM_API_TOKEN_FILE,
            CRONOGRAM_THREAD_KEY, NO_COLOR`;

/** The verbs that ask a server, and those of this computer. Completion tells of the program itself, so it is given it. */
export interface Verbs {
  readonly remote: (program: Command) => readonly Group[];
  readonly local: readonly Group<LocalSession>[];
}

export function createProgram(host: Host, { remote, local }: Verbs): Program {
  const command = rootOf(host);
  let exitCode: number = exitCodes.done;
  const globals = () => command.opts<Globals>();
  const add = <S extends LocalSession>(groups: readonly Group<S>[], using: Using<S>) => {
    for (const group of groups) {
      const parent = group.name === undefined ? command : groupOf(command, group);
      for (const verb of group.verbs) {
        const made = commandOf(parent, verb).action(async () => {
          await using(async (session) => {
            const told = await verb.does(session, argumentsOf(verb, made.args), typedOptions(made));
            exitCode = typeof told === 'number' ? told : (told?.exitCode ?? exitCodes.done);
            if (typeof told === 'object' && told !== null) await tell(session, told);
          });
        });
        if (group.name === undefined && group.heading !== undefined) made.helpGroup(group.heading);
      }
    }
  };
  add<Session>(remote(command), async (work) => {
    const session = await openSession(host, globals());
    try {
      await work(session);
    } finally {
      await session.client.close();
    }
  });
  add<LocalSession>(local, (work) =>
    work(localSession(host, globals())).catch((error: unknown) => {
      throw localFault(error);
    }),
  );
  addHelp(command);
  return {
    command,
    run: async (words) => {
      exitCode = exitCodes.done;
      try {
        await command.parseAsync([...words], { from: 'user' });
        return exitCode;
      } catch (error) {
        return tellFault(host, error, words.includes('--json'));
      }
    },
  };
}

/** Opens a session for as long as a verb works. */
type Using<S> = (work: (session: S) => Promise<void>) => Promise<void>;

function groupOf(program: Command, { name = '', summary = '', heading }: Omit<Group, 'verbs'>): Command {
  const group = program.command(name).helpCommand(false).summary(summary).description(descriptionOf({ summary }));
  return heading === undefined ? group : group.helpGroup(heading);
}

function commandOf<S>(group: Command, verb: Verb<S>): Command {
  const made = group
    .command(verb.usage, { hidden: verb.isHidden === true })
    .summary(verb.summary)
    .description(descriptionOf(verb))
    .addHelpText('after', examplesOf(verb.examples))
    .allowExcessArguments(false);
  for (const flag of verb.flags ?? []) made.addOption(optionOf(flag));
  return made;
}

/** A sentence at the end of the line is one argument, whether it was quoted or not. */
function argumentsOf({ usage: text, keepsWords }: Pick<Verb, 'usage' | 'keepsWords'>, words: readonly string[]) {
  const last = text.split(' ').length - 2;
  if (keepsWords === true || !/\.\.\.[\]>]$/.test(text) || words.length <= last) return words;
  return [...words.slice(0, last), words.slice(last).join(' ')];
}

/** The flags of a verb that were typed. One that the whole program takes too is found there. */
function typedOptions(command: Command): Options<readonly Flag[]> {
  const all: Readonly<Record<string, unknown>> = command.optsWithGlobals();
  const names = command.options.map((option) => option.attributeName());
  const typed = names.filter((name) => command.getOptionValueSourceWithGlobals(name) === 'cli');
  return Object.fromEntries(typed.map((name) => [name, all[name]]));
}

function rootOf({ terminal, version }: Host): Command {
  return new HelpfulCommand('cronogram')
    .description(about)
    .version(version, '-V, --version', 'show the version of this program')
    .helpOption('-h, --help', 'show what a verb does')
    .option('--json', 'tell results and faults as JSON')
    .option('--api-url <url>', 'address of the server (default: CRONOGRAM_API_URL, else the server of this folder)')
    .option('--token <token>', 'token of the API (default: CRONOGRAM_API_TOKEN, else the token file of this folder)')
    .option(
      '--thread-key <key>',
      'thread of new tasks and of numbers (default: CRONOGRAM_THREAD_KEY, else cli:default)',
    )
    .option('--offline', 'work on the database of this folder, while no server runs')
    .addHelpText('after', endings)
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      getOutHelpWidth: () => Math.min(terminal.columns, helpColumns),
      getErrHelpWidth: () => Math.min(terminal.columns, helpColumns),
      // A fault is told once, where it is caught.
      outputError: () => {},
    });
}

/** Help, of verbs within groups as well: `help task run`. */
function addHelp(program: Command): void {
  program
    .command('help [verb...]')
    .summary('show what a verb does')
    .description('Show what a verb does.')
    .addHelpText('after', examplesOf(['cronogram help task run']))
    .action((words: readonly string[]) => {
      let found = program;
      for (const word of words) {
        const next = found.commands.find((one) => one.name() === word);
        if (next === undefined)
          throw usage(`There is no verb "${words.join(' ').slice(0, 60)}". "cronogram --help" lists them all.`);
        found = next;
      }
      found.outputHelp();
    });
}

function descriptionOf({ summary, about: rest }: Pick<Verb, 'summary' | 'about'>): string {
  const first = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return rest === undefined ? first : `${first}\n\n${rest}`;
}

function examplesOf(examples: readonly string[]): string {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return `\n${title}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

function optionOf({ flags, about: text, choices, isList, whole }: Flag): Option {
  const option = new Option(flags, text);
  if (choices !== undefined) option.choices([...choices]);
  if (isList === true) option.argParser(collect);
  if (whole !== undefined) option.argParser((typed) => wholeOf(`--${option.name()}`, typed, whole));
  return option;
}

async function tell({ terminal, isJson }: LocalSession, told: Told): Promise<void> {
  terminal.out(isJson ? `${JSON.stringify(told.json, null, 2)}\n` : told.text);
  if (!isJson && told.note !== undefined) terminal.err(await sentence(terminal, told.note));
}

/** A sentence for people beside the results; for a script one JSON value where it reads the results. */
async function tellFault(host: Host, error: unknown, isJson: boolean): Promise<number> {
  // Help and the version end the program as an error as well.
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
  const { terminal } = host;
  const { code, message, details, exitCode } = faultOf(host, error);
  if (isJson) terminal.out(`${JSON.stringify({ error: { code, message, details } }, null, 2)}\n`);
  else terminal.err(await sentence(terminal, message));
  return exitCode;
}

function faultOf({ interrupted }: Host, error: unknown): CliFault {
  if (error instanceof CliFault) return error;
  if (interrupted.aborted) return interruption('Interrupted; what the server was asked for may be done all the same.');
  if (error instanceof CommanderError) return usage('Name a verb. "cronogram --help" lists them all.');
  // A fault of what this program opened by itself.
  if (error instanceof AppError) return new CliFault(error.code, error.message, { details: error.details });
  return new CliFault('internal', `Something went wrong in this program: ${errorText(error)}`, { cause: error });
}

/** A refusal of what was typed names the help of the very verb that refuses. */
class HelpfulCommand extends Command {
  override createCommand(name?: string): Command {
    return new HelpfulCommand(name);
  }

  override error(message: string): never {
    const text = message.replace(/^error: /, '').replace(/\n\((.*\?)\)$/, '. $1');
    const quoted = text.startsWith("missing required argument 'task'")
      ? " To name a task by its number write 3, or '#3' in quotes: a bare # begins a comment."
      : '';
    const whole = `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/[^.?]$/, '$&.');
    throw usage(`${whole}${quoted} "${pathOf(this)} --help" shows what it takes.`);
  }
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}
