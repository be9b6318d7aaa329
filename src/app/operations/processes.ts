import { errorText } from '../../domain/errors.ts';
import {
  dueAgainEvery,
  leaseMarginMs,
  leaseMs,
  leaseRenewMs,
  leaseRetryMs,
  pausedToldMs,
  rescueAfterMs,
} from '../../domain/processes/limits.ts';
import type { KindRules, ProcessView, Role } from '../../domain/processes/process.ts';
import { does, everyKind, takesKind } from '../../domain/processes/process.ts';
import type { Clock, Stopwatch, World } from '../ports/outside.ts';
import type { Due, Processes, ProcessStore, Renewal, Renewed } from '../ports/processes.ts';
import { createHeldSince } from './lease.ts';

/** How a process is known to the others. */
export interface ProcessFacts {
  readonly role: Role;
  readonly release: string;
  readonly host: string;
  readonly pid: number;
  readonly takes: KindRules;
  /** Connections to the database that it may open; absent where the database has none. */
  readonly connections?: number;
  /** Null for one that has the database for itself. */
  readonly sharing: Sharing | null;
}

/** A process that nobody knows, because there are no others. */
export const aloneProcess: ProcessFacts = {
  role: 'all',
  release: '',
  host: '',
  pid: 0,
  takes: everyKind,
  sharing: null,
};

/** For a process that shares its database with others. Its lease runs in real time, whatever a sandbox says. */
export interface Sharing {
  readonly wall: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: World['timer'];
  /** Is told the time of the database, and between which instants of the stopwatch it was read. */
  readonly onTime: (reading: { readonly at: number; readonly before: number; readonly after: number }) => void;
}

export type OwnProcess = ReturnType<typeof createProcesses>;

interface ProcessesDeps extends Pick<World, 'clock' | 'log'> {
  readonly store: ProcessStore;
  readonly id: string;
  /** Kinds of actions that this release knows. */
  readonly kinds: readonly string[];
  readonly facts: ProcessFacts;
  /** Something is free that others have held, or this process may go on after a break. */
  readonly onFree: (ended: readonly string[]) => void;
  /** Called with the loops that have something to look for of which nobody has told them. */
  readonly onDue: (due: readonly Due[]) => void;
  /** Whether it may leave the sign of life of the database with its renewals. */
  readonly signs: () => boolean;
}

/**
 * This process among those that share its database. It renews its lease, ends others whose lease is over, and says whether it
 * still holds its own: it does so for a margin less than the lease, by the stopwatch and by the clock on the wall, because either
 * stands still in some machine that sleeps.
 */
export function createProcesses(deps: ProcessesDeps) {
  const { store, clock, log, id, facts } = deps;
  const { role, release, host, pid, connections = null, sharing } = facts;
  const kinds = does(role, 'work') ? deps.kinds.filter((kind) => takesKind(facts.takes, kind)) : [];
  const self = { id, role, release, kinds, host, pid, connections };
  const lease = sharing === null ? null : createOwnLease({ ...deps, sharing });
  let startedAt = clock.now();
  let row: Promise<void> | null = null;

  const enrol = async () => {
    const before = sharing?.stopwatch.elapsed() ?? 0;
    const at = sharing === null ? clock.now() : null;
    const renewed = await store.enrol({ ...self, at, leaseMs }, sharing === null);
    startedAt = renewed.at;
    await lease?.begin(renewed, before);
  };
  const view = (): ProcessView => {
    const seenAt = clock.now();
    return { ...self, startedAt, seenAt, leaseUntil: seenAt + leaseMs, endedAt: null };
  };

  const processes: Processes & { end(): Promise<void> } = {
    get self() {
      return view();
    },
    isAlone: sharing === null,
    isHeld: () => lease?.isHeld() ?? true,
    isKeeper: () => lease?.isKeeper() ?? true,
    isRenewing: () => lease?.isRenewing() ?? false,
    onRenewal: (call) => lease?.onRenewal(call) ?? (() => undefined),
    begun: () => {
      row ??= enrol().catch((error: unknown) => {
        row = null;
        throw error;
      });
      return row;
    },
    live: async () => {
      // A process that is alone leaves no sign of life in its row.
      if (lease === null) return [view()];
      return store.listProcesses(null);
    },
    pausedSince: async () => {
      if (lease === null || does(role, 'work')) return null;
      const last = await store.lastWorker();
      if (last === null) return clock.now() - startedAt < pausedToldMs ? null : startedAt;
      return last.agoMs < pausedToldMs ? null : last.seenAt;
    },
    /** At a clean stop: what is still held is free at once. */
    end: async () => {
      lease?.stop();
      await store.retire(id, sharing === null ? clock.now() : null).catch((error: unknown) => {
        log.warn('process_not_retired', { error: errorText(error) });
      });
    },
  };
  return processes;
}

type LeaseDeps = ProcessesDeps & { readonly sharing: Sharing };

function createOwnLease(deps: LeaseDeps) {
  const { store, log, id, sharing, onFree } = deps;
  const { wall, stopwatch, timer } = sharing;
  const held = createHeldSince({ stopwatch, clock: wall });
  let heldSince: number | null = null;
  let isFirst = false;
  /** Rescues begin after this: the others may have been cut off from the database as well as this one, or before it began, so they have a moment to come back. */
  let rescuesFrom = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let stopped = false;
  let callOff = () => {};
  const heard = createHeard(deps.onDue);

  const isHeld = () => held.isWithin(leaseMs - leaseMarginMs);

  const renewed = async (found: Renewed, before: number) => {
    const after = stopwatch.elapsed();
    sharing.onTime({ at: found.at, before, after });
    // The lease runs from some instant in between; the earliest is the safe one.
    held.renewed(before);
    const wasEnded = heldSince !== null && found.heldSince !== heldSince;
    const isNewKeeper = found.isKeeper && !isFirst;
    heldSince = found.heldSince;
    isFirst = found.isKeeper;
    if (wasEnded) log.warn('process_was_ended', { process_id: id });
    if (failures > 0 || wasEnded) rescuesFrom = after + rescueAfterMs;
    if (found.isAnyGone && after >= rescuesFrom) await rescueLeft(deps);
    if (failures > 0 || wasEnded || isNewKeeper) onFree([]);
  };

  const turn = async () => {
    try {
      const before = stopwatch.elapsed();
      const found = await store.renewLease(id, leaseMs, isFirst && failures === 0 && deps.signs());
      if (found === null) throw new Error('the row of this process is gone');
      await renewed(found, before);
      if (failures > 0) log.info('lease_renewed', { failures });
      failures = 0;
      heard.tell(found, before);
    } catch (error) {
      failures += 1;
      if (failures === 1) log.warn('lease_not_renewed', { error: errorText(error) });
      heard.tell(null, 0);
    }
    later();
  };
  const later = () => {
    if (!stopped) callOff = timer.after(failures > 0 ? leaseRetryMs : leaseRenewMs, () => void turn());
  };

  return {
    isHeld,
    // While the database is away nobody can take over from the keeper; one that was frozen has to look first.
    isKeeper: () => isFirst && (isHeld() || failures > 0),
    isRenewing: () => failures === 0 && isHeld(),
    onRenewal: heard.on,
    begin: async (found: Renewed, before: number) => {
      // Processes that are gone beyond doubt were ended by the enrolment.
      rescuesFrom = stopwatch.elapsed() + rescueAfterMs;
      await renewed(found, before);
      later();
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}

type OnRenewal = Parameters<Processes['onRenewal']>[0];

/** Listeners to renewals and to what they have found. */
function createHeard(onDue: ProcessesDeps['onDue']) {
  const listeners = new Set<OnRenewal>();
  const dueNow = createDueNow(onDue);
  return {
    on: (call: OnRenewal) => {
      listeners.add(call);
      return () => void listeners.delete(call);
    },
    tell: (found: Renewal | null, before: number): void => {
      for (const call of listeners) call(found, before);
      if (found !== null) dueNow(found);
    },
  };
}

/** Tells of what is due at once, and again from time to time while it stays so: it may be held by something that takes long. */
function createDueNow(onDue: ProcessesDeps['onDue']) {
  const inRow = new Map<Due, number>();
  return ({ due }: Renewal): void => {
    for (const name of inRow.keys()) if (!due.includes(name)) inRow.delete(name);
    const told = due.filter((name) => {
      const times = inRow.get(name) ?? 0;
      inRow.set(name, times + 1);
      return times % dueAgainEvery === 0;
    });
    if (told.length > 0) onDue(told);
  };
}

/** Ends the others whose lease is over, and frees what they have held. */
async function rescueLeft({ store, log, id, onFree }: LeaseDeps): Promise<void> {
  const { ended, runs, parts } = await store.rescueLeft(id);
  for (const gone of ended) log.warn('process_gone', { process_id: gone });
  if (runs + parts > 0) log.warn('rescued', { runs, parts });
  if (ended.length + runs + parts > 0) onFree(ended);
}
