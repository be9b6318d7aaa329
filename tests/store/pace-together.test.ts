import { expect, test } from 'vitest';
import type { NewMessage } from '../../src/app/ports/chats.ts';
import type { Sent, Transport } from '../../src/app/ports/outside.ts';
import { Rates } from '../../src/sandbox/bot-api/rates.ts';
import type { ChatRow } from '../../src/sandbox/world/rows.ts';
import { manualTime, type ManualTime } from '../support/fakes.ts';
import { aFleet, untilDone } from '../support/fleet.ts';
import { paced } from '../support/pipeline.ts';
import { worldsOf } from '../support/store-worlds.ts';

const open = worldsOf('postgres');
const turnLateMs = 2 * 1005;

interface Call {
  readonly address: string;
  readonly text: string;
  readonly at: number;
  readonly by: number;
}

/** The other end keeps the limits of Telegram as strictly as the sandbox does. */
function strictChats(time: ManualTime) {
  const rates = new Rates({ globalPerSecond: 30, chatPerSecond: 1, groupPerMinute: 20 }, time);
  const calls: Call[] = [];
  let refused = 0;
  let id = 0;
  const transport = (by: number): Transport => {
    const called = async (address: string, text: string): Promise<Sent> => {
      try {
        rates.spend({ id: Number(address), kind: address.startsWith('-') ? 'supergroup' : 'private' } as ChatRow);
      } catch {
        refused += 1;
        return { is: 'wait', error: 'Too Many Requests', ms: 1000 };
      }
      calls.push({ address, text, at: time.elapsed(), by });
      return { is: 'sent', ids: { chatId: address, threadId: null, messageId: (id += 1) } };
    };
    return {
      send: ({ route, shown }) => called(route.address, 'text' in shown ? shown.text : ''),
      act: ({ route }) => called(route.address, ''),
      settle: async () => ({ is: 'absent', evidence: '' }),
      createTopic: async () => ({ is: 'made', topicId: (id += 1) }),
      findTopic: async () => null,
      remove: async () => undefined,
    };
  };
  return { transport, calls, refused: () => refused };
}

function message(index: number, address: string): NewMessage {
  return {
    id: `m${String(index).padStart(6, '0')}`,
    kind: 'notice',
    thread: { provider: 'telegram', address, topic: null },
    taskId: null,
    shown: { text: `${index}` },
    edits: null,
    expiresAt: null,
  };
}

test.each([
  ['600 messages to 60 groups', { chats: 60, each: 10, isGroup: true, leastMs: 19_000 }],
  ['25 messages to one group', { chats: 1, each: 25, isGroup: true, leastMs: 64_000 }],
  ['100 messages to ten private chats', { chats: 10, each: 10, isGroup: false, leastMs: 9000 }],
] as const)('three processes send %s about as soon as the limits allow, and never too fast', async (_name, backlog) => {
  const { chats, each, isGroup, leastMs } = backlog;
  const world = await open();
  const time = manualTime(Date.UTC(2026, 10, 18, 9));
  const strict = strictChats(time);
  const fleet = await aFleet(world, 3, {
    time,
    settings: paced,
    transport: strict.transport,
    atOnce: Math.ceil(chats / 6),
  });
  const address = (index: number) => `${isGroup ? '-100' : ''}${5000 + (index % chats)}`;
  const messages = Array.from({ length: chats * each }, (_none, index) => message(index, address(index)));
  await world.store.addMessages(messages, time.now());

  const took = await untilDone(fleet, () => strict.calls.length === chats * each, 10 * leastMs);
  expect(strict.refused()).toBe(0);
  // A chat that another process was just looking at has its turn in the next second, and so may the last message of all.
  expect(took).toBeLessThanOrEqual(leastMs * 1.02 + turnLateMs);
  expect(took / leastMs).toBeGreaterThanOrEqual(1);
  for (let chat = 0; chat < chats; chat += 1) {
    const said = strict.calls.filter((call) => call.address === address(chat)).map(({ text }) => Number(text));
    expect(said).toEqual(said.toSorted((one, other) => one - other));
  }
  if (chats > 1) expect(new Set(strict.calls.map(({ by }) => by)).size).toBe(3);
});
