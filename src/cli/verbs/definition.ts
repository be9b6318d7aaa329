import { formAt, policyTable } from '../../domain/policy.ts';
import { durationText } from '../../domain/schedule/time/duration.ts';
import { addressed } from '../../domain/task.ts';
import type { AnswerOf, Asked } from '../client.ts';
import { CliFault, usage } from '../faults.ts';
import { given, lengthOf, objectOf, sendable, type ScheduleSent } from '../options.ts';
import type { Flag, Options, Session } from '../session.ts';
import { instantOf } from './moments.ts';

/** When a task runs, in flags. */
export const scheduleFlags = [
  { flags: '--when <words>', about: 'when it runs, in plain words: "every weekday at 9:00"' },
  { flags: '--once-at <instant>', about: 'once: 2027-01-31T09:00, on the clock of the zone or with an offset' },
  { flags: '--cron <fields>', about: 'five fields: "0 9 * * 1-5"' },
  { flags: '--rrule <rule>', about: 'RFC 5545: "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0"' },
  { flags: '--every <length>', about: 'again and again: 15m, 2h, 1d, P1M' },
  { flags: '--start-at <instant>', about: 'with --every: the instant to count from' },
  {
    flags: '--from <point>',
    about: 'with --every: count from the start or the end of a run',
    choices: ['start', 'completion'],
  },
  { flags: '--timezone <zone>', about: 'IANA name, such as Europe/Madrid' },
] as const satisfies readonly Flag[];

/** A whole task, in flags. */
export const definitionFlags = [
  { flags: '--title <title>', about: 'its name (default: the beginning of the text)' },
  { flags: '--text <text>', about: 'what it says when it runs; - reads it from the input' },
  { flags: '--instructions <text>', about: 'the same as --text, as the API calls it' },
  ...scheduleFlags,
  { flags: '--tag <tag>', about: 'a tag; may be given several times', isList: true },
  { flags: '--subject <subject>', about: 'what it is about' },
  { flags: '--missed <what>', about: 'slots that passed while the server was down', choices: policyTable.missed.of },
  { flags: '--overlap <what>', about: 'a slot while the last run still runs', choices: policyTable.overlap.of },
  { flags: '--timeout <length>', about: 'how long an attempt may take: 30s, 5m' },
  { flags: '--until <when>', about: 'no run after this' },
  { flags: '--max-runs <count>', about: 'so many runs and no more' },
  {
    flags: '--policy <name=value>',
    about: 'any policy, such as grace=10m or retry.attempts=5; may be given several times',
    isList: true,
  },
  { flags: '--grant-expires <when>', about: 'its right to run ends then; never for no end' },
  { flags: '--action-json <json>', about: 'what a run does, if not to say the text' },
  { flags: '--context-json <json>', about: 'what the first run knows' },
] as const satisfies readonly Flag[];

export type ScheduleOptions = Options<typeof scheduleFlags>;
export type DefinitionOptions = Options<typeof definitionFlags>;

type Policies = NonNullable<NonNullable<Asked<'updateTask'>['body']>['policies']>;

export interface ReadSchedule {
  readonly schedule: ScheduleSent;
  /** The text behind a when in plain words. */
  readonly text: string | null;
  /** The policies that such words ask for. */
  readonly policies: Policies;
  /** The parts that such words left out, as they were read. */
  readonly assumed: readonly AssumedPart[];
}

export type AssumedPart = NonNullable<AnswerOf<'previewSchedule'>['assumed']>[number];

const ways = ['onceAt', 'cron', 'rrule', 'every', 'when'] as const;
export const wayFlags = '--when, --once-at, --cron, --rrule or --every';

/** Whether a flag says when it runs. */
export function isScheduled(options: ScheduleOptions): boolean {
  return ways.some((way) => options[way] !== undefined);
}

/** The surroundings in which a schedule was typed. */
interface Reading {
  /** Holds where no zone is named. */
  readonly zone: string;
  /** A zone must be named, but for words. */
  readonly needsZone?: true;
  /** The command that takes a when behind itself. */
  readonly line: string;
}

/** Null where no schedule was typed. */
export async function readSchedule(
  session: Session,
  options: ScheduleOptions,
  { zone, needsZone, line }: Reading,
): Promise<ReadSchedule | null> {
  const typed = ways.filter((way) => options[way] !== undefined);
  if (typed.length > 1) throw usage(`Say once when it runs: give exactly one of ${wayFlags}.`);
  if (options.every === undefined && (options.startAt !== undefined || options.from !== undefined)) {
    throw usage('--start-at and --from go with --every.');
  }
  if (typed.length === 0) return null;
  const timezone = options.timezone ?? zone;
  if (options.when !== undefined) return inWords(session, { when: options.when, timezone }, line);
  if (needsZone === true && options.timezone === undefined)
    throw usage(`Name the zone in which the clock is read: --timezone ${zone}, or another.`);
  return { schedule: inFields(options, timezone), text: null, policies: {}, assumed: [] };
}

function inFields({ onceAt, cron, rrule, every = '', startAt, from }: ScheduleOptions, timezone: string): ScheduleSent {
  if (onceAt !== undefined) return { kind: 'once', once_at: onceAt, timezone };
  if (cron !== undefined) return { kind: 'cron', cron, timezone };
  if (rrule !== undefined) return { kind: 'rrule', rrule, timezone };
  return { kind: 'interval', interval: calendarLength(every), timezone, start_at: startAt, from };
}

/** Days and longer are days of the calendar, so that they are not turned into hours. */
function calendarLength(text: string): string {
  const [, amount, unit = ''] = /^(\d{1,6})\s*(s|m|h|d|w)$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return text;
  return /[dw]/i.test(unit) ? `P${amount}${unit.toUpperCase()}` : `PT${amount}${unit.toUpperCase()}`;
}

interface Words {
  readonly when: string;
  readonly timezone: string;
}

async function inWords({ client }: Session, words: Words, line: string): Promise<ReadSchedule> {
  const answer = await client.call('previewSchedule', { body: { ...words, count: 1 } }).catch(askBack(line));
  const { schedule, text = '', policies = {}, assumed = [], for_whom: forWhom } = answer;
  const said = addressed(forWhom ?? null, text);
  return { schedule: sendable(schedule), text: said || null, policies, assumed };
}

interface Offered {
  readonly when?: string;
  readonly next?: string;
  readonly text?: string;
}

/** Words with two readings, or without a part that cannot be guessed, are answered with the lines that say what is meant. */
export function askBack(line: string) {
  return (error: unknown): never => {
    const details = error instanceof CliFault ? error.details : undefined;
    const offered = (details?.['readings'] ?? details?.['offers'] ?? []) as readonly Offered[];
    const lines = offered.flatMap(({ when }) => (when === undefined ? [] : [`  ${lineWith(line, when)}`]));
    if (!(error instanceof CliFault) || lines.length === 0) throw error;
    const { code, exitCode } = error;
    throw new CliFault(code, [error.message, ...lines].join('\n'), { exitCode, details, cause: error });
  };
}

/** Sentences about what was assumed, each with the line that says the other reading; null where nothing was. */
export function assumedWords(assumed: readonly AssumedPart[], line: string): string | null {
  const parts = assumed.map(({ text, other }) =>
    other === null ? `Assumed ${text}.` : `Assumed ${text}. For ${other.text}:\n  ${lineWith(line, other.when)}`,
  );
  return parts.length === 0 ? null : parts.join('\n');
}

/** Words that would be read as a time stand on a line of their own: they are the text, which a preview needs not. */
export function lineWith(line: string, words: string): string {
  const [when = '', ...rest] = words.split(/\s*\n/);
  const text = line.endsWith(' preview') ? [] : rest;
  return [line, quoted(when), ...text.map((each) => `--text ${quoted(each)}`)].join(' ');
}

/** As a shell takes it for one word. */
function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`;
}

/** Policies of which one value says most, with the field that it stands for. */
const mainFields: Readonly<Record<string, string>> = { retry: 'attempts', keep: 'runs' };

/** The policies that were typed, before those that words ask for. One without a value, `grace=`, goes back to its default. */
export async function readPolicies(
  session: Session,
  options: DefinitionOptions,
  { timezone, asked }: { readonly timezone: string; readonly asked: Policies },
): Promise<Policies> {
  const { missed, overlap, timeout, until, maxRuns } = options;
  const dedicated = Object.entries(given({ missed, overlap, timeout, until, max_runs: maxRuns }));
  const typed = [
    ...dedicated.map(([name, value]) => [name, value ?? ''] as const),
    ...(options.policy ?? []).map(pairOf),
  ];
  const policies: Record<string, unknown> = { ...asked };
  for (const [name, text] of typed) {
    const [root = '', field] = name.split('.', 2);
    const value =
      formAt(name)?.kind === 'instant' && text !== '' ? await instantOf(session, text, timezone) : valueOf(name, text);
    policies[root] = field === undefined ? value : { ...recordOf(policies[root]), [field]: value };
  }
  // A name that is no policy is refused by the server, which names those that there are.
  return policies;
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw usage(`--policy ${text.slice(0, 40)}: write its name and its value, such as --policy grace=10m.`);
  return [text.slice(0, at).trim().replaceAll('-', '_'), text.slice(at + 1).trim()];
}

function valueOf(name: string, text: string): unknown {
  if (text === '' || text === 'null' || text === 'default') return null;
  if (formAt(name)?.kind === 'length') return lengthText(text);
  const main = mainFields[name];
  if (main !== undefined && !text.startsWith('{')) return { [main]: plainOf(text) };
  if (name === 'quiet') return quietOf(text);
  return name === 'ack' && text === 'on' ? {} : plainOf(text);
}

/** `10m` as the API takes it; what is not a length of time is refused by the server. */
function lengthText(text: string): string {
  const ms = /^P|^\d+$/i.test(text) ? null : lengthOf(text);
  return ms === null ? text : durationText(ms);
}

function quietOf(text: string): unknown {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
  if (from !== undefined) return { from, to, mode: 'hold' };
  return text === 'off' ? { mode: 'off' } : plainOf(text);
}

/** Numbers, switches and objects as JSON, everything else as it stands. */
function plainOf(text: string): unknown {
  if (!/^(?:-?\d+(?:\.\d+)?$|true$|false$|\{)/.test(text)) return text;
  return text.startsWith('{') ? objectOf('--policy', text) : (JSON.parse(text) as unknown);
}

function recordOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

/** The fields beside the schedule and the policies. */
export function readFields({ title, tag, subject, actionJson, contextJson }: DefinitionOptions) {
  const action = actionJson === undefined ? undefined : actionOf(actionJson);
  const context = contextJson === undefined ? undefined : objectOf('--context-json', contextJson);
  return { title, tags: tag?.slice(), subject, action, context };
}

/** The end of its right to run: null for none, undefined where none was typed. */
export async function readGrantEnd(
  session: Session,
  { grantExpires }: Pick<DefinitionOptions, 'grantExpires'>,
  timezone: string,
) {
  if (grantExpires === undefined) return undefined;
  return grantExpires === 'never' ? null : instantOf(session, grantExpires, timezone);
}

function actionOf(text: string): { [field: string]: unknown; kind: string } {
  const { kind, ...rest } = objectOf('--action-json', text);
  if (typeof kind !== 'string') throw usage('--action-json needs the kind of the action: {"kind":"message"}.');
  return { kind, ...rest };
}

/** The text from wherever it was typed; null where it was not. */
export async function readText(
  { terminal }: Session,
  argument: string | undefined,
  { text, instructions }: DefinitionOptions,
): Promise<string | null> {
  const [typed = null, ...more] = [argument, text, instructions].filter((one) => one !== undefined);
  if (more.length > 0) throw usage('Write the text once: as the last word or with --text.');
  return typed === null ? null : fromInput({ terminal }, typed);
}

/** The text as it was typed; the input where that is `-`. */
export async function fromInput({ terminal }: Pick<Session, 'terminal'>, typed: string): Promise<string> {
  return typed === '-' ? (await terminal.read()).replace(/\n$/, '') : typed;
}
