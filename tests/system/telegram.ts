import { openSandbox, serveSandbox } from '../../src/sandbox/sandbox.ts';
import { forumId } from '../../src/sandbox/world/first-world.ts';
import type { Call, MessageShown, TopicShown, World } from '../../src/sandbox/world/world.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { memoryLog } from '../support/fakes.ts';
import { lab } from '../support/sandbox.ts';

/** A Telegram in this process, so that whatever is done to the server, the chats stay as they are and can be asked. */
export interface Telegram {
  readonly world: World;
  /** What a server must be told to take it for Telegram. */
  readonly settings: Readonly<Record<string, string>>;
  /** Forum groups in which the bot may do everything. */
  readonly forums: readonly number[];
  /** Somebody deletes a topic and everything in it; what stood there is remembered here. */
  deleteTopic(chat: number, thread: number): void;
  seen(): Seen;
  close(): Promise<void>;
}

/** What anybody could see in the chats, and what the bot asked for. */
export interface Seen {
  readonly messages: readonly SeenMessage[];
  readonly topics: readonly SeenTopic[];
  readonly calls: readonly Call[];
}

/** `isGone`: it went with a topic that somebody deleted. */
export type SeenMessage = MessageShown & { readonly isGone: boolean };
export type SeenTopic = TopicShown & { readonly chatId: number };

export interface Pace {
  readonly global: number;
  readonly chat: number;
  readonly group: number;
}

export interface TelegramOptions {
  readonly forums?: number;
  /** What the server keeps to, and what Telegram allows. */
  readonly pace?: Pace;
  /** The address at which it is reached. */
  readonly host?: string;
}

/** So fast that nothing ever waits for it. */
const unhurried: Pace = { global: 1000, chat: 1000, group: 60_000 };
export const realPace: Pace = { global: 30, chat: 1, group: 20 };

const botToken = '777000001:the-token-of-the-bot-of-system-tests';
const pageMax = 1000;

export async function openTelegram({ forums = 6, pace = unhurried, host }: TelegramOptions = {}): Promise<Telegram> {
  const sandbox = openSandbox({
    clock: systemClock,
    stopwatch: systemStopwatch,
    timer: systemTimer,
    log: memoryLog(),
    file: ':memory:',
    token: botToken,
    limits: { globalPerSecond: pace.global, chatPerSecond: pace.chat, groupPerMinute: pace.group },
    moreForums: forums,
  });
  const { world } = sandbox;
  const calls: Call[] = [];
  const gone: SeenMessage[] = [];
  // The sandbox forgets old calls, so each is taken as it comes.
  world.watch(({ kind }) => {
    if (kind === 'call') calls.push(...world.calls(calls.at(-1)?.seq ?? 0, pageMax));
  });
  const served = await serveSandbox(sandbox, 0, host);
  const ids = Array.from({ length: forums }, (_value, index) => forumId(index + 1));
  return {
    world,
    forums: ids,
    settings: {
      TELEGRAM_BOT_TOKEN: botToken,
      TELEGRAM_API_ROOT: served.apiRoot,
      TELEGRAM_OWNERS: '1001',
      TELEGRAM_CHATS: [lab, ...ids].join(','),
      TELEGRAM_RATE_GLOBAL: String(pace.global),
      TELEGRAM_RATE_CHAT: String(pace.chat),
      TELEGRAM_RATE_GROUP: String(pace.group),
    },
    deleteTopic: (chat, thread) => {
      const stood = messagesOf(world, chat).filter(({ threadId }) => threadId === thread);
      gone.push(...stood.map((message) => ({ ...message, isGone: true })));
      world.deleteTopic(chat, thread);
    },
    seen: () => ({
      calls: [...calls],
      messages: [
        ...gone,
        ...world.chats().flatMap(({ id }) => messagesOf(world, id).map((message) => ({ ...message, isGone: false }))),
      ],
      topics: world.chats().flatMap(({ id }) => world.topics(id).map((topic) => ({ ...topic, chatId: id }))),
    }),
    close: async () => {
      await sandbox.close();
      await served.close();
    },
  };
}

function messagesOf(world: World, chat: number): MessageShown[] {
  const all: MessageShown[] = [];
  for (;;) {
    const before = all[0]?.messageId ?? Number.MAX_SAFE_INTEGER;
    const page = world.messages(chat, { before, limit: pageMax });
    if (page.length === 0) return all;
    all.unshift(...page);
  }
}

export function threadOf(chat: number = lab, topic?: number): string {
  const base = `telegram:chat:${chat}`;
  return topic === undefined ? base : `${base}:topic:${topic}`;
}
