import type { HousekeepingStore } from '../../app/ports/upkeep.ts';
import { checkStore } from './checks.ts';
import type { Engine } from '../engine/engine.ts';
import { lostClaimStore } from './lost-claims.ts';
import { repairStore } from './repairs.ts';
import { retentionStore } from './retention.ts';
import { sampleStore } from './samples.ts';

export function housekeepingStore(engine: Engine): HousekeepingStore {
  return {
    ...retentionStore(engine),
    ...lostClaimStore(engine),
    ...checkStore(engine),
    ...repairStore(engine),
    ...sampleStore(engine),
  };
}
