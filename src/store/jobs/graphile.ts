import { EventEmitter } from 'node:events';
import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import type { Runner, RunnerOptions, TaskList, WorkerEvents, WorkerPool, WorkerUtils } from 'graphile-worker';
import pg from 'pg';
import type { Claimant, Hints, Job, WorkEngine } from '../../app/ports/hints.ts';
import type { Bell, Log, LoopName, Timer } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import { countedMax } from '../../domain/limits.ts';
import type { Script } from '../engine/engine.ts';
import { sql } from '../engine/sql.ts';
import { run as ask } from '../engine/statements.ts';
import { jobsOf, type Counter, type Offered } from './offers.ts';
import { connectMs, PatientPool } from './patient-pool.ts';

/** Jobs of graphile-worker, in its own schema of the same database, written by the transactions that make their rows ready. */
export interface GraphileJobs extends Counter {
  engineOf(worker: GraphileWorker): WorkEngine;
  /** Jobs that nobody has taken up, as far as they are counted. */
  waiting(): Promise<number>;
  /** Cuts all connections: where one was lost others may be, without knowing it. */
  drop(): void;
  close(): Promise<void>;
}

interface GraphileDeps {
  readonly url: string;
  readonly hints: Hints;
  readonly timer: Pick<Timer, 'after'>;
  readonly log: Log;
  /** Jobs are looked for each second, because nobody is told of new ones over the address of a pooler. */
  readonly isDeaf?: boolean;
}

interface GraphileWorker {
  readonly processId: string;
  readonly bell: Bell;
  /** Loops that turn in this process. */
  readonly turns: (loop: LoopName) => boolean;
  /** The runner has stopped by itself, as after a migration to a release that this one does not know: nobody would work here any more. */
  readonly onEnd: (error: Error) => void;
}

/** Jobs that are in hand at a time. They are short: one is over when its runs have begun. */
const atOnce = 8;
/**
 * Nobody needs to look for jobs that were told of; what was lost is found by its row. Each of the places looks by itself, so that this
 * is most of what an idle process asks.
 */
const pollMs = 900_000;
/** While nobody is told of new jobs. */
const unheardLookMs = 1000;
/** A job that fails is a hint that was lost: the row is found by the next look. */
const triesMax = 3;
/** Jobs that nobody holds, counted up to the number to which everything is counted. */
const waitingText = `select count(*) as n from (select 1 from graphile_worker.jobs where locked_at is null limit ${countedMax}) w`;

const runPrefix = 'run:';
const deliver = 'deliver';

export async function openGraphile(deps: GraphileDeps): Promise<GraphileJobs> {
  const { hints } = deps;
  const logger = loggerOver(deps.log);
  await migrate(deps.url, logger);
  const pool = new PatientPool(deps);
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  const cancels = new Set<() => void>();
  const cancelled = () => {
    for (const call of cancels) call();
  };
  hints.on('cancels', cancelled);
  const cancel = () => {
    cancelled();
    hints.publish('cancels');
  };
  return {
    add: addJobs,
    added: ({ isCancel }) => {
      if (isCancel) cancel();
    },
    engineOf: (worker) => createEngine({ ...deps, ...worker, pool, utils, logger, cancel, cancels }),
    waiting: async () => Number((await pool.query<{ n: string }>(waitingText)).rows[0]?.n ?? 0),
    drop: () => pool.drop(),
    close: async () => {
      pool.hurry();
      await utils.release();
      await pool.end();
    },
  };
}

/** Adds all jobs in one statement. */
function* addJobs(offered: Offered): Script<void> {
  const specs = jobsOf(offered).map((job) =>
    'runs' in job
      ? { identifier: runPrefix + job.kind, payload: { runs: job.runs }, max_attempts: triesMax, flags: [job.kind] }
      : { identifier: deliver, payload: { chats: job.chats }, max_attempts: triesMax },
  );
  if (specs.length === 0) return;
  yield* ask(sql`select count(*) from graphile_worker.add_jobs(array(
    select json_populate_recordset(null::graphile_worker.job_spec, ${JSON.stringify(specs)}::json)))`);
}

type EngineDeps = GraphileDeps &
  GraphileWorker & {
    readonly pool: PatientPool;
    readonly utils: WorkerUtils;
    readonly logger: Logger;
    readonly cancel: () => void;
    readonly cancels: Set<() => void>;
  };

function createEngine(deps: EngineDeps): WorkEngine {
  const { bell, hints, turns, onEnd, pool, utils, cancels } = deps;
  const inHand = createInHand(utils);
  const unheard = createUnheard(deps);
  let runner: Runner | null = null;
  let [isStopping, isAnyLeft] = [false, false];

  return {
    name: 'graphile',
    claim: async (claimant) => {
      cancels.add(claimant.cancelled);
      const forbiddenFlags = () => {
        const left = claimant.full();
        isAnyLeft = left.length > 0;
        return [...left];
      };
      const taskList = tasksOf(claimant, inHand.hold);
      runner = await run({ ...runnerOptions(deps), taskList, forbiddenFlags, events: unheard.events });
      const over = (error: unknown) => {
        if (!isStopping) onEnd(stoppedByItself(error));
      };
      runner.promise.then(() => over(null), over);
    },
    complete: inHand.complete,
    fail: inHand.fail,
    cancel: deps.cancel,
    wake: (loop) => {
      if (turns(loop)) bell.ring(loop);
      else if (loop === 'scheduler' || loop === 'acks') hints.publish(loop);
    },
    free: () => {
      if (!isAnyLeft) return;
      isAnyLeft = false;
      unheard.look();
    },
    release: async (processIds) => {
      await utils.forceUnlockWorkers([...processIds]);
      unheard.look();
    },
    stop: async () => {
      isStopping = true;
      unheard.stop();
      pool.hurry();
      await runner?.stop();
    },
  };
}

function stoppedByItself(error: unknown): Error {
  const why: unknown = error ?? 'no reason given';
  return new Error(`graphile-worker has stopped by itself (${String(why)})`);
}

function runnerOptions({ pool, logger, isDeaf }: EngineDeps) {
  return {
    pgPool: pool,
    logger,
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: atOnce,
        pollInterval: pollMs,
        // Both at 0, or a stop does not wait until what was done is written.
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        preparedStatements: isDeaf !== true,
      },
    },
  } satisfies RunnerOptions;
}

/** Resolves when the job that was begun is completed. */
type Hold = (id: string, begin: () => void) => Promise<void>;

/** The tasks of the worker, one for each name of jobs: they go to the claimant, and are held until they are over. */
function tasksOf({ kinds, work }: Claimant, hold: Hold): TaskList {
  const taskFor = (jobOf: (id: string, payload: unknown) => Job) => {
    return (payload: unknown, { job: { id } }: { readonly job: { readonly id: string } }) =>
      hold(id, () => work(jobOf(id, payload)));
  };
  const tasks: TaskList = { [deliver]: taskFor((id, payload) => ({ id, chats: textsIn(payload, 'chats') })) };
  for (const kind of kinds)
    tasks[runPrefix + kind] = taskFor((id, payload) => ({ id, kind, runs: textsIn(payload, 'runs') }));
  return tasks;
}

/** Jobs that the worker has given to this process, until they are completed or failed. */
function createInHand(utils: WorkerUtils) {
  const inHand = new Map<string, { readonly complete: () => void; readonly fail: (error: Error) => void }>();
  const ended = (id: string) => {
    const held = inHand.get(id);
    inHand.delete(id);
    return held;
  };
  const hold: Hold = (id, begin) =>
    new Promise((complete, fail) => {
      inHand.set(id, { complete, fail });
      begin();
    });
  return {
    hold,
    complete: (job: Job, left: readonly string[] = []): void => {
      const held = ended(job.id);
      if (!('runs' in job) || left.length === 0) return held?.complete();
      const how = { maxAttempts: triesMax, flags: [job.kind] };
      utils.addJob(runPrefix + job.kind, { runs: left }, how).then(
        () => held?.complete(),
        (error: unknown) => held?.fail(error instanceof Error ? error : new Error(String(error))),
      );
    },
    fail: ({ id }: Job, error: string): void => ended(id)?.fail(new Error(error)),
  };
}

/** While the connection over which it is told of new jobs is lost, they are looked for. */
function createUnheard({ timer, processId, isDeaf = false }: EngineDeps) {
  const events = new EventEmitter() as WorkerEvents;
  let workers: WorkerPool | null = null;
  let [isHeard, isStopping] = [!isDeaf, false];
  let callOff: (() => void) | null = null;
  const look = () => {
    if (!isStopping) workers?.nudge(atOnce);
  };
  const lookAgain = () => {
    callOff = timer.after(unheardLookMs, () => {
      callOff = null;
      if (!isHeard && !isStopping) lookAgain();
      if (!isStopping) workers?.nudge(isHeard ? atOnce : 1);
    });
  };
  events.on('pool:create', ({ workerPool }) => {
    // By this name its jobs are freed when this process is gone.
    workerPool.id = processId;
    workers = workerPool;
    if (isDeaf) lookAgain();
  });
  events.on('pool:gracefulShutdown', () => {
    workers = null;
  });
  events.on('pool:listen:error', () => {
    isHeard = false;
    if (callOff === null) lookAgain();
  });
  events.on('pool:listen:success', () => {
    isHeard = !isDeaf;
  });
  return {
    events,
    look,
    stop: () => {
      isStopping = true;
      callOff?.();
    },
  };
}

function textsIn(payload: unknown, name: string): readonly string[] {
  const found = (payload as Readonly<Record<string, unknown>> | null)?.[name];
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
}

const migrationLockKey = 7_290_411_004;

/** Migrates in one process at a time, because two that make the schema at once get in each other's way. */
async function migrate(url: string, logger: Logger): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: connectMs });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query(`select pg_advisory_xact_lock(${migrationLockKey})`);
      await runMigrations({ pgPool: pool, logger });
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      throw (error as { code?: unknown }).code === notAllowed ? mayMakeNoSchema() : error;
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

const notAllowed = '42501';

function mayMakeNoSchema(): AppError {
  return new AppError(
    'store_unavailable',
    'The user of DATABASE_URL may not make the schema graphile_worker, in which work is handed out. As the owner of the database: ' +
      'grant create on database <its name> to <that user>. Or set ENGINE=embedded, for one process alone.',
  );
}

function loggerOver(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.warn('jobs', { error: message.slice(0, 300) });
    else if (level === 'warning') log.warn('jobs', { warning: message.slice(0, 300) });
  });
}
