import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import { z } from 'zod';
import { definition } from '../api/tasks.ts';
import { AppError } from '../domain/errors.ts';
import { parseSchedule, type Schedule } from '../domain/schedule/schedule.ts';
import { CliFault, unusable, usage } from './faults.ts';
import { allTasks, type Task } from './naming.ts';
import { given, lengthOf, sendable } from './options.ts';
import type { Session } from './session.ts';

/* ---- the file ---- */

/** One task in a file: what it is, and not what has become of it. */
const fileVersion = 1;

type Definition = z.input<typeof definition>;

interface Entry extends Definition {
  readonly task_id?: string | undefined;
  readonly thread_key?: string | undefined;
  readonly enabled?: boolean | undefined;
}

type Fields = Pick<Definition, 'title' | 'instructions' | 'action' | 'schedule' | 'policies' | 'subject' | 'tags'>;

export function entryOf(task: Task): Entry {
  const { action, policies, subject, tags } = task;
  const hasAction = Object.keys(action).length > 1 || action.kind !== 'message';
  return {
    task_id: task.task_id,
    thread_key: task.creator_thread_key,
    title: task.title,
    instructions: task.instructions,
    ...(hasAction ? { action } : {}),
    schedule: sendable(task.schedule),
    ...(Object.keys(policies).length > 0 ? { policies } : {}),
    ...(subject === null ? {} : { subject }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(task.enabled ? {} : { enabled: false }),
  };
}

/** The title that the server gives where none is written. */
function titleOf({ title, instructions }: Pick<Entry, 'title' | 'instructions'>): string | null {
  return title ?? (/^[^\n]{1,60}$/.test(instructions.trim()) ? instructions.trim() : null);
}

/** The fields in which a task is not as its entry says. A title or an action that it does not name stays as it is. */
function differences(entry: Entry, task: Task, now: number): Partial<Fields> & { readonly enabled?: boolean } {
  const { title, instructions, action, schedule, policies = {}, subject = null, tags = [], enabled = true } = entry;
  const { on_existing: _only, ...chosen } = policies;
  const wanted = { title, instructions, action, schedule, policies: chosen, subject, tags, enabled };
  const comparable = { ...wanted, schedule: readable(schedule, now) };
  const there = { ...task, schedule: readable(sendable(task.schedule), now) };
  const isSame = (one: unknown, other: unknown) =>
    typeof one === 'object' ? canonical(one) === canonical(other) : one === other;
  const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
    (field) => comparable[field] !== undefined && !isSame(comparable[field], there[field]),
  );
  const sent = { ...wanted, policies: { ...gone(task.policies), ...chosen } };
  return Object.fromEntries(changed.map((field) => [field, sent[field]]));
}

/** Policies that an entry does not name go back to their defaults. */
function gone(policies: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.keys(policies).map((name) => [name, null]));
}

/** The schedule as the server would keep it, so that another way of writing the same is no difference. */
function readable(schedule: Definition['schedule'], now: number): Schedule | Definition['schedule'] {
  const { kind, timezone, ...fields } = schedule;
  try {
    const read = parseSchedule({ kind, timezone, ...given(fields) }, now);
    const isUnanchored = read.kind === 'interval' && (fields.start_at ?? null) === null;
    return isUnanchored ? { ...read, startAt: 0 } : read;
  } catch (error) {
    if (error instanceof AppError) return schedule;
    throw error;
  }
}

/** One text for one meaning: names in order, lengths of time and instants as numbers. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner === 'string') return plain(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

function plain(text: string): string | number {
  if (/^PT?\d/.test(text)) return lengthOf(text) ?? text;
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : text;
}

/** Some hundred thousand tasks; what is larger is no file of tasks. */
const fileBytesMax = 64 * 1024 * 1024;

/** A file of tasks has no use for many; a file that has is out for harm. */
const aliasesMax = 100;

const head = `# Tasks of Cronogram. Read them in again with: cronogram import <file>
# A task is found again by its id, else by its thread, title and subject.
`;

export function fileText(entries: readonly Entry[]): string {
  return `${head}${stringify({ cronogram: fileVersion, tasks: entries }, { lineWidth: 0 })}`;
}

/** The file is for its owner alone, because texts and headers may hold secrets. It is there whole or not at all. */
export function writeTasks(path: string, text: string): void {
  const made = `${path}.part`;
  try {
    writeFileSync(made, text, { mode: 0o600, flag: 'w' });
    renameSync(made, path);
  } catch (error) {
    throw unusable('written', path, error);
  }
}

export function readTasks(path: string): string {
  try {
    // A pipe would be waited for, and a device might never end.
    if (!statSync(path).isFile())
      throw usage(`${path} is no file that can be read as a whole. Write it to a file first.`);
    const bytes = readFileSync(path);
    if (bytes.byteLength > fileBytesMax)
      throw usage(`${path} is larger than ${fileBytesMax / 1024 / 1024} MiB: that is no file of tasks.`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CliFault) throw error;
    throw unusable('read', path, error);
  }
}

const wholeFile = z.strictObject({
  cronogram: z.literal(fileVersion, { error: `it is ${fileVersion}, the version of this kind of file` }),
  tasks: z.array(z.unknown()),
});

/** A task in the fields of the API, and where the task was. */
const oneEntry = definition.extend({
  task_id: z.string().max(64).optional(),
  thread_key: z.string().optional(),
  enabled: z.boolean().optional(),
});

/** The entries of a file; the first fault is told with its line. */
export function entriesIn(text: string, name: string): readonly Entry[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw fault(name, lines.linePos(broken.pos[0]).line, broken.message);
  const place = { document, lines, name };
  const { tasks } = checked(wholeFile, plainOf(document, name), { ...place, path: [] });
  return tasks.map((task, at) => checked(oneEntry, task, { ...place, path: ['tasks', at] }));
}

function plainOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    if (error instanceof ReferenceError) throw fault(name, 1, error.message);
    throw error;
  }
}

interface Place {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly name: string;
  readonly path: readonly PropertyKey[];
}

function checked<S extends z.ZodType>(schema: S, value: unknown, place: Place): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A name that is misspelt explains best what is missing.
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const key = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...place.path, ...(issue?.path ?? []), ...key];
  const field = path.slice(place.path.length).map(String).join('.');
  const problem = (issue?.message ?? 'cannot be read').replace(/^Invalid input: /, '');
  throw fault(place.name, lineOf({ ...place, path }), field === '' ? problem : `${field}: ${problem}`);
}

/** The line on which a field is named; where it is missing, that of what it is missing from. */
function lineOf({ document, lines, path }: Place): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const within = path.slice(0, length);
    const start = startOf(keyAt(document, within)) ?? startOf(nodeAt(document, within));
    if (start !== null) return lines.linePos(start).line;
  }
  return 1;
}

function nodeAt(document: Document.Parsed, path: readonly PropertyKey[]): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function keyAt(document: Document.Parsed, path: readonly PropertyKey[]): unknown {
  const map = path.length === 0 ? null : nodeAt(document, path.slice(0, -1));
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  return pair?.key;
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

function fault(name: string, line: number, problem: string): CliFault {
  const text = `${problem.charAt(0).toLowerCase()}${problem.slice(1)}`.replace(/\.$/, '');
  return new CliFault('bad_file', `${name}, line ${line}: ${text}. Nothing was changed.`, { details: { line } });
}

/* ---- what becomes of a file that is read in ---- */

/** One task of a file, and what becomes of it when the file is read in. */
export interface Step {
  readonly does: 'create' | 'update' | 'skip';
  readonly title: string;
  readonly thread: string;
  readonly entry: Entry;
  /** The task that is meant; null for one that is not there yet. */
  readonly task: Task | null;
  readonly changes: ReturnType<typeof differences>;
}

/**
 * Finds the task that each entry means: the one with its id, wherever it is; else, of those with its thread, title and
 * subject, the first that no other entry means. So a file that was read in once changes nothing when it is read in again.
 */
export async function planOf(session: Session, entries: readonly Entry[]): Promise<readonly Step[]> {
  const threadOf = (entry: Entry) => session.namedThread ?? entry.thread_key ?? session.threadKey;
  const present = new Map<string, readonly Task[]>();
  for (const thread of new Set(entries.map(threadOf))) present.set(thread, await allTasks(session, thread));
  const byId = new Map([...present.values()].flat().map((task) => [task.task_id, task]));
  const meant = new Map<Entry, Task>();
  // A thread that is named means the tasks of that thread; others become new ones there.
  const elsewhere = async (id: string) => (session.namedThread === undefined ? taskById(session, id) : null);
  for (const entry of entries) {
    const task = entry.task_id === undefined ? null : (byId.get(entry.task_id) ?? (await elsewhere(entry.task_id)));
    if (task !== null) meant.set(entry, task);
  }
  const taken = new Set([...meant.values()].map((task) => task.task_id));
  return entries.map((entry) => {
    const thread = threadOf(entry);
    const task =
      meant.get(entry) ??
      likeness(
        entry,
        (present.get(thread) ?? []).filter(({ task_id: id }) => !taken.has(id)),
      );
    if (task !== null) taken.add(task.task_id);
    return stepOf({ entry, thread, task }, session.clock.now());
  });
}

function stepOf({ entry, thread, task }: Pick<Step, 'entry' | 'thread' | 'task'>, now: number): Step {
  const title = entry.title ?? task?.title ?? titleOf(entry) ?? entry.instructions.split('\n', 1)[0] ?? '';
  if (task === null) return { does: 'create', title, thread, entry, task, changes: {} };
  const changes = differences(entry, task, now);
  return { does: Object.keys(changes).length === 0 ? 'skip' : 'update', title, thread, entry, task, changes };
}

/** The first of the tasks of a thread that has the title and the subject of an entry, where ids do not tell. */
function likeness(entry: Entry, tasks: readonly Task[]): Task | null {
  const { instructions, subject = null } = entry;
  const title = titleOf(entry);
  const isCalledSo = (task: Task) => (title === null ? task.instructions === instructions : task.title === title);
  return tasks.find((task) => isCalledSo(task) && task.subject === subject) ?? null;
}

async function taskById({ client }: Session, id: string): Promise<Task | null> {
  try {
    const { task } = await client.call('getTask', { params: { task_id: id } });
    return task.state === 'deleted' ? null : task;
  } catch (error) {
    if (error instanceof CliFault && error.code === 'task_not_found') return null;
    throw error;
  }
}

/** Does one step, and answers the task that came of it. */
export async function carryOut(
  { client }: Session,
  { does, entry, task, thread, changes }: Step,
): Promise<Task | null> {
  if (does === 'skip') return task;
  if (does === 'update' && task !== null) {
    // The fields have been compared one by one, so that the changes are what a patch may hold.
    return (await client.call('updateTask', { params: { task_id: task.task_id }, body: changes })).task;
  }
  const { task_id: _id, thread_key: _thread, enabled = true, ...definition } = entry;
  const policies = { ...definition.policies, on_existing: 'add' as const };
  const body: Definition = { ...definition, policies };
  const made = (await client.call('createTask', { params: { thread_key: thread }, body })).task;
  if (enabled) return made;
  return (await client.call('updateTask', { params: { task_id: made.task_id }, body: { enabled: false } })).task;
}
