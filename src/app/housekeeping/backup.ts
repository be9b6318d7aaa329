import { backupRetryMs } from '../../domain/limits.ts';
import type { Backups, Bell, Clock, Log } from '../ports/outside.ts';
import { type Chore, nightly } from './chore.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';

interface Needs {
  readonly backups: Backups;
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly bell: Bell;
  /** Copies that stay. */
  readonly keep: number;
}

const afterAuditMs = 40 * 60_000;

/**
 * A copy of the database each night, made beside everything else: a step begins it and does not wait for it, and the bell
 * rings when it has ended. One that failed is told and tried again an hour later; the older copies stay until then.
 */
export function createBackup(needs: Needs): Chore {
  const { backups, log, bell, clock, keep } = needs;
  let state: 'idle' | 'copying' | 'made' = 'idle';
  let notBefore = Number.NEGATIVE_INFINITY;
  const night = nightly(needs, {
    name: 'backup',
    afterMs: afterAuditMs,
    step: async () => ({ taken: 1, more: false }),
  });

  /** Copies that cannot be removed must not be a reason to make another one every hour. */
  const prune = () =>
    backups.prune(keep).catch((error: unknown) => {
      log.error('backup_not_pruned', { error: error instanceof Error ? error.message : String(error) });
      return 0;
    });

  const copy = async (now: number) => {
    try {
      const { file, bytes } = await backups.make(now);
      log.info('backup', { file, bytes, ms: clock.now() - now, pruned: await prune() });
      state = 'made';
    } catch (error) {
      log.error('backup_failed', { error: error instanceof Error ? error.message : String(error) });
      notBefore = clock.now() + backupRetryMs;
      state = 'idle';
    }
    bell.ring('housekeeper');
  };

  return {
    name: 'backup',
    step: async (now, limit) => {
      if (state === 'made') {
        // The night is done only now, so that a process that ends in the middle of a copy makes another one.
        const counts = await night.step(now, limit);
        state = 'idle';
        return counts;
      }
      if (state === 'idle' && (await night.nextAt(now)) !== null) {
        state = 'copying';
        void copy(now);
      }
      return { taken: 1, more: false };
    },
    nextAt: async (now) => {
      if (state === 'copying') return null;
      notBefore = Math.min(notBefore, now + backupRetryMs);
      const due = await night.nextAt(now);
      return due === null ? null : Math.max(due, notBefore);
    },
  };
}
