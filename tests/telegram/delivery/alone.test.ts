import { describe, expect, it } from 'vitest';
import type { OnlyFor } from '../../../src/app/ports/chats.ts';
import { ada, idsOf, inPlace, lab, oneFault, part, type PartFacts, type Place, plain } from './place.ts';

function forAda(place: Place, facts: Partial<OnlyFor> & PartFacts = {}) {
  const { userId = ada, callbackId, ephemeralId, until = place.time.now() + 15_000, ...rest } = facts;
  const onlyFor: OnlyFor = {
    userId,
    until,
    ...(callbackId === undefined ? {} : { callbackId }),
    ...(ephemeralId === undefined ? {} : { ephemeralId }),
  };
  return part({ ...rest, onlyFor });
}

const last = (place: Place, chat = lab) =>
  place.world.messages(chat, { limit: 100 }).findLast(({ from }) => from === 'bot');
const sends = (place: Place) => place.world.calls(0, 1000).filter(({ method }) => method === 'sendMessage').length;

describe('an answer for one person', () => {
  it('is seen by that person alone, and costs one call', async () => {
    const place = await inPlace();
    const sent = await place.transport.send(forAda(place, { buttons: [[{ text: 'More', data: 'v1:list:1' }]] }));
    const message = last(place);
    expect(message).toMatchObject({ onlyFor: 'ada', text: 'Water the plants.' });
    expect(idsOf(sent)).toEqual({
      chatId: String(lab),
      threadId: null,
      messageId: 0,
      ephemeralId: message?.ephemeralId,
    });
    expect(sends(place)).toBe(1);
  });

  it('stands in the topic in which it was asked for', async () => {
    const place = await inPlace();
    const topic = place.world.createTopic(lab, 'ada', 'One');
    await place.transport.send(forAda(place, { topic }));
    expect(last(place)).toMatchObject({ onlyFor: 'ada', threadId: topic });
  });

  it('is changed by its own number, and what it says already is no change', async () => {
    const place = await inPlace();
    const { ephemeralId = 0 } = idsOf(await place.transport.send(forAda(place)));
    const changed = await place.transport.send(forAda(place, { ephemeralId, text: 'Page two.', until: 0 }));
    expect(changed).toMatchObject({ is: 'sent', ids: { messageId: 0, ephemeralId } });
    expect(last(place)).toMatchObject({ onlyFor: 'ada', text: 'Page two.', ephemeralId });
    expect(await place.transport.send(forAda(place, { ephemeralId, text: 'Page two.' }))).toMatchObject({ is: 'sent' });
    expect(sends(place)).toBe(1);
  });

  it('that is gone when it is to be changed is said to everybody', async () => {
    const place = await inPlace();
    expect(await place.transport.send(forAda(place, { ephemeralId: 4711, text: 'Page two.' }))).toMatchObject({
      is: 'sent',
    });
    expect(last(place)).toMatchObject({
      onlyFor: null,
      text: expect.stringMatching(/^Page two\.\n\n— Shown to all/) as string,
    });
  });

  it('is for everybody when it comes too late, in a private chat, and without anybody named', async () => {
    const place = await inPlace();
    await place.transport.send(forAda(place, { until: place.time.now() }));
    expect(last(place)).toMatchObject({ onlyFor: null });
    expect(last(place)?.text).toMatch(/^Water the plants\.\n\n— Shown to all, because Telegram/);
    place.world.say({ as: 'ada', chat: ada, text: '/start' });
    await place.transport.send(forAda(place, { chat: ada }));
    expect(last(place, ada)).toMatchObject({ onlyFor: null, text: 'Water the plants.' });
    await place.transport.send(part());
    expect(last(place)).toMatchObject({ onlyFor: null, text: 'Water the plants.' });
    expect(sends(place)).toBe(3);
  });

  it('is for everybody where the platform refuses it, which is asked again after an hour only', async () => {
    const place = await inPlace();
    place.world.setFeatures({ isEphemeralOn: false });
    expect(await place.transport.send(forAda(place))).toMatchObject({ is: 'sent' });
    expect([sends(place), place.budget.taken.length]).toEqual([2, 1]);
    await place.transport.send(forAda(place));
    expect([sends(place), last(place)?.onlyFor]).toEqual([3, null]);
    place.world.setFeatures({ isEphemeralOn: true });
    await place.transport.send(forAda(place));
    expect([sends(place), last(place)?.onlyFor]).toEqual([4, null]);
    await place.time.advance(3_600_000);
    await place.transport.send(forAda(place));
    expect([sends(place), last(place)?.onlyFor]).toEqual([5, 'ada']);
  });

  it('waits for its second call while the chat must be left alone', async () => {
    const place = await inPlace();
    place.world.setFeatures({ isEphemeralOn: false });
    place.budget.allow(0);
    expect(await place.transport.send(forAda(place))).toMatchObject({ is: 'unreached' });
  });

  it('is for everybody where the bot is no admin and the press is too old, and the next press is answered alone', async () => {
    const place = await inPlace();
    place.world.setBotStatus(lab, 'member', 'ada');
    const message = place.world.messages(lab, { limit: 1 });
    expect(message).toBeDefined();
    await place.transport.send(forAda(place, { callbackId: 'nobody-pressed' }));
    expect(last(place)).toMatchObject({ onlyFor: null });
    expect(last(place)?.text).toContain('— Shown to all');
    const { messageId } = idsOf(await place.transport.send(part({ buttons: [[{ text: 'More', data: 'v1:list:1' }]] })));
    const { callbackId } = place.world.press({ as: 'ada', chat: lab, messageId, button: 'More' });
    await place.transport.send(forAda(place, { callbackId }));
    expect(last(place)).toMatchObject({ onlyFor: 'ada' });
  });

  it('in a plain group too', async () => {
    const place = await inPlace();
    expect(await place.transport.send(forAda(place, { chat: plain }))).toMatchObject({ is: 'sent' });
    expect(last(place, plain)?.text).toBe('Water the plants.');
  });

  it('without an answer from the platform is in doubt like any other, for whoever sends it to say it again', async () => {
    const place = await inPlace();
    place.world.fault(oneFault('reset_after'));
    expect(await place.transport.send(forAda(place))).toMatchObject({ is: 'lost' });
  });
});

describe('without a sound', () => {
  it('comes what is to be silent, words and files, and nothing else', async () => {
    const place = await inPlace();
    await place.transport.send(part({ silent: true }));
    expect(last(place)?.isSilent).toBe(true);
    await place.transport.send(part());
    expect(last(place)?.isSilent).toBe(false);
    const { document } = place.world.say({ as: 'ada', chat: lab, text: '', media: { kind: 'photo' } });
    await place.transport.send(part({ silent: true, media: { kind: 'photo', fileId: document?.fileId ?? '' } }));
    expect(last(place)).toMatchObject({ isSilent: true, document: { kind: 'photo' } });
  });
});
