import { momentsIn } from '../../src/app/why/moments.ts';
import { resolveShifted } from '../../src/domain/schedule/time/zone.ts';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { aBot, type Bot } from './bot.ts';

/** A chat over weeks: what is said and pressed at which hour of the wall clock, and what stands there in the end. */
export interface Story {
  readonly bot: Bot;
  /** The chat in which most of it happens. */
  readonly chat: number;
  readonly zone: string;
  /** Lines that were told so far, with the hours beside them. */
  readonly told: string[];
  /** How much of the transcript that is. */
  readonly seen: { lines: number };
}

export async function aStory(chat: number, zone: string, begins: string): Promise<Story> {
  const bot = await aBot({ DEFAULT_TIMEZONE: zone }, instantOf(zone, begins));
  return { bot, chat, zone, told: [], seen: { lines: 0 } };
}

/** `2026-10-12 08:00` on the clocks of the zone. */
function instantOf(zone: string, wall: string): number {
  return resolveShifted(zone, Date.parse(`${wall.replace(' ', 'T')}:00Z`));
}

function nowIn({ bot }: Story): number {
  if (bot.server.sandbox === null) throw new Error('there is no sandbox');
  return bot.server.sandbox.travel.now();
}

/** Time passes until the clocks show it; whatever is due on the way happens. */
export async function until(story: Story, wall: string): Promise<void> {
  const at = instantOf(story.zone, wall);
  if (at < nowIn(story)) throw new Error(`${wall} is over`);
  await story.bot.pass(at - nowIn(story));
  heading(story);
}

/** The server is away until the clocks show it; ten minutes later everything is told. */
export async function awayUntil(story: Story, wall: string): Promise<Story> {
  const awayMs = instantOf(story.zone, wall) - nowIn(story);
  const later = { ...story, bot: await story.bot.restart({ awayMs }) };
  // Missed runs are told a little later, and bit by bit.
  await later.bot.pass(5 * 60_000);
  await later.bot.drift(20_000);
  await later.bot.pass(instantOf(story.zone, wall) + 10 * 60_000 - nowIn(later));
  heading(later, ' (the server was away until now)');
  return later;
}

/** Adds the lines that were said until now, and the hour. */
function heading(story: Story, what = ''): void {
  const { told, zone } = story;
  told.push(...newLines(story));
  told.push('', `== ${momentsIn(zone, nowIn(story)).full(nowIn(story))}${what} ==`, '');
}

function newLines({ bot, seen }: Story): string[] {
  const lines = bot.world.transcript().split('\n').slice(seen.lines);
  seen.lines += lines.length;
  return lines.map((line) => line.trimEnd());
}

/** The whole story as it is kept. */
export function storyText(story: Story): string {
  return `${[...story.told, ...newLines(story)].join('\n').trim()}\n`;
}

interface Where {
  readonly chat?: number;
  /** The name of a topic, or a word of it. */
  readonly topic?: string;
  /** The beginning of the message of the bot that is answered. */
  readonly replyTo?: string;
}

export async function say(story: Story, as: string, text: string, where: Where = {}): Promise<void> {
  const chat = where.chat ?? story.chat;
  const reply = where.replyTo === undefined ? {} : { replyTo: found(story, chat, where.replyTo).messageId };
  const thread = where.topic === undefined ? {} : { thread: topicOf(story, chat, where.topic) };
  await story.bot.say(as, chat, text, { ...thread, ...reply });
}

function topicOf({ bot }: Story, chat: number, name: string): number {
  const topic = bot.world.topics(chat).findLast((each) => each.name.includes(name) && !each.isDeleted);
  if (topic === undefined) throw new Error(`there is no topic ${name}`);
  return topic.threadId;
}

/** The newest message of the bot that begins so. */
function found({ bot }: Story, chat: number, begins: string): MessageShown {
  const message = bot.world
    .messages(chat, { limit: 500 })
    .findLast(({ from, text }) => from === 'bot' && text.startsWith(begins));
  if (message === undefined) throw new Error(`the bot has said nothing that begins with: ${begins}`);
  return message;
}

interface Under {
  readonly chat?: number;
  /** The beginning of the message that carries the button; the newest one with such a button, without it. */
  readonly under?: string;
}

export async function press(story: Story, as: string, button: string, { under = '', chat }: Under = {}): Promise<void> {
  const { bot } = story;
  const message = bot.world
    .messages(chat ?? story.chat, { limit: 500, as })
    .findLast(
      ({ from, text, buttons }) =>
        from === 'bot' && text.startsWith(under) && buttons.flat().some((each) => each.text === button),
    );
  if (message === undefined) throw new Error(`there is no button ${button} ${under}`);
  const toast = await bot.press(as, message, button);
  if (toast === null) throw new Error(`the press of ${button} was not answered`);
}
