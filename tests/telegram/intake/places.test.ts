import { expect, it } from 'vitest';
import type { Task } from '../../../src/domain/task.ts';
import { aTask } from '../../support/builders.ts';
import { worldsOf, type World } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, plain, type Doorway, aSettledDoorway } from './doorway.ts';
import { messageUpdate } from './updates.ts';

const open = worldsOf('sqlite');

const stateOf = async ({ store }: World, address: number) => (await store.findChat(String(address)))?.state;

const taskIn = (world: World, address: number): Promise<Task> =>
  aTask(world, { home: { provider: 'telegram', address: String(address), topic: null } });

it('approves a group to which an owner adds the bot, and says hello with what to switch on', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [] } });
  const chats = doorway.served.world;
  chats.setBotStatus(lab, 'left', 'ada');
  chats.setBotStatus(lab, 'administrator', 'ada');
  await doorway.settled();
  expect(await stateOf(world, lab)).toBe('approved');
  const [hello] = (await doorway.words()).filter((text) => text.startsWith('Hello!'));
  expect(hello).toContain('✓ Topics: on.\n✓ Manage topics: allowed.');
  chats.say({ as: 'ben', chat: lab, text: '/new' });
  await doorway.settled();
  expect(doorway.saids).toHaveLength(1);
});

it('refuses a group to which somebody else adds the bot', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [] } });
  const chats = doorway.served.world;
  chats.setBotStatus(lab, 'left', 'ben');
  chats.setBotStatus(lab, 'member', 'ben');
  chats.say({ as: 'ben', chat: lab, text: '/new' });
  await doorway.settled();
  expect(await stateOf(world, lab)).toBeUndefined();
  const sent = chats.messages(lab).filter(({ from }) => from === 'bot');
  expect(sent.map(({ text }) => text)).toEqual([expect.stringMatching(/approved/)]);
});

it('pauses what a chat had when the bot is thrown out, and takes the chat back as it was', async () => {
  const world = await open();
  const doorway = await aDoorway({ world });
  const chats = doorway.served.world;
  await doorway.settled();
  const task = await taskIn(world, lab);
  chats.setBotStatus(lab, 'kicked', 'ben');
  await doorway.settled();
  expect(await stateOf(world, lab)).toBe('gone');
  expect(await world.store.readTask(task.id)).toMatchObject({ state: 'paused', pausedReason: 'chat_gone' });
  expect(await doorway.words()).toContain('[chatGone]');
  chats.setBotStatus(lab, 'administrator', 'ben');
  await doorway.settled();
  expect(await stateOf(world, lab)).toBe('approved');
  chats.say({ as: 'ben', chat: lab, text: '/new' });
  await doorway.settled();
  expect(doorway.saids).toHaveLength(1);
});

it('takes a private chat back when the person unblocks the bot', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [String(ben)] } });
  const chats = doorway.served.world;
  chats.say({ as: 'ben', chat: ben, text: '/new' });
  await doorway.settled();
  chats.setBotStatus(ben, 'kicked', 'ben');
  await doorway.settled();
  expect(await stateOf(world, ben)).toBe('gone');
  chats.setBotStatus(ben, 'member', 'ben');
  await doorway.settled();
  expect(await stateOf(world, ben)).toBe('approved');
});

it('takes any word out of a chat that was gone as a sign that it is back', async () => {
  const world = await open();
  const doorway = await aSettledDoorway({ world });
  const chat = await world.store.findChat(String(lab));
  const wordTo = () => ({
    id: 'w',
    kind: 'notice' as const,
    thread: { provider: 'telegram', address: '1', topic: null },
    taskId: null,
    shown: { text: '' },
    edits: null,
    expiresAt: null,
  });
  await world.store.chatGone({ chatId: chat?.id ?? '', cause: 'test', at: 1, wordTo });
  await doorway.says('ada', '/new');
  expect(doorway.saids[0]?.place.chat.state).toBe('approved');
});

it('pauses what an unapproved chat has by the API when the bot is thrown out', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [] } });
  const task = await taskIn(world, lab);
  doorway.served.world.setBotStatus(lab, 'kicked', 'ben');
  await doorway.settled();
  expect(await world.store.readTask(task.id)).toMatchObject({ state: 'paused', pausedReason: 'chat_gone' });
});

it('follows a group that becomes a supergroup, with everything that belongs to it', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [String(plain)] } });
  const chats = doorway.served.world;
  chats.say({ as: 'ben', chat: plain, text: '/new' });
  await doorway.settled();
  const task = await taskIn(world, plain);
  const moved = chats.migrate(plain);
  await doorway.settled();
  const chat = await world.store.findChat(String(moved));
  expect(chat).toMatchObject({ address: String(moved), state: 'approved', id: task.chatId });
  expect((await world.store.findChat(String(plain)))?.id).toBe(chat?.id);
  chats.say({ as: 'ben', chat: moved, text: '/new' });
  await doorway.settled();
  expect(doorway.saids.map(({ place }) => place.chat.id)).toEqual([task.chatId, task.chatId]);
  expect(chats.messages(moved).filter(({ from }) => from === 'bot')).toEqual([]);
});

it.each(['migrate_to_chat_id', 'migrate_from_chat_id'] as const)('needs only one side of a move: %s', async (side) => {
  const world = await open();
  const webhook = { url: 'https://here.example', secret: 's' };
  const doorway = await aSettledDoorway({ world, settings: { owners: [ada], chats: [String(plain)], webhook } });
  const supergroup = -1_001_000_000_077;
  const isTo = side === 'migrate_to_chat_id';
  const more = { text: undefined, entities: undefined, [side]: isTo ? supergroup : plain };
  const update = messageUpdate({ id: 1, from: ben, chat: isTo ? plain : supergroup, more });
  expect(await doorway.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(update))).toBe(
    200,
  );
  await doorway.inbound.idle();
  expect((await world.store.findChat(String(plain)))?.address).toBe(String(supergroup));
});

/** A store that counts how often somebody asked for what waits. */
async function counting(waiting: number): Promise<{ doorway: Doorway; asked: string[] }> {
  const world = await open();
  const asked: string[] = [];
  const store = {
    ...world.store,
    retryBlocked: async ({ chatId }: { chatId: string | null }) => {
      asked.push(String(chatId));
      return waiting;
    },
  };
  return { doorway: await aDoorway({ world, needs: { store } }), asked };
}

it('looks at what waits for a person when something comes from the chat, once a minute', async () => {
  const { doorway, asked } = await counting(1);
  const { world } = doorway.served;
  for (const text of ['/new', '/new', 'hello']) world.say({ as: 'ada', chat: lab, text });
  await doorway.settled();
  expect(asked).toHaveLength(1);
  expect(doorway.rings).toContain('deliverer');
  await doorway.time.advance(60_000);
  await doorway.says('ada', '/new');
  expect(asked).toHaveLength(2);
});

it('looks at once when the bot is given rights, or topics are made', async () => {
  const { doorway, asked } = await counting(0);
  const { world } = doorway.served;
  await doorway.says('ada', '/new');
  world.setBotRights(lab, { can_manage_topics: false });
  await doorway.settled();
  expect(asked).toHaveLength(2);
  world.setBotRights(lab, { can_manage_topics: true });
  world.createTopic(lab, 'ada', 'Plants');
  await doorway.settled();
  expect(asked).toHaveLength(4);
});

it('tells a handler how the bot stands, from the platform', async () => {
  const world = await open();
  const setUps: unknown[] = [];
  const doorway = await aDoorway({ world });
  const chats = doorway.served.world;
  chats.say({ as: 'ada', chat: lab, text: '/new' });
  await doorway.settled();
  chats.say({ as: 'ada', chat: ada, text: '/new' });
  await doorway.settled();
  for (const { place } of doorway.saids) setUps.push(await doorway.setUp(place));
  expect(setUps).toEqual([
    {
      isPrivate: false,
      isForum: true,
      topicsEnabled: null,
      canManageTopics: true,
      canPin: true,
      readsEverything: false,
    },
    { isPrivate: true, isForum: true, topicsEnabled: true, canManageTopics: null, canPin: null, readsEverything: null },
  ]);
  doorway.served.world.fault({ kind: '500', method: 'getChatMember', count: 1 });
  const [inLab] = doorway.saids;
  expect(inLab === undefined ? null : await doorway.setUp(inLab.place)).toMatchObject({ canManageTopics: true });
  expect(inLab === undefined ? null : await doorway.setUp(inLab.place, 'anew')).toMatchObject({
    canManageTopics: null,
  });
});
