import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, noRights, plain, stopBots, type Bot } from './bot.ts';
import { callsSince, mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, forge, labels } from './dialogue.ts';

afterEach(stopBots);

const allowed = { TELEGRAM_CHATS: `${lab},${noRights},${plain}` };
const signs = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^[✓✗○]/.test(line))
    .map((line) => line.slice(0, line.indexOf(':')));
const calls = (bot: Bot, after: number) =>
  bot.world
    .calls(after, 1000)
    .filter(({ method }) => method !== 'getUpdates')
    .map(({ method }) => method);

describe('the checklist of a group', () => {
  it('follows by itself what is switched, in the same message', async () => {
    const bot = await aTalkingBot(allowed);
    const list = await ask(bot, ['ada', noRights], '/start');
    expect(signs(list.text)).toEqual([
      '✓ Topics',
      '✗ Manage topics',
      '○ Pin messages',
      '✓ Privacy mode',
      '✓ Approved',
      '✗ Time zone',
    ]);
    expect(labels(list)).toEqual([['Yes', 'No, change'], ['Check again']]);
    const before = mark(bot);
    bot.world.setBotStatus(noRights, 'administrator', 'ada');
    await bot.pass(minute);
    bot.world.setBotRights(noRights, { can_manage_topics: true, can_pin_messages: true });
    await bot.pass(minute);
    expect(signs(bot.now(list).text).slice(0, 3)).toEqual(['✓ Topics', '✓ Manage topics', '✓ Pin messages']);
    expect(new Set(calls(bot, before))).toEqual(new Set(['editMessageText']));
    expect(labels(bot.now(list))).toEqual([
      ['Yes', 'No, change'],
      ['Check again', 'Send a test'],
    ]);
    await bot.press('ada', bot.now(list), 'Yes');
    expect(bot.now(list).text).toContain('All set.');
    bot.world.setForum(noRights, false);
    await bot.say('ben', noRights, 'hello everybody');
    expect(signs(bot.now(list).text)[0]).toBe('✗ Topics');
    expect(bot.now(list).text).not.toContain('All set.');
    bot.world.setForum(noRights, true);
    await bot.say('ben', noRights, 'hello again');
    expect(signs(bot.now(list).text)[0]).toBe('✓ Topics');
    expect(bot.texts(noRights).filter((text) => text.includes('Set-up of this chat'))).toHaveLength(1);
  });

  it('leaves the messages alone that have its number in the supergroup that the group became', async () => {
    const bot = await aTalkingBot(allowed);
    const list = await ask(bot, ['ada', plain], '/start');
    const moved = bot.world.migrate(plain);
    const others = Array.from({ length: 12 }, (_, number) =>
      bot.world.say({ as: 'ben', chat: moved, text: `word ${number}` }),
    );
    const talk = () => bot.world.messages(moved, { limit: 100 }).filter(({ from }) => from === 'ben');
    const status = await ask(bot, ['ada', moved], '/status');
    const before = mark(bot);
    bot.world.setForum(moved, true);
    bot.world.setBotStatus(moved, 'administrator', 'ada');
    bot.world.setBotRights(moved, { can_manage_topics: true, can_delete_messages: true });
    await bot.pass(minute);
    expect(others.map(({ messageId }) => messageId)).toContain(list.messageId);
    expect(calls(bot, before)).toEqual([]);
    await ask(bot, ['ada', moved], '/start');
    expect(talk()).toHaveLength(others.length);
    expect(bot.now(status).text).toBe(status.text);
  });

  it('stays behind like the question of a task that is being made, whose next step is a message of the supergroup', async () => {
    for (const isPressed of [false, true]) {
      const bot = await aTalkingBot(allowed);
      const question = await ask(bot, ['ada', plain], '/new call mum');
      if (isPressed) await bot.press('ada', question, 'Pick…');
      const moved = bot.world.migrate(plain);
      const others = Array.from({ length: 6 }, (_, number) =>
        bot.world.say({ as: 'ben', chat: moved, text: `word ${number}` }),
      );
      expect(others.map(({ messageId }) => messageId)).toContain(question.messageId);
      bot.world.setBotStatus(moved, 'administrator', 'ada');
      await bot.pass(minute);
      const before = mark(bot);
      const preview = await ask(bot, ['ada', moved], '@cronogram_bot tomorrow 9');
      expect(preview.text).toContain('Thu 19 Nov 09:00');
      expect(calls(bot, before)).toEqual(['sendMessage']);
      await bot.press('ada', preview, 'Create');
      expect(bot.now(preview).text).toMatch(/^#1 call mum/);
    }
  });

  it('takes the zone of the person who let the group in, asks once whether it is right, and never falls back to UTC', async () => {
    const bot = await aTalkingBot();
    await bot.say('ada', ada, '/start');
    await bot.say('ada', ada, '/tz Madrid');
    await bot.say('ada', noRights, '/allow');
    const list = bot.last(noRights);
    expect(list.text).toContain('Europe/Madrid');
    expect(signs(list.text)).toContain('○ Time zone');
    expect(labels(list)[0]).toEqual(['Yes', 'No, change']);
    expect(await askText(bot, ['ada', noRights], '/new every day at 12 Lunch')).toContain('Europe/Madrid');
    await bot.press('ada', bot.now(list), 'Yes');
    expect(signs(bot.now(list).text)).toContain('✓ Time zone');
    expect(labels(await ask(bot, ['ada', noRights], '/tz'))[0]).not.toContain('Yes');
  });

  it('takes the zone of the owner who makes the first task there, before the group is approved', async () => {
    const bot = await aTalkingBot();
    await bot.say('ada', ada, '/start');
    await bot.say('ada', ada, '/tz Madrid');
    const preview = await ask(bot, ['ada', noRights], '/new every day at 12 Lunch');
    expect(preview.text).toContain('Zone: Europe/Madrid');
    expect(labels(preview)[0]).toEqual(['Yes', 'No, change']);
    await bot.press('ada', preview, 'Yes');
    expect((await ask(bot, ['ada', noRights], '/new every day at 13 Tea')).text).not.toContain('for you now?');
  });

  it('is found again after a restart, and takes the place of an older one', async () => {
    const first = await aTalkingBot(allowed);
    const old = await ask(first, ['ada', noRights], '/start');
    const list = await ask(first, ['ada', noRights], '/start');
    const bot = await first.restart();
    bot.world.setBotStatus(noRights, 'administrator', 'ada');
    await bot.pass(minute);
    bot.world.setBotRights(noRights, { can_manage_topics: true, can_pin_messages: true });
    await bot.pass(minute);
    expect(bot.now(list).text).toContain('✓ Manage topics');
    expect(() => bot.now(old)).toThrow('the message is gone');
  });

  it('comes once for whoever is led there by the link', async () => {
    const bot = await aTalkingBot();
    const hello = await ask(bot, ['ada', ada], '/start');
    expect(hello.buttons.flat().find(({ text }) => text === 'Add me to a group')).toMatchObject({
      url: 'https://t.me/cronogram_bot?startgroup=setup&admin=manage_topics+pin_messages',
    });
    bot.world.setBotStatus(lab, 'left', 'ada');
    bot.world.setBotStatus(lab, 'administrator', 'ada');
    bot.world.say({ as: 'ada', chat: lab, text: '/start@cronogram_bot setup' });
    await bot.pass(minute);
    expect(bot.texts(lab).filter((text) => text.includes('Set-up of this chat'))).toHaveLength(1);
    expect(bot.last(lab).text).toMatch(/^Hello! /);
    await bot.pass(5 * minute);
    expect(await askText(bot, ['ada', lab], '/start setup')).toContain('Set-up of this chat');
  });

  it('sends a test that lands like any result; two presses of one button send one', async () => {
    const bot = await aTalkingBot(allowed);
    await ask(bot, ['ada', lab], '/tz UTC');
    const list = await ask(bot, ['ben', lab], '/start');
    const data = list.buttons.flat().find(({ text }) => text === 'Send a test')?.data ?? '';
    expect(await bot.press('ben', list, 'Send a test')).toEqual({
      text: '#1 comes within a minute',
      alert: false,
    });
    expect(bot.now(list).text).toContain('The test is #1. It comes at 09:01 in its own topic');
    await bot.press('ben', await forge(bot, list, data), 'forged');
    await bot.pass(2 * minute);
    const topic = bot.world.topics(lab).find(({ name }) => name === 'Test');
    expect(bot.texts(lab, topic?.threadId)[1]).toMatch(/^This is a test. Results of tasks arrive like this/);
    expect(select(bot, 'select title, state, owner_id from tasks')).toEqual([
      { title: 'Test', state: 'completed', owner_id: 'telegram:user:1002' },
    ]);
    await ask(bot, ['ada', lab], '/settings create admins');
    const again = await ask(bot, ['ben', lab], '/start');
    expect((await bot.press('ben', again, 'Send a test'))?.alert).toBe(true);
  });

  it('costs three calls at most and one for the list that goes, and asks Telegram once in a while', async () => {
    const bot = await aTalkingBot(allowed);
    await bot.say('ben', lab, '/help');
    for (const text of ['/start', '/start', '/status']) {
      const before = mark(bot);
      await bot.say('ben', lab, text);
      expect([text, calls(bot, before).length <= 2]).toEqual([text, true]);
    }
    await bot.pass(15 * minute);
    const before = mark(bot);
    await bot.say('ben', lab, '/start');
    expect(calls(bot, before)).toEqual(['getChatMember', 'getChatMember', 'sendMessage', 'deleteMessage']);
    const list = bot.last(lab);
    const pressed = mark(bot);
    await bot.press('ada', list, 'Check again');
    expect(calls(bot, pressed).toSorted()).toEqual(['answerCallbackQuery', 'editMessageText', 'getChatMember']);
  });
});

describe('a look at what is blocked', () => {
  it('comes after the answer to whoever has spoken', async () => {
    const bot = await aTalkingBot(allowed);
    await bot.say('ada', noRights, '/new in 1 minute Ping');
    await bot.press('ada', bot.last(noRights), 'Create');
    await bot.pass(5 * minute);
    const before = mark(bot);
    await bot.say('ada', noRights, '/tz UTC');
    const tried = callsSince(bot, before).map(({ method }) => method);
    expect(tried).toContain('createForumTopic');
    expect(tried.indexOf('sendMessage')).toBeLessThan(tried.indexOf('createForumTopic'));
    expect(methodsSince(bot, before).filter((method) => method === 'sendMessage')).toHaveLength(1);
  });
});
