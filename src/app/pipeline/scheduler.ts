import { openFrom } from '../../domain/due.ts';
import { AppError } from '../../domain/errors.ts';
import { actionScope, grantFault } from '../../domain/grant.ts';
import { slotsPerBatchMax, clockStepMs } from '../../domain/limits.ts';
import { isByHand } from '../../domain/occurrence.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import type { Bell, Ids, Log, Clock, Stopwatch } from '../ports/outside.ts';
import type {
  Admission,
  Counts,
  DueTask,
  Quarantine,
  Replan,
  Resume,
  SlotStore,
  Unreadable,
  WaitingBatch,
  WaitingOccurrence,
  Batch,
  Claim,
} from '../ports/pipeline.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import { claimOf, type ClaimMaker } from './claims.ts';
import { type RunService, policyFor, requestOf } from './run-requests.ts';

/**
 * Turns due slots into occurrences and admits those that wait. It owns timing only: it never sees an action, and what it
 * leaves behind are rows. `step` is a function of now and a limit; who calls it, and when, is not its business.
 */
export interface Scheduler {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  /** Plans every active task again, for when the rules of time changed. Answers how many next slots moved. */
  replan(now: number, limit: number): Promise<number>;
}

interface Needs {
  readonly store: SlotStore;
  readonly runs: Pick<RunService, 'prepare'>;
  readonly ids: Ids;
  readonly log: Log;
  readonly bell: Bell;
}

export function createScheduler(needs: Needs): Scheduler {
  const { store, bell } = needs;
  return {
    step: async (now, limit) => {
      const at = { now, limit };
      let shows = false;
      const noted = <T extends Decision>(decided: T[]): T[] => {
        shows ||= decided.some(changesCard);
        return decided;
      };
      // First of all, because the slots since the end of a pause are due like any others.
      const resumed = await endPauses(needs, { ...at, waits: false });
      const claimed = await oneByOneOnFault(needs, at, (batch, watch) =>
        store.claimDue(batch, (due) => noted(watch(due, (task) => task.id) ?? planWithin(needs, due, now))),
      );
      const expired = await store.expireQuestions(at);
      const admitted = await oneByOneOnFault(needs, at, (batch, watch) =>
        store.admitWaiting(batch, (waiting) =>
          noted(watch(waiting, ({ task }) => task.id) ?? waiting.map((one) => admissionOf(needs, one, now))),
        ),
      );
      const taken = resumed.taken + claimed.taken + expired.taken + admitted.taken;
      if (claimed.taken + admitted.taken > 0) bell.ring('runner');
      if (resumed.taken > 0 || shows) bell.ring('deliverer');
      return { taken, more: resumed.more || claimed.more || expired.more || admitted.more };
    },
    nextAt: (now) => store.nextDueAt(now),
    replan: (now, limit) => replanAll(needs, now, limit),
  };
}

type Decision = Claim | Admission | Quarantine;

/** A task that is completed or paused has its card drawn anew; nothing else that is decided here is shown. */
function changesCard(decision: Decision): boolean {
  if ('quarantine' in decision) return true;
  return 'nextAt' in decision ? decision.nextAt === null : 'completes' in decision && decision.completes;
}

/**
 * Lets tasks go on whose pause has come to its end. Whoever is about to change a task calls it as well, and waits for what
 * others hold: an end that nobody has noticed yet has come all the same, and the slots since then must not be lost.
 */
export function endPauses(
  needs: { readonly store: Pick<SlotStore, 'resumeDue'>; readonly log: Log },
  at: WaitingBatch,
): Promise<Counts> {
  return oneByOneOnFault(needs, at, (batch, watch) =>
    needs.store.resumeDue(
      { ...batch, waits: at.waits },
      (due) => watch(due, (task) => task.id) ?? due.map((task) => isolate(needs, task, resumeOf)),
    ),
  );
}

/** Sees what a plan is about to decide about, and may decide in its place. */
type Watch = <T>(tasks: readonly T[], idOf: (task: T) => string) => Quarantine[] | null;

/**
 * What the database refuses for a reason of its own would be refused again in every step, and everybody would wait behind
 * it. So the batch is taken up task by task, and the one that was refused alone is marked like a row that cannot be read.
 */
async function oneByOneOnFault(
  { log }: Pick<Needs, 'log'>,
  at: Batch,
  step: (batch: Batch, watch: Watch) => Promise<Counts>,
): Promise<Counts> {
  try {
    return await step(at, () => null);
  } catch (error) {
    if (!isFault(error)) throw error;
    log.error('batch_refused', { error: error.message });
  }
  let taken = 0;
  for (let left = at.limit; left > 0; left -= 1) {
    const counts = await stepAlone(log, { ...at, limit: 1 }, step);
    if (counts.taken === 0) break;
    taken += counts.taken;
  }
  return { taken, more: taken > 0 };
}

async function stepAlone(log: Log, at: Batch, step: (batch: Batch, watch: Watch) => Promise<Counts>): Promise<Counts> {
  let refused: string | null = null;
  try {
    return await step(at, ([task], idOf) => {
      refused = task === undefined ? null : idOf(task);
      return null;
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    const quarantine = `unreadable: ${error.message}`;
    // Another task may stand first by now, and it is not to blame.
    return step(at, (tasks, idOf) =>
      tasks
        .filter((task) => idOf(task) === refused)
        .map((task) => {
          log.error('task_quarantined', { task_id: idOf(task), reason: error.message });
          return { taskId: idOf(task), quarantine };
        }),
    );
  }
}

function isFault(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'internal';
}

/** Plans tasks until the slots looked at are enough for one step; the others are as due in the next one. */
function planWithin(needs: Needs, due: readonly (DueTask | Unreadable)[], now: number): (Claim | Quarantine)[] {
  const decided: (Claim | Quarantine)[] = [];
  let cost = 0;
  for (const task of due) {
    const decision = isolate(needs, task, (one) => claimOf(needs, one, now));
    decided.push(decision);
    cost += costOf(decision);
    if (cost >= slotsPerBatchMax) break;
  }
  return decided;
}

/** A row costs some ten times as much as a slot that is only counted. */
function costOf(decision: Claim | Quarantine): number {
  if ('quarantine' in decision) return 10;
  return Math.max(0, 10 * (decision.occurrences.length - 1)) + (decision.gap?.count ?? 0);
}

/**
 * One bad row never stops the others. Whatever its planning throws is the row's fault: plans are pure, so nothing that
 * another try could mend can happen in them.
 */
function isolate<T>(
  { log }: Pick<Needs, 'log'>,
  task: DueTask | Unreadable,
  plan: (task: DueTask) => T,
): T | Quarantine {
  try {
    if (!('unreadable' in task)) return plan(task);
    log.error('task_quarantined', { task_id: task.id, reason: task.unreadable });
    return { taskId: task.id, quarantine: `unreadable: ${task.unreadable}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.error('task_quarantined', { task_id: task.id, reason });
    return { taskId: task.id, quarantine: `unreadable: ${reason}` };
  }
}

function admissionOf(needs: Needs & ClaimMaker, waiting: WaitingOccurrence, now: number): Admission | Quarantine {
  return isolate(needs, waiting.task, (task): Admission => {
    const occurrence = { occurrenceId: waiting.id, taskId: task.id };
    const fault = grantFault(task.grant, actionScope(task.action.kind), now);
    if (fault !== null) return { ...occurrence, skip: fault };
    const policy = policyFor(task);
    const bounded = !isByHand(waiting.source);
    if (bounded && policy.maxRuns !== null && task.boundedRuns >= policy.maxRuns)
      return { ...occurrence, skip: 'max_runs' };
    const request = requestOf(task, policy, {
      occurrenceId: waiting.id,
      slotAt: waiting.slotAt,
      late: waiting.source === 'catch_up',
      priority: policy.priority,
      byHand: !bounded,
    });
    const completes = bounded && policy.maxRuns !== null && task.boundedRuns + 1 >= policy.maxRuns;
    return { ...occurrence, run: needs.runs.prepare(request, now), bounded, completes };
  });
}

/** The first slot from the end of the pause on: what fell into the pause is never made up for. */
function resumeOf(task: DueTask): Resume {
  const policy = policyFor(task);
  const { startAt, until, maxRuns } = policy;
  const spent = maxRuns !== null && task.boundedRuns >= maxRuns;
  // A delay after the last finish has no slot that could fall on the end; it begins anew there.
  const isDelay = task.schedule.kind === 'interval' && task.schedule.from === 'completion';
  const first = nextSlot(task.schedule, isDelay ? task.nextAt : task.nextAt - 1, { startAt, until });
  return { taskId: task.id, resumeAt: task.nextAt, nextAt: spent ? null : openFrom({ ...task, policy }, first) };
}

async function replanAll(needs: Needs, now: number, limit: number): Promise<number> {
  let changed = 0;
  let after: string | null = null;
  for (;;) {
    const page = await needs.store.replanTasks(after, { now, limit }, (due) =>
      due.map((task) => isolate(needs, task, (one) => replanOf(one, now))).filter(isMove),
    );
    changed += page.changed;
    if (page.seen < limit || page.last === null) return changed;
    after = page.last;
  }
}

function isMove(decision: Replan | Quarantine): boolean {
  return 'quarantine' in decision || decision.nextAt !== decision.expectNextAt;
}

/** A slot that is due already stays: it was promised under the old rules and is about to run. */
function replanOf(task: DueTask, now: number): Replan {
  const policy = policyFor(task);
  const bounds = { startAt: policy.startAt, until: policy.until };
  const follows = task.schedule.kind === 'interval' && task.schedule.from === 'completion';
  const keep = task.nextAt <= now || task.schedule.kind === 'once' || follows;
  return {
    taskId: task.id,
    expectNextAt: task.nextAt,
    nextAt: keep ? task.nextAt : openFrom({ ...task, policy }, nextSlot(task.schedule, now, bounds)),
  };
}

/**
 * Notices a wall clock that was set back, by comparing it with the monotonic one. Slots need nothing: the clock comes to
 * them again. But pauses that were computed from "now" would grow by the step, so they are moved along with it.
 */
interface ClockWatch {
  check(): Promise<void>;
}

interface TimeChangesNeeds {
  readonly store: Pick<UpkeepStore, 'noteSetBack' | 'shiftClock'>;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
}

export function createClockWatch({ store, clock, stopwatch, log }: TimeChangesNeeds): ClockWatch {
  let wall = clock.now();
  let elapsed = stopwatch.elapsed();
  return {
    check: async () => {
      const nowWall = clock.now();
      const nowElapsed = stopwatch.elapsed();
      const stepMs = Math.round(nowWall - wall - (nowElapsed - elapsed));
      if (Math.abs(stepMs) > clockStepMs) log.warn('clock_was_set', { step_ms: stepMs });
      if (stepMs < -clockStepMs) {
        // At which moment since the last look it was set, nobody knows.
        const sinceMs = Math.ceil(nowElapsed - elapsed);
        await store.noteSetBack({ from: nowWall - sinceMs, to: wall + sinceMs });
        await store.shiftClock(stepMs);
      }
      wall = nowWall;
      elapsed = nowElapsed;
    },
  };
}

interface ZoneRulesNeeds {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly scheduler: Pick<Scheduler, 'replan'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The version of the rules of time that this process calculates with. */
  readonly version: string;
  readonly batchMax: number;
}

const note = 'tz_version';

/**
 * Governments change the rules of time. When the process brings other rules than the ones the next slots were computed
 * with, they are computed again before anything runs.
 */
export async function followZoneRules({
  store,
  scheduler,
  clock,
  log,
  version,
  batchMax,
}: ZoneRulesNeeds): Promise<void> {
  const known = await store.readNote(note);
  if (known === version) return;
  if (known !== null) {
    const moved = await scheduler.replan(clock.now(), batchMax);
    log.warn('zone_rules_changed', { from: known, to: version, moved });
  }
  await store.writeNote(note, version, clock.now());
}
