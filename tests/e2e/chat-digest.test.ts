import { afterEach, describe, expect, it } from 'vitest';
import { day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab) };

function topicCalled(bot: Bot, name: string): number {
  return bot.world.topics(lab).find((topic) => topic.name === name)?.threadId ?? 0;
}

function digests(bot: Bot): string[] {
  const topic = topicCalled(bot, 'Digest');
  return topic === 0
    ? []
    : bot.texts(lab, topic).filter((text) => /^(?:Coming|Not done|Failed|Waiting|Snoozed|Ran|There)/.test(text));
}

describe('/digest', () => {
  it('is a task that tells what is coming and what became of the rest, in a topic of its own', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', lab], 'every day at 10 Stand up');
    await made(bot, ['ada', lab], 'every day at 11 Lunch');
    await made(bot, ['ada', lab], 'every day at 12 {{ context.nothing }}');
    await made(bot, ['ada', lab], 'every day at 13 Tea');
    await bot.say('ada', lab, '/grants 4 revoke');
    await ask(bot, ['ada', lab], '/pause 2');
    await ask(bot, ['ada', lab], '/snooze 1 tomorrow at 9:30');
    await ask(bot, ['ada', lab], '/digest daily 8:00');
    await bot.pass(23 * hour + 5 * minute);
    expect(digests(bot)).toEqual([
      [
        'Failed since Wed 18 Nov 08:00',
        '#3 {{ context.nothing }}: The text looks like a template and cannot be read as one: unknown variable: con…',
        '',
        'Coming until Fri 20 Nov 08:00 (UTC)',
        '10:00 #1 Stand up',
        '12:00 #3 {{ context.nothing }}',
        '',
        'Without a right to run (/grants renews it)',
        '#4 Tea',
        '',
        'Snoozed',
        '09:30 #1 Stand up',
        '',
        'Paused',
        '#2 Lunch',
        '',
        'Ran',
        '#1 Stand up',
      ].join('\n'),
    ]);
  });

  it('says first what nobody has done, slot by slot, and does not count it as something that ran', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', lab], 'every day at 10 until done Open the shop');
    await ask(bot, ['ada', lab], '/digest 8:00');
    await bot.pass(23 * hour + 5 * minute);
    const told = digests(bot).at(-1)?.split('\n\n') ?? [];
    expect(told[0]).toBe('Not done\n#1 Open the shop, Wed 18 Nov 10:00');
    expect(told.some((group) => group.startsWith('Ran'))).toBe(false);
  });

  it('sends nothing when there is nothing to tell, and the run is well', async () => {
    const bot = await aTalkingBot(inLab);
    await ask(bot, ['ada', lab], '/digest daily 8:00');
    const before = mark(bot);
    await bot.pass(3 * day);
    expect(methodsSince(bot, before)).toEqual([]);
    expect(select(bot, 'select status, error from runs')).toEqual(
      Array.from({ length: 3 }, () => ({ status: 'succeeded', error: null })),
    );
    expect(await askText(bot, ['ada', lab], '/history 1')).toContain('#1 Digest');
    expect(await askText(bot, ['ada', lab], '/why 1')).toContain('ran on time; it had nothing to show.');
  });

  it('comes when asked for, and then also says that there is nothing; a sign answers in its own topic', async () => {
    const bot = await aTalkingBot(inLab);
    await ask(bot, ['ada', lab], '/digest daily 8');
    await bot.say('ada', lab, '/digest now');
    expect(digests(bot)).toEqual(['There is nothing to tell right now.']);
    const topic = topicCalled(bot, 'Digest');
    const before = mark(bot);
    await bot.say('ada', lab, '/digest now', { thread: topic });
    expect(methodsSince(bot, before).toSorted()).toEqual(['sendMessage', 'setMessageReaction']);
    expect(digests(bot)).toHaveLength(2);
    await ask(bot, ['ada', lab], '/settings reactions off');
    const told = (await bot.say('ada', lab, '/digest now', { thread: topic })).map(({ text }) => text);
    expect(told).toContain('#1 Digest is on its way to its topic.');
  });
});
