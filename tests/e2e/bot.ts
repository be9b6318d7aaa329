import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Server } from '../../src/compose/server.ts';
import type { MediaKind, MessageShown, World } from '../../src/sandbox/world/world.ts';
import { day, hour, manualTime, minute, second, start, type ManualTime, type MemoryLog } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';
import { isAnswering } from '../support/postgres-quiet.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { ada, ben, lab, mallory, noRights, plain } from '../support/sandbox.ts';
import { bearer, databaseName, drift, serverIn } from '../support/server.ts';

export { ada, ben, lab, mallory, noRights, plain };

export { day, hour, minute, second, start };

/** The whole server, as it starts without a token: real HTTP, real SQLite, the sandbox as the Telegram, a clock by hand. */
export interface Bot {
  readonly server: Server;
  /** Where its database is, if not in a file. */
  readonly databaseUrl: string | null;
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
  /** The same with another token than the one that may do everything. */
  as(token: string): Pick<Bot, 'api'>;
}

const home = process.cwd();
const running = new Map<Server, ManualTime>();
const folders = new Set<string>();

/** For `afterEach`. */
export async function stopBots(): Promise<void> {
  for (const [server, time] of running) await stopped(server, time);
  running.clear();
  process.chdir(home);
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
  return botOn({ folder, env: { ...(await ofDatabase(folder)), ...env }, time: manualTime(at) });
}

/** `npm run test:postgres` has every story told on Postgres. */
async function ofDatabase(folder: string): Promise<Readonly<Record<string, string>>> {
  if (inject('isOnPostgres')) return { ...onPostgres, DATABASE_URL: (await freshPostgres()).url, ENGINE: 'embedded' };
  await freshSqliteFile(join(folder, databaseName));
  return {};
}

/** How long a person takes to read and to move a finger. */
const humanMs = 2 * second;

async function botOn({ folder, env, time }: Parameters<typeof serverIn>[0]): Promise<Bot> {
  // Where the database is no file, what lies beside it lies in the folder of the process.
  process.chdir(folder);
  const { server, log, claims } = await serverIn({ folder, env, time });
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
    databaseUrl: env['DATABASE_URL'] ?? null,
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
    drift: (ms) => slowly(time, ms),
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
    as: (token) => ({ api: (method, path, body) => ask(server.url, { method, path, body, token }) }),
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
    if (isAnswering()) still = 0;
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
  for (let turn = 0; turn < 500 && !isOver; turn += isAnswering() ? 0 : 1) await time.yield();
  while (!isOver) await slowly(time, second);
  await stop;
}

/** Time goes on so that what hangs meets its end as on a slow day. */
const slowly = (time: ManualTime, ms: number) => drift(time, ms, { stepMs: 250, turns: 30 });

async function ask(
  url: string,
  { method, path, body, token }: { method: string; path: string; body?: unknown; token?: string },
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? bearer : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
