import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { playScene, withoutCard } from '../docs/scene.ts';
import { aBot, lab, stopBots } from './bot.ts';

afterEach(stopBots);

const page = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The dialogues of README.md and docs/chat.md are the words of the product, to the letter. */
it('says what the README and its manual show', async () => {
  const bot = await aBot({ DEFAULT_TIMEZONE: 'Europe/Madrid' });
  const { thread, dialogue } = await playScene(bot);
  const short = withoutCard(dialogue);
  expect(dialogue.split('\n').length - short.split('\n').length).toBeGreaterThan(10);
  expect(page('README.md')).toContain(`\`\`\`\n${short}\n\`\`\`\n`);
  await bot.say('ada', lab, '/pause until monday', { thread });
  const [, whole = ''] = bot.world.transcript(lab).split(/\n(?=\[The Lab\] Ada: \/new)/);
  expect(page('docs/chat.md')).toContain(`\`\`\`\n${whole.trimEnd()}\n\`\`\`\n`);
});

it('names the commands that a newcomer types', () => {
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) expect(page('README.md')).toContain(command);
});

it('keeps the README to one screen and a bit', () => {
  expect(page('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(130);
});
