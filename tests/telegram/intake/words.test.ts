import { describe, expect, it } from 'vitest';
import type { DraftChange } from '../../../src/app/ports/chats.ts';
import { topicOf } from '../../../src/telegram/intake/payload.ts';
import { readWording } from '../../../src/telegram/intake/wording.ts';
import { aTask } from '../../support/builders.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, type Doorway } from './doorway.ts';
import { messageUpdate, stored } from './updates.ts';

const open = worldsOf('sqlite');

describe('a command', () => {
  const command = (text: string, length: number, offset = 0) =>
    readWording({ text, entities: [{ type: 'bot_command', offset, length }] }, 'cronogram_bot');

  it.each([
    ['/new', 4, { command: 'new', args: '', isAddressed: false }],
    ['/New  every day at 9 ', 4, { command: 'new', args: 'every day at 9', isAddressed: false }],
    ['/new every day\nfirst\n\nsecond', 4, { command: 'new', args: 'every day\nfirst\n\nsecond', isAddressed: false }],
    ['/new\nin 5 minutes', 4, { command: 'new', args: 'in 5 minutes', isAddressed: false }],
    ['/new@cronogram_bot x', 18, { command: 'new', args: 'x', isAddressed: true }],
    ['/new@Cronogram_Bot x', 18, { command: 'new', args: 'x', isAddressed: true }],
  ])('is read from %j', (text, length, expected) => {
    expect(command(text, length)).toEqual(expected);
  });

  it('of another bot is not ours', () => {
    expect(command('/new@other_bot x', 14)).toBeNull();
  });

  it('in the middle of a sentence is none', () => {
    expect(command('try /new', 4, 4)).toEqual({ command: null, args: 'try /new', isAddressed: false });
  });

  it('is one only when the platform says so', () => {
    expect(readWording({ text: '/2 of it' }, 'cronogram_bot')).toMatchObject({ command: null, args: '/2 of it' });
  });

  it('is found in the caption of a picture', () => {
    const caption_entities = [{ type: 'bot_command' as const, offset: 0, length: 4 }];
    expect(readWording({ caption: '/new x', caption_entities }, 'b')).toMatchObject({ command: 'new', args: 'x' });
  });

  it.each([
    ['@cronogram_bot tomorrow at 9', 'tomorrow at 9'],
    ['@Cronogram_Bot: schedule this', 'schedule this'],
    ['remind me later @cronogram_bot', 'remind me later'],
    ['@cronogram_bot', ''],
  ])('is without the name by which the bot is called: %s', (text, args) => {
    expect(readWording({ text }, 'cronogram_bot')).toEqual({ command: null, args, isAddressed: true });
  });

  it.each(['@cronogram_bots tomorrow', 'ask @cronogram_bot about it', 'mail me@cronogram_bot'])(
    'is plain where another is called, or none: %s',
    (text) => {
      expect(readWording({ text }, 'cronogram_bot')).toEqual({ command: null, args: text, isAddressed: false });
    },
  );

  it('needs words, or a file', () => {
    expect(readWording({}, 'cronogram_bot')).toBeNull();
    expect(readWording({ voice: { file_id: 'AwAC' } }, 'cronogram_bot')).toMatchObject({ command: null, args: '' });
  });
});

describe('a topic', () => {
  const group = { id: lab, type: 'supergroup' as const };
  const person = { id: ada, type: 'private' as const };

  it.each([
    ['of a forum', { chat: group, message_thread_id: 7, is_topic_message: true }, 7],
    ['that is a thread of replies', { chat: group, message_thread_id: 7 }, null],
    ['of a private chat', { chat: person, message_thread_id: 7 }, 7],
    ['General', { chat: group, message_thread_id: 1, is_topic_message: true }, null],
    ['that there is none of', { chat: group }, null],
  ])('%s', (_name, message, expected) => {
    expect(topicOf(message)).toBe(expected);
  });
});

const waiting = async (world: Awaited<ReturnType<typeof open>>, updates: readonly { readonly update_id: number }[]) => {
  await world.store.receiveUpdates(updates.map(stored), 1);
};

it('knows the topic, its chat and its zone', async () => {
  const world = await open();
  const doorway = await aDoorway({ world });
  const { world: chats } = doorway.served;
  chats.say({ as: 'ben', chat: lab, text: 'so that the topic is not the first message' });
  const topic = chats.createTopic(lab, 'ada', 'Plants');
  chats.say({ as: 'ada', chat: lab, thread: topic, text: '/new' });
  await doorway.settled();
  const chat = await world.store.findChat(String(lab));
  expect(doorway.saids[0]?.place).toMatchObject({
    chat: { id: chat?.id, title: 'The Lab', kind: 'supergroup', state: 'approved' },
    topic,
    topicTask: null,
    timezone: 'UTC',
    isZoneConfirmed: false,
    isForum: true,
  });
  await world.store.changeChat(chat?.id ?? '', { timezone: 'Europe/Madrid' }, 1);
  chats.say({ as: 'ada', chat: lab, text: '/new' });
  await doorway.settled();
  expect(doorway.saids[1]?.place).toMatchObject({ topic: null, timezone: 'Europe/Madrid', isZoneConfirmed: true });
  const answers = await doorway.query('select to_topic, lane from deliveries order by created_at, id');
  expect(answers.map(({ to_topic: to }) => to)).toEqual([topic, null]);
});

it('knows the task whose topic it is', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const chat = await world.store.noteChat({ newId: 'c', address: String(lab), title: 'L', kind: 'supergroup', at: 1 });
  const home = { provider: 'telegram', address: chat.address, topic: null };
  const task = await aTask(world, { home });
  await world.query(`update tasks set topic_id = 7, topic_state = 'ready' where id = ?t`, task.id);
  await waiting(world, [messageUpdate({ id: 1, topic: 7 })]);
  await doorway.starts();
  expect(doorway.saids[0]?.place.topicTask?.id).toBe(task.id);
});

it('names the update in the key of everything that it changes', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  await waiting(world, [messageUpdate({ id: 17 })]);
  await doorway.starts();
  expect(doorway.saids[0]).toMatchObject({ updateId: 17, key: 'telegram:update:17' });
});

it('hears in a group only what is meant for it', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const ours = { message_id: 3, from: { id: 777_000_001, is_bot: true, first_name: 'Cronogram' } };
  const theirs = { message_id: 4, from: { id: ben, is_bot: false, first_name: 'Ben' } };
  const root = { ...ours, forum_topic_created: {} };
  await waiting(world, [
    messageUpdate({ id: 1, text: 'chatter' }),
    messageUpdate({ id: 2, text: '/weather' }),
    messageUpdate({ id: 3, text: '/weather@cronogram_bot' }),
    messageUpdate({ id: 4, text: 'to you', more: { reply_to_message: ours } }),
    messageUpdate({ id: 5, text: 'to Ben', more: { reply_to_message: theirs } }),
    messageUpdate({ id: 6, text: 'in a topic', topic: 7, more: { reply_to_message: root } }),
    messageUpdate({ id: 7, text: '/nwe' }),
    messageUpdate({ id: 8, text: '/nwe@other_bot' }),
    messageUpdate({ id: 9, text: '@cronogram_bot call mum' }),
  ]);
  await doorway.starts();
  expect((await doorway.words()).toSorted()).toEqual([
    'plain: call mum',
    'plain: to you',
    'unknown: nwe',
    'unknown: weather',
  ]);
  expect(doorway.saids[0]).toMatchObject({ command: null, args: 'to you', repliedTo: { messageId: 3, isOurs: true } });
});

it('hears everything in a private chat, files too, and says what it cannot take', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const wordless = { text: undefined, entities: undefined };
  const sticker = messageUpdate({ id: 3, chat: ada, more: { ...wordless, sticker: {} } });
  const photo = [{ file_id: 'small' }, { file_id: 'large' }];
  const picture = messageUpdate({ id: 5, chat: ada, more: { ...wordless, photo, media_group_id: '9' } });
  const pin = messageUpdate({ id: 4, chat: ada, more: { text: undefined, entities: undefined, pinned_message: {} } });
  await waiting(world, [
    messageUpdate({ id: 1, chat: ada, text: 'remind me' }),
    messageUpdate({ id: 2, chat: ada, text: '/weather' }),
    sticker,
    pin,
    picture,
  ]);
  await doorway.starts();
  expect(await doorway.words()).toEqual([
    'plain: remind me',
    'unknown: weather',
    expect.stringMatching(/pictures, videos.* but not this/),
    'plain: ',
  ]);
  expect(doorway.saids.at(-1)).toMatchObject({ media: { kind: 'photo', fileId: 'large' }, album: '9' });
});

const draftOf = (doorway: Doorway, expiresAt = doorway.time.now() + 60_000): DraftChange => ({
  is: 'put',
  draft: {
    id: `draft-${doorway.saids.length}`,
    chatId: doorway.saids[0]?.place.chat.id ?? '',
    userId: `telegram:user:${ada}`,
    topic: null,
    messageId: doorway.saids.at(-1)?.messageId ?? null,
    step: 'preview',
    body: {},
    expiresAt,
  },
});

it('handles an edited message that began a draft, and no other edit', async () => {
  const doorway: Doorway = await aDoorway({
    said: ({ args }) => ({
      replies: [{ is: 'message', shown: { text: args } }],
      draft: args === 'plain' ? null : draftOf(doorway),
    }),
  });
  const { world } = doorway.served;
  const old = world.say({ as: 'ada', chat: lab, text: '/new plain' });
  const begun = world.say({ as: 'ada', chat: lab, text: '/new every day at 9' });
  await doorway.settled();
  world.edit({ as: 'ada', chat: lab, messageId: old.messageId, text: '/new something else' });
  world.edit({ as: 'ada', chat: lab, messageId: begun.messageId, text: '/new every day at 10' });
  await doorway.settled();
  expect(await doorway.words()).toEqual(['plain', 'every day at 9', 'every day at 10']);
  expect(doorway.saids.map(({ mends }) => mends?.id ?? null)).toEqual([null, null, 'draft-2']);
});

it('hears plain text in a group from whoever has a draft open there', async () => {
  const world = await open();
  const doorway: Doorway = await aDoorway({
    world,
    isStarted: false,
    said: ({ args }) => ({ replies: [{ is: 'message', shown: { text: args } }], draft: draftOf(doorway) }),
  });
  await waiting(world, [
    messageUpdate({ id: 1, text: '/new' }),
    messageUpdate({ id: 2, text: 'tomorrow' }),
    messageUpdate({ id: 3, text: 'not me', from: ben }),
  ]);
  await doorway.starts();
  expect(doorway.saids.map(({ args }) => args)).toEqual(['', 'tomorrow']);
});

it('counts what was said while a draft was open, however late it is handled, and an edit from when it was made', async () => {
  const world = await open();
  const at = (minutes: number) => 1_799_000_000 + minutes * 60;
  const doorway: Doorway = await aDoorway({
    world,
    isStarted: false,
    said: ({ args, date }) => {
      const change = draftOf(doorway, date + 30 * 60_000);
      return { replies: [{ is: 'message', shown: { text: args } }], draft: change };
    },
  });
  doorway.time.setWall(at(240) * 1000);
  await waiting(world, [
    messageUpdate({ id: 1, text: '/new', more: { date: at(0) } }),
    messageUpdate({ id: 2, text: 'in time', more: { date: at(29) } }),
    messageUpdate({ id: 3, text: 'too late', more: { date: at(60) } }),
  ]);
  await doorway.starts();
  expect(doorway.saids.map(({ args, date }) => [args, date])).toEqual([
    ['', at(0) * 1000],
    ['in time', at(29) * 1000],
  ]);
});

it.each([
  ['forwarded', { forward_origin: { type: 'hidden_user', sender_user_name: 'X', date: 1 } }],
  ['forwarded over an older server', { forward_sender_name: 'X', forward_date: 1 }],
  ['said by a bot in the name of a business', { sender_business_bot: { id: 99, is_bot: true, first_name: 'Another' } }],
  ['made by another bot', { via_bot: { id: 99, is_bot: true, first_name: 'Another' } }],
])('takes what was %s as a text, and never as an order', async (_how, more) => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const texts = ['/allow 999', 'done', '@cronogram_bot every day at 9 x', 'the dentist moved to Monday'];
  const updates = texts.map((text, index) => messageUpdate({ id: index + 1, text, chat: ada, more }));
  await world.store.receiveUpdates(updates.map(stored), doorway.time.now());
  await doorway.starts();
  expect(doorway.saids.map(({ command, args }) => [command, args])).toEqual([[null, 'the dentist moved to Monday']]);
  expect((await doorway.words()).filter((text) => text.startsWith('Somebody else wrote that'))).toHaveLength(3);
});
