import type { World } from '../world.ts';
import { openAccount } from './account.ts';
import { proveAsked } from './asked.ts';
import { proveDeliveries } from './deliveries.ts';
import { proveSlots } from './slots.ts';
import { proveSurfaces } from './surfaces.ts';
import { proveTasks } from './tasks.ts';
import { proveWork } from './work.ts';

/** Every promise that a world broke, and how many slots were held to account. */
export function breachesOf(
  world: World,
  restsAt: number,
): { readonly breaches: readonly string[]; readonly slots: number } {
  const account = openAccount(world, restsAt);
  const { slots, breaches } = proveSlots(account);
  return {
    slots,
    breaches: [
      ...breaches,
      ...proveWork(account),
      ...proveTasks(account),
      ...proveDeliveries(account),
      ...proveAsked(account),
      ...proveSurfaces(account),
    ],
  };
}
