import type { Store } from '../../app/task-store.ts';
import { ackStore } from './acks.ts';
import { approvalStore } from './approvals.ts';
import { answerStore } from './kept-answers.ts';
import { chatFactStore } from './chat-facts.ts';
import { chatTaskStore } from './chat-tasks.ts';
import { chatsStore } from './chats.ts';
import type { Engine } from './engine.ts';
import { translate } from './faults.ts';
import { grantStore } from './grants.ts';
import { holdStore } from './holds.ts';
import { housekeepingStore } from './housekeeping.ts';
import { inboxStore } from './inbox.ts';
import { messageStore } from './messages.ts';
import { outboxStore } from './outbox.ts';
import { peopleStore } from './people.ts';
import { pressedStore } from './pressed.ts';
import { questionStore } from './questions.ts';
import { runStore } from './runs.ts';
import { slotStore } from './slots.ts';
import { taskStore } from './tasks.ts';
import { traceStore } from './traces.ts';
import { truthStore } from './truth.ts';
import { upkeepStore } from './upkeep.ts';
import { usageStore } from './usage.ts';
import { workloadStore } from './workload.ts';

/** The store over either engine. Nothing but an `AppError` leaves it. */
export function createStore(engine: Engine): Store {
  const store: Store = {
    ...slotStore(engine),
    ...runStore(engine),
    ...outboxStore(engine),
    ...taskStore(engine),
    ...upkeepStore(engine),
    ...workloadStore(engine),
    ...housekeepingStore(engine),
    ...truthStore(engine),
    ...inboxStore(engine),
    ...messageStore(engine),
    ...chatsStore(engine),
    ...peopleStore(engine),
    ...pressedStore(engine),
    ...chatTaskStore(engine),
    ...chatFactStore(engine),
    ...traceStore(engine),
    ...holdStore(engine),
    ...ackStore(engine),
    ...approvalStore(engine),
    ...questionStore(engine),
    ...grantStore(engine),
    ...answerStore(engine),
    ...usageStore(engine),
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
