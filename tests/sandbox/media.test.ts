import { expect, test } from 'vitest';
import { mediaKinds, type MediaKind } from '../../src/sandbox/world/world.ts';
import { png } from '../support/files.ts';
import { ada, answerOf, lab, noRights, openLab, refusal, token, type Fields, type Lab } from './lab.ts';

/** The file that a message of the Bot API carries in the field of that kind: of a photo, the largest size. */
function fileIn(message: Fields | undefined, kind: MediaKind): Fields | undefined {
  const field = message?.[kind];
  return Array.isArray(field) ? (field as readonly Fields[]).at(-1) : field;
}

function methodOf(kind: MediaKind): string {
  return `send${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

/** A file that Ada sent in her private chat, as the bot is told of it. */
async function sentByAda({ world, updates }: Lab, kind: MediaKind, text = ''): Promise<Fields> {
  world.say({ as: 'ada', chat: ada, text, media: { kind } });
  const message = (await updates()).at(-1)?.['message'];
  expect(message).toBeDefined();
  return message ?? {};
}

test.each(mediaKinds)(
  'a %s of a person comes with its field, its caption and an id that can be fetched',
  async (kind) => {
    const opened = await openLab();
    const message = await sentByAda(opened, kind, 'look at https://example.org');
    expect(message).toMatchObject({
      caption: 'look at https://example.org',
      caption_entities: [{ type: 'url', offset: 8, length: 19 }],
    });
    expect(message).not.toHaveProperty('text');
    const file = fileIn(message, kind) ?? {};
    expect(file['file_id']).toEqual(expect.any(String));
    expect(file['file_unique_id']).not.toBe(file['file_id']);
    const { result } = await opened.call('getFile', { file_id: file['file_id'] });
    expect(result['file_size']).toBe(file['file_size']);
  },
);

test('each kind has what Telegram tells of it, and an animation is a document as well', async () => {
  const opened = await openLab();
  const told = new Map<MediaKind, Fields>();
  for (const kind of mediaKinds) told.set(kind, await sentByAda(opened, kind));
  expect(told.get('photo')?.['photo']).toMatchObject([{ width: 90 }, { width: 320, height: 320 }]);
  expect(told.get('document')?.['document']).toMatchObject({ file_name: 'notes.txt', mime_type: 'text/plain' });
  expect(told.get('video')?.['video']).toMatchObject({ duration: 5, width: 320, mime_type: 'video/mp4' });
  expect(told.get('audio')?.['audio']).toMatchObject({ duration: 30, file_name: 'song.mp3' });
  expect(told.get('voice')?.['voice']).toMatchObject({ duration: 3, mime_type: 'audio/ogg' });
  expect(told.get('voice')?.['voice']).not.toHaveProperty('file_name');
  const animation = told.get('animation') ?? {};
  expect(animation['document']?.['file_id']).toBe(animation['animation']?.['file_id']);
  for (const message of told.values()) expect(message).not.toHaveProperty('caption');
});

test('people name their file, and cannot caption it beyond 1,024 units', async () => {
  const { world } = await openLab();
  const said = world.say({ as: 'ada', chat: ada, text: '', media: { kind: 'video', name: 'garden.mp4' } });
  expect(said.document).toMatchObject({ kind: 'video', name: 'garden.mp4', mimeType: 'video/mp4' });
  expect(world.file(said.document?.fileId ?? '')?.name).toBe('garden.mp4');
  const long = { as: 'ada', chat: ada, text: 'x'.repeat(1025), media: { kind: 'photo' } } as const;
  expect(() => world.say(long)).toThrow('at most 1024');
  expect(() => world.say({ as: 'ada', chat: ada, text: '' })).toThrow('nothing to say');
});

test.each(mediaKinds)('the bot sends a %s again by its id, with a caption and buttons', async (kind) => {
  const opened = await openLab();
  const { call, world } = opened;
  const fileId = fileIn(await sentByAda(opened, kind), kind)?.['file_id'];
  const reply_markup = { inline_keyboard: [[{ text: 'Done', callback_data: 'done' }]] };
  const sent = await call(methodOf(kind), { chat_id: lab, [kind]: fileId, caption: 'again', reply_markup });
  expect(fileIn(sent.result, kind)?.['file_id']).toBe(fileId);
  expect(sent.result['caption']).toBe('again');
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'again', document: { kind, fileId }, from: 'bot' });
});

test.each(mediaKinds)('the bot uploads a %s', async (kind) => {
  const { apiRoot, world } = await openLab();
  const body = new FormData();
  body.set('chat_id', String(lab));
  const bytes = Buffer.concat([kind === 'photo' ? png(4, 3) : Buffer.alloc(0), Buffer.alloc(100_000)]);
  body.set(kind, new Blob([bytes], { type: 'application/x-sample' }), 'sample.bin');
  const answer = await answerOf(await fetch(`${apiRoot}/bot${token}/${methodOf(kind)}`, { method: 'POST', body }));
  expect(answer.ok).toBe(true);
  const document = world.messages(lab).at(-1)?.document;
  expect(document).toMatchObject({
    kind,
    name: 'sample.bin',
    mimeType: 'application/x-sample',
    size: bytes.byteLength,
  });
  expect(fileIn(answer.result, kind)?.['file_id']).toBe(document?.fileId);
});

test('the smaller size of a photo stands for the whole photo', async () => {
  const opened = await openLab();
  const photo = (await sentByAda(opened, 'photo'))['photo'];
  const [small, large] = Array.isArray(photo) ? (photo as readonly Fields[]) : [];
  expect(small?.['file_id']).not.toBe(large?.['file_id']);
  const { result } = await opened.call('sendPhoto', { chat_id: lab, photo: small?.['file_id'] });
  expect(fileIn(result, 'photo')?.['file_id']).toBe(large?.['file_id']);
});

test('an id of nobody is refused, and so is a photo as anything else and the other way round', async () => {
  const opened = await openLab();
  const photo = fileIn(await sentByAda(opened, 'photo'), 'photo')?.['file_id'];
  const voice = fileIn(await sentByAda(opened, 'voice'), 'voice')?.['file_id'];
  const failing = async (method: string, params: object) => opened.outcome(method, { chat_id: lab, ...params });
  expect(await failing('sendVideo', { video: 'BAACnobody' })).toBe(
    '400 Bad Request: wrong file identifier/HTTP URL specified',
  );
  expect(await failing('sendVideo', { video: photo })).toBe("400 Bad Request: can't use file of type Photo as Video");
  expect(await failing('sendPhoto', { photo: voice })).toBe(
    "400 Bad Request: can't use file of type VoiceNote as Photo",
  );
  expect(await failing('sendAudio', {})).toBe('400 Bad Request: there is no audio in the request');
  expect(await failing('sendVoice', { voice, caption: 'x'.repeat(1025) })).toBe(
    '400 Bad Request: message caption is too long',
  );
  expect(opened.world.messages(lab)).toEqual([]);
});

test('any other file is sent as what it is, whichever method was called', async () => {
  const opened = await openLab();
  const video = fileIn(await sentByAda(opened, 'video'), 'video')?.['file_id'];
  const { result } = await opened.call('sendDocument', { chat_id: lab, document: video });
  expect(result['video']?.['file_id']).toBe(video);
  expect(result).not.toHaveProperty('document');
});

test('the id of a file outlives its message', async () => {
  const opened = await openLab();
  const message = await sentByAda(opened, 'document');
  await opened.call('deleteMessage', { chat_id: ada, message_id: message['message_id'] });
  const document = fileIn(message, 'document')?.['file_id'];
  expect((await opened.call('sendDocument', { chat_id: lab, document })).ok).toBe(true);
});

test('a caption is edited as a caption, and never as a text', async () => {
  const opened = await openLab();
  const { call, world, outcome } = opened;
  const voice = fileIn(await sentByAda(opened, 'voice'), 'voice')?.['file_id'];
  const sent = await call('sendVoice', { chat_id: lab, voice, caption: 'one' });
  const place = { chat_id: lab, message_id: sent.result['message_id'] };
  expect((await call('editMessageCaption', { ...place, caption: 'two' })).result['caption']).toBe('two');
  expect(await outcome('editMessageCaption', { ...place, caption: 'two' })).toMatch(/message is not modified/);
  expect(await outcome('editMessageText', { ...place, text: 'three' })).toBe(
    '400 Bad Request: there is no text in the message to edit',
  );
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'two', document: { kind: 'voice' } });
  const plainText = await call('sendMessage', { chat_id: lab, text: 'x' });
  expect(
    await refusal(
      call('editMessageCaption', { chat_id: lab, message_id: plainText.result['message_id'], caption: 'y' }),
    ),
  ).toBe('400 Bad Request: there is no caption in the message to edit');
});

test('the message that is answered is told whole, even where privacy mode had hidden it', async () => {
  const { world, updates } = await openLab();
  const hidden = world.say({ as: 'ben', chat: noRights, text: 'every friday', media: { kind: 'photo' } });
  world.say({ as: 'ada', chat: noRights, text: '/new this', replyTo: hidden.messageId });
  const [update] = await updates();
  expect(update?.['message']?.['reply_to_message']).toMatchObject({
    message_id: hidden.messageId,
    from: { first_name: 'Ben' },
    caption: 'every friday',
    photo: [{ width: 90 }, { width: 320 }],
  });
});

test.each(mediaKinds)('a fault of every send meets a %s', async (kind) => {
  const { call, world } = await openLab();
  world.fault({ kind: '500', method: 'send', count: 1 });
  expect((await call(methodOf(kind), { chat_id: lab, [kind]: 'x' })).status).toBe(500);
  expect(world.faults()).toEqual([]);
});

test('the transcript names the kind of a file', async () => {
  const { world } = await openLab();
  for (const kind of mediaKinds) world.say({ as: 'ada', chat: ada, text: '', media: { kind, name: 'it' } });
  expect(world.transcript(ada).split('\n')).toEqual(
    ['photo', 'file', 'video', 'audio', 'voice', 'animation'].map((word) => `[Ada] Ada: <${word} it>`),
  );
});
