import { afterEach, expect, it } from 'vitest';
import { aBot, lab, minute, second, stopBots } from './bot.ts';
import { ownFloods, rowsOf } from './deliveries.ts';
import { made } from './dialogue.ts';

afterEach(stopBots);

it('thirty commands within a second are all answered, in order, at the pace of Telegram', async () => {
  const bot = await aBot({ TELEGRAM_CHATS: String(lab) });
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  await bot.pass(minute);
  const before = bot.texts(lab).length;
  for (let number = 1; number <= 30; number += 1)
    bot.world.say({ as: 'ada', chat: lab, text: `/task ${100 + number}` });
  await bot.pass(second);
  await bot.pass(5 * minute);
  const answers = bot.texts(lab).slice(before);
  expect(answers.map((text) => /task #(\d+) in this chat/.exec(text)?.[1])).toEqual(
    Array.from({ length: 30 }, (_value, index) => String(101 + index)),
  );
  expect(ownFloods(bot)).toEqual([]);
});
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
