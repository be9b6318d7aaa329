import { expect, it } from 'vitest';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, mallory, type Doorway, type DoorwayOptions, aSettledDoorway } from './doorway.ts';
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
  const doorway = await aSettledDoorway({ world, ...nobody });
  expect(doorway.claims).toEqual(['secret-code-1']);
  expect(JSON.stringify(doorway.log.lines)).not.toContain('secret-code');
  expect(JSON.stringify(await doorway.query('select * from kv'))).not.toContain('secret-code');
});

it('shows none where the operator named an owner', async () => {
  const doorway = await aSettledDoorway();
  expect(doorway.claims).toEqual([]);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toEqual([{ id: `telegram:user:${ada}` }]);
  expect(await doorway.query('select address, state from chats order by address')).toEqual([
    { address: String(lab), state: 'approved' },
    { address: String(ada), state: 'approved' },
  ]);
});

it('makes the first who brings the code the owner, greets them, and keeps the code nowhere', async () => {
  const doorway = await aDoorway(nobody);
  const { world } = doorway.served;
  await doorway.says('ada', '/start secret-code-1', ada);
  expect(await doorway.words()).toEqual(['start: claimed']);
  expect(doorway.saids).toMatchObject([{ args: 'claimed', person: { name: 'Ada', isOwner: true } }]);
  expect(JSON.stringify(await doorway.query('select * from inbox'))).not.toContain('secret-code');
  world.say({ as: 'ada', chat: ada, text: '/new' });
  await doorway.says('ben', '/start secret-code-1', ben);
  expect(doorway.saids).toHaveLength(2);
  expect(sends(doorway, ben)).toEqual([expect.stringMatching(/private bot/)]);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('says to whoever comes without the code that the bot is nobody’s, and where the code is', async () => {
  const doorway = await aDoorway(nobody);
  await doorway.says('ada', '/start', ada);
  expect(sends(doorway, ada)).toEqual([expect.stringMatching(/Nobody owns this bot yet/)]);
  expect(await doorway.query('select id from users')).toEqual([]);
});

it('says so again in each minute in which somebody writes', async () => {
  const doorway = await aDoorway(nobody);
  for (const text of ['tomorrow at 9 call mum', 'hello?', 'anybody?']) await doorway.says('ada', text, ada);
  expect(sends(doorway, ada)).toHaveLength(1);
  await doorway.time.advance(60_000);
  await doorway.says('ada', 'tomorrow at 9 call mum', ada);
  expect(sends(doorway, ada)).toEqual(Array(2).fill(expect.stringMatching(/Nobody owns this bot yet/)));
  expect(doorway.log.lines.filter(({ event }) => event === 'stranger_refused')).toHaveLength(1);
});

it('says nothing about a code once an owner was named from elsewhere', async () => {
  const world = await open();
  const doorway = await aSettledDoorway({ world, ...nobody });
  const by = { title: null, by: 'system', newId: 'none', at: 1 } as const;
  await world.store.letIn({ address: String(ada), role: 'owner', ...by });
  await doorway.says('ben', 'hello', ben);
  expect(sends(doorway, ben)).toEqual([expect.stringMatching(/private bot/)]);
});

it('shows no code at the next start', async () => {
  const world = await open();
  const first = await aDoorway({ world, ...nobody });
  await first.says('ada', '/start secret-code-1', ada);
  await first.inbound.stop(1000);
  const second = await aDoorway({ world, ...nobody });
  await second.settled();
  expect(second.claims).toEqual([]);
});

it('takes no code in a group', async () => {
  const doorway = await aDoorway(nobody);
  await doorway.says('ada', '/start@cronogram_bot secret-code-1');
  expect(await doorway.query(`select id from users where role = 'owner'`)).toEqual([]);
  await doorway.says('ada', '/start secret-code-1', ada);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('is locked by five wrong codes until the next start, whoever sent them', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, ...nobody });
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
  expect(sends(doorway, mallory)[2]).toMatch(/Start the server again/);
  expect(sends(doorway, ada)).toEqual([expect.stringMatching(/Start the server again/)]);
  expect(doorway.log.lines.filter(({ event }) => event === 'claim_locked')).toHaveLength(1);
  await doorway.inbound.stop(1000);
  const next = await aDoorway({ world, ...nobody, served: doorway.served });
  chats.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  await next.settled();
  expect(await next.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('four wrong codes do not lock it', async () => {
  const doorway = await aDoorway(nobody);
  for (let turn = 0; turn < 4; turn += 1) {
    doorway.served.world.say({ as: 'ada', chat: ada, text: `/start wrong-${turn}` });
  }
  await doorway.says('ada', '/start secret-code-1', ada);
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
  const doorway = await aDoorway({ world, ...nobody, needs: { store } });
  await doorway.says('ada', '/start secret-code-1', ada);
  await doorway.says('ada', '/start secret-code-1', ada);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
});

it('counts a wrong code once, however often the platform brings it', async () => {
  const webhook = { url: 'https://here.example', secret: 's' };
  const doorway = await aSettledDoorway({ settings: { owners: [], chats: [], webhook } });
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

it('takes the code in a private chat that was approved in advance', async () => {
  const doorway = await aDoorway({ settings: { owners: [], chats: [String(ada)] } });
  await doorway.says('ada', '/start wrong', ada);
  expect(sends(doorway, ada)).toEqual([expect.stringMatching(/not the code/)]);
  await doorway.says('ada', '/start secret-code-1', ada);
  expect(await doorway.query(`select id from users where role = 'owner'`)).toHaveLength(1);
  expect(doorway.saids).toMatchObject([{ args: 'claimed', person: { isOwner: true } }]);
});

it('keeps no code, also where it was said twice or in the wrong place', async () => {
  const doorway = await aDoorway({ settings: { owners: [], chats: [String(lab)] } });
  const { world } = doorway.served;
  world.say({ as: 'ben', chat: lab, text: '/start@cronogram_bot secret-code-1' });
  const twice = world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  world.say({ as: 'ada', chat: ada, text: '/start secret-code-1' });
  world.edit({ as: 'ada', chat: ada, messageId: twice.messageId, text: '/start secret-code-1!' });
  await doorway.settled();
  expect(doorway.saids.map(({ args }) => args).toSorted()).toEqual(['', '', 'claimed']);
  expect(await doorway.query('select update_id from inbox')).toHaveLength(4);
  expect(JSON.stringify(await doorway.query('select * from inbox'))).not.toContain('secret-code');
});

it('takes a caption for a code too, and does not keep it', async () => {
  const webhook = { url: 'https://here.example', secret: 's' };
  const doorway = await aSettledDoorway({ settings: { owners: [], chats: [], webhook } });
  const { message, ...rest } = messageUpdate({ id: 1, text: '/start secret-code-1', chat: ada });
  const { text: caption, entities: captionEntities, ...others } = message;
  const update = { ...rest, message: { ...others, caption, caption_entities: captionEntities, photo: [] } };
  await doorway.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(update));
  await doorway.inbound.idle();
  expect(doorway.saids).toMatchObject([{ command: 'start', args: 'claimed' }]);
  expect(JSON.stringify(await doorway.query('select * from inbox'))).not.toContain('secret-code');
});

it('knows nobody as an owner any more whom the operator names no more, and keeps the one who claimed', async () => {
  const world = await open();
  const ownersOf = async ({ query }: Doorway) =>
    (await query<{ id: string }>(`select id from users where role = 'owner' order by id`)).map(({ id }) => id);
  const first = await aDoorway({ world, ...nobody });
  await first.says('ada', '/start secret-code-1', ada);
  await first.inbound.stop(1000);
  const second = await aDoorway({ world, settings: { owners: [ben], chats: [] } });
  await second.settled();
  expect(await ownersOf(second)).toEqual([`telegram:user:${ada}`, `telegram:user:${ben}`]);
  await second.inbound.stop(1000);
  const third = await aDoorway({ world, ...nobody });
  await third.says('ben', '/new', ben);
  expect(await ownersOf(third)).toEqual([`telegram:user:${ada}`]);
  expect(third.saids).toEqual([]);
  expect(sends(third, ben)).toEqual([expect.stringMatching(/private bot/)]);
});

it('lets in whom the operator names, once: what was denied since then holds over a restart', async () => {
  const world = await open();
  const settings = { owners: [ada, ben], chats: [String(lab), String(mallory)] };
  const at = { newId: 'none', at: 1, by: 'system:api', to: 'refused' } as const;
  const list = async () => {
    const { items } = await world.store.listAccess({ limit: 9, cursor: null });
    return items.map(({ address, role }) => `${address} ${role}`).toSorted();
  };
  const first = await aSettledDoorway({ world, settings });
  expect(await list()).toEqual([`${lab} group`, `${ada} owner`, `${ben} owner`, `${mallory} user`].toSorted());
  for (const id of [ben, mallory]) await world.store.shutOut({ ...at, address: String(id) });
  await first.inbound.stop(1000);
  const second = await aDoorway({ world, settings });
  for (const [as, id] of [
    ['ben', ben],
    ['mallory', mallory],
  ] as const)
    await second.says(as, '/new', id);
  expect([second.saids, await list()]).toEqual([[], [`${lab} group`, `${ada} owner`]]);
  await second.inbound.stop(1000);
  // A name that is taken out and written down again is a word of the operator, and counts again.
  await (await aSettledDoorway({ world, settings: { owners: [ada], chats: [] } })).inbound.stop(1000);
  await aSettledDoorway({ world, settings });
  expect(await list()).toEqual([`${lab} group`, `${ada} owner`, `${ben} owner`, `${mallory} user`].toSorted());
});

it('takes no code any more once an owner was named from elsewhere', async () => {
  const world = await open();
  const doorway = await aSettledDoorway({ world, ...nobody });
  await world.store.letIn({ address: String(ben), role: 'owner', title: null, by: 'system:api', newId: 'b', at: 1 });
  await doorway.says('ada', '/start secret-code-1', ada);
  expect((await world.store.listOwners()).map(({ id }) => id)).toEqual([`telegram:user:${ben}`]);
});
