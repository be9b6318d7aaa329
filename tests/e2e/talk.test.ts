import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { day, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince } from './deliveries.ts';
import { aTalkingBot, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

describe('in a group, in the topic of a task, without a reply and without our name', () => {
  let bot: Bot;
  let thread = 0;

  beforeEach(async () => {
    bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', lab, '/tz UTC');
    thread = await madeWithTopic(bot, ['ada', lab], 'every day at 10 Water the plants');
  });

  const answers = async (words: string, as = 'ada') => {
    const said = await bot.say(as, lab, words, { thread });
    return said.filter(({ service }) => service === null);
  };

  it.each([
    ['done', null],
    ['tomorrow 10', /^Snoozed: .* Thu 19 Nov 10:00/],
    ['snooze 1h', /^Snoozed: /],
    ['in 2 hours', /^Snoozed: /],
    ['skip', /^Skipped: /],
    ['pause', /^Paused #1 /],
    ['resume', /^#1 Water the plants is not paused\.\nNext: /],
    ['not done yet', /#1 Water the plants/],
    ['why?', /10:00|09:00/],
    ['next', /Thu 19 Nov|Wed 18 Nov/],
    ['delete', /^Delete #1/],
    ['every day at 8', /edit every day at 8/],
  ])('"%s" means the task', async (words, told) => {
    const [answer, more] = await answers(words);
    if (told === null) expect(answer?.text ?? '').not.toContain('I read a few words');
    else expect(answer?.text).toMatch(told);
    expect(more).toBeUndefined();
  });

  it('"done" counts, also for a reminder that nobody is asked about', async () => {
    await bot.say('ben', lab, 'done', { thread });
    expect(bot.texts(lab, thread).join('\n')).toMatch(/Water the plants\n\n— Done by Ben/);
  });

  it.each(['hello', 'tomorrow?', 'change the filter please', 'who does it today?', 'see you tomorrow at 9'])(
    '"%s" is talk, and is told once what can be said, without a sound',
    async (words) => {
      const [answer, more] = await answers(words, 'ben');
      expect(answer?.text).toMatch(/^In this topic I read a few words, and they mean #1 Water the plants:\ndone, /);
      expect([answer?.isSilent, more]).toEqual([true, undefined]);
      const before = mark(bot);
      await bot.say('ada', lab, 'and hello to you', { thread });
      expect(methodsSince(bot, before)).toEqual([]);
    },
  );

  it('talk is answered again a day later, and never outside of the topics of tasks', async () => {
    expect(await answers('hello')).toHaveLength(1);
    await bot.pass(day + minute);
    expect(await answers('hello')).toHaveLength(1);
    expect(await bot.say('ada', lab, 'hello')).toEqual([]);
  });

  it('words that answer another person are between those two', async () => {
    const [, first] = bot.world.messages(lab, { thread, limit: 10 });
    expect(first).toBeDefined();
    await answers('hello');
    const to = bot.world.messages(lab, { thread, limit: 10 }).findLast(({ from }) => from === 'ada')?.messageId;
    const said = await bot.say('ben', lab, 'tomorrow 10', { thread, replyTo: to ?? 0 });
    expect(said).toEqual([]);
  });

  it('what is done does not come again, though it had been put off', async () => {
    await answers('in 10 minutes');
    await answers('done');
    const before = bot.texts(lab, thread).length;
    await bot.pass(20 * minute);
    expect(bot.texts(lab, thread)).toHaveLength(before);
    expect((await bot.say('ada', lab, '/why 1'))[0]?.text).toContain('because what it asks for was done before');
  });
});
