import { expiredEveryMs, inboxRetentionMs, retentionBatchMax } from '../../domain/limits.ts';
import type { Clock, Log } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { HousekeepingStore, Removed, Shelf, UpkeepStore } from '../ports/upkeep.ts';
import { type Chore, nightly } from './chore.ts';

const dayMs = 86_400_000;

/** First what others refer to by their age, last the tasks of which nothing may be left by then, and rights of no task. */
const order: readonly Shelf[] = [
  'occurrences',
  'runs',
  'deliveries',
  'gaps',
  'audit',
  'events',
  'downtimes',
  'inbox',
  'versions',
  'tasks',
  'grants',
];

interface Needs {
  readonly store: Pick<HousekeepingStore, 'prune' | 'dropExpired'> & Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly retentionDays: number;
}

/** The last counts, for whoever asks what the night did. */
const retentionNote = 'retention';

/**
 * What is older than the retention goes, in the night and in small steps. Where a night breaks off, by a failure or by a
 * restart, the next one begins again from the front; what is gone already costs nothing.
 */
export function createRetention(needs: Needs): Chore {
  const { store, retentionDays } = needs;
  let walk: { shelf: number; after: string | null; readonly before: number } | null = null;
  let removed: Record<string, number> = {};

  const step = async (now: number): Promise<Counts> => {
    const limit = now - retentionDays * dayMs;
    // A clock that was set back has shown that the limit was wrong, and what went too early never comes back.
    walk = walk === null ? { shelf: 0, after: null, before: limit } : { ...walk, before: Math.min(walk.before, limit) };
    const shelf = order[walk.shelf];
    if (shelf === undefined) return finish(now);
    // Updates of the platform are kept for a month at most, whatever the retention.
    const before = shelf === 'inbox' ? Math.max(walk.before, now - inboxRetentionMs) : walk.before;
    const pruned = await store.prune({ shelf, after: walk.after, before, limit: retentionBatchMax });
    removed = added(removed, pruned.removed);
    walk = { ...walk, shelf: pruned.next === null ? walk.shelf + 1 : walk.shelf, after: pruned.next };
    return { taken: total(pruned.removed), more: true };
  };

  const finish = async (now: number): Promise<Counts> => {
    const counts = Object.fromEntries(Object.entries(removed).filter(([, count]) => count > 0));
    const before = new Date(now - retentionDays * dayMs).toISOString();
    needs.log.info('retention', { before, ...counts });
    const note = { at: new Date(now).toISOString(), before: await latest(before), removed: counts };
    await store.writeNote(retentionNote, JSON.stringify(note), now);
    walk = null;
    removed = {};
    return { taken: 0, more: false };
  };

  /** Records were kept for a shorter time once, and what went then is gone, however long they are kept by now. */
  const latest = async (before: string): Promise<string> => {
    const known = await store.readNote(retentionNote);
    const { before: last = '' } = known === null ? {} : (JSON.parse(known) as { readonly before?: string });
    return last > before ? last : before;
  };

  return nightly(needs, { name: 'retention', afterMs: 0, step });
}

/** Keys, drafts and notes that have said when they end. */
export function createExpiry({ store, log }: Pick<Needs, 'store' | 'log'>): Chore {
  let nextAt = Number.NEGATIVE_INFINITY;
  let removed: Record<string, number> = {};
  return {
    name: 'expiry',
    step: async (now) => {
      const dropped = await store.dropExpired({ now, limit: retentionBatchMax });
      removed = added(removed, dropped.removed);
      if (!dropped.more) {
        if (total(removed) > 0) log.info('expired_dropped', removed);
        removed = {};
        nextAt = now + expiredEveryMs;
      }
      return { taken: 1 + total(dropped.removed), more: dropped.more };
    },
    nextAt: async (now) => {
      // Kept, or a clock that was set back would put it off with every look.
      nextAt = Math.min(nextAt, now + expiredEveryMs);
      return nextAt;
    },
  };
}

function added(counts: Removed, more: Removed): Record<string, number> {
  const sum = { ...counts };
  for (const [table, count] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + count;
  return sum;
}

function total(counts: Removed): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
