import { readFileSync } from 'node:fs';
import { type ActionField, type ActionForm, settingFrom, variantText } from '../../app/actions/form.ts';
import { forms as known } from '../../app/actions/forms.ts';
import { errorText } from '../../domain/errors.ts';
import type { AnswerOf } from '../client.ts';
import { CliFault, usage } from '../faults.ts';
import { facts, sentence, table, type Column } from '../layout.ts';
import { objectOf } from '../options.ts';
import { confirmed, verb, type Flag, type Options, type Session, type Told } from '../session.ts';
import { hostZone, timesIn } from '../times.ts';
import { fromInput } from './definition.ts';
import { keyFlag, keyHeader } from './doing.ts';
import { listTold } from './looking.ts';
import { endTold, paceOf, waitFlags, waitForRun } from './running.ts';

/** Actions of tasks in flags: those of every kind follow from its form. */

const forms: readonly ActionForm[] = Object.values(known);

/** A whole action, whatever its kind. */
const wholeFlag = {
  flags: '--action <json>',
  about: 'what a run does, if not to say the text: JSON, or @ and the file that holds it',
} as const satisfies Flag;

export function actionFlags(among: readonly ActionForm[] = forms): readonly Flag[] {
  const settings = fieldsIn(among).map(({ flag, does, is, kinds = [] }): Flag => {
    const first = does.charAt(0).toLowerCase() + does.slice(1).replace(/\.$/, '');
    const about = kinds.length === 0 ? first : `${first}: ${kinds.map(variantText).join('; ')}`;
    return is === 'pairs'
      ? { flags: flag, about: `${about}; may be given several times`, isList: true }
      : { flags: flag, about };
  });
  return [wholeFlag, ...settings];
}

type FlaggedField = ActionField & { readonly flag: string };

function fieldsIn(among: readonly ActionForm[]): readonly FlaggedField[] {
  const all = among.flatMap(({ fields }) =>
    fields.flatMap((one) => (one.flag === undefined ? [] : [{ ...one, flag: one.flag }])),
  );
  // Kinds that call a setting the same share its flag.
  return all.filter((one, index) => all.findIndex(({ flag }) => flag === one.flag) === index);
}

export interface Action {
  readonly kind: string;
  readonly [setting: string]: unknown;
}

interface Reading {
  /** The action of the task that is changed: its settings that nobody named stay. */
  readonly before?: Action;
  readonly among?: readonly ActionForm[];
}

/** The action that was typed; undefined where none was. A setting without a value goes. */
export async function readAction(
  session: Pick<Session, 'terminal'>,
  options: object,
  { before, among = forms }: Reading = {},
): Promise<Action | undefined> {
  const typed = new Map(Object.entries(options));
  const whole: unknown = typed.get('action');
  const named = fieldsIn(among).filter(({ flag }) => typed.has(optionOf(flag)));
  if (typeof whole === 'string') {
    if (named[0] !== undefined) throw usage(`--action says all of it: leave ${nameOf(named[0].flag)} out.`);
    return actionIn(whole);
  }
  if (named.length === 0) return undefined;
  const form = formFor(among, named, before);
  const settings: Record<string, unknown> = {};
  for (const field of named) settings[field.name] = await valueOf(session, field, typed.get(optionOf(field.flag)));
  const all = { ...(before?.kind === form.kind ? before : {}), kind: form.kind, ...settings };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Action;
}

function actionIn(text: string): Action {
  const { kind, ...rest } = objectOf('--action', text.startsWith('@') ? fileAt('--action', text.slice(1)) : text);
  if (typeof kind !== 'string') throw usage('--action needs the kind of the action: {"kind":"http", ...}.');
  return { kind, ...rest };
}

function fileAt(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw usage(`${flag}: ${path} cannot be read: ${errorText(error)}`);
  }
}

/** Some flags say of which kind the task is; without one it stays what it was. */
function formFor(among: readonly ActionForm[], named: readonly FlaggedField[], before: Action | undefined): ActionForm {
  const naming = named.find(({ names }) => names === true);
  const form = among.find(({ kind, fields }) =>
    naming === undefined ? kind === before?.kind : fields.some(({ flag }) => flag === naming.flag),
  );
  const stray = named.find(({ flag }) => form === undefined || !form.fields.some((one) => one.flag === flag));
  if (form !== undefined && stray === undefined) return form;
  const wanted = among.flatMap(({ fields }) =>
    fields.flatMap(({ flag, names }) => (names === true ? nameOf(flag ?? '') : [])),
  );
  throw usage(`${nameOf(stray?.flag ?? named[0]?.flag ?? '')} goes with ${wanted.join(' or ')}.`);
}

function nameOf(flag: string): string {
  return flag.split(' ', 1)[0] ?? flag;
}

/** As commander calls it. */
function optionOf(flag: string): string {
  return nameOf(flag)
    .replace(/^--/, '')
    .replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
}

async function valueOf(session: Pick<Session, 'terminal'>, field: ActionField, typed: unknown): Promise<unknown> {
  const flag = nameOf(field.flag ?? '');
  if (field.is === 'pairs') return pairsOf(field, typed as readonly string[]);
  const text = await written(session, flag, String(typed));
  const value = settingFrom(field, text);
  // A value that cannot be read is refused by the server, which says how it is written.
  return value === undefined ? text : value;
}

/** As it was typed, from the input, or from a file. */
async function written(session: Pick<Session, 'terminal'>, flag: string, text: string): Promise<string> {
  return text.startsWith('@') ? fileAt(flag, text.slice(1)) : fromInput(session, text);
}

function pairsOf(field: ActionField, pairs: readonly string[]): unknown {
  const [flag = '', value = ''] = (field.flag ?? '').split(' ');
  const sign = value.includes('=') ? '=' : ':';
  if (pairs.every((pair) => pair === '')) return null;
  const all: Record<string, unknown> = {};
  for (const pair of pairs) {
    const read = settingFrom(field, pair);
    if (!/^[^\s:=]+\s*[:=]/.test(pair))
      throw usage(`${flag} ${pair.slice(0, 40)}: write its name and its value, such as ${nameAndValue(field, sign)}.`);
    for (const [name, one] of Object.entries(read ?? {}))
      all[name] = field.isMany === true ? joined(all[name], one) : one;
  }
  return all;
}

function nameAndValue({ example }: ActionField, sign: string): string {
  const [[name, value] = []] = Object.entries(example ?? {});
  return `${String(name)}${sign}${String(value)}`;
}

/** A name that is typed several times is sent several times. */
function joined(before: unknown, value: unknown): unknown {
  if (before === undefined) return value;
  return [...(Array.isArray(before) ? (before as readonly unknown[]) : [before]), value];
}

const testFlags = [
  { flags: '--text <text>', about: 'the instructions that it is given; - reads it from the input' },
  { flags: '--yes', about: 'call it although it may change something there' },
  ...waitFlags,
  keyFlag,
] as const satisfies readonly Flag[];

export const actionVerbs = [
  verb({
    usage: 'test',
    summary: 'do an action once, before there is a task that does it',
    about:
      'It runs at once with a key of its own, is tried once, and leaves no task. What may change something where it calls needs --yes.',
    examples: [
      `cronogram task test --action '{"kind":"message"}' --text "Hello"`,
      'cronogram task test --action @call.json --yes',
    ],
    flags: [...testFlags, ...actionFlags()],
    does: (session, _args, options) => test(session, options),
  }),
  verb({
    usage: 'actions',
    summary: 'list what tasks can do, and the settings of each',
    examples: ['cronogram task actions'],
    does: async (session) => {
      const answer = await session.client.call('listActions', {});
      return { json: answer, text: await kindsText(session, answer.actions) };
    },
  }),
];

/** Kinds of actions on the whole server. */
export const kindVerbs = [
  verb({
    usage: 'list',
    summary: 'list the kinds of actions, and which of them are paused',
    examples: ['cronogram kind list'],
    does: async (session) => {
      const answer = await session.client.call('listActions', {});
      const times = timesIn(hostZone(), session.clock.now());
      const columns: readonly Column<Kind>[] = [
        { title: 'KIND', isWhole: true, of: (one) => one.kind },
        { title: times.titled('PAUSED'), least: 8, of: ({ paused }) => paused && times.about(paused.since) },
        { title: 'BY', least: 8, of: ({ paused }) => paused?.by ?? null },
        { title: 'DOES', least: 12, of: (one) => one.does },
      ];
      return listTold(session, { json: { ...answer }, none: 'No kinds.', rows: answer.actions, columns });
    },
  }),
  ...(['pause', 'resume'] as const).map((deed) =>
    verb({
      usage: `${deed} <kind>`,
      summary:
        deed === 'pause'
          ? 'let nothing of a kind begin, on the whole server; its runs wait'
          : 'let a kind go on; everything that waits begins',
      about:
        deed === 'pause'
          ? 'What runs comes to its end. Slots of the meantime follow the policy overlap of their tasks.'
          : 'Runs that wait begin late as they are. Call off those that are not to: cronogram run list --status live',
      examples: [`cronogram kind ${deed} http`],
      does: async (session, [kind = '']) => {
        const answer = await session.client.call(deed === 'pause' ? 'pauseKind' : 'resumeKind', { params: { kind } });
        const since = answer.paused === null ? '' : timesIn(hostZone(), session.clock.now()).about(answer.paused.since);
        const words =
          answer.paused === null
            ? `Kind ${kind} ${answer.entry_id === null ? 'is not paused' : 'goes on'}.`
            : `Kind ${kind} is paused since ${since}, by ${answer.paused.by}: its runs wait.`;
        return { json: answer, text: await sentence(session.terminal, words) };
      },
    }),
  ),
];

async function test(session: Session, options: Options<typeof testFlags>): Promise<Told> {
  const pace = paceOf(options);
  const action = await readAction(session, options);
  if (action === undefined) throw usage('Say what is to be tried out: --action, or the flags of a kind of action.');
  if (session.isOffline) throw usage('test needs a running server: with --offline nothing runs.');
  const { text } = options;
  const body = {
    action,
    ...(text === undefined ? {} : { instructions: await fromInput(session, text) }),
    thread_key: session.namedThread ?? 'cli:default',
  };
  const send = (confirm: boolean) =>
    session.client.call('testAction', { body: { ...body, confirm }, ...keyHeader(options) });
  const asked = await send(options.yes === true).catch(async (error: unknown) => {
    if (!(error instanceof CliFault) || error.details?.['field'] !== 'confirm') throw error;
    await confirmed(session, { question: 'This may change something where it calls. Call it now?', yes: false });
    return send(true);
  });
  const waited = await waitForRun(session, asked.run_id, pace);
  return { json: waited.run, ...(await endTold(session, waited, 'The test')) };
}

/** A setting, and below it the kinds that it can be with their parts. */
function withKinds({ kinds = [], ...field }: Kind['fields'][number]) {
  const ofKind = ({ kind, does, fields, example }: (typeof kinds)[number]) => [
    { name: `${field.name} ${kind}`, required: false, does, example },
    ...fields.map((part) => ({ ...part, name: `  ${part.name}` })),
  ];
  return [field, ...kinds.flatMap(ofKind)];
}

type Kind = AnswerOf<'listActions'>['actions'][number];

async function kindsText({ terminal }: Session, kinds: readonly Kind[]): Promise<string> {
  const columns: readonly Column<Pick<Kind['fields'][number], 'name' | 'required' | 'does' | 'example'>>[] = [
    { title: 'SETTING', of: ({ name, required }) => `${name}${required ? ' *' : ''}` },
    { title: 'DOES', least: 20, wraps: true, of: ({ does }) => does },
    {
      title: 'EXAMPLE',
      least: 12,
      of: ({ example }) => (typeof example === 'string' ? example : JSON.stringify(example)),
    },
  ];
  const parts = kinds.map(async ({ kind, does, fields }) => {
    const head = await facts(terminal, [[kind, does]]);
    return fields.length === 0 ? head : head + (await table(terminal, columns, fields.flatMap(withKinds)));
  });
  return (await Promise.all(parts)).join('\n');
}
