import { createFaults } from '../../domain/errors.ts';
import {
  backoffMs,
  choreBackoffMaxMs,
  choreBackoffMs,
  choreBreathMs,
  choreBurst,
  chorePauseMs,
  choreRestMs,
  nightStartMs,
} from '../../domain/limits.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { Runner } from '../pipeline/runner.ts';
import type { Backups, Stopwatch, World } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { Processes } from '../ports/processes.ts';
import type { Store } from '../ports/store.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import { createAudit } from './audit.ts';
import { createBackup, createPageCheck } from './backup.ts';
import type { Chore, Done } from './chore.ts';
import { createReconcile } from './reconcile.ts';
import { createExpiry, createRetention } from './retention.ts';

/** All chores as one piece of work for a loop: each turn is one bounded step of one chore, and the chores take turns. */
export interface Housekeeper {
  readonly name: 'housekeeper';
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
}

export interface HousekeeperDeps extends Pick<World, 'clock' | 'stopwatch' | 'bell' | 'log'> {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly processes: Pick<Processes, 'isKeeper'>;
}

export function createHousekeeper(deps: HousekeeperDeps, chores: readonly Chore[]): Housekeeper {
  const nights = createNights(deps);
  const pauses = createPauses(deps.stopwatch);
  const placed = chores.map((chore) => place(chore, deps, nights));
  let turn = 0;
  return {
    name: 'housekeeper',
    step: async (now, limit) => {
      if (!deps.processes.isKeeper()) {
        nights.forget();
        return { taken: 0, more: false };
      }
      if (pauses.left() > 0) return { taken: 0, more: false };
      for (let tries = 0; tries < placed.length; tries += 1) {
        const one = placed[turn % placed.length];
        turn = (turn + 1) % placed.length;
        if (one === undefined || (await one.dueIn()) > 0) continue;
        pauses.begin();
        return { taken: await one.work(now, limit), more: false };
      }
      return { taken: 0, more: false };
    },
    nextAt: async () => {
      if (!deps.processes.isKeeper()) return null;
      let soonest = Infinity;
      for (const one of placed) soonest = Math.min(soonest, await one.dueIn());
      return soonest === Infinity ? null : deps.clock.now() + Math.max(soonest, pauses.left());
    },
  };
}

/** A chore, and when it was last done. */
interface Placed {
  /** How long until it has something to do, as far as can be told. */
  dueIn(): Promise<number>;
  /** Makes a step, or begins one that goes on beside the others. Answers what it took up; it never throws. */
  work(now: number, limit: number): Promise<number>;
}

/**
 * A chore that fails is logged, tried again later and later, and holds up nobody. So a failed chore is no failure of the
 * loop, and readiness does not hear of it: people who wait for a reminder do not care whether last night's backup was made.
 * The log tells what has failed, and so does what the chore left undone.
 */
function place(chore: Chore, { log, clock, stopwatch, bell }: HousekeeperDeps, nights: Nights): Placed {
  const { name, when } = chore;
  const faults = createFaults();
  /** On the stopwatch: no wall clock that is set makes a rest longer. */
  let restsUntil = Number.NEGATIVE_INFINITY;
  let isWorking = false;

  const resting = () => restsUntil - stopwatch.elapsed();
  const rest = (ms: number) => {
    restsUntil = stopwatch.elapsed() + ms;
  };

  const failed = (error: unknown) => {
    const { isNews, ...fault } = faults.met(error);
    if (isNews) log.error('chore_failed', { chore: name, ...fault });
    rest(chore.retryMs ?? backoffMs(fault.failures, choreBackoffMs, choreBackoffMaxMs));
  };

  const work = async (now: number, limit: number): Promise<number> => {
    try {
      const done = await chore.step(now, limit);
      if ('nightly' in when && !done.more) await nights.finish(name, now);
      const failures = done.more ? 0 : faults.over();
      if (failures > 0) log.info('chore_recovered', { chore: name, failures });
      rest(done.afterMs ?? restAfter(chore, done));
      return done.taken;
    } catch (error) {
      failed(error);
      return 0;
    }
  };

  const workBeside = async (now: number, limit: number): Promise<number> => {
    isWorking = true;
    void work(now, limit).then(() => {
      isWorking = false;
      bell.ring('housekeeper');
    });
    return 1;
  };

  return {
    dueIn: async () => {
      if (isWorking) return Infinity;
      if (resting() > 0) return resting();
      if ('every' in when) return 0;
      if ('asked' in when) return when.asked() ? 0 : Infinity;
      try {
        const now = clock.now();
        return Math.max((await nights.dueAt(name, when.nightly, now)) - now, 0);
      } catch (error) {
        failed(error);
        return resting();
      }
    },
    work: chore.beside === true ? workBeside : work,
  };
}

function restAfter({ when }: Chore, { taken, more }: Done): number {
  if (more) return 0;
  if ('every' in when) return when.every;
  // Due, and nothing to be done: whatever it waits for is not here yet, and asking again at once would only spin.
  return taken === 0 ? choreRestMs : 0;
}

/**
 * When the work of a night finished last stands in a note, so a restart neither repeats nor forgets a night, and a machine
 * that slept through it catches up soon after. A new database has its first night ahead of it, and so has one whose note
 * was written by a clock that ran ahead.
 */
function createNights({ store }: HousekeeperDeps) {
  const finishedAt = new Map<string, number>();
  const finish = async (name: string, now: number) => {
    await store.writeNote(`chore:${name}`, String(now), now);
    finishedAt.set(name, now);
  };
  return {
    finish,
    /** Another process keeps the nights by now. */
    forget: () => finishedAt.clear(),
    dueAt: async (name: string, afterMs: number, now: number): Promise<number> => {
      const at = finishedAt.get(name) ?? Number((await store.readNote(`chore:${name}`)) ?? Number.NaN);
      if (at <= now) finishedAt.set(name, at);
      else await finish(name, now);
      return nightAfter(finishedAt.get(name) ?? now, afterMs);
    },
  };
}

/** The first time of night strictly after an instant. */
function nightAfter(instant: number, afterMs: number): number {
  const offset = nightStartMs + afterMs;
  return (Math.floor((instant - offset) / DAY_MS) + 1) * DAY_MS + offset;
}

type Nights = ReturnType<typeof createNights>;

/** Between two steps everybody else gets more than a turn, and now and then the disk gets to work off what was written. */
function createPauses(stopwatch: Stopwatch) {
  let steps = 0;
  let until = Number.NEGATIVE_INFINITY;
  return {
    begin: () => {
      steps += 1;
      until = stopwatch.elapsed() + (steps % choreBurst === 0 ? choreBreathMs : chorePauseMs);
    },
    // In whole milliseconds, as loops sleep: the rest of one would make each pause a whole one longer.
    left: () => Math.floor(until - stopwatch.elapsed()),
  };
}

export type Housekeeping = ReturnType<typeof createHousekeeping>;

interface HousekeepingDeps extends HousekeeperDeps, Pick<World, 'timer' | 'ids'> {
  readonly store: Store;
  readonly bootId: string;
  readonly runner: Pick<Runner, 'worksOn'>;
  readonly schedulerBehind: () => boolean;
  readonly retentionDays: number;
  /** Copies that the nightly backup keeps; 0 makes none. */
  readonly backupsKept: number;
  readonly backups: Backups | null;
  /** Chores of other rooms. */
  readonly chores: readonly Chore[];
}

/** Housekeeping with every chore that there is, and the two that people can ask for: audit and reconcile. */
export function createHousekeeping(deps: HousekeepingDeps) {
  const audit = createAudit(deps);
  const { backups, backupsKept: keep } = deps;
  return {
    audit,
    reconcile: createReconcile({ ...deps, audit }),
    housekeeper: createHousekeeper(deps, [
      ...deps.chores,
      createExpiry(deps),
      createRetention(deps),
      audit.chore,
      ...(backups === null ? [] : [createPageCheck({ ...deps, backups })]),
      ...(backups === null || keep === 0 ? [] : [createBackup({ ...deps, backups, keep })]),
    ]),
  };
}
