import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Call } from '../../src/sandbox/world/world.ts';
import { lab, minute, type Bot, aBot } from './bot.ts';

/** Calls on the wire and the rows behind them, which tests of the delivery look at beside what people see. */

/** No limits of the pace, for scenes that are about something else. */
export const unhurried = {
  TELEGRAM_RATE_GLOBAL: '1000',
  TELEGRAM_RATE_CHAT: '1000',
  TELEGRAM_RATE_GROUP: '1000',
} as const;

const wordless = new Set(['getUpdates', 'getMe', 'setMyCommands', 'deleteWebhook', 'getChatMember', 'getChat']);

/** Where the record of the calls stands now, for `callsSince`. */
export function mark(bot: Bot): number {
  return bot.world.calls(0, 100_000).at(-1)?.seq ?? 0;
}

/** The calls that did, or tried, something in a chat. */
export function callsSince(bot: Bot, after = 0): readonly Call[] {
  return bot.world.calls(after, 100_000).filter(({ method }) => !wordless.has(method));
}

export function methodsSince(bot: Bot, after = 0): readonly string[] {
  return callsSince(bot, after).map(({ method }) => method);
}

/** Answers of Telegram that the bot has brought about by itself: none must be 429. */
export function ownFloods(bot: Bot): readonly Call[] {
  return bot.world.calls(0, 100_000).filter(({ status, fault }) => status === 429 && fault === null);
}

export interface DeliveryRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly content: string;
  readonly evidence: string | null;
  readonly error: string | null;
  readonly cause: string | null;
  readonly sends: number;
  readonly message_id: number | null;
  readonly message_thread_id: number | null;
  readonly delivered_at: number | null;
}

/** The outbox as it stands in the database. */
export function rowsOf(bot: Bot, kind?: string): readonly DeliveryRow[] {
  const found = select<DeliveryRow>(bot, 'select * from deliveries order by id');
  return kind === undefined ? found : found.filter((row) => row.kind === kind);
}

export function select<T>(bot: Bot, sql: string): T[] {
  if (bot.databaseUrl !== null) return askedApart(bot.databaseUrl, sql) as T[];
  return inFile(bot, (database) => database.prepare(sql).all() as T[]);
}

/** As nobody but a test changes rows behind the back of the server. */
export function change(bot: Bot, sql: string): void {
  if (bot.databaseUrl !== null) askedApart(bot.databaseUrl, sql);
  else inFile(bot, (database) => database.exec(sql));
}

function inFile<T>({ server }: Bot, ask: (database: Database.Database) => T): T {
  const database = new Database(server.dataFile ?? '');
  try {
    return ask(database);
  } finally {
    database.close();
  }
}

/** Proofs ask in the middle of a sentence, where nothing is waited for; so another process asks Postgres for them. */
function askedApart(url: string, sql: string): unknown[] {
  const program = `
    import pg from 'pg';
    pg.types.setTypeParser(20, Number);
    const client = new pg.Client({ connectionString: process.argv[1], options: '-c search_path=cronogram,public' });
    await client.connect();
    console.log(JSON.stringify((await client.query(process.argv[2])).rows));
    await client.end();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program, url, sql], {
    cwd: root,
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Asked {
  readonly title?: string;
  readonly text?: string;
  readonly thread?: string;
  /** Cron; every minute without it. */
  readonly cron?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

export function threadOf(chat: number): string {
  return `telegram:chat:${chat}`;
}

/** Makes a task by the API; answers its id. */
export async function aTask(bot: Bot, { title, text = 'ping', thread = threadOf(lab), cron, more }: Asked = {}) {
  const answer = await bot.api('POST', `/v1/threads/${encodeURIComponent(thread)}/tasks`, {
    title: title ?? text.slice(0, 60),
    instructions: text,
    schedule: { kind: 'cron', cron: cron ?? '* * * * *', timezone: 'UTC' },
    ...more,
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return String((answer.body['task'] as { task_id: unknown }).task_id);
}

/** Has an approved chat: somebody whom the bot knows has spoken there. */
export async function opened(bot: Bot, chat: number, as = 'ada'): Promise<void> {
  await bot.say(as, chat, chat > 0 ? '/start' : '/allow');
}

export async function aBotIn(chat: number, ...given: Parameters<typeof aBot>): Promise<Bot> {
  const bot = await aBot(...given);
  await opened(bot, chat);
  return bot;
}

export async function runNow(bot: Bot, taskId: string): Promise<void> {
  const answer = await bot.api('POST', `/v1/tasks/${taskId}/run-now`);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/** Lets time pass in small steps until something is so; for scenes in which a call hangs. */
export async function driftUntil(bot: Bot, isSo: () => boolean, mostMs = 3 * minute): Promise<void> {
  for (let passed = 0; passed < mostMs && !isSo(); passed += 500) await bot.drift(500);
  if (!isSo()) throw new Error(`it is not so after ${mostMs / 1000} s`);
}

export function isCard(text: string): boolean {
  return /^#\d+ .*(?:\n| · )(?:🟢|🔴|⏸|🏁|🗑)/u.test(text);
}

/** Texts of the bot in a topic, without service messages and without the card. */
export function saidIn(bot: Bot, chat: number, thread: number | null): string[] {
  return bot.world
    .messages(chat, { thread, limit: 500 })
    .filter(({ from, service }) => from === 'bot' && service === null)
    .map(({ text }) => text)
    .filter((text) => !isCard(text));
}

/** The living topic with that name. */
export function topicNamed(bot: Bot, chat: number, name: string): number {
  const found = bot.world.topics(chat).filter((topic) => topic.name === name && !topic.isDeleted);
  const [topic] = found;
  if (topic === undefined || found.length > 1) throw new Error(`${found.length} topics are named ${name}`);
  return topic.threadId;
}
