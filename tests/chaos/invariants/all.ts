import { accountOf } from '../../invariants/account.ts';
import { proveCalls } from '../../invariants/calls.ts';
import { proveParts } from '../../invariants/deliveries.ts';
import { rowsIn, type Breach, type Row } from '../../invariants/rows.ts';
import { proveSlots } from '../../invariants/slots.ts';
import { proveTasks } from '../../invariants/tasks.ts';
import { proveWork } from '../../invariants/work.ts';
import type { Lived, World } from '../world.ts';
import { proveAsked } from './asked.ts';
import { proveDeeds } from './deeds.ts';
import { proveDeliveries } from './deliveries.ts';
import { countsAnew, isOwedAgain, periodsOf } from './periods.ts';
import { proveSurfaces } from './surfaces.ts';
import { proveStanding } from './tasks.ts';

/** Every promise that a world broke, and how many slots were held to account. */
export function breachesOf(
  world: World,
  restsAt: number,
): { readonly breaches: readonly Breach[]; readonly slots: number } {
  const account = livedIn(world, restsAt);
  const { slots, breaches } = proveSlots(account);
  const proofs = [proveWork, proveTasks, proveParts];
  const witnessed = [proveDeeds, proveStanding, proveDeliveries, proveAsked, proveSurfaces];
  return {
    slots,
    breaches: [
      ...breaches,
      ...proofs.flatMap((prove) => prove(account)),
      ...witnessed.flatMap((prove) => prove(account)),
      ...proveCalls(account, world.target),
    ],
  };
}

function livedIn(world: World, restsAt: number): Lived {
  const { database, journal } = world;
  const { created, runsByHand } = journal.promised;
  const firstOf = (kinds: string) => {
    const found = database.prepare(`select min(id) from events where ref = ? and kind in (${kinds})`).pluck();
    return (ref: string | null) => Number(found.get(ref) ?? Infinity);
  };
  const [arrivalOf, endOf] = [firstOf(`'delivery.delivered'`), firstOf(`'run.succeeded', 'run.failed'`)];
  const account: Lived = accountOf(rowsIn(database), {
    world,
    restsAt,
    setBack: journal.setBack,
    // What a process claimed and was not told of is found by the next one as left behind, though nobody was killed over it.
    wasKilled: ({ boot_id: bootId }: Row<'attempts'>) => journal.deadBoots.has(bootId),
    periodsOf: (task: Row<'tasks'>) => periodsOf(task, account),
    isOwed: (slot: number, task: Row<'tasks'>) => isOwedAgain(slot, task, account),
    countsAfter: ({ id }: Row<'tasks'>) => journal.turns.get(id)?.findLast(countsAnew)?.mark ?? '',
    // A part that was looked for had no known fate for a while, and one that waited for an approval stood aside.
    isInTurn: ({ evidence, decision }: Row<'deliveries'>) => evidence === null && decision === null,
    // Where the store failed, the end of a run was written later than it came, and its parts with it.
    cameLater: (part: Row<'deliveries'>, next: Row<'deliveries'>) => {
      const ended = endOf(part.run_id);
      return ended !== Infinity && ended > arrivalOf(next.id);
    },
    promised: { created: [...created.keys()], runsByHand },
  });
  return account;
}
