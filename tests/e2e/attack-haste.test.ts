import { afterEach, expect, it } from 'vitest';
import { aBot, lab, minute, stopBots } from './bot.ts';
import { rowsOf } from './deliveries.ts';

afterEach(stopBots);

it('lets no member of a group hold up a result by sending hundreds of commands, or pressing hundreds of times', async () => {
  const bot = await aBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', lab, '/tz UTC');
  const [preview] = await bot.say('ada', lab, '/new in 5 minutes Stand up');
  if (preview === undefined) throw new Error('no preview');
  await bot.press('ada', preview, 'Create');
  await bot.pass(3 * minute);
  for (let turn = 0; turn < 100; turn += 1) {
    bot.world.say({ as: 'ben', chat: lab, text: '/tasks' });
    bot.world.press({ as: 'ben', chat: lab, messageId: preview.messageId, button: 'History' });
  }
  await bot.pass(2 * minute);
  expect(rowsOf(bot, 'result')).toMatchObject([{ status: 'delivered' }]);
  expect(bot.texts(lab).filter((text) => text.startsWith('That was a lot at once'))).toHaveLength(1);
  // A minute later they are heard like everybody else.
  expect((await bot.say('ben', lab, '/task 1')).at(-1)?.text).toMatch(/^#1 Stand up/);
});
