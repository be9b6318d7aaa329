import { expect, test } from 'vitest';
import { ada, ben, lab, mallory, noRights, openLab, plain, refusal, type Lab } from './lab.ts';

const button = { inline_keyboard: [[{ text: 'Done', callback_data: 'done' }]] };

/** Sends to one person alone. */
function whisper(
  { call }: Lab,
  chat: number,
  parameters: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
) {
  return call('sendMessage', { chat_id: chat, text: 'psst', ephemeral_message_parameters: parameters, ...more });
}

/** Ben presses a button below an ordinary message of the bot; answers the id of the callback query. */
async function pressed({ call, world }: Lab, chat: number): Promise<{ callbackId: string; messageId: number }> {
  const { result } = await call('sendMessage', { chat_id: chat, text: 'Shall I?', reply_markup: button });
  const messageId = Number(result['message_id']);
  return { ...world.press({ as: 'ben', chat, messageId, button: 'Done' }), messageId };
}

test('an ephemeral message has an id of its own kind, and is for its receiver alone', async () => {
  const opened = await openLab();
  const { world, call } = opened;
  const { ok, result } = await whisper(opened, lab, { receiver_user_id: ben });
  expect(ok).toBe(true);
  expect(result).toMatchObject({
    message_id: 0,
    receiver_user: { id: ben, first_name: 'Ben' },
    ephemeral_message_id: 1,
    text: 'psst',
    chat: { id: lab },
  });
  await call('sendMessage', { chat_id: lab, text: 'to all' });
  const shown = (as?: string) =>
    world
      .messages(lab, as === undefined ? {} : { as })
      .map(({ text, messageId, ephemeralId, onlyFor }) => [text, messageId, ephemeralId, onlyFor]);
  expect(shown()).toEqual([
    ['psst', 0, 1, 'ben'],
    ['to all', 2, null, null],
  ]);
  expect(shown('ben')).toHaveLength(2);
  expect(shown('ada')).toEqual([['to all', 2, null, null]]);
  expect(world.transcript(lab)).toBe('[The Lab] Cronogram (only Ben sees this): psst\n[The Lab] Cronogram: to all');
});

test('each chat counts them itself, and pages of older messages keep them in their place', async () => {
  const opened = await openLab();
  const { world, call } = opened;
  await call('sendMessage', { chat_id: lab, text: 'first' });
  await whisper(opened, lab, { receiver_user_id: ben });
  await call('sendMessage', { chat_id: lab, text: 'last' });
  world.setBotStatus(plain, 'administrator', 'ada');
  expect((await whisper(opened, plain, { receiver_user_id: ada })).result['ephemeral_message_id']).toBe(1);
  expect((await whisper(opened, lab, { receiver_user_id: ada })).result['ephemeral_message_id']).toBe(2);
  expect(world.messages(lab, { before: 3 }).map(({ text }) => text)).toEqual(['first', 'psst']);
  expect(world.messages(lab, { before: 2 })).toEqual([]);
});

test.each([
  ['in a private chat', ada, { receiver_user_id: ada }, 'BOT_NOT_ADMIN'],
  ['for a stranger', lab, { receiver_user_id: 4711 }, 'PARTICIPANT_ID_INVALID'],
  ['for a person outside of the chat', lab, { receiver_user_id: mallory }, 'PARTICIPANT_ID_INVALID'],
  ['for the bot', lab, { receiver_user_id: 777_000_001 }, 'PARTICIPANT_ID_INVALID'],
  ['for nobody', lab, {}, 'PARTICIPANT_ID_INVALID'],
  ['by a plain member that answers nothing', noRights, { receiver_user_id: ben }, 'BOT_NOT_ADMIN'],
  [
    'for a press that never was',
    lab,
    { receiver_user_id: ben, callback_query_id: '1' },
    'query is too old and response timeout expired or query ID is invalid',
  ],
  [
    'in the place of nothing',
    lab,
    { receiver_user_id: ben, replace_callback_query_message: true },
    'MESSAGE_ID_INVALID',
  ],
])('an ephemeral message is refused %s', async (_where, chat, parameters, text) => {
  const opened = await openLab();
  opened.world.say({ as: 'ada', chat: ada, text: '/start' });
  expect(await refusal(whisper(opened, chat, parameters))).toBe(`400 Bad Request: ${text}`);
  expect(opened.world.messages(chat).filter(({ from }) => from === 'bot')).toEqual([]);
});

test('parameters that cannot be read are refused, never ignored', async () => {
  const { outcome } = await openLab();
  for (const ephemeral_message_parameters of ['{', '[]', '7']) {
    expect(await outcome('sendMessage', { chat_id: lab, text: 'x', ephemeral_message_parameters })).toMatch(/^400 /);
  }
});

test('a plain member may answer a press for fifteen seconds, to that person alone', async () => {
  const opened = await openLab();
  const { callbackId: callback_query_id } = await pressed(opened, noRights);
  await opened.time.advance(15_000);
  expect(await refusal(whisper(opened, noRights, { receiver_user_id: ben, callback_query_id }))).toBe('ok');
  expect(await refusal(whisper(opened, noRights, { receiver_user_id: ada, callback_query_id }))).toMatch(
    /query is too old/,
  );
  expect(await refusal(whisper(opened, lab, { receiver_user_id: ben, callback_query_id }))).toMatch(/query is too old/);
  await opened.time.advance(1);
  expect(await refusal(whisper(opened, noRights, { receiver_user_id: ben, callback_query_id }))).toMatch(
    /query is too old/,
  );
});

test('a press in a private chat allows none either', async () => {
  const opened = await openLab();
  const { call, world } = opened;
  world.say({ as: 'ada', chat: ada, text: '/start' });
  const { result } = await call('sendMessage', { chat_id: ada, text: 'Shall I?', reply_markup: button });
  const press = { as: 'ada', chat: ada, messageId: Number(result['message_id']), button: 'Done' };
  const { callbackId: callback_query_id } = world.press(press);
  expect(await refusal(whisper(opened, ada, { receiver_user_id: ada, callback_query_id }))).toBe(
    '400 Bad Request: BOT_NOT_ADMIN',
  );
});

test('an administrator may write at any time without having been asked', async () => {
  const opened = await openLab();
  await opened.time.advance(3_600_000);
  expect(await refusal(whisper(opened, lab, { receiver_user_id: ben }))).toBe('ok');
});

test('it can stand in the place of the message whose button was pressed, but not in that of another ephemeral one', async () => {
  const opened = await openLab();
  const { world } = opened;
  const { callbackId, messageId } = await pressed(opened, lab);
  const inPlace = { receiver_user_id: ben, callback_query_id: callbackId, replace_callback_query_message: true };
  expect((await whisper(opened, lab, inPlace, { reply_markup: button })).ok).toBe(true);
  expect(world.messages(lab).at(-1)).toMatchObject({ replaces: messageId, onlyFor: 'ben' });
  const again = world.press({ as: 'ben', chat: lab, messageId: 0, ephemeralId: 1, button: 'Done' });
  expect(await refusal(whisper(opened, lab, { ...inPlace, callback_query_id: again.callbackId }))).toMatch(/^400 /);
});

test('its buttons are pressed by its receiver alone, and the query tells of it', async () => {
  const opened = await openLab();
  const { world, updates, call } = opened;
  await whisper(opened, lab, { receiver_user_id: ben }, { reply_markup: button });
  expect(() => world.press({ as: 'ada', chat: lab, messageId: 0, ephemeralId: 1, button: 'Done' })).toThrow(
    /no ephemeral/,
  );
  const { callbackId } = world.press({ as: 'ben', chat: lab, messageId: 0, ephemeralId: 1, button: 'Done' });
  expect((await updates()).at(-1)?.['callback_query']).toMatchObject({
    id: callbackId,
    from: { id: ben },
    data: 'done',
    message: { message_id: 0, ephemeral_message_id: 1, receiver_user: { id: ben }, chat: { id: lab } },
  });
  expect((await call('answerCallbackQuery', { callback_query_id: callbackId, text: 'Done' })).ok).toBe(true);
  expect(world.transcript(lab)).toMatch(/Ben presses \[Done\] \(only Ben sees this\)/);
});

test('only the method for ephemeral messages edits them, and it is strict', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  const { result } = await whisper(opened, lab, { receiver_user_id: ben }, { reply_markup: button });
  const id = { chat_id: lab, receiver_user_id: ben, ephemeral_message_id: result['ephemeral_message_id'] };
  const edit = (params: object) => call('editEphemeralMessageText', { ...id, ...params });
  expect((await edit({ text: 'later', reply_markup: button })).result).toBe(true);
  expect(await refusal(edit({ text: 'later', reply_markup: button }))).toMatch(
    /^400 Bad Request: message is not modified/,
  );
  expect(await refusal(edit({ text: '' }))).toBe('400 Bad Request: message text is empty');
  expect(await refusal(edit({ text: 'x', ephemeral_message_id: 9 }))).toBe(
    '400 Bad Request: ephemeral message not found',
  );
  expect(await refusal(edit({ text: 'x', receiver_user_id: ada }))).toBe(
    '400 Bad Request: ephemeral message not found',
  );
  expect(await refusal(edit({ text: 'x', receiver_user_id: 0 }))).toMatch(/^400 /);
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'later', buttons: [[{ text: 'Done' }]] });

  expect(await outcome('editMessageText', { chat_id: lab, message_id: 0, text: 'x' })).toMatch(/not found/);
  for (const message_id of [0, 1]) {
    expect(await outcome('deleteMessage', { chat_id: lab, message_id })).toMatch(/message to delete not found/);
  }
});

test('a photo for one person has no text to edit', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  const said = world.say({ as: 'ben', chat: lab, text: '', media: { kind: 'photo' } });
  const parameters = { receiver_user_id: ben };
  const photo = said.document?.fileId;
  await call('sendPhoto', { chat_id: lab, photo, caption: 'one', ephemeral_message_parameters: parameters });
  const id = { chat_id: lab, receiver_user_id: ben, ephemeral_message_id: 1 };
  expect(await outcome('editEphemeralMessageText', { ...id, text: 'x' })).toMatch(/there is no text/);
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'one', document: { kind: 'photo' }, onlyFor: 'ben' });
});

test('where Telegram does not offer them, the parameter is refused and nothing is sent', async () => {
  const opened = await openLab();
  opened.world.setFeatures({ isEphemeralOn: false });
  expect(await refusal(whisper(opened, lab, { receiver_user_id: ben }))).toBe(
    '400 Bad Request: EPHEMERAL_NOT_SUPPORTED',
  );
  expect(opened.world.messages(lab)).toEqual([]);
  opened.world.setFeatures({ isEphemeralOn: true });
  expect(await refusal(whisper(opened, lab, { receiver_user_id: ben }))).toBe('ok');
});

test('a command that is marked so is said to the bot alone, and can be answered by its id', async () => {
  const opened = await openLab();
  const { call, world, updates, outcome } = opened;
  const commands = [
    { command: 'tasks', description: 'Your tasks', is_ephemeral: true },
    { command: 'new', description: 'A new task' },
  ];
  await call('setMyCommands', { commands });
  expect((await call('getMyCommands')).result).toEqual(commands);
  world.say({ as: 'ben', chat: noRights, text: '/tasks' });
  world.say({ as: 'ben', chat: noRights, text: '/new' });
  world.say({ as: 'ben', chat: noRights, text: '/tasks', isEphemeral: false });
  expect(world.messages(noRights).map(({ onlyFor }) => onlyFor)).toEqual(['ben', null, null]);
  expect((await updates())[0]?.['message']).toMatchObject({
    message_id: 0,
    ephemeral_message_id: 1,
    from: { id: ben },
    receiver_user: { is_bot: true },
    text: '/tasks',
  });
  const answer = () =>
    whisper(opened, noRights, { receiver_user_id: ben }, { reply_parameters: { ephemeral_message_id: 1 } });
  expect((await answer()).result).toMatchObject({ ephemeral_message_id: 2, reply_to_message: { text: '/tasks' } });
  const reply_parameters = { ephemeral_message_id: 1 };
  expect(await outcome('sendMessage', { chat_id: noRights, text: 'aloud', reply_parameters })).toBe(
    '400 Bad Request: message to be replied not found',
  );
  // Its own message is nothing to answer, nor is one that is not there.
  for (const ephemeral_message_id of [2, 99]) {
    const foreign = { reply_parameters: { ephemeral_message_id } };
    expect(await refusal(whisper(opened, noRights, { receiver_user_id: ben }, foreign))).toMatch(
      /to be replied not found/,
    );
  }
  await opened.time.advance(16_000);
  expect(await refusal(answer())).toBe('400 Bad Request: message to be replied not found');
});

test('the narrowest scope decides which commands are marked', async () => {
  const { call, world } = await openLab();
  const commands = [{ command: 'tasks', description: 'Your tasks', is_ephemeral: true }];
  await call('setMyCommands', { commands, scope: { type: 'all_chat_administrators' } });
  await call('setMyCommands', { commands: [{ command: 'tasks', description: 'Your tasks' }] });
  const onlyFor = (as: string) => world.say({ as, chat: lab, text: '/tasks' }).onlyFor;
  expect([onlyFor('ada'), onlyFor('ben')]).toEqual(['ada', null]);
  world.setFeatures({ isEphemeralOn: false });
  expect(onlyFor('ada')).toBeNull();
});

test('a person answers an ephemeral message with another one, which the bot hears whole', async () => {
  const opened = await openLab();
  await whisper(opened, lab, { receiver_user_id: ben }, { text: 'What is it called?' });
  const reply = { as: 'ben', chat: lab, text: 'Water the plants', replyToEphemeral: 1 };
  expect(opened.world.say(reply)).toMatchObject({ onlyFor: 'ben', messageId: 0 });
  expect((await opened.updates()).at(-1)?.['message']).toMatchObject({
    text: 'Water the plants',
    ephemeral_message_id: 2,
    reply_to_message: { text: 'What is it called?', ephemeral_message_id: 1 },
  });
  expect(() => opened.world.say({ ...reply, as: 'ada' })).toThrow(/no ephemeral message 1 for Ada/);
});
