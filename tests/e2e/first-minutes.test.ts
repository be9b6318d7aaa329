import { afterEach, expect, it } from 'vitest';
import { aBot, ada, lab, minute, stopBots } from './bot.ts';

afterEach(stopBots);

it('offers the code on the page while nobody owns the bot, and not a moment longer', async () => {
  const bot = await aBot({ TELEGRAM_OWNERS: '' });
  const starters = async () => {
    const answer = await fetch(`${bot.server.url}/sandbox/control/state`);
    return ((await answer.json()) as { readonly starters: readonly string[] }).starters;
  };
  const [code = ''] = bot.claims;
  expect((await starters())[0]).toBe(`/start ${code}`);
  await bot.say('ada', ada, `/start ${code}`);
  expect((await starters())[0]).toBe('/start');
});

it('runs a task that was typed in a group in a topic of its own, with the result and the pinned card', async () => {
  const bot = await aBot();
  const [preview] = await bot.say('ada', lab, '/new in 1 minute say hello');
  expect(preview?.text).toContain('say hello');
  if (preview === undefined) throw new Error('no preview');
  await bot.press('ada', preview, 'Create');
  expect(bot.now(preview).text).toMatch(/^#1 say hello/);
  expect(bot.world.topics(lab)).toEqual([]);
  await bot.pass(2 * minute);
  const [topic] = bot.world.topics(lab);
  expect(topic).toMatchObject({ name: 'say hello', createdBy: 'bot' });
  expect(bot.texts(lab, topic?.threadId ?? 0).join('\n')).toContain('say hello');
  expect(bot.world.transcript(lab)).toMatch(
    /made the topic[\s\S]*Cronogram: say hello[\s\S]*#1 say hello[\s\S]*pinned a message/,
  );
});
