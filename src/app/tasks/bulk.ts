import { AppError } from '../../domain/errors.ts';
import { pageMax } from '../../domain/limits.ts';
import { ownerGonePause, type Task } from '../../domain/task.ts';
import { endOfPause } from '../pipeline/scheduler.ts';
import type { World } from '../ports/outside.ts';
import type { Changed, Purge, Purged, WorkCounts, TaskQuery, TaskStore, Whose } from '../ports/tasks.ts';
import { ringAll } from './create.ts';
import type { Tasks, Target } from './tasks.ts';

/** Every condition that is given must hold. */
export type Chosen = Partial<Pick<TaskQuery, 'thread' | 'ownerId' | 'subject' | 'tag'>>;

interface By extends Omit<Target, 'taskId'> {
  /** True to count what would be changed, and to change nothing. */
  readonly isDry?: boolean;
}

interface Purging extends Pick<Purge, 'actor' | 'traceId'> {
  /** How many tasks somebody was told of who agreed to it. */
  readonly expected?: number | null;
}

interface Bulked {
  readonly changed: number;
  /** Tasks that the verb does not fit, or that refused it. */
  readonly left: number;
}

type BulkDeps = Pick<World, 'timer' | 'clock' | 'log' | 'bell'> & {
  readonly store: Pick<TaskStore, 'listTasks' | 'tasksAtWork' | 'countTasks' | 'purgeTasks'>;
  readonly tasks: Pick<Tasks, 'pause' | 'resume' | 'renew' | 'cancel'>;
};

interface Deed {
  readonly state: TaskQuery['state'];
  /** Tasks that the verb fits, out of those that were found. */
  readonly fits: (tasks: readonly Task[]) => Promise<readonly Task[]>;
  readonly does: (target: Target) => Promise<Pick<Changed, 'entryId'>>;
}

const anyTask = async (tasks: readonly Task[]) => tasks;

/** Verbs on many tasks at once: on each by the same verb as alone, with its own row in the audit; but a purge is one deed. */
export type Bulk = ReturnType<typeof createBulk>;

export function createBulk(deps: BulkDeps) {
  const { store, tasks, timer } = deps;
  const all = async (chosen: Chosen, { isDry = false, ...by }: By, { state, fits, does }: Deed): Promise<Bulked> => {
    const { thread = null, ownerId = null, subject = null, tag = null } = chosen;
    const query = { thread, ownerId, subject, tag, state, text: null, limit: pageMax };
    let changed = 0;
    let left = 0;
    for (let cursor: string | null = null; ;) {
      const page = await store.listTasks({ ...query, cursor });
      const fitting = await fits(page.items);
      left += page.items.length - fitting.length;
      for (const { id } of fitting) {
        if (isDry || (await isChanged(() => does({ ...by, taskId: id })))) changed += 1;
        else left += 1;
        // All of them are a long way, and others have work to do meanwhile.
        await timer.yield();
      }
      cursor = page.next;
      if (cursor === null) return { changed, left };
    }
  };
  return {
    pause: async (chosen: Chosen, by: By, until: number | null): Promise<Bulked> => {
      const does = (target: Target) => tasks.pause(target, until);
      const active = await all(chosen, by, { state: 'enabled', fits: anyTask, does });
      // Tasks that wait for their owner would go on by themselves.
      const fits = async (found: readonly Task[]) =>
        found.filter(({ pausedReason }) => pausedReason === ownerGonePause);
      const waiting = await all(chosen, by, { state: 'paused', fits, does });
      return { changed: active.changed + waiting.changed, left: active.left };
    },
    /** Gives those that may not run a right of whoever asks for it. */
    renew: (chosen: Chosen, by: By) =>
      all(chosen, by, {
        state: 'all',
        fits: async (found) => found.filter(({ state }) => state === 'active' || state === 'paused'),
        does: (target) => tasks.renew(target),
      }),
    /** Lets those go on that a person paused, or the loss of the chat. What failed stays, because somebody has to look at it. */
    resume: (chosen: Chosen, by: By) =>
      all(chosen, by, { state: 'paused', fits: async (found) => found.filter(mayGoOn), does: tasks.resume }),
    /** Calls off what they run now. */
    cancel: (chosen: Chosen, by: By) =>
      all(chosen, by, {
        state: 'all',
        fits: async (found) => {
          const atWork = await store.tasksAtWork(found.map(({ id }) => id));
          return found.filter(({ id }) => atWork.has(id));
        },
        does: tasks.cancel,
      }),
    /** Counts the tasks that a purge would remove. */
    count: (whose: Whose): Promise<WorkCounts> => store.countTasks(whose),
    /** Deletes all of them at once, or none where there are not as many as `expected`; each can be restored for a day. */
    purge: async (whose: Whose, { expected = null, ...by }: Purging): Promise<Purged> => {
      const purged = await store.purgeTasks({
        ...by,
        whose,
        expected,
        at: deps.clock.now(),
        endPause: (due) => endOfPause(deps, due),
      });
      ringAll(deps);
      return purged;
    },
  };
}

function mayGoOn({ pausedReason }: Task): boolean {
  return pausedReason === 'manual' || pausedReason === 'chat_gone';
}

/** One task that cannot follow, because it has nothing left to run or is gone by now, does not stop the others. */
async function isChanged(verb: () => Promise<Pick<Changed, 'entryId'>>): Promise<boolean> {
  try {
    return (await verb()).entryId !== null;
  } catch (error) {
    const isRefusal =
      error instanceof AppError && (error.code === 'schedule_exhausted' || error.code === 'task_not_found');
    if (isRefusal) return false;
    throw error;
  }
}
