import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Outgoing } from '../../../src/app/ports/outside.ts';
import { fileKind } from '../../../src/domain/files/kind.ts';
import type { Drawn, MediaKind, Upload } from '../../../src/domain/shown.ts';
import { createSpace, isFileRefused, withoutFile } from '../../../src/telegram/delivery/uploads.ts';
import { gif, mp4, png } from '../../support/files.ts';
import { idsOf, inPlace, lab, oneFault, part, type Place } from './place.ts';

/** Keeps bytes with the chat, as the end of a run does. */
function kept(place: Place, name: string, bytes: Buffer, kind: MediaKind = fileKind(bytes)): Upload {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  place.ledger.blobs.set(sha256, bytes);
  return { kind, sha256, name, mime: 'application/octet-stream', size: bytes.byteLength };
}

const photo = (place: Place, name: string) => kept(place, name, png(8, 6, name));

function albumOf(place: Place, names: readonly string[]): NonNullable<Drawn['album']> {
  return names.map((name) => ({ ...photo(place, name), caption: `Look at ${name}` }));
}

const shownAs = (shown: Outgoing['shown'], topic: number | null = null) => part({ topic, shown });
const methods = (place: Place) => place.world.calls(0, 1000).map(({ method }) => method);
const stands = (place: Place, thread: number | null = null, chat = lab) =>
  place.world.messages(chat, { thread }).filter(({ from, service }) => from === 'bot' && service === null);

async function inTopic() {
  const place = await inPlace();
  const topic = place.world.createTopic(lab, 'ada', 'One');
  await place.ledger.hear(place.api, place.time.now());
  await place.time.advance(10);
  return { place, topic };
}

describe('a file whose bytes are in the store', () => {
  it.each<[MediaKind, Buffer]>([
    ['photo', png(8, 6)],
    ['animation', gif],
    ['video', mp4('isom')],
    ['audio', mp4('M4A ')],
    ['document', Buffer.from('%PDF-1.7')],
  ])('is uploaded as the %s that it is, with its words and its name', async (kind, bytes) => {
    const place = await inPlace();
    const media = kept(place, 'a file.bin', bytes);
    const sent = await place.transport.send(shownAs({ text: 'Here it is.', media }));
    const [message] = stands(place);
    expect(sent).toEqual({ is: 'sent', ids: { chatId: String(lab), threadId: null, messageId: message?.messageId } });
    expect(message).toMatchObject({ text: 'Here it is.', document: { kind, name: 'a file.bin' } });
    expect(place.world.file(message?.document?.fileId ?? '')?.bytes).toEqual(bytes);
    expect(place.budget.taken).toEqual([]);
  });

  it.each(['a b; c.txt', 'Ünï ✓.txt', 'it"s\r\n.txt', '../../x'])(
    'keeps its name, however that is: %j',
    async (name) => {
      const place = await inPlace();
      await place.transport.send(shownAs({ text: 'x', media: kept(place, name, Buffer.from('x')) }));
      const told = stands(place)[0]?.document?.name ?? '';
      expect(name.replaceAll(/["\r\n]/g, '_').endsWith(told)).toBe(true);
      expect(told).toMatch(/(?:txt|x)$/);
    },
  );

  it('is waited for as long as a slow line takes', async () => {
    const place = await inPlace();
    place.world.fault(oneFault('hang'));
    const media = kept(place, 'large.bin', Buffer.alloc(5_000_000));
    let end = '';
    const sending = place.transport.send(shownAs({ text: 'x', media })).then(({ is }) => (end = is));
    while (place.world.calls(0, 10).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await place.time.advance(34_999);
    expect(end).toBe('');
    await place.time.advance(1);
    await sending;
    expect(end).toBe('lost');
  });

  it('goes out as a document where Telegram does not take it as a picture', async () => {
    const place = await inPlace();
    const media = kept(place, 'broken.png', Buffer.from('no picture'), 'photo');
    await place.transport.send(shownAs({ text: 'Chart', media }));
    expect(stands(place)).toMatchObject([{ text: 'Chart', document: { kind: 'document', name: 'broken.png' } }]);
    expect(methods(place)).toEqual(['sendPhoto', 'sendDocument']);
    expect(place.budget.taken).toHaveLength(1);
  });

  it('that Telegram does not take at all is a line with the reason, and its words and buttons go out', async () => {
    const place = await inPlace();
    const media = kept(place, 'empty.txt', Buffer.alloc(0));
    const buttons = [[{ text: 'Done', data: 'v1:done:1' }]];
    await place.transport.send(shownAs({ text: 'Report', media, buttons }));
    expect(stands(place)).toMatchObject([
      {
        text: 'Report\n\n(empty.txt, 0 bytes, is missing: Telegram refused it (file must be non-empty).)',
        document: null,
        buttons,
      },
    ]);
    await place.transport.send(shownAs({ text: 'empty.txt', media }));
    expect(stands(place).at(-1)?.text).toBe(
      '(empty.txt, 0 bytes, is missing: Telegram refused it (file must be non-empty).)',
    );
  });

  it('whose bytes are gone is a line as well, and no call is made for it', async () => {
    const place = await inPlace();
    const media = photo(place, 'old.png');
    place.ledger.blobs.clear();
    await place.transport.send(shownAs({ text: 'Chart', media }));
    expect(stands(place)[0]?.text).toBe('Chart\n\n(old.png, 36 bytes, is missing: its bytes are not kept any more.)');
    expect(methods(place)).toEqual(['sendMessage']);
  });

  it('waits where the store cannot be read now', async () => {
    const place = await inPlace();
    const media = photo(place, 'a.png');
    place.ledger.readBlob = () => Promise.reject(new Error('the disk is away'));
    expect(await place.transport.send(shownAs({ text: 'x', media }))).toEqual({
      is: 'unreached',
      error: 'a file cannot be read now: the disk is away',
    });
    expect(methods(place)).toEqual([]);
  });

  it('is named to one person alone', async () => {
    const place = await inPlace();
    const onlyFor = { userId: 1001, until: place.time.now() + 10_000 };
    const album = albumOf(place, ['a.png', 'b.png']);
    await place.transport.send({ ...part({ shown: { text: 'a.png', media: photo(place, 'a.png') } }), onlyFor });
    await place.transport.send({ ...part({ shown: { text: '', album } }), onlyFor });
    expect(stands(place)).toMatchObject([
      { onlyFor: 'ada', text: 'a.png', document: null },
      { onlyFor: 'ada', text: 'Look at a.png\nLook at b.png' },
    ]);
  });
});

describe('an album', () => {
  it('is as many messages, and the ids of all of them are told', async () => {
    const { place, topic } = await inTopic();
    const sent = idsOf(
      await place.transport.send(shownAs({ text: '', album: albumOf(place, ['a', 'b', 'c']) }, topic)),
    );
    const shown = stands(place, topic);
    expect(shown.map(({ text }) => text)).toEqual(['Look at a', 'Look at b', 'Look at c']);
    const [first, ...more] = shown.map(({ messageId }) => messageId);
    expect(sent).toEqual({ chatId: String(lab), threadId: topic, messageId: first, more });
    expect(methods(place)).toEqual(['getUpdates', 'sendMediaGroup']);
  });

  it('goes out without the picture that Telegram does not take, which is a line', async () => {
    const place = await inPlace();
    const bad = kept(place, 'bad.png', Buffer.from('no picture'), 'photo');
    const [a, b] = albumOf(place, ['a', 'b']);
    if (a === undefined || b === undefined) throw new Error('no album');
    const album = [a, { ...bad, caption: 'bad.png' }, b];
    const sent = idsOf(await place.transport.send(shownAs({ text: '', album })));
    const line = '(bad.png, 10 bytes, is missing: Telegram refused it (IMAGE_PROCESS_FAILED).)';
    expect(stands(place).map(({ text }) => text)).toEqual([`Look at a\n\n${line}`, 'Look at b']);
    expect(sent.more).toHaveLength(1);
    expect(place.budget.taken).toHaveLength(2);
  });

  it('of which one picture is left is that picture, and of which none is left is lines', async () => {
    const place = await inPlace();
    const bad = (name: string) => ({ ...kept(place, name, Buffer.from(name), 'photo'), caption: name });
    const [a] = albumOf(place, ['a']);
    if (a === undefined) throw new Error('no album');
    await place.transport.send(shownAs({ text: '', album: [bad('x.png'), a] }));
    expect(stands(place)).toHaveLength(1);
    expect(stands(place)[0]).toMatchObject({ album: null, document: { kind: 'photo', name: 'a' } });
    expect(stands(place)[0]?.text).toContain('Look at a\n\n(x.png, 5 bytes, is missing');
    await place.transport.send(shownAs({ text: '', album: [bad('x.png'), bad('y.png')] }));
    expect(stands(place).at(-1)).toMatchObject({ document: { kind: 'document', name: 'y.png' } });
    expect(stands(place).at(-1)?.text).toContain('x.png');
  });

  it('astray is taken back with all of its messages', async () => {
    const { place, topic } = await inTopic();
    const album = albumOf(place, ['a', 'b', 'c']);
    const ids = idsOf(await place.transport.send(shownAs({ text: '', album }, topic)));
    await place.transport.remove(ids);
    expect(stands(place, topic)).toEqual([]);
    expect(methods(place).filter((method) => method === 'deleteMessage')).toHaveLength(3);
  });
});

describe('an upload without an answer', () => {
  it('is found by the caption that it has already', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: 'a.png', media: photo(place, 'a.png') }, topic);
    place.world.fault(oneFault('reset_after'));
    expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
    const before = stands(place, topic);
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: topic, messageId: before[0]?.messageId });
    expect(stands(place, topic).map(({ text, buttons }) => ({ text, buttons }))).toEqual([
      { text: 'a.png', buttons: [] },
    ]);
  });

  it('is found as a document where it was refused as a picture before', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: 'x', media: kept(place, 'x.png', Buffer.from('no picture'), 'photo') }, topic);
    place.world.fault(oneFault('reset_after', 'sendDocument'));
    expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
    expect(idsOf(await place.settle(lost))).toMatchObject({ messageId: stands(place, topic)[0]?.messageId });
  });

  it('that did not arrive leaves no trace, and is absent once it was sent again', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b']) }, topic);
    place.world.fault(oneFault('reset_before', 'sendMediaGroup'));
    expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    const again = idsOf(await place.transport.send(lost));
    expect(await place.settle(lost, again)).toMatchObject({ is: 'absent' });
  });

  it('is settled for each message of an album, in its topic and with all ids, and nothing of it changes', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b', 'c']) }, topic);
    place.world.fault(oneFault('reset_after', 'sendMediaGroup'));
    expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
    const before = stands(place, topic);
    const found = idsOf(await place.settle(lost));
    const [first, ...more] = before.map(({ messageId }) => messageId);
    expect(found).toEqual({ chatId: String(lab), threadId: topic, messageId: first, more });
    expect(stands(place, topic).map(({ text }) => text)).toEqual(before.map(({ text }) => text));
    // Three that change nothing, and two that ask for the topic.
    expect(methods(place).filter((method) => method === 'editMessageCaption')).toHaveLength(5);
  });

  it('is found by another process, and where somebody speaks in between', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b']) }, topic);
    place.world.say({ as: 'ben', chat: lab, thread: topic, text: 'hello' });
    place.world.fault(oneFault('reset_after', 'sendMediaGroup'));
    await place.deliver(lost);
    place.restart();
    expect(idsOf(await place.settle(lost)).more).toHaveLength(1);
  });

  it('is settled for an album of a person as well, whose files have no words', async () => {
    const { place, topic } = await inTopic();
    const kind = 'photo';
    const said = place.world.say({ as: 'ada', chat: lab, text: '', media: { kind } });
    await place.ledger.hear(place.api, place.time.now());
    await place.time.advance(10);
    const fileId = said.document?.fileId ?? '';
    const lost = shownAs({ text: '', album: [1, 2, 3].map(() => ({ kind, fileId, caption: '' })) }, topic);
    place.world.fault(oneFault('reset_after', 'sendMediaGroup'));
    await place.deliver(lost);
    expect(idsOf(await place.settle(lost))).toMatchObject({
      threadId: topic,
      more: [said.messageId + 2, said.messageId + 3],
    });
    expect(stands(place, topic).map(({ text }) => text)).toEqual(['', '', '']);
  });

  it('that went astray as an album is found outside of its topic', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b']) }, topic);
    place.world.fault(oneFault('reset_after', 'sendMediaGroup'));
    await place.deliver({ ...lost, route: { ...lost.route, topic: null } });
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: null });
  });

  it('of an album that was sent twice finds the first, and tells it from the second', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b']) }, topic);
    place.world.fault(oneFault('reset_after', 'sendMediaGroup'));
    await place.deliver(lost);
    const again = idsOf(await place.transport.send(lost));
    const first = idsOf(await place.settle(lost, again));
    expect([first.messageId, ...(first.more ?? [])]).not.toContain(again.messageId);
    await place.transport.remove(again);
    expect(stands(place, topic)).toHaveLength(2);
  });

  it('is not called arrived where a message of the album is another one', async () => {
    const { place, topic } = await inTopic();
    const lost = shownAs({ text: '', album: albumOf(place, ['a', 'b']) }, topic);
    place.world.fault(oneFault('reset_before', 'sendMediaGroup'));
    await place.deliver(lost);
    // A photo of ours that nothing explains says the same as the first.
    await place.transport.send(shownAs({ text: 'Look at a', media: photo(place, 'a') }, topic));
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
  });
});

it('a group that forbids files takes the words', async () => {
  const place = await inPlace();
  const media = photo(place, 'a.png');
  const forbidden = 'Bad Request: not enough rights to send photos to the chat';
  const drawn = { text: 'Chart', media };
  expect(isFileRefused({ is: 'blocked', cause: 'no_write_right', error: forbidden }, drawn)).toBe(true);
  expect(isFileRefused({ is: 'blocked', cause: 'no_write_right', error: forbidden }, { text: 'Chart' })).toBe(false);
  const words = 'Bad Request: not enough rights to send text messages to the chat';
  expect(isFileRefused({ is: 'blocked', cause: 'no_write_right', error: words }, drawn)).toBe(false);
  const paper = { ...drawn, media: { ...media, kind: 'document' as const } };
  expect(withoutFile(paper, forbidden).text).toContain('Telegram refused it (not enough rights to send photos');
});

it('uploads have so much space together, in the order in which they came, and one that is larger goes alone', async () => {
  const space = createSpace(100);
  const [begun, over] = [[] as string[], new Map<string, () => void>()];
  const upload = (name: string, bytes: number) =>
    space(bytes, () => {
      begun.push(name);
      return new Promise<void>((resolve) => over.set(name, resolve));
    });
  const all = [upload('a', 60), upload('b', 50), upload('words', 0), upload('c', 40), upload('d', 500), upload('e', 1)];
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  expect(begun).toEqual(['words', 'a']);
  for (const [end, then] of [
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['d']],
    ['d', ['e']],
  ] as const) {
    const before = begun.length;
    over.get(end)?.();
    await settled();
    expect(begun.slice(before)).toEqual(then);
  }
  over.get('e')?.();
  over.get('words')?.();
  await Promise.all(all);
  await expect(space(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await space(100, async () => begun.push('last'));
  expect(begun.at(-1)).toBe('last');
});
