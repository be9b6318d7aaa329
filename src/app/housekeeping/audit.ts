import type { Actor } from '../../domain/access.ts';
import { type Finding, checks, type CheckName } from '../../domain/audit.ts';
import * as limits from '../../domain/limits.ts';
import { reconcileMax } from '../../domain/limits.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { Runner } from '../pipeline/runner.ts';
import type { Clock, Log, Timer, Bell, Ids } from '../ports/outside.ts';
import type { Counts, DueTask, Unreadable } from '../ports/pipeline.ts';
import type { HousekeepingStore, Replanned } from '../ports/upkeep.ts';
import { auditWalk, type AuditWalk, type Seen, type WalkNeeds, remember, slotName } from './audit-walk.ts';
import { type Chore, nightly } from './chore.ts';

export interface AuditReport {
  readonly at: number;
  readonly findings: readonly Finding[];
  readonly checked: Readonly<Record<string, number>>;
}

/**
 * Looks for what must never be. It reports and never repairs, because a fault that mends itself in the night is one that
 * nobody looks into; whoever has looked says `reconcile`.
 */
export interface Audit {
  /** The audit of the night, which sees more than anybody would wait for. */
  readonly chore: Chore;
  /** Looks now. Whoever asks while somebody else's look is under way is told what that one sees. */
  run(): Promise<AuditReport>;
  /** The same, with everything that a repair needs. */
  look(): Promise<Seen>;
}

interface Needs extends WalkNeeds {
  readonly store: WalkNeeds['store'] & Pick<HousekeepingStore, 'tellFindings'>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
}

/** The last report, for whoever shows how the place stands. */
const auditNote = 'audit';

const afterRetentionMs = 20 * 60_000;

export function createAudit(needs: Needs): Audit {
  const { clock, timer } = needs;
  let walk: AuditWalk | null = null;
  let running: Promise<AuditReport> | null = null;

  const look = async (): Promise<Seen> => {
    const mine = auditWalk(needs, { now: clock.now(), rowsMax: limits.auditRowsNowMax });
    for (;;) {
      const seen = await mine.step();
      if (seen !== null) return remembered(needs, seen);
      await timer.yield();
    }
  };

  const chore = nightly(needs, {
    name: 'audit',
    afterMs: afterRetentionMs,
    step: async (now) => {
      walk ??= auditWalk(needs, { now, rowsMax: limits.auditRowsMax });
      const seen = await walk.step();
      if (seen === null) return { taken: 1, more: true };
      walk = null;
      await tell(needs, await remembered(needs, seen));
      return { taken: 1, more: false };
    },
  });

  return {
    chore,
    look,
    run: () => {
      running ??= look()
        .then((seen) => tell(needs, seen))
        .finally(() => {
          running = null;
        });
      return running;
    },
  };
}

/** Whatever looked: who is told of something may say so about it later, when another look would see something else. */
async function remembered({ store, clock }: Needs, seen: Seen): Promise<Seen> {
  await remember(store, seen, clock.now());
  return seen;
}

async function tell({ store, clock, log }: Needs, seen: Seen): Promise<AuditReport> {
  const { findings, checked } = seen;
  const at = clock.now();
  for (const { check, count, examples, sentence } of findings)
    log.warn('audit_finding', { check, count, examples, sentence });
  log.info('audit', { findings: findings.length, checked });
  await store.tellFindings(findings, at);
  await store.writeNote(auditNote, JSON.stringify({ at: new Date(at).toISOString(), findings, checked }), at);
  return { at, findings, checked };
}

interface Stepping {
  step(now: number, limit: number): Promise<Counts>;
}

/** A room that tells, besides doing its work, whether its last step has left something undone. */
interface Behind<R> {
  readonly room: R;
  /** True until the first step has ended; a room whose steps fail is not working anything off, and so not behind. */
  readonly behind: () => boolean;
}

export function watchedRoom<R extends Stepping>(room: R): Behind<R> {
  let more = true;
  return {
    room: {
      ...room,
      step: async (now, limit) => {
        try {
          const counts = await room.step(now, limit);
          more = counts.more;
          return counts;
        } catch (error) {
          more = false;
          throw error;
        }
      },
    },
    behind: () => more,
  };
}

interface ReconcileRequest {
  /** False only tells what was found. */
  readonly fix: boolean;
  readonly actor: Actor;
}

interface Reconciled {
  readonly findings: readonly Finding[];
  readonly fixed: readonly Fixed[];
}

interface Fixed {
  readonly check: CheckName;
  readonly id: string;
  readonly did: string;
}

export type Reconcile = (request: ReconcileRequest) => Promise<Reconciled>;

interface ReconcileNeeds {
  readonly audit: Pick<Audit, 'look'>;
  readonly store: Pick<HousekeepingStore, 'repair' | 'recordMissing'>;
  readonly runner: Pick<Runner, 'holds'>;
  readonly bootId: string;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly bell: Bell;
  readonly log: Log;
}

/**
 * The explicit act that mends what the audit found, item by item, each in a transaction of its own with a row in the audit.
 * What cannot be mended safely is only told. Done twice, it finds nothing the second time.
 */
export function createReconcile(needs: ReconcileNeeds): Reconcile {
  return async ({ fix, actor }) => {
    const seen = await needs.audit.look();
    if (!fix) return { findings: seen.findings, fixed: [] };
    const fixed: Fixed[] = [];
    for await (const one of repairs(needs, seen, actor)) fixed.push(one);
    if (fixed.length > 0) {
      needs.log.warn('reconciled', { actor, fixed: fixed.length });
      for (const room of ['scheduler', 'runner', 'deliverer'] as const) needs.bell.ring(room);
    }
    return { findings: seen.findings, fixed };
  };
}

async function* repairs(needs: ReconcileNeeds, seen: Seen, actor: Actor): AsyncGenerator<Fixed> {
  const { store, clock, timer, ids, bootId, runner } = needs;
  const faults = seen.faults.filter(({ check }) => checks[check].mended).slice(0, reconcileMax);
  for (const { check, id } of faults) {
    // Whatever its rows look like, a run that is worked on here ends by its own attempt.
    if (check === 'running_without_attempt' && runner.holds(id)) continue;
    const now = clock.now();
    const did = await store.repair({ check, id, now, actor, bootId, plan: (task) => planned(task, now) });
    if (did !== null) yield { check, id, did };
    await timer.yield();
  }
  for (const missing of seen.missing.slice(0, reconcileMax - faults.length)) {
    const did = await store.recordMissing({ ...missing, id: ids.next(), now: clock.now(), actor });
    if (did !== null) yield { check: 'slot_unaccounted', id: slotName(missing), did };
    await timer.yield();
  }
}

/** What an enabled task without a next slot goes on with. What cannot be planned is paused, so that people see it. */
function planned(task: DueTask | Unreadable, now: number): Replanned {
  if ('unreadable' in task) return { pause: `unreadable: ${task.unreadable}` };
  try {
    const { startAt, until, maxRuns } = policyFor(task);
    const spent = maxRuns !== null && task.boundedRuns >= maxRuns;
    return { nextAt: spent ? null : nextSlot(task.schedule, now, { startAt, until }) };
  } catch (error) {
    return { pause: `unreadable: ${error instanceof Error ? error.message : String(error)}` };
  }
}
