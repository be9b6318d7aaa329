import { expect, test } from 'vitest';
import { ada, ben, lab, noRights, openLab, plain, refusal, type Lab } from './lab.ts';

async function madeTopic({ call }: Lab, name = 'Plants', chat_id = lab): Promise<number> {
  return Number((await call('createForumTopic', { chat_id, name })).result['message_thread_id']);
}

test('a topic is made with the message that tells of it, and its id is the id of that message', async () => {
  const { call, updates } = await openLab();
  const { result } = await call('createForumTopic', { chat_id: lab, name: ' Water\nthe plants ' });
  expect(result).toEqual({ message_thread_id: 2, name: 'Water the plants', icon_color: 7_322_096 });
  expect(await updates()).toMatchObject([
    {
      message: {
        message_id: 2,
        message_thread_id: 2,
        is_topic_message: true,
        from: { is_bot: true },
        forum_topic_created: { name: 'Water the plants', icon_color: 7_322_096 },
      },
    },
  ]);
});

test.each([
  [plain, 'x', 'the chat is not a forum'],
  [ben, 'x', 'the chat is not a forum'],
  [noRights, 'x', 'not enough rights to create a topic'],
  [lab, ' \n ', 'name must be non-empty'],
])('in chat %i a topic %j cannot be made', async (chat_id, name, text) => {
  const { world, outcome } = await openLab();
  world.say({ as: 'ben', chat: ben, text: 'hi' });
  expect(await outcome('createForumTopic', { chat_id, name })).toBe(`400 Bad Request: ${text}`);
});

test('a name of more than 128 characters is cut, not refused', async () => {
  const { call } = await openLab();
  const { result } = await call('createForumTopic', { chat_id: lab, name: '😀'.repeat(130) });
  expect(result['name']).toBe('😀'.repeat(128));
});

test('a private chat has topics as well: without rights, and never closed', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  world.say({ as: 'ada', chat: ada, text: 'hi' });
  const message_thread_id = await madeTopic(opened, 'Plants', ada);
  const sent = await call('sendMessage', { chat_id: ada, message_thread_id, text: 'x' });
  expect(sent.result).toMatchObject({
    message_thread_id,
    is_topic_message: true,
    reply_to_message: { forum_topic_created: { name: 'Plants' } },
  });
  const place = { chat_id: ada, message_thread_id };
  expect(await outcome('closeForumTopic', place)).toBe('400 Bad Request: the chat is not a supergroup forum');
  expect(await outcome('editForumTopic', { ...place, name: 'Flowers' })).toBe('ok');
  expect(await outcome('deleteForumTopic', place)).toBe('ok');
  expect(await outcome('sendMessage', { ...place, text: 'x' })).toBe('400 Bad Request: message thread not found');
});

test.each([1, 77])('a message for the topic %i, which is none, is refused', async (message_thread_id) => {
  const { call, world } = await openLab();
  world.say({ as: 'ada', chat: lab, text: 'the first message' });
  const answer = call('sendMessage', { chat_id: lab, message_thread_id, text: 'x' });
  expect(await refusal(answer)).toBe('400 Bad Request: message thread not found');
});

test('where there are no topics the number of one is ignored', async () => {
  const { call, world } = await openLab();
  world.setForum(noRights, false);
  const sent = await call('sendMessage', { chat_id: noRights, message_thread_id: 77, text: 'x' });
  expect(sent.result).not.toHaveProperty('message_thread_id');
  expect((await call('sendMessage', { chat_id: plain, message_thread_id: 77, text: 'x' })).ok).toBe(true);
});

test('a deleted topic takes its messages with it, tells nobody, and is not found any more', async () => {
  const opened = await openLab();
  const { call, world, updates, outcome } = opened;
  const message_thread_id = await madeTopic(opened);
  const sent = await call('sendMessage', { chat_id: lab, message_thread_id, text: 'x' });
  const before = (await updates()).length;
  world.deleteTopic(lab, message_thread_id);
  expect(await updates()).toHaveLength(before);
  expect(world.messages(lab)).toEqual([]);
  expect(world.topics(lab)).toMatchObject([{ threadId: message_thread_id, isDeleted: true }]);
  const at = { chat_id: lab, message_thread_id };
  expect(await outcome('sendMessage', { ...at, text: 'x' })).toBe('400 Bad Request: message thread not found');
  expect(await outcome('editForumTopic', { ...at, name: 'y' })).toBe('400 Bad Request: TOPIC_ID_INVALID');
  const edit = { chat_id: lab, message_id: sent.result['message_id'], text: 'y' };
  expect(await outcome('editMessageText', edit)).toBe('400 Bad Request: message to edit not found');
});

test('a closed topic is closed to a plain member, open to who may manage topics, and to its maker', async () => {
  const opened = await openLab();
  const { world, outcome } = opened;
  const own = await madeTopic(opened);
  const foreign = world.createTopic(lab, 'ada', 'Ada keeps this');
  world.closeTopic(lab, own);
  world.closeTopic(lab, foreign, 'ada');
  const send = (message_thread_id: number) => outcome('sendMessage', { chat_id: lab, message_thread_id, text: 'x' });
  expect([await send(own), await send(foreign)]).toEqual(['ok', 'ok']);
  world.setBotRights(lab, { can_manage_topics: false });
  expect([await send(own), await send(foreign)]).toEqual(['ok', '400 Bad Request: TOPIC_CLOSED']);
});

test('a topic is renamed, closed and reopened once each, and the bot hears of it', async () => {
  const opened = await openLab();
  const { updates, world } = opened;
  const at = { chat_id: lab, message_thread_id: await madeTopic(opened) };
  const tried = (method: string, more = {}) => opened.outcome(method, { ...at, ...more });
  expect(await tried('editForumTopic', { name: 'Plants' })).toBe('400 Bad Request: TOPIC_NOT_MODIFIED');
  expect(await tried('editForumTopic', { name: '' })).toBe('ok');
  expect(await tried('editForumTopic')).toBe('ok');
  expect(await tried('editForumTopic', { name: 'Flowers' })).toBe('ok');
  expect(await tried('closeForumTopic')).toBe('ok');
  expect(await tried('closeForumTopic')).toBe('400 Bad Request: TOPIC_NOT_MODIFIED');
  expect(await tried('reopenForumTopic')).toBe('ok');
  expect(await tried('reopenForumTopic')).toBe('400 Bad Request: TOPIC_NOT_MODIFIED');
  expect((await updates()).map(({ message }) => Object.keys(message ?? {}).at(-1))).toEqual([
    'forum_topic_created',
    'forum_topic_edited',
    'forum_topic_closed',
    'forum_topic_reopened',
  ]);
  expect((await updates())[1]).toMatchObject({ message: { forum_topic_edited: { name: 'Flowers' } } });
  expect(world.topics(lab)).toMatchObject([{ name: 'Flowers', isClosed: false, createdBy: 'bot' }]);
});

test('without the right, only own topics are changed', async () => {
  const opened = await openLab();
  const { world } = opened;
  const own = await madeTopic(opened);
  const foreign = world.createTopic(lab, 'ada', 'Ada keeps this');
  world.setBotRights(lab, { can_manage_topics: false, can_delete_messages: false });
  const tried = (method: string, message_thread_id: number) =>
    opened.outcome(method, { chat_id: lab, message_thread_id, name: 'New name' });
  expect(await tried('editForumTopic', foreign)).toBe('400 Bad Request: not enough rights to edit the topic');
  expect(await tried('closeForumTopic', foreign)).toBe('400 Bad Request: not enough rights to close or open the topic');
  expect(await tried('deleteForumTopic', foreign)).toBe('400 Bad Request: not enough rights to delete the topic');
  expect(await tried('editForumTopic', own)).toBe('ok');
  expect(await tried('closeForumTopic', own)).toBe('ok');
  expect(await tried('deleteForumTopic', own)).toBe('ok');
});

test('what answers nothing in a topic answers the message that made it', async () => {
  const { world, updates } = await openLab();
  const thread = world.createTopic(lab, 'ada', 'Plants');
  world.say({ as: 'ada', chat: lab, thread, text: 'hi' });
  expect((await updates())[1]).toMatchObject({
    message: { reply_to_message: { message_id: thread, forum_topic_created: { name: 'Plants' } } },
  });
});

test('an answer in General names the root of its chain, and is no message of a topic', async () => {
  const { world, updates, call } = await openLab();
  const first = world.say({ as: 'ada', chat: lab, text: 'one' });
  const second = world.say({ as: 'ben', chat: lab, text: 'two', replyTo: first.messageId });
  world.say({ as: 'ada', chat: lab, text: 'three', replyTo: second.messageId });
  const messages = (await updates()).map(({ message }) => message);
  expect(messages[0]).not.toHaveProperty('message_thread_id');
  for (const message of messages.slice(1)) {
    expect(message).toHaveProperty('message_thread_id', first.messageId);
    expect(message).not.toHaveProperty('is_topic_message');
  }
  const answer = call('sendMessage', { chat_id: lab, message_thread_id: first.messageId, text: 'x' });
  expect(await refusal(answer)).toBe('400 Bad Request: message thread not found');
});
