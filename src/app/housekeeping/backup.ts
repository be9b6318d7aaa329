import { createFaults, errorText } from '../../domain/errors.ts';
import { backupRetryMs } from '../../domain/limits.ts';
import type { Backups, World } from '../ports/outside.ts';
import type { Chore } from './chore.ts';

interface BackupDeps extends Pick<World, 'clock' | 'log'> {
  readonly backups: Backups;
  /** Copies that stay; 0 makes none. */
  readonly keep: number;
}

const pagesAfterMs = 30 * 60_000;

/** Every page is read each night, because the ones that nobody reads are damaged in silence. */
export function createPageCheck({ backups, log }: Pick<BackupDeps, 'backups' | 'log'>): Chore {
  return {
    name: 'page_check',
    when: { nightly: pagesAfterMs },
    beside: true,
    step: async () => {
      const found = await backups.check();
      if (found !== null) log.error('database_damaged', { error: found });
      return { taken: 1, more: false };
    },
  };
}

const afterAuditMs = 40 * 60_000;

/**
 * A copy of the database each night, made beside everything else. One that failed is told and tried again an hour later; the
 * older copies stay until then. The night is done only with the copy, so that a process that ends meanwhile makes another.
 */
export function createBackup({ backups, clock, log, keep }: BackupDeps): Chore {
  /** Copies that cannot be removed must not be a reason to make another one every hour. */
  const prune = () =>
    backups.prune(keep).catch((error: unknown) => {
      log.error('backup_not_pruned', { error: errorText(error) });
      return 0;
    });
  const faults = createFaults();
  return {
    name: 'backup',
    when: { nightly: afterAuditMs },
    beside: true,
    step: async (now) => {
      try {
        const { file, bytes } = await backups.make(now);
        faults.over();
        log.info('backup', { file, bytes, ms: clock.now() - now, pruned: await prune() });
        return { taken: 1, more: false };
      } catch (error) {
        const { isNews, ...fault } = faults.met(error);
        if (isNews) log.error('backup_failed', fault);
        return { taken: 0, more: true, afterMs: backupRetryMs };
      }
    },
  };
}
