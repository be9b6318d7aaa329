/**
 * Hosts outside are spared: so many calls at once, so many a second, none while it asked to be left alone, and none but a try now
 * and then while it fails again and again. All instants are those of one clock: the monotonic one where a process is alone, else that of
 * the database.
 *
 * The breaker is `closed`; when most of the calls of the last minute failed it is `open` until an instant, and then one call is let
 * through: if it goes well the breaker is closed, else it is open again, each time for longer.
 */
export interface HostState {
  /** Places that are taken, by calls under way and by runs that are about to begin. */
  readonly taken: number;
  /** The last second's calls, oldest first. */
  readonly began: readonly number[];
  /** The host said how long to leave it alone. */
  readonly heldUntil: number;
  readonly ends: readonly { readonly at: number; readonly isBad: boolean }[];
  readonly breaker: Breaker;
}

type Breaker =
  | { readonly is: 'closed' }
  | { readonly is: 'open'; readonly until: number; readonly times: number }
  /** One call tries it out. */
  | { readonly is: 'halfOpen'; readonly times: number };

export interface HostRules {
  readonly concurrency: number;
  readonly perSecond: number;
}

/** `unsaid` is the end of a call that tells nothing about the host: it was called off, or refused by our own rules. */
export type HostEnd = 'good' | 'bad' | 'unsaid';

export type HostVerdict =
  | { readonly is: 'free' }
  /** `until` is null where another call must end first. */
  | {
      readonly is: 'held';
      readonly because: 'busy' | 'pace' | 'askedToWait' | 'broken';
      readonly until: number | null;
    };

const secondMs = 1000;
/** The stretch over which failures are counted, and how many calls say enough. */
const windowMs = 60_000;
const endsKept = 50;
const endsMin = 10;
const badShare = 0.5;
const openMs = 30_000;
const openMaxMs = 300_000;

export const freshHost: HostState = { taken: 0, began: [], heldUntil: 0, ends: [], breaker: { is: 'closed' } };

/** Whether a call may begin now. */
export function hostVerdict(state: HostState, rules: HostRules, now: number): HostVerdict {
  const { breaker, heldUntil, taken } = state;
  if (breaker.is === 'open' && now < breaker.until) return { is: 'held', because: 'broken', until: breaker.until };
  if (breaker.is === 'halfOpen') return { is: 'held', because: 'broken', until: null };
  if (now < heldUntil) return { is: 'held', because: 'askedToWait', until: heldUntil };
  // After a break the first call is alone, whatever was under way when it began.
  if (taken >= rules.concurrency) return { is: 'held', because: 'busy', until: null };
  const oldest = state.began.at(-rules.perSecond);
  if (oldest === undefined || oldest <= now - secondMs) return { is: 'free' };
  return { is: 'held', because: 'pace', until: oldest + secondMs };
}

/** A place is taken. */
export function placeTaken(state: HostState, now: number): HostState {
  const { began, breaker } = state;
  const first = began.findIndex((at) => at > now - secondMs);
  return {
    ...state,
    taken: state.taken + 1,
    began: first === -1 ? [now] : began.slice(first).concat(now),
    breaker: breaker.is === 'open' ? { is: 'halfOpen', times: breaker.times } : breaker,
  };
}

/** A place is given back, with what the call said about the host. */
export function placeLeft(state: HostState, end: HostEnd, now: number): HostState {
  const left = { ...state, taken: Math.max(0, state.taken - 1) };
  const { breaker } = state;
  if (breaker.is === 'halfOpen') return { ...left, ...afterTry(breaker.times, end, now) };
  if (end === 'unsaid') return left;
  const ends = [...state.ends.filter(({ at }) => at > now - windowMs), { at: now, isBad: end === 'bad' }].slice(
    -endsKept,
  );
  const bad = ends.filter(({ isBad }) => isBad).length;
  const breaks = breaker.is === 'closed' && end === 'bad' && ends.length >= endsMin && bad >= ends.length * badShare;
  return { ...left, ends, breaker: breaks ? { is: 'open', until: now + openMs, times: 1 } : breaker };
}

/** A try that said nothing is made again at once. */
function afterTry(times: number, end: HostEnd, now: number): Pick<HostState, 'breaker' | 'ends'> {
  if (end === 'good') return { breaker: { is: 'closed' }, ends: [] };
  if (end === 'unsaid') return { breaker: { is: 'open', until: now, times }, ends: [] };
  const until = now + Math.min(openMaxMs, openMs * 2 ** times);
  return { breaker: { is: 'open', until, times: times + 1 }, ends: [] };
}

/** The host asked to be left alone for so long. */
export function hostHeld(state: HostState, until: number): HostState {
  return { ...state, heldUntil: Math.max(state.heldUntil, until) };
}

/** Tasks take turns: first the one with the fewest places, of these the one that follows the one whose turn was last, in the order of their ids. */
export function nextInTurn(tasks: Iterable<string>, held: (task: string) => number, last: string): string | undefined {
  let best: { readonly task: string; readonly held: number; readonly isAround: boolean } | undefined;
  for (const task of tasks) {
    const one = { task, held: held(task), isAround: task <= last };
    if (best === undefined || isBefore(one, best)) best = one;
  }
  return best?.task;
}

interface InTurn {
  readonly task: string;
  readonly held: number;
  /** Its turn comes after the end of the list. */
  readonly isAround: boolean;
}

function isBefore(one: InTurn, other: InTurn): boolean {
  if (one.held !== other.held) return one.held < other.held;
  return one.isAround === other.isAround ? one.task < other.task : other.isAround;
}

/** A run that nobody wakes, because the process that would is gone, looks by itself after so long. */
export const lookAgainMs = 30_000;
/** A place is kept for so long; a run that was called off meanwhile never takes it. */
export const keptMs = 5000;
/** An attempt that has begun waits no longer than this for its place. */
export const waitInAttemptMs = 5000;

/** For people, why a run has to wait. */
export function heldReason(host: string, { concurrency, perSecond }: HostRules, verdict: HostVerdict): string {
  switch (verdict.is === 'held' ? verdict.because : 'busy') {
    case 'pace':
      return `${host} is called ${perSecond} times a second at most, and others go first`;
    case 'askedToWait':
      return `${host} asked to be left alone for a while`;
    case 'broken':
      return `${host} fails again and again, and is tried once in a while until it answers`;
    case 'busy':
      return `${host} is busy: ${concurrency} calls at once are the most`;
  }
}

/** A host that fails again and again, and that nobody calls any more, is left alone no longer than this. */
const brokenKeptMs = 86_400_000;

/** The instant from which on nothing of a host needs to be remembered that nobody calls. */
export function forgettableFrom({ began, heldUntil, ends, breaker }: HostState): number {
  const over = [heldUntil, (began.at(-1) ?? 0) + secondMs, (ends.at(-1)?.at ?? 0) + windowMs];
  return Math.max(...over, breaker.is === 'open' ? breaker.until + brokenKeptMs : 0);
}

/** Nothing of it needs to be remembered. */
export function isForgettable(state: HostState, now: number): boolean {
  const { taken, began, heldUntil, ends, breaker } = state;
  const isOver = (at: number) => at <= now - windowMs;
  return (
    taken === 0 &&
    heldUntil <= now &&
    breaker.is === 'closed' &&
    began.every((at) => at <= now - secondMs) &&
    ends.every(({ at }) => isOver(at))
  );
}
