import { rescueBatchMax, rescueEveryMs } from '../../domain/limits.ts';
import type { Holding } from '../holding.ts';
import type { Bell, Log, Room } from '../ports.ts';
import type { Chore } from './chore.ts';
import type { Claimed, HousekeepingStore } from './store.ts';

/**
 * A claim may be committed and its answer lost: then rows stand under this boot that nobody here works on, and nobody else
 * may take them, because this process lives. The rescue looks for them and lets them go, so that the ordinary recovery
 * takes them up; there is no second one.
 *
 * A process never takes away its own live attempt. What was seen in one look came from claims that had been asked for by
 * then; once all of those are over, the row is still claimed under the same fence, and the room does not hold it, its
 * answer can never come.
 */
export function createRescue(needs: Needs): Chore {
  const { store, bootId, runner, deliverer } = needs;
  const wards = [
    ward(needs, {
      room: 'runner',
      holding: runner,
      claimed: () => store.claimedRuns(bootId, rescueBatchMax),
      letGo: (claims) => store.letRunsGo(bootId, claims),
    }),
    ward(needs, {
      room: 'deliverer',
      holding: deliverer,
      claimed: () => store.claimedParts(bootId, rescueBatchMax),
      letGo: (claims) => store.letPartsGo(bootId, claims),
    }),
  ];
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'rescue',
    step: async (now) => {
      let taken = 0;
      for (const look of wards) taken += await look();
      nextAt = now + rescueEveryMs;
      return { taken: taken + 1, more: false };
    },
    // A clock that was set back does not put the next look off for longer than a pause.
    nextAt: async (now) => Math.min(nextAt, now + rescueEveryMs),
  };
}

interface Needs {
  readonly store: Pick<HousekeepingStore, 'claimedRuns' | 'claimedParts' | 'letRunsGo' | 'letPartsGo'>;
  readonly bootId: string;
  readonly runner: Holding;
  readonly deliverer: Holding;
  readonly bell: Bell;
  readonly log: Log;
}

interface Ward {
  readonly room: Room;
  readonly holding: Holding;
  readonly claimed: () => Promise<readonly Claimed[]>;
  readonly letGo: (claims: readonly Claimed[]) => Promise<number>;
}

interface Suspect extends Claimed {
  /** The last claim that can have taken it. */
  readonly claim: number;
}

function ward({ bell, log }: Needs, { room, holding, claimed, letGo }: Ward): () => Promise<number> {
  let suspects: ReadonlyMap<string, Suspect> = new Map();
  return async () => {
    const seen = await claimed();
    // Asked for after the look, so that no claim that may have made a row of it is left out.
    const claim = holding.asked();
    const unheld = seen.filter(({ id }) => !holding.has(id));
    const known = unheld.map((one) => {
      const before = suspects.get(one.id);
      return before?.fence === one.fence ? before : { ...one, claim };
    });
    const lost = known.filter(
      (one) => suspects.has(one.id) && suspects.get(one.id) === one && one.claim <= holding.over(),
    );
    suspects = new Map(known.filter((one) => !lost.includes(one)).map((one) => [one.id, one]));
    if (lost.length === 0) return 0;
    const count = await letGo(lost);
    log.warn('claims_let_go', { room, count, ids: lost.slice(0, 10).map(({ id }) => id) });
    bell.ring(room);
    return count;
  };
}
