import { expect, test } from 'vitest';
import { ada, lab, noRights, openLab, refusal, type Lab } from './lab.ts';

const notModified =
  '400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';
const keyboard = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };

async function sent({ call }: Lab, more = {}): Promise<number> {
  const { result } = await call('sendMessage', { chat_id: lab, text: 'one', ...more });
  return Number(result['message_id']);
}

test('an edit shows the new text and when it was made; without buttons it takes the buttons away', async () => {
  const opened = await openLab();
  const { call, time, world } = opened;
  const message_id = await sent(opened, { reply_markup: keyboard });
  await time.advance(5000);
  const { result } = await call('editMessageText', { chat_id: lab, message_id, text: 'two' });
  expect(result).toMatchObject({ message_id, text: 'two', edit_date: time.now() / 1000 });
  expect(result).not.toHaveProperty('reply_markup');
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'two', buttons: [], editDate: time.now() / 1000 });
});

test('an edit that changes nothing is refused, whatever space stands around the text', async () => {
  const opened = await openLab();
  const { outcome } = opened;
  const entities = [{ type: 'bold', offset: 0, length: 3 }];
  const message_id = await sent(opened, { reply_markup: keyboard, entities });
  const same = { chat_id: lab, message_id, text: 'one\n', entities, reply_markup: keyboard };
  expect(await outcome('editMessageText', same)).toBe(notModified);
  expect(await outcome('editMessageText', { ...same, entities: [] })).toBe('ok');
  expect(await outcome('editMessageText', same)).toBe('ok');
  expect(await outcome('editMessageReplyMarkup', same)).toBe(notModified);
  expect(await outcome('editMessageReplyMarkup', { chat_id: lab, message_id })).toBe('ok');
});

test('only own messages can be edited, and those that are hidden or gone are not found', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  const said = world.say({ as: 'ada', chat: lab, text: 'mine' });
  const hidden = world.say({ as: 'ada', chat: noRights, text: 'not for the bot' });
  const edit = (message_id: number, chat_id = lab) => outcome('editMessageText', { chat_id, message_id, text: 'x' });
  expect(await edit(said.messageId)).toBe("400 Bad Request: message can't be edited");
  expect(await edit(99)).toBe('400 Bad Request: message to edit not found');
  expect(await edit(hidden.messageId, noRights)).toBe('400 Bad Request: message to edit not found');
  const keyed = await sent(opened, { reply_markup: { keyboard: [['Yes']] } });
  expect(await edit(keyed)).toBe("400 Bad Request: message can't be edited");
  expect(await outcome('editMessageText', { text: 'x' })).toBe('400 Bad Request: message identifier is not specified');
  const caption = call('editMessageCaption', { chat_id: lab, message_id: await sent(opened), caption: 'x' });
  expect(await refusal(caption)).toBe('400 Bad Request: there is no caption in the message to edit');
});

test('an edit keeps to the limits of a message', async () => {
  const opened = await openLab();
  const { outcome } = opened;
  const message_id = await sent(opened);
  const edit = (text: string) => outcome('editMessageText', { chat_id: lab, message_id, text });
  expect(await edit('')).toBe('400 Bad Request: message text is empty');
  expect(await edit(' ')).toBe('400 Bad Request: text must be non-empty');
  expect(await edit('x'.repeat(4097))).toBe('400 Bad Request: message is too long');
});

test('own messages are deleted, those of others only with the right, and the beginning of a topic never', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  const thread = Number((await call('createForumTopic', { chat_id: lab, name: 'x' })).result['message_thread_id']);
  const said = world.say({ as: 'ada', chat: lab, text: 'mine' });
  const own = await sent(opened);
  const remove = (message_id: number) => outcome('deleteMessage', { chat_id: lab, message_id });
  expect(await remove(thread)).toBe("400 Bad Request: message can't be deleted");
  world.setBotRights(lab, { can_delete_messages: false });
  expect(await remove(said.messageId)).toBe("400 Bad Request: message can't be deleted");
  expect(await remove(own)).toBe('ok');
  expect(await remove(own)).toBe('400 Bad Request: message to delete not found');
  world.setBotRights(lab, { can_delete_messages: true });
  expect(await remove(said.messageId)).toBe('ok');
  expect(world.messages(lab).map(({ messageId }) => messageId)).toEqual([thread]);
});

test('without the right a message is not deleted after two days', async () => {
  const opened = await openLab();
  const { call, world, time } = opened;
  world.say({ as: 'ada', chat: ada, text: 'hi' });
  const { result } = await call('sendMessage', { chat_id: ada, text: 'x' });
  await time.advance(48 * 3_600_000 + 1000);
  const answer = call('deleteMessage', { chat_id: ada, message_id: result['message_id'] });
  expect(await refusal(answer)).toBe("400 Bad Request: message can't be deleted for everyone");
});

test('a pinned message is told by a message of its own in the same topic, once', async () => {
  const opened = await openLab();
  const { call, updates, world, outcome } = opened;
  const thread = Number((await call('createForumTopic', { chat_id: lab, name: 'x' })).result['message_thread_id']);
  const message_id = await sent(opened, { message_thread_id: thread });
  const pin = () => outcome('pinChatMessage', { chat_id: lab, message_id, disable_notification: true });
  expect([await pin(), await pin()]).toEqual(['ok', 'ok']);
  expect((await updates()).slice(1)).toMatchObject([
    { message: { message_thread_id: thread, pinned_message: { message_id, text: 'one' } } },
  ]);
  expect(world.messages(lab).find((message) => message.messageId === message_id)?.isPinned).toBe(true);
  expect((await call('getChat', { chat_id: lab })).result).toMatchObject({ pinned_message: { message_id } });
});

test('pinning needs the right', async () => {
  const { call, outcome } = await openLab();
  const { result } = await call('sendMessage', { chat_id: noRights, text: 'x' });
  const pin = (message_id: unknown) => outcome('pinChatMessage', { chat_id: noRights, message_id });
  expect(await pin(result['message_id'])).toBe(
    '400 Bad Request: not enough rights to manage pinned messages in the chat',
  );
  expect(await pin(99)).toBe('400 Bad Request: message to pin not found');
});

test('a press reaches the bot with its data, is answered once, and not after it has died', async () => {
  const opened = await openLab();
  const { updates, world, time, outcome } = opened;
  const stale = '400 Bad Request: query is too old and response timeout expired or query ID is invalid';
  const message_id = await sent(opened, { reply_markup: keyboard });
  const { callbackId } = world.press({ as: 'ben', chat: lab, messageId: message_id, button: 'Go' });
  expect(await updates()).toMatchObject([
    { callback_query: { id: callbackId, from: { id: 1002 }, message: { message_id, text: 'one' }, data: 'go' } },
  ]);
  const answer = (callback_query_id: string, more = {}) =>
    outcome('answerCallbackQuery', { callback_query_id, ...more });
  expect(world.callbackAnswer(callbackId)).toBeNull();
  expect(await answer(callbackId, { text: 'x'.repeat(201) })).toBe('400 Bad Request: MESSAGE_TOO_LONG');
  expect(await answer(callbackId, { text: 'Gone', show_alert: true })).toBe('ok');
  expect(world.callbackAnswer(callbackId)).toEqual({ text: 'Gone', alert: true });
  expect(await answer(callbackId)).toBe(stale);
  expect(await answer('12345')).toBe(stale);
  const late = world.press({ as: 'ben', chat: lab, messageId: message_id, button: 'go' });
  await time.advance(20_001);
  expect(await answer(late.callbackId)).toBe(stale);
});

test('a reaction is one of the known emoji, and only one', async () => {
  const opened = await openLab();
  const message_id = await sent(opened);
  const react = (...emoji: string[]) =>
    refusal(
      opened.call('setMessageReaction', {
        chat_id: lab,
        message_id,
        reaction: emoji.map((each) => ({ type: 'emoji', emoji: each })),
      }),
    );
  expect(await react('👍')).toBe('ok');
  expect(opened.world.messages(lab).at(-1)?.reactions).toEqual(['👍']);
  expect(await react('🥦')).toBe('400 Bad Request: REACTION_INVALID');
  expect(await react('👍', '🔥')).toBe('400 Bad Request: REACTIONS_TOO_MANY');
  expect(await react()).toBe('ok');
  expect(opened.world.messages(lab).at(-1)?.reactions).toEqual([]);
});
