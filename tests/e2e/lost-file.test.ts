import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { soon } from '../support/patience.ts';
import { ada, aBot, minute, stopBots, type Bot } from './bot.ts';
import { aTask, threadOf } from './deliveries.ts';

afterEach(stopBots);

const fileOf = ({ server }: Bot): string => server.dataFile ?? '';

function savedOf(bot: Bot): string {
  const name = readdirSync(dirname(fileOf(bot))).find((one) => one.startsWith(`${basename(fileOf(bot))}.saved-`));
  return join(dirname(fileOf(bot)), name ?? 'none');
}

const lostWords = 'deleted or replaced under the server';

function told(bot: Bot, words: string): string[] {
  return bot.texts(ada).filter((text) => text.includes(words));
}

function titlesIn(file: string): unknown[] {
  const copy = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return copy.prepare('select title from tasks order by title').pluck().all();
  } finally {
    copy.close();
  }
}

it.each([
  ['deleted', (file: string) => rmSync(file)],
  [
    'replaced',
    (file: string) => {
      new Database(`${file}.new`).exec('create table t (x)').close();
      renameSync(`${file}.new`, file);
    },
  ],
  ['without its log, which is deleted', (file: string) => rmSync(`${file}-wal`)],
])(
  'a database file that is %s under the server is saved and told to the owner once, and nothing more is written to it',
  async (_how, lose) => {
    const bot = await aBot();
    await bot.say('ada', ada, '/help');
    await aTask(bot, { text: 'Before', thread: threadOf(ada), cron: '0 9 * * *' });
    const ready = async () => (await fetch(`${bot.server.url}/readyz`)).status;
    await bot.drift(2 * minute);
    expect(await ready()).toBe(200);
    lose(fileOf(bot));
    await bot.drift(5 * minute);
    expect(await ready()).toBe(503);
    await soon(() => expect(told(bot, lostWords)).toEqual([expect.stringContaining(savedOf(bot))]));
    expect(titlesIn(savedOf(bot))).toEqual(['Before']);
    const saved = savedOf(bot);
    await expect(aTask(bot, { text: 'Later', thread: threadOf(ada), cron: '0 9 * * *' })).rejects.toThrow(saved);
    await bot.restart({ env: { DATABASE_URL: `file:${saved}` } });
    expect(titlesIn(saved)).toEqual(['Before']);
  },
);

it('a database file that is lost once more is saved once more, and told again', async () => {
  const bot = await aBot();
  await bot.say('ada', ada, '/help');
  await bot.drift(2 * minute);
  const [file, away] = [fileOf(bot), `${fileOf(bot)}.away`];
  let losses = 0;
  for (const text of ['Before', 'Between']) {
    await aTask(bot, { text, thread: threadOf(ada), cron: '0 9 * * *' });
    renameSync(file, away);
    losses += 1;
    await bot.drift(2 * minute);
    await soon(() => expect(told(bot, lostWords)).toHaveLength(losses));
    expect(titlesIn(savedOf(bot))).toContain(text);
    renameSync(away, file);
    await bot.drift(2 * minute);
    await soon(() => expect(told(bot, 'Over since')).toHaveLength(losses));
  }
});

it('a database file over which an older copy of it is written is known, although it is no shorter', async () => {
  const bot = await aBot();
  await bot.say('ada', ada, '/help');
  await aTask(bot, { text: 'Before', thread: threadOf(ada), cron: '0 9 * * *' });
  await bot.drift(2 * minute);
  const file = fileOf(bot);
  const copy = `${file}.copy`;
  new Database(file, { readonly: true }).prepare('vacuum into ?').run(copy);
  const bytes = Buffer.alloc(readFileSync(file).length + 4096);
  readFileSync(copy).copy(bytes);
  writeFileSync(file, bytes, { flag: 'r+' });
  await bot.drift(2 * minute);
  await soon(() => expect(told(bot, 'Another database was written over')).toHaveLength(1));
});

it('a database file that is cut short under the server is told to the owner', async () => {
  const bot = await aBot();
  await bot.say('ada', ada, '/help');
  await aTask(bot, { text: 'Before', thread: threadOf(ada), cron: '0 9 * * *' });
  await bot.drift(2 * minute);
  truncateSync(fileOf(bot), 0);
  await bot.drift(2 * minute);
  await soon(() => expect(told(bot, 'was cut short under the server')).toHaveLength(1));
});
