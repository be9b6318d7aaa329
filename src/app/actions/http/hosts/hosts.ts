import {
  freshHost,
  heldReason,
  hostHeld,
  hostVerdict,
  isForgettable,
  keptMs,
  lookAgainMs,
  placeLeft,
  placeTaken,
  waitInAttemptMs,
  type HostEnd,
  type HostRules,
  type HostState,
  type HostVerdict,
} from '../../../../domain/outbound/hosts.ts';
import type { PlaceAsked } from '../../../ports/outbound.ts';
import type { Stopwatch, Timer } from '../../../ports/outside.ts';
import { createQueue, type Queue, type Waiter } from './queue.ts';

/**
 * Places at hosts, in the memory of a process that is alone. A run asks for one before its attempt begins; where there is none it waits in the store and is woken when its turn
 * comes, and its place is kept for it until it begins. Tasks take turns, so a task with many runs does not keep out the others.
 */
export interface Hosts {
  /** Null when a place is kept for the run, so that it may begin now; where several processes share places, its start takes one. */
  hold(host: string, who: Waiter): Hold | PlaceAsked | null;
  /** Takes the place that is kept, or waits a little for one: of a host that was known only now. */
  enter(host: string, who: Entrant, signal: AbortSignal): Promise<Place | Hold>;
  /** At the end of the process: tells of places that were given back. What cannot be told then is free with all that it held. */
  stop(): Promise<void>;
  /** A process is gone: its places are free. */
  freed(): void;
}

/** An attempt that has begun. */
export interface Entrant extends Waiter {
  /** By it the attempt is told from one that was given up. */
  readonly fence: number;
  /** The host at which its start has taken a place; null where it took none. */
  readonly placeAt: string | null;
}

export interface Hold {
  readonly is: 'held';
  readonly afterMs: number;
  readonly reason: string;
}

export interface Place {
  readonly is: 'entered';
  /** Given back once, with what the call said about the host, and for how long that asked to be left alone. */
  leave(end: HostEnd, holdMs?: number): void;
}

export interface HostsDeps {
  readonly stopwatch: Stopwatch;
  readonly timer: Pick<Timer, 'after'>;
  readonly rules: HostRules;
  /** Lets runs that wait in the store begin. */
  readonly wake: (runIds: readonly string[]) => void;
}

/** More than this at one host wait without a turn, and look again by themselves. */
const waitersMax = 10_000;
/** Hosts that are remembered before those are forgotten that nobody calls. */
const hostsKept = 1000;

export function createHosts(deps: HostsDeps): Hosts {
  const hosts = new Map<string, Host>();
  const hostOf = (name: string): Host => {
    const known = hosts.get(name);
    if (known !== undefined) return known;
    if (hosts.size >= hostsKept) for (const [key, one] of hosts) if (one.isIdle()) hosts.delete(key);
    const made = createHost(name, deps);
    hosts.set(name, made);
    return made;
  };
  return {
    hold: (host, who) => hostOf(host).hold(who),
    enter: (host, who, signal) => hostOf(host).enter(who, signal),
    stop: async () => undefined,
    freed: () => undefined,
  };
}

type Host = ReturnType<typeof createHost>;

/** Places of one host: those that are taken, and those that are kept for runs which are about to begin. */
function createPlaces({ stopwatch, rules }: Pick<HostsDeps, 'stopwatch' | 'rules'>, queue: Queue) {
  let state: HostState = freshHost;
  const kept = new Map<string, number>();
  const leave = (runId: string, end: HostEnd): void => {
    queue.left(runId);
    state = placeLeft(state, end, stopwatch.elapsed());
  };
  return {
    verdict: () => hostVerdict(state, rules, stopwatch.elapsed()),
    isKept: (runId: string) => kept.has(runId),
    keep: (who: Waiter): void => {
      const now = stopwatch.elapsed();
      state = placeTaken(state, now);
      queue.taken(who);
      kept.set(who.runId, now + keptMs);
    },
    take: (runId: string) => kept.delete(runId),
    left: (runId: string, end: HostEnd, holdMs: number): void => {
      leave(runId, end);
      if (holdMs > 0) state = hostHeld(state, stopwatch.elapsed() + holdMs);
    },
    /** Those that nobody took in time are free again. The oldest come first, as all are kept for as long. */
    giveUpKept: (): void => {
      const now = stopwatch.elapsed();
      for (const [runId, until] of kept) {
        if (until > now) break;
        kept.delete(runId);
        leave(runId, 'unsaid');
      }
    },
    keptUntil: () => kept.values().next().value ?? Infinity,
    isIdle: () => kept.size === 0 && isForgettable(state, stopwatch.elapsed()),
  };
}

/** Gives out what is free, and looks again when something may be. */
function createTurns(deps: HostsDeps) {
  const { stopwatch, timer, wake } = deps;
  const queue = createQueue();
  const places = createPlaces(deps, queue);
  let callOff = () => {};

  const pump = (): void => {
    callOff();
    places.giveUpKept();
    const woken: string[] = [];
    while (places.verdict().is === 'free') {
      const next = queue.next();
      if (next === undefined) break;
      places.keep(next);
      if (next.call === undefined) woken.push(next.runId);
      else next.call();
    }
    if (woken.length > 0) wake(woken);
    const verdict = places.verdict();
    const opens = verdict.is === 'held' && !queue.isEmpty() ? (verdict.until ?? Infinity) : Infinity;
    const at = Math.min(opens, places.keptUntil());
    if (at < Infinity) callOff = timer.after(at - stopwatch.elapsed(), pump);
  };

  return {
    queue,
    verdict: places.verdict,
    pump,
    isIdle: () => queue.isEmpty() && places.isIdle(),
    /** Keeps a place for it at once, where nobody is before it. */
    ask: (who: Waiter): HostVerdict => {
      pump();
      if (places.isKept(who.runId)) return { is: 'free' };
      const verdict = places.verdict();
      if (verdict.is === 'held') return verdict;
      queue.drop(who.runId);
      places.keep(who);
      pump();
      return verdict;
    },
    /** The place that was kept for the run; null where none was. */
    take: (runId: string): Place | null => {
      if (!places.take(runId)) return null;
      let isLeft = false;
      const leave: Place['leave'] = (end, holdMs = 0) => {
        if (isLeft) return;
        isLeft = true;
        places.left(runId, end, holdMs);
        pump();
      };
      return { is: 'entered', leave };
    },
  };
}

function createHost(name: string, deps: HostsDeps) {
  const { stopwatch, timer, rules } = deps;
  const turns = createTurns(deps);
  const { queue } = turns;

  const holdOf = (verdict: HostVerdict): Hold => {
    const opensIn = verdict.is === 'held' && verdict.until !== null ? verdict.until - stopwatch.elapsed() : 0;
    return { is: 'held', afterMs: Math.max(lookAgainMs, opensIn), reason: heldReason(name, rules, verdict) };
  };

  /** Resolves when a place is kept for the run, and when it gives up. */
  const turnOf = (who: Waiter, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        queue.drop(who.runId);
        callOff();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const callOff = timer.after(waitInAttemptMs, done);
      signal.addEventListener('abort', done);
      queue.add({ ...who, call: done });
      turns.pump();
    });

  return {
    isIdle: turns.isIdle,
    hold: (who: Waiter): Hold | null => {
      const verdict = turns.ask(who);
      if (verdict.is === 'free') return null;
      if (queue.size() < waitersMax) queue.add(who);
      turns.pump();
      return holdOf(verdict);
    },
    enter: async (who: Waiter, signal: AbortSignal): Promise<Place | Hold> => {
      const verdict = turns.ask(who);
      if (verdict.is === 'held') {
        const isLong = (verdict.until ?? 0) - stopwatch.elapsed() > waitInAttemptMs;
        if (isLong || queue.size() >= waitersMax) return holdOf(verdict);
        await turnOf(who, signal);
      }
      return turns.take(who.runId) ?? holdOf(turns.verdict());
    },
  };
}
