import { afterEach, it } from 'vitest';
import { aBot, ada, ben, lab, minute, noRights, plain, stopBots, second } from './bot.ts';
import { aTask, callsSince, driftUntil, mark, methodsSince, opened, rowsOf, select, saidIn, topicNamed, unhurried } from './deliveries.ts';
afterEach(stopBots);
it('x', async () => {
  const bot = await aBot(unhurried);
  const chat = lab;
    await opened(bot, chat);
    await aTask(bot, { text: 'ping', thread: `telegram:chat:${chat}`, cron: '* * * * *' });
  
  await bot.pass(minute + 20 * second);
  await aTask(bot, { text: 'other', thread: 'telegram:chat:' + chat, cron: '2,3,4 9 * * *' });
  bot.world.setForum(chat, false);
  const at = mark(bot);
  const timer = setInterval(() => {
  console.log(new Date(bot.server.sandbox!.travel.now()).toISOString(), callsSince(bot, at).slice(-2).map((c) => c.method + ' ' + c.params['chat_id'] + ' ' + c.status+ ' ' + c.answer));
  console.log(select(bot, `select distinct status, ready_at - ${bot.server.sandbox!.travel.now()} from deliveries where status <> 'delivered'`), select(bot, `select status, ready_at from runs where status <> 'succeeded'`));
  }, 2000);
  await Promise.race([bot.pass(4 * minute), new Promise((r) => setTimeout(r, 6000))]);

  bot.world.setForum(chat, true); await Promise.race([bot.pass(12 * minute), new Promise((r) => setTimeout(r, 6000))]);
console.log(bot.world.transcript());
});
