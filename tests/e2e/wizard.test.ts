import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, lab, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, aTalkingBot, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

async function aBotIn(chat: number): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

const schedules = (bot: Bot) =>
  select<{ title: string; schedule_kind: string }>(bot, 'select title, schedule_kind from tasks order by number');

/** The message, as people see it: its words and its buttons. */
function seen({ text, buttons }: Pick<MessageShown, 'text' | 'buttons'>): string {
  return [text, ...buttons.map((row) => row.map((each) => `[${each.text}]`).join(' '))].join('\n');
}

describe.each([
  ['a group', 'ben', lab, 'reply to this message with', 'Reply to this message with'],
  ['a private chat', 'ada', ada, 'write', 'Write'],
] as const)('the wizard in %s', (_name, as, chat, write, Write) => {
  it('is one message, from /new to the card', async () => {
    const bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    const shown = [seen(message)];
    for (const button of ['Every week', 'Mon', 'Thu', 'Next', '18:00', '18:30']) {
      await bot.press(as, bot.now(message), button);
      shown.push(`> ${button}`, seen(bot.now(message)));
    }
    expect(shown.join('\n\n')).toBe(`When shall it come?
Choose, or ${write} when and what, for example:

in 20 minutes Take the pizza out
tomorrow at 8am Call mum
every 2 weeks on monday 10:00 Put the bins out
[Every day] [Weekdays]
[Every week] [Every month]
[Once]
[Cancel]

> Every week

On which days?
Press one or more and then Next, or ${write} them: monday and thursday
[Mon] [Tue] [Wed] [Thu]
[Fri] [Sat] [Sun]
[Next]
[Back] [Cancel]

> Mon

On which days?
Press one or more and then Next, or ${write} them: monday and thursday
[✓ Mon] [Tue] [Wed] [Thu]
[Fri] [Sat] [Sun]
[Next]
[Back] [Cancel]

> Thu

On which days?
Press one or more and then Next, or ${write} them: monday and thursday
[✓ Mon] [Tue] [Wed] [✓ Thu]
[Fri] [Sat] [Sun]
[Next]
[Back] [Cancel]

> Next

Every Monday and Thursday, at what time?
Choose the hour, or ${write} the time: 9:30
[06:00] [07:00] [08:00] [09:00] [10:00] [11:00]
[12:00] [13:00] [14:00] [15:00] [16:00] [17:00]
[18:00] [19:00] [20:00] [21:00] [22:00] [23:00]
[Back] [Cancel]

> 18:00

Every Monday and Thursday, at what time?
Choose, or ${write} it: 9:20
[18:00] [18:10] [18:15] [18:20]
[18:30] [18:40] [18:45] [18:50]
[Back] [Cancel]

> 18:30

Every Monday and Thursday at 18:30 (UTC). What should I say?

${Write} the text, or a picture or another file.
[Back] [Cancel]`);
    const preview = await ask(bot, [as, chat], 'Take the bins out', { replyTo: message.messageId });
    expect(seen(preview)).toBe(`New task: Take the bins out
Every Monday and Thursday at 18:30
Zone: UTC
Next: Thu 19 Nov 18:30, Mon 23 Nov 18:30, Thu 26 Nov 18:30
[Create] [Change time] [Cancel]
[Change text]`);
    // The question has gone, so that one message is left.
    expect(() => bot.now(message)).toThrow('the message is gone');
    expect(await bot.press(as, preview, 'Create')).toEqual({ text: 'Created as #1', alert: false });
    expect(bot.now(preview).text).toMatch(/^#1 Take the bins out\nActive\nEvery Monday and Thursday at 18:30 \(UTC\)/);
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('goes on after a restart at every step, with the buttons that are there', async () => {
    let bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    for (const button of ['Every month', 'Last day', '17:00', '17:30']) {
      bot = await bot.restart();
      await bot.press(as, bot.now(message), button);
    }
    bot = await bot.restart();
    const preview = await ask(bot, [as, chat], 'Drinks', { replyTo: message.messageId });
    expect(preview.text).toMatch(/^New task: Drinks\nOn the last day of the month at 17:30/);
    bot = await bot.restart();
    await bot.press(as, bot.now(preview), 'Create');
    expect(schedules(bot)).toMatchObject([{ title: 'Drinks' }]);
  });
});

it('the wizard stays in the topic of a task in which it was begun', async () => {
  const bot = await aBotIn(lab);
  const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  const message = await ask(bot, ['ada', lab], '/new', { thread: topic });
  expect(message.threadId).toBe(topic);
  for (const button of ['Weekdays', '12:00', '12:30']) await bot.press('ada', bot.now(message), button);
  const preview = await ask(bot, ['ada', lab], 'Coffee', { thread: topic, replyTo: message.messageId });
  expect(preview.threadId).toBe(topic);
  await bot.press('ada', preview, 'Create');
  expect(bot.now(preview).text).toMatch(/^#2 Coffee/);
});
