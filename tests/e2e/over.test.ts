import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { mayBeOver } from '../../src/domain/shown.ts';
import { ada, day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aBotIn, aTask, opened, runNow, unhurried } from './deliveries.ts';
import { aTalkingBot, made } from './dialogue.ts';

afterEach(stopBots);

const env = { ...unhurried, ECHO_ACTION: '1', TELEGRAM_CHATS: String(lab) };

/** The end of the matter, in the word that begins so; null while it is as it says. */
function over(bot: Bot, begins: string, chat = lab): string | null {
  const found = bot.world.messages(chat, { limit: 500 }).filter(({ text }) => text.startsWith(begins));
  expect(found).toHaveLength(1);
  return found[0]?.text.split('\n\n— ')[1] ?? null;
}

const failing = { action: { kind: 'echo', fail_attempts: 2, error: 'final' } };

it('a failure is over when the task works again', async () => {
  const bot = await aBotIn(lab, env);
  const id = await aTask(bot, { title: 'job', cron: '0 * * * *', more: failing });
  await bot.pass(hour + minute);
  expect(over(bot, 'Failed:')).toBeNull();
  await bot.api('PATCH', `/v1/tasks/${id}`, { action: { kind: 'echo' } });
  await bot.pass(hour + 2 * minute);
  expect(over(bot, 'Failed:')).toBe('Over: it works again');
});

it('a failure, and a pause for failures, are over when their task is deleted', async () => {
  const bot = await aBotIn(lab, env);
  const more = { action: { ...failing.action, fail_attempts: 100 }, policies: { auto_pause: 3 } };
  const id = await aTask(bot, { title: 'job', cron: '0 * * * *', more });
  await bot.pass(3 * hour + minute);
  expect([over(bot, 'Failed:'), over(bot, 'Paused:')]).toEqual([null, null]);
  await bot.api('DELETE', `/v1/tasks/${id}`);
  await bot.pass(5 * minute);
  expect([over(bot, 'Failed:'), over(bot, 'Paused:')]).toEqual(['Deleted', 'Deleted']);
});

it('a pause for failures is over when somebody resumes the task', async () => {
  const bot = await aBotIn(lab, env);
  const more = { action: { ...failing.action, fail_attempts: 100 }, policies: { auto_pause: 3 } };
  await aTask(bot, { title: 'job', cron: '0 * * * *', more });
  await bot.pass(3 * hour + minute);
  await bot.say('ada', lab, '/resume 1');
  await bot.pass(5 * minute);
  expect(over(bot, 'Paused:')).toMatch(/^Resumed by Ada, /);
});

it('a question about a result is over when its task is deleted', async () => {
  const bot = await aBotIn(lab, env);
  const id = await aTask(bot, { title: 'Report', cron: '0 * * * *', more: { policies: { approval: 'required' } } });
  await bot.pass(hour + minute);
  expect(over(bot, 'For approval:')).toBeNull();
  await bot.api('DELETE', `/v1/tasks/${id}`);
  await bot.pass(5 * minute);
  expect(over(bot, 'For approval:')).toBe('Deleted');
});

it('a question about missed runs is over when somebody answers it by words', async () => {
  const bot = await aBotIn(lab, env);
  await aTask(bot, { title: 'Backup', cron: '0 10 * * *', more: { policies: { missed: 'ask' } } });
  const again = await bot.restart({ awayMs: 3 * hour });
  await again.pass(minute);
  expect(over(again, 'Missed:')).toBeNull();
  await again.say('ada', lab, '/delete 1');
  await again.pass(5 * minute);
  expect(over(again, 'Missed:')).toBe('Deleted');
});

it('"nobody has said Done" is over when somebody says it', async () => {
  const bot = await aBotIn(lab, env);
  await opened(bot, ada);
  const more = { policies: { ack: { nag_every: 'PT10M', nag_limit: 1 } } };
  await aTask(bot, { title: 'Shop', text: 'Shop', cron: '0 10 * * *', more });
  await bot.pass(2 * hour);
  await bot.say('ada', lab, '/done 1');
  await bot.pass(5 * minute);
  const told = bot.world
    .messages(lab, { limit: 100 })
    .concat(bot.world.messages(ada, { limit: 100 }))
    .filter(({ text }) => /Nobody said Done/.test(text));
  expect(told.length).toBeGreaterThan(0);
  for (const { text } of told) expect(text).toMatch(/— Done by Ada/);
});

it('a chat that is lost is told to be back', async () => {
  const bot = await aBotIn(lab, env);
  await opened(bot, ada);
  await aTask(bot, { title: 'job', cron: '0 * * * *' });
  bot.world.setBotStatus(lab, 'kicked', 'ada');
  await bot.pass(2 * minute);
  expect(over(bot, 'A chat is gone:', ada)).toBeNull();
  bot.world.setBotStatus(lab, 'administrator', 'ada');
  await bot.pass(5 * minute);
  expect(over(bot, 'A chat is gone:', ada)).toBe('Over: I am back there');
});

it('an offer of one topic for one-offs is over when the setting is chosen in words', async () => {
  const bot = await aTalkingBot(env);
  await opened(bot, lab);
  for (let number = 1; number <= 6; number += 1) {
    await made(bot, ['ada', lab], `in 1 minute errand ${number}`);
    await bot.pass(2 * minute);
  }
  const offers = () => bot.texts(lab, null).filter((text) => text.includes('/topic clean tidies'));
  expect(offers()).toHaveLength(1);
  await bot.say('ada', lab, '/settings one-offs together');
  await bot.pass(5 * minute);
  expect(offers()[0]).toMatch(/— One-offs: together in Reminders$/);
});

it('a result that waits is over when its topic can be had', async () => {
  const bot = await aBotIn(lab, env);
  const id = await aTask(bot, { title: 'job', cron: '0 0 1 1 *' });
  bot.world.setForum(lab, false);
  await runNow(bot, id);
  await bot.pass(minute);
  expect(over(bot, 'A result waits:')).toBeNull();
  bot.world.setForum(lab, true);
  await bot.pass(hour);
  expect(over(bot, 'A result waits:')).toBe('Over: nothing is waiting any more');
});

it('tasks of somebody who left are over when they are back', async () => {
  const bot = await aBotIn(lab, env);
  await bot.say('ben', lab, '/new every hour Ping');
  const preview = bot.last(lab, null);
  await bot.press('ben', preview, 'Create');
  bot.world.setMember(lab, 'ben', 'left');
  await bot.pass(3 * hour);
  expect(over(bot, 'Ben has left this chat')).toBeNull();
  bot.world.setMember(lab, 'ben', 'member');
  await bot.pass(day);
  expect(over(bot, 'Ben has left this chat')).toBe('Over: nothing is waiting any more');
});

it('every word that may be over has its end', () => {
  const source = readFileSync('src/telegram/delivery/over.ts', 'utf8');
  const ended = [...source.matchAll(/case '(\w+)':/g)].map(([, view = '']) => view);
  const named = Object.entries(mayBeOver).flatMap(([view, isOver]) => (isOver ? [view] : []));
  expect(ended.toSorted()).toEqual(named.toSorted());
});
