import { checks, type CheckName, type Finding } from '../../domain/audit.ts';
import * as limits from '../../domain/limits.ts';
import type { UpkeepStore } from '../store.ts';
import { unaccountedSlots } from './slot-account.ts';
import type { AuditedTable, HousekeepingStore } from './store.ts';

export interface Missing {
  readonly taskId: string;
  readonly slotAt: number;
}

/** What a whole walk has seen. */
export interface Seen {
  readonly findings: readonly Finding[];
  /** Rows looked at, by table, and tasks whose slots were computed again. */
  readonly checked: Readonly<Record<string, number>>;
  /** More ids than a finding shows, for whoever mends them. */
  readonly ids: ReadonlyMap<CheckName, readonly string[]>;
  readonly missing: readonly Missing[];
}

export interface AuditWalk {
  /** Looks at one page; null while there is more to see. */
  step(): Promise<Seen | null>;
}

export interface WalkNeeds {
  readonly store: Pick<HousekeepingStore, 'auditPage' | 'sampleSlots'> & Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly bootId: string;
  /** The scheduler has more to do than it could take: what is late then is on its way, and no finding. */
  readonly schedulerBehind: () => boolean;
}

const tables: readonly AuditedTable[] = ['tasks', 'occurrences', 'runs', 'deliveries'];
const lateChecks: ReadonlySet<CheckName> = new Set(['slot_overdue', 'question_overdue', 'pause_overdue']);

/** Where the next sample begins; each audit goes on where the last one ended. */
const sampleNote = 'audit:sample';

interface Tally {
  count: number;
  readonly ids: string[];
}

/** One walk over the tables, newest rows first, and over a sample of tasks. */
export function auditWalk(needs: WalkNeeds, now: number, rowsMax: number): AuditWalk {
  const tallies = new Map<CheckName, Tally>();
  const checked: Record<string, number> = {};
  const missing: Missing[] = [];
  let table = 0;
  let below: string | null = null;
  let sample: { after: string; left: number } | null = null;

  const count = (check: CheckName, ids: readonly string[]) => {
    const tally = tallies.get(check) ?? { count: 0, ids: [] };
    tally.count += ids.length;
    tally.ids.push(...ids.slice(0, limits.reconcileMax - tally.ids.length));
    tallies.set(check, tally);
  };

  const page = async (name: AuditedTable) => {
    const { bootId } = needs;
    const seen = await needs.store.auditPage({ table: name, below, limit: limits.auditPageMax, now, bootId });
    checked[name] = (checked[name] ?? 0) + seen.seen;
    // Asked at the moment of the look: what was late a second ago may be taken up by now.
    for (const { check, ids } of seen.found) if (!lateChecks.has(check) || !needs.schedulerBehind()) count(check, ids);
    below = (checked[name] ?? 0) >= rowsMax ? null : seen.next;
    if (below === null) table += 1;
  };

  const slots = async (): Promise<boolean> => {
    sample ??= { after: (await needs.store.readNote(sampleNote)) ?? '', left: limits.slotSampleMax };
    const window = { from: now - limits.slotSampleWindowMs, through: now - limits.overdueMs };
    const { tasks, last } = await needs.store.sampleSlots({
      ...window,
      after: sample.after,
      limit: limits.slotSamplePage,
    });
    for (const one of tasks) {
      const lost = unaccountedSlots(one, window);
      missing.push(...lost.map((slotAt) => ({ taskId: one.task.id, slotAt })));
      count(
        'slot_unaccounted',
        lost.map((slotAt) => `${one.task.id}@${new Date(slotAt).toISOString()}`),
      );
    }
    checked['slots'] = (checked['slots'] ?? 0) + tasks.length;
    sample = { after: last ?? '', left: sample.left - limits.slotSamplePage };
    if (last !== null && sample.left > 0) return false;
    await needs.store.writeNote(sampleNote, sample.after, now);
    return true;
  };

  return {
    step: async () => {
      const name = tables[table];
      if (name !== undefined) await page(name);
      else if (await slots()) return seenBy(tallies, checked, missing);
      return null;
    },
  };
}

function seenBy(tallies: ReadonlyMap<CheckName, Tally>, checked: Seen['checked'], missing: readonly Missing[]): Seen {
  const found = [...tallies].filter(([, tally]) => tally.count > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    findings: found.map(([check, { count, ids }]) => ({
      check,
      count,
      examples: ids.slice(0, limits.auditExamplesMax),
      sentence: checks[check].sentence,
    })),
    checked,
    ids: new Map(found.map(([check, { ids }]) => [check, ids])),
    missing,
  };
}
