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

/** Those that wait. Tasks take turns: first the one with the fewest places, then the one whose last turn is longest ago. */
export function createQueue() {
  const byTask = new Map<string, Map<string, Waiting>>();
  const homes = new Map<string, string>();
  const places = createCounts();
  const turns = new Map<string, number>();
  let turn = 0;
  const taskOf = ({ taskId, runId }: Waiter) => taskId ?? runId;
  const drop = (runId: string): void => {
    const task = homes.get(runId);
    if (task === undefined) return;
    homes.delete(runId);
    const runs = byTask.get(task);
    runs?.delete(runId);
    if (runs?.size === 0) byTask.delete(task);
  };
  /** The task whose turn it is. */
  const nextTask = (): string | undefined => {
    let best: { readonly task: string; readonly held: number; readonly last: number } | undefined;
    for (const task of byTask.keys()) {
      const [held, last] = [places.of(task), turns.get(task) ?? 0];
      const isBefore = best === undefined || held < best.held || (held === best.held && last < best.last);
      if (isBefore) best = { task, held, last };
    }
    return best?.task;
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
      const [found] = byTask.get(nextTask() ?? '')?.values() ?? [];
      if (found !== undefined) drop(found.runId);
      return found;
    },
    taken: (who: Waiter): void => {
      const task = taskOf(who);
      places.take(who.runId, task);
      turns.set(task, (turn += 1));
    },
    left: (runId: string): void => {
      const task = places.leave(runId);
      // A task without a call that waits or is under way: its turn does not matter any more.
      if (task !== undefined && !byTask.has(task) && places.of(task) === 0) turns.delete(task);
    },
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
    /** The task of the run; undefined where it has no place. */
    leave: (runId: string): string | undefined => {
      const task = homes.get(runId);
      if (task === undefined) return undefined;
      homes.delete(runId);
      if (of(task) > 1) counts.set(task, of(task) - 1);
      else counts.delete(task);
      return task;
    },
  };
}
