import { afterEach, expect, it } from 'vitest';
import { ada, ben, lab, mallory, minute, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { aBroughtBot, bring, made } from './dialogue.ts';

afterEach(stopBots);

/** Updates that nobody can bring about in the sandbox, brought as Telegram would bring them. */

const people = { ada: { id: ada, first_name: 'Ada' }, ben: { id: ben, first_name: 'Ben' } } as const;
const group = { id: lab, type: 'supergroup', title: 'The Lab', is_forum: true } as const;
const privately = (who: keyof typeof people) => ({ id: people[who].id, type: 'private', first_name: who });

let messageId = 900_000;

function message(who: keyof typeof people, text: string | null, more: Readonly<Record<string, unknown>> = {}) {
  const command = /^\/\w+(?:@\w+)?/.exec(text ?? '')?.[0];
  const entities =
    command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] };
  const words = text === null ? {} : { text, ...entities };
  const from = { is_bot: false, ...people[who] };
  return { message: { message_id: (messageId += 1), date: 1_794_992_400, chat: group, from, ...words, ...more } };
}

async function aLab(): Promise<Bot> {
  const bot = await aBroughtBot({ TELEGRAM_CHATS: String(lab) });
  // In webhook mode the bot is set up when Telegram knows where to bring updates.
  await bot.say('ada', lab, '/tz UTC');
  return bot;
}

const texts = (messages: Awaited<ReturnType<typeof bring>>) => messages.map(({ text }) => text);

it('an admin who posts as the group is asked to post as themselves, and only when the bot is spoken to', async () => {
  const bot = await aLab();
  const anonymous = {
    from: { id: 1_087_968_824, is_bot: true, first_name: 'Group' },
    sender_chat: { id: lab, type: 'supergroup' },
  };
  expect(texts(await bring(bot, lab, message('ada', '/new every day at 9 Ping', anonymous)))).toEqual([
    expect.stringContaining('You are posting as the group, so I cannot tell who you are.'),
  ]);
  expect(await bring(bot, lab, message('ada', 'good morning', anonymous))).toEqual([]);
  expect(await bring(bot, lab, message('ada', '/ban Mallory', anonymous))).toEqual([]);
  expect(select(bot, 'select id from tasks')).toEqual([]);
});

it('channels, other bots and automatic forwards are not listened to', async () => {
  const bot = await aLab();
  const channel = { sender_chat: { id: -1009, type: 'channel' } };
  const otherBot = { from: { id: 42, is_bot: true, first_name: 'Other' } };
  for (const more of [channel, otherBot, { ...channel, is_automatic_forward: true }]) {
    expect(await bring(bot, lab, message('ada', '/tasks', more))).toEqual([]);
  }
});

it('a command for another bot is its own business, in a group and in private', async () => {
  const bot = await aLab();
  expect(await bring(bot, lab, message('ben', '/tasks@other_bot'))).toEqual([]);
  expect(await bring(bot, ada, message('ada', '/tasks@other_bot', { chat: privately('ada') }))).toEqual([]);
});

it('a caption is read like a text, and what nobody can schedule is answered in private only', async () => {
  const bot = await aLab();
  const caption = '/new every day at 9 Ping';
  const photo = [{ file_id: 'AgACsmall' }, { file_id: 'AgAClarge' }];
  const captioned = { photo, caption, caption_entities: [{ type: 'bot_command', offset: 0, length: 4 }] };
  expect(texts(await bring(bot, lab, message('ben', null, captioned)))).toEqual([
    expect.stringMatching(/^New task: Ping\nEvery day at 09:00[\s\S]*\nWith a photo$/),
  ]);
  for (const more of [{ photo }, { sticker: {} }])
    expect(await bring(bot, lab, message('ben', null, more))).toEqual([]);
  bot.world.say({ as: 'ada', chat: ada, text: '/start' });
  await bot.pass(1000);
  for (const more of [{ sticker: {} }, { location: {} }, { poll: {} }]) {
    const alone = message('ada', null, { chat: privately('ada'), ...more });
    expect(texts(await bring(bot, ada, alone))).toEqual([
      'I can schedule texts, pictures, videos, voice messages, audio and other files, but not this. Send /help to see what I understand.',
    ]);
  }
});

it('a message of sixteen thousand characters is a task, with its text whole', async () => {
  const bot = await aLab();
  const long = 'Read this, all of it. '.repeat(727).trim();
  expect(long.length).toBeGreaterThan(15_900);
  const [preview] = await bring(bot, lab, message('ada', `/new every day at 9\n${long}`));
  if (preview === undefined) throw new Error('no preview');
  expect(preview.text.length).toBeLessThan(4096);
  expect(await bot.press('ada', preview, 'Create')).toMatchObject({ text: 'Created as #1' });
  expect(select(bot, 'select instructions from tasks')).toEqual([{ instructions: long }]);
  await bot.press('ada', bot.now(preview), 'Run now');
  const [topic] = bot.world.topics(lab);
  const parts = bot.world
    .messages(lab, { thread: topic?.threadId ?? 0 })
    .filter(({ from, text, service }) => from === 'bot' && service === null && !text.startsWith('#1'));
  expect(
    parts
      .map(({ text }) => text)
      .join(' ')
      .replaceAll(/\s+/g, ' '),
  ).toBe(long);
});

it('one that is longer than a task may be is refused in a sentence', async () => {
  const bot = await aLab();
  const answers = texts(await bring(bot, lab, message('ada', `/new every day at 9\n${'x'.repeat(100_000)}`)));
  expect(answers).toHaveLength(1);
  expect(answers[0]).toMatch(/characters/);
  expect(select(bot, 'select id from tasks')).toEqual([]);
});

it('whoever has left the group is not heard there any more, by a word that comes late or by a button', async () => {
  const bot = await aLab();
  const card = await made(bot, ['ben', lab], 'every day at 9 Ping');
  bot.world.setMember(lab, 'ben', 'left');
  await bot.pass(minute);
  expect(await bring(bot, lab, message('ben', '/delete 1'))).toEqual([]);
  const press = {
    id: 'late-press',
    from: { is_bot: false, ...people.ben },
    data: card.buttons[1]?.find(({ text }) => text === 'Delete')?.data,
    message: { message_id: card.messageId, date: 1_794_992_400, chat: group, text: card.text },
  };
  expect(await bring(bot, lab, { callback_query: press })).toEqual([]);
  expect(bot.now(card).text).toBe(card.text);
  const answers = bot.world.calls(0, 10_000).filter(({ method }) => method === 'answerCallbackQuery');
  expect(answers.at(-1)?.params).toMatchObject({ text: 'You are not a member of this chat.' });
  expect(select(bot, 'select state from tasks')).toEqual([{ state: 'active' }]);
});

it('a repeated update has one effect', async () => {
  const bot = await aLab();
  const preview = await bring(bot, lab, message('ada', '/new every day at 9 Ping'));
  const [shown] = preview;
  if (shown === undefined) throw new Error('no preview');
  const press = {
    update_id: 700_000_000,
    callback_query: {
      id: 'twice',
      from: { is_bot: false, ...people.ada },
      data: shown.buttons.flat().find(({ text }) => text === 'Create')?.data,
      message: { message_id: shown.messageId, date: 1_794_992_400, chat: group, text: shown.text },
    },
  };
  await bring(bot, lab, press);
  await bring(bot, lab, press);
  const run = { update_id: 700_000_001, ...message('ada', '/run 1') };
  await bring(bot, lab, run);
  await bring(bot, lab, run);
  expect(select(bot, 'select number from tasks')).toEqual([{ number: 1 }]);
  expect(select(bot, 'select source, status from occurrences')).toEqual([{ source: 'run_now', status: 'succeeded' }]);
  expect(bot.texts(lab, null).filter((text) => text.startsWith('Started'))).toHaveLength(1);
});

it('an update of no form that is known is stored, marked and got over', async () => {
  const bot = await aLab();
  for (const body of [{}, { message: { text: '/tasks' } }, { message: null }, { poll: {} }, { callback_query: {} }]) {
    expect(await bring(bot, lab, body)).toEqual([]);
  }
  expect(
    await bring(bot, mallory, { message: { message_id: 1, date: 1, chat: { id: mallory, type: 'private' } } }),
  ).toEqual([]);
  expect(texts(await bring(bot, lab, message('ben', '/tasks')))).toHaveLength(1);
});
