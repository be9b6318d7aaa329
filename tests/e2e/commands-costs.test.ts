import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/adapters/sandbox/world.ts';
import { aBot, ada, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { mark, ownFloods, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** Every call on the wire since then, but for the poll that is always open. */
function callsSince(bot: Bot, after: number): string[] {
  return bot.world
    .calls(after, 100_000)
    .map(({ method }) => method)
    .filter((method) => method !== 'getUpdates');
}

interface Scene {
  readonly bot: Bot;
  readonly chat: number;
  readonly topic: number;
  readonly card: MessageShown;
}

type Act = (scene: Scene) => Promise<unknown>;

const say =
  (text: string, as = 'ada'): Act =>
  ({ bot, chat }) =>
    bot.say(as, chat, text);
const sayInside =
  (text: string): Act =>
  ({ bot, chat, topic }) =>
    bot.say('ada', chat, text, { thread: topic });
const press =
  (button: string): Act =>
  ({ bot, card }) =>
    bot.press('ada', bot.now(card), button);
const pressLast =
  (button: string): Act =>
  ({ bot, chat }) =>
    bot.press('ada', bot.last(chat, null), button);

/** One after the other, so that each finds what the one before has left. The first run of a task costs more: it makes a topic. */
const interactions: readonly (readonly [string, Act])[] = [
  ['/start', say('/start')],
  ['/help', say('/help')],
  ['/tz', say('/tz')],
  ['/tz <zone>', say('/tz UTC')],
  ['/new alone', say('/new')],
  ['a time that cannot be read', say('whenever it rains')],
  ['/cancel of the draft', say('/cancel')],
  ['/new', say('/new every day at 9 Ping')],
  ['Change time', pressLast('Change time')],
  ['the new time', say('every day at 10')],
  ['Create', pressLast('Create')],
  ['/tasks', say('/tasks')],
  ['a filter of the list', pressLast('Active')],
  ['a task of the list', pressLast('#1 Lunch')],
  ['/task', say('/task 1')],
  ['/history', say('/history 1')],
  ['/why', say('/why 1')],
  ['/next', say('/next 1')],
  ['/run', say('/run 1')],
  ['/pause', say('/pause 1')],
  ['/resume', say('/resume 1')],
  ['/skip', say('/skip 1')],
  ['/snooze', say('/snooze 1 1 hour')],
  ['/edit', say('/edit 1 every day at 11')],
  ['Undo of an edit', pressLast('Undo')],
  ['/pause in the topic', sayInside('/pause')],
  ['/resume in the topic', sayInside('/resume')],
  ['Run now', press('Run now')],
  ['Pause', press('Pause')],
  ['Resume', press('Resume')],
  ['Edit', press('Edit')],
  ['Back', press('Back')],
  ['Skip next', press('Skip next')],
  ['History', press('History')],
  ['Back', press('Back')],
  ['Delete', press('Delete')],
  ['Undo of Delete', press('Undo')],
  ['/delete', say('/delete 1')],
  ['an unknown command', say('/puase')],
];

describe.each([
  ['a group', lab],
  ['a private chat', ada],
] as const)('in %s', (_name, chat) => {
  it('no interaction costs more than three calls beside the one answer to a press', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    await bot.say('ada', chat, '/tz UTC');
    const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
    const card = await ask(bot, ['ada', chat], '/task 1');
    for (const [name, act] of interactions) {
      const before = mark(bot);
      const answer = await act({ bot, chat, topic, card });
      const calls = callsSince(bot, before);
      const others = calls.filter((method) => method !== 'answerCallbackQuery');
      expect([name, others.length > 0 && others.length <= 3], calls.join()).toEqual([name, true]);
      expect([name, calls.length - others.length]).toEqual([name, Array.isArray(answer) ? 0 : 1]);
    }
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

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
