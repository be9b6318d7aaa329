import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, type Server } from '../../src/compose/server.ts';
import { readConfig } from '../../src/config/config.ts';
import type { MediaKind, MessageShown, World } from '../../src/sandbox/world/world.ts';
import { countingIds, manualTime, memoryLog, type ManualTime, type MemoryLog } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';

/** A Wednesday, nine in the morning UTC. */
export const start = Date.UTC(2026, 10, 18, 9, 0, 0);
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const lab = -1001000000001;
export const noRights = -1001000000002;
export const plain = -2000003;
/** The private chats of the people. */
export const ada = 1001;
export const ben = 1002;
export const mallory = 1003;
const apiToken = 'the-token-of-the-tests';
const databaseName = 'cronogram.db';

/** The whole server, as it starts without a token: real HTTP, real SQLite, the sandbox as the Telegram, a clock by hand. */
export interface Bot {
  readonly server: Server;
  readonly world: World;
  readonly time: ManualTime;
  readonly log: MemoryLog;
  readonly claims: readonly string[];
  /** Says words as somebody; answers what the bot wrote in that chat meanwhile. */
  say(
    as: string,
    chat: number,
    text: string,
    at?: { readonly thread?: number; readonly replyTo?: number; readonly media?: { readonly kind: MediaKind } },
  ): Promise<MessageShown[]>;
  /** Presses a button of the message, by its text; answers the toast. */
  press(
    as: string,
    message: MessageShown,
    button: string,
  ): Promise<{ readonly text: string | null; readonly alert: boolean } | null>;
  /** Time passes, and everything happens that is due on the way. */
  pass(ms: number): Promise<void>;
  /** Time passes while calls hang: nothing is waited for. */
  drift(ms: number): Promise<void>;
  /** The message as it stands now. */
  now(message: MessageShown): MessageShown;
  /** The newest message of the bot in the chat. */
  last(chat: number, thread?: number | null): MessageShown;
  texts(chat: number, thread?: number | null): string[];
  /** Stops, and starts again on the same data, with what of the environment is given anew. */
  restart(after?: { readonly awayMs?: number; readonly env?: Readonly<Record<string, string>> }): Promise<Bot>;
  api(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
}

const running = new Map<Server, ManualTime>();
const folders = new Set<string>();

/** For `afterEach`. */
export async function stopBots(): Promise<void> {
  for (const [server, time] of running) await stopped(server, time);
  running.clear();
  for (const folder of folders) await removed(folder);
  folders.clear();
}

/** A backup may still be under way, which a stop does not wait for: it writes until it has ended. */
async function removed(folder: string): Promise<void> {
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      await new Promise(setImmediate);
    }
  }
}

export async function aBot(env: Readonly<Record<string, string>> = {}, at = start): Promise<Bot> {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-e2e-'));
  folders.add(folder);
  await freshSqliteFile(join(folder, databaseName));
  return botOn({ folder, env, time: manualTime(at) });
}

interface Given {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly time: ManualTime;
}

/** How long a person takes to read and to move a finger. */
const humanMs = 2 * second;

async function botOn({ folder, env, time }: Given): Promise<Bot> {
  const read = readConfig({
    DATABASE_URL: `file:${join(folder, databaseName)}`,
    HTTP_PORT: '0',
    API_TOKEN: apiToken,
    TELEGRAM_OWNERS: '1001',
    // A clock by hand does not wait for a process of its own.
    SECOND_OPINION: '0',
    ...env,
  });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  const log = memoryLog();
  const claims: string[] = [];
  const server = await startServer({
    config: read.config,
    world: { clock: time, stopwatch: time, timer: time, ids: countingIds(), log },
    version: '0.0.0',
    zoneRules: 'test',
    onLost: (error) => {
      throw error;
    },
    printClaim: (code) => claims.push(code),
  });
  running.set(server, time);
  if (server.sandbox === null) throw new Error('the server did not start in the sandbox');
  const { world, travel } = server.sandbox;
  const pass = (ms: number) => patiently(travel.jump({ byMs: ms }), { world, time });
  const shown = (chat: number, thread?: number | null) =>
    world
      .messages(chat, { ...(thread === undefined ? {} : { thread }), limit: 500 })
      .filter(({ from }) => from === 'bot');
  const last = (chat: number, thread?: number | null) => {
    const message = shown(chat, thread)
      .filter(({ service }) => service === null)
      .at(-1);
    if (message === undefined) throw new Error('the bot has written nothing there');
    return message;
  };
  await pass(0);
  return {
    server,
    world,
    time,
    log,
    claims,
    pass,
    last,
    say: async (as, chat, text, at = {}) => {
      const before = new Set(shown(chat).map(numbersOf));
      world.say({ as, chat, text, ...at });
      await pass(humanMs);
      return shown(chat).filter((message) => !before.has(numbersOf(message)));
    },
    press: async (as, message, button) => {
      const { chatId: chat, messageId, ephemeralId } = message;
      const ephemeral = ephemeralId === null ? {} : { ephemeralId };
      const { callbackId } = world.press({ as, chat, messageId, ...ephemeral, button });
      await pass(humanMs);
      return world.callbackAnswer(callbackId);
    },
    drift: (ms) => drift(time, ms),
    now: (message) => {
      const found = world.messages(message.chatId, { limit: 500 }).find((one) => numbersOf(one) === numbersOf(message));
      if (found === undefined) throw new Error('the message is gone');
      return found;
    },
    texts: (chat, thread) => shown(chat, thread).map(({ text }) => text),
    restart: async ({ awayMs = 0, env: changed = {} } = {}) => {
      running.delete(server);
      await stopped(server, time);
      await time.advance(awayMs);
      return botOn({ folder, env: { ...env, ...changed }, time });
    },
    api: (method, path, body) => ask(server.url, { method, path, body }),
  };
}

/** A message that one person alone sees has a number of its own kind, and no other. */
function numbersOf({ messageId, ephemeralId }: MessageShown): string {
  return `${messageId} ${ephemeralId ?? ''}`;
}

/** So many turns of the loop without a sign of life mean that everything waits for the clock. */
const stillTurns = 1000;
const stillTurnsMore = 60;

/** A jump waits for whoever waits for the clock in the course of some work, so the clock goes on by itself meanwhile. */
async function patiently(jump: Promise<unknown>, { world, time }: { world: World; time: ManualTime }): Promise<void> {
  let [isOver, still] = [false, 0];
  const unwatch = world.watch(() => {
    still = 0;
  });
  const jumped = jump.finally(() => {
    isOver = true;
  });
  for (; !isOver; still += 1) {
    await time.yield();
    if (still < stillTurns) continue;
    await time.advance(250);
    still = stillTurns - stillTurnsMore;
  }
  unwatch();
  await jumped;
}

/** A stop waits a while for a call that hangs, so time must go on for it. */
async function stopped(server: Server, time: ManualTime): Promise<void> {
  let isOver = false;
  const stop = server.stop().finally(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 500 && !isOver; turn += 1) await time.yield();
  while (!isOver) await drift(time, second);
  await stop;
}

/** Small steps of time, and after each many turns of the loop, so that what hangs meets its end as on a slow day. */
async function drift(time: ManualTime, ms: number): Promise<void> {
  const step = 250;
  for (let passed = 0; passed < ms; passed += step) {
    for (let turn = 0; turn < 30; turn += 1) await time.yield();
    await time.advance(Math.min(step, ms - passed));
  }
}

async function ask(
  url: string,
  { method, path, body }: { method: string; path: string; body?: unknown },
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
