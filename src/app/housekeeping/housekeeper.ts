import {
  choreBackoffMaxMs,
  choreBackoffMs,
  choreBreathMs,
  choreBurst,
  chorePauseMs,
  choreRestMs,
  backupRetryMs,
} from '../../domain/limits.ts';
import type { Runner } from '../pipeline/runner.ts';
import type { Log, Backups, Bell, Clock, Ids, Timer } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { Store } from '../ports/store.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import { createAudit, type Audit, createReconcile, type Reconcile } from './audit.ts';
import { type Chore, nightly } from './chore.ts';
import { createExpiry, createRetention } from './retention.ts';

/** All chores as one piece of work for a loop: each turn is one bounded step of one chore, and the chores take turns. */
interface Housekeeper {
  readonly name: 'housekeeper';
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
}

interface Placed {
  readonly chore: Chore;
  failures: number;
  /** Not before this instant, because it failed, or because there was nothing that it could do. */
  restsUntil: number;
  restMs: number;
}

const rested = { failures: 0, restsUntil: Number.NEGATIVE_INFINITY, restMs: 0 };

/**
 * A chore that fails is logged, tried again later and later, and holds up nobody: a step of the housekeeper never throws.
 * So a failed chore is no failure of the loop, and readiness does not hear of it: whoever waits for a reminder does not
 * care whether last night's backup was made. What has failed is told by the log, and by what the chore left undone.
 */
export function createHousekeeper({ log }: { readonly log: Log }, chores: readonly Chore[]): Housekeeper {
  const placed = chores.map((chore): Placed => ({ chore, ...rested }));
  let turn = 0;
  const pauses = createPauses();

  const failed = (one: Placed, now: number, error: unknown) => {
    one.failures += 1;
    rest(one, now, Math.min(choreBackoffMs * 2 ** Math.min(one.failures - 1, 10), choreBackoffMaxMs));
    const reason = error instanceof Error ? error.message : String(error);
    log.error('chore_failed', { chore: one.chore.name, error: reason, failures: one.failures });
  };

  const dueAt = async (one: Placed, now: number): Promise<number | null> => {
    // A wall clock that was set back must not make a rest of a minute last for years, nor for an hour.
    one.restsUntil = Math.min(one.restsUntil, now + one.restMs);
    if (one.restsUntil > now) return one.restsUntil;
    try {
      return await one.chore.nextAt(now);
    } catch (error) {
      failed(one, now, error);
      return one.restsUntil;
    }
  };

  const doOne = async (one: Placed, now: number, limit: number): Promise<number> => {
    try {
      const { taken, more } = await one.chore.step(now, limit);
      if (one.failures > 0) log.info('chore_recovered', { chore: one.chore.name, failures: one.failures });
      one.failures = 0;
      // Due, and nothing to be done: whatever it waits for is not here yet, and asking again at once would only spin.
      if (taken === 0 && !more) rest(one, now, choreRestMs);
      return taken;
    } catch (error) {
      failed(one, now, error);
      return 0;
    }
  };

  return {
    name: 'housekeeper',
    step: async (now, limit) => {
      if (pauses.end(now) > now) return { taken: 0, more: false };
      for (let tries = 0; tries < placed.length; tries += 1) {
        const one = placed[turn % placed.length];
        turn = (turn + 1) % placed.length;
        const at = one === undefined ? null : await dueAt(one, now);
        if (one === undefined || at === null || at > now) continue;
        const taken = await doOne(one, now, limit);
        pauses.begin(now);
        return { taken, more: false };
      }
      return { taken: 0, more: false };
    },
    nextAt: async (now) => {
      const instants: number[] = [];
      for (const one of placed) {
        const at = await dueAt(one, now);
        if (at !== null) instants.push(at);
      }
      return instants.length === 0 ? null : Math.max(Math.min(...instants), pauses.end(now));
    },
  };
}

function rest(one: Placed, now: number, ms: number): void {
  one.restsUntil = now + ms;
  one.restMs = ms;
}

/** Between two steps everybody else gets more than a turn, and now and then the disk gets to work off what was written. */
function createPauses() {
  let steps = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    begin: (now: number) => {
      steps += 1;
      until = now + (steps % choreBurst === 0 ? choreBreathMs : chorePauseMs);
    },
    end: (now: number) => {
      // Kept, or a clock that was set back would put everything off with every look.
      until = Math.min(until, now + choreBreathMs);
      return until;
    },
  };
}

export interface Housekeeping {
  readonly housekeeper: Housekeeper;
  readonly audit: Audit;
  readonly reconcile: Reconcile;
}

interface HousekeepingNeeds {
  readonly store: Store;
  readonly bootId: string;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly bell: Bell;
  readonly log: Log;
  readonly runner: Pick<Runner, 'holds'>;
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
      ...needs.chores,
      createExpiry(needs),
      createRetention(needs),
      audit.chore,
      ...(backups === null || keep === 0 ? [] : [createBackup({ ...needs, backups, keep })]),
    ]),
  };
}

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
function createBackup(needs: Needs): Chore {
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
