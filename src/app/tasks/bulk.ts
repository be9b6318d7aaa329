import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { pageMax } from '../../domain/limits.ts';
import type { Task } from '../../domain/task.ts';
import { type Thread, parseThreadKey } from '../../domain/thread.ts';
import type { Timer } from '../ports/outside.ts';
import type { TaskQuery, TaskStore, ThreadCounts } from '../ports/tasks.ts';
import type { Tasks, Target } from './tasks.ts';

/** What is done to many tasks at once: to each by the same verb as alone, with its own row in the audit. */
export interface Bulk {
  pause(chosen: Chosen, by: By, until: number | null): Promise<Bulked>;
  /** Lets those go on that a person paused, or the loss of the chat. What failed stays, because somebody has to look at it. */
  resume(chosen: Chosen, by: By): Promise<Bulked>;
  /** Calls off what they run now. */
  cancel(chosen: Chosen, by: By): Promise<Bulked>;
  delete(chosen: Chosen, by: By): Promise<Bulked>;
}

/** Every condition that is given must hold. */
export interface Chosen {
  readonly thread: Thread | null;
  readonly subject: string | null;
  readonly tag: string | null;
}

interface By extends Omit<Target, 'taskId' | 'idempotencyKey' | 'actor'> {
  readonly actor: Actor;
  /** Only counts what would be changed. */
  readonly isDry?: boolean;
}

interface Bulked {
  readonly changed: number;
  /** Tasks that the verb does not fit, or that refused it. */
  readonly left: number;
}

interface Needs {
  readonly store: Pick<TaskStore, 'listTasks' | 'tasksAtWork'>;
  readonly tasks: Pick<Tasks, 'pause' | 'resume' | 'cancel' | 'delete'>;
  readonly timer: Timer;
}

interface Deed {
  readonly state: TaskQuery['state'];
  /** Those of the tasks that the verb fits. */
  readonly fits: (tasks: readonly Task[]) => Promise<readonly Task[]>;
  /** Whether it changed something. */
  readonly does: (target: Target) => Promise<boolean>;
}

const anyTask = async (tasks: readonly Task[]) => tasks;

export function createBulk({ store, tasks, timer }: Needs): Bulk {
  const all = async (chosen: Chosen, { isDry = false, ...by }: By, { state, fits, does }: Deed): Promise<Bulked> => {
    let changed = 0;
    let left = 0;
    for (let cursor: string | null = null; ;) {
      const page = await store.listTasks({ ...chosen, state, text: null, limit: pageMax, cursor });
      const fitting = await fits(page.items);
      left += page.items.length - fitting.length;
      for (const { id } of fitting) {
        if (isDry || (await unlessRefused(() => does({ ...by, taskId: id })))) changed += 1;
        else left += 1;
        // All of them are a long way, and others have work to do meanwhile.
        await timer.yield();
      }
      cursor = page.next;
      if (cursor === null) return { changed, left };
    }
  };
  return {
    pause: (chosen, by, until) =>
      all(chosen, by, {
        state: 'enabled',
        fits: anyTask,
        does: async (target) => (await tasks.pause(target, until)).entryId !== null,
      }),
    resume: (chosen, by) =>
      all(chosen, by, {
        state: 'disabled',
        fits: async (found) => found.filter(mayGoOn),
        does: async (target) => (await tasks.resume(target)).entryId !== null,
      }),
    cancel: (chosen, by) =>
      all(chosen, by, {
        state: 'all',
        fits: async (found) => {
          const atWork = await store.tasksAtWork(found.map(({ id }) => id));
          return found.filter(({ id }) => atWork.has(id));
        },
        does: async (target) => (await tasks.cancel(target)).entryId !== null,
      }),
    delete: (chosen, by) =>
      all(chosen, by, {
        state: 'all',
        fits: anyTask,
        does: async (target) => (await tasks.delete(target)).entryId !== null,
      }),
  };
}

function mayGoOn({ state, pausedReason }: Task): boolean {
  return state === 'paused' && (pausedReason === 'manual' || pausedReason === 'chat_gone');
}

/** One task that cannot follow, because it has nothing left to run or is gone by now, does not stop the others. */
async function unlessRefused(verb: () => Promise<boolean>): Promise<boolean> {
  try {
    return await verb();
  } catch (error) {
    const isRefusal = error instanceof AppError && (error.code === 'schedule_exhausted' || error.code === 'not_found');
    if (isRefusal) return false;
    throw error;
  }
}

/** What is done to all tasks of a thread at once. */
export interface Threads {
  /** What a purge would remove. */
  count(threadKey: string): Promise<ThreadCounts>;
  /** Deletes every task of the thread; each can be restored for a day. Answers what was there. */
  purge(threadKey: string, by: By): Promise<ThreadCounts>;
  pause(threadKey: string, by: By, until: number | null): Promise<Bulked>;
  resume(threadKey: string, by: By): Promise<Bulked>;
}

interface ThreadsNeeds {
  readonly store: Pick<TaskStore, 'countThread'>;
  readonly bulk: Bulk;
}

export function createThreads({ store, bulk }: ThreadsNeeds): Threads {
  return {
    count: (threadKey) => store.countThread(parseThreadKey(threadKey)),
    purge: async (threadKey, by) => {
      const counts = await store.countThread(parseThreadKey(threadKey));
      await bulk.delete(allOf(threadKey), by);
      return counts;
    },
    pause: (threadKey, by, until) => bulk.pause(allOf(threadKey), by, until),
    resume: (threadKey, by) => bulk.resume(allOf(threadKey), by),
  };
}

function allOf(threadKey: string): Chosen {
  return { thread: parseThreadKey(threadKey), subject: null, tag: null };
}
