import type { Argument, Command, Option } from 'commander';
import { exitCodes } from '../../src/cli/faults.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { Host } from '../../src/cli/session.ts';
import { remoteVerbs } from '../../src/cli/verbs/all.ts';
import { serveHttp } from '../../src/http/server.ts';
import { token } from '../http/door.ts';
import { appOver } from '../http/pipeline-door.ts';
import { chanceOf, type Chance } from '../support/chance.ts';
import { aPipeline, minute, type Pipeline } from '../support/pipeline.ts';
import { patience, type Outcome } from './outcome.ts';
import { hostileTexts } from './values.ts';

/** Flags that a case leaves out: one writes where it is told to, the other goes on until somebody ends it. */
const leftOut = new Set(['--output', '--follow', '--offline', '--api-url']);
const codes: ReadonlySet<number> = new Set(Object.values(exitCodes));
const roundLength = 100;

/** Command lines by chance, typed to the whole program before a real server. */
export async function fuzzCli(seed: number, cases: number): Promise<Outcome> {
  const pipeline = await aPipeline({ settings: { QUOTA_PER_CHAT: 100_000, QUOTA_PER_USER: 100_000 } });
  const listening = await serveHttp({ app: appOver(pipeline), host: '127.0.0.1', port: 0 });
  const faults: string[] = [];
  const counts = new Map<number, number>();
  const verbs = verbsOf(
    programOf(
      pipeline,
      listening.port,
      () => {},
      () => {},
    ).command,
  );
  let names: readonly string[] = [];
  for (let index = 0; index < cases && faults.length < 20; index += 1) {
    if (index % roundLength === 0) names = await namesOf(pipeline);
    const chance = chanceOf(seed, `cli ${index}`);
    const words = lineOf(chance, verbs[index % verbs.length] ?? chance.pick(verbs), names);
    let [out, err] = ['', ''];
    const program = programOf(
      pipeline,
      listening.port,
      (text) => (out += text),
      (text) => (err += text),
    );
    const code = await patience(program.run(words).catch((error: unknown) => `threw: ${String(error)}`));
    const fault = typeof code === 'number' ? faultIn({ words, code, out, err }) : (code ?? 'no end');
    if (typeof code === 'number') counts.set(code, (counts.get(code) ?? 0) + 1);
    if (fault !== null) {
      const told = `${out.slice(0, 500)}${err.slice(0, 500)}`;
      faults.push(
        `seed ${seed}, command line ${index}: ${fault}\n  ${JSON.stringify(words).slice(0, 500)}\n  -> ${String(code)} ${told}`,
      );
    }
  }
  await listening.close();
  return { faults, counts };
}

interface Typed {
  readonly words: readonly string[];
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What is wrong with how a command ended; null when nothing is. */
function faultIn({ words, code, out, err }: Typed): string | null {
  if (!codes.has(code)) return 'an exit code that is not described';
  const said = out + err;
  if (/^ {4}at .*[\w/.]+:\d+/m.test(said)) return 'a trace of the program';
  if (/\[object Object\]|\bundefined\b/.test(withoutEcho(said, words))) return 'it says nothing';
  if (/"code":\s*"internal"/.test(out)) return 'a fault of the server';
  const isHelp = words[0] === 'help' || words.some((word) => /^-(?:-help|h|-version|V)$/.test(word));
  if (words.includes('--json') && !isHelp) return code === exitCodes.done ? jsonFault(out) : envelopeFault(out, code);
  return said.trim() === '' && code !== exitCodes.done ? 'it failed and says nothing' : null;
}

/** What people typed may hold anything, and is told back to them. */
function withoutEcho(text: string, words: readonly string[]): string {
  return words.filter((word) => word.length > 2).reduce((rest, word) => rest.replaceAll(word, ''), text);
}

function jsonFault(out: string): string | null {
  try {
    // Events come one in a line.
    for (const line of isOneValue(out) ? [out] : out.trim().split('\n')) JSON.parse(line);
    return null;
  } catch {
    return 'no JSON';
  }
}

function isOneValue(out: string): boolean {
  try {
    JSON.parse(out);
    return true;
  } catch {
    return false;
  }
}

function envelopeFault(out: string, code: number): string | null {
  if (jsonFault(out) !== null) return 'the fault is no JSON';
  const { error } = JSON.parse(out) as { error?: { code?: unknown; message?: unknown } };
  if (typeof error?.code === 'string' && typeof error.message === 'string' && error.message !== '') return null;
  // A run that failed is no fault of the command, which tells of it like of any other.
  return code === exitCodes.failed && error === undefined ? null : 'not the envelope of errors';
}

function programOf(pipeline: Pipeline, port: number, heard: (text: string) => void, warned: (text: string) => void) {
  let elapsed = 0;
  const host: Host = {
    clock: { now: () => pipeline.time.now() },
    stopwatch: { elapsed: () => elapsed },
    timer: {
      // Whoever waits lets the server do what is due, and a long time is over soon.
      after: (ms, call) => {
        elapsed += Math.max(ms, minute);
        void pipeline.settle().then(call);
        return () => undefined;
      },
      yield: () => pipeline.time.yield(),
    },
    terminal: {
      out: heard,
      err: warned,
      showsProgress: false,
      canAsk: false,
      hasColours: false,
      columns: 80,
      read: async () => '{"version":1}',
      ask: async () => '',
      askHidden: async () => '',
    },
    interrupted: new AbortController().signal,
    version: '1.2.3',
    surroundings: async () => ({
      apiUrl: `http://127.0.0.1:${port}`,
      isApiUrlNamed: true,
      threadKey: 'cli:fuzz',
      noColour: true,
      token: () => token,
      tokenFile: 'api-token',
    }),
    offline: () => Promise.reject(new Error('No case goes there.')),
  };
  return createProgram(host, { remote: remoteVerbs, local: [] });
}

interface Verb {
  readonly path: readonly string[];
  readonly args: readonly Argument[];
  readonly flags: readonly Option[];
}

function verbsOf(program: Command): readonly Verb[] {
  const below = (command: Command, path: readonly string[]): Verb[] =>
    command.commands.length > 0
      ? command.commands.flatMap((one) => below(one, [...path, one.name()]))
      : [
          {
            path,
            args: command.registeredArguments,
            flags: command.options.filter(({ long }) => !leftOut.has(long ?? '')),
          },
        ];
  // What a shell asks to complete a word goes past the terminal, by the hand of a library.
  return below(program, []).filter(({ path }) => path[0]?.startsWith('complet') !== true);
}

const soundValues = [
  '3',
  '1',
  '#2',
  'cli:fuzz',
  'telegram:chat:-1001234',
  'every day at 9 stand up',
  'tomorrow at 8',
  '0 9 * * 1-5',
  'UTC',
  'Europe/Madrid',
  '2027-01-31T09:00',
  '30s',
  'PT1H',
  '10',
  'message',
  'Water the plants',
  'garden',
  '{"a":1}',
  'key=value',
  'skip',
  'once',
  'all',
  'latest',
];

function lineOf(chance: Chance, { path, args, flags }: Verb, names: readonly string[]): string[] {
  const value = () => (chance.is(0.75) ? chance.pick(chance.is(0.4) ? names : soundValues) : chance.pick(hostileTexts));
  const words = [
    ...path,
    ...args.filter(({ required }) => chance.is(required ? 0.95 : 0.6)).map(value),
    ...flags
      .filter(({ mandatory }) => chance.is(mandatory ? 0.9 : 0.15))
      .flatMap((flag) => flagOf(chance, flag, value)),
    ...(chance.is(0.4) ? ['--json'] : []),
    ...(chance.is(0.05) ? [chance.pick(['--help', '--version', '--nonsense', '--', '-x', '--json=1', ''])] : []),
    ...(chance.is(0.05) ? [value()] : []),
  ];
  if (chance.is(0.05)) words.splice(chance.between(0, words.length - 1), 1, value());
  return words;
}

function flagOf(
  chance: Chance,
  { long, short, required, optional, argChoices }: Option,
  value: () => string,
): string[] {
  const name = long ?? short ?? '';
  if (!required && !optional) return [name];
  return [name, argChoices !== undefined && chance.is(0.8) ? chance.pick(argChoices) : value()];
}

/** Something of every kind, new for each round, because commands delete what they name. */
async function namesOf(pipeline: Pipeline): Promise<readonly string[]> {
  const names: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    const { id, number } = await pipeline.create({ subject: 'garden' }, { threadKey: 'cli:fuzz', onExisting: 'add' });
    const { taskRun } = await pipeline.rooms.tasks.runNow({ taskId: id, actor: 'system' });
    names.push(id, `#${number}`, String(number), id.slice(0, 12), taskRun.runId ?? '');
  }
  return names;
}
