import { conclude, type AttemptOutcome } from '../domain/conclusion.ts';
import { outboxRanks, splitText } from '../domain/delivery.ts';
import { actionScope, grantFault } from '../domain/grant.ts';
import * as limits from '../domain/limits.ts';
import { outgoingKey } from '../domain/occurrence.ts';
import { policyOf, type Policy } from '../domain/policy.ts';
import type { RunInput } from '../domain/run.ts';
import { nextSlot } from '../domain/schedule/schedule.ts';
import type { Outcome } from './actions/action.ts';
import type { Actions } from './actions/registry.ts';
import { createCollector } from './collector.ts';
import type { Bell, Clock, Ids, Log, Stopwatch, Timer } from './ports.ts';
import type {
  Counts,
  NewDelivery,
  RunEnd,
  RunStore,
  StartableRun,
  StartedRun,
  StartPlan,
  Unreadable,
} from './store.ts';

/**
 * Claims runs, executes their actions, and writes how they ended. It never waits for a chat: what is to be shown becomes
 * deliveries, in the transaction that ends the run.
 */
export interface Runner {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  /** Resolves when no attempt is running and every end is written. */
  idle(): Promise<void>;
  /** Takes nothing more, waits for what runs, and aborts it when the time is up. */
  stop(graceMs: number): Promise<void>;
}

export interface RunnerNeeds {
  readonly store: RunStore;
  readonly actions: Actions;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly log: Log;
  readonly bell: Bell;
  readonly bootId: string;
  /** Attempts that may run at the same time. */
  readonly concurrency: number;
  /** Ends that are written in one commit. */
  readonly batchMax: number;
}

type AbortReason = 'timedOut' | 'cancelled' | 'stopping';

interface Live {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

export function createRunner(needs: RunnerNeeds): Runner {
  const { store, bell, log, timer } = needs;
  const live = new Map<string, Live>();
  let stopping = false;

  const ends = createCollector<RunEnd>(needs, needs.batchMax, async (batch) => {
    const { written, autoPaused } = await store.finishRuns(batch);
    if (written < batch.length) log.warn('late_results_dropped', { count: batch.length - written });
    for (const taskId of autoPaused) log.warn('task_auto_paused', { task_id: taskId });
    bell.ring('deliverer');
    bell.ring('scheduler');
    bell.ring('runner');
  });

  const execute = (started: StartedRun) => {
    const controller = new AbortController();
    const done = attempt(needs, started, controller).then((end) => {
      live.delete(started.run.id);
      if (end !== null) ends.add(end);
    });
    live.set(started.run.id, { controller, done });
  };

  return {
    step: async (now, limit) => {
      if (live.size > 0) {
        for (const id of await store.cancelRequested(needs.bootId)) abort(live.get(id), 'cancelled');
      }
      const free = Math.min(limit, needs.concurrency - live.size);
      if (stopping || free <= 0) return { taken: 0, more: false };
      const { taken, started } = await store.startRuns({ now, limit: free }, needs.bootId, (runs) =>
        runs.map((run) => startPlan(needs, run, now)),
      );
      for (const one of started) execute(one);
      if (taken > started.length) bell.ring('scheduler');
      return { taken, more: taken === free && live.size < needs.concurrency };
    },
    nextAt: (now) => (live.size >= needs.concurrency ? Promise.resolve(null) : store.nextRunAt(needs.bootId, now)),
    idle: async () => {
      while (live.size > 0) await Promise.all([...live.values()].map(({ done }) => done));
      await ends.idle();
    },
    stop: async (graceMs) => {
      stopping = true;
      const callOff = timer.after(graceMs, () => {
        for (const one of live.values()) abort(one, 'stopping');
      });
      await Promise.all([...live.values()].map(({ done }) => done));
      callOff();
      await ends.idle();
    },
  };
}

function abort(one: Live | undefined, reason: AbortReason): void {
  one?.controller.abort(reason);
}

/** Whether a claimed run may start, or how it ends without an attempt. */
function startPlan({ actions, log }: RunnerNeeds, run: StartableRun | Unreadable, now: number): StartPlan {
  if ('unreadable' in run) {
    log.error('run_unreadable', { run_id: run.id, reason: run.unreadable });
    return ended(run.id, { status: 'failed', occurrence: 'failed', error: `unreadable: ${run.unreadable}` });
  }
  const interrupted = run.status === 'running';
  const refused = refusal(actions, run, now);
  if (refused !== null) return { ...ended(run.id, refused), interrupted };
  return { runId: run.id, does: 'start', interrupted };
}

interface Refusal {
  readonly status: 'failed' | 'cancelled';
  readonly occurrence: 'failed' | 'cancelled' | 'skipped';
  readonly reason?: Extract<StartPlan, { does: 'end' }>['reason'];
  readonly error: string;
}

function ended(runId: string, { reason = null, ...refusal }: Refusal): Extract<StartPlan, { does: 'end' }> {
  return { runId, does: 'end', interrupted: false, reason, ...refusal };
}

function refusal(actions: Actions, run: StartableRun, now: number): Refusal | null {
  if (run.cancelRequested)
    return { status: 'cancelled', occurrence: 'cancelled', reason: 'cancelled', error: 'cancelled' };
  if (run.taskState === 'deleted') {
    return { status: 'cancelled', occurrence: 'cancelled', reason: 'deleted', error: 'the task was deleted' };
  }
  const action = actions.get(run.input.action.kind);
  if (action === undefined) {
    const error = `there is no action "${run.input.action.kind}"`;
    return { status: 'failed', occurrence: 'failed', error };
  }
  const fault = run.taskId === null ? null : grantFault(run.grant, actionScope(action.kind), now);
  if (fault !== null) return { status: 'cancelled', occurrence: 'skipped', reason: fault, error: fault };
  return run.status === 'running' ? afterCrash(action.repeatable(run.input.action), run) : null;
}

/** An attempt lost in a crash costs no retry, but it is repeated only if that does no harm, and not for ever. */
function afterCrash(repeatable: boolean, run: StartableRun): Refusal | null {
  if (!repeatable) return { status: 'failed', occurrence: 'failed', error: 'interrupted, effects unknown' };
  if (run.interruptions + 1 < limits.interruptionsMax) return null;
  return { status: 'failed', occurrence: 'failed', error: `interrupted ${limits.interruptionsMax} times` };
}

/** Null when the process stops under the attempt: it stays open, and the next process ends it as interrupted. */
async function attempt(needs: RunnerNeeds, started: StartedRun, controller: AbortController): Promise<RunEnd | null> {
  const { clock, stopwatch, timer } = needs;
  const startedAt = clock.now();
  const from = stopwatch.elapsed();
  const callOff = timer.after(policyFor(started.run.input).timeoutMs, () => controller.abort('timedOut'));
  const result = await race(needs, started, { controller, startedAt });
  callOff();
  if (result === 'stopping') return null;
  const durationMs = Math.round(stopwatch.elapsed() - from);
  return endOf(needs, started, { result, startedAt, finishedAt: clock.now(), durationMs });
}

interface Racing {
  readonly controller: AbortController;
  readonly startedAt: number;
}

/** An action that ignores its signal is left behind: its attempt ends on time, and what it says later is not heard. */
async function race(
  needs: RunnerNeeds,
  { run, attempt: number }: StartedRun,
  { controller, startedAt }: Racing,
): Promise<Outcome | AbortReason> {
  const { signal } = controller;
  const aborted = new Promise<AbortReason>((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason as AbortReason));
  });
  const job = { input: run.input, runId: run.id, attempt: number, startedAt, outgoingKey: keyOf(run), signal };
  const worked = (async (): Promise<Outcome> => {
    try {
      return await needs.actions.require(run.input.action.kind).run(job);
    } catch (error) {
      needs.log.error('action_threw', { run_id: run.id, error: String(error) });
      return { is: 'retry', error: error instanceof Error ? error.message : String(error) };
    }
  })();
  const first = await Promise.race([aborted, worked]);
  return signal.aborted ? (signal.reason as AbortReason) : first;
}

/** The same for every attempt of a slot; work that no slot asked for is told apart by its run. */
function keyOf({ id, taskId, input }: StartableRun): string {
  return taskId === null || input.slotAt === null ? `run:${id}` : outgoingKey(taskId, input.slotAt);
}

function policyFor({ policies, action }: RunInput): Policy {
  // The density of the schedule matters only for slots that were missed, and this run is past that.
  return policyOf(policies ?? {}, { actionKind: action.kind, minGapMs: null });
}

interface Ended {
  readonly result: Outcome | 'timedOut' | 'cancelled';
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly durationMs: number;
}

function endOf(needs: RunnerNeeds, { run, attempt: number, fence }: StartedRun, ended: Ended): RunEnd {
  const { input } = run;
  const { result, startedAt, finishedAt, durationMs } = ended;
  const outcome: AttemptOutcome = typeof result === 'string' ? { is: result } : result;
  const { retry, timeoutMs } = policyFor(input);
  const conclusion = conclude(outcome, {
    used: number - run.interruptions,
    retry,
    repeatable: needs.actions.get(input.action.kind)?.repeatable(input.action) ?? false,
    timeoutMs,
    now: finishedAt,
    chance: needs.ids.chance(),
  });
  return {
    run,
    attempt: number,
    fence,
    attemptStatus: conclusion.attempt,
    status: conclusion.run,
    readyAt: conclusion.readyAt,
    startedAt,
    finishedAt,
    durationMs,
    httpStatus: typeof result === 'string' ? null : (result.httpStatus ?? null),
    error: conclusion.error?.slice(0, limits.errorMessageLengthMax) ?? null,
    ...broughtBack(needs, run, ended),
    nextAt: conclusion.run === 'backoff' ? null : followingSlot(run, finishedAt),
  };
}

type Brought = Pick<RunEnd, 'output' | 'deliveries' | 'context' | 'usage'>;

/** Only work that was done brings something back. */
function broughtBack({ ids, log }: RunnerNeeds, run: StartableRun, { result, finishedAt }: Ended): Brought {
  if (typeof result === 'string' || result.is !== 'done')
    return { output: null, deliveries: [], context: null, usage: [] };
  return {
    output: outputOf(run.input.action.kind, result),
    deliveries: deliveriesOf(ids, run, { text: result.text, finishedAt }),
    context: result.context === undefined ? null : smallEnough(log, run, result.context),
    usage: (result.usage ?? []).map(({ kind, quantity }) => ({ kind, quantity: Math.round(quantity) })),
  };
}

type Done = Extract<Outcome, { is: 'done' }>;

/** One envelope for what every kind of action brings back. */
function outputOf(kind: string, { text, data }: Done) {
  return data === undefined ? { type: kind, text } : { type: kind, text, data };
}

function deliveriesOf(
  ids: Ids,
  { input }: StartableRun,
  { text, finishedAt }: { text: string; finishedAt: number },
): NewDelivery[] {
  if (!input.delivers) return [];
  const { unknown, maxAgeMs } = policyFor(input);
  return splitText(text).map((part, index) => ({
    id: ids.next(),
    kind: 'result',
    rank: outboxRanks.result,
    part: index + 1,
    content: { text: part },
    unknown,
    expiresAt: maxAgeMs === null ? null : (input.slotAt ?? finishedAt) + maxAgeMs,
  }));
}

/** The run was done, so it succeeds; a context that has outgrown its limit stays as it was, and the log says so. */
function smallEnough(log: Log, run: StartableRun, context: Readonly<Record<string, unknown>>) {
  if (JSON.stringify(context).length <= limits.contextBytesMax) return context;
  log.warn('context_too_large', { run_id: run.id, task_id: run.taskId });
  return null;
}

function followingSlot({ input }: StartableRun, finishedAt: number): number | null {
  if (input.follows === undefined) return null;
  return nextSlot(input.follows.schedule, finishedAt, { until: input.follows.until });
}
