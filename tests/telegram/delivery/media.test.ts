import { describe, expect, it } from 'vitest';
import { mediaKinds, type Media } from '../../../src/domain/shown.ts';
import { idsOf, inPlace, lab, oneFault, part, type Place } from './place.ts';

const done = [[{ text: 'Done', data: 'v1:done:1' }]];

/** A file that Ada has sent; the chat knows of her message. */
function aFile(place: Place, kind: Media['kind'] = 'photo'): Media {
  const message = place.world.say({ as: 'ada', chat: lab, text: '', media: { kind } });
  if (message.document === null) throw new Error('no file was sent');
  place.ledger.explain(String(lab), message.messageId, place.time.now());
  return { kind, fileId: message.document.fileId };
}

const methods = (place: Place) => place.world.calls(0, 1000).map(({ method }) => method);
const shown = (place: Place, thread: number | null = null) =>
  place.world.messages(lab, { thread }).filter(({ from, service }) => from === 'bot' && service === null);

describe('a file', () => {
  it.each(mediaKinds)('goes out with the words below it, by its id: %s', async (kind) => {
    const place = await inPlace();
    const media = aFile(place, kind);
    const sent = await place.transport.send({
      ...part({ media, buttons: done }),
      shown: { text: 'Water the plants.', entities: [{ type: 'bold', offset: 0, length: 5 }], buttons: done, media },
    });
    const message = shown(place).at(-1);
    expect(sent).toMatchObject({ is: 'sent', ids: { messageId: message?.messageId, threadId: null } });
    expect(message).toMatchObject({
      text: 'Water the plants.',
      entities: [{ type: 'bold', offset: 0, length: 5 }],
      buttons: [[{ text: 'Done', data: 'v1:done:1' }]],
      document: { kind, fileId: media.fileId },
    });
    expect(methods(place).at(-1)).toBe(`send${kind[0]?.toUpperCase()}${kind.slice(1)}`);
  });

  it('stands above a result that is drawn when it is sent', async () => {
    const place = await inPlace();
    const media = aFile(place);
    await place.transport.send(part({ shown: { view: 'result', text: 'Water them.', occurrenceId: 'o-1', media } }));
    expect(shown(place).at(-1)).toMatchObject({ text: 'Water them.', document: { fileId: media.fileId } });
  });

  it('that the platform takes no more does not take its words along', async () => {
    const place = await inPlace();
    const media = { kind: 'voice', fileId: 'AwACgone' } as const;
    expect(await place.transport.send(part({ media }))).toMatchObject({ is: 'sent' });
    expect(shown(place).at(-1)).toMatchObject({
      text: 'Water the plants.\n\n(The voice message is missing: Telegram no longer has it.)',
      document: null,
    });
    await place.transport.send(part({ media, text: '' }));
    expect(shown(place).at(-1)?.text).toBe('(The voice message is missing: Telegram no longer has it.)');
    expect(place.lines.lines.filter(({ event }) => event === 'file_refused')).toHaveLength(2);
    expect(JSON.stringify(place.lines.lines)).not.toContain('Water');
    expect(place.budget.taken).toHaveLength(2);
  });

  it('is not tried without its file while the chat must be left alone', async () => {
    const place = await inPlace();
    place.budget.allow(0);
    const media = { kind: 'photo', fileId: 'AgACgone' } as const;
    expect(await place.transport.send(part({ media }))).toMatchObject({ is: 'unreached' });
    expect(shown(place)).toEqual([]);
  });

  it('keeps standing when the words below it change', async () => {
    const place = await inPlace();
    const media = aFile(place);
    const { messageId } = idsOf(await place.transport.send(part({ media })));
    expect(await place.transport.send(part({ media, edits: messageId, text: 'Done by Ada.' }))).toMatchObject({
      is: 'sent',
    });
    expect(shown(place).at(-1)).toMatchObject({ text: 'Done by Ada.', document: { fileId: media.fileId } });
    expect(methods(place).at(-1)).toBe('editMessageCaption');
    // Whoever changes it may not know that there is a file.
    expect(await place.transport.send(part({ edits: messageId, text: 'Done by Ben.' }))).toMatchObject({ is: 'sent' });
    expect(shown(place).at(-1)).toMatchObject({ text: 'Done by Ben.', document: { fileId: media.fileId } });
    expect(place.budget.taken).toHaveLength(1);
    // And what it was changed to is no change.
    expect(await place.transport.send(part({ media, edits: messageId, text: 'Done by Ben.' }))).toMatchObject({
      is: 'sent',
    });
  });

  it('gets new buttons where the words have become too long for it', async () => {
    const place = await inPlace();
    const media = aFile(place);
    const { messageId } = idsOf(await place.transport.send(part({ media })));
    const long = 'x'.repeat(1025);
    await place.transport.send(part({ media, edits: messageId, text: long, buttons: done }));
    expect(shown(place).at(-1)).toMatchObject({ text: 'Water the plants.', buttons: [[{ text: 'Done' }]] });
  });
});

describe('a file whose send got no answer', () => {
  it('is found where it stands, with one edit that changes nothing', async () => {
    const place = await inPlace();
    const topic = place.world.createTopic(lab, 'ada', 'One');
    await place.ledger.hear(place.api, place.time.now());
    const lost = part({ topic, media: aFile(place), buttons: done });
    await place.time.advance(10);
    place.world.fault(oneFault('reset_after'));
    expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
    const before = shown(place, topic);
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: topic, messageId: before[0]?.messageId });
    expect(shown(place, topic)).toEqual(before);
    expect(methods(place).filter((method) => method.startsWith('edit'))).toEqual(['editMessageCaption']);
  });

  it('is told from words that stand there alone and that nothing explains', async () => {
    const place = await inPlace();
    const topic = place.world.createTopic(lab, 'ada', 'One');
    await place.ledger.hear(place.api, place.time.now());
    const file = part({ topic, media: aFile(place), buttons: done });
    await place.time.advance(10);
    await place.api.raw.sendMessage({ chat_id: lab, message_thread_id: topic, text: 'Water the plants.' });
    place.world.fault(oneFault('reset_after'));
    expect(await place.deliver(file)).toMatchObject({ is: 'lost' });
    const [words, found] = shown(place, topic);
    expect(idsOf(await place.settle(file)).messageId).toBe(found?.messageId);
    expect(shown(place, topic)).toEqual([words, found]);
  });

  it('is sent again when it did not arrive, and then its absence is proved', async () => {
    const place = await inPlace();
    const topic = place.world.createTopic(lab, 'ada', 'One');
    await place.ledger.hear(place.api, place.time.now());
    const lost = part({ topic, media: aFile(place), buttons: done });
    await place.time.advance(10);
    place.world.fault(oneFault('reset_before'));
    await place.deliver(lost);
    const again = await place.transport.send(lost);
    expect(await place.settle(lost, idsOf(again))).toMatchObject({ is: 'absent' });
  });
});
