import type { Finding } from '../../domain/audit.ts';
import * as limits from '../../domain/limits.ts';
import type { Clock, Log, Timer } from '../ports/outside.ts';
import { remember } from './audit-memory.ts';
import { auditWalk, type AuditWalk, type Seen, type WalkNeeds } from './audit-walk.ts';
import type { Chore } from './chore.ts';
import { nightly } from './nightly.ts';
import type { HousekeepingStore } from '../ports/upkeep.ts';

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
