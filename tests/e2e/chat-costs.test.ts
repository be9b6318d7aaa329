import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/adapters/sandbox/world.ts';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark } from './deliveries.ts';
import { ask, aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** Every call on the wire since then, but for the poll that is always open. */
function callsSince(bot: Bot, after: number): string[] {
  const calls = bot.world.calls(after, 100_000).map(({ method }) => method);
  return calls.filter((method) => method !== 'getUpdates');
}

/** A word, and then the buttons of its answer, one after the other. */
const interactions: readonly (readonly [string, ...(readonly string[])])[] = [
  ['/start', 'No, change'],
  ['/start', 'Yes'],
  [
    '/settings',
    '22–7',
    'Without sound',
    'Quiet: off',
    'Reactions off',
    'Dates',
    'Deutsch',
    'Digest',
    'Back',
    'Time zone',
  ],
  ['/settings create admins'],
  ['/settings quiet 22:30-6:45'],
  ['/settings quiet off'],
  ['/settings nonsense'],
  ['/digest', 'Daily 8:00', 'Off'],
  ['/digest weekly friday 17:00', 'Off'],
  ['/digest nonsense'],
  ['/status'],
  ['/usage'],
  ['/help'],
  ['/help snooze'],
  ['/topic'],
  ['/topic delete #1', 'Keep'],
  ['/topic delete #1', 'Delete the topic'],
  ['/purge', 'Keep'],
  ['/allow'],
  ['/allow 4711'],
  ['/allow off 4711'],
];

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('in %s', (_name, chat) => {
  it('nothing about the chat costs more than three calls, the answer to a press among them', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    const counted = async (name: string, act: () => Promise<unknown>) => {
      // What was known of the chat a moment ago is not known any more.
      await bot.pass(2 * minute);
      const before = mark(bot);
      await act();
      const calls = callsSince(bot, before);
      expect([name, calls.length >= 1 && calls.length <= 3], calls.join()).toEqual([name, true]);
    };
    for (const [words, ...buttons] of interactions) {
      let message: MessageShown | null = null;
      await counted(words, async () => {
        message = await ask(bot, ['ada', chat], words);
      });
      for (const button of buttons) {
        await counted(`${words}, ${button}`, async () => {
          if (message !== null) await bot.press('ada', bot.now(message), button);
        });
      }
    }
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('a purge costs two calls, and what its tasks have to show of it', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    for (let count = 0; count < 5; count += 1) await made(bot, ['ada', chat], `every day at 12 Lunch ${count}`);
    const question = await ask(bot, ['ada', chat], '/purge');
    const before = mark(bot);
    await bot.press('ada', question, 'Delete all 5 tasks');
    expect(callsSince(bot, before).toSorted()).toEqual(['answerCallbackQuery', 'editMessageText']);
  });
});
