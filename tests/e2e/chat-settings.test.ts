import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, mallory, stopBots, type Bot } from './bot.ts';
import { mark, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, expectSilence, forge, labels, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

function stored(bot: Bot, chat: number): unknown {
  const [row] = select<{ settings: string }>(bot, `select settings from chats where address = '${chat}'`);
  return JSON.parse(row?.settings ?? '{}');
}

const inLab = { TELEGRAM_CHATS: String(lab) };

describe('/settings', () => {
  it('shows everybody how the chat is set, and only admins the buttons', async () => {
    const bot = await aTalkingBot(inLab);
    const forAdmin = await ask(bot, ['ada', lab], '/settings');
    expect(forAdmin.text.split('\n').slice(2, 8)).toEqual([
      'Who may create tasks: every member',
      'Quiet hours: off',
      'Thumbs up instead of a message: on',
      'Dates: English, such as Wed 18 Nov 09:00',
      'Time zone: UTC, where it is 09:00 now',
      'Digest: off',
    ]);
    expect(labels(forAdmin)).toEqual([
      ['✓ Members create', 'Admins create'],
      ['✓ Quiet: off', '22–7', '23–8'],
      ['✓ 👍 on', '👍 off'],
      ['Dates', 'Time zone', 'Digest'],
    ]);
    expect(forAdmin.onlyFor).toBe('ada');
    const forMember = await ask(bot, ['ben', lab], '/settings');
    expect([labels(forMember), forMember.onlyFor]).toEqual([[], 'ben']);
    expect(forMember.text).toContain('Only an admin of this chat may change that (Ada).');
    expect(forMember.text).toContain('For a task of your own: /edit #3 quiet 22:00-07:00');
  });

  it('is one message that changes in place, and a second press changes nothing', async () => {
    const bot = await aTalkingBot(inLab);
    const message = await ask(bot, ['ada', lab], '/settings');
    for (const label of ['Admins create', '22–7', 'Without sound', '👍 off']) {
      const before = mark(bot);
      expect(await bot.press('ada', bot.now(message), label)).toEqual({ text: 'Saved', alert: false });
      const calls = bot.world.calls(before, 100).filter(({ method }) => method !== 'getUpdates');
      expect([label, calls.length]).toEqual([label, 2]);
    }
    expect(stored(bot, lab)).toEqual({
      create: 'admins',
      quiet: { from: '22:00', to: '07:00', mode: 'silent' },
      reactions: false,
    });
    expect(labels(bot.now(message)).slice(0, 4)).toEqual([
      ['Members create', '✓ Admins create'],
      ['Quiet: off', '✓ 22–7', '23–8'],
      ['Hold results', '✓ Without sound'],
      ['👍 on', '✓ 👍 off'],
    ]);
    await bot.press('ada', bot.now(message), '✓ Admins create');
    expect(stored(bot, lab)).toMatchObject({ create: 'admins' });
    await bot.press('ada', bot.now(message), 'Dates');
    await bot.press('ada', bot.now(message), 'Deutsch');
    expect(bot.now(message).text).toContain('Dates: Deutsch, such as Mi., 18. Nov. 09:00');
    await bot.press('ada', bot.now(message), 'Quiet: off');
    expect(stored(bot, lab)).toMatchObject({ create: 'admins', quiet: null, dates: 'de' });
  });

  it('is seen by everybody where the platform shows nothing to one person alone, and changes in place all the same', async () => {
    const bot = await aTalkingBot(inLab);
    bot.world.setFeatures({ isEphemeralOn: false });
    const message = await ask(bot, ['ada', lab], '/settings');
    expect(message.onlyFor).toBeNull();
    await bot.press('ada', message, '23–8');
    expect(bot.now(message).text).toContain('Quiet hours: 23:00 to 08:00 (UTC)');
  });

  it('takes words, says how all stands after them, and has examples for what it cannot read', async () => {
    const bot = await aTalkingBot(inLab);
    const say = (text: string) => askText(bot, ['ada', lab], text);
    expect(await say('/settings create admins')).toContain('Who may create tasks: admins only');
    expect(await say('/settings quiet 22:30-6:45 silent')).toContain(
      'Quiet hours: 22:30 to 06:45 (UTC), results come without a sound',
    );
    expect(await say('/settings quiet from 10pm to 7am')).toContain('Quiet hours: 22:00 to 07:00 (UTC), results come');
    expect(await say('/settings quiet hold')).toContain('22:00 to 07:00 (UTC), results wait until they end');
    expect(await say('/settings QUIET off')).toContain('Quiet hours: off');
    expect(await say('/settings reactions off')).toContain('Thumbs up instead of a message: off');
    expect(await say('/settings dates français')).toContain('Dates: Français');
    expect(await say('/settings zone Madrid')).toContain('Europe/Madrid');
    expect(await say('/settings digest daily 7')).toContain('comes every day at 07:00');
    expect(await say('/settings')).toContain('Digest: every day at 07:00 (Europe/Madrid), #1');
    for (const words of ['quiet 22-22', 'quiet 25-7', 'quiet 22', 'quiet soon', 'quiet silent', 'quiet 13pm-7']) {
      expect([words, await say(`/settings ${words}`)]).toEqual([
        words,
        expect.stringContaining('/settings quiet 22:30-06:45'),
      ]);
    }
    for (const words of [
      'create',
      'create nobody',
      'reactions maybe',
      'colour blue',
      'dates',
      '🙂',
      'x'.repeat(3000),
    ]) {
      expect([words, await say(`/settings ${words}`)]).toEqual([words, expect.stringContaining('/settings ')]);
    }
    expect(stored(bot, lab)).toMatchObject({ create: 'admins', quiet: null, reactions: false, dates: 'fr' });
  });

  it('keeps what it does not know, and is not changed by members, strangers or made-up buttons', async () => {
    const bot = await aTalkingBot(inLab);
    const message = await ask(bot, ['ada', lab], '/settings create admins');
    const refused = await ask(bot, ['ben', lab], '/settings quiet off');
    expect([refused.text, refused.onlyFor]).toEqual([
      'Only an admin of this chat may change that (Ada).\nFor a task of your own: /edit #3 quiet 22:00-07:00',
      'ben',
    ]);
    expect(await bot.press('ben', message, 'Members create')).toEqual({
      text: 'Only an admin of this chat may do that (Ada).',
      alert: true,
    });
    for (const data of ['v1:set', 'v1:set:create', 'v1:set:create:owner', 'v1:set:quiet:99', 'v1:set:__proto__:x']) {
      const forged = await forge(bot, message, data);
      expect([data, (await bot.press('ada', forged, 'forged'))?.alert]).toEqual([data, true]);
    }
    expect(stored(bot, lab)).toEqual({ create: 'admins' });
    expect((await bot.say('mallory', mallory, '/settings')).map(({ text }) => text)).toEqual([
      expect.stringContaining('private bot'),
    ]);
    await expectSilence(bot, ['mallory', mallory], '/settings create admins');
  });

  it('tells whoever may not whom to ask, and nobody else in the group reads it', async () => {
    const bot = await aTalkingBot(inLab);
    await ask(bot, ['ada', lab], '/tz UTC');
    for (const words of ['/settings dates de', '/tz Madrid', '/digest daily 8', '/purge', '/settings digest off']) {
      const refused = await ask(bot, ['ben', lab], words);
      expect([words, refused.text, refused.onlyFor]).toEqual([
        words,
        expect.stringMatching(/^Only an admin .*\(Ada\)\./),
        'ben',
      ]);
    }
    expect(await askText(bot, ['ben', lab], '/tz Madrid')).toContain('/edit #3 zone Europe/Madrid');
    await ask(bot, ['ada', lab], '/settings thumbs off');
    expect(stored(bot, lab)).toEqual({ reactions: false });
  });

  it('holds who may create, at once', async () => {
    const bot = await aTalkingBot(inLab);
    await ask(bot, ['ada', lab], '/settings create admins');
    expect(await askText(bot, ['ben', lab], '/new every day at 9 Ping')).toBe(
      'Only an admin of this chat may do that (Ada).',
    );
    await ask(bot, ['ada', lab], '/settings create members');
    expect(await askText(bot, ['ben', lab], '/new every day at 9 Ping')).toContain('Every day at 09:00');
  });

  it('works in a private chat, where nobody else could create, and inside a topic', async () => {
    const bot = await aTalkingBot(inLab);
    const message = await ask(bot, ['ada', ada], '/settings');
    expect(labels(message)[0]).toEqual(['✓ Quiet: off', '22–7', '23–8']);
    expect(message.text).not.toContain('Who may create');
    await bot.press('ada', message, '23–8');
    expect(bot.now(message).text).toContain('Quiet hours: 23:00 to 08:00 (UTC), results wait until they end');
    expect(await askText(bot, ['ada', ada], '/settings create admins')).toContain('nobody but you');
    const topic = await madeWithTopic(bot, ['ada', lab], 'every day at 10 Stand up');
    const inside = await ask(bot, ['ada', lab], '/settings quiet 22-7', { thread: topic });
    expect([inside.threadId, inside.text]).toEqual([topic, expect.stringContaining('22:00 to 07:00')]);
  });

  it('opens zone and digest from its buttons, and leads back', async () => {
    const bot = await aTalkingBot(inLab);
    const message = await ask(bot, ['ada', ada], '/settings');
    await bot.press('ada', message, 'Digest');
    expect(bot.now(message).text).toContain('A digest tells in one message');
    await bot.press('ada', bot.now(message), 'Back');
    expect(bot.now(message).text).toContain('Settings of this chat');
    await bot.press('ada', bot.now(message), 'Time zone');
    expect(bot.last(ada).text).toContain('Which time zone is right for this chat?');
  });
});
