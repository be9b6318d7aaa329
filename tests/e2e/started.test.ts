import { afterEach, describe, expect, it } from 'vitest';
import { ada, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** Links in a message, as it stands now. */
function linksIn(bot: Bot, message: Parameters<Bot['now']>[0]): readonly (string | undefined)[] {
  return bot.now(message).entities.flatMap((entity) => ('url' in entity ? [entity.url] : []));
}

/** The answer to the command, beside the result. */
async function started(bot: Bot, chat: number, words: string) {
  const answer = (await bot.say('ada', chat, words)).find(({ text }) => text.startsWith('Started #1'));
  if (answer === undefined) throw new Error(`no answer to: ${words}`);
  return answer;
}

it('is answered with the way to the topic: at once, or soon after the first run has made it', async () => {
  const bot = await aTalkingBot();
  await made(bot, ['ada', lab], 'every day at 12 Lunch');
  const first = await started(bot, lab, '/run lunch');
  const [topic] = bot.world.topics(lab).filter(({ name }) => name === 'Lunch');
  const url = `https://t.me/c/${String(lab).slice(4)}/${topic?.threadId}`;
  expect(bot.now(first).text).toBe('Started #1 Lunch. The result comes in its topic.');
  await bot.pass(minute);
  expect(linksIn(bot, first)).toEqual([url]);
  const edits = () => bot.world.calls(0, 10_000).filter(({ method }) => method === 'editMessageText').length;
  const before = edits();
  const second = await started(bot, lab, '/run 1');
  expect(linksIn(bot, second)).toEqual([url]);
  expect(edits()).toBe(before);
});

it('in a private chat, where no link leads to a topic, is left as it is', async () => {
  const bot = await aTalkingBot();
  await made(bot, ['ada', ada], 'every day at 12 Lunch');
  const answer = await started(bot, ada, '/run lunch');
  expect(linksIn(bot, answer)).toEqual([]);
  expect(bot.now(answer).text).toBe('Started #1 Lunch. The result comes in its topic.');
});

describe('a run that a word in its topic begins', () => {
  const reactionsTo = (bot: Bot, thread: number, text: string) =>
    bot.world.messages(lab, { thread }).find((message) => message.text === text)?.reactions;

  it('is told by a sign at once, and at its end by another one', async () => {
    const bot = await aTalkingBot();
    const thread = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
    const seen: (readonly string[] | undefined)[] = [];
    bot.world.watch(() => seen.push(reactionsTo(bot, thread, '/run')));
    await bot.say('ada', lab, '/run', { thread });
    await bot.pass(2 * second);
    expect([...new Set(seen.flatMap((signs) => signs ?? []))]).toEqual(['👀', '👍']);
  });

  it('in a chat that forbids reactions loses nothing', async () => {
    const bot = await aTalkingBot();
    const thread = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
    bot.world.fault({ kind: 'reset_before', method: 'setMessageReaction', count: 9 });
    const said = await bot.say('ada', lab, '/run', { thread });
    expect(said.map(({ text }) => text)).toContain('Lunch');
    await bot.pass(2 * second);
    expect(reactionsTo(bot, thread, '/run')).toEqual([]);
  });
});
