import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, mallory, stopBots } from './bot.ts';
import {} from './deliveries.ts';
import { aBroughtBot, askText, bring } from './dialogue.ts';

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
    expect(told?.text).toBe('Approved. Mallory can now send me /start in a private chat.');
    const [hidden] = await bring(
      bot,
      ada,
      reply({ forward_origin: { type: 'hidden_user', sender_user_name: 'X', date: 1 } }),
    );
    expect(hidden?.text).toContain('Telegram hides who wrote that.');
    const said = bot.world.say({ as: 'ben', chat: lab, text: 'let me in' });
    await bot.pass(0);
    expect(await askText(bot, ['ada', lab], '/allow', { replyTo: said.messageId })).toContain(
      'Ben can now send me /start',
    );
  });
});
