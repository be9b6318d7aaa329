import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark, select } from './deliveries.ts';
import { ask, aTalkingBot, dataOf, expectSilence, forge, labels, madeWithTopic } from './dialogue.ts';

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

  it('costs no more than two calls for a step', async () => {
    const bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    const callsOf = async (act: () => Promise<unknown>) => {
      const before = mark(bot);
      await act();
      return bot.world
        .calls(before, 1000)
        .map(({ method }) => method)
        .filter((method) => method !== 'getUpdates');
    };
    for (const button of ['Once', 'Back', 'Every day', '09:00', '09:10', 'Back']) {
      const calls = await callsOf(() => bot.press(as, bot.now(message), button));
      expect(calls.toSorted()).toEqual(['answerCallbackQuery', 'editMessageText']);
    }
    const said = await callsOf(() => bot.say(as, chat, 'Stand up', { replyTo: message.messageId }));
    expect(said.toSorted()).toEqual(['deleteMessage', 'sendMessage']);
  });

  it('an old button of an earlier step changes nothing', async () => {
    const bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    const once = dataOf(message, 'Once');
    await bot.press(as, message, 'Every day');
    const open = seen(bot.now(message));
    await forge(bot, bot.now(message), once);
    await bot.press(as, bot.now(message), 'forged');
    expect(seen(bot.now(message))).toBe(open);
  });

  it('is told when it has waited too long, and when it was cancelled', async () => {
    const bot = await aBotIn(chat);
    const message = await ask(bot, [as, chat], '/new');
    await bot.press(as, message, 'Every day');
    await bot.pass(31 * minute);
    await bot.press(as, bot.now(message), '09:00');
    expect(bot.now(message).text).toContain('is over. Send /new to begin again.');
    const other = await ask(bot, [as, chat], '/new');
    await ask(bot, [as, chat], '/cancel');
    expect(await bot.press(as, other, 'Every day')).toEqual({
      text: 'This draft is over. Send /new to begin again.',
      alert: true,
    });
  });

  it.each([
    ['emoji', '👍👍'],
    ['marks of direction', '\u202e\u200f\u2067'],
    ['very long words', 'x'.repeat(4000)],
    ['signs of markup', '<b>&'],
    ['no time of any clock', '99:99'],
    ['braces', '{{ x'],
    ['no exact time', 'soon'],
  ])('answers nonsense at a step by asking again: %s', async (_what, words) => {
    const bot = await aBotIn(chat);
    for (const path of [[], ['Every week'], ['Every month'], ['Once'], ['Weekdays', '09:00']]) {
      const message = await ask(bot, [as, chat], '/new');
      for (const button of path) await bot.press(as, bot.now(message), button);
      const told = await ask(bot, [as, chat], words, { replyTo: message.messageId });
      expect(labels(told).flat()).toContain('Cancel');
      const preview = await ask(bot, [as, chat], 'every day at 9 Stand up', { replyTo: told.messageId });
      expect(preview.text).toMatch(/^New task: Stand up\nEvery day at 09:00/);
    }
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('two people in one group', () => {
  it('make their tasks at the same time', async () => {
    const bot = await aBotIn(lab);
    const hers = await ask(bot, ['ada', lab], '/new');
    const his = await ask(bot, ['ben', lab], '/new');
    expect(await bot.press('ben', hers, 'Every day')).toEqual({
      text: 'Only the person who began this task may press here.',
      alert: true,
    });
    await bot.press('ada', hers, 'Every day');
    await bot.press('ben', his, 'Once');
    await bot.press('ben', bot.now(his), 'Tomorrow');
    const herText = await ask(bot, ['ada', lab], '8:15', { replyTo: hers.messageId });
    const hisText = await ask(bot, ['ben', lab], '18:30', { replyTo: his.messageId });
    const hisTask = await ask(bot, ['ben', lab], 'Football', { replyTo: hisText.messageId });
    const herTask = await ask(bot, ['ada', lab], 'Yoga', { replyTo: herText.messageId });
    expect(hisTask.text).toMatch(/^New task: Football\nOnce on Thu 19 Nov at 18:30/);
    expect(herTask.text).toMatch(/^New task: Yoga\nEvery day at 08:15/);
    await bot.press('ben', hisTask, 'Create');
    await bot.press('ada', herTask, 'Create');
    expect(schedules(bot).map(({ title }) => title)).toEqual(['Football', 'Yoga']);
  });

  it('are left alone when they talk to each other, until one of them answers the bot', async () => {
    const bot = await aBotIn(lab);
    const message = await ask(bot, ['ben', lab], '/new');
    for (const words of ['what did he say?', 'see you tomorrow at 9', 'never mind']) {
      await expectSilence(bot, ['ben', lab], words);
    }
    await bot.press('ben', message, 'Every day');
    for (const words of ['10 people are coming', 'Take the laptop']) await expectSilence(bot, ['ben', lab], words);
    const noted = await ask(bot, ['ben', lab], 'Take the laptop', { replyTo: message.messageId });
    expect(noted.text).toMatch(/^Noted the text\.\n\nEvery day, at what time\?/);
    await bot.press('ben', noted, '09:00');
    await bot.press('ben', bot.now(noted), '09:15');
    expect(bot.now(noted).text).toMatch(/^New task: Take the laptop\nEvery day at 09:15/);
  });
});

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('inside the topic of a task, in %s', (_name, chat) => {
  it('the wizard stays in there', async () => {
    const bot = await aBotIn(chat);
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    const message = await ask(bot, ['ada', chat], '/new', { thread: topic });
    expect(message.threadId).toBe(topic);
    for (const button of ['Weekdays', '12:00', '12:30']) await bot.press('ada', bot.now(message), button);
    const preview = await ask(bot, ['ada', chat], 'Coffee', { thread: topic, replyTo: message.messageId });
    expect(preview.threadId).toBe(topic);
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toMatch(/^#2 Coffee/);
  });

  it('an answer to a result is about that result, also while a text is waited for', async () => {
    const bot = await aBotIn(chat);
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    const result = bot.world
      .messages(chat, { limit: 500 })
      .findLast(({ text, threadId }) => text === 'Lunch' && threadId === topic);
    const question = await ask(bot, ['ada', chat], '/new every day at 9', { thread: topic });
    await bot.say('ada', chat, 'done', { thread: topic, replyTo: result?.messageId ?? 0 });
    expect(bot.texts(chat, topic).filter((text) => text.startsWith('New task'))).toEqual([]);
    const preview = await ask(bot, ['ada', chat], 'Coffee', { thread: topic, replyTo: question.messageId });
    expect(preview.text).toMatch(/^New task: Coffee/);
  });
});

it('a task with the same title is shown before another one is made', async () => {
  const bot = await aBotIn(lab);
  await bot.press('ben', await ask(bot, ['ben', lab], '/new every day at 9 Call Mum'), 'Create');
  const preview = await ask(bot, ['ben', lab], '/new tomorrow at 8 call mum');
  expect(seen(preview)).toContain(`There is #1 Call Mum already. Edit that one, or add this one as well?
[Edit that one] [Add anyway]
[Change time] [Cancel]
[Change text]`);
  await bot.press('ben', preview, 'Add anyway');
  expect(schedules(bot)).toHaveLength(2);
  const again = await ask(bot, ['ben', lab], '/new tomorrow at 8 CALL MUM');
  await bot.press('ben', again, 'Edit that one');
  expect(bot.now(again).text).toMatch(/^#1 Call Mum comes every day at 09:00/);
  await bot.press('ben', bot.now(again), 'Use the new time');
  expect(bot.now(again).text).toMatch(/^Changed: #1 Call Mum\nNext: Thu 19 Nov 08:00/);
  expect(schedules(bot)).toMatchObject([{ schedule_kind: 'once' }, { schedule_kind: 'once' }]);
});

it('nobody in another chat can use the buttons', async () => {
  const bot = await aBotIn(lab);
  const message = await ask(bot, ['ada', lab], '/new');
  const elsewhere = await ask(bot, ['ada', ada], '/new');
  const forged = await forge(bot, elsewhere, dataOf(message, 'Every day'));
  expect(await bot.press('ada', forged, 'forged')).toMatchObject({ alert: true });
});
