import { parseThreadKey } from '../../domain/thread.ts';
import type { TaskStore, ThreadCounts } from '../ports/tasks.ts';
import type { Bulk, Bulked, By, Chosen } from './bulk.ts';

/** What is done to all tasks of a thread at once. */
export interface Threads {
  /** What a purge would remove. */
  count(threadKey: string): Promise<ThreadCounts>;
  /** Deletes every task of the thread; each can be restored for a day. Answers what was there. */
  purge(threadKey: string, by: By): Promise<ThreadCounts>;
  pause(threadKey: string, by: By, until: number | null): Promise<Bulked>;
  resume(threadKey: string, by: By): Promise<Bulked>;
}

interface Needs {
  readonly store: Pick<TaskStore, 'countThread'>;
  readonly bulk: Bulk;
}

export function createThreads({ store, bulk }: Needs): Threads {
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
