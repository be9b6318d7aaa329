import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bot } from './bot.ts';
import { select } from './deliveries.ts';

/** Values that are easy to find. Whatever holds one of them, in whatever form, has leaked. */
export type Canaries = Readonly<Record<string, string>>;

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 4) / 3) + 1, -4),
  );
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    encodeURIComponent(value),
    json,
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
  ];
}

/** Which of them stands in which place. */
export function leaksIn(canaries: Canaries, places: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    Object.entries(canaries).flatMap(([name, value]) =>
      formsOf(value).some((form) => text.includes(form)) ? [`${place}: ${name}`] : [],
    ),
  );
}

/** Every file beside the database as its bytes stand there, and every column of every table. */
export function leftOf(bot: Bot): Readonly<Record<string, string>> {
  const places: Record<string, string> = {};
  const folder = process.cwd();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile()) places[`file ${name}`] = readFileSync(path, 'latin1');
  }
  const named =
    bot.databaseUrl === null
      ? `name from sqlite_master where type = 'table'`
      : `tablename as name from pg_tables where schemaname in ('cronogram', 'public')`;
  for (const { name } of select<{ name: string }>(bot, `select ${named}`))
    for (const row of select<Record<string, unknown>>(bot, `select * from "${name}"`))
      for (const [column, value] of Object.entries(row)) {
        const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
        places[`${name}.${column}`] = `${places[`${name}.${column}`] ?? ''}\n${text}`;
      }
  return places;
}
