import type { Chore } from '../../src/app/housekeeping/chore.ts';
import { createHousekeeper, type Housekeeper } from '../../src/app/housekeeping/housekeeper.ts';
import type { UpkeepStore } from '../../src/app/ports/upkeep.ts';
import { memoryLog, type ManualTime, type MemoryLog } from './fakes.ts';

interface Place {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  readonly time: ManualTime;
  readonly log?: MemoryLog;
}

/** A housekeeper with these chores alone. */
export function houseOf({ store, time, log = memoryLog() }: Place, chores: readonly Chore[]): Housekeeper {
  return createHousekeeper(
    { processes: { isKeeper: () => true }, store, clock: time, stopwatch: time, bell: { ring: () => undefined }, log },
    chores,
  );
}

/** Lets it do what is due, from pause to pause, until nothing is due for so long. Answers what the steps took up. */
export async function tidy(housekeeper: Housekeeper, time: ManualTime, quietMs = 20_000): Promise<number> {
  let taken = 0;
  for (let turns = 0; turns < 5000; turns += 1) {
    taken += (await housekeeper.step(time.now(), 100)).taken;
    const next = await housekeeper.nextAt(time.now());
    if (next === null || next > time.now() + quietMs) return taken;
    await time.advance(Math.max(next - time.now(), 0));
  }
  throw new Error('the housekeeper does not come to rest');
}
