import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { aBot, day, lab, stopBots } from './bot.ts';

afterEach(stopBots);

/** The dialogue at the top of the README is what the product says, to the letter. */
it('says what the README shows', async () => {
  const bot = await aBot({ DEFAULT_TIMEZONE: 'Europe/Madrid' });
  const zone = (await bot.say('ada', lab, '/tz Europe/Madrid')).at(-1);
  if (zone !== undefined && zone.buttons.flat().some(({ text }) => text === 'Yes')) await bot.press('ada', zone, 'Yes');
  const told = bot.world.transcript(lab).split('\n').length;
  const [preview] = await bot.say('ada', lab, '/new every weekday at 8:55 Standup in five minutes!');
  if (preview === undefined) throw new Error('no preview');
  await bot.press('ada', preview, 'Create');
  await bot.pass(day);
  const [topic] = bot.world.topics(lab);
  if (topic === undefined) throw new Error('no topic');
  const result = bot.world.messages(lab, { thread: topic.threadId }).find(({ text }) => text.startsWith('Standup'));
  if (result === undefined) throw new Error('no result');
  await bot.press('ada', result, 'Done');
  await bot.say('ada', lab, '/pause until monday', { thread: topic.threadId });
  const dialogue = bot.world.transcript(lab).split('\n').slice(told).join('\n');
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain(dialogue);
});
