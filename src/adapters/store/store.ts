import type { Store } from '../../app/task-store.ts';
import type { Engine } from './engine.ts';
import { translate } from './faults.ts';
import { housekeepingStore } from './housekeeping.ts';
import { outboxStore } from './outbox.ts';
import { runStore } from './runs.ts';
import { slotStore } from './slots.ts';
import { taskStore } from './tasks.ts';
import { truthStore } from './truth.ts';
import { upkeepStore } from './upkeep.ts';

/** The store over either engine. Nothing but an `AppError` leaves it. */
export function createStore(engine: Engine): Store {
  const store: Store = {
    ...slotStore(engine),
    ...runStore(engine),
    ...outboxStore(engine),
    ...taskStore(engine),
    ...upkeepStore(engine),
    ...housekeepingStore(engine),
    ...truthStore(engine),
    close: () => engine.close(),
  };
  const guarded = Object.entries(store).map(([name, method]) => [name, translated(method as Method)]);
  return Object.fromEntries(guarded) as Store;
}

type Method = (...args: never[]) => Promise<unknown>;

function translated(method: Method): Method {
  return async (...args) => {
    try {
      return await method(...args);
    } catch (error) {
      throw translate(error);
    }
  };
}
