import { describe, expect, it } from 'vitest';
import { ada, idsOf, inPlace, lab, noRights, part, type Place } from './place.ts';

const words = (place: Place, chat = lab) =>
  place.world
    .messages(chat, { limit: 100 })
    .filter(({ service }) => service === null)
    .map(({ text }) => text);

describe('a message', () => {
  it('of ours goes, and once more is as good', async () => {
    const place = await inPlace();
    const { messageId } = idsOf(await place.transport.send(part()));
    const gone = { is: 'sent', ids: { chatId: String(lab), threadId: null, messageId } };
    expect(await place.transport.act(part({ edits: messageId }), 'remove')).toEqual(gone);
    expect(words(place)).toEqual([]);
    expect(await place.transport.act(part({ edits: messageId }), 'remove')).toEqual(gone);
  });

  it('that is too old to be deleted stays, and that is told', async () => {
    const place = await inPlace();
    const { messageId } = idsOf(await place.transport.send(part({ chat: noRights })));
    await place.time.advance(49 * 3_600_000);
    const refused = await place.transport.act(part({ chat: noRights, edits: messageId }), 'remove');
    expect(refused).toMatchObject({ is: 'refused' });
    expect(words(place, noRights)).toHaveLength(1);
  });

  it('without a number is none', async () => {
    const place = await inPlace();
    expect(await place.transport.act(part(), 'remove')).toMatchObject({ is: 'refused' });
    expect(await place.transport.act(part(), 'removeTopic')).toMatchObject({ is: 'refused' });
  });
});

describe('a topic', () => {
  it.each([
    ['a group', lab],
    ['a private chat', ada],
  ])('goes with everything in it, and once more is as good, in %s', async (_name, chat) => {
    const place = await inPlace();
    if (chat === ada) place.world.say({ as: 'ada', chat, text: '/start' });
    const made = await place.transport.createTopic(part({ chat }).route, 'Plants');
    if (made.is !== 'made') throw new Error(made.error);
    const topic = made.topicId;
    await place.transport.send(part({ chat, topic }));
    const gone = { is: 'sent', ids: { chatId: String(chat), threadId: topic, messageId: topic } };
    expect(await place.transport.act(part({ chat, topic }), 'removeTopic')).toEqual(gone);
    expect(place.world.topics(chat).filter((one) => one.threadId === topic && !one.isDeleted)).toEqual([]);
    expect(await place.transport.act(part({ chat, topic }), 'removeTopic')).toEqual(gone);
  });

  it('that the bot may not delete stays', async () => {
    const place = await inPlace();
    const topic = place.world.createTopic(noRights, 'ada', 'Plants');
    expect(await place.transport.act(part({ chat: noRights, topic }), 'removeTopic')).toMatchObject({
      is: 'blocked',
      cause: 'no_topic_right',
    });
    expect(place.world.topics(noRights)).toMatchObject([{ isDeleted: false }]);
  });
});
