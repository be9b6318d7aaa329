import { expect, it } from 'vitest';
import type { Call } from '../../../src/sandbox/world/world.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, mallory, plain, until, type Doorway, aSettledDoorway } from './doorway.ts';
import { messageUpdate, personOf, stored } from './updates.ts';

const open = worldsOf('sqlite');

const sends = ({ served }: Doorway, chat?: number) =>
  served.world
    .messages(chat ?? mallory)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);

const refusals = ({ log }: Doorway) => log.lines.filter(({ event }) => event === 'stranger_refused');

/** Every row of every table that could know of somebody. */
async function traces({ query }: Doorway, id: number): Promise<readonly string[]> {
  const tables = ['inbox', 'chats', 'users', 'members', 'deliveries', 'drafts', 'audit', 'events', 'kv'];
  const rows = await Promise.all(tables.map(async (table) => [table, await query(`select * from ${table}`)] as const));
  return rows.filter(([, found]) => JSON.stringify(found).includes(String(id))).map(([table]) => table);
}

it('refuses a stranger politely once a day, and keeps nothing but a line in the log', async () => {
  const doorway = await aDoorway();
  const { world } = doorway.served;
  world.say({ as: 'mallory', chat: mallory, text: '/start' });
  await doorway.says('mallory', 'what tasks are there?', mallory);
  expect(sends(doorway)).toEqual([expect.stringMatching(/private bot/)]);
  await doorway.time.advance(86_400_000);
  await doorway.says('mallory', '/tasks', mallory);
  expect(sends(doorway)).toHaveLength(2);
  expect(refusals(doorway).map(({ facts }) => facts)).toEqual([{ user_id: mallory }, { user_id: mallory }]);
  expect(doorway.saids).toEqual([]);
  expect(await traces(doorway, mallory)).toEqual([]);
  expect(JSON.stringify(doorway.log.lines)).not.toContain('what tasks');
});

it('answers a press of a stranger with the refusal, and does nothing', async () => {
  const doorway = await aDoorway({ settings: { owners: [ada], chats: [] } });
  const { world } = doorway.served;
  await doorway.settled();
  const { messageId } = world.say({ as: 'ben', chat: lab, text: 'hello' });
  const sent = await doorway.api.raw.sendMessage({
    chat_id: lab,
    text: '#1 Water the plants',
    reply_parameters: { message_id: messageId },
    reply_markup: { inline_keyboard: [[{ text: 'Run now', callback_data: 'v1:run:1' }]] },
  });
  const { callbackId } = world.press({ as: 'ben', chat: lab, messageId: sent.message_id, button: 'Run now' });
  await doorway.settled();
  expect(world.callbackAnswer(callbackId)).toEqual({ text: 'This bot is private.', alert: false });
  expect(doorway.presses).toEqual([]);
  expect(await traces(doorway, ben)).toEqual([]);
});

it('refuses an unapproved group once a day, and only when it is spoken to', async () => {
  const doorway = await aDoorway({ settings: { owners: [ada], chats: [] } });
  const { world } = doorway.served;
  world.say({ as: 'ben', chat: lab, text: 'good morning' });
  await doorway.says('ben', '/weather@other_bot');
  expect(sends(doorway, lab)).toEqual([]);
  for (const text of ['/new every day at 9 x', '/tasks', '/start@cronogram_bot']) await doorway.says('ben', text);
  const refusal = expect.stringMatching(/not approved yet.*owner of this bot.*\/allow/) as string;
  expect(sends(doorway, lab)).toEqual([refusal]);
  await doorway.time.advance(86_400_000);
  for (const text of ['good morning', '/tasks', '/next']) await doorway.says('ben', text);
  expect(sends(doorway, lab)).toEqual([refusal, refusal]);
  expect(doorway.saids).toEqual([]);
  expect(await traces(doorway, ben)).toEqual([]);
  expect(await traces(doorway, lab)).toEqual([]);
});

it('refuses the members of a group in which an owner alone has used it', async () => {
  const doorway = await aDoorway({ settings: { owners: [ada], chats: [] } });
  await doorway.says('ada', '/tasks');
  await doorway.says('ben', '/tasks');
  expect(sends(doorway, lab)).toContainEqual(expect.stringMatching(/not approved yet/));
});

it('hears an owner in a group that is not approved', async () => {
  const doorway = await aDoorway({ settings: { owners: [ada], chats: [] } });
  await doorway.says('ada', '/allow');
  expect(doorway.saids).toMatchObject([{ command: 'allow', place: { chat: { state: 'new' } } }]);
});

it('hears people in a chat that the operator approved, and not in others', async () => {
  const doorway = await aDoorway({ settings: { owners: [], chats: [String(ben)] } });
  const { world } = doorway.served;
  world.say({ as: 'ben', chat: ben, text: '/new' });
  await doorway.says('mallory', '/new', mallory);
  expect(doorway.saids).toMatchObject([{ person: { id: ben, isOwner: false, isAdmin: true } }]);
});

it('hears nothing more of a person who was denied, in private and in a group', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, settings: { owners: [ada], chats: [String(lab), String(ben)] } });
  for (const chat of [lab, ben]) await doorway.says('ben', '/new', chat);
  expect(doorway.saids).toHaveLength(2);
  const denied = { address: String(ben), by: `telegram:user:${ada}`, newId: 'none', at: 1, to: 'refused' } as const;
  await world.store.shutOut(denied);
  for (const chat of [lab, ben]) await doorway.says('ben', '/new', chat);
  expect([doorway.saids.length, sends(doorway, ben)]).toEqual([2, [expect.stringMatching(/private bot/)]]);
  await doorway.says('ada', '/new', lab);
  await world.store.letIn({ address: String(ben), role: null, title: null, by: 'system', newId: 'none', at: 2 });
  await doorway.says('ben', '/new', lab);
  expect(doorway.saids.map(({ person }) => person.id)).toEqual([ben, ben, ada, ben]);
  await world.store.shutOut({ ...denied, at: 3 });
  for (const text of ['/new', '/tasks']) await doorway.says('ben', text, ben);
  expect(sends(doorway, ben)).toHaveLength(2);
});

it('closes the door on what was stored before the approval ended', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const noted = { newId: 'chat-ben', address: String(ben), title: 'Ben', kind: 'private', at: 1 };
  await world.store.noteChat(noted);
  await world.store.receiveUpdates([stored(messageUpdate({ id: 5, from: ben, chat: ben }))], 1);
  await doorway.starts();
  expect(doorway.saids).toEqual([]);
  expect(await doorway.words()).toEqual([]);
});

it('sends a crowd of strangers no more refusals than it can bear', async () => {
  const doorway = await aSettledDoorway({ settings: { webhook: { url: 'https://here.example', secret: 's' } } });
  doorway.served.world.fault({ kind: 'hang', method: 'sendMessage', count: 1000 });
  for (let id = 1; id <= 50; id += 1) {
    const update = messageUpdate({ id, from: 9000 + id, chat: 9000 + id, text: '/start' });
    await doorway.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(update));
  }
  const idle = doorway.inbound.idle();
  await new Promise((resolve) => setImmediate(resolve));
  await doorway.time.advance(60_000);
  await idle;
  expect(refusals(doorway)).toHaveLength(50);
  expect(doorway.served.world.calls(0, 1000).filter(({ method }) => method === 'sendMessage').length).toBe(5);
  // One who got no answer in the crowd gets it at the next word, and stands once in the log all the same.
  const late = messageUpdate({ id: 51, from: 9050, chat: 9050, text: '/start' });
  await doorway.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(late));
  expect(refusals(doorway)).toHaveLength(50);
  const isToThem = ({ method, params }: Call) => method === 'sendMessage' && Number(params['chat_id']) === 9050;
  await until(() => doorway.served.world.calls(0, 1000).filter(isToThem).length === 1);
});

it('answers a crowd of strangers no more presses at once than it can bear', async () => {
  const doorway = await aSettledDoorway({ settings: { webhook: { url: 'https://here.example', secret: 's' } } });
  const { world } = doorway.served;
  world.fault({ kind: 'hang', method: 'answerCallbackQuery', count: 1000 });
  const message = { message_id: 1, date: 1, chat: { id: -5, type: 'group', title: 'Elsewhere' } };
  for (let id = 1; id <= 150; id += 1) {
    const from = { id: 9000 + id, is_bot: false, first_name: 'Somebody' };
    const update = { update_id: id, callback_query: { id: String(id), from, message, data: 'v1:run:1' } };
    await doorway.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(update));
  }
  const idle = doorway.inbound.idle();
  await new Promise((resolve) => setImmediate(resolve));
  await doorway.time.advance(60_000);
  await idle;
  const answers = world.calls(0, 1000).filter(({ method }) => method === 'answerCallbackQuery');
  expect(answers).toHaveLength(5);
});

it('keeps nothing of what is said in a chat that was lost and was never approved', async () => {
  const world = await open();
  const doorway = await aSettledDoorway({ world, settings: { owners: [ada], chats: [] } });
  const chats = doorway.served.world;
  chats.say({ as: 'ada', chat: lab, text: '/new' });
  await doorway.settled();
  chats.setBotStatus(lab, 'kicked', 'ada');
  await doorway.settled();
  expect((await world.store.findChat(String(lab)))?.state).toBe('gone');
  await world.query('delete from inbox');
  await doorway.inbound.stop(1000);
  const webhook = { url: 'https://here.example', secret: 's' };
  const next = await aDoorway({ world, settings: { owners: [ada], chats: [], webhook } });
  await next.settled();
  const update = messageUpdate({ id: 900, from: ben, text: 'between us' });
  await next.inbound.webhook.handle({ 'x-telegram-bot-api-secret-token': 's' }, JSON.stringify(update));
  await next.inbound.idle();
  expect(await world.query('select payload from inbox')).toEqual([]);
  expect((await world.store.findChat(String(lab)))?.state).toBe('gone');
});

it('listens to no channel and to no other bot', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const channel = { sender_chat: { id: -1009, type: 'channel' }, is_automatic_forward: true, from: personOf(777_000) };
  const otherBot = { from: { id: 42, is_bot: true, first_name: 'Other' } };
  const asChannel = { sender_chat: { id: -1009, type: 'channel' } };
  await world.store.receiveUpdates(
    [channel, otherBot, asChannel].map((more, index) => stored(messageUpdate({ id: index + 1, more }))),
    1,
  );
  await doorway.starts();
  expect(doorway.saids).toEqual([]);
  expect(await doorway.words()).toEqual([]);
});

it('leaves other groups than the approved ones alone when plain text is said there', async () => {
  const doorway = await aDoorway();
  await doorway.says('ada', 'nothing for bots', plain);
  expect(await doorway.words()).toEqual([]);
});
