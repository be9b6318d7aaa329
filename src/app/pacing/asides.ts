import { asideWaitMaxMs } from '../../domain/limits.ts';
import { note, roomAt, shareOfAsides, whenFree, type Purse, type Rate } from '../../domain/pacing/pace.ts';
import type { Budget, CallFault, World } from '../ports/outside.ts';

/** Calls that wait for the end of another one are looked at again after this. */
export const lookAgainMs = 100;
export const leftAlone: CallFault = { is: 'unreached', error: 'Telegram must be left alone for now' };

interface Beginning {
  /** Begins if it may now. */
  readonly begin: () => boolean;
  /** Infinity while that hangs on the end of another call. */
  readonly freeAt: () => number;
  readonly isInVain: (now: number, at: number) => boolean;
}

/** Begins as soon as the budget has room; false when waiting is in vain. */
export async function begun(
  { stopwatch, timer }: Pick<World, 'stopwatch' | 'timer'>,
  { freeAt, isInVain, begin }: Beginning,
): Promise<boolean> {
  while (!begin()) {
    const [now, at] = [stopwatch.elapsed(), freeAt()];
    if (isInVain(now, at)) return false;
    const waitMs = at === Infinity ? lookAgainMs : Math.ceil(at - now);
    await new Promise<void>((resolve) => timer.after(waitMs, resolve));
  }
  return true;
}

/** Calls that are no message of a chat's turn: they have half of the budget of all chats at most, and come before results. */
export function createAsides(deps: Pick<World, 'stopwatch' | 'timer'>, overall: Rate, all: Purse) {
  const own: Purse = { open: 0, ends: [], heldUntil: -Infinity };
  const share = shareOfAsides(overall);
  let waiting = 0;
  const freeAt = () => Math.max(whenFree(own, share), whenFree(all, overall));
  const begin = () => {
    if (freeAt() > deps.stopwatch.elapsed()) return false;
    for (const purse of [all, own]) purse.open += 1;
    return true;
  };
  /** False when it would take so long that nobody looks any more. */
  const beginLater = async (): Promise<boolean> => {
    const until = deps.stopwatch.elapsed() + asideWaitMaxMs;
    const isInVain = (now: number, at: number) => now >= until || (at !== Infinity && at > until);
    waiting += 1;
    try {
      return await begun(deps, { begin, freeAt, isInVain });
    } finally {
      waiting -= 1;
    }
  };
  const make: Budget['aside'] = async (call) => {
    if (!begin() && !(await beginLater())) return leftAlone;
    try {
      const answer = await call();
      if (isWait(answer)) own.heldUntil = Math.max(own.heldUntil, deps.stopwatch.elapsed() + answer.ms);
      return answer;
    } finally {
      const now = deps.stopwatch.elapsed();
      for (const purse of [all, own]) {
        purse.open -= 1;
        note(purse.ends, overall, now);
      }
    }
  };
  return {
    make,
    areOpen: () => own.open > 0,
    /** Those that wait, as far as they may begin now. */
    due: (now: number) => (own.heldUntil > now ? 0 : Math.min(waiting, roomAt(own, share, now))),
  };
}

export function isWait(answer: unknown): answer is Extract<CallFault, { is: 'wait' }> {
  return typeof answer === 'object' && answer !== null && 'is' in answer && answer.is === 'wait';
}
