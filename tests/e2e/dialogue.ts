import { expect } from 'vitest';
import { sandboxToken } from '../../src/compose/telegram-or-sandbox.ts';
import type { MediaKind, MessageShown } from '../../src/sandbox/world/world.ts';
import { freePort } from '../support/ports.ts';
import { aBot, second, type Bot } from './bot.ts';
import { unhurried } from './deliveries.ts';

/** Talking to the bot: what a scene needs beside saying and pressing. */

/** No limits of the pace, for scenes that are about words. */
export function aTalkingBot(env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  return aBot({ ...unhurried, ...env });
}

interface At {
  readonly thread?: number;
  readonly replyTo?: number;
  readonly media?: { readonly kind: MediaKind };
}

/** Says something that the bot answers with one message. */
export async function ask(bot: Bot, [as, chat]: readonly [string, number], text: string, at: At = {}) {
  const answers = (await bot.say(as, chat, text, at)).filter(({ service }) => service === null);
  const [answer] = answers;
  if (answer === undefined || answers.length > 1) throw new Error(`${answers.length} answers to: ${text}`);
  return answer;
}

/** The words of that answer. */
export async function askText(bot: Bot, where: readonly [string, number], text: string, at: At = {}): Promise<string> {
  return (await ask(bot, where, text, at)).text;
}

export function labels({ buttons }: MessageShown): string[][] {
  return buttons.map((row) => row.map(({ text }) => text));
}

/** Makes a task by a command and its preview; answers the message that is its card now. */
export async function made(bot: Bot, where: readonly [string, number], words: string, at: At = {}) {
  const preview = await ask(bot, where, `/new ${words}`, at);
  const toast = await bot.press(where[0], preview, 'Create');
  if (toast?.text?.startsWith('Created as #') !== true) throw new Error(`${JSON.stringify(toast)}: ${words}`);
  return bot.now(preview);
}

/** Makes a task and runs it once, so that it has its topic; answers the number of that. */
export async function madeWithTopic(bot: Bot, where: readonly [string, number], words: string): Promise<number> {
  const known = new Set(bot.world.topics(where[1]).map(({ threadId }) => threadId));
  const card = await made(bot, where, words);
  await bot.press(where[0], card, 'Run now');
  const topic = bot.world.topics(where[1]).find(({ threadId }) => !known.has(threadId));
  if (topic === undefined) throw new Error('the run has made no topic');
  return topic.threadId;
}

/** Puts buttons of somebody's own making under a message of the bot, as a client of one's own can pretend. */
export async function forge(bot: Bot, message: MessageShown, data: string): Promise<MessageShown> {
  const answer = await fetch(`${bot.server.url}/sandbox/bot${sandboxToken}/editMessageReplyMarkup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: message.chatId,
      message_id: message.messageId,
      reply_markup: { inline_keyboard: [[{ text: 'forged', callback_data: data }]] },
    }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return bot.now(message);
}

const webhookSecret = 'the-secret-of-the-tests';

/** A bot that is told of updates over its webhook, so that a test can bring some that nobody in the sandbox can make. */
export async function aBroughtBot(env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  const port = await freePort();
  return aTalkingBot({
    HTTP_PORT: String(port),
    TELEGRAM_WEBHOOK_URL: `http://127.0.0.1:${port}/telegram`,
    TELEGRAM_WEBHOOK_SECRET: webhookSecret,
    ...env,
  });
}

let updateId = 500_000_000;

/** Brings an update as Telegram would; answers what the bot has written in that chat meanwhile. */
export async function bring(
  bot: Bot,
  chat: number,
  update: Readonly<Record<string, unknown>>,
): Promise<MessageShown[]> {
  const shown = () => bot.world.messages(chat, { limit: 500 }).filter(({ from }) => from === 'bot');
  const numbers = ({ messageId, ephemeralId }: MessageShown) => `${messageId} ${ephemeralId ?? ''}`;
  const before = new Set(shown().map(numbers));
  const answer = await fetch(`${bot.server.url}/telegram`, {
    method: 'POST',
    headers: { 'x-telegram-bot-api-secret-token': webhookSecret },
    body: JSON.stringify({ update_id: (updateId += 1), ...update }),
  });
  expect(answer.status).toBe(200);
  await bot.pass(2 * second);
  return shown().filter((message) => !before.has(numbers(message)));
}
