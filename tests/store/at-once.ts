import type { Store } from '../../src/app/ports/store.ts';
import type { RoomSettings } from '../../src/compose/assembly.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { Script } from '../../src/store/engine/engine.ts';
import { minute, nine } from '../support/builders.ts';
import { manualTime } from '../support/fakes.ts';
import type { OpenWorld, World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';
import { engineOn, type Engine } from './conformance/verbs.ts';

export const numbers = (count: number) => Array.from({ length: count }, (_none, index) => index);

/** Callers over four stores, each with its own connections, all at once. */
export async function atOnce<T>(
  world: World,
  count: number,
  call: (store: Store, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const stores = [world.store, world.another(), world.another(), world.another()];
  return Promise.allSettled(numbers(count).map((index) => call(stores[index % stores.length] ?? world.store, index)));
}

export function won<T>(results: readonly PromiseSettledResult<T>[]): T[] {
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** The codes of those that were refused; anything but a refusal of ours is a fault. */
export function codes(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    return [result.reason instanceof AppError ? result.reason.code : String(result.reason)];
  });
}

/** Four processes over one database, each with connections of its own; the first one is where a test sets the scene. */
export function processes(world: World, own: Partial<RoomSettings> = {}): readonly [Engine, ...Engine[]] {
  const time = manualTime(nine - 30 * minute);
  const beside = numbers(3).map(() => engineOn(world, world.another(), time, own));
  return [engineOn(world, world.store, time, own), ...beside];
}

export async function opened(open: OpenWorld, own: Partial<RoomSettings> = {}) {
  const world = await open();
  const engines = processes(world, own);
  return { world, engines, first: engines[0] };
}

export async function withTask(open: OpenWorld, input: Parameters<Engine['create']>[0] = {}) {
  const made = await opened(open);
  return { ...made, task: await made.first.create(input) };
}

/** Deeds over all processes at once: what they were given, and the codes of the refusals. */
export async function together<T>(
  engines: readonly [Engine, ...Engine[]],
  deeds: readonly ((engine: Engine) => Promise<T>)[],
) {
  const results = await Promise.allSettled(
    deeds.map(async (deed, index) => deed(engines[index % engines.length] ?? engines[0])),
  );
  return { won: won(results), codes: codes(results) };
}

/** Asks the server until another transaction waits for a row of this one; what it knows of others it keeps till told not to. */
export function* untilSomebodyWaits(): Script<void> {
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((yield* rows(waiting)).length === 0) yield* rows('select pg_stat_clear_snapshot()');
}
