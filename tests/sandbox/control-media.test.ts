import { describe, expect, test } from 'vitest';
import { mediaKinds } from '../../src/sandbox/world/world.ts';
import { ben, lab } from '../support/sandbox.ts';
import { servePages, type ServedPages } from './control-server.ts';

const keyboard = { inline_keyboard: [[{ text: 'Done', callback_data: 'done' }]] };

function whisper({ bot }: ServedPages, receiver: number, text: string) {
  const ephemeral_message_parameters = { receiver_user_id: receiver };
  return bot('sendMessage', { chat_id: lab, text, reply_markup: keyboard, ephemeral_message_parameters });
}

describe('files', () => {
  test.each(mediaKinds)('say sends a sample %s, with the text as its caption or with none', async (kind) => {
    const { post, get } = await servePages();
    const captioned = await post('say', { as: 'ada', chat: 'ada', text: 'look', media: { kind, name: 'it' } });
    expect(captioned.json.message).toMatchObject({
      text: 'look',
      document: { kind, name: 'it', is_photo: kind === 'photo' },
    });
    const bare = await post('say', { as: 'ada', chat: 'ada', media: { kind } });
    expect(bare.json.message.text).toBe('');
    const id = bare.json.message.document?.file_id ?? '';
    expect((await get(`document?id=${id}`)).status).toBe(200);
  });

  test('say sends an album, and refuses one of a single file or of too many', async () => {
    const { post, get } = await servePages();
    const album = (count: number) => Array.from({ length: count }, () => ({ kind: 'photo' }));
    const { json } = await post('say', { as: 'ada', chat: 'ada', text: 'look', media: album(3) });
    const shown = await get('messages?chat=ada');
    const messages = (JSON.parse(shown.text) as { messages: { text: string; album: string | null }[] }).messages;
    expect(messages.map(({ text }) => text)).toEqual(['look', '', '']);
    expect(new Set(messages.map((one) => one.album)).size).toBe(1);
    expect(json.message).toMatchObject({ text: 'look', album: messages[0]?.album });
    for (const count of [0, 1, 11])
      expect((await post('say', { as: 'ada', chat: 'ada', media: album(count) })).status).toBe(400);
  });

  test('say sends the very file that is given, under its name and type', async () => {
    const { post, get } = await servePages();
    const media = {
      kind: 'document',
      name: 'plan.csv',
      mime_type: 'text/csv',
      data: Buffer.from('a;b').toString('base64'),
    };
    const { json } = await post('say', { as: 'ada', chat: 'ada', media });
    const { headers, text } = await get(`document?id=${json.message.document?.file_id ?? ''}`);
    expect([headers['content-type'], text, json.message.document?.size]).toEqual(['text/csv', 'a;b', 3]);
    for (const bad of [{ data: 'a;b' }, { mime_type: 'text' }, { data: 'A'.repeat(7_000_000) }])
      expect((await post('say', { as: 'ada', chat: 'ada', media: { ...media, ...bad } })).status).toBe(400);
  });

  test('a sample photo is a picture that a browser shows', async () => {
    const { post, get } = await servePages();
    const { json } = await post('say', { as: 'ada', chat: 'ada', media: { kind: 'photo' } });
    const { headers, text } = await get(`document?id=${json.message.document?.file_id ?? ''}`);
    expect(headers['content-type']).toBe('image/png');
    expect(text).toContain('PNG');
  });

  test.each([
    [{ as: 'ada', chat: 'ada' }],
    [{ as: 'ada', chat: 'ada', media: { kind: 'sticker' } }],
    [{ as: 'ada', chat: 'ada', media: {} }],
    [{ as: 'ada', chat: 'ada', media: { kind: 'photo', name: '' } }],
    [{ as: 'ada', chat: 'ada', text: 'x'.repeat(1025), media: { kind: 'photo' } }],
    [{ as: 'ada', chat: 'lab', text: 'x', reply_to: 1, reply_to_ephemeral: 1 }],
    [{ as: 'ada', chat: 'lab', text: 'x', ephemeral: true }],
  ])('%j is refused in a sentence', async (body) => {
    const { post, get } = await servePages();
    const { status, json } = await post('say', body);
    expect(status).toBe(400);
    expect(json.error.message).toMatch(/^.{8,}\.$/);
    expect((await get('transcript')).text).toBe('');
  });
});

describe('messages for one person', () => {
  test('they are listed with whom they are for, and for one person only what that one sees', async () => {
    const served = await servePages();
    await whisper(served, ben, 'psst');
    const { json } = await served.get('messages?chat=lab');
    expect(json.messages).toMatchObject([{ message_id: 0, ephemeral_id: 1, only_for: 'ben', replaces: null }]);
    expect((await served.get('messages?chat=lab&as=ada')).json.messages).toEqual([]);
    expect((await served.get('messages?chat=lab&as=ben')).json.messages).toHaveLength(1);
  });

  test('press finds the newest button that the person can see', async () => {
    const served = await servePages();
    const { result } = await served.bot('sendMessage', { chat_id: lab, text: 'for all', reply_markup: keyboard });
    await whisper(served, ben, 'psst');
    const { json: adas } = await served.post('press', { as: 'ada', chat: 'lab', button: 'Done' });
    expect(adas).toMatchObject({ message_id: result.message_id, ephemeral_id: null });
    const { json: bens } = await served.post('press', { as: 'ben', chat: 'lab', button: 'Done' });
    expect(bens).toMatchObject({ message_id: 0, ephemeral_id: 1 });
    const named = await served.post('press', { as: 'ben', chat: 'lab', ephemeral_id: 1, button: 'done' });
    expect(named.status).toBe(200);
    const foreign = await served.post('press', { as: 'ada', chat: 'lab', ephemeral_id: 1, button: 'Done' });
    expect([foreign.status, foreign.json.error.code]).toEqual([404, 'no_message']);
    const both = await served.post('press', { as: 'ben', chat: 'lab', message_id: 2, ephemeral_id: 1, button: 'Done' });
    expect(both.status).toBe(400);
  });

  test('the list of chats shows none of them, and a silent message is told as such', async () => {
    const served = await servePages();
    await served.bot('sendMessage', { chat_id: lab, text: 'for all', disable_notification: true });
    await whisper(served, ben, 'psst');
    const { json } = await served.get('state');
    const chat = json.chats.find(({ key }) => key === 'lab');
    expect(chat).toMatchObject({ last: { text: 'for all' }, general_last_message_id: 2 });
    const { messages } = (await served.get('messages?chat=lab')).json;
    expect(messages).toMatchObject([{ is_silent: true }, { is_silent: false }]);
  });
});

describe('what Telegram offers', () => {
  test('both features are on at first, and each is switched alone', async () => {
    const { post, get } = await servePages();
    expect((await get('state')).json).toMatchObject({ platform: { ephemeral: true, privacy: true } });
    expect((await post('platform', { privacy: false })).json).toEqual({
      platform: { ephemeral: true, privacy: false },
    });
    expect((await post('platform', { ephemeral: false })).json).toEqual({
      platform: { ephemeral: false, privacy: false },
    });
    expect((await get('state')).json).toMatchObject({ platform: { ephemeral: false, privacy: false } });
  });

  test.each([[{}], [{ ephemeral: 'yes' }], [{ topics: true }]])('%j switches nothing', async (body) => {
    const { post } = await servePages();
    expect((await post('platform', body)).status).toBe(400);
  });

  test('a bot that is added by a link is told what the link carried', async () => {
    const { post, get } = await servePages();
    await post('bot', { chat: 'plain', status: 'left', by: 'ada' });
    const added = { chat: 'plain', status: 'administrator', by: 'ada', start: 'setup' };
    expect((await post('bot', added)).json.bot).toMatchObject({ status: 'administrator' });
    const { messages } = (await get('messages?chat=plain')).json;
    expect(messages.at(-1)).toMatchObject({ text: '/start@cronogram_bot setup' });
    expect((await post('bot', { ...added, start: 'two words' })).status).toBe(400);
  });
});
