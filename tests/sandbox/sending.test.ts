import { expect, test } from 'vitest';
import { ada, ben, lab, mallory, noRights, openLab, plain, start } from './lab.ts';

const emoji = '😀';

test('the answer tells what was sent, as it is shown', async () => {
  const { call } = await openLab();
  const { result } = await call('sendMessage', {
    chat_id: lab,
    text: 'Hello world',
    entities: [{ type: 'bold', offset: 0, length: 5 }],
  });
  expect(result).toEqual({
    message_id: 2,
    from: { id: 777_000_001, is_bot: true, first_name: 'Cronogram', username: 'cronogram_bot' },
    chat: { id: lab, title: 'The Lab', is_forum: true, type: 'supergroup' },
    date: start / 1000,
    text: 'Hello world',
    entities: [{ type: 'bold', offset: 0, length: 5 }],
  });
});

test('each supergroup counts its messages; private chats and plain groups share the mailbox of the bot', async () => {
  const { call, world } = await openLab();
  const id = async (chat_id: number) => (await call('sendMessage', { chat_id, text: 'x' })).result['message_id'];
  expect(world.say({ as: 'ada', chat: ada, text: 'hi' }).messageId).toBe(1);
  expect(world.say({ as: 'ben', chat: ben, text: 'hi' }).messageId).toBe(2);
  expect([await id(lab), await id(lab), await id(noRights)]).toEqual([2, 3, 2]);
  expect([await id(ada), await id(plain), await id(ben)]).toEqual([3, 4, 5]);
});

test.each([
  [{ text: '' }, 'message text is empty'],
  [{}, 'message text is empty'],
  [{ text: ' \n ' }, 'text must be non-empty'],
  [{ text: 'x'.repeat(4097) }, 'message is too long'],
  [{ text: emoji.repeat(2049) }, 'message is too long'],
  [{ text: 'x'.repeat(32_769) }, 'text is too long'],
  [{ text: 'x', chat_id: '' }, 'chat_id is empty'],
  [{ text: 'x', chat_id: 4711 }, 'chat not found'],
  [{ text: 'x', chat_id: '@nobody' }, 'chat not found'],
  [{ text: 'x', parse_mode: 'Pascal' }, 'the sandbox reads entities only, not parse_mode Pascal'],
  [{ text: 'x', reply_markup: '{' }, "can't parse reply keyboard markup JSON object"],
  [{ text: 'x', reply_markup: '[]' }, 'object expected as reply markup'],
  [{ text: 'x', reply_parameters: { message_id: 99 } }, 'message to be replied not found'],
  [{ text: 'x', entities: [5] }, "can't parse MessageEntity: expected an Object"],
  [{ text: 'x', entities: [{ type: 'bold', offset: 0 }] }, 'can\'t parse MessageEntity: Can\'t find field "length"'],
  [
    { text: 'x', entities: [{ type: 'loud', offset: 0, length: 1 }] },
    "can't parse MessageEntity: Unsupported type specified",
  ],
  [
    { text: 'four', entities: [{ type: 'bold', offset: 1, length: 4 }] },
    'entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 4',
  ],
  [
    { text: emoji, entities: [{ type: 'bold', offset: 0, length: 1 }] },
    'entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at offset 1',
  ],
])('a message that Telegram does not take is refused in its words: %j', async (params, text) => {
  const { world, outcome } = await openLab();
  expect(await outcome('sendMessage', { chat_id: lab, ...params })).toBe(`400 Bad Request: ${text}`);
  expect(world.messages(lab)).toEqual([]);
});

test('4,096 UTF-16 units are not too long, and are counted without the space around', async () => {
  const { outcome } = await openLab();
  expect(await outcome('sendMessage', { chat_id: lab, text: emoji.repeat(2048) })).toBe('ok');
  expect(await outcome('sendMessage', { chat_id: lab, text: `${'x'.repeat(4096)}\n\n` })).toBe('ok');
});

test('the text comes back cleaned, with its entities moved along', async () => {
  const { call } = await openLab();
  const { result } = await call('sendMessage', {
    chat_id: lab,
    text: '\n a\r\n\u202Eb\u0001c \n',
    entities: [{ type: 'bold', offset: 6, length: 1 }],
  });
  expect(result).toMatchObject({ text: 'a\nb c', entities: [{ type: 'bold', offset: 2, length: 1 }] });
});

test('leading space stays where an entity covers it, and an entity that loses its text is dropped', async () => {
  const { call } = await openLab();
  const entities = [
    { type: 'code', offset: 1, length: 3 },
    { type: 'bold', offset: 4, length: 2 },
  ];
  const { result } = await call('sendMessage', { chat_id: lab, text: '   a  ', entities });
  expect(result).toMatchObject({ text: '  a', entities: [{ type: 'code', offset: 0, length: 3 }] });
});

test('entities that are no JSON are ignored', async () => {
  const { call } = await openLab();
  const { result } = await call('sendMessage', { chat_id: lab, text: 'plain', entities: '[{"type":' });
  expect(result).not.toHaveProperty('entities');
});

test('links, commands and names are found by the server, but not inside of code', async () => {
  const { call } = await openLab();
  const text = 'see https://example.org/a, /new and @someone; /not here';
  const entities = [{ type: 'code', offset: 46, length: 9 }];
  const { result } = await call('sendMessage', { chat_id: lab, text, entities });
  expect(result['entities']).toEqual([
    { type: 'url', offset: 4, length: 21 },
    { type: 'bot_command', offset: 27, length: 4 },
    { type: 'mention', offset: 36, length: 8 },
    { type: 'code', offset: 46, length: 9 },
  ]);
});

test.each([
  [{ text: 'Go', callback_data: 'x'.repeat(65) }, 'BUTTON_DATA_INVALID'],
  [{ text: 'Go', callback_data: 'ж'.repeat(33) }, 'BUTTON_DATA_INVALID'],
  [
    { text: 'Go', callback_data: '' },
    "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
  ],
  ['Go', "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"],
  [{ callback_data: 'go' }, 'can\'t parse inline keyboard button: Can\'t find field "text"'],
  [{ text: 'Go', url: 'nowhere' }, "inline keyboard button URL 'nowhere' is invalid: Wrong HTTP URL"],
])('a button that Telegram does not take is refused: %j', async (button, text) => {
  const { outcome } = await openLab();
  const reply_markup = { inline_keyboard: [[button]] };
  expect(await outcome('sendMessage', { chat_id: lab, text: 'x', reply_markup })).toBe(`400 Bad Request: ${text}`);
});

test('64 bytes of data fit a button, 100 buttons fit a message', async () => {
  const { outcome } = await openLab();
  const buttons = (count: number) => ({
    inline_keyboard: Array.from({ length: count }, () => [{ text: 'Go', callback_data: 'x'.repeat(64) }]),
  });
  const send = (count: number) => outcome('sendMessage', { chat_id: lab, text: 'x', reply_markup: buttons(count) });
  expect(await send(100)).toBe('ok');
  expect(await send(101)).toBe('400 Bad Request: reply markup is too long');
});

test('a bot cannot begin a conversation, nor write to whoever blocked it', async () => {
  const { world, outcome } = await openLab();
  const send = (chat_id: number) => outcome('sendMessage', { chat_id, text: 'x' });
  expect(await send(mallory)).toBe('400 Bad Request: chat not found');
  expect(await send(ben)).toBe("403 Forbidden: bot can't initiate conversation with a user");
  world.say({ as: 'ben', chat: ben, text: 'hi' });
  expect(await send(ben)).toBe('ok');
  world.setBotStatus(ben, 'kicked', 'ben');
  expect(await send(ben)).toBe('403 Forbidden: bot was blocked by the user');
  world.setBotStatus(ben, 'member', 'ben');
  expect(await send(ben)).toBe('ok');
});

test.each([
  [lab, 'kicked', '403 Forbidden: bot was kicked from the supergroup chat'],
  [lab, 'left', '403 Forbidden: bot is not a member of the supergroup chat'],
  [plain, 'kicked', '403 Forbidden: bot was kicked from the group chat'],
  [plain, 'left', '403 Forbidden: bot is not a member of the group chat'],
] as const)('in chat %i a bot that was %s cannot write', async (chat_id, status, text) => {
  const { world, outcome } = await openLab();
  world.setBotStatus(chat_id, status, 'ada');
  expect(await outcome('sendMessage', { chat_id, text: 'x' })).toBe(text);
});

test('an answer shows what it answers, one step deep, and lands in its topic', async () => {
  const { call, world } = await openLab();
  const thread = world.createTopic(lab, 'ada', 'Plants');
  const asked = world.say({ as: 'ada', chat: lab, thread, text: 'How are they?' });
  const { result } = await call('sendMessage', {
    chat_id: lab,
    text: 'Well',
    reply_parameters: { message_id: asked.messageId },
  });
  expect(result).toMatchObject({
    message_thread_id: thread,
    is_topic_message: true,
    reply_to_message: { message_id: asked.messageId, text: 'How are they?' },
  });
  expect(result['reply_to_message']).not.toHaveProperty('reply_to_message');
  const reply_parameters = { message_id: 999, allow_sending_without_reply: true };
  expect((await call('sendMessage', { chat_id: lab, text: 'x', reply_parameters })).ok).toBe(true);
});

test('a caption has 1,024 units, and an empty file is none', async () => {
  const { apiRoot, outcome } = await openLab();
  const form = (size: number, caption: string) => {
    const body = new FormData();
    body.set('document', new Blob(['x'.repeat(size)]), 'a.txt');
    return fetch(`${apiRoot}/bot777000001:test-token/sendDocument?chat_id=${lab}&caption=${caption}`, {
      method: 'POST',
      body,
    }).then((response) => response.json() as Promise<{ description?: string }>);
  };
  expect((await form(5, 'x'.repeat(1025))).description).toBe('Bad Request: message caption is too long');
  expect((await form(5, 'x'.repeat(1024))).description).toBeUndefined();
  expect((await form(0, 'x')).description).toBe('Bad Request: file must be non-empty');
  expect(await outcome('sendDocument', { chat_id: lab })).toBe('400 Bad Request: there is no document in the request');
  expect(await outcome('sendDocument', { chat_id: lab, document: 'unknown' })).toBe(
    '400 Bad Request: wrong file identifier/HTTP URL specified',
  );
});
