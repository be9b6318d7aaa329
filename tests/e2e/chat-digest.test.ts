import { afterEach, describe, expect, it } from 'vitest';
import { ada, day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels, made } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: String(lab) };

function topicCalled(bot: Bot, chat: number, name: string): number {
  return bot.world.topics(chat).find((topic) => topic.name === name)?.threadId ?? 0;
}

function digests(bot: Bot, chat: number): string[] {
  const topic = topicCalled(bot, chat, 'Digest');
  return topic === 0
    ? []
    : bot.texts(chat, topic).filter((text) => /^(?:Coming|Failed|Waiting|Put off|Ran|There)/.test(text));
}

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('/digest in %s', (_name, chat) => {
  it('is a task that tells what is coming and what became of the rest, in a topic of its own', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', chat], 'every day at 10 Stand up');
    await made(bot, ['ada', chat], 'every day at 11 Lunch');
    await made(bot, ['ada', chat], 'every day at 12 {{ nothing }}');
    await ask(bot, ['ada', chat], '/pause 2');
    await ask(bot, ['ada', chat], '/snooze 1 tomorrow at 9:30');
    const on = await ask(bot, ['ada', chat], '/digest daily 8:00');
    expect(on.text).toBe(
      '#4 Digest comes every day at 08:00, and only when there is something to tell.\nNext: Thu 19 Nov 08:00 (UTC)',
    );
    await bot.pass(23 * hour + 5 * minute);
    expect(digests(bot, chat)).toEqual([
      [
        'Coming until Fri 20 Nov 08:00 (UTC)',
        '10:00 #1 Stand up',
        '12:00 #3 {{ nothing }}',
        '',
        'Failed since Wed 18 Nov 08:00',
        '#3 {{ nothing }}: The text looks like a template and cannot be read as one: undefined variable: n…',
        '',
        'Put off',
        '09:30 #1 Stand up',
        '',
        'Paused',
        '#2 Lunch',
        '',
        'Ran',
        '#1 Stand up',
      ].join('\n'),
    ]);
    expect(await askText(bot, ['ada', chat], '/tasks')).toContain('#4 Digest');
  });
});

describe('/digest', () => {
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

  it('tells each thing once: the second digest begins where the first one ended', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', lab], 'in 1 hour Pizza');
    await ask(bot, ['ada', lab], '/digest daily 8:00');
    await bot.pass(day);
    expect(digests(bot, lab)).toEqual(['Ran\n#1 Pizza']);
    await bot.pass(3 * day);
    expect(digests(bot, lab)).toHaveLength(1);
  });

  it('is never made twice: another time moves it, off rests it, and it can be edited like any task', async () => {
    const bot = await aTalkingBot(inLab);
    const say = (text: string) => askText(bot, ['ada', lab], text);
    await say('/digest daily 8');
    expect(await say('/digest weekly friday 17:00')).toContain('#1 Digest comes every Friday at 17:00');
    expect(await say('/digest weekdays')).toContain('every weekday at 08:00');
    expect(await say('/digest every 2 weeks on monday 10:00')).toContain('#1 Digest');
    expect(await say('/digest off')).toContain('#1 Digest is paused.');
    expect(await say('/digest off')).toContain('There is no digest here at the moment.');
    expect(await say('/digest daily at 7am')).toContain('every day at 07:00');
    expect(await say('/edit 1 every day at 9')).toContain('#1 Digest');
    const view = await ask(bot, ['ada', lab], '/digest');
    expect(view.text).toContain('It comes every day at 09:00 (UTC), #1.');
    expect(labels(view)).toEqual([
      ['Daily 8:00', 'Weekdays 8:00', 'Mondays 9:00'],
      ['Now', 'Off', 'Its card'],
    ]);
    await bot.press('ada', view, 'Mondays 9:00');
    expect(bot.now(view).text).toContain('every Monday at 09:00');
    await bot.press('ada', bot.now(view), 'Off');
    expect(bot.now(view).text).toContain('#1 Digest is paused.');
    expect(select(bot, 'select title, state from tasks')).toEqual([{ title: 'Digest', state: 'paused' }]);
  });

  it('comes when asked for, and then also says that there is nothing; a sign answers in its own topic', async () => {
    const bot = await aTalkingBot(inLab);
    expect(await askText(bot, ['ada', lab], '/digest now')).toContain('There is no digest here at the moment.');
    await ask(bot, ['ada', lab], '/digest daily 8');
    await bot.say('ada', lab, '/digest now');
    expect(digests(bot, lab)).toEqual(['There is nothing to tell right now.']);
    const topic = topicCalled(bot, lab, 'Digest');
    const before = mark(bot);
    await bot.say('ada', lab, '/digest now', { thread: topic });
    expect(methodsSince(bot, before).toSorted()).toEqual(['sendMessage', 'setMessageReaction']);
    expect(digests(bot, lab)).toHaveLength(2);
    await ask(bot, ['ada', lab], '/settings reactions off');
    const told = (await bot.say('ada', lab, '/digest now', { thread: topic })).map(({ text }) => text);
    expect(told).toContain('#1 Digest is on its way to its topic.');
  });

  it('tells times in the words that the chat has chosen', async () => {
    const bot = await aTalkingBot(inLab);
    await ask(bot, ['ada', lab], '/settings dates us');
    expect(await askText(bot, ['ada', lab], '/digest daily 8')).toContain('Next: Thu, Nov 19, 8:00 AM (UTC)');
    expect(await askText(bot, ['ada', ada], '/status')).toContain('running since Wed 18 Nov');
    expect(await askText(bot, ['ada', lab], '/status')).toContain('running since Wed, Nov 18');
  });

  it('is for admins, and nonsense gets examples', async () => {
    const bot = await aTalkingBot(inLab);
    expect(await askText(bot, ['ben', lab], '/digest daily 8')).toBe('Only an admin of this chat may do that.');
    const view = await ask(bot, ['ben', lab], '/digest');
    expect(labels(view)).toEqual([]);
    for (const words of ['daily 25', 'weekly someday', 'sometimes', 'tomorrow 8am', 'daily 8 please', '🙂']) {
      expect([words, await askText(bot, ['ada', lab], `/digest ${words}`)]).toEqual([
        words,
        expect.stringContaining('/digest weekly monday 9:00'),
      ]);
    }
    expect(select(bot, 'select id from tasks')).toEqual([]);
    const on = await ask(bot, ['ada', lab], '/digest daily 8');
    expect((await bot.press('ben', on, 'Off'))?.alert).toBe(true);
    expect(await askText(bot, ['ben', lab], '/digest now')).toBe('Only Ada or an admin may do that.');
  });
});
