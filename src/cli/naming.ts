import { tasksNamed } from '../app/tasks/named.ts';
import { pageMax } from '../domain/limits.ts';
import { type AnswerOf, type Client, pagesOf } from './client.ts';
import { CliFault, firstOf, unclear, usage } from './faults.ts';
import { flat } from './layout.ts';
import { hostZone } from './times.ts';

/** A session, as far as names are looked up in it; it is opened with the thread that is named. */
interface Asking {
  readonly client: Client;
  readonly isJson: boolean;
  readonly threadKey: string;
  readonly namedThread: string | undefined;
}

export type Task = AnswerOf<'getTask'>['task'];

export const wholeId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A title is not asked for as an id. */
const idShape = /^[\w.-]+$/;
/** An id begins with its time, which has begun with a zero since 1970 and does so for thousands of years. */
const asNumber = /^(?:#\s*(\d{1,9})|([1-9]\d{0,6}))$/;

/** Ids are shown as far as it takes to tell them apart, and never shorter than the part that says when they were made. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const distinct = new Set(ids).size;
  for (let length = 13; length < 36; length += 1) {
    if (new Set(ids.map((id) => id.slice(0, length))).size === distinct) return (id) => id.slice(0, length);
  }
  return (id) => id;
}

/** All tasks, or those of one thread; oldest first, so that tasks made anew get their numbers in the same order. */
export async function allTasks(session: Asking, thread: string | undefined): Promise<readonly Task[]> {
  const found: Task[] = [];
  for await (const { tasks } of taskPages(session, { thread }, Infinity)) found.push(...tasks);
  return found.toReversed();
}

interface Among {
  readonly thread: string | undefined;
  /** Those that are there, unless others are named. */
  readonly state?: 'deleted';
}

function taskPages({ client }: Asking, { thread, state }: Among, most: number): AsyncGenerator<AnswerOf<'listTasks'>> {
  return pagesOf((place) => client.call('listTasks', { query: { thread_key: thread, state, ...place } }), most);
}

/** A search looks at this many pages; beyond them a task is named by its id. */
const pagesMax = 50;

type Wanted = 'deleted too' | 'there';

/** For verbs that bring a task back, or tell of it when it is gone. */
export const deletedToo: Wanted = 'deleted too';

/** The id that a name stands for. A whole id is taken as it is, so that what is done to it costs one request. */
async function taskIdOf(session: Asking, name: string, wanted?: Wanted): Promise<string> {
  if (wholeId.test(name)) return name.toLowerCase();
  return (await taskNamed(session, name, wanted)).task_id;
}

export async function paramsOf(session: Asking, name: string, wanted?: Wanted) {
  return { task_id: await taskIdOf(session, name, wanted) };
}

/** The id of the task that a flag names, where it was typed. */
export async function chosenTask(session: Asking, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? undefined : taskIdOf(session, name);
}

export async function taskNamed(session: Asking, name: string, wanted: Wanted = 'there'): Promise<Task> {
  if (name.trim() === '')
    throw usage("Name a task: its title, its number as 3 or '#3', its id, or the beginning of its id.");
  const number = asNumber.exec(name);
  if (number !== null) return byNumber(session, Number(number[1] ?? number[2]), wanted);
  return (idShape.test(name) ? await byId(session, name) : null) ?? byBeginningOrTitle(session, name, wanted);
}

async function byId({ client }: Asking, id: string): Promise<Task | null> {
  try {
    return (await client.call('getTask', { params: { task_id: id } })).task;
  } catch (error) {
    // A deleted task is not told of, and can be restored by its id all the same; a whole id need not be looked for.
    if (error instanceof CliFault && error.code === 'task_not_found' && !wholeId.test(id)) return null;
    throw error;
  }
}

async function byNumber(session: Asking, number: number, wanted: Wanted): Promise<Task> {
  const among = { thread: session.threadKey, wanted };
  const task = await look(session, among, (tasks) => tasks.find((one) => one.number === number) ?? null);
  if (task !== null) return task;
  const hint = session.namedThread === undefined ? await elsewhere(session, number) : '';
  throw new CliFault('task_not_found', `There is no task #${number} in ${session.threadKey}.${hint}`);
}

/** The tasks of that number in other threads. */
async function elsewhere({ client }: Asking, number: number): Promise<string> {
  const page = await client.call('listTasks', { query: { limit: String(pageMax) } });
  const others = page.tasks.filter((task) => task.number === number);
  if (others.length === 0) return ' "cronogram task list" lists the tasks of all threads.';
  const lines = linesOf(others, shortIds(page.tasks.map((task) => task.task_id)));
  return ` Name its thread with --thread-key, or the task by its id:\n${firstOf(lines).join('\n')}`;
}

async function byBeginningOrTitle(session: Asking, name: string, wanted: Wanted): Promise<Task> {
  const found = await look(session, { thread: session.namedThread, wanted }, (tasks) => fitting(name, tasks));
  const [task, ...others] = found?.tasks ?? [];
  if (found === null || task === undefined) throw nobodyNamed('task', name);
  if (others.length === 0 && found.by !== 'guess') return task;
  if (found.by !== 'id') throw severalTitled(name, found.tasks, found.by === 'guess');
  throw ambiguous(
    'task',
    name,
    found.tasks.map((one) => one.task_id),
  );
}

interface Fitting {
  readonly tasks: readonly Task[];
  /** A guess is a misspelt title. */
  readonly by: 'id' | 'title' | 'guess';
}

function fitting(name: string, tasks: readonly Task[]): Fitting | null {
  const begun = tasks.filter((one) => one.task_id.startsWith(name.toLowerCase()));
  if (begun.length > 0) return { tasks: begun, by: 'id' };
  const named = tasksNamed(name, tasks);
  if (named === null || named.rest !== '') return null;
  return { tasks: livingOf(named.tasks), by: named.isGuess ? 'guess' : 'title' };
}

/** A name means what may still run; what has ended is meant where nothing else bears it. */
function livingOf(tasks: readonly Task[]): readonly Task[] {
  const living = tasks.filter(({ state }) => state !== 'completed');
  return living.length > 0 ? living : tasks;
}

function severalTitled(name: string, tasks: readonly Task[], isGuess: boolean): CliFault {
  const ids = tasks.map((task) => task.task_id);
  const lines = linesOf(tasks, shortIds(ids));
  return unclear({ what: 'task', name, isGuess, lines, advice: 'Name one by its id.', details: { ids } });
}

/** Tasks beneath each other, with the ids that name them: a number alone may mean another one in another thread. */
function linesOf(tasks: readonly Task[], short: (id: string) => string): readonly string[] {
  return tasks.map(
    (task) => `  ${short(task.task_id)}  ${task.creator_thread_key}  #${task.number} ${flat(task.title)}`,
  );
}

/** Tasks as rows about something else name them: `#3 Stand up`, or the beginning of the id where it is not among the newest. */
export async function taskNames(
  { client, isJson }: Asking,
  ids: readonly (string | null)[],
): Promise<(id: string) => string> {
  const isNone = isJson || ids.every((id) => id === null);
  const { tasks } = isNone ? { tasks: [] } : await client.call('listTasks', { query: { limit: String(pageMax) } });
  const names = new Map(tasks.map(({ task_id: id, number, title }) => [id, `#${number} ${flat(title)}`]));
  return (id) => names.get(id) ?? id.slice(0, 13);
}

function nobodyNamed(what: 'task' | 'run', name: string): CliFault {
  const called = what === 'task' ? 'is called so or has the id' : 'has the id';
  const message = `No ${what} ${called} "${flat(name).slice(0, 60)}", or one that begins with it. "cronogram ${what} list" lists them.`;
  return new CliFault(`${what}_not_found`, message);
}

function ambiguous(what: 'task' | 'run', beginning: string, ids: readonly string[]): CliFault {
  const shown = ids.slice(0, 3).join(', ');
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : '';
  const message = `Several ${what}s have an id that begins with "${beginning}": ${shown}${more}. Write more of it.`;
  return new CliFault('ambiguous', message, { details: { ids } });
}

/** Words are the title of a task; a number alone is that of a task, because ids begin with a zero. */
const idPart = /^(?=.*\d)[0-9a-f-]+$/i;

/** So many of the newest runs are looked through for one whose id begins so. */
const runPagesMax = 10;

/** The id of a run that a name stands for: a whole id, the beginning of one of the newest, or a task, for its newest run. */
export async function runIdOf(session: Asking, name: string): Promise<string> {
  const { client } = session;
  if (wholeId.test(name)) return name.toLowerCase();
  if (name === '') throw usage('Name a run by its id, or by its task. "cronogram run list" lists them.');
  if (asNumber.test(name) || !idPart.test(name)) return newestOf(session, name);
  const found: string[] = [];
  for await (const { runs } of pagesOf((query) => client.call('listRuns', { query }), runPagesMax))
    found.push(...runs.map((run) => run.run_id).filter((id) => id.startsWith(name.toLowerCase())));
  const [id, ...others] = found;
  if (id === undefined) throw nobodyNamed('run', name);
  if (others.length > 0) throw ambiguous('run', name, found);
  return id;
}

async function newestOf(session: Asking, name: string): Promise<string> {
  const { task_id: id, title } = await taskNamed(session, name, deletedToo);
  const [run] = (await session.client.call('listRuns', { query: { task_id: id, limit: '1' } })).runs;
  if (run === undefined) throw new CliFault('run_not_found', `"${flat(title)}" has not run yet.`);
  return run.run_id;
}

/** Deleted tasks are looked for where nothing else fits: a number is never given twice, so it means that task still. */
async function look<Found>(
  session: Asking,
  { thread, wanted }: Pick<Among, 'thread'> & { readonly wanted: Wanted },
  find: (tasks: readonly Task[]) => Found | null,
): Promise<Found | null> {
  const found = find(await lookAmong(session, { thread }));
  return found !== null || wanted === 'there' ? found : find(await lookAmong(session, { thread, state: 'deleted' }));
}

async function lookAmong(session: Asking, among: Among): Promise<readonly Task[]> {
  const found: Task[] = [];
  let isMore = false;
  for await (const page of taskPages(session, among, pagesMax)) {
    found.push(...page.tasks);
    isMore = page.next_cursor !== null;
  }
  if (!isMore) return found;
  throw usage(
    `There are more than ${pageMax * pagesMax} tasks to look through. Write the whole id, or name the thread with --thread-key.`,
  );
}

/* ---- threads and people ---- */

type Caller = Pick<Client, 'call'>;
type Known = AnswerOf<'listThreads'>['threads'][number];

/**
 * The key of the thread that a name stands for: what looks like a key is one, a bare number is a chat of Telegram, and words
 * are the title of a chat, or the name of a person for their private one.
 */
export async function threadNamed(client: Caller, name: string): Promise<string> {
  if (name === '' || name.includes(':')) return name;
  return /^-?\d{1,16}$/.test(name) ? `${chatKey}${name}` : titled(client, name, 'chat');
}

/** The key of the person that a name stands for. */
export async function personNamed(client: Caller, name: string): Promise<string> {
  if (name === '' || name.includes(':')) return name;
  const key = /^\d{1,16}$/.test(name) ? `${chatKey}${name}` : await titled(client, name, 'person');
  return key.replace(chatKey, 'telegram:user:');
}

/** The key of the person that a flag names, where it was typed. */
export async function chosenPerson(client: Caller, name: string | undefined): Promise<string | undefined> {
  return name === undefined ? undefined : personNamed(client, name);
}

const chatKey = 'telegram:chat:';
/** Chats of people have positive numbers. */
const privateKey = /^telegram:chat:\d+$/;

async function titled(client: Caller, name: string, what: 'chat' | 'person'): Promise<string> {
  const named = tasksNamed(name, await titles(client, what));
  const [chat, ...others] = named?.rest === '' ? named.tasks : [];
  if (named === null || chat === undefined) {
    const advice = '"cronogram thread list" lists those that are known, with their keys.';
    throw new CliFault('thread_not_found', `No ${what} is called "${flat(name).slice(0, 60)}". ${advice}`);
  }
  if (others.length === 0 && !named.isGuess) return chat.key;
  const lines = named.tasks.map(({ key, title }) => `  ${key}  ${flat(title)}`);
  throw unclear({ what, name, isGuess: named.isGuess, lines, advice: 'Write the key of the one that is meant.' });
}

/** A name is looked for among two thousand chats; a key names every one of them. */
const chatPagesMax = 10;

async function titles(client: Caller, what: 'chat' | 'person') {
  const found: { readonly key: string; readonly title: string }[] = [];
  for await (const { threads } of pagesOf((query) => client.call('listThreads', { query }), chatPagesMax)) {
    for (const { thread_key: key, title } of threads)
      if (title !== null && (what === 'chat' || privateKey.test(key))) found.push({ key, title });
  }
  return found;
}

/** A zone in which words are read. */
export interface ReadZone {
  readonly timezone: string;
  /** The owner of the zone; null where it was named. */
  readonly of: string | null;
}

/** The zone that was named, else that of the chat of a thread, where it has one, else that of this computer. */
export async function zoneOf(client: Caller, threadKey: string, named?: string): Promise<ReadZone> {
  if (named !== undefined) return { timezone: named, of: null };
  const chat = threadKey.startsWith(chatKey) ? await knownChat(client, threadKey) : undefined;
  const timezone = chat?.timezone ?? null;
  if (timezone === null) return { timezone: hostZone(), of: 'this computer' };
  return { timezone, of: flat(chat?.title ?? threadKey) };
}

/** Tells whose zone was taken; null where one was named, in words or by the flag. */
export function zoneNote({ timezone, of }: ReadZone, taken: string): string | null {
  if (of === null || taken !== timezone) return null;
  return `Read in ${timezone}, the zone of ${of}; --timezone names another.`;
}

async function knownChat(client: Caller, threadKey: string): Promise<Known | undefined> {
  const { threads } = await client.call('listThreads', { query: { thread_key: threadKey } });
  return threads[0];
}
