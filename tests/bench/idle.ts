import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { openCountingDoor } from '../support/counting-door.ts';
import { opened } from '../support/ports.ts';
import { createDatabase, startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { spawnServer } from './postgres.ts';
import type { Figure } from './report.ts';

/** Work that a start leaves to be done is over by then. */
const settledMs = 75_000;
const measuredMs = 120_000;

const webhook = {
  TELEGRAM_WEBHOOK_URL: 'https://bot.example/telegram',
  TELEGRAM_WEBHOOK_SECRET: 'a-word-of-the-bench',
};
const roles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  all: { ROLE: 'all' },
  'bot, which polls': { ROLE: 'bot' },
  'bot, by webhook': { ROLE: 'bot', ...webhook },
  worker: { ROLE: 'worker' },
  api: { ROLE: 'api' },
};

/** Real processes, each alone with a real Postgres, with nothing to do; every statement counts, graphile-worker's own as well. */
export async function benchIdle(): Promise<Figure[]> {
  const postgres = await startPostgres();
  try {
    const counts = await Promise.all(Object.values(roles).map((own) => idle(postgres, own)));
    return Object.keys(roles).map((role, index) => ({
      name: `idle, statements a second: ${role}`,
      value: (counts[index] ?? Number.NaN) / (measuredMs / 1000),
      unit: '/s',
      aim: '0.2 /s',
    }));
  } finally {
    await postgres.stop();
  }
}

async function idle(postgres: PostgresServer, own: Readonly<Record<string, string>>): Promise<number> {
  const database = await createDatabase(postgres.url);
  const door = await openCountingDoor(database.url);
  const telegram = await openQuietTelegram();
  const { child, stop } = await spawnServer({
    DATABASE_URL: door.url,
    TELEGRAM_API_ROOT: telegram.root,
    TELEGRAM_OWNERS: '1001',
    ...own,
  });
  try {
    await pause(settledMs);
    door.reset();
    await pause(measuredMs);
    if (child.exitCode !== null) throw new Error(`the process has ended with ${child.exitCode}`);
    return door.texts().length;
  } finally {
    await stop();
    door.close();
    telegram.close();
  }
}

/** How long a question for updates is held. */
const heldMs = 30_000;

/** A Telegram on which nothing happens. */
async function openQuietTelegram() {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    const method = incoming.url?.split('/').at(-1)?.split('?')[0];
    const bot = { id: 4242, is_bot: true, first_name: 'Bot', username: 'the_bot' };
    const result = method === 'getMe' ? bot : method === 'getUpdates' ? [] : true;
    const answer = () => outgoing.end(JSON.stringify({ ok: true, result }));
    outgoing.setHeader('content-type', 'application/json');
    if (method === 'getUpdates') void pause(heldMs, undefined, { ref: false }).then(answer);
    else answer();
  });
  return {
    root: `http://127.0.0.1:${await opened(server)}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
