import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, ben, lab, mallory, stopBots, type Bot } from './bot.ts';
import { select } from './deliveries.ts';
import { ask, askText, aTalkingBot, labels } from './dialogue.ts';

afterEach(stopBots);

/** Every table in which somebody could have left a trace. */
function traces(bot: Bot, id: number): string[] {
  const tables = ['inbox', 'chats', 'users', 'members', 'deliveries', 'drafts', 'audit', 'events', 'kv', 'tasks'];
  return tables.filter((table) => JSON.stringify(select(bot, `select * from ${table}`)).includes(String(id)));
}

describe('/start and /help', () => {
  it('greets in a private chat, says how topics stand, and asks for the zone', async () => {
    const bot = await aTalkingBot();
    const hello = await ask(bot, ['ada', ada], '/start');
    expect(hello.text).toBe(
      [
        'Hello Ada. I send messages on time: tell me when and what. Each task gets a topic: a thread for its messages.',
        'Topics: on. Each task gets its own topic here.',
        'Times here are in UTC. Is it 09:00 for you now?',
        'Now try: every weekday at 9:00 stand up',
        'Everything else: /help',
      ].join('\n\n'),
    );
    expect(labels(hello)).toEqual([['Yes', 'No, change'], ['Add me to a group']]);
    expect(await bot.press('ada', hello, 'Yes')).toEqual({ text: 'Good: UTC', alert: false });
    expect(bot.now(hello).text).toContain('Times here are in UTC, where it is 09:00 now.');
    expect(labels(bot.now(hello))).toEqual([['Add me to a group']]);
    expect(await askText(bot, ['ada', ada], '/start')).not.toContain('Is it 09:00');
  });

  it('says of a private chat without topics that they are off, whatever other people have, and looks again', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(ben) });
    const hello = await ask(bot, ['ben', ben], '/start');
    expect(hello.text).toContain('Topics: off, so results wait. This bot’s owner can switch them on');
    const preview = await ask(bot, ['ben', ben], '/new every day at 9 Stretch');
    await bot.press('ben', preview, 'Create');
    expect(bot.now(preview).text).toContain('Topics are off for this bot');
    bot.world.setForum(ben, true);
    await bot.press('ben', hello, 'Check again');
    expect(bot.now(hello).text).toContain('Topics: on.');
  });
});

describe('the claim code', () => {
  it('makes the first who brings it the owner, with one message that greets and checks the set-up', async () => {
    const bot = await aTalkingBot({ TELEGRAM_OWNERS: '' });
    const claimed = await askText(bot, ['ada', ada], `/start ${bot.claims[0]}`);
    expect(claimed).toMatch(/^Hello Ada\. .*\n\nYou own this bot now\. [\s\S]*Topics: on\./);
    expect(claimed).not.toContain(String(bot.claims[0]));
    expect(await askText(bot, ['ben', ben], `/start ${bot.claims[0]}`)).toBe(
      [
        'Hello! I am a private bot, and you are not on my list yet.',
        'Ask the person who runs this bot to send me: /allow 1002',
        'In a group where I am approved you can write to me right away.',
      ].join('\n'),
    );
    expect(traces(bot, ben)).toEqual([]);
    const again = await bot.restart();
    expect(again.claims).toEqual([]);
    expect(await askText(again, ['ada', lab], '/allow')).toContain('This group is approved now.');
  });
});

describe('strangers', () => {
  it('are told what members of an approved group are told in private, and of no group by its name', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ben', lab, '/tasks');
    const toMember = await askText(bot, ['ben', ben], '/tasks');
    const toStranger = await askText(bot, ['mallory', mallory], '/tasks');
    expect(toMember.replace(String(ben), String(mallory))).toBe(toStranger);
    expect(toMember).not.toContain('Lab');
    expect(select(bot, `select id from chats where address = '${ben}'`)).toEqual([]);
  });
});

it('offers the code on the page while nobody owns the bot, and not a moment longer', async () => {
  const bot = await aBot({ TELEGRAM_OWNERS: '' });
  const starters = async () => {
    const answer = await fetch(`${bot.server.url}/sandbox/control/state`);
    return ((await answer.json()) as { readonly starters: readonly string[] }).starters;
  };
  const [code = ''] = bot.claims;
  expect((await starters())[0]).toBe(`/start ${code}`);
  await bot.say('ada', ada, `/start ${code}`);
  expect((await starters())[0]).toBe('/start');
});
