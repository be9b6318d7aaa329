import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.ts';
import { aBot, ada, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, driftUntil, opened, saidIn, select, topicNamed, unhurried, aBotIn } from './deliveries.ts';

afterEach(stopBots);

const answered = (bot: Bot, words: RegExp) => saidIn(bot, ada, null).filter((text) => words.test(text)).length;

describe('while Telegram tells no updates', () => {
  it.each(['reset_before', 'hang', 'answer_lost'] as const)(
    'because getUpdates meets "%s", tasks go on, and every word is answered once afterwards',
    async (kind) => {
      const bot = await aBotIn(lab, unhurried);
      await opened(bot, ada);
      await aTask(bot, { text: 'ping' });
      bot.world.fault({ kind, method: 'getUpdates', count: 3 });
      for (let word = 0; word < 3; word += 1) {
        bot.world.say({ as: 'ada', chat: ada, text: `/new in ${word + 2} hours word ${word}` });
        await bot.drift(20 * second);
      }
      await bot.drift(3 * minute);
      expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping')).length).toBeGreaterThanOrEqual(3);
      await driftUntil(bot, () => !bot.world.hasOpenUpdates());
      await bot.pass(10 * second);
      for (let word = 0; word < 3; word += 1) expect(answered(bot, new RegExp(`New task: word ${word}`))).toBe(1);
      expect(select(bot, `select * from inbox where status <> 'done'`)).toEqual([]);
    },
  );

  it('because another process polls with the same token, tasks go on, and it polls again when that one has gone', async () => {
    const bot = await aBotIn(lab, unhurried);
    await opened(bot, ada);
    await aTask(bot, { text: 'ping' });
    const root = callsRoot(bot);
    // The other one asks now and then, and each question ends ours.
    for (let times = 0; times < 3; times += 1) {
      void fetch(`${root}/getUpdates?timeout=1`).catch(() => null);
      await bot.drift(15 * second);
    }
    await bot.drift(minute);
    bot.world.say({ as: 'ada', chat: ada, text: '/help' });
    await driftUntil(bot, () => !bot.world.hasOpenUpdates());
    await bot.pass(5 * second);
    expect(saidIn(bot, ada, null).length).toBeGreaterThan(1);
    expect(saidIn(bot, lab, topicNamed(bot, lab, 'ping')).length).toBeGreaterThanOrEqual(1);
  });
});

/** Where the same bot is served for others on this computer. */
function callsRoot(bot: Bot): string {
  return `${bot.server.url}/sandbox/bot777000001:the-sandbox-knows-no-other-bot-token`;
}

it('answers no update twice when the process ends between taking and answering it', async () => {
  const before = await aBot(unhurried);
  await opened(before, ada);
  for (let word = 0; word < 5; word += 1)
    before.world.say({ as: 'ada', chat: ada, text: `/new in 2 hours word ${word}` });
  const bot = await before.restart();
  await bot.pass(5 * second);
  for (let word = 0; word < 5; word += 1) expect(answered(bot, new RegExp(`New task: word ${word}`))).toBe(1);
});

it('answers a press whose answer is lost on the way, with one effect', async () => {
  const bot = await aBotIn(ada, unhurried);
  const [preview] = await bot.say('ada', ada, '/new in 2 hours tea');
  if (preview === undefined) throw new Error('no preview');
  bot.world.fault({ kind: 'reset_before', method: 'answerCallbackQuery', count: 1 });
  await bot.press('ada', preview, 'Create');
  await bot.pass(minute);
  expect(bot.now(preview).text).toMatch(/^#1 tea/);
  expect(select(bot, 'select * from tasks')).toHaveLength(1);
});

describe('an answer to a person whose send got no answer', () => {
  it.each(['reset_before', 'reset_after', 'hang', 'late'] as const)(
    'because of "%s" is there once in the end',
    async (kind) => {
      const bot = await aBotIn(lab);
      await bot.pass(minute);
      bot.world.fault({ kind, method: 'sendMessage', count: 1 });
      // One that everybody sees; what one person alone sees is simply said again.
      await bot.say('ada', lab, '/new in 2 hours tea');
      await bot.pass(2 * minute);
      const [, preview, ...more] = saidIn(bot, lab, null);
      expect(preview).toContain('tea');
      expect(more).toEqual([]);
    },
  );
});

describe('by webhook', () => {
  it('gets updates, does each once, and goes back to polling without losing one', async () => {
    const port = await freePort();
    const hooked = {
      HTTP_PORT: String(port),
      TELEGRAM_WEBHOOK_URL: `http://127.0.0.1:${port}/telegram`,
      TELEGRAM_WEBHOOK_SECRET: 'a-secret-of-the-tests',
    };
    const before = await aBot({ ...unhurried, ...hooked });
    await opened(before, ada);
    await before.say('ada', ada, '/new in 2 hours tea');
    expect(answered(before, /New task: tea/)).toBe(1);
    const methods = before.world.calls(0, 1000).map(({ method }) => method);
    expect(methods).toContain('setWebhook');
    expect(methods).not.toContain('getUpdates');
    const stranger = await fetch(`http://127.0.0.1:${port}/telegram`, { method: 'POST', body: '{"update_id":1}' });
    expect(stranger.status).toBe(401);

    // The other end is away for a moment, and Telegram keeps what it could not bring.
    const polling = { TELEGRAM_WEBHOOK_URL: '', TELEGRAM_WEBHOOK_SECRET: '' };
    const bot = await before.restart({ env: polling });
    await bot.say('ada', ada, '/new in 2 hours milk');
    expect(answered(bot, /New task: tea/)).toBe(1);
    expect(answered(bot, /New task: milk/)).toBe(1);
    expect(bot.world.hasOpenUpdates()).toBe(false);
  });
});
