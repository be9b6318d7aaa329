import type { Holding } from '../pipeline/holding.ts';
import type { Backups, Bell, Clock, Ids, Log, Timer } from '../ports/outside.ts';
import type { Store } from '../ports/tasks.ts';
import { createAudit, type Audit } from './audit.ts';
import { createBackup } from './backup.ts';
import type { Chore } from './chore.ts';
import { createHousekeeper, type Housekeeper } from './housekeeper.ts';
import { createReconcile, type Reconcile } from './reconcile.ts';
import { createRescue } from './rescue.ts';
import { createExpiry, createRetention } from './retention.ts';

export interface Housekeeping {
  readonly housekeeper: Housekeeper;
  readonly audit: Audit;
  readonly reconcile: Reconcile;
}

export interface HousekeepingNeeds {
  readonly store: Store;
  readonly bootId: string;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly bell: Bell;
  readonly log: Log;
  readonly runner: Holding;
  readonly deliverer: Holding;
  readonly schedulerBehind: () => boolean;
  readonly retentionDays: number;
  /** Copies that the nightly backup keeps; 0 makes none. */
  readonly backupsKept: number;
  readonly backups: Backups | null;
  /** Chores of other rooms. */
  readonly chores: readonly Chore[];
}

/** The room that keeps the place in order, with every chore that there is. */
export function createHousekeeping(needs: HousekeepingNeeds): Housekeeping {
  const audit = createAudit(needs);
  const { backups, backupsKept: keep } = needs;
  return {
    audit,
    reconcile: createReconcile({ ...needs, audit }),
    housekeeper: createHousekeeper(needs, [
      createRescue(needs),
      ...needs.chores,
      createExpiry(needs),
      createRetention(needs),
      audit.chore,
      ...(backups === null || keep === 0 ? [] : [createBackup({ ...needs, backups, keep })]),
    ]),
  };
}
