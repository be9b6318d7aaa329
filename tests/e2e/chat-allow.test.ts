import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, lab, mallory, stopBots } from './bot.ts';
import { select } from './deliveries.ts';
import { aBroughtBot, ask, askText, aTalkingBot, bring, made } from './dialogue.ts';

afterEach(stopBots);

describe('/allow', () => {
  it('lets in whoever wrote the message that it answers, also a forwarded one, unless that is hidden', async () => {
    const bot = await aBroughtBot({ TELEGRAM_CHATS: String(lab) });
    // A bot cannot begin a conversation.
    bot.world.say({ as: 'ada', chat: ada, text: '/help' });
    await bot.pass(0);
    const reply = (to: object) => ({
      message: {
        message_id: 900,
        date: Math.floor(bot.time.now() / 1000),
        chat: { id: ada, type: 'private', first_name: 'Ada' },
        from: { id: ada, is_bot: false, first_name: 'Ada' },
        text: '/allow',
        entities: [{ type: 'bot_command', offset: 0, length: 6 }],
        reply_to_message: { message_id: 899, from: { id: ada, is_bot: false, first_name: 'Ada' }, text: 'hi', ...to },
      },
    });
    const sender_user = { id: mallory, is_bot: false, first_name: 'Mallory' };
    const [told] = await bring(bot, ada, reply({ forward_origin: { type: 'user', sender_user, date: 1 } }));
    expect(told?.text).toBe('Approved. Mallory may use me in a private chat now, and begins there with /start.');
    const [hidden] = await bring(
      bot,
      ada,
      reply({ forward_origin: { type: 'hidden_user', sender_user_name: 'X', date: 1 } }),
    );
    expect(hidden?.text).toContain('Telegram does not tell who wrote that.');
    const said = bot.world.say({ as: 'ben', chat: lab, text: 'let me in' });
    await bot.pass(0);
    expect(await askText(bot, ['ada', lab], '/allow', { replyTo: said.messageId })).toContain('Ben may use me');
  });

  it('takes back what was given, and pauses what would go on', async () => {
    const bot = await aTalkingBot();
    await ask(bot, ['ada', ada], `/allow ${ben}`);
    await made(bot, ['ben', ben], 'every day at 9 Ping');
    expect(await askText(bot, ['ada', ada], `/allow off ${ben}`)).toBe(
      'Taken back: Ben may not use me any more. 1 task there is paused.',
    );
    expect((await bot.say('ben', ben, '/tasks')).map(({ text }) => text)).toEqual([
      expect.stringContaining('I am a private bot'),
    ]);
    expect(select(bot, 'select state from tasks')).toEqual([{ state: 'paused' }]);
    expect(await askText(bot, ['ada', ada], `/allow off ${ben}`)).toContain('nothing to take back');
    expect(await askText(bot, ['ada', ada], `/allow off ${ada}`)).toContain('the chat of an owner');
    expect(await askText(bot, ['ada', ada], '/allow off')).toContain('/allow off 123456789');
    expect(await askText(bot, ['ada', ada], '/allow off everybody')).toContain('/allow off 123456789');
    await ask(bot, ['ada', ada], `/allow ${ben}`);
    expect(await askText(bot, ['ben', ben], '/tasks')).toContain('Ping');
  });
});
