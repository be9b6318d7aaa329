import { errorText } from '../../domain/errors.ts';
import type { Deliverer } from '../pipeline/deliverer.ts';
import type { Runner } from '../pipeline/runner.ts';
import { waitAtMost } from '../pipeline/workers.ts';
import type { Job, WorkEngine } from '../ports/hints.ts';
import type { Bell, LoopName, World } from '../ports/outside.ts';
import type { Due } from '../ports/processes.ts';

/** The jobs of this worker. Each calls the step that a loop would call, for the rows that it names. */
export interface Jobs {
  start(): Promise<void>;
  /** Workers look for what no job has named, or was named in vain. */
  lookAround(): void;
  /** Kinds of actions go on: jobs that came while they were paused were over without a run. */
  resumed(): void;
  /** Something has become due of which these were not told. */
  due(due: readonly Due[]): void;
  /** Processes are gone: jobs that they held come to others, and all loops look for what has become free. */
  freed(gone: readonly string[]): void;
  /** Takes no more, does what it has for a moment, and gives back the rest. */
  stop(): Promise<void>;
}

interface JobsDeps extends Pick<World, 'timer' | 'log'> {
  readonly workEngine: WorkEngine;
  readonly bell: Bell;
  readonly runner: Pick<Runner, 'take' | 'full' | 'refuse' | 'look'>;
  readonly deliverer: Pick<Deliverer, 'take' | 'refuse' | 'look'>;
  /** Kinds of actions of which this process takes runs. */
  readonly kinds: readonly string[];
}

/** Jobs are short, because they wait for places and not for what runs. */
const finishMs = 1000;
/** Then nothing is begun any more. What a database that is away keeps from ending is freed with this process. */
const giveBackMs = 5000;

export function createJobs({ workEngine: engine, bell, runner, deliverer, kinds, timer, log }: JobsDeps): Jobs {
  const done = (job: Job) => ('runs' in job ? runner.take(job) : deliverer.take(job.chats));
  const work = (job: Job) => {
    done(job).then(
      (left) => engine.complete(job, left),
      (error: unknown) => {
        log.debug('job_failed', { job_id: job.id, error: errorText(error) });
        engine.fail(job, errorText(error));
      },
    );
  };
  const lookAround = () => {
    runner.look('all');
    deliverer.look();
  };
  return {
    lookAround,
    resumed: () => {
      runner.look('all');
      bell.ring('runner');
    },
    due: (due) => {
      if (due.includes('runner')) runner.look();
      if (due.includes('deliverer')) deliverer.look();
      for (const name of due) if (name !== 'inbox') bell.ring(name);
    },
    freed: (gone) => {
      lookAround();
      for (const loop of ['scheduler', 'runner', 'deliverer', 'acks', 'housekeeper'] as const) bell.ring(loop);
      // Jobs that are not freed now are found by their rows.
      engine.release(gone).catch((error: unknown) => log.warn('jobs_not_freed', { error: errorText(error) }));
    },
    start: () =>
      engine.claim({
        kinds,
        full: runner.full,
        cancelled: () => {
          runner.look();
          bell.ring('runner');
        },
        work,
      }),
    stop: async () => {
      const ended = engine.stop();
      await waitAtMost(timer, finishMs, ended);
      runner.refuse();
      deliverer.refuse();
      await waitAtMost(timer, giveBackMs, ended);
    },
  };
}

/** One process alone on its database: its loops claim rows, woken by its own bell, and nobody hands out anything. */
export function embeddedEngine(bell: Bell): WorkEngine {
  const unheard = () => undefined;
  return {
    name: 'embedded',
    claim: async () => undefined,
    complete: unheard,
    fail: unheard,
    cancel: () => bell.ring('runner'),
    wake: (loop) => bell.ring(loop),
    free: unheard,
    release: async () => undefined,
    stop: async () => undefined,
  };
}

/** Connects whatever rings with loops that are made later; a ring before that is not lost, because a loop starts by looking. */
interface Switchboard extends Bell {
  connect(loop: LoopName, ring: () => void): void;
}

export function createBell(): Switchboard {
  const rings = new Map<LoopName, () => void>();
  return {
    connect: (loop, ring) => {
      rings.set(loop, ring);
    },
    ring: (loop) => rings.get(loop)?.(),
  };
}
