import { expect, it } from 'vitest';
import type { Answer } from '../../../src/telegram/chat/context.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { aDoorway, lab, type Doorway } from './doorway.ts';

const open = worldsOf('sqlite');

const signed: Answer = { replies: [], reaction: '👀' };

function methods({ served }: Doorway): readonly string[] {
  return served.world.calls(0, 1000).map(({ method }) => method);
}

it('puts the sign of a handler to the message of the person, and says nothing else', async () => {
  const doorway = await aDoorway({ said: () => signed });
  const { messageId } = doorway.served.world.say({ as: 'ada', chat: lab, text: '/new' });
  await doorway.settled();
  const said = doorway.served.world.messages(lab, { limit: 10 }).find((message) => message.messageId === messageId);
  expect(said?.reactions).toEqual(['👀']);
  expect(await doorway.words()).toEqual([]);
});

it('loses a sign without harm where the chat takes none', async () => {
  const doorway = await aDoorway({ said: () => signed });
  doorway.served.world.fault({ kind: '500', method: 'setMessageReaction', count: 1 });
  await doorway.says('ada', '/new');
  expect(methods(doorway).filter((method) => method === 'setMessageReaction')).toHaveLength(1);
  expect(await doorway.query(`select status from inbox`)).toEqual([{ status: 'done' }]);
  expect(doorway.log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});

it('puts the answer into the outbox before it looks at what waits for somebody to mend it', async () => {
  const world = await open();
  const order: string[] = [];
  const store = {
    ...world.store,
    endUpdate: async (end: Parameters<typeof world.store.endUpdate>[0]) => {
      order.push('answered');
      return world.store.endUpdate(end);
    },
    retryBlocked: async (...given: Parameters<typeof world.store.retryBlocked>) => {
      order.push('looked');
      return world.store.retryBlocked(...given);
    },
  };
  const doorway = await aDoorway({ world, needs: { store } });
  await doorway.says('ada', '/new');
  expect(order).toEqual(['answered', 'looked']);
});

it('has done with an update whose look afterwards fails', async () => {
  const world = await open();
  const store = { ...world.store, retryBlocked: () => Promise.reject(new Error('the look broke')) };
  const doorway = await aDoorway({ world, needs: { store } });
  await doorway.says('ada', '/new');
  expect(doorway.saids).toHaveLength(1);
  expect(await world.query(`select status, attempts from inbox`)).toEqual([{ status: 'done', attempts: 1 }]);
  expect(doorway.log.lines.map(({ event }) => event)).toContain('look_after_failed');
});
