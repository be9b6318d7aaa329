import { expect, test } from 'vitest';
import { pathOf, playStory, stories } from './story.ts';

/**
 * Each file of fixtures/words is a story. A line behind `> ` is done: `Ada: words`, `Ada in reply: words`, `Ada edits: words`, `Ada in #1: words`
 * (in the topic of that task), `Ada about #1: words` (in reply to its newest result), `Ada: [button]`, `Ada: {callback data}`, `5 minutes later`,
 * `Ada leaves` or `Ada is back`; the answer stands below. `npx vitest run tests/telegram/chat/stories.test.ts -u` writes the answers anew for review.
 */
test.each(stories)('%s is told to the letter', async (name) => {
  const { about, steps } = await playStory(name);
  const told = [about, ...steps.map(({ step, told: shown }) => [`> ${step}`, ...shown].join('\n'))];
  await expect(`${told.join('\n\n')}\n`).toMatchFileSnapshot(pathOf(name));
});
