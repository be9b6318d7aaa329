import type { Hints } from '../../app/ports/hints.ts';
import type { Log, Timer } from '../../app/ports/outside.ts';
import type { Engine } from '../engine/engine.ts';
import { openGraphile, type GraphileJobs } from './graphile.ts';
import { createNotifyHints } from './notify.ts';
import { offering } from './offers.ts';
import { jobConnectionsMax } from './patient-pool.ts';

/** Work that processes on one database share beside its rows: hints, and jobs that come with the rows. */
export interface SharedWork {
  readonly hints: Hints;
  readonly engineOf: GraphileJobs['engineOf'];
  readonly jobsWaiting: GraphileJobs['waiting'];
  /** The engine, whose transactions add jobs for what they make ready. */
  over(engine: Engine): Engine;
  close(): Promise<void>;
}

/** Connections of a process beside those of its pool: for the lock, to listen, and for jobs. */
export function connectionsBeside(takesJobs: boolean): number {
  return 2 + (takesJobs ? jobConnectionsMax : 1);
}

interface SharingDeps {
  /** Of the server itself, where connections to it stay. */
  readonly url: string;
  /** Tells this process from the others. */
  readonly name: string;
  readonly timer: Pick<Timer, 'after'>;
  readonly log: Log;
  /** The address is that of a pooler, over which nobody is told of anything. */
  readonly isDeaf: boolean;
}

export async function openSharedWork(deps: SharingDeps): Promise<SharedWork> {
  let jobs: GraphileJobs | null = null;
  const hints = createNotifyHints({ ...deps, processId: deps.name, onLost: () => jobs?.drop() });
  await hints.open();
  try {
    jobs = await openGraphile({ ...deps, hints });
  } catch (error) {
    await hints.close();
    throw error;
  }
  const counter = jobs;
  return {
    hints,
    engineOf: (worker) => counter.engineOf(worker),
    jobsWaiting: () => counter.waiting(),
    over: (engine) => offering(engine, counter),
    close: async () => {
      await counter.close();
      await hints.close();
    },
  };
}
