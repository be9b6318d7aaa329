import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { aBot, ada, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { ownFloods, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('in %s', (_name, chat) => {
  it('thirty commands within a second are all answered, in order, at the pace of the platform', async () => {
    const bot = await aBot({ TELEGRAM_CHATS: String(lab) });
    await made(bot, ['ada', chat], 'every day at 12 Lunch');
    await bot.pass(minute);
    const before = bot.texts(chat).length;
    for (let number = 1; number <= 30; number += 1) bot.world.say({ as: 'ada', chat, text: `/task ${100 + number}` });
    await bot.pass(second);
    await bot.pass(5 * minute);
    const answers = bot.texts(chat).slice(before);
    expect(answers.map((text) => /task #(\d+) in this chat/.exec(text)?.[1])).toEqual(
      Array.from({ length: 30 }, (_value, index) => String(101 + index)),
    );
    expect(ownFloods(bot)).toEqual([]);
  });
});

it('asks the platform about a member once in ten minutes, however much they say', async () => {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  const asked = () => bot.world.calls(0, 100_000).filter(({ method }) => method === 'getChatMember').length;
  for (let turn = 0; turn < 5; turn += 1) await ask(bot, ['ben', lab], '/tasks');
  expect(asked()).toBe(1);
  await bot.pass(11 * minute);
  await ask(bot, ['ben', lab], '/tasks');
  expect(asked()).toBe(2);
});

describe('a fault of ours', () => {
  /** Another connection hides what the handlers need. */
  function change(bot: Bot, sql: string): void {
    const database = new Database(bot.server.dataFile ?? '');
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }

  it('is told to whoever met it, with a number that stands in the log, and the next word works again', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    const preview = await ask(bot, ['ada', lab], '/new every day at 12 Lunch');
    change(bot, 'alter table drafts rename to hidden');
    const words = await askText(bot, ['ada', lab], '/new every day at 13 Tea');
    const toast = await bot.press('ada', preview, 'Create');
    change(bot, 'alter table hidden rename to drafts');
    expect(words).toMatch(/^Something went wrong on my side, and it was not your fault\. .*\(Error [0-9a-f]{8}\)$/);
    expect(toast?.text).toMatch(/\(Error [0-9a-f]{8}\)$/);
    expect(toast?.alert).toBe(true);
    const errorId = /Error (\w+)/.exec(words)?.[1];
    const failures = bot.log.lines.filter(({ event }) => event === 'update_failed');
    expect(failures.map(({ facts }) => facts['error_id'])).toContain(errorId);
    expect(await bot.press('ada', preview, 'Create')).toMatchObject({ text: 'Created as #1' });
    expect(await askText(bot, ['ada', lab], '/tasks')).toContain('#1 Lunch');
    expect(select(bot, `select status from inbox where status not in ('done', 'failed')`)).toEqual([]);
  });
});
