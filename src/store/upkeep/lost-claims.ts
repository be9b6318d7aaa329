import type { Claimed, ClaimsRequest, HousekeepingStore } from '../../app/ports/upkeep.ts';
import { each, rows, type Engine, type Script } from '../engine/engine.ts';

/** Claims of this boot, and the way to give up those that nobody holds. */
export function lostClaimStore(
  engine: Engine,
): Pick<HousekeepingStore, 'claimedRuns' | 'claimedParts' | 'letRunsGo' | 'letPartsGo'> {
  const claimed =
    (text: string) =>
    ({ bootId, after, limit }: ClaimsRequest) =>
      engine.transact(() => rows<Claimed>(text, bootId, after, limit));
  const letGo = (text: string) => (bootId: string, claims: readonly Claimed[]) =>
    engine.transact(() => giveUp(text, bootId, claims));
  return {
    claimedRuns: claimed(
      `select id, fence from runs where status = 'running' and boot_id = ?t and id > ?t order by id limit ?i`,
    ),
    claimedParts: claimed(
      `select id, fence from deliveries where status = 'sending' and boot_id = ?t and id > ?t order by id limit ?i`,
    ),
    letRunsGo: letGo(
      `update runs set boot_id = ?t where id = ?t and fence = ?i and status = 'running' and boot_id = ?t`,
    ),
    letPartsGo: letGo(
      `update deliveries set boot_id = ?t where id = ?t and fence = ?i and status = 'sending' and boot_id = ?t`,
    ),
  };
}

/** A boot that never was: to whoever claims next, it looks like any other process that is gone. */
export function lostBoot(bootId: string): string {
  return `lost:${bootId}`;
}

function* giveUp(text: string, bootId: string, claims: readonly Claimed[]): Script<number> {
  const gone = yield* each(
    text,
    claims.map(({ id, fence }) => [lostBoot(bootId), id, fence, bootId]),
  );
  return gone.filter(Boolean).length;
}
