import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, lab, mallory, stopBots } from './bot.ts';
import { select } from './deliveries.ts';
import { aBroughtBot, ask, askText, aTalkingBot, bring, expectSilence, labels, made } from './dialogue.ts';

afterEach(stopBots);

describe('/allow', () => {
  it('lists who waits, and lets them in by a press', async () => {
    const bot = await aTalkingBot();
    expect(await askText(bot, ['ada', ada], '/allow')).toMatch(/^Nobody waits for a yes\./);
    await bot.say('ada', lab, '/help');
    const list = await ask(bot, ['ada', ada], '/allow');
    expect(list.text).toContain(`Waiting for a yes:\nThe Lab (${lab})`);
    expect(labels(list)).toEqual([['Allow The Lab']]);
    expect(await bot.press('ada', list, 'Allow The Lab')).toEqual({ text: 'Approved', alert: false });
    expect(bot.now(list).text).toMatch(/^Nobody waits for a yes\./);
    expect(await askText(bot, ['ben', lab], '/tasks')).toContain('/new');
  });

  it('takes an id, the name of somebody known, and no username', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    expect(await askText(bot, ['ada', ada], '/allow Ben')).toContain('I know nobody called Ben.');
    await bot.say('ben', lab, '/tasks');
    expect(await askText(bot, ['ada', ada], '/allow ben')).toBe(
      'Approved. Ben may use me in a private chat now, and begins there with /start.',
    );
    expect(await askText(bot, ['ben', ben], '/start')).toMatch(/^Hello Ben\./);
    expect(await askText(bot, ['ada', ada], '/allow Ben')).toBe('That was approved before.');
    expect(await askText(bot, ['ada', ada], '/allow @mallory')).toContain('I cannot look up usernames.');
    expect(await askText(bot, ['ada', ada], `/allow ${mallory}`)).toContain(`with the id ${mallory}`);
    expect(await askText(bot, ['mallory', mallory], '/start')).toMatch(/^Hello Mallory\./);
  });

  it('asks which one, where several have that name', async () => {
    const brought = await aBroughtBot({ TELEGRAM_CHATS: String(lab) });
    const from = (id: number) => ({ id, is_bot: false, first_name: 'Kim' });
    for (const id of [7001, 7002]) {
      await bring(brought, lab, {
        message: {
          message_id: id,
          date: 1_795_000_000,
          chat: { id: lab, type: 'supergroup', is_forum: true },
          from: from(id),
          text: '/tasks',
          entities: [{ type: 'bot_command', offset: 0, length: 6 }],
        },
      });
    }
    const asked = await ask(brought, ['ada', ada], '/allow kim');
    expect(asked.text).toBe('Several people are called kim. Whom do you mean?');
    expect(labels(asked)).toEqual([['Allow Kim (7001)'], ['Allow Kim (7002)']]);
    await brought.press('ada', asked, 'Allow Kim (7002)');
    expect(select(brought, `select address from chats where state = 'approved' and address like '700%'`)).toEqual([
      { address: '7002' },
    ]);
  });

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

  it('closes a group from inside', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    expect(await askText(bot, ['ada', lab], '/allow off')).toContain('Taken back: The Lab may not use me any more.');
    await expectSilence(bot, ['ben', lab], 'hello');
    expect(await askText(bot, ['ada', lab], '/allow')).toContain('This group is approved now.');
  });

  it('is for owners alone', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${ben}` });
    expect(await askText(bot, ['ben', ben], '/allow')).toBe('Only an owner of this bot may do that.');
    expect(await askText(bot, ['ben', lab], '/allow off')).toBe('Only an owner of this bot may do that.');
    expect(await askText(bot, ['ben', ben], '/help allow')).toMatch(/^I have no help on “allow”\./);
    expect(await askText(bot, ['ada', ada], '/help allow')).toContain('/allow off 123456789');
  });
});
