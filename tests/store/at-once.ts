import type { Store } from '../../src/app/ports/store.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { Script } from '../../src/store/engine/engine.ts';
import type { World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';

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

/** Asks the server until another transaction waits for a row of this one; what it knows of others it keeps till told not to. */
export function* untilSomebodyWaits(): Script<void> {
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((yield* rows(waiting)).length === 0) yield* rows('select pg_stat_clear_snapshot()');
}
