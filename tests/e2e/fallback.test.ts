import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, stopBots } from './bot.ts';
import {
  aBotIn,
  aTask,
  driftUntil,
  methodsSince,
  mark,
  rowsOf,
  runNow,
  saidIn,
  threadOf,
  topicNamed,
} from './deliveries.ts';

afterEach(stopBots);

const places = [
  ['a forum', lab],
  ['a private chat', ada],
] as const;

const more = { policies: { fallback: 'creator', ack: { nag_every: 'PT1H' } } };

async function withFallback(chat: number) {
  const bot = await aBotIn(chat);
  const id = await aTask(bot, { text: 'ping', thread: threadOf(chat), cron: '0 0 1 1 *', more });
  const run = async () => {
    await runNow(bot, id);
    await bot.pass(minute);
  };
  const deliveries = async () => {
    const { body } = await bot.api('GET', `/v1/tasks/${id}/runs`);
    return (body['task_runs'] as { deliveries: object[] }[]).flatMap((each) => each.deliveries);
  };
  return { bot, run, deliveries, id };
}

describe.each(places)('fallback: creator where topics are switched off, in %s,', (_name, chat) => {
  it.each(['before the first result', 'after it'])('brings results to the chat, and home again: %s', async (when) => {
    const { bot, run, deliveries } = await withFallback(chat);
    if (when === 'after it') await run();
    bot.world.setForum(chat, false);
    const before = mark(bot);
    await run();
    await run();
    const line = 'Shown here: I cannot show #1 ping in its topic, because topics are off here.';
    expect(saidIn(bot, chat, null).slice(-3)).toEqual([line, 'ping', 'ping']);
    expect(methodsSince(bot, before).filter((method) => method === 'sendMessage').length).toBeLessThanOrEqual(5);
    const key = threadOf(chat);
    expect((await deliveries()).slice(0, 2)).toMatchObject(
      [1, 2].map(() => ({ status: 'delivered', fallback: true, thread_key: key, chat_id: String(chat) })),
    );
    bot.world.setForum(chat, true);
    await run();
    expect(saidIn(bot, chat, topicNamed(bot, chat, 'ping')).at(-1)).toBe('ping');
    expect((await deliveries())[0]).toMatchObject({ status: 'delivered', fallback: false });
    await bot.pass(minute);
    const lines = saidIn(bot, chat, null).filter((text) => text.startsWith(line));
    expect(lines).toEqual([`${line}\n\n— Over: results arrive in the topic again`]);
  });
});

it('takes a press on a result in the chat itself as the proof that it arrived', async () => {
  const { bot, run, id } = await withFallback(lab);
  bot.world.setBotRights(lab, { can_manage_topics: false });
  await run();
  bot.world.fault({ kind: 'answer_lost', method: 'sendMessage', count: 1 });
  await runNow(bot, id);
  const pings = () => bot.world.messages(lab, { thread: null }).filter(({ text }) => text.startsWith('ping'));
  await driftUntil(bot, () => pings().length === 2);
  bot.world.press({ as: 'ada', chat: lab, messageId: pings().at(-1)?.messageId ?? 0, button: 'Done' });
  await driftUntil(bot, () => /Done by Ada/.test(pings().at(-1)?.text ?? ''));
  await driftUntil(bot, () => rowsOf(bot, 'result').at(-1)?.status === 'delivered');
  await bot.pass(minute);
  expect(pings()).toHaveLength(2);
  expect(rowsOf(bot, 'result').at(-1)?.evidence).toContain('pressed');
});
