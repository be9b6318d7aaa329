import { CliFault } from '../faults.ts';
import { allTasks, type Task } from '../naming.ts';
import type { Session } from '../session.ts';
import { type Definition, type Entry, identityOf, titleOf, differences } from './file.ts';

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
        thread,
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

function likeness(entry: Entry, thread: string, tasks: readonly Task[]): Task | null {
  const title = titleOf(entry);
  const isLike = (task: Task) => {
    if (title === null) return task.instructions === entry.instructions && (entry.subject ?? null) === task.subject;
    return identityOf(thread, task.title, task.subject) === identityOf(thread, title, entry.subject);
  };
  return tasks.find(isLike) ?? null;
}

async function taskById({ client }: Session, id: string): Promise<Task | null> {
  try {
    const { task } = await client.call('getTask', { params: { task_id: id } });
    return task.state === 'deleted' ? null : task;
  } catch (error) {
    if (error instanceof CliFault && error.code === 'not_found') return null;
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
    // Which fields there are has been compared one by one.
    return (await client.call('updateTask', { params: { task_id: task.task_id }, body: changes })).task;
  }
  const { task_id: _id, thread_key: _thread, enabled = true, ...definition } = entry;
  const policies = { ...definition.policies, on_existing: 'add' as const };
  const body: Definition = { ...definition, policies };
  const made = (await client.call('createTask', { params: { thread_key: thread }, body })).task;
  if (enabled) return made;
  return (await client.call('updateTask', { params: { task_id: made.task_id }, body: { enabled: false } })).task;
}
