import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/adapters/sandbox/world.ts';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { mark } from './deliveries.ts';
import { aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

interface Scene {
  readonly bot: Bot;
  readonly chat: number;
  readonly topic: number;
  readonly result: MessageShown;
}

type Act = (scene: Scene) => Promise<unknown>;

const say =
  (text: string): Act =>
  ({ bot, chat }) =>
    bot.say('ada', chat, text);
const reply =
  (text: string): Act =>
  ({ bot, chat, topic, result }) =>
    bot.say('ada', chat, text, { thread: topic, replyTo: result.messageId });
/** A button of what the bot wrote last outside of the topic. */
const press =
  (button: string): Act =>
  ({ bot, chat }) =>
    bot.press('ada', bot.last(chat, null), button);
const pressResult =
  (button: string): Act =>
  ({ bot, result }) =>
    bot.press('ada', bot.now(result), button);

/** One after the other, so that each finds what the one before has left. */
const interactions: readonly (readonly [string, Act])[] = [
  ['a reply that puts off', reply('2 hours')],
  ['a reply that skips', reply('skip')],
  ['a reply that asks why', reply('why?')],
  ['a reply that is not understood', reply('what a nice lunch')],
  ['Snooze', pressResult('Snooze')],
  ['Pick', pressResult('Pick…')],
  ['a day', pressResult('Tomorrow')],
  ['an hour', pressResult('10:00')],
  ['a reply that it is done', reply('done')],
  ['/undo', say('/undo')],
  ['/edit a setting', say('/edit #1 ack every 15 minutes')],
  ['/edit a field that is not known', say('/edit #1 titel Plants')],
  ['/edit', say('/edit #1')],
  ['More', press('More')],
  ['Missed', press('Missed')],
  ['Ask', press('Ask')],
  ['Undo', press('Undo')],
  ['/pause', say('/pause #1')],
  ['Until tomorrow', press('Until tomorrow')],
  ['/resume', say('/resume #1')],
  ['/next', say('/next')],
  ['Next 7 days', press('Next 7 days')],
  ['/history', say('/history #1')],
  ['/tasks', say('/tasks')],
  ['Mine', press('Mine')],
  ['/tasks with a word', say('/tasks tea')],
  ['/why with a day', say('/why #1 monday 9:00')],
  ['/skip', say('/skip #1 2')],
  ['Undo of it', press('Undo')],
];

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('in %s', (_name, chat) => {
  it('no interaction costs more than three calls, the answer to a press included', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    await made(bot, ['ada', chat], 'every day at 13 Tea');
    const result = bot.world.messages(chat, { thread: topic }).find(({ text }) => text === 'Lunch');
    if (result === undefined) throw new Error('there is no result');
    for (const [name, act] of interactions) {
      const before = mark(bot);
      await act({ bot, chat, topic, result });
      const calls = bot.world
        .calls(before, 100_000)
        .map(({ method }) => method)
        .filter((method) => method !== 'getUpdates');
      expect([name, calls.length > 0 && calls.length <= 3], calls.join()).toEqual([name, true]);
    }
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
