import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { faultLines, readConfig } from '../../src/config/config.ts';
import { soon } from '../support/patience.ts';
import { aFolder, aStub } from '../support/place.ts';
import { onPostgres } from '../support/postgres.ts';
import { openBotApi, type Behaviour } from './bot-api.ts';
import { startProgram } from './program.ts';

/** Secrets that are easy to find. Whatever holds one of them, in whatever form, has leaked. */
const canaries = {
  bot: '123456789:CANARY-bot-token_CANARY-bot-tok',
  api: 'CANARY/api+token=0123456789',
  webhook: 'CANARY_webhook_secret_CANARY',
  heartbeat: 'CANARY-heartbeat-id',
  password: 'CANARY#db/pass word',
  given: 'CANARY-authorization-of-a-stranger',
} as const;

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ];
}

/** The places in which a canary was found, with what stands around it. */
function leaks(places: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    Object.values(canaries)
      .flatMap(formsOf)
      .flatMap((form) => {
        const at = text.indexOf(form);
        return at < 0 ? [] : [`${place}: ${text.slice(Math.max(at - 80, 0), at + form.length + 20)}`];
      }),
  );
}

/** Every text of the database, and every other file beside it as it is. */
function leftBehind(folder: string): Readonly<Record<string, string>> {
  const places: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) places[`file ${name}`] = readFileSync(path, 'latin1');
  }
  const database = new Database(join(folder, 'c.db'), { readonly: true });
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all() as { name: string }[];
  for (const { name } of tables)
    places[`table ${name}`] = JSON.stringify(database.prepare(`select * from "${name}"`).all());
  database.close();
  return places;
}

const bearer = { authorization: `Bearer ${canaries.api}`, 'content-type': 'application/json' };

/** Asks everything that may be asked, also wrongly, and keeps what is answered. */
function asker(url: string) {
  const answers: Record<string, string> = {};
  let count = 0;
  return {
    answers,
    ask: async (method: string, path: string, given: { body?: string; headers?: Record<string, string> } = {}) => {
      const answer = await fetch(url + path, {
        method,
        headers: given.headers ?? bearer,
        ...(given.body === undefined ? {} : { body: given.body }),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await answer.text();
      answers[`${(count += 1)} ${method} ${path}`] = `${JSON.stringify([...answer.headers])}\n${text}`;
      return { status: answer.status, text };
    },
  };
}

const faults: readonly Behaviour[] = [
  'refusedWithPath',
  'errorWithPath',
  'htmlWithPath',
  'notJson',
  'cut',
  'tooMany',
  'unauthorized',
];
const chats = faults.map((_fault, index) => String(1001 + index));

async function askAround({ ask }: ReturnType<typeof asker>): Promise<void> {
  const stranger = { authorization: `Bearer ${canaries.given}`, 'content-type': 'application/json' };
  const gets = [
    '/livez',
    '/healthz',
    '/readyz',
    '/version',
    '/openapi.json',
    '/docs',
    '/metrics',
    '/v1/tasks',
    '/v1/status',
    '/v1/usage',
  ];
  const more = [
    '/v1/audit',
    '/v1/runs',
    '/v1/grants',
    '/v1/downtimes',
    '/v1/events?limit=5',
    '/nowhere',
    '/v1/nowhere',
    '/v1/tasks/x',
  ];
  for (const path of [...gets, ...more]) {
    await ask('GET', path);
    await ask('GET', path, { headers: stranger });
  }
  await ask('POST', '/v1/audit/run');
  await ask('POST', '/v1/reconcile', { body: '{"fix":true}' });
  await ask('POST', '/v1/threads/cli:default/tasks', { body: '{' });
  await ask('POST', '/v1/threads/cli:default/tasks', { body: JSON.stringify({ wrong: 1 }) });
  await ask('POST', '/v1/threads/cli:default/tasks', {
    headers: { authorization: `Basic ${canaries.given}` },
    body: '{}',
  });
}

// Each waits for processes of its own most of the time, so they do it side by side.
describe.concurrent('no secret ever leaves', () => {
  it('when everything goes wrong with Telegram and it repeats the token in all that it says', async ({
    onTestFinished: atEnd,
  }) => {
    const folder = aFolder(atEnd);
    const telegram = await openBotApi();
    atEnd(() => telegram.close());
    for (const [index, fault] of faults.entries()) telegram.behave(`chat ${chats[index]}`, fault);
    telegram.behave('getMe', 'htmlWithPath', 'cut', 'ok');
    telegram.behave('getUpdates', 'notJson', 'conflict', 'unauthorized', 'ok');
    telegram.behave('setMyCommands', 'refusedWithPath');
    const program = startProgram(
      folder,
      {
        DATABASE_URL: 'file:c.db',
        API_TOKEN: canaries.api,
        TELEGRAM_BOT_TOKEN: canaries.bot,
        TELEGRAM_API_ROOT: telegram.root,
        TELEGRAM_CHATS: chats.join(','),
        TELEGRAM_OWNERS: '1001',
        LOG_LEVEL: 'trace',
      },
      atEnd,
    );
    const asked = asker(await program.url());
    for (const chat of chats) {
      const task = { instructions: 'Hello', schedule: { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } };
      const made = await asked.ask('POST', `/v1/threads/telegram:chat:${chat}/tasks`, { body: JSON.stringify(task) });
      expect(made.status, made.text).toBe(201);
      const { task_id: id } = (JSON.parse(made.text) as { task: { task_id: string } }).task;
      await asked.ask('POST', `/v1/tasks/${id}/run-now`);
    }
    await askAround(asked);
    // Until each fault was met, and the first words about the polling are in the log.
    await soon(async () => {
      const { text } = await asked.ask('GET', '/metrics');
      for (const result of ['refused', 'troubled', 'rate_limited', 'none'])
        expect(text).toMatch(
          new RegExp(`telegram_calls_total\\{method="(?:createForumTopic|sendMessage)",result="${result}"\\} [1-9]`),
        );
      expect(program.lines().filter(({ event }) => event === 'telegram_trouble').length).toBeGreaterThanOrEqual(2);
    });
    for (const { task_id: id } of (
      JSON.parse((await asked.ask('GET', '/v1/tasks')).text) as { tasks: { task_id: string }[] }
    ).tasks) {
      await asked.ask('GET', `/v1/tasks/${id}`);
      await asked.ask('GET', `/v1/tasks/${id}/runs`);
      await asked.ask('GET', `/v1/tasks/${id}/why`);
    }
    program.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    const places: Readonly<Record<string, string>> = {
      ...asked.answers,
      written: program.written(),
      chat: telegram.texts.join('\n'),
      ...leftBehind(folder),
    };
    expect(leaks(places)).toEqual([]);
    // The secrets were there to be found: the platform did say them.
    expect(program.written()).toContain('[token]');
    expect(places['table deliveries']).toContain('[token]');
  });

  it('when a webhook and a heartbeat bring secrets of their own', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const telegram = await openBotApi();
    atEnd(() => telegram.close());
    telegram.behave('setWebhook', 'htmlWithPath', 'errorWithPath', 'ok');
    const watcher = await aStub((incoming, outgoing) => outgoing.writeHead(500).end(incoming.url), atEnd);
    const program = startProgram(
      folder,
      {
        DATABASE_URL: 'file:c.db',
        API_TOKEN: canaries.api,
        TELEGRAM_BOT_TOKEN: canaries.bot,
        TELEGRAM_API_ROOT: telegram.root,
        TELEGRAM_OWNERS: '1001',
        TELEGRAM_WEBHOOK_URL: 'https://bot.example.org/telegram',
        TELEGRAM_WEBHOOK_SECRET: canaries.webhook,
        HEARTBEAT_URL: `${watcher}/${canaries.heartbeat}?key=${canaries.heartbeat}`,
        LOG_LEVEL: 'trace',
      },
      atEnd,
    );
    const asked = asker(await program.url());
    await askAround(asked);
    const secret = 'x-telegram-bot-api-secret-token';
    const update = {
      update_id: 1,
      message: {
        message_id: 1,
        date: 1,
        chat: { id: 1001, type: 'private' },
        from: { id: 1001, is_bot: false, first_name: 'Ada' },
        text: '/status',
      },
    };
    await soon(async () =>
      expect(
        (
          await asked.ask('POST', '/telegram', {
            headers: { [secret]: canaries.webhook },
            body: JSON.stringify(update),
          })
        ).status,
      ).toBe(200),
    );
    await asked.ask('POST', '/telegram', { headers: { [secret]: canaries.given }, body: JSON.stringify(update) });
    await asked.ask('POST', '/telegram', { headers: { [secret]: canaries.webhook }, body: '{' });
    await program.logs('heartbeat_failed');
    await soon(() => expect(telegram.texts.length).toBeGreaterThan(0));
    program.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(
      leaks({ ...asked.answers, written: program.written(), chat: telegram.texts.join('\n'), ...leftBehind(folder) }),
    ).toEqual([]);
  });

  it('when the database is away', async ({ onTestFinished: atEnd }) => {
    const url = `postgres://cronogram:${encodeURIComponent(canaries.password)}@127.0.0.1:1/cronogram`;
    const env = { DATABASE_URL: url, ...onPostgres, API_TOKEN: canaries.api, LOG_LEVEL: 'trace' };
    const program = startProgram(aFolder(atEnd), env, atEnd);
    expect(await program.ended).toBe(1);
    expect(program.written()).toMatch(/database/);
    expect(leaks({ written: program.written() })).toEqual([]);
  });

  it.each([
    `postgres://cronogram:${canaries.password}@127.0.0.1:5432/cronogram`,
    `mysql://cronogram:${canaries.password}@127.0.0.1/cronogram`,
  ])('when the address of the database cannot be read: %s', (url) => {
    const read = readConfig({ DATABASE_URL: url });
    const told = faultLines('faults' in read ? read.faults : []);
    expect(told).toMatch(/^DATABASE_URL .+\n$/);
    expect(leaks({ told })).toEqual([]);
  });

  it('when the configuration is refused', () => {
    const read = readConfig({
      API_TOKEN: `${canaries.api} with a space`,
      TELEGRAM_BOT_TOKEN: `${canaries.bot} with a space`,
      TELEGRAM_WEBHOOK_SECRET: `${canaries.webhook} with a space`,
      HEARTBEAT_URL: `ftp://${canaries.heartbeat}`,
      DATABASE_URL: `oracle://x:${canaries.password}@y`,
    });
    const told = faultLines('faults' in read ? read.faults : []);
    const lines = told.trim().split('\n');
    const variables = ['API_TOKEN', 'DATABASE_URL', 'HEARTBEAT_URL', 'TELEGRAM_BOT_TOKEN', 'TELEGRAM_WEBHOOK_SECRET'];
    expect(new Set(lines.map((line) => line.split(' ')[0]))).toEqual(new Set(variables));
    expect(lines).toHaveLength(variables.length);
    for (const line of lines) expect(line).toMatch(/^[A-Z_]+ .+\. Example: .+|^[A-Z_]+ .+ Example: .+/);
    expect(leaks({ told })).toEqual([]);
  });
});
