import { isSpent, openFrom } from '../../domain/due.ts';
import { grantFault } from '../../domain/grant.ts';
import { refreshEveryMs, slotsPerBatchMax } from '../../domain/limits.ts';
import { isPlanned } from '../../domain/occurrence.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import { isDelay } from '../../domain/schedule/slots.ts';
import type { Chore } from '../housekeeping/chore.ts';
import type { World } from '../ports/outside.ts';
import type {
  Admission,
  Counts,
  DueTask,
  Quarantine,
  Refresh,
  Replan,
  Resume,
  SlotStore,
  Unreadable,
  WaitingOccurrence,
  Batch,
  SlotPlan,
} from '../ports/pipeline.ts';
import type { Processes } from '../ports/processes.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import { isolate, takeUp } from './quarantine.ts';
import { policyFor, requestOf } from './run-requests.ts';
import { isSlotOf, planSlots, slotFromNow, type SlotPlanDeps } from './slot-plans.ts';

/**
 * Turns due slots into occurrences and admits those that wait. It owns timing only: it never sees an action, and what it
 * leaves behind are rows. `step` is a function of now and a limit; who calls it, and when, is not its business.
 */
export interface Scheduler {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  /** Gives one run to each task whose last success is older than its policy `refresh_after` allows. */
  refresh(now: number, limit: number): Promise<Counts>;
  /** When it last looked for such tasks; null when it has not yet. */
  readonly refreshedAt: () => number | null;
  /** Plans every active task again, for when the rules of time changed. Answers how many next slots moved. */
  replan(now: number, limit: number): Promise<number>;
}

interface SchedulerDeps extends SlotPlanDeps, Pick<World, 'log' | 'bell'> {
  readonly store: SlotStore;
  readonly processes: Pick<Processes, 'isAlone'>;
}

/** Batches that are claimed side by side where so much is due, and the database is shared: while one waits for the disk the others are planned. */
const claimsAtOnce = 3;

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { store, bell } = deps;
  const { isAlone } = deps.processes;
  let refreshedAt: number | null = null;
  let isMoreDue = false;
  return {
    step: async (now, limit) => {
      const at = { now, limit };
      // First of all, because the slots since the end of a pause are due like any others.
      const resumed = await endPauses(deps, at);
      const claimed = await claimBatches(deps, at, isMoreDue && !isAlone ? claimsAtOnce : 1);
      const expired = await store.expireQuestions(at);
      const admitted = await admitWaiting(deps, at);
      isMoreDue = claimed.more;
      if (claimed.taken + admitted.taken > 0) bell.ring('runner');
      if (resumed.taken > 0 || [...claimed.decided, ...admitted.decided].some(changesCard)) bell.ring('deliverer');
      const all = [resumed, claimed, expired, admitted];
      return { taken: all.reduce((sum, { taken }) => sum + taken, 0), more: all.some(({ more }) => more) };
    },
    nextAt: (now) => store.nextDueAt(now),
    refresh: async (now, limit) => {
      const made = await refreshStale(deps, { now, limit });
      if (made.taken > 0) bell.ring('runner');
      refreshedAt = now;
      return made;
    },
    refreshedAt: () => refreshedAt,
    replan: (now, limit) => replanAll(deps, now, limit),
  };
}

/** A task that is completed or paused has its card drawn anew; nothing else that is decided here is shown. */
function changesCard(decision: SlotPlan | Admission | Quarantine): boolean {
  if ('quarantine' in decision) return true;
  return 'nextAt' in decision && decision.nextAt === null;
}

const idOfTask = ({ id }: DueTask | Unreadable) => id;

/** Lets tasks go on whose pause has come to its end. */
function endPauses(deps: SchedulerDeps, at: Batch) {
  return takeUp<DueTask | Unreadable, Resume>(deps, at, {
    take: (batch, plan) => deps.store.resumeDue(batch, plan),
    plan: (due) => due.map((task) => endOfPause(deps, task)),
    idOf: idOfTask,
  });
}

/** Turns slots that are due into occurrences and runs. */
function claimSlots(deps: SchedulerDeps, at: Batch) {
  return takeUp<DueTask | Unreadable, SlotPlan>(deps, at, {
    take: (batch, plan) => deps.store.claimDue(batch, plan),
    plan: (due) => planWithin(deps, due, at.now),
    idOf: idOfTask,
  });
}

/** Batches side by side, of which none takes what another one looks at. All of them end, also where one has failed. */
async function claimBatches(deps: SchedulerDeps, at: Batch, batches: number) {
  const claims = Array.from({ length: batches }, () => claimSlots(deps, at));
  await Promise.allSettled(claims);
  const claimed = await Promise.all(claims);
  return {
    taken: claimed.reduce((sum, { taken }) => sum + taken, 0),
    more: claimed.some(({ more }) => more),
    decided: claimed.flatMap(({ decided }) => decided),
  };
}

/** Admits what waits for the run before it, for a snooze to end or for somebody's answer. */
function admitWaiting(deps: SchedulerDeps, at: Batch) {
  return takeUp<WaitingOccurrence, Admission>(deps, at, {
    take: (batch, plan) => deps.store.admitWaiting(batch, plan),
    plan: (waiting) => waiting.map((one) => admissionOf(deps, one, at.now)),
    idOf: ({ task }) => task.id,
  });
}

/** Plans tasks until the slots looked at are enough for one step; the others are as due in the next one. */
function planWithin(
  deps: SchedulerDeps,
  due: readonly (DueTask | Unreadable)[],
  now: number,
): (SlotPlan | Quarantine)[] {
  const decided: (SlotPlan | Quarantine)[] = [];
  let cost = 0;
  for (const task of due) {
    const decision = isolate(deps, task, (one) => planSlots(deps, one, now));
    decided.push(decision);
    cost += costOf(decision);
    if (cost >= slotsPerBatchMax) break;
  }
  return decided;
}

/** A row costs some ten times as much as a slot that is only counted. */
function costOf(decision: SlotPlan | Quarantine): number {
  if ('quarantine' in decision) return 10;
  return Math.max(0, 10 * (decision.occurrences.length - 1)) + (decision.gap?.count ?? 0);
}

function admissionOf(deps: SchedulerDeps, waiting: WaitingOccurrence, now: number): Admission | Quarantine {
  return isolate(deps, waiting.task, (task): Admission => {
    const occurrence = { occurrenceId: waiting.id, taskId: task.id };
    if (waiting.isHeld) return { ...occurrence, skip: 'paused' };
    const fault = grantFault(task.grant, deps.scopesOf(task.action), now);
    if (fault !== null) return { ...occurrence, skip: fault };
    const policy = policyFor(task);
    if (isPlanned(waiting.source) && isSpent(policy, task.boundedRuns + task.held))
      return { ...occurrence, skip: 'max_runs' };
    const request = requestOf(task, policy, {
      occurrenceId: waiting.id,
      slotAt: waiting.slotAt,
      source: waiting.source,
    });
    return { ...occurrence, run: deps.runs.prepare(request, now) };
  });
}

/** A start looks at once, because an outage is when results grow old. */
export function refreshChore(scheduler: Pick<Scheduler, 'refresh'>): Chore {
  return { name: 'refresh', when: { every: refreshEveryMs }, step: (now, limit) => scheduler.refresh(now, limit) };
}

function refreshStale(deps: SchedulerDeps, at: Batch) {
  return takeUp<DueTask | Unreadable, Refresh>(deps, at, {
    take: (batch, plan) => deps.store.refreshStale(batch, plan),
    plan: (stale) => stale.flatMap((task) => isolate(deps, task, (one) => refreshOf(deps, one, at.now)) ?? []),
    idOf: idOfTask,
  });
}

/** Null without the right to run: its next slot says so, and nothing more would come of a refresh. */
function refreshOf({ ids, runs, scopesOf }: SchedulerDeps, task: DueTask, now: number): Refresh | null {
  if (grantFault(task.grant, scopesOf(task.action), now) !== null) return null;
  let slotAt = now;
  while (isSlotOf(task, slotAt)) slotAt += 1;
  const id = ids.next();
  const source = 'stale_refresh';
  const run = runs.prepare(requestOf(task, policyFor(task), { occurrenceId: id, slotAt, source }), now);
  const made = { id, slotAt, source, status: 'dispatched', reason: null, decideBy: null, runId: run.id } as const;
  return { taskId: task.id, occurrence: { ...made, lateMs: 0 }, run };
}

/** Lets a task go on whose pause has come to its end: the step does it, and whoever changes the task before that. */
export function endOfPause(deps: Pick<SchedulerDeps, 'log'>, task: DueTask | Unreadable): Resume | Quarantine {
  return isolate(deps, task, resumeOf);
}

/** The first slot from the end of the pause on: what fell into the pause is never made up for. */
function resumeOf(task: DueTask): Resume {
  const policy = policyFor(task);
  const spent = isSpent(policy, task.boundedRuns);
  // A delay after the last finish has no slot that could fall on the end; it begins anew there.
  const first = nextSlot(task.schedule, isDelay(task.schedule) ? task.nextAt : task.nextAt - 1, policy);
  return { taskId: task.id, resumeAt: task.nextAt, nextAt: spent ? null : openFrom({ ...task, policy }, first) };
}

async function replanAll(deps: SchedulerDeps, now: number, limit: number): Promise<number> {
  let changed = 0;
  let after: string | null = null;
  for (;;) {
    const page = await deps.store.replanTasks(after, { now, limit }, (due) =>
      due.map((task) => isolate(deps, task, (one) => replanOf(one, now))).filter(isMove),
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
  const { id: taskId, nextAt: expectNextAt } = task;
  return { taskId, expectNextAt, nextAt: expectNextAt <= now ? expectNextAt : slotFromNow(task, now) };
}

interface ZoneRulesDeps extends Pick<World, 'clock' | 'log'> {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly scheduler: Pick<Scheduler, 'replan'>;
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
}: ZoneRulesDeps): Promise<void> {
  const known = await store.readNote(note);
  if (known === version) return;
  if (known !== null) {
    const moved = await scheduler.replan(clock.now(), batchMax);
    log.warn('zone_rules_changed', { from: known, to: version, moved });
  }
  await store.writeNote(note, version, clock.now());
}
