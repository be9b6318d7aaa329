import { errorText } from '../../domain/errors.ts';
import { outgoingKey } from '../../domain/occurrence.ts';
import { takesKind, type KindRules } from '../../domain/processes/process.ts';
import { taskSourceOf } from '../../domain/run.ts';
import type { Outcome, Actions } from '../actions/action.ts';
import { createLooks, lookEveryMs } from '../jobs/looks.ts';
import { createWanted } from '../jobs/wanted.ts';
import type { FileLeft, FileRef } from '../ports/blobs.ts';
import type { WorkEngine } from '../ports/hints.ts';
import type { Log, World } from '../ports/outside.ts';
import type {
  Batch,
  Counts,
  RunEnd,
  RunStore,
  StartableRun,
  StartBatch,
  Started,
  StartedRun,
} from '../ports/pipeline.ts';
import type { Claimable, Processes } from '../ports/processes.ts';
import type { HousekeepingStore } from '../ports/upkeep.ts';
import { createCollector } from './collector.ts';
import { brokenEnd, endOf, thrownEnd } from './runner-ends.ts';
import { filesOf, keepFiles, type FileDeps } from './runner-files.ts';
import { startPlan, type StartDeps } from './runner-starts.ts';
import { createLostClaims, createProgress, tellTraced, waitAtMost } from './workers.ts';

/**
 * Claims runs, executes their actions, and writes how they ended. It never waits for a chat: what is to be shown becomes
 * deliveries, in the transaction that ends the run.
 */
export interface Runner {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  /** Starts the runs that a job names, as there are places. Answers those for which there is no place; the others were started, or are not ready. */
  take(job: {
    readonly id: string;
    readonly kind: string;
    readonly runs: readonly string[];
  }): Promise<readonly string[]>;
  /** Kinds of which there is no place for one more. */
  full(): readonly string[];
  /** Leaves to others the runs that jobs have named and that were not started. */
  refuse(): void;
  /** Looks at the next step for what no job has named, or with `all` also for what jobs have named in vain. */
  look(all?: 'all'): void;
  /** Resolves when no attempt is running and every end is written. */
  idle(): Promise<void>;
  /** Whether the run is live here, or has an end that is not written yet. */
  worksOn(runId: string): boolean;
  /** Takes nothing more, waits for what runs, and aborts it when the time is up. */
  stop(graceMs: number): Promise<void>;
}

interface RunnerDeps extends FileDeps, StartDeps, Pick<World, 'stopwatch' | 'bell'> {
  readonly store: RunStore & Pick<HousekeepingStore, 'letRunsGo'>;
  readonly bootId: string;
  readonly workEngine: Pick<WorkEngine, 'name' | 'free'>;
  readonly processes: Pick<Processes, 'begun' | 'isHeld' | 'isAlone' | 'self'>;
  /** Kinds of actions that this process does, and how many of each at once. */
  readonly takes: KindRules;
  /** Attempts that may run at the same time. */
  readonly concurrency: number;
  /** Ends that are written in one commit. */
  readonly batchMax: number;
}

type AbortReason = 'timedOut' | 'cancelled' | 'stopping';

/**
 * Of the places for runs a kind has so many at most, messages apart, which take no time: so however many calls outside are slow, a
 * message finds a place.
 */
const shareMax = 0.75;

interface Live {
  readonly kind: string;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

const nothing: Counts = { taken: 0, more: false };

/** The attempts that run here, and the runs whose end is not written yet. */
function createAttempts(deps: RunnerDeps, looks: Pick<ReturnType<typeof createLooks>, 'later'>) {
  const { log } = deps;
  const live = new Map<string, Live>();
  const inHand = new Set<string>();

  const ends = createCollector<RunEnd>(deps, deps.batchMax, {
    write: async (batch) => {
      await finish(deps, batch);
      looks.later();
      deps.workEngine.free();
      for (const { run } of batch) inHand.delete(run.id);
    },
    instead: (end, error) => brokenEnd(end, deps.clock.now(), `the result could not be written: ${error}`),
  });

  const execute = (started: StartedRun) => {
    const controller = new AbortController();
    const done = attempt(deps, started, controller)
      .catch((error: unknown) => {
        log.error('attempt_threw', { run_id: started.run.id, error: String(error) });
        const reason = errorText(error);
        return thrownEnd(deps, started, { at: deps.clock.now(), error: reason });
      })
      .then((end) => {
        live.delete(started.run.id);
        if (end !== null) ends.add(end);
      });
    live.set(started.run.id, { kind: started.run.input.action.kind, controller, done });
    inHand.add(started.run.id);
  };

  const allDone = () => Promise.all([...live.values()].map(({ done }) => done));
  return { live, inHand, ends, execute, allDone };
}

export function createRunner(deps: RunnerDeps): Runner {
  const { store, bell, timer } = deps;
  const wanted = createWanted();
  const looks = createLooks(deps.workEngine.name !== 'embedded', lookEveryMs(deps.processes));
  const { live, inHand, ends, execute, allDone } = createAttempts(deps, looks);
  const claims = createLostClaims(deps, 'runner', () => store.letRunsGo(deps.bootId, [...inHand]));
  let stopping = false;
  const isFull = (kind: string) => isKindFull(deps, kind, countOf(kindsOf(live)).get(kind));

  const startUpTo = async (free: number, now: number, isLook: boolean) => {
    const start = (which: Omit<StartBatch, keyof Batch>) =>
      claims.claim(() => startSome(deps, { now, limit: free, ...which }, kindsOf(live)));
    const found = isLook ? await start(looks.queuedBefore(now)) : await wanted.lookFor(free, start);
    for (const one of found.started) {
      if (deps.processes.isHeld()) execute(one);
      else claims.giveUp();
    }
    return found;
  };

  return {
    step: async (now, limit) => {
      await claims.letGo();
      if (live.size > 0 && looks.isForCancels(now)) await abortCancelled(deps, live);
      const free = Math.min(limit, deps.concurrency - live.size);
      wanted.leave((kind) => free <= 0 || isFull(kind));
      const isAnyNamed = wanted.isAny();
      if (stopping || free <= 0 || !looks.isDue(now, isAnyNamed) || !deps.processes.isHeld()) return nothing;
      const isLook = looks.begin(now, isAnyNamed);
      const { taken, more, started } = await startUpTo(free, now, isLook);
      if (isLook && more) looks.again();
      // Runs that end without an attempt let others follow, and may be told of.
      if (taken > started.length) for (const loop of ['scheduler', 'deliverer'] as const) bell.ring(loop);
      return { taken, more: (more || wanted.isAny()) && live.size < deps.concurrency };
    },
    nextAt: async (now) => {
      if (live.size >= deps.concurrency) return null;
      return looks.nextAt(now, () => store.nextRunAt(now, claimableOf(deps)));
    },
    take: ({ id, kind, runs }) => {
      const taken = wanted.want(runs, kind, id);
      bell.ring('runner');
      return taken;
    },
    full: () => fullKinds(deps, [...live.values()], wanted),
    refuse: () => wanted.refuse(),
    look: (all) => looks.now(all),
    worksOn: (runId) => inHand.has(runId),
    idle: async () => {
      while (live.size > 0) await allDone();
      await ends.idle();
    },
    stop: async (graceMs) => {
      stopping = true;
      const callOff = timer.after(graceMs, () => {
        for (const one of live.values()) abort(one, 'stopping');
      });
      await allDone();
      callOff();
      // When the store is away the ends cannot be written; the next process finds these runs and settles them.
      await waitAtMost(timer, graceMs, ends.idle());
    },
  };
}

async function abortCancelled({ store, bootId }: RunnerDeps, live: ReadonlyMap<string, Live>): Promise<void> {
  for (const id of await store.cancelRequested(bootId)) abort(live.get(id), 'cancelled');
}

/** Kinds of which this process takes no more now: what runs and what it was named already have the places. */
function fullKinds(deps: RunnerDeps, live: readonly Live[], wanted: ReturnType<typeof createWanted>): string[] {
  const counts = countOf(live.map(({ kind }) => kind));
  for (const [kind, count] of wanted.counts()) counts.set(kind, (counts.get(kind) ?? 0) + count);
  const isAllFull = live.length + wanted.size() >= deps.concurrency || !deps.processes.isHeld();
  return deps.actions.kinds.filter((kind) => isAllFull || isKindFull(deps, kind, counts.get(kind)));
}

function kindsOf(live: ReadonlyMap<string, Live>): string[] {
  return [...live.values()].map(({ kind }) => kind);
}

function countOf(kinds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function isKindFull({ concurrency, takes }: RunnerDeps, kind: string, count = 0): boolean {
  const share = kind === 'message' ? Infinity : Math.ceil(concurrency * shareMax);
  return count >= (takes.limits.get(kind) ?? share);
}

function claimableOf({ actions, takes, processes }: RunnerDeps): Claimable {
  const never = actions.kinds.filter((kind) => !takesKind(takes, kind));
  return { own: processes.isAlone ? null : processes.self.kinds, never };
}

/** Runs that were started, and whether one had no place. */
type SomeStarted = Started & { readonly left: (id: string) => boolean };

/** Starts runs that are ready, as far as their kinds have places; the others stay as they are. */
async function startSome(deps: RunnerDeps, at: StartBatch, live: readonly string[]): Promise<SomeStarted> {
  const full = [...countOf(live)].filter(([kind, count]) => isKindFull(deps, kind, count)).map(([kind]) => kind);
  const without = [...full, ...deps.pausedKinds()];
  const left = new Set<string>();
  const made = await deps.store.startRuns({ ...at, without, claimable: claimableOf(deps) }, deps.bootId, (runs) => {
    const counts = countOf(live);
    left.clear();
    return runs.flatMap((run) => {
      // A run that a dead process left behind had its place.
      if ('unreadable' in run || run.status === 'running') return startPlan(deps, run, at.now);
      const { kind } = run.input.action;
      if (isKindFull(deps, kind, counts.get(kind))) {
        left.add(run.id);
        return [];
      }
      const plan = startPlan(deps, run, at.now);
      if (plan.does === 'start') counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return plan;
    });
  });
  return { ...made, left: (id) => left.has(id) };
}

function tellStarted(
  { log, bootId: worker }: RunnerDeps,
  { run: { id: runId, traceId, taskId }, attempt: number, jobId = null }: StartedRun,
): void {
  const job = jobId === null ? {} : { job_id: jobId };
  tellTraced(log, 'run_started', { runId, traceId, ...askedBy(taskId), attempt: number, worker, ...job });
}

function tellEnded(log: Log, { run, attempt: number, status, durationMs: ms }: RunEnd): void {
  const { id: runId, traceId, taskId } = run;
  tellTraced(log, 'run_ended', { runId, traceId, ...askedBy(taskId), attempt: number, status, ms });
}

function askedBy(taskId: string | null) {
  return { task_id: taskId, ...(taskId === null ? {} : { source: taskSourceOf(taskId) }) };
}

async function finish({ store, bell, log, clock }: RunnerDeps, batch: readonly RunEnd[]): Promise<void> {
  const now = clock.now();
  const { written, autoPaused } = await store.finishRuns(batch.map((end) => inTimeOf(now, end)));
  if (written < batch.length) log.warn('late_results_dropped', { count: batch.length - written });
  for (const end of batch) tellEnded(log, end);
  for (const taskId of autoPaused) log.warn('task_auto_paused', { task_id: taskId });
  bell.ring('deliverer');
  bell.ring('scheduler');
  bell.ring('runner');
  if (batch.some(({ ack }) => ack !== undefined)) bell.ring('acks');
}

/** While an end waited to be written the clock may have been set back: its results, or its next try, must not wait for the old hour. */
function inTimeOf(now: number, end: RunEnd): RunEnd {
  const aheadMs = end.finishedAt - now;
  if (aheadMs <= 0) return end;
  return { ...end, finishedAt: now, readyAt: end.readyAt === null ? null : end.readyAt - aheadMs };
}

function abort(one: Live | undefined, reason: AbortReason): void {
  one?.controller.abort(reason);
}

/** Null when the process stops under the attempt: it stays open, and the next process ends it as interrupted. */
async function attempt(deps: RunnerDeps, started: StartedRun, controller: AbortController): Promise<RunEnd | null> {
  const { clock, stopwatch, timer } = deps;
  tellStarted(deps, started);
  const startedAt = clock.now();
  const from = stopwatch.elapsed();
  const callOff = timer.after(started.run.policy.timeoutMs, () => controller.abort('timedOut'));
  const result = await race(deps, started, { controller, startedAt });
  callOff();
  if (result === 'stopping') return null;
  const durationMs = Math.round(stopwatch.elapsed() - from);
  const files = await filesKept(deps, started, result, controller.signal);
  if (files === null) return null;
  return endOf(deps, started, { result, files, startedAt, finishedAt: clock.now(), durationMs });
}

/** Files count neither against the timeout of the attempt nor as its time: what it was to do is done. */
async function filesKept(
  deps: RunnerDeps,
  { run }: StartedRun,
  result: Outcome | AbortReason,
  signal: AbortSignal,
): Promise<readonly (FileRef | FileLeft)[] | null> {
  if (typeof result === 'string' || result.is !== 'done') return [];
  const files = filesOf(deps.actions.get(run.input.action.kind), result);
  return files.length === 0 ? [] : keepFiles(deps, run, files, signal);
}

/** An action that ignores its signal is left behind: its attempt ends on time, and what it says later is not heard. */
async function race(
  deps: RunnerDeps,
  { run, attempt: number, fence, placeAt }: StartedRun,
  { controller, startedAt }: { readonly controller: AbortController; readonly startedAt: number },
): Promise<Outcome | AbortReason> {
  const { signal } = controller;
  const aborted = new Promise<AbortReason>((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason as AbortReason));
  });
  const { id: runId, taskId, chatId, ownerId, input, runNumber } = run;
  const whose = { runId, taskId, chatId, ownerId, runNumber, scopes: scopesOf(deps.actions, run) };
  const unconfirmed = run.grant?.unconfirmed ?? [];
  const progress = createProgress(deps, { runId, fence });
  const made = { attempt: number, fence, placeAt, startedAt, outgoingKey: keyOf(run), signal, progress: progress.tell };
  const job = { input, ...whose, unconfirmed, ...made };
  const worked = (async (): Promise<Outcome> => {
    try {
      return await deps.actions.require(run.input.action.kind).run(job);
    } catch (error) {
      deps.log.error('action_threw', { run_id: run.id, error: String(error) });
      return { is: 'retry', error: errorText(error), usage: 'unknown' };
    }
  })();
  const first = await Promise.race([aborted, worked]);
  progress.end();
  return signal.aborted ? (signal.reason as AbortReason) : first;
}

/** Those of the grant, with what was allowed when the run was admitted; what stands for itself, such as a test, has what a task would have. */
function scopesOf(actions: Actions, { input, grant, createdAt }: StartableRun): readonly string[] {
  const needed = actions.scopesOf(input.action);
  if (grant === null) return needed;
  const admitted = grant.createdAt <= createdAt ? needed.filter((scope) => !scope.endsWith('*')) : [];
  return [...new Set([...grant.scopes, ...admitted])];
}

/** One key for all attempts of a slot; work that no slot asked for is told apart by its run. */
function keyOf({ id, taskId, input }: StartableRun): string {
  if (input.again !== undefined) return input.again.outgoingKey;
  return taskId === null || input.slotAt === null ? `run:${id}` : outgoingKey(taskId, input.slotAt);
}
