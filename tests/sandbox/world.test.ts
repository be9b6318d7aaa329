import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RefusalCode } from '../../src/sandbox/world/world.ts';
import { manualTime } from '../support/fakes.ts';
import { aFolder } from '../support/place.ts';
import { ada, ben, lab, mallory, noRights, openLab, plain, refusal, start } from './lab.ts';

test('the first world has three people, their private chats and four groups', async () => {
  const { world } = await openLab();
  expect(world.people.map(({ key, id }) => [key, id])).toEqual([
    ['ada', ada],
    ['ben', ben],
    ['mallory', mallory],
  ]);
  expect(world.chats().map(({ id, kind, isForum, bot }) => [id, kind, isForum, bot.status])).toEqual([
    [ada, 'private', true, 'member'],
    [ben, 'private', false, 'member'],
    [mallory, 'private', false, 'member'],
    [lab, 'supergroup', true, 'administrator'],
    [-1001000000004, 'supergroup', true, 'administrator'],
    [noRights, 'supergroup', true, 'member'],
    [plain, 'group', false, 'member'],
  ]);
  expect(world.chats().find(({ id }) => id === lab)).toMatchObject({
    title: 'The Lab',
    members: [
      { key: 'ada', status: 'creator' },
      { key: 'ben', status: 'member' },
    ],
    bot: { rights: { can_manage_topics: true, can_pin_messages: true, can_delete_messages: true } },
  });
});

test('what nobody could do is refused in a sentence', async () => {
  const { world, call } = await openLab();
  const thread = world.createTopic(lab, 'ada', 'Closed');
  world.closeTopic(lab, thread);
  const { result } = await call('sendMessage', { chat_id: lab, text: 'x' });
  const messageId = Number(result['message_id']);
  const refused = (deed: () => unknown, code: RefusalCode) =>
    expect(deed, code).toThrow(expect.objectContaining({ name: 'SandboxRefusal', code }));
  refused(() => world.say({ as: 'eve', chat: lab, text: 'x' }), 'no_person');
  refused(() => world.say({ as: 'ada', chat: 5, text: 'x' }), 'no_chat');
  refused(() => world.say({ as: 'mallory', chat: lab, text: 'x' }), 'not_a_member');
  refused(() => world.say({ as: 'ben', chat: ada, text: 'x' }), 'not_a_member');
  refused(() => world.say({ as: 'ben', chat: lab, thread, text: 'x' }), 'topic_closed');
  refused(() => world.say({ as: 'ben', chat: lab, thread: 99, text: 'x' }), 'no_topic');
  refused(() => world.say({ as: 'ben', chat: lab, text: ' ' }), 'bad_text');
  refused(() => world.say({ as: 'ben', chat: lab, text: 'x'.repeat(4097) }), 'bad_text');
  refused(() => world.say({ as: 'ben', chat: lab, text: 'x', replyTo: 99 }), 'no_message');
  refused(() => world.press({ as: 'ben', chat: lab, messageId, button: 'Go' }), 'no_button');
  refused(() => world.edit({ as: 'ben', chat: lab, messageId, text: 'y' }), 'not_allowed');
  refused(() => world.createTopic(lab, 'ben', 'Mine'), 'not_allowed');
  refused(() => world.setForum(plain, true), 'bad_input');
  refused(() => world.migrate(lab), 'bad_input');
  refused(() => world.setBotStatus(ada, 'administrator', 'ada'), 'bad_input');
  world.setBotStatus(ada, 'kicked', 'ada');
  refused(() => world.say({ as: 'ada', chat: ada, text: 'x' }), 'not_allowed');
});

test('an action that is refused leaves nothing behind', async () => {
  const { world, updates } = await openLab();
  const before = JSON.stringify([world.chats(), world.transcript()]);
  expect(() => world.say({ as: 'ada', chat: ada, thread: 7, text: 'x' })).toThrow('no topic 7');
  expect(JSON.stringify([world.chats(), world.transcript()])).toBe(before);
  expect(await updates()).toEqual([]);
});

test('a plain group becomes a supergroup: news on both sides, and the old id points to the new one', async () => {
  const { world, call, updates, outcome } = await openLab();
  const said = world.say({ as: 'ada', chat: plain, text: '/new' });
  const id = world.migrate(plain);
  expect((await updates()).slice(1)).toMatchObject([
    { message: { chat: { id: plain, type: 'group' }, message_id: said.messageId + 1, migrate_to_chat_id: id } },
    { message: { chat: { id, type: 'supergroup' }, message_id: 1, migrate_from_chat_id: plain } },
  ]);
  const answer = await call('sendMessage', { chat_id: plain, text: 'x' });
  expect(answer).toMatchObject({
    status: 400,
    description: 'Bad Request: group chat was upgraded to a supergroup chat',
    parameters: { migrate_to_chat_id: id },
  });
  expect(await outcome('getChatMember', { chat_id: plain, user_id: ada })).toContain('upgraded');
  expect(await outcome('getChat', { chat_id: plain })).toBe('ok');
  expect((await call('sendMessage', { chat_id: id, text: 'x' })).result).toMatchObject({ message_id: 2 });
  expect(() => world.say({ as: 'ada', chat: plain, text: 'x' })).toThrow(`chat ${id}`);
  world.setForum(id, true);
  expect(world.chats().find((chat) => chat.id === id)).toMatchObject({ isForum: true, title: 'Plain' });
});

test('members and their roles are told as the Bot API tells them', async () => {
  const { world, call, outcome } = await openLab();
  const member = async (user_id: number, chat_id = lab) =>
    (await call('getChatMember', { chat_id, user_id })).result['status'];
  expect([await member(ada), await member(ben), await member(mallory)]).toEqual(['creator', 'member', 'left']);
  world.setMember(lab, 'mallory', 'kicked');
  expect(await member(mallory)).toBe('kicked');
  const stranger = call('getChatMember', { chat_id: lab, user_id: 5 });
  expect(await refusal(stranger)).toBe('400 Bad Request: PARTICIPANT_ID_INVALID');
  const { id: bot } = (await call('getMe')).result;
  expect((await call('getChatMember', { chat_id: lab, user_id: bot })).result).toMatchObject({
    status: 'administrator',
    user: { is_bot: true },
    can_manage_topics: true,
    can_pin_messages: true,
  });
  world.setBotStatus(lab, 'left', 'ada');
  expect(await outcome('getChat', { chat_id: lab })).toBe('403 Forbidden: bot is not a member of the supergroup chat');
});

test('a right that is given to a plain member makes it an administrator', async () => {
  const { world, call, outcome } = await openLab();
  world.setBotRights(noRights, { can_manage_topics: true });
  expect(await outcome('createForumTopic', { chat_id: noRights, name: 'x' })).toBe('ok');
  const { result } = await call('sendMessage', { chat_id: noRights, text: 'x' });
  expect(await outcome('pinChatMessage', { chat_id: noRights, message_id: result['message_id'] })).toContain(
    'not enough rights',
  );
});

test('messages are shown by topic and by page, the newest last', async () => {
  const { world } = await openLab();
  const thread = world.createTopic(lab, 'ada', 'Plants');
  for (const text of ['one', 'two', 'three']) world.say({ as: 'ada', chat: lab, thread, text });
  world.say({ as: 'ben', chat: lab, text: 'elsewhere' });
  const texts = (page: object) => world.messages(lab, page).map(({ text }) => text);
  expect(texts({ thread })).toEqual(['Ada made the topic "Plants"', 'one', 'two', 'three']);
  expect(texts({ thread: null })).toEqual(['elsewhere']);
  expect(texts({ limit: 2 })).toEqual(['three', 'elsewhere']);
  expect(texts({ limit: 2, before: 5 })).toEqual(['one', 'two']);
});

async function play() {
  const { world, call } = await openLab();
  const thread = Number((await call('createForumTopic', { chat_id: lab, name: 'Plants' })).result['message_thread_id']);
  const reply_markup = {
    inline_keyboard: [
      [
        { text: 'Done', callback_data: 'done' },
        { text: 'Snooze', callback_data: 'snooze' },
      ],
    ],
  };
  const { result } = await call('sendMessage', {
    chat_id: lab,
    message_thread_id: thread,
    text: 'Water them\nall of them',
    reply_markup,
  });
  const message_id = Number(result['message_id']);
  world.say({ as: 'ben', chat: lab, text: 'Who does it?' });
  const { callbackId } = world.press({ as: 'ada', chat: lab, messageId: message_id, button: 'Done' });
  await call('answerCallbackQuery', { callback_query_id: callbackId, text: 'Thank you' });
  await call('editMessageText', { chat_id: lab, message_id, text: 'Watered by Ada' });
  await call('pinChatMessage', { chat_id: lab, message_id });
  world.say({ as: 'mallory', chat: mallory, text: '/start' });
  return world;
}

test('the transcript tells everything in order, alike for equal input', async () => {
  const world = await play();
  expect(world.transcript(lab)).toBe(
    [
      '[The Lab > Plants] Cronogram made the topic "Plants"',
      '[The Lab > Plants] Cronogram: Water them',
      '    all of them',
      '    [Done] [Snooze]',
      '[The Lab] Ben: Who does it?',
      '[The Lab > Plants] Ada presses [Done]',
      '[The Lab > Plants] Cronogram answers the press: Thank you',
      '[The Lab > Plants] Cronogram edits: Watered by Ada',
      '[The Lab > Plants] Cronogram pinned a message',
    ].join('\n'),
  );
  expect(world.transcript()).toContain('[Mallory] Mallory: /start');
  expect((await play()).transcript()).toBe(world.transcript());
});

test('whoever watches hears of each change once it is made, and no more after leaving', async () => {
  const { world, call } = await openLab();
  const heard: string[] = [];
  const leave = world.watch(({ kind, chatId }) => heard.push(`${kind} ${chatId ?? 'all'}`));
  world.watch(() => {
    throw new Error('a listener that fails');
  });
  world.say({ as: 'ada', chat: lab, text: 'x' });
  await call('createForumTopic', { chat_id: lab, name: 'Plants' });
  world.fault({ kind: '500', method: 'send', count: 1 });
  leave();
  world.say({ as: 'ada', chat: lab, text: 'y' });
  expect(heard).toEqual([`message ${lab}`, `message ${lab}`, `topic ${lab}`, 'call all', 'fault all']);
});

test('the world is found as it was left: messages, ids, topics, open updates, presses, faults and files', async () => {
  const folder = aFolder();
  const file = join(folder, 'sandbox.db');
  const time = manualTime(start);
  const first = await openLab({ file, time });
  first.world.say({ as: 'ada', chat: ada, text: '/start' });
  const thread = Number(
    (await first.call('createForumTopic', { chat_id: lab, name: 'Plants' })).result['message_thread_id'],
  );
  const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
  const sent = await first.call('sendMessage', { chat_id: lab, message_thread_id: thread, text: 'x', reply_markup });
  const messageId = Number(sent.result['message_id']);
  const { callbackId } = first.world.press({ as: 'ada', chat: lab, messageId, button: 'Go' });
  first.world.fault({ kind: '500', method: 'send', count: 2 });
  first.world.deleteTopic(lab, first.world.createTopic(lab, 'ada', 'Gone'));
  const open = await first.updates();
  const look = ({ world }: typeof first) =>
    JSON.stringify([world.chats(), world.topics(lab), world.messages(lab), world.faults(), world.transcript()]);
  const before = look(first);
  await first.close();

  const second = await openLab({ file, time });
  expect(look(second)).toBe(before);
  expect(await second.updates()).toEqual(open);
  expect(await second.outcome('answerCallbackQuery', { callback_query_id: callbackId })).toBe('ok');
  second.world.clearFault();
  const next = await second.call('sendMessage', { chat_id: lab, message_thread_id: thread, text: 'y' });
  expect(next.result['message_id']).toBe(messageId + 2);
  second.world.say({ as: 'ada', chat: ada, text: 'again' });
  const later = await second.updates();
  expect(later.at(-1)?.['update_id']).toBe(Number(open.at(-1)?.['update_id']) + 1);
});

test('a reset brings the first world back, but no number a second time', async () => {
  const { world, call, updates } = await openLab();
  const before = JSON.stringify(world.chats());
  world.say({ as: 'ada', chat: ada, text: 'hi' });
  const last = world.say({ as: 'ada', chat: lab, text: 'hi' }).messageId;
  const lastUpdate = Number((await updates()).at(-1)?.['update_id']);
  world.setBotStatus(lab, 'kicked', 'ada');
  await call('setMyCommands', { commands: [{ command: 'new', description: 'x' }] });
  world.reset();
  expect(JSON.stringify(world.chats())).toBe(before);
  expect([world.transcript(), world.calls(), await updates()]).toEqual(['', [], []]);
  expect((await call('getMyCommands')).result).toEqual([]);
  expect(world.say({ as: 'ada', chat: lab, text: 'hi' }).messageId).toBe(last + 1);
  expect(Number((await updates()).at(-1)?.['update_id'])).toBeGreaterThan(lastUpdate);
});
