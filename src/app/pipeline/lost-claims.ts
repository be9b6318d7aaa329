import type { Room, World } from '../ports/outside.ts';

/** A commit whose answer was not waited for any longer may come about a while after that. */
const lateMs = 30_000;

/**
 * A claim may be committed and its answer lost: then rows stand under this boot that nobody here works on, and nobody else
 * may take them, because this process lives. Steps of a room never overlap, so at the beginning of one no claim is on its
 * way, and what the room does not hold is lost. Let go, it is taken up like the work of a process that is gone; its fence
 * makes a late end of it harmless.
 */
export function createLostClaims(
  { stopwatch, log }: Pick<World, 'stopwatch' | 'log'>,
  room: Room,
  letGo: () => Promise<number>,
) {
  let looks: readonly number[] = [];
  return {
    /** Makes a claim, and remembers when its answer was lost. */
    claim: async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        const now = stopwatch.elapsed();
        looks = [now, now + lateMs];
        throw error;
      }
    },
    /** Lets go what such a claim has left behind; called at the beginning of a step. */
    settle: async (): Promise<void> => {
      const [next = Infinity, ...later] = looks;
      if (next > stopwatch.elapsed()) return;
      const count = await letGo();
      looks = later;
      if (count > 0) log.warn('claims_let_go', { room, count });
    },
  };
}
