import { afterEach, expect, it } from 'vitest';
import { aBot, lab, minute, stopBots } from './bot.ts';

afterEach(stopBots);

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
