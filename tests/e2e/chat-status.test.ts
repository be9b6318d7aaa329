import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, day, hour, lab, minute, noRights, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot, labels, made } from './dialogue.ts';

afterEach(stopBots);

const inLab = { TELEGRAM_CHATS: `${lab},${noRights},${ben}` };

describe('/status', () => {
  it('tells everybody how the chat stands, and owners how the server does', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', lab], 'every day at 10 Stand up');
    const forMember = await ask(bot, ['ben', lab], '/status');
    expect([forMember.onlyFor, labels(forMember)]).toEqual(['ben', []]);
    expect(forMember.text).toContain('✓ Manage topics: allowed.');
    expect(forMember.text).toContain('This chat\nTasks: 1 active, 0 paused, 0 completed\nGoing on: 0 runs; waiting');
    expect(forMember.text).not.toContain('The server');
    await bot.pass(day);
    expect(await askText(bot, ['ada', ada], '/status')).toContain('Last audit: none yet');
    expect((await bot.api('POST', '/v1/audit/run')).status).toBe(200);
    const forOwner = await askText(bot, ['ada', ada], '/status');
    const lines = forOwner.slice(forOwner.indexOf('The server')).split('\n');
    expect(lines.slice(0, 8)).toEqual([
      'The server',
      'Cronogram 0.0.0, running since Wed 18 Nov 09:00',
      'Everything turns: database, scheduler, runner, deliverer, Telegram.',
      '1 task in 4 chats, 1 active',
      'Nothing is overdue.',
      '0 running, 0 waiting to be sent',
      'Nothing is blocked or in doubt.',
      expect.stringMatching(/^Last audit Thu 19 Nov \d\d:\d\d: nothing found$/),
    ]);
    expect(lines[8]).toMatch(/^Database: \d+(?:\.\d)? [KM]B$/);
  });

  it('says what is blocked', async () => {
    const bot = await aTalkingBot(inLab);
    await made(bot, ['ada', noRights], 'in 1 minute Ping');
    await bot.pass(2 * minute);
    const text = await askText(bot, ['ada', noRights], '/status');
    expect(text).toContain('✗ Manage topics: not allowed.');
    expect(text).toContain('waiting to be shown: 1');
    expect(await askText(bot, ['ada', ada], '/status')).toContain('1 blocked until somebody mends the cause, 0 whose');
  });

  it('answers a private chat of somebody who owns nothing', async () => {
    const bot = await aTalkingBot(inLab);
    expect(await askText(bot, ['ben', ben], '/status')).not.toContain('The server');
  });
});

describe('/usage', () => {
  it('counts runs, failures and messages of this chat, and what may still be made', async () => {
    const bot = await aTalkingBot({ ...inLab, QUOTA_PER_CHAT: '5', QUOTA_PER_USER: '3' });
    await made(bot, ['ada', ada], 'every day at 10 Elsewhere');
    await made(bot, ['ada', lab], 'every day at 10 Stand up');
    await made(bot, ['ada', lab], 'every day at 11 {{ nothing }}');
    await bot.pass(day + 3 * hour);
    const text = await askText(bot, ['ada', lab], '/usage');
    expect(text.split('\n').slice(2, 5)).toEqual([
      expect.stringMatching(/^Today: runs 2, of which failed 1; messages \d+$/),
      expect.stringMatching(/^7 days: runs 4, of which failed 2; messages \d+$/),
      expect.stringMatching(/^30 days: runs 4, of which failed 2; messages \d+$/),
    ]);
    expect(text).toContain('Tasks here: 2 of 5, so 3 more can be made.\nYours in all chats: 3 of 3, so 0 more.');
    const forBen = await ask(bot, ['ben', lab], '/usage');
    expect(forBen.text).toContain('Yours in all chats: 0 of 3, so 3 more.');
    expect(forBen.onlyFor).toBe('ben');
    expect(await askText(bot, ['ben', ben], '/usage')).toContain('Today: runs 0, of which failed 0; messages');
  });
});
