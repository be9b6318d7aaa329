import { nextInTurn } from '../../../../domain/outbound/hosts.ts';

/** The run that wants a place at a host, and the task whose turn that is. */
export interface Waiter {
  readonly runId: string;
  readonly taskId: string | null;
}

export interface Waiting extends Waiter {
  /** Called when a place is kept; absent for a run that waits in the store. */
  readonly call?: () => void;
}

export type Queue = ReturnType<typeof createQueue>;

/** Calls that wait. Tasks take turns. */
export function createQueue() {
  const byTask = new Map<string, Map<string, Waiting>>();
  const homes = new Map<string, string>();
  const places = createCounts();
  let last = '';
  const taskOf = ({ taskId, runId }: Waiter) => taskId ?? runId;
  const drop = (runId: string): void => {
    const task = homes.get(runId);
    if (task === undefined) return;
    homes.delete(runId);
    const runs = byTask.get(task);
    runs?.delete(runId);
    if (runs?.size === 0) byTask.delete(task);
  };
  return {
    isEmpty: () => homes.size === 0,
    size: () => homes.size,
    drop,
    add: (who: Waiting): void => {
      const task = taskOf(who);
      const runs = byTask.get(task) ?? new Map<string, Waiting>();
      homes.set(who.runId, task);
      runs.set(who.runId, who);
      byTask.set(task, runs);
    },
    next: (): Waiting | undefined => {
      const [found] = byTask.get(nextInTurn(byTask.keys(), places.of, last) ?? '')?.values() ?? [];
      if (found !== undefined) drop(found.runId);
      return found;
    },
    taken: (who: Waiter): void => {
      const task = taskOf(who);
      places.take(who.runId, task);
      last = task;
    },
    left: places.leave,
  };
}

/** The places that tasks have, by the runs that take them. */
function createCounts() {
  const homes = new Map<string, string>();
  const counts = new Map<string, number>();
  const of = (task: string) => counts.get(task) ?? 0;
  return {
    of,
    take: (runId: string, task: string): void => {
      homes.set(runId, task);
      counts.set(task, of(task) + 1);
    },
    leave: (runId: string): void => {
      const task = homes.get(runId);
      if (task === undefined) return;
      homes.delete(runId);
      if (of(task) > 1) counts.set(task, of(task) - 1);
      else counts.delete(task);
    },
  };
}
