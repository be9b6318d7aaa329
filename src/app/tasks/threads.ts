import type { Actor } from '../../domain/actor.ts';
import { AppError } from '../../domain/errors.ts';
import { pageMax } from '../../domain/limits.ts';
import type { Task } from '../../domain/task.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import type { Timer } from '../ports.ts';
import type { TaskQuery, TaskStore, ThreadCounts } from '../task-store.ts';
import type { Tasks } from './tasks.ts';

/** What is done to all tasks of a thread at once: each by the same verb as alone, with its own row in the audit. */
export interface Threads {
  /** What a purge would remove. */
  count(threadKey: string): Promise<ThreadCounts>;
  /** Deletes every task of the thread; each can be restored for a day. Answers what was there. */
  purge(threadKey: string, actor: Actor): Promise<ThreadCounts>;
  pause(threadKey: string, actor: Actor, until: number | null): Promise<Bulk>;
  /** Lets those go on that a person paused, or the loss of the chat. What failed stays, because somebody has to look at it. */
  resume(threadKey: string, actor: Actor): Promise<Bulk>;
}

export interface Bulk {
  readonly changed: number;
  /** Tasks that the verb does not fit, or that refused it. */
  readonly left: number;
}

interface Needs {
  readonly store: Pick<TaskStore, 'countThread' | 'listTasks'>;
  readonly tasks: Tasks;
  readonly timer: Timer;
}

export function createThreads({ store, tasks, timer }: Needs): Threads {
  const each = async (threadKey: string, state: TaskQuery['state'], verb: (task: Task) => Promise<boolean>) => {
    let changed = 0;
    let left = 0;
    for (let cursor: string | null = null; ;) {
      const page = await store.listTasks({ ...allOf(threadKey), state, cursor });
      for (const task of page.items) {
        if (await unlessRefused(() => verb(task))) changed += 1;
        else left += 1;
        // A whole thread is a long way, and others have work to do meanwhile.
        await timer.yield();
      }
      cursor = page.next;
      if (cursor === null) return { changed, left };
    }
  };
  return {
    count: (threadKey) => store.countThread(parseThreadKey(threadKey)),
    purge: async (threadKey, actor) => {
      const counts = await store.countThread(parseThreadKey(threadKey));
      await each(threadKey, 'all', async ({ id }) => (await tasks.delete({ taskId: id, actor })).entryId !== null);
      return counts;
    },
    pause: (threadKey, actor, until) =>
      each(threadKey, 'enabled', async ({ id }) => (await tasks.pause({ taskId: id, actor }, until)).entryId !== null),
    resume: (threadKey, actor) =>
      each(threadKey, 'disabled', async ({ id, state, pausedReason }) => {
        if (state !== 'paused' || (pausedReason !== 'manual' && pausedReason !== 'chat_gone')) return false;
        return (await tasks.resume({ taskId: id, actor })).entryId !== null;
      }),
  };
}

function allOf(threadKey: string): TaskQuery {
  return {
    thread: parseThreadKey(threadKey),
    state: 'all',
    text: null,
    tag: null,
    subject: null,
    limit: pageMax,
    cursor: null,
  };
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
