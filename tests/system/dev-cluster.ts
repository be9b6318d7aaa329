import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../src/domain/errors.ts';
import { createSandboxPages } from '../../src/sandbox/control/control.ts';
import { openSandbox } from '../../src/sandbox/sandbox.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { memoryLog } from '../support/fakes.ts';
import { opened } from '../support/ports.ts';
import { createDatabase, startPostgres } from '../support/postgres-server.ts';
import { onPostgres } from '../support/postgres.ts';
import { temporaryPlace } from './program.ts';

/**
 * A bot, an API and two workers from source, each started again when a file changes, on a Postgres and with chats of their own. What they
 * leave is gone at the end.
 */
const own = temporaryPlace();
const apiToken = 'the-token-of-this-cluster-and-of-nothing-else';
const botToken = '777000001:the-token-of-the-bot-of-this-cluster';
const root = '/sandbox';

const postgres = await startPostgres();
const { url: databaseUrl } = await createDatabase(postgres.url);

const world = { clock: systemClock, stopwatch: systemStopwatch, timer: systemTimer, log: memoryLog() };
const sandbox = openSandbox({
  ...world,
  file: ':memory:',
  token: botToken,
  limits: { globalPerSecond: 30, chatPerSecond: 1, groupPerMinute: 20 },
});
const noTravel = {
  now: () => Date.now(),
  nextAt: () => Promise.resolve(null),
  jump: () => Promise.reject(new AppError('too_late', 'The clock of a cluster is that of its database, and stays so.')),
};
const pages = createSandboxPages({
  ...world,
  world: sandbox.world,
  travel: noTravel,
  links: [],
  starters: () => ['/start'],
});
const door = createServer((incoming, outgoing) => {
  const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
  if (path === root || path.startsWith(`${root}/`)) pages.handle(incoming, outgoing, path.slice(root.length));
  else sandbox.botApi(incoming, outgoing, incoming.url ?? '/');
});
const place = `http://127.0.0.1:${await opened(door)}`;

const shared = {
  SECRETS_KEY: onPostgres.SECRETS_KEY,
  API_TOKEN: apiToken,
  DATABASE_URL: databaseUrl,
  TELEGRAM_BOT_TOKEN: botToken,
  TELEGRAM_API_ROOT: place,
  TELEGRAM_OWNERS: '1001',
  LOG_LEVEL: 'info',
  HTTP_PORT: '0',
};

const members = [
  { name: 'bot', ROLE: 'bot' },
  { name: 'api', ROLE: 'api', HTTP_PORT: '8787' },
  { name: 'worker-1', ROLE: 'worker' },
  { name: 'worker-2', ROLE: 'worker' },
];

const children: ChildProcess[] = [];
const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
for (const { name, ...settings } of members) {
  // Each has a folder of its own, where no settings of another server lie.
  const cwd = join(own.folder, name);
  mkdirSync(cwd);
  const child = spawn(process.execPath, [pathOf('node_modules/tsx/dist/cli.mjs'), 'watch', pathOf('src/main.ts')], {
    cwd,
    env: { ...process.env, ...shared, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => console.log(`${name.padEnd(9)}${line}`));
  children.push(child);
}

console.log(
  `Chats     ${place}${root}\nAPI       http://127.0.0.1:8787/docs with the token ${apiToken}\nDatabase  ${databaseUrl}\n`,
);

let isStopping = false;
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  const ended = children.map((child) => new Promise<void>((resolve) => child.once('exit', () => resolve())));
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(ended);
  pages.close();
  door.close();
  door.closeAllConnections();
  await sandbox.close();
  await postgres.stop();
  own.remove();
  process.exit(0);
}
process.on('SIGINT', () => void stop());
process.on('SIGTERM', () => void stop());
