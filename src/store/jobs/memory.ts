import type { Claimant, EngineName, Job, WorkEngine } from '../../app/ports/hints.ts';
import type { Bell, Timer } from '../../app/ports/outside.ts';
import { jobsOf, type Counter } from './offers.ts';

/** Tries of a job, as many as where a database hands them out. */
const triesMax = 3;
/** Jobs that one worker holds at a time. */
const heldMax = 8;

interface Held {
  readonly job: Job;
  readonly tries: number;
}

/** Jobs in the memory of this process, for the workers in it. They end with it, and the rows are found by the next start. */
export interface MemoryJobs extends Counter {
  /** The engine as one worker sees it. */
  engineOf(workerId: string, bell: Bell): WorkEngine;
  /** Jobs that wait, and those that somebody holds. */
  readonly count: () => number;
  /** Forgets what waits, as a process that ends does. */
  readonly lose: () => void;
}

export function createMemoryJobs(timer: Pick<Timer, 'yield'>): MemoryJobs {
  const queue = createQueue();
  const workers = new Map<string, Worker>();
  let isTurning = false;

  const hand = () => {
    for (let isAny = true; isAny;) {
      isAny = false;
      for (const worker of workers.values()) isAny = worker.take(queue.take) || isAny;
    }
  };
  // Jobs are given out after the transaction that has offered them.
  const soon = () => {
    if (isTurning) return;
    isTurning = true;
    void timer.yield().then(() => {
      isTurning = false;
      hand();
    });
  };
  const cancel = () => {
    for (const { claimant } of workers.values()) claimant.cancelled();
  };

  return {
    added: (offered) => {
      queue.add(jobsOf(offered));
      if (offered.isCancel) cancel();
      soon();
    },
    count: () => queue.size() + [...workers.values()].reduce((sum, { held }) => sum + held.size, 0),
    lose: queue.clear,
    engineOf: (workerId, bell) => engineFor({ workerId, bell, queue, workers, soon, cancel }),
  };
}

/** Jobs that nobody holds. */
function createQueue() {
  let [waiting, made] = [[] as Held[], 0];
  return {
    add: (jobs: ReturnType<typeof jobsOf>): void => {
      waiting.push(...jobs.map((job) => ({ job: { ...job, id: String((made += 1)) }, tries: 0 })));
    },
    /** Before the others, unless it was tried often enough. */
    putBack: (held: readonly Held[]): void => {
      waiting = [...held.filter(({ tries }) => tries < triesMax), ...waiting];
    },
    take: (fits: (job: Job) => boolean): Held | undefined => {
      const index = waiting.findIndex(({ job }) => fits(job));
      return index < 0 ? undefined : waiting.splice(index, 1)[0];
    },
    size: (): number => waiting.length,
    clear: (): void => {
      waiting = [];
    },
  };
}

interface EngineDeps {
  readonly workerId: string;
  readonly bell: Bell;
  readonly queue: ReturnType<typeof createQueue>;
  /** Workers that are here, by their ids. */
  readonly workers: Map<string, Worker>;
  /** Hands out what waits, in a moment. */
  readonly soon: () => void;
  readonly cancel: () => void;
}

function engineFor({ workerId, bell, queue, workers, soon, cancel }: EngineDeps): WorkEngine {
  let worker: Worker | null = null;
  const back = (held: readonly Held[]) => {
    queue.putBack(held);
    soon();
  };
  return {
    name: 'memory' satisfies EngineName,
    claim: async (claimant) => {
      worker = new Worker(claimant);
      workers.set(workerId, worker);
      soon();
    },
    complete: (job, left = []) => {
      if ('runs' in job && left.length > 0) queue.add([{ kind: job.kind, runs: left }]);
      worker?.held.delete(job.id);
      soon();
    },
    fail: (job) => {
      const failed = worker?.held.get(job.id);
      worker?.held.delete(job.id);
      if (failed !== undefined) back([failed]);
    },
    cancel,
    wake: (loop) => bell.ring(loop),
    free: soon,
    release: async (processIds) => {
      for (const id of processIds) {
        const gone = workers.get(id);
        workers.delete(id);
        if (gone !== undefined) back([...gone.held.values()]);
      }
    },
    stop: async () => {
      workers.delete(workerId);
    },
  };
}

class Worker {
  readonly held = new Map<string, Held>();
  readonly claimant: Claimant;

  constructor(claimant: Claimant) {
    this.claimant = claimant;
  }

  /** Takes a job that it can do now, if there is any. */
  take(next: (fits: (job: Job) => boolean) => Held | undefined): boolean {
    if (this.held.size >= heldMax) return false;
    const { kinds, full, work } = this.claimant;
    const closed = new Set(full());
    const found = next((job) => 'chats' in job || (kinds.includes(job.kind) && !closed.has(job.kind)));
    if (found === undefined) return false;
    this.held.set(found.job.id, { ...found, tries: found.tries + 1 });
    work(found.job);
    return true;
  }
}
