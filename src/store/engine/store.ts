import type { Store } from '../../app/ports/tasks.ts';
import { ackStore } from '../questions/acks.ts';
import { approvalStore } from '../questions/approvals.ts';
import { answerStore } from '../tasks/kept-answers.ts';
import { chatFactStore } from '../chats/facts.ts';
import { chatTaskStore } from '../chats/tasks.ts';
import { chatsStore } from '../chats/chats.ts';
import type { Engine } from './engine.ts';
import { translate } from './faults.ts';
import { grantStore } from '../tasks/grants.ts';
import { holdStore } from '../outbox/holds.ts';
import { housekeepingStore } from '../upkeep/housekeeping.ts';
import { inboxStore } from '../chats/inbox.ts';
import { messageStore } from '../outbox/messages.ts';
import { outboxStore } from '../outbox/outbox.ts';
import { peopleStore } from '../chats/people.ts';
import { pressedStore } from '../outbox/pressed.ts';
import { questionStore } from '../questions/questions.ts';
import { runStore } from '../runs/runs.ts';
import { slotStore } from '../runs/slots.ts';
import { taskStore } from '../tasks/tasks.ts';
import { traceStore } from '../outbox/traces.ts';
import { truthStore } from '../records/truth.ts';
import { upkeepStore } from '../upkeep/upkeep.ts';
import { usageStore } from '../records/usage.ts';
import { workloadStore } from '../records/workload.ts';

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
