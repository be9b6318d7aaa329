import { asideWaitMaxMs } from '../../domain/limits.ts';
import { isUnlimited } from '../../domain/pacing/pace.ts';
import type { Paced, PaceStore } from '../ports/outbox.ts';
import type { Budget, World } from '../ports/outside.ts';
import { createAsides, isWait, leftAlone, lookAgainMs } from './asides.ts';

interface SharedAsidesDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer'> {
  readonly store: Pick<PaceStore, 'paceAsides'>;
  readonly paced: Paced;
}

interface Asking {
  readonly until: number;
  readonly answer: (may: boolean) => void;
}

/**
 * Calls beside the outbox, where several processes make them. All that begin, end or wait in this process are told of together.
 * While the database is away they keep the pace of this process alone: people are told so by such calls.
 */
export function createSharedAsides(deps: SharedAsidesDeps): Budget['aside'] {
  const { clock, paced } = deps;
  const alone = createAsides(deps, paced.rates.overall, { open: 0, ends: [], heldUntil: -Infinity });
  const places = createPlaces(deps);
  const make: Budget['aside'] = async (call) => {
    const place = await places.take();
    if (place === 'away') return alone.make(call);
    if (place === 'none') return leftAlone;
    let waitMs = 0;
    try {
      const answer = await call();
      if (isWait(answer)) waitMs = answer.ms;
      return answer;
    } finally {
      places.leave(clock.now(), waitMs);
    }
  };
  return isUnlimited(paced.rates) ? alone.make : make;
}

function createPlaces({ store, clock, timer, paced }: SharedAsidesDeps) {
  let asking: Asking[] = [];
  let ended: number[] = [];
  let [open, heldUntil, nextAt] = [0, 0, 0];
  let isAway = false;
  let turning: Promise<void> | null = null;

  const giveUp = (now: number) => {
    const late = asking.filter(({ until }) => until <= now);
    asking = asking.filter(({ until }) => until > now);
    for (const { answer } of late) answer(false);
  };
  /** Tells of everything that is not told yet, and begins what may begin. */
  const turn = async () => {
    const now = clock.now();
    giveUp(now);
    const told = { now, open, ended, wanted: asking.length, heldUntil };
    ended = [];
    const { granted, freeAt } = await store.paceAsides(told, paced);
    open += granted;
    nextAt = freeAt ?? clock.now() + lookAgainMs;
    for (const { answer } of asking.splice(0, granted)) answer(true);
  };
  const turns = async () => {
    // Calls that begin or end in the same turn of the process are told of together.
    await timer.yield();
    while (asking.length > 0 || ended.length > 0) {
      try {
        await turn();
        isAway = false;
      } catch {
        isAway = true;
        ended = [];
        for (const { answer } of asking.splice(0)) answer(false);
      }
      if (asking.length === 0) continue;
      const waitMs = Math.min(nextAt, ...asking.map(({ until }) => until)) - clock.now();
      await new Promise<void>((resolve) => timer.after(Math.max(waitMs, 1), resolve));
    }
    turning = null;
  };
  const wake = () => {
    turning ??= turns();
  };

  return {
    take: async (): Promise<'taken' | 'none' | 'away'> => {
      const may = await new Promise<boolean>((answer) => {
        asking.push({ until: clock.now() + asideWaitMaxMs, answer });
        wake();
      });
      if (may) return 'taken';
      return isAway ? 'away' : 'none';
    },
    leave: (at: number, waitMs: number): void => {
      open -= 1;
      ended.push(at);
      if (waitMs > 0) heldUntil = Math.max(heldUntil, at + waitMs);
      wake();
    },
  };
}
