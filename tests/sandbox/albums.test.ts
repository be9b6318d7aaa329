import { expect, test } from 'vitest';
import { png } from '../support/files.ts';
import { ada, answerOf, lab, noRights, openLab, realLimits, token, type Lab } from './lab.ts';

interface Item {
  readonly type: string;
  readonly media: string;
  readonly caption?: string;
}

/** Items whose files come with the call, each in a part of its own. */
function uploaded(files: readonly (readonly [type: string, bytes: Buffer, caption?: string])[]) {
  const media = files.map(([type, , caption], index): Item => {
    return { type, media: `attach://f${index}`, ...(caption === undefined ? {} : { caption }) };
  });
  return { media, parts: files.map(([, bytes], index) => [`f${index}`, bytes] as const) };
}

async function send({ apiRoot }: Lab, method: string, fields: object, parts: readonly (readonly [string, Buffer])[]) {
  const body = new FormData();
  const all = { chat_id: lab, ...fields };
  for (const [name, value] of Object.entries(all))
    body.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  for (const [name, bytes] of parts) body.set(name, new Blob([Buffer.from(bytes)]), `${name}.bin`);
  return answerOf(await fetch(`${apiRoot}/bot${token}/${method}`, { method: 'POST', body }));
}

async function album(opened: Lab, files: Parameters<typeof uploaded>[0], fields: object = {}) {
  const { media, parts } = uploaded(files);
  return send(opened, 'sendMediaGroup', { media, ...fields }, parts);
}

test('an album is a message for each file, in order, each with its caption, and one number in common', async () => {
  const opened = await openLab();
  const files = [1, 2, 3].map((side) => ['photo', png(side, side), `p${side}`] as const);
  const { result } = await album(opened, files, { disable_notification: true });
  const told = result as unknown as readonly { message_id: number; caption: string; media_group_id: string }[];
  expect(told.map(({ caption }) => caption)).toEqual(['p1', 'p2', 'p3']);
  expect(new Set(told.map((one) => one.media_group_id)).size).toBe(1);
  const shown = opened.world.messages(lab);
  expect(shown.map(({ messageId }) => messageId)).toEqual(told.map((one) => one.message_id));
  expect(shown).toMatchObject(
    [1, 2, 3].map((side) => ({ text: `p${side}`, isSilent: true, document: { kind: 'photo' } })),
  );
  expect(shown[0]?.album).toBe(told[0]?.media_group_id);
  const { result: other } = await album(opened, files);
  expect((other as unknown as typeof told)[0]?.media_group_id).not.toBe(told[0]?.media_group_id);
});

test('a caption of an album is edited by itself, and the same one is no change', async () => {
  const opened = await openLab();
  await album(opened, [
    ['document', Buffer.from('a'), 'one'],
    ['document', Buffer.from('b'), 'two'],
  ]);
  const [, second] = opened.world.messages(lab);
  const edit = { chat_id: lab, message_id: second?.messageId, reply_markup: { inline_keyboard: [] } };
  expect(await opened.outcome('editMessageCaption', { ...edit, caption: 'two' })).toContain('message is not modified');
  expect(await opened.outcome('editMessageCaption', { ...edit, caption: 'three' })).toBe('ok');
  expect(opened.world.messages(lab).map(({ text }) => text)).toEqual(['one', 'three']);
});

test('a file that Telegram knows stands in an album by its id', async () => {
  const opened = await openLab();
  const { document } = opened.world.say({ as: 'ada', chat: lab, text: '', media: { kind: 'photo' } });
  const item = { type: 'photo', media: document?.fileId };
  expect(await opened.outcome('sendMediaGroup', { chat_id: lab, media: [item, item] })).toBe('ok');
  expect(opened.world.messages(lab).slice(-2)).toMatchObject([{ document }, { document }]);
});

const photo = ['photo', png(2, 2)] as const;
const paper = ['document', Buffer.from('x')] as const;

test.each<[string, Parameters<typeof uploaded>[0], string]>([
  ['no file', [], 'there are no messages to send'],
  ['eleven files', Array.from({ length: 11 }, () => photo), 'too many messages to send as an album'],
  ['documents among photos', [photo, paper], "document can't be mixed with other media types"],
  [
    'music among films',
    [
      ['video', paper[1]],
      ['audio', paper[1]],
    ],
    "audio can't be mixed with other media types",
  ],
  ['a GIF', [photo, ['animation', paper[1]]], 'type must be one of photo, video, audio or document'],
  ['an empty file', [photo, ['photo', Buffer.alloc(0)]], 'file must be non-empty'],
  ['a caption that is too long', [photo, ['photo', png(2, 2), 'x'.repeat(1025)]], 'message caption is too long'],
  [
    'a picture that is none',
    [photo, ['photo', Buffer.from('x')]],
    'failed to send message #2 with the error message "IMAGE_PROCESS_FAILED"',
  ],
  [
    'a picture that is too wide',
    [['photo', png(9000, 2000)], photo],
    'failed to send message #1 with the error message "PHOTO_INVALID_DIMENSIONS"',
  ],
])('an album with %s is refused as a whole', async (_name, files, error) => {
  const opened = await openLab();
  const answer = await album(opened, files);
  expect(answer.description).toBe(`Bad Request: ${error}`);
  expect(opened.world.messages(lab)).toEqual([]);
});

test('a file that did not come with the call is missed', async () => {
  const opened = await openLab();
  for (const media of ['attach://nothing', ''])
    expect(await opened.outcome('sendMediaGroup', { chat_id: lab, media: [{ type: 'photo', media }] })).toBe(
      "400 Bad Request: can't parse InputMedia: media not found",
    );
  expect(await opened.outcome('sendMediaGroup', { chat_id: lab, media: 'x' })).toBe(
    "400 Bad Request: can't parse media JSON object",
  );
  expect(await opened.outcome('sendMediaGroup', { chat_id: lab, media: [7] })).toBe(
    "400 Bad Request: can't parse InputMedia: expected an Object",
  );
});

test('one file is a message alone, and a group without rights gets none', async () => {
  const opened = await openLab();
  expect((await album(opened, [photo])).ok).toBe(true);
  expect(opened.world.messages(lab)[0]?.album).toBeNull();
  const { world } = opened;
  world.setBotStatus(noRights, 'kicked', 'ada');
  expect((await album(opened, [photo, photo], { chat_id: noRights })).description).toContain(
    'Forbidden: bot was kicked',
  );
});

test('a photo has ten megabytes at most, and any file fifty', async () => {
  const opened = await openLab();
  const large = Buffer.concat([png(2, 2), Buffer.alloc(10_485_760)]);
  expect((await send(opened, 'sendPhoto', {}, [['photo', large]])).description).toBe(
    `Bad Request: file of size ${large.byteLength} bytes is too big for a photo; the maximum size is 10485760 bytes`,
  );
  expect((await send(opened, 'sendDocument', {}, [['document', large]])).ok).toBe(true);
  const huge = await send(opened, 'sendDocument', {}, [['document', Buffer.alloc(52_428_801)]]);
  expect([huge.status, huge.description]).toEqual([413, 'Request Entity Too Large']);
  expect(opened.world.messages(lab)).toHaveLength(1);
});

test('an album counts as many messages as it has files', async () => {
  const opened = await openLab({ limits: realLimits });
  const ten = Array.from({ length: 10 }, () => photo);
  expect((await album(opened, ten)).ok).toBe(true);
  await opened.time.advance(1000);
  expect((await album(opened, ten.slice(0, 9))).ok).toBe(true);
  await opened.time.advance(1000);
  expect((await album(opened, ten.slice(0, 2))).parameters['retry_after']).toBe(58);
  expect(await opened.outcome('sendMessage', { chat_id: lab, text: 'the twentieth' })).toBe('ok');
  await opened.time.advance(1000);
  expect(await opened.outcome('sendMessage', { chat_id: lab, text: 'one too many' })).toContain('429');
});

test('an album of a person comes as one update for each file, the words with the first', async () => {
  const opened = await openLab();
  const file = { kind: 'photo' } as const;
  opened.world.say({ as: 'ada', chat: ada, text: 'look', media: [file, file, file] });
  const messages = (await opened.updates()).map(({ message }) => message);
  expect(messages.map((message) => message?.['caption'])).toEqual(['look', undefined, undefined]);
  expect(new Set(messages.map((message) => message?.['media_group_id'])).size).toBe(1);
  expect(() =>
    opened.world.say({ as: 'ada', chat: ada, text: '', media: Array.from({ length: 11 }, () => file) }),
  ).toThrow('at most 10 files');
});
