import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, it } from 'vitest';
import { ada, aBot, minute, stopBots, type Bot } from './bot.ts';
import { aTask, threadOf } from './deliveries.ts';

afterEach(stopBots);

const fileOf = ({ server }: Bot): string => server.dataFile ?? '';

function savedOf(bot: Bot): string {
  const name = readdirSync(dirname(fileOf(bot))).find((one) => one.startsWith(`${basename(fileOf(bot))}.saved-`));
  return join(dirname(fileOf(bot)), name ?? 'none');
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
])(
  'a database file that is %s under the server is saved, told to the owner once, and saved again at the stop',
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
    const told = bot.texts(ada).filter((text) => text.includes('deleted or replaced under the server'));
    expect(told).toEqual([expect.stringContaining(savedOf(bot))]);
    expect(titlesIn(savedOf(bot))).toEqual(['Before']);
    await aTask(bot, { text: 'Later', thread: threadOf(ada), cron: '0 9 * * *' });
    const saved = savedOf(bot);
    await bot.restart({ env: { DATABASE_URL: `file:${saved}` } });
    expect(titlesIn(saved)).toEqual(['Before', 'Later']);
  },
);
