import { errorText } from '../../../../domain/errors.ts';
import {
  heldReason,
  lookAgainMs,
  waitInAttemptMs,
  type HostRules,
  type HostVerdict,
} from '../../../../domain/outbound/hosts.ts';
import type { HostStore, PlaceLeft } from '../../../ports/outbound.ts';
import type { Clock, Log, Timer } from '../../../ports/outside.ts';
import type { Entrant, Hold, Hosts, Place } from './hosts.ts';

export interface SharedHostsDeps {
  readonly store: HostStore;
  /** The clock of the database, which all processes share. */
  readonly clock: Clock;
  readonly timer: Pick<Timer, 'after' | 'yield'>;
  readonly log: Log;
  readonly bootId: string;
  readonly rules: HostRules;
  /** Runs that waited in the store may begin. */
  readonly onWoken: () => void;
}

/** An attempt that waits for its turn looks again after so long. */
const enterAgainMs = 100;
/** Places that could not be told to a database that is away are told again. */
const tellAgainMs = 1000;

/**
 * Places of several processes, in rows: a run takes one in the transaction of its start, and those that wait have their turn with
 * whoever gives one back. All that end in this process are told of together.
 */
export function createSharedHosts(deps: SharedHostsDeps): Hosts {
  const { store, log, rules } = deps;
  const leaving = createLeaving(deps);
  const placeOf = (host: string, { runId, fence }: Entrant): Place => {
    let isLeft = false;
    const leave: Place['leave'] = (end, holdMs = 0) => {
      if (isLeft) return;
      isLeft = true;
      leaving.tell({ host, runId, fence, end, heldUntil: holdMs > 0 ? deps.clock.now() + holdMs : 0 });
    };
    return { is: 'entered', leave };
  };
  return {
    hold: (host, { runId, taskId }) => ({ is: 'asked', host, turn: taskId ?? runId, rules }),
    enter: async (host, who, signal) => {
      if (who.placeAt === host) return placeOf(host, who);
      const hold = await entered(deps, host, who, signal);
      return hold ?? placeOf(host, who);
    },
    stop: leaving.stop,
    freed: () => {
      store.hostsLeft().then(
        (hosts) => leaving.giveTurns(hosts),
        // Runs that wait look by themselves.
        (error: unknown) => log.warn('hosts_not_freed', { error: errorText(error) }),
      );
    },
  };
}

/** Null when the attempt has its place. */
async function entered(deps: SharedHostsDeps, host: string, who: Entrant, signal: AbortSignal): Promise<Hold | null> {
  const { store, clock, timer, log, bootId, rules } = deps;
  const { runId, taskId, fence } = who;
  const until = clock.now() + waitInAttemptMs;
  for (;;) {
    const now = clock.now();
    const isLast = signal.aborted || now >= until;
    const asked = { host, turn: taskId ?? runId, rules, runId, fence, bootId, isLast };
    let verdict: HostVerdict;
    try {
      verdict = await store.enterHost(asked, now);
    } catch (error) {
      log.warn('host_not_asked', { error: errorText(error) });
      return {
        is: 'held',
        afterMs: lookAgainMs,
        reason: `whether ${host} may be called is not known: the database is away`,
      };
    }
    if (verdict.is === 'free') return null;
    if (isLast || (verdict.until ?? 0) - now > waitInAttemptMs)
      return {
        is: 'held',
        afterMs: Math.max(lookAgainMs, (verdict.until ?? 0) - now),
        reason: heldReason(host, rules, verdict),
      };
    await new Promise<void>((resolve) => timer.after(enterAgainMs, resolve));
  }
}

/** Tells of places that were given back, and gives turns again when a host opens for those that wait there. */
function createLeaving({ store, clock, timer, log, rules, onWoken }: SharedHostsDeps) {
  let left: PlaceLeft[] = [];
  const opens = new Map<string, number>();
  let turning: Promise<void> | null = null;
  let callOff = () => {};
  let isStopped = false;

  const due = (now: number): string[] => [...opens].flatMap(([host, at]) => (at <= now ? host : []));
  /** Answers whether the database could be told. */
  const turn = async (): Promise<boolean> => {
    const now = clock.now();
    const [told, others] = [left, due(now)];
    left = [];
    try {
      const { woken, next } = await store.leaveHosts(told, others, { now, rules });
      for (const host of [...others, ...told.map((one) => one.host)]) opens.delete(host);
      for (const { host, at } of next) opens.set(host, at);
      if (woken > 0) onWoken();
      return true;
    } catch (error) {
      left = [...told, ...left];
      log.warn('hosts_not_left', { count: left.length, error: errorText(error) });
      return false;
    }
  };
  const turns = async (): Promise<void> => {
    // Calls that end in the same turn of the process are told of together.
    await timer.yield();
    let isAway = false;
    while (!isAway && (left.length > 0 || due(clock.now()).length > 0)) isAway = !(await turn());
    turning = null;
    callOff();
    const opensInMs = Math.min(...opens.values()) - clock.now();
    const waitMs = isAway ? tellAgainMs : Math.max(opensInMs, 1);
    if (waitMs < Infinity && !isStopped) callOff = timer.after(waitMs, wake);
  };
  const wake = (): void => {
    turning ??= turns();
  };

  return {
    tell: (one: PlaceLeft): void => {
      left.push(one);
      wake();
    },
    giveTurns: (hosts: readonly string[]): void => {
      for (const host of hosts) opens.set(host, clock.now());
      if (hosts.length > 0) wake();
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      await turning;
      callOff();
    },
  };
}
