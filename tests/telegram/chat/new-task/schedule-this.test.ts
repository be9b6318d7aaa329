import { describe, expect, test } from 'vitest';
import { aTalk, labels, tasksIn, afterAsking, type Talk } from '../talk.ts';

const photo = { kind: 'photo', fileId: 'AgAC-1' } as const;

/** The settings of the only task. */
function actionOf({ pipeline }: Talk): Record<string, unknown> {
  const { action } = pipeline.database.prepare('select action from tasks').get() as { action: string };
  return JSON.parse(action) as Record<string, unknown>;
}

describe('a time at the end of a text', () => {
  test.each([
    ['call mum tomorrow 9', 'call mum', 'Once on Thu 19 Nov at 09:00'],
    ['call mum tomorrow at 9:30', 'call mum', 'Once on Thu 19 Nov at 09:30'],
    ['pay rent every month on the 1st at 9', 'pay rent', 'On the 1st of the month at 09:00'],
    ['Gym, every tuesday and friday at 18:00', 'Gym', 'Every Tuesday and Friday at 18:00'],
    ['Take the pizza out in 20 minutes', 'Take the pizza out', 'Once on Wed 18 Nov at 09:20'],
    ['take bus 9 tomorrow at 8', 'take bus 9', 'Once on Thu 19 Nov at 08:00'],
    ['evening pills every day at 20:00', 'evening pills', 'Every day at 20:00'],
    ['Shopping\n- milk\ntomorrow at 17:00', 'Shopping', 'Once on Thu 19 Nov at 17:00'],
  ])('is read: %s', async (words, title, when) => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells(words)).toMatch(new RegExp(`^New task: ${title}\n${when}`));
    const group = await aTalk();
    expect(await group.tells(`/new ${words}`)).toMatch(new RegExp(`^New task: ${title}\n${when}`));
    expect(await group.say(words.replace('mum', 'dad'), { topic: 9 })).toBeNull();
  });

  test('is talk in a group where a draft waits, unless it is said to the bot', async () => {
    const { talk, message: asked } = await afterAsking('/new');
    expect(await talk.say('see you tomorrow at 9')).toBeNull();
    const preview = await talk.ask('see you tomorrow at 9', { repliesTo: asked.id });
    expect(preview.text).toMatch(/^New task: see you/);
  });

  test('works in a topic of a private chat that is no task’s own', async () => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells('call mum tomorrow at 9', { topic: 5 })).toMatch(/^New task: call mum/);
  });
});

describe('/new as a reply', () => {
  test('with a time takes the text that it answers', async () => {
    const { talk, message: preview } = await afterAsking('/new tomorrow at 9', {
      about: { text: 'Can somebody water the plants?' },
    });
    expect(preview.text).toMatch(/^New task: Can somebody water the plants\?\nOnce on Thu 19 Nov at 09:00/);
    expect(labels(preview)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    await talk.press(preview, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ instructions: 'Can somebody water the plants?' }]);
  });

  test('alone asks for the time only', async () => {
    const { talk, message } = await afterAsking('/new', { about: { text: 'Water the plants' } });
    expect(message.text).toMatch(/^New task: Water the plants\nWhen should I send it\?/);
    for (const label of ['Every day', '09:00', '09:00']) await talk.press(message, label);
    expect(message.text).toMatch(/^New task: Water the plants\nEvery day at 09:00/);
  });

  test('words of its own go before those of the message', async () => {
    const { message: preview } = await afterAsking('/new tomorrow at 9 Feed the cat', {
      about: { text: 'Water the plants' },
    });
    expect(preview.text).toMatch(/^New task: Feed the cat/);
  });

  test('to a picture takes the picture', async () => {
    const { message: preview } = await afterAsking('/new tomorrow at 9', {
      about: { text: 'Our cat', media: photo },
    });
    expect(preview.text).toMatch(/^New task: Our cat\n[\s\S]*\nWith a photo$/);
  });

  test('to something without words or file asks for the text', async () => {
    const talk = await aTalk();
    expect(await talk.tells('/new tomorrow at 9', { about: {} })).toContain('What should I say?');
  });
});

describe('“schedule this” as a reply', () => {
  const about = { text: 'Water the plants' };

  test.each([
    'schedule this tomorrow 9',
    'remind me tomorrow at 9',
    'later: tomorrow at 9',
    'Remind me of this tomorrow at 9',
  ])('in a private chat: %s', async (words) => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells(words, { about })).toMatch(/^New task: Water the plants\nOnce on Thu 19 Nov at 09:00/);
  });

  test.each(['schedule this', 'remind me', 'later'])('without a time asks for it: %s', async (words) => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells(words, { about })).toMatch(/^When should I send it\?\n\nWater the plants/);
  });

  test('with a time that cannot be read says what is wrong, and takes a better one', async () => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells('schedule this 31 february', { about })).toContain('For example:');
    expect(await talk.tells('in 2 hours')).toMatch(/^New task: Water the plants\nOnce on Wed 18 Nov at 11:00/);
  });

  test('in a group only where the bot is called by its name', async () => {
    const talk = await aTalk();
    expect(await talk.say('schedule this tomorrow 9', { about })).toBeNull();
    const preview = await talk.ask('schedule this tomorrow 9', { about, isAddressed: true });
    expect(preview.text).toMatch(/^New task: Water the plants\nOnce on Thu 19 Nov at 09:00/);
    const quick = await talk.ask('tomorrow at 8 call mum', { isAddressed: true });
    expect(quick.text).toMatch(/^New task: call mum\n/);
  });

  test('also while another draft waits for words', async () => {
    const { talk } = await afterAsking('/new every day at 9', {}, { kind: 'private' });
    const preview = await talk.ask('schedule this tomorrow 9', { about });
    expect(preview.text).toMatch(/^New task: Water the plants/);
  });
});

describe('a file', () => {
  test('with /new becomes part of the message', async () => {
    const { message: preview } = await afterAsking('/new every monday at 9 Menu of the week', { media: photo });
    expect(preview.text).toMatchSnapshot('preview');
  });

  test('with /new and a time alone is called what it is', async () => {
    const { message: preview } = await afterAsking('/new every monday at 9', {
      media: { kind: 'voice', fileId: 'AwAC' },
    });
    expect(preview.text).toMatch(/^New task: Voice message\n[\s\S]*\nWith a voice message$/);
  });

  test('alone in a private chat is offered, by a button or by words', async () => {
    const talk = await aTalk({ kind: 'private' });
    const offer = await talk.ask('', { media: photo });
    expect(offer.text).toMatch(/^I can send this photo again\. When should I send it\?/);
    expect(labels(offer)).toEqual([['In 1 hour', 'Tonight 20:00'], ['Tomorrow 09:00'], ['Pick…', 'Cancel']]);
    await talk.press(offer, 'Pick…');
    expect(offer.text).toMatch(/^New task: Photo\nWhen should I send it\?/);
    expect(await talk.tells('tomorrow at 9')).toMatch(/^New task: Photo\nOnce[\s\S]*With a photo$/);
    const other = await talk.ask('', { media: photo });
    await talk.press(other, 'Tomorrow 09:00');
    expect(other.text).toMatch(/^New task: Photo\nOnce on Thu 19 Nov at 09:00[\s\S]*With a photo$/);
    await talk.ask('', { media: photo });
    expect(await talk.tells('tomorrow at 10 our cat')).toMatch(/^New task: our cat\n[\s\S]*With a photo$/);
    expect(await talk.tells('our cat', { media: photo })).toMatch(/^I can send this photo again[^]*our cat/);
  });

  test('alone in a group is nobody’s business', async () => {
    const talk = await aTalk();
    expect(await talk.say('', { media: photo })).toBeNull();
    await talk.ask('/new');
    expect(await talk.say('', { media: photo })).toBeNull();
  });

  test('can be what is said, in answer to the question', async () => {
    const { talk, message: asked } = await afterAsking('/new every day at 9');
    const preview = await talk.ask('Our cat', { media: photo, repliesTo: asked.id });
    expect(preview.text).toMatch(/^New task: Our cat\n[\s\S]*With a photo$/);
  });

  test('with a caption that is a time and a text is a quick task', async () => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells('feed the cat every day at 8', { media: photo })).toMatch(
      /^New task: feed the cat\nEvery day at 08:00[\s\S]*With a photo$/,
    );
  });

  test('of several at once all are kept, without a word about each', async () => {
    const talk = await aTalk({ kind: 'private' });
    const preview = await talk.ask('/new tomorrow at 9 Album', { media: photo, album: '77' });
    expect(preview.text).toMatch(/\nWith your album, all of it$/);
    const others = ['AgAC-2', 'AgAC-3', 'AgAC-2'].map((fileId) => ({ ...photo, fileId }));
    for (const media of others) expect(await talk.say('', { media, album: '77' })).toBeNull();
    const card = (await talk.press(preview, 'Create')).messages.at(-1)?.text ?? preview.text;
    expect(actionOf(talk)).toEqual({
      kind: 'message',
      media: [photo.fileId, 'AgAC-2', 'AgAC-3'].map((file_id) => ({ kind: 'photo', file_id })),
    });
    expect(card).toContain('with 3 photos');
  });

  test('of several without words are asked about once, and another file takes the place of all of them', async () => {
    const talk = await aTalk({ kind: 'private' });
    const asked = await talk.ask('', { media: photo, album: '78' });
    expect(asked.text).toMatch(/^I can send this album again\. When should I send it\?/);
    expect(await talk.say('', { media: { ...photo, fileId: 'AgAC-2' }, album: '78' })).toBeNull();
    const preview = await talk.ask('/new tomorrow at 9 Cat', { media: { kind: 'video', fileId: 'BAAC-1' } });
    expect(preview.text).toMatch(/\nWith a video$/);
    await talk.press(preview, 'Create');
    expect(actionOf(talk)).toMatchObject({ media: { kind: 'video', file_id: 'BAAC-1' } });
  });

  test('of an album beyond ten, and those of a draft that is made, are passed over', async () => {
    const talk = await aTalk({ kind: 'private' });
    const preview = await talk.ask('/new tomorrow at 9 Album', { media: photo, album: '79' });
    for (let n = 2; n <= 12; n += 1) await talk.say('', { media: { ...photo, fileId: `AgAC-${n}` }, album: '79' });
    await talk.press(preview, 'Create');
    expect(actionOf(talk)['media']).toHaveLength(10);
  });
});
