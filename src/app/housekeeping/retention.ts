import { expiredEveryMs, inboxRetentionMs, retentionBatchMax } from '../../domain/limits.ts';
import { DAY_MS, iso } from '../../domain/schedule/time/calendar.ts';
import type { World } from '../ports/outside.ts';
import { shelves, type HousekeepingStore, type Removed, type Shelf, type UpkeepStore } from '../ports/upkeep.ts';
import { inSteps, type Chore } from './chore.ts';

interface RetentionDeps extends Pick<World, 'clock' | 'log'> {
  readonly store: Pick<HousekeepingStore, 'prune'> & Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly retentionDays: number;
}

/** The note with the counts of the last night. */
const retentionNote = 'retention';

/**
 * Removes rows older than the retention, in the night and in small steps. Where a night breaks off, by a failure or by a
 * restart, the next one begins again from the front; rows that are gone already cost nothing.
 */
export function createRetention(deps: RetentionDeps): Chore {
  const { store, clock } = deps;
  const sweep = async function* () {
    const removed: Record<string, number> = {};
    for (const shelf of shelves) {
      let after: string | null = null;
      do {
        // Told anew for each page: a clock that is set back has shown that the limit was wrong, and what goes too early
        // never comes back.
        const now = clock.now();
        const before = now - keptMs(shelf, deps);
        const pruned = await store.prune({ shelf, after, now, before, limit: retentionBatchMax });
        after = pruned.next;
        yield addTo(removed, pruned.removed);
      } while (after !== null);
    }
    await tell(deps, removed, clock.now());
  };
  return { name: 'retention', when: { nightly: 0 }, step: inSteps(sweep) };
}

/** Updates of Telegram are kept for a month at most, whatever the retention. */
function keptMs(shelf: Shelf, { retentionDays }: RetentionDeps): number {
  const ms = retentionDays * DAY_MS;
  return shelf === 'inbox' ? Math.min(ms, inboxRetentionMs) : ms;
}

async function tell({ store, log, retentionDays }: RetentionDeps, removed: Removed, now: number): Promise<void> {
  const before = iso(now - retentionDays * DAY_MS);
  const counts = told(removed);
  log.info('retention', { before, ...counts });
  // Records were kept for a shorter time once, and what went then is gone, however long they are kept by now.
  const known = await store.readNote(retentionNote);
  const { before: last = '' } = known === null ? {} : (JSON.parse(known) as { readonly before?: string });
  const note = { at: iso(now), before: last > before ? last : before, removed: counts };
  await store.writeNote(retentionNote, JSON.stringify(note), now);
}

interface ExpiryDeps extends Pick<World, 'clock' | 'log'> {
  readonly store: Pick<HousekeepingStore, 'dropExpired'>;
}

/** Keys, drafts and notes that have said when they end. */
export function createExpiry({ store, clock, log }: ExpiryDeps): Chore {
  const drop = async function* () {
    const removed: Record<string, number> = {};
    for (let more = true; more;) {
      const dropped = await store.dropExpired({ now: clock.now(), limit: retentionBatchMax });
      more = dropped.more;
      yield addTo(removed, dropped.removed);
    }
    const counts = told(removed);
    if (Object.keys(counts).length > 0) log.info('expired_dropped', counts);
  };
  return { name: 'expiry', when: { every: expiredEveryMs }, step: inSteps(drop) };
}

/** Answers how many rows were added. */
function addTo(sum: Record<string, number>, counts: Removed): number {
  let added = 0;
  for (const [table, count] of Object.entries(counts)) {
    sum[table] = (sum[table] ?? 0) + count;
    added += count;
  }
  return added;
}

function told(removed: Removed): Removed {
  return Object.fromEntries(Object.entries(removed).filter(([, count]) => count > 0));
}
