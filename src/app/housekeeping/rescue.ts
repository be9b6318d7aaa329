import { rescueBatchMax, rescueEveryMs } from '../../domain/limits.ts';
import type { Holding } from '../pipeline/holding.ts';
import type { Bell, Log, Room, Timer } from '../ports/outside.ts';
import type { Claimed, HousekeepingStore } from '../ports/upkeep.ts';
import type { Chore } from './chore.ts';

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
      claimed: (after) => store.claimedRuns({ bootId, after, limit: rescueBatchMax }),
      letGo: (claims) => store.letRunsGo(bootId, claims),
    }),
    ward(needs, {
      room: 'deliverer',
      holding: deliverer,
      claimed: (after) => store.claimedParts({ bootId, after, limit: rescueBatchMax }),
      letGo: (claims) => store.letPartsGo(bootId, claims),
    }),
  ];
  return {
    name: 'rescue',
    when: { every: rescueEveryMs },
    step: async () => {
      let taken = 0;
      for (const look of wards) taken += await look();
      return { taken: taken + 1, more: false };
    },
  };
}

interface Needs {
  readonly store: Pick<HousekeepingStore, 'claimedRuns' | 'claimedParts' | 'letRunsGo' | 'letPartsGo'>;
  readonly bootId: string;
  readonly runner: Holding;
  readonly deliverer: Holding;
  readonly bell: Bell;
  readonly timer: Pick<Timer, 'yield'>;
  readonly log: Log;
}

interface Ward {
  readonly room: Room;
  readonly holding: Holding;
  readonly claimed: (after: string) => Promise<readonly Claimed[]>;
  readonly letGo: (claims: readonly Claimed[]) => Promise<number>;
}

interface Suspect extends Claimed {
  /** The last claim that can have taken it. */
  readonly claim: number;
}

function ward({ bell, timer, log }: Needs, { room, holding, claimed, letGo }: Ward): () => Promise<number> {
  let suspects: ReadonlyMap<string, Suspect> = new Map();

  /** Every claim that is not held, page by page: as many may be lost as may be claimed at a time. */
  const look = async (): Promise<readonly Claimed[]> => {
    const unheld: Claimed[] = [];
    for (let after = ''; ;) {
      const page = await claimed(after);
      unheld.push(...page.filter(({ id }) => !holding.has(id)));
      const last = page.at(-1);
      if (last === undefined || page.length < rescueBatchMax) return unheld;
      after = last.id;
      await timer.yield();
    }
  };

  const release = async (lost: readonly Claimed[]): Promise<number> => {
    let count = 0;
    for (let at = 0; at < lost.length; at += rescueBatchMax) {
      if (at > 0) await timer.yield();
      count += await letGo(lost.slice(at, at + rescueBatchMax));
    }
    return count;
  };

  return async () => {
    const unheld = await look();
    // Asked for after the look, so that no claim that may have made a row of it is left out.
    const claim = holding.asked();
    const known = unheld.map((one) => {
      const before = suspects.get(one.id);
      return before?.fence === one.fence ? before : { ...one, claim };
    });
    const lost = known.filter(
      (one) => suspects.has(one.id) && suspects.get(one.id) === one && one.claim <= holding.over(),
    );
    const gone = new Set(lost);
    suspects = new Map(known.filter((one) => !gone.has(one)).map((one) => [one.id, one]));
    const count = await release(lost);
    // What has ended since the look needed nobody's help.
    if (count === 0) return 0;
    log.warn('claims_let_go', { room, count, ids: lost.slice(0, 10).map(({ id }) => id) });
    bell.ring(room);
    return count;
  };
}
