import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/app/ports/store.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { worldsOf, type World } from '../../support/store-worlds.ts';
import {
  aDoorway,
  ada,
  ben,
  lab,
  until,
  untilLater,
  type Doorway,
  type DoorwayOptions,
  aSettledDoorway,
} from './doorway.ts';
import { messageUpdate, stored } from './updates.ts';

const open = worldsOf('sqlite');

/** The store with some of its methods in other hands. */
const storeWith = (world: World, changed: Partial<Store>): Pick<World, 'store'>['store'] => ({
  ...world.store,
  ...changed,
});

const statusOf = async ({ query }: Doorway) =>
  (await query<{ status: string }>('select status from inbox order by update_id')).map(({ status }) => status);

it('takes a word of an owner from the platform to its answer', async () => {
  const doorway = await aDoorway();
  await doorway.says('ada', '/new every day at 9\nWater the plants');
  expect(doorway.saids).toMatchObject([
    { command: 'new', args: 'every day at 9\nWater the plants', person: { id: ada, isOwner: true, isAdmin: true } },
  ]);
  expect(await doorway.words()).toEqual(['new: every day at 9\nWater the plants']);
  expect(doorway.rings).toContain('deliverer');
  expect(await statusOf(doorway)).toEqual(['done']);
});

it('has one effect when the platform repeats an update', async () => {
  const doorway = await aSettledDoorway({
    settings: { webhook: { url: 'https://here.example/hook', secret: 's' } },
  });
  const body = JSON.stringify(messageUpdate({ id: 7, text: '/new' }));
  const headers = { 'x-telegram-bot-api-secret-token': 's' };
  expect(await doorway.inbound.webhook.handle(headers, body)).toBe(200);
  await doorway.inbound.idle();
  expect(await doorway.inbound.webhook.handle(headers, body)).toBe(200);
  await doorway.inbound.idle();
  expect(doorway.saids).toHaveLength(1);
  expect(await doorway.words()).toHaveLength(1);
});

it('handles an update again when the process died before it was done, to one effect', async () => {
  const world = await open();
  const died = storeWith(world, { endUpdate: () => new Promise(() => {}) });
  const before = await aDoorway({ world, needs: { store: died } });
  before.served.world.say({ as: 'ada', chat: lab, text: '/new' });
  await until(() => before.saids.length === 1);
  const after = await aDoorway({
    world,
    served: before.served,
    settings: { webhook: { url: 'https://a.example', secret: 's' } },
  });
  await after.settled();
  expect(after.saids.map(({ key }) => key)).toEqual(before.saids.map(({ key }) => key));
  expect(await after.words()).toEqual(['new: ']);
});

it('gives an update up that took the process down three times, and says so', async () => {
  const world = await open();
  await world.store.receiveUpdates([stored(messageUpdate({ id: 3 })), stored(messageUpdate({ id: 4 }))], 1);
  for (let attempt = 0; attempt < 3; attempt += 1) await world.store.beginUpdate(3, 'boot');
  const doorway = await aSettledDoorway({ world });
  expect(doorway.saids.map(({ updateId }) => updateId)).toEqual([4]);
  expect(await statusOf(doorway)).toEqual(['failed', 'done']);
  expect((await doorway.words()).join()).toMatch(/Something went wrong.*new/s);
  expect(doorway.log.lines.filter(({ event }) => event === 'update_given_up')).toHaveLength(1);
});

it('ends an update that it cannot read as failed, and goes on', async () => {
  const world = await open();
  const bad = { id: 1, payload: '{"update_id":1,"message":{"text":7}}', address: null, messageId: null, lane: null };
  await world.store.receiveUpdates([bad, { ...bad, id: 2, payload: 'not JSON' }, stored(messageUpdate({ id: 3 }))], 1);
  const doorway = await aSettledDoorway({ world });
  expect(await statusOf(doorway)).toEqual(['failed', 'failed', 'done']);
  expect(doorway.log.lines.filter(({ event }) => event === 'update_unreadable')).toHaveLength(2);
});

it('answers a refusal with its sentence and a fault with a number that the log knows', async () => {
  const faults = [new AppError('too_late', 'That was yesterday.'), new Error('a null where none may be')];
  const doorway = await aDoorway({
    said: () => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      return { replies: [{ is: 'message', shown: { text: 'fine' } }] };
    },
  });
  for (const text of ['/new 1', '/new 2', '/new 3']) doorway.served.world.say({ as: 'ada', chat: lab, text });
  await doorway.settled();
  const [refused, failed, fine] = await doorway.words();
  expect([refused, fine]).toEqual(['That was yesterday.', 'fine']);
  const line = doorway.log.lines.find(({ event }) => event === 'update_failed');
  expect(line?.facts['error']).toBe('a null where none may be');
  expect(failed).toContain(String(line?.facts['error_id']));
  expect(await statusOf(doorway)).toEqual(['done', 'failed', 'done']);
});

it('serves a thread in order, and others beside it', async () => {
  const gates = new Map<string, () => void>();
  const doorway = await aDoorway({
    said: ({ args }) =>
      new Promise((resolve) => gates.set(args, () => resolve({ replies: [{ is: 'message', shown: { text: args } }] }))),
  });
  const { world } = doorway.served;
  world.say({ as: 'ben', chat: lab, text: 'good morning' });
  const topic = world.createTopic(lab, 'ada', 'Plants');
  world.say({ as: 'ada', chat: lab, thread: topic, text: '/new first' });
  world.say({ as: 'ada', chat: lab, thread: topic, text: '/new second' });
  world.say({ as: 'ada', chat: lab, text: '/new beside' });
  await until(() => gates.has('beside'));
  expect([...gates.keys()].sort()).toEqual(['beside', 'first']);
  gates.get('beside')?.();
  gates.get('first')?.();
  await until(() => gates.has('second'));
  gates.get('second')?.();
  await doorway.settled();
  expect(await doorway.words()).toEqual(['beside', 'first', 'second']);
});

it('asks for nothing more until what it got is stored', async () => {
  const world = await open();
  let failures = 2;
  const away = storeWith(world, {
    receiveUpdates: async (updates, now) => {
      if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
      return world.store.receiveUpdates(updates, now);
    },
  });
  const doorway = await aDoorway({ world, needs: { store: away } });
  const { world: chats } = doorway.served;
  await until(() => doorway.log.lines.some(({ event }) => event === 'telegram_connected'));
  chats.say({ as: 'ada', chat: lab, text: '/new' });
  await until(() => doorway.log.lines.some(({ event }) => event === 'updates_not_stored'));
  expect(chats.hasOpenUpdates()).toBe(true);
  await untilLater(doorway.time, () => doorway.saids.length === 1);
  await doorway.settled();
  expect(doorway.log.lines.filter(({ event }) => event === 'updates_not_stored')).toHaveLength(1);
});

it('waits with a thread while the store is away, and answers a press meanwhile', async () => {
  const world = await open();
  let failures = 2;
  const away = storeWith(world, {
    endUpdate: async (end) => {
      if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
      return world.store.endUpdate(end);
    },
  });
  const doorway = await aDoorway({ world, needs: { store: away } });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new 1' });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new 2' });
  await untilLater(doorway.time, () => doorway.saids.some(({ args }) => args === '2'));
  await doorway.settled();
  expect(await doorway.words()).toEqual(['new: 1', 'new: 2']);
});

it('gives nothing up because the store was away for long', async () => {
  const world = await open();
  let failures = 8;
  const away = storeWith(world, {
    endUpdate: async (end) => {
      if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
      return world.store.endUpdate(end);
    },
  });
  const doorway = await aDoorway({ world, needs: { store: away } });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new 1' });
  await untilLater(doorway.time, async () => (await statusOf(doorway)).includes('done'));
  expect(await doorway.words()).toEqual(['new: 1']);
  // What takes the process down is counted, and a store that is away does not.
  expect(await doorway.query('select attempts from inbox')).toEqual([{ attempts: 1 }]);
});

it('handles an update again that met a store which was away', async () => {
  let failures = 1;
  const doorway = await aDoorway({
    said: ({ args }) => {
      if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
      return { replies: [{ is: 'message', shown: { text: args } }] };
    },
  });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new 1' });
  await untilLater(doorway.time, () => doorway.saids.length === 2);
  await doorway.settled();
  expect(await doorway.words()).toEqual(['1']);
  expect(await statusOf(doorway)).toEqual(['done']);
});

it('leaves an update alone that another process has done meanwhile', async () => {
  const world = await open();
  const done = storeWith(world, { beginUpdate: async () => 0 });
  const doorway = await aDoorway({ world, needs: { store: done } });
  await doorway.says('ada', '/new');
  expect(doorway.saids).toEqual([]);
});

it('tells of an answer that cannot be written down', async () => {
  const world = await open();
  let isFirst = true;
  const picky = storeWith(world, {
    endUpdate: async (end) => {
      if (isFirst) {
        isFirst = false;
        throw new AppError('internal', 'A value that the database refuses.');
      }
      return world.store.endUpdate(end);
    },
  });
  const doorway = await aDoorway({ world, needs: { store: picky } });
  await doorway.says('ada', '/new');
  expect((await doorway.words()).join()).toMatch(/^Something went wrong/);
  expect(await statusOf(doorway)).toEqual(['failed']);
});

it('does not bother people in a group with its faults while they talk to each other', async () => {
  const world = await open();
  const broken = storeWith(world, {
    openDraft: async () => {
      throw new Error('no');
    },
  });
  const doorway = await aSettledDoorway({ world, needs: { store: broken } });
  await world.store.receiveUpdates([stored(messageUpdate({ id: 900_001, text: 'good morning' }))], 1);
  await doorway.says('ada', '/new');
  expect(await doorway.words()).toEqual(['new: ']);
});

describe('members of a group who are in a hurry', () => {
  const at = (seconds: number) => ({ date: 1_799_000_000 + seconds });
  const many = async (updates: readonly { readonly update_id: number }[], options: DoorwayOptions = {}) => {
    const world = await open();
    await world.store.receiveUpdates(
      updates.map((update) => stored(update)),
      1,
    );
    const doorway = await aSettledDoorway({ world, ...options });
    return doorway;
  };
  const numbers = (count: number) => Array.from({ length: count }, (_value, index) => index + 1);

  it('are answered thirty times a minute, told once, and heard again a minute later', async () => {
    const doorway = await many([
      ...numbers(40).map((id) => messageUpdate({ id, from: ben, more: at(0) })),
      messageUpdate({ id: 41, from: ben, text: '/new again', more: at(60) }),
    ]);
    const words = await doorway.words();
    expect(words.filter((word) => word === 'new: ')).toHaveLength(30);
    expect(words.filter((word) => /a lot at once/.test(word))).toHaveLength(1);
    expect(words.at(-1)).toBe('new: again');
    expect(await statusOf(doorway)).toEqual(numbers(41).map(() => 'done'));
  });

  it('are heard when their words have only waited long, and admins always', async () => {
    const slowly = numbers(40).map((id) => messageUpdate({ id, from: ben, more: at(id * 30) }));
    const admins = numbers(40).map((id) => messageUpdate({ id: 100 + id, from: ada, more: at(0) }));
    const doorway = await many([...slowly, ...admins], { settings: { owners: [], chats: [String(lab)] } });
    expect(doorway.saids).toHaveLength(80);
  });

  it('are not taken for such because a store that was away had one word handled often', async () => {
    let failures = 20;
    const doorway = await aDoorway({
      said: ({ args }) => {
        if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
        return { replies: [{ is: 'message', shown: { text: args } }] };
      },
    });
    doorway.served.world.say({ as: 'ben', chat: lab, text: '/new patience' });
    await untilLater(doorway.time, () => doorway.saids.length === 21);
    await doorway.settled();
    expect(await doorway.words()).toEqual(['patience']);
  });
});
