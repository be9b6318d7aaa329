import { expect, it } from 'vitest';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, mallory, type Doorway, type DoorwayOptions } from './doorway.ts';
import { messageUpdate } from './updates.ts';

const open = worldsOf('sqlite');

const nobody: DoorwayOptions = { settings: { owners: [], chats: [] } };

const sends = ({ served }: Doorway, chat: number) =>
  served.world
    .messages(chat)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);

it('shows a code while there is no owner, and never in the log', async () => {
  const world = await open();
  const doorway = await aDoorway(world, nobody);
  await doorway.settled();
  expect(doorway.claims).toEqual(['secret-code-1']);
  expect(JSON.stringify(doorway.log.lines)).not.toContain('secret-code');
  expect(JSON.stringify(await doorway.query('select * from kv'))).not.toContain('secret-code');
});

it('shows none where the operator named an owner', async () => {
  const doorway = await aDoorway(await open());
  await doorway.settled();
  expect(doorway.claims).toEqual([]);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toEqual([{ id: `telegram:user:${ada}` }]);
  expect(await doorway.query('select address, state from chats order by address')).toEqual([
    { address: String(lab), state: 'approved' },
    { address: String(ada), state: 'approved' },
  ]);
});

it('makes the first who brings the code the owner, greets them, and keeps the code nowhere', async () => {
  const doorway = await aDoorway(await open(), nobody);
  const { world } = doorway.served;
  world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  expect(await doorway.words()).toEqual([expect.stringMatching(/You are the owner/), 'start: ']);
  expect(doorway.saids).toMatchObject([{ args: '', person: { name: 'Ada', isOwner: true } }]);
  expect(JSON.stringify(await doorway.query('select * from inbox'))).not.toContain('secret-code');
  world.say({ as: 'ada', chat: ada, text: '/new' });
  world.say({ as: 'ben', chat: ben, text: '/start secret-code-1' });
  await doorway.settled();
  expect(doorway.saids).toHaveLength(2);
  expect(sends(doorway, ben)).toEqual([expect.stringMatching(/private bot/)]);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('shows no code at the next start', async () => {
  const world = await open();
  const first = await aDoorway(world, nobody);
  first.served.world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await first.settled();
  await first.inbound.stop(1000);
  const second = await aDoorway(world, nobody);
  await second.settled();
  expect(second.claims).toEqual([]);
});

it('takes no code in a group', async () => {
  const doorway = await aDoorway(await open(), nobody);
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/start@cronogram_bot secret-code-1' });
  await doorway.settled();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toEqual([]);
  doorway.served.world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('is locked by five wrong codes until the next start, whoever sent them', async () => {
  const world = await open();
  const doorway = await aDoorway(world, nobody);
  const chats = doorway.served.world;
  for (let turn = 0; turn < 5; turn += 1) {
    chats.say({
      as: turn % 2 === 0 ? 'mallory' : 'ben',
      chat: turn % 2 === 0 ? mallory : ben,
      text: `/start wrong-${turn}`,
    });
  }
  chats.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toEqual([]);
  expect(sends(doorway, mallory)).toHaveLength(3);
  expect(sends(doorway, mallory)[0]).toMatch(/not the code/);
  expect(sends(doorway, ada)).toEqual([expect.stringMatching(/private bot/)]);
  expect(doorway.log.lines.filter(({ event }) => event === 'claim_locked')).toHaveLength(1);
  await doorway.inbound.stop(1000);
  const next = await aDoorway(world, { ...nobody, served: doorway.served });
  chats.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await next.settled();
  expect(await next.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('four wrong codes do not lock it', async () => {
  const doorway = await aDoorway(await open(), nobody);
  for (let turn = 0; turn < 4; turn += 1) {
    doorway.served.world.say({ as: 'ada', chat: ada, text: `/start wrong-${turn}` });
  }
  doorway.served.world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('keeps the code good when the owner could not be written down', async () => {
  const world = await open();
  let isFirst = true;
  const store = {
    ...world.store,
    changeUser: async (...change: Parameters<typeof world.store.changeUser>) => {
      if (isFirst) {
        isFirst = false;
        throw new Error('no');
      }
      return world.store.changeUser(...change);
    },
  };
  const doorway = await aDoorway(world, { ...nobody, needs: { store } });
  doorway.served.world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  doorway.served.world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await doorway.settled();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('counts a wrong code once, however often the platform brings it', async () => {
  const webhook = { url: 'https://here.example', secret: 's' };
  const doorway = await aDoorway(await open(), { settings: { owners: [], chats: [], webhook } });
  await doorway.settled();
  const bring = (id: number, text: string) =>
    doorway.inbound.webhook.handle(
      { 'x-telegram-bot-api-secret-token': 's' },
      JSON.stringify(messageUpdate({ id, text, chat: ada })),
    );
  for (let turn = 0; turn < 6; turn += 1) await bring(1, '/start wrong');
  expect(await bring(2, '/start secret-code-1')).toBe(200);
  await doorway.inbound.idle();
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});
