import type { AnswerOf, Asked } from '../client.ts';
import { usage } from '../faults.ts';
import { facts, sentence } from '../layout.ts';
import { taskNamed, type Task, zoneNote, zoneOf } from '../naming.ts';
import { given } from '../options.ts';
import { noteOf, verb, type Flag, type Options, type Session, type Told } from '../session.ts';
import { durationWords, timesIn } from '../times.ts';
import { named, namedLast, scheduleWords, stateFacts, warningText } from '../views/task.ts';
import { actionFlags, readAction } from './acting.ts';
import {
  askBack,
  assumedWords,
  definitionFlags,
  fromInput,
  isScheduled,
  lineWith,
  wayFlags,
  readFields,
  readGrantEnd,
  readPolicies,
  readSchedule,
  readText,
  scheduleFlags,
  type ReadSchedule,
} from './definition.ts';
import { keyFlag, keyHeader } from './doing.ts';
import { countFlag } from './looking.ts';
import { edgeOf } from './moments.ts';
import { amount } from './spending.ts';

const createAbout =
  'One sentence says when and what. Or give exactly one of --when, --once-at, --cron, --rrule and --every, and the text. All but words need --timezone; words are read in the zone of the chat that --thread-key names, where it has one, else in that of this computer, or in the zone that they name. - reads from the input.';

const createFlags = [
  ...definitionFlags,
  ...actionFlags(),
  { flags: '--on-existing <what>', about: 'when there is such a task already', choices: ['fail', 'upsert', 'add'] },
  keyFlag,
  { flags: '--dry-run', about: 'only tell when it would run' },
] as const satisfies readonly Flag[];

const updateFlags = [
  ...definitionFlags,
  ...actionFlags(),
  { flags: '--once', about: 'with --when: a task that repeats runs at that moment alone, and never again' },
  { flags: '--clear-subject', about: 'take the subject away' },
  { flags: '--clear-tags', about: 'take all tags away' },
  { flags: '--enable', about: 'let it run by its schedule' },
  { flags: '--disable', about: 'keep it from running by its schedule' },
] as const satisfies readonly Flag[];

const previewFlags = [
  ...scheduleFlags,
  countFlag,
  { flags: '--after <instant>', about: 'the runs after this instant (default: now)' },
] as const satisfies readonly Flag[];

export const makingVerbs = [
  verb({
    usage: 'create [sentence...]',
    summary: 'make a task',
    about: createAbout,
    examples: [
      'cronogram task create every weekday at 9:00 stand up',
      'cronogram task create --thread-key "The Lab" "friday 18:00 drinks"',
      'cronogram task create --when "every weekday at 9:00" "Stand up"',
      'cronogram task create --cron "0 9 * * 1-5" --timezone Asia/Tokyo "Stand up"',
    ],
    flags: createFlags,
    does: (session, [argument], options) => create(session, argument, options),
  }),
  verb({
    usage: 'update <task>',
    summary: 'change the named fields of a task',
    about:
      'A schedule is read in the zone of the task, unless --timezone names another. A policy without a value (grace=) goes back to its default.',
    examples: [
      'cronogram task update 3 --when "every day at 8:30"',
      'cronogram task update 3 --title "Daily" --policy grace=10m',
    ],
    flags: updateFlags,
    does: (session, [name = ''], options) => update(session, name, options),
  }),
];

export const scheduleVerbs = [
  verb({
    usage: 'preview [when...]',
    summary: 'tell when a schedule runs, without making anything',
    about:
      'A when in plain words, or one of the flags. Without --timezone it is read in the zone of the chat that --thread-key names, where it has one, else in that of this computer.',
    examples: [
      'cronogram schedule preview "last friday of the month at 17:00"',
      'cronogram schedule preview --cron "0 9 * * 1-5" --timezone Europe/Madrid',
    ],
    flags: previewFlags,
    does: (session, [words], options) => previewVerb(session, words, options),
  }),
];

async function create(
  session: Session,
  argument: string | undefined,
  options: Options<typeof createFlags>,
): Promise<Told> {
  const line = 'cronogram task create';
  const isSentence = argument !== undefined && !isScheduled(options);
  const when = isSentence ? await fromInput(session, argument) : options.when;
  const own = await zoneOf(session.client, session.threadKey, options.timezone);
  const reading = { zone: own.timezone, needsZone: true, line } as const;
  const read = await readSchedule(session, { ...options, ...given({ when }) }, reading);
  if (read === null) throw usage(`Say when and what: ${line} "every weekday at 9 stand up", or one of ${wayFlags}.`);
  const typed = await readText(session, isSentence ? undefined : argument, options);
  const fields = { ...readFields(options) };
  const action = (await readAction(session, options)) ?? fields.action;
  const instructions = typed ?? read.text ?? (action === undefined ? null : '');
  if (instructions === null)
    throw usage('Say what it says: behind the time, as the last word or with --text; - reads it from the input.');
  const { timezone } = read.schedule;
  const policies = {
    ...(await readPolicies(session, options, { timezone, asked: read.policies })),
    ...(options.onExisting === undefined ? {} : { on_existing: options.onExisting }),
  };
  const body = {
    ...fields,
    action,
    instructions,
    schedule: read.schedule,
    ...given({ grant_expires_at: await readGrantEnd(session, options, timezone) }),
    // A new task has the defaults already.
    ...(Object.keys(policies).length === 0 ? {} : { policies: given(policies) }),
  };
  const zone = when === undefined ? null : zoneNote(own, timezone);
  if (options.dryRun === true) return preview(session, body, { ...read, zone });
  const answer = await session.client.call('createTask', {
    params: { thread_key: session.threadKey },
    body,
    ...keyHeader(options),
  });
  const assumed = assumedWords(read.assumed, `cronogram task update ${answer.task.number} --when`);
  return {
    json: when === undefined ? answer : { ...answer, assumed: read.assumed },
    text: await createdText(session, answer),
    ...noteOf(zone, assumed, warningText(answer.warnings)),
  };
}

type CreateBody = NonNullable<Asked<'createTask'>['body']>;

interface Zoned extends ReadSchedule {
  /** The sentence about the zone that was taken. */
  readonly zone: string | null;
}

async function preview(session: Session, body: CreateBody, { schedule, assumed, zone }: Zoned): Promise<Told> {
  const answer = await session.client.call('previewSchedule', { body: { schedule } });
  const { on_existing: _on, ...policies } = body.policies ?? {};
  const outlook =
    body.action === undefined
      ? null
      : await session.client.call('previewAction', { body: { action: body.action, schedule, policies } });
  const text = `Nothing is made. It would run in ${session.threadKey}:\n${await previewText(session, { ...answer, text: body.instructions ?? '' })}${await outlookText(session, outlook)}`;
  const json = { dry_run: true, thread_key: session.threadKey, task: body, preview: answer, outlook };
  return { json, text, ...noteOf(zone, assumedWords(assumed, 'cronogram task create')) };
}

type SecretUsed = AnswerOf<'previewAction'>['secrets'][number];

function secretText({ name, host, use }: SecretUsed): string {
  const how = { send: 'sent to', sign: 'signs calls to', prove: 'proves a certificate to' }[use];
  return `${name} ${how} ${host}`;
}

/** The reach and cost of a task that does more than say a text. */
async function outlookText({ terminal }: Session, outlook: AnswerOf<'previewAction'> | null): Promise<string> {
  if (outlook === null || outlook.reaches.length === 0) return '';
  const { brief, reaches, secrets, costs, attempts, retry_window_seconds: window } = outlook;
  const tries =
    attempts === null || window === null ? null : `up to ${attempts}, within ${durationWords(window * 1000)}`;
  return facts(terminal, [
    ['does', brief],
    ['reaches', reaches.join(', ')],
    ['secrets', secrets.length === 0 ? null : secrets.map(secretText).join(', ')],
    ...costs.map(({ kind, currency, per_run: once, often, per_month: month, at_once: atOnce }) => {
      const of = (quantity: number) => amount({ kind, currency, quantity });
      const monthly = often?.per === 'day' ? `, ${of(month)} a month` : '';
      const told = often === null ? of(once) : `about ${of(often.count)} a ${often.per}${monthly}`;
      return [kind, atOnce === null ? told : `${told}, up to ${of(atOnce)} at once after an outage`] as const;
    }),
    ['tries', tries],
  ]);
}

async function previewText({ terminal, clock }: Session, answer: AnswerOf<'previewSchedule'>): Promise<string> {
  const times = timesIn(answer.schedule.timezone, clock.now());
  const [first, ...others] = answer.next.map((instant) => times.full(instant));
  const rows = others.map((text) => ['', text] as const);
  const warnings = answer.warnings.map((text) => ['note', { text, tone: 'warn' as const }] as const);
  return facts(terminal, [
    ['schedule', `${scheduleWords(answer.schedule, clock.now())} (${times.zone})`],
    ['text', answer.text ?? null],
    ...Object.entries(answer.policies ?? {}).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ['next', first ?? 'never'],
    ...rows,
    ...warnings,
  ]);
}

async function createdText({ terminal, clock }: Session, { task }: AnswerOf<'createTask'>): Promise<string> {
  // The first version is a new one; a task that was there already has been brought up to date.
  const head = await sentence(terminal, `${task.version === 1 ? 'Created' : 'Brought up to date:'} ${namedLast(task)}`);
  const words = `${scheduleWords(task.schedule, clock.now())} (${task.schedule.timezone})`;
  return (
    head +
    (await facts(terminal, [
      ['schedule', words],
      ...stateFacts(task, clock.now()),
      ['thread', task.creator_thread_key],
      ['id', task.task_id],
    ]))
  );
}

type UpdateOptions = Options<typeof updateFlags>;

const exclusive: readonly (readonly [keyof UpdateOptions, keyof UpdateOptions, string])[] = [
  ['enable', 'disable', '--enable and --disable'],
  ['clearTags', 'tag', '--clear-tags and --tag'],
  ['clearSubject', 'subject', '--clear-subject and --subject'],
];

function checkUpdate(options: UpdateOptions): void {
  const clash = exclusive.find(([one, other]) => options[one] !== undefined && options[other] !== undefined);
  if (clash !== undefined) throw usage(`${clash[2]} exclude each other. Leave one of them out.`);
  if (Object.keys(options).length === 0) throw usage('Name at least one field to change, such as --title or --when.');
  if (options.once === true && options.when === undefined)
    throw usage('--once goes with --when: name the moment, such as --when "friday 9:00".');
  if (options.timezone !== undefined && !isScheduled(options))
    throw usage('--timezone goes with a schedule: name it too, such as --cron "0 9 * * *".');
}

async function update(session: Session, name: string, options: UpdateOptions): Promise<Told> {
  checkUpdate(options);
  const before = await taskNamed(session, name);
  const { timezone } = before.schedule;
  const line = `cronogram task update ${before.number} --when`;
  const read = await readSchedule(session, options, { zone: timezone, line });
  const rest = read?.text ?? null;
  // A whole sentence that still says the same is the answer to a question about its time.
  if (rest !== null && rest !== before.instructions)
    throw usage(`"${rest.slice(0, 60)}" behind the when was not understood. Write a text with --text.`);
  checkRepeats(session, before, { read, options });
  const text = await readText(session, undefined, options);
  const zone = read?.schedule.timezone ?? timezone;
  const policies = await readPolicies(session, options, { timezone: zone, asked: read?.policies ?? {} });
  const fields = readFields(options);
  const action = await readAction(session, options, { before: before.action });
  const body = {
    ...fields,
    ...(action === undefined ? {} : { action }),
    ...(text === null ? {} : { instructions: text }),
    ...(read === null ? {} : { schedule: read.schedule }),
    ...(Object.keys(policies).length === 0 ? {} : { policies }),
    ...given({ grant_expires_at: await readGrantEnd(session, options, zone) }),
    ...switchesOf(options),
  };
  const answer = await session.client.call('updateTask', { params: { task_id: before.task_id }, body });
  const note = noteOf(assumedWords(read?.assumed ?? [], line), warningText(answer.warnings));
  return { json: answer, text: await editedText(session, answer), ...note };
}

interface Retimed {
  readonly read: ReadSchedule | null;
  readonly options: UpdateOptions;
}

/** A day alone may be meant as the day of the rhythm: a series does not end because of it unless that is said. */
function checkRepeats({ clock }: Session, task: Task, { read, options: { when, once } }: Retimed): void {
  if (read?.schedule.kind !== 'once' || when === undefined || once === true || task.schedule.kind === 'once') return;
  const { number, schedule: before } = task;
  const now = clock.now();
  const line = `cronogram task update ${number} --when`;
  const { once_at: at, timezone } = read.schedule;
  throw usage(
    [
      `${named(task)} repeats: ${scheduleWords(before, now)}. "${when.slice(0, 60)}" is a single moment: ${timesIn(timezone, now).at(at)}.`,
      `To run it once then, and never again:\n  ${lineWith(line, when)} --once`,
      `To run it every week at that time:\n  ${lineWith(line, weekly(at, timezone))}`,
    ].join('\n'),
  );
}

function weekly(instant: string, timeZone: string): string {
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const;
  const at = Date.parse(instant);
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone }).format(at);
  return `every ${day.toLowerCase()} at ${new Intl.DateTimeFormat('en-GB', clock).format(at)}`;
}

function switchesOf({ clearSubject, clearTags, enable, disable }: UpdateOptions) {
  return {
    ...(clearSubject === true ? { subject: null } : {}),
    ...(clearTags === true ? { tags: [] } : {}),
    ...(enable === true ? { enabled: true } : {}),
    ...(disable === true ? { enabled: false } : {}),
  };
}

async function editedText({ terminal, clock }: Session, { task, changes }: AnswerOf<'updateTask'>): Promise<string> {
  const rows = Object.entries(changes).map(([field, { before, after }]) => {
    const words = (value: unknown) => (field === 'schedule' ? scheduleText(value, clock.now()) : valueText(value));
    return [field, `${words(before)} -> ${words(after)}`] as const;
  });
  const head = rows.length === 0 ? `${named(task)} is like that already.` : `Changed ${namedLast(task)}`;
  return (await sentence(terminal, head)) + (await facts(terminal, [...rows, ...stateFacts(task, clock.now())]));
}

/** The schedule of a change in the words of the other verbs; what is none is shown as it stands. */
function scheduleText(value: unknown, now: number): string {
  if (typeof value !== 'object' || value === null || !('timezone' in value)) return valueText(value);
  const schedule = value as AnswerOf<'updateTask'>['task']['schedule'];
  return `${scheduleWords(schedule, now)} (${schedule.timezone})`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '(none)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function previewVerb(
  session: Session,
  words: string | undefined,
  options: Options<typeof previewFlags>,
): Promise<Told> {
  if (words !== undefined && options.when !== undefined)
    throw usage('Write the when once: as the last word or with --when.');
  const { count, after, ...definition } = options;
  const when = words ?? options.when;
  const own = await zoneOf(session.client, session.threadKey, options.timezone);
  const { timezone: zone } = own;
  const from = after === undefined ? undefined : await edgeOf(session, after, zone);
  const line = 'cronogram schedule preview';
  const read = when === undefined ? await readSchedule(session, definition, { zone, line }) : null;
  if (when === undefined && read === null)
    throw usage('Name a schedule: "every weekday at 9", or one of the flags such as --cron.');
  const body =
    read === null
      ? { when: when ?? '', timezone: zone, now: from, count }
      : { schedule: read.schedule, after: from, count };
  const answer = await session.client.call('previewSchedule', { body }).catch(askBack(line));
  const taken = when === undefined ? null : zoneNote(own, answer.schedule.timezone);
  const note = noteOf(taken, assumedWords(answer.assumed ?? [], line));
  return { json: answer, text: await previewText(session, answer), ...note };
}
