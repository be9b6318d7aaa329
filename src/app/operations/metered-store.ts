import { policyOf } from '../../domain/policy.ts';
import { costsHeld, type Amount } from '../../domain/spending/usage.ts';
import { codeOf } from '../pipeline/deliverer-ends.ts';
import type { Meter } from '../ports/metering.ts';
import type { OutboxPart, OutboxStore, PaceStore, PartEnd } from '../ports/outbox.ts';
import type { World } from '../ports/outside.ts';
import type {
  Admission,
  Counts,
  SlotPlan,
  Quarantine,
  RunEnd,
  RunStore,
  StartableRun,
  StartedRun,
  StartPlan,
} from '../ports/pipeline.ts';
import type { Store } from '../ports/store.ts';
import type { CounterLabels, CounterName } from './metrics.ts';

type MeteredDeps = Pick<World, 'clock'> & { readonly meter: Meter };

/** A method that tells besides what it came to. */
function tap<A extends readonly unknown[], R>(
  method: (...asked: A) => Promise<R>,
  tell: (came: R, ...asked: A) => void,
): (...asked: A) => Promise<R> {
  return async (...asked) => {
    const came = await method(...asked);
    tell(came, ...asked);
    return came;
  };
}

/**
 * The store, counting what passes through it. Everything that happens is a committed row, so here is where it can be seen,
 * once and in batches; the rooms know nothing of it. What is counted was committed: a transaction that fails, or that is
 * run again, counts nothing, or once.
 */
export function meteredStore(store: Store, deps: MeteredDeps): Store {
  const { meter } = deps;
  const counted =
    <N extends CounterName>(name: N, labels: CounterLabels<N>) =>
    (count: number) => {
      if (count > 0) meter.count(name, labels, count);
    };
  return {
    ...store,
    ...slotMethods(store, deps),
    ...runMethods(store, deps),
    ...partMethods(store, deps),
    receiveUpdates: tap(store.receiveUpdates.bind(store), counted('telegram_updates_total', { state: 'received' })),
    endUpdate: tap(store.endUpdate.bind(store), (isWritten, { status }) => {
      if (isWritten) meter.count('telegram_updates_total', { state: status === 'failed' ? 'failed' : 'handled' });
    }),
    setBack: async (noticed) => {
      await store.setBack(noticed);
      meter.count('clock_set_backs_total', {});
    },
    openDowntime: tap(store.openDowntime.bind(store), ({ is }) => {
      if (is === 'clockBack') meter.count('clock_set_backs_total', {});
    }),
    letRunsGo: tap(store.letRunsGo.bind(store), counted('rescues_total', { room: 'runner' })),
    rescueLeft: tap(store.rescueLeft.bind(store), ({ ended, runs, parts }) => {
      counted('processes_lost_total', {})(ended.length);
      counted('rescues_total', { room: 'runner' })(runs);
      counted('rescues_total', { room: 'deliverer' })(parts);
    }),
    letPartsGo: tap(store.letPartsGo.bind(store), counted('rescues_total', { room: 'deliverer' })),
  };
}

/* ---- slots ---- */

type SlotMethods = Pick<Store, 'claimDue' | 'admitWaiting' | 'refreshStale' | 'expireQuestions'>;

function slotMethods(store: Store, { meter, clock }: MeteredDeps): SlotMethods {
  return {
    claimDue: async (at, plan) => {
      let decided: readonly (SlotPlan | Quarantine)[] = [];
      const counts = await store.claimDue(at, (due) => (decided = plan(due)));
      const now = clock.now();
      for (const decision of decided) countSlots(meter, decision, now);
      countUnpaid(meter, counts);
      return counts;
    },
    admitWaiting: async (at, plan) => {
      let decided: readonly (Admission | Quarantine)[] = [];
      const counts = await store.admitWaiting(at, (waiting) => (decided = plan(waiting)));
      for (const decision of decided) {
        if ('quarantine' in decision) meter.count('tasks_quarantined_total', {});
        else if ('skip' in decision) meter.count('occurrences_total', { status: 'skipped', reason: decision.skip });
      }
      countUnpaid(meter, counts);
      return counts;
    },
    refreshStale: tap(store.refreshStale.bind(store), (counts) => countUnpaid(meter, counts)),
    expireQuestions: tap(store.expireQuestions.bind(store), ({ taken }) => {
      if (taken > 0) meter.count('occurrences_total', { status: 'skipped', reason: 'ask_expired' }, taken);
    }),
  };
}

/** The store alone knows for which of them a budget had room. */
function countUnpaid(meter: Meter, { unpaid = 0 }: Counts): void {
  if (unpaid > 0) meter.count('occurrences_total', { status: 'skipped', reason: 'budget' }, unpaid);
}

function countSlots(meter: Meter, decision: SlotPlan | Quarantine, now: number): void {
  if ('quarantine' in decision) {
    meter.count('tasks_quarantined_total', {});
    return;
  }
  const { occurrences, gap } = decision;
  if (gap !== null) meter.count('gap_slots_total', { reason: gap.reason }, gap.count);
  for (const { status, reason, source, slotAt } of occurrences) {
    if (status === 'skipped' || status === 'missed')
      meter.count('occurrences_total', { status, reason: reason ?? 'none' });
    else meter.took('slot_claim_lateness_seconds', { how: source === 'catch_up' ? 'late' : 'on_time' }, now - slotAt);
  }
}

/* ---- runs ---- */

type RunMethods = Pick<RunStore, 'addRun' | 'startRuns' | 'finishRuns'>;

function runMethods(store: Store, { meter, clock }: MeteredDeps): RunMethods {
  return {
    addRun: tap(store.addRun.bind(store), ({ created }) => {
      if (!created) meter.count('requests_deduplicated_total', { via: 'run' });
    }),
    startRuns: async (at, bootId, plan) => {
      let known = new Map<string, StartableRun>();
      let plans: readonly StartPlan[] = [];
      const started = await store.startRuns(at, bootId, (runs) => {
        known = new Map(runs.flatMap((run) => ('unreadable' in run ? [] : [[run.id, run]])));
        return (plans = plan(runs));
      });
      for (const one of plans) {
        const run = known.get(one.runId);
        if (run !== undefined) countPlan(meter, run, one);
      }
      const now = clock.now();
      for (const one of started.started) countStart(meter, one, now);
      countUnpaid(meter, started);
      return started;
    },
    finishRuns: tap(store.finishRuns.bind(store), ({ written, autoPaused }, ends) => {
      // A batch does not tell which of its ends came too late; one that was alone is known.
      if (written > 0) for (const end of ends) countEnd(meter, end);
      if (written < ends.length) meter.count('late_results_total', {}, ends.length - written);
      if (autoPaused.length > 0) meter.count('task_auto_pauses_total', {}, autoPaused.length);
    }),
  };
}

function countPlan(meter: Meter, run: StartableRun, plan: StartPlan): void {
  if (plan.interrupted) {
    meter.count('attempts_total', { number: numberOf(run.attempts), status: 'interrupted' });
    countUsage(meter, run, null);
  }
  if (plan.does !== 'end') return;
  meter.count('runs_total', { action: run.input.action.kind, status: plan.status });
  if (run.occurrenceId !== null)
    meter.count('occurrences_total', { status: plan.occurrence, reason: plan.reason ?? 'none' });
}

/** The first attempt alone: later ones wait for the pause that their policy wants. */
function countStart(meter: Meter, { run, attempt }: StartedRun, now: number): void {
  if (attempt > 1 || run.input.slotAt === null) return;
  meter.took('slot_start_lateness_seconds', { how: startedHow(run) }, now - run.input.slotAt);
}

function startedHow({ input }: StartableRun): 'by_hand' | 'late' | 'by_policy' | 'on_time' {
  if (input.byHand === true || input.again !== undefined) return 'by_hand';
  if (input.late) return 'late';
  const { policies } = input;
  if (policies === undefined) return 'on_time';
  const { overlap, jitterMs } = policyOf(policies, { actionKind: input.action.kind, minGapMs: null });
  return overlap === 'queue' || jitterMs > 0 ? 'by_policy' : 'on_time';
}

/** Of an attempt of which nobody knows what it has used, all that was reserved for it. */
function countUsage(meter: Meter, { reserved }: StartableRun, usage: readonly Amount[] | null): void {
  const used = usage ?? (reserved === null ? [] : costsHeld(reserved.costs));
  for (const { kind, quantity } of used) meter.count('usage_total', { kind }, quantity);
}

function countEnd(meter: Meter, end: RunEnd): void {
  const { run, attempt, attemptStatus, status, durationMs, finishedAt } = end;
  const action = run.input.action.kind;
  meter.count('attempts_total', { number: numberOf(attempt), status: attemptStatus });
  meter.took('attempt_duration_seconds', { action }, durationMs);
  countUsage(meter, run, end.usage);
  if (status === 'backoff') return;
  meter.count('runs_total', { action, status });
  meter.took('run_duration_seconds', { action }, finishedAt - run.createdAt);
  if (run.occurrenceId !== null) meter.count('occurrences_total', { status, reason: 'none' });
}

/** The number of an attempt as a label: as many series as a policy allows attempts, and one for the rest. */
function numberOf(attempt: number): string {
  return attempt > 10 ? '11+' : String(Math.max(attempt, 1));
}

/* ---- deliveries ---- */

type Known = Pick<OutboxPart, 'kind' | 'createdAt'>;

/** Parts that are remembered: more are never in hand, and one that is left over was lost with its claim. */
const inHandMax = 20_000;

function partMethods(
  store: OutboxStore & PaceStore,
  { meter }: MeteredDeps,
): Pick<OutboxStore & PaceStore, 'claimParts' | 'claimPaced' | 'endParts'> {
  const inHand = new Map<string, Known>();
  const noteClaimed = (parts: readonly OutboxPart[]) => {
    if (inHand.size > inHandMax) inHand.clear();
    for (const { id, kind, createdAt } of parts) inHand.set(id, { kind, createdAt });
  };
  return {
    claimParts: tap(store.claimParts.bind(store), (parts) => noteClaimed(parts)),
    claimPaced: tap(store.claimPaced.bind(store), ({ parts }) => noteClaimed(parts)),
    endParts: tap(store.endParts.bind(store), (_written, ends) => {
      for (const end of ends) {
        countPart(meter, end, inHand.get(end.id));
        inHand.delete(end.id);
      }
    }),
  };
}

function countPart(meter: Meter, end: PartEnd, known: Known | undefined): void {
  const { status } = end;
  // A topic that is ready now lets the part go on at once, which is no setback.
  if (status === 'pending' && end.error === null) return;
  const code = codeOf(end);
  if (code !== null) meter.count('delivery_errors_total', { status, error_code: code });
  if (status !== 'delivered' && status !== 'failed') {
    meter.count('delivery_setbacks_total', { status });
    return;
  }
  meter.count('deliveries_total', { kind: known?.kind ?? 'unknown', status });
  if (status === 'delivered' && known !== undefined)
    meter.took('delivery_latency_seconds', { kind: known.kind }, end.at - known.createdAt);
}
