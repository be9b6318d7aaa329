import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { closedLoop, openClient, openLoop, type Shot } from './load.ts';
import { percentile, spread, type Figure } from './report.ts';
import { end, start, type Child } from './served.ts';
import { fill, openBench } from './world.ts';

const tasks = 100_000;
const chats = 200;
/** Chats whose tasks are delivered nowhere; those of the others go to a chat that answers at once. */
const silentChats = 100;
const perSecond = 500;
const seconds = 5;
const connections = 64;
/** As many as keep one process busy. */
const closedConnections = 32;

/** Every thousandth task is about the rare word, and bears the rare tag. */
const rare = { every: 1000, word: 'orchid', tag: 'greenhouse' };
const common = { word: 'room', tag: 'plants' };

interface Case {
  readonly name: string;
  readonly shot: (index: number) => Shot;
  /** Requests per second, where it is not the rate of all. */
  readonly perSecond?: number;
  readonly startsRuns?: true;
  readonly aim?: string;
}

/** Requests over real HTTP to a real process with a hundred thousand tasks, beside a bare server that answers the same bytes. */
export async function benchApi(): Promise<Figure[]> {
  const prepared = await prepare();
  const bare = bareDatabase(prepared.file);
  const product = await start(['product', prepared.file], join(prepared.folder, 'server.log'));
  const echo = await start(['bare'], null);
  const figures: Figure[] = [];
  try {
    for (const one of casesOf(prepared)) figures.push(...(await measure(one, prepared, { product, echo })));
  } finally {
    for (const { child } of [product, echo]) await end(child);
    await prepared.close();
  }
  return [...figures, ...bare];
}

interface Prepared {
  readonly folder: string;
  readonly file: string;
  /** Of tasks whose results go nowhere, and of tasks whose results are sent. */
  readonly silent: readonly string[];
  readonly sent: readonly string[];
  readonly deep: string;
  close(): Promise<void>;
}

async function prepare(): Promise<Prepared> {
  const bench = await openBench();
  const { database, world } = bench;
  const schedule = () => ({ kind: 'interval', interval: 'P30D', timezone: 'UTC' }) as const;
  const given = { count: tasks / 2, schedule, nextAt: () => null, now: world.clock.now() };
  fill(bench, { ...given, chats: silentChats, provider: 'cli' });
  fill(bench, { ...given, chats: chats - silentChats, provider: 'telegram' });
  database.exec(`
    insert into chat_aliases (provider, address, chat_id, created_at) select provider, address, id, 0 from chats;
    update tasks set tags = '["${common.tag}"]', subject = 'subject ' || (number % 50), subject_key = 'subject ' || (number % 50);
    update tasks set tags = '["${common.tag}","${rare.tag}"]', title = title || ' ${rare.word}' where number % ${rare.every} = 7;
    insert into task_tags (task_id, tag) select t.id, one.value from tasks t, json_each(t.tags) one;
    pragma wal_checkpoint(truncate);`);
  const ids = (provider: string) =>
    database
      .prepare(
        `select t.id from tasks t join chats c on c.id = t.chat_id where c.provider = ? order by t.number limit 20000`,
      )
      .pluck()
      .all(provider) as string[];
  const middle = database
    .prepare('select id from tasks order by id limit 1 offset ?')
    .pluck()
    .get(tasks / 2);
  return {
    folder: bench.folder,
    file: bench.file,
    silent: ids('cli'),
    sent: ids('telegram'),
    deep: Buffer.from(`task:${String(middle)}`).toString('base64url'),
    close: () => bench.close(),
  };
}

function casesOf({ silent, sent, deep }: Prepared): readonly Case[] {
  const get =
    (path: (index: number) => string): Case['shot'] =>
    (index) => ({ method: 'GET', path: path(index) });
  const list = (query: (index: number) => string): Case['shot'] => get((index) => `/v1/tasks?limit=50${query(index)}`);
  const chat = (index: number) => `cli:-100${1 + (index % silentChats)}`;
  const [create, runSilent, runSent] = [creating(), runningNow(silent), runningNow(sent)];
  const first = list(() => '');
  const one = get((index) => `/v1/tasks/${silent[(index * 7919) % silent.length] ?? ''}`);
  const mixed: Case['shot'] = (index) => ([first, one, one, create, runSilent][index % 5] ?? one)(index);
  return [
    { name: 'list, first page of 50', shot: first },
    { name: 'list, deep cursor', shot: list(() => `&cursor=${deep}`) },
    { name: 'list of a thread', shot: list((index) => `&thread_key=${chat(index)}`) },
    { name: 'list by a common tag', shot: list(() => `&tag=${common.tag}`) },
    { name: 'list by subject', shot: list((index) => `&subject=subject%20${index % 50}`) },
    { name: 'list by a common word', shot: list(() => `&q=${common.word}`) },
    { name: 'list by a rare tag', shot: list(() => `&tag=${rare.tag}`), perSecond: 10, aim: '' },
    { name: 'list by a rare word', shot: list(() => `&q=${rare.word}`), perSecond: 10, aim: '' },
    { name: 'get', shot: one },
    { name: 'create', shot: create },
    { name: 'run now, delivered nowhere', shot: runSilent, startsRuns: true },
    { name: 'run now, delivered at once', shot: runSent, startsRuns: true },
    { name: 'mixed: list, get, get, create, run now', shot: mixed },
  ];
}

function creating(): Case['shot'] {
  let made = 0;
  return () => {
    made += 1;
    const schedule = { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' };
    const body = JSON.stringify({ instructions: `Water the new plants, number ${made}`, schedule, tags: ['plants'] });
    return { method: 'POST', path: `/v1/threads/cli:bench-${made % chats}/tasks`, body };
  };
}

/** Each task once: a task whose run is live would be refused. */
function runningNow(ids: readonly string[]): Case['shot'] {
  let used = 0;
  return () => {
    used += 1;
    return { method: 'POST', path: `/v1/tasks/${ids[used % ids.length] ?? ''}/run-now` };
  };
}

interface Beside {
  readonly product: Child;
  readonly echo: Child;
}

const warmUps = 200;
const baselineName = 'a bare server, the same bytes';

async function measure(one: Case, { file }: Prepared, { product, echo }: Beside): Promise<Figure[]> {
  const { name, shot, perSecond: rate = perSecond } = one;
  const isRare = rate < perSecond;
  const client = await openClient(product.port, connections);
  for (let index = 0; index < (isRare ? 2 : warmUps); index += 1) await client.ask(shot(index));
  const paths: string[] = [];
  const noted = (index: number) => {
    const made = shot(index);
    paths.push(made.path);
    return made;
  };
  const { taken, from } = await openLoop(client, { shot: noted, perSecond: rate, seconds });
  const started = one.startsRuns === true ? await startsOf(file, { paths, from, gapMs: 1000 / rate }) : [];
  const most = isRare ? 0 : await closedLoop(client, { shot, seconds: 2, connections: closedConnections });
  const { body } = await client.ask(shot(taken.length));
  client.close();
  const bare = await measureBare(one, rate, { echo, body });
  return [
    ...spread((label) => `${name}, ${label}${label === 'p50' ? ` (${rate}/s)` : ''}`, taken, {
      baseline: bare.taken,
      baselineName,
      aim: one.aim ?? '15 ms',
    }),
    ...(started.length === 0
      ? []
      : spread((label) => `  until the action starts, ${label}`, started, { aim: '15 ms' })),
    ...(isRare
      ? []
      : [
          {
            name: `  most, ${closedConnections} at a time`,
            value: most,
            unit: '/s',
            baseline: bare.most,
            baselineName,
          },
        ]),
  ];
}

async function measureBare(
  { shot }: Case,
  rate: number,
  { echo, body }: { readonly echo: Child; readonly body: Buffer },
): Promise<{ readonly taken: readonly number[]; readonly most: number }> {
  echo.child.send(body.toString());
  const client = await openClient(echo.port, connections);
  await openLoop(client, { shot, perSecond: rate, seconds: 1 });
  const { taken } = await openLoop(client, { shot, perSecond: rate, seconds: 2 });
  const most = await closedLoop(client, { shot, seconds: 1, connections: closedConnections });
  client.close();
  return { taken, most };
}

interface Asked {
  readonly paths: readonly string[];
  readonly from: number;
  readonly gapMs: number;
}

/** From the moment at which the request was meant to be sent to the start of the action, read from the rows. */
async function startsOf(file: string, { paths, from, gapMs }: Asked): Promise<number[]> {
  const database = new Database(file, { readonly: true });
  const live = database.prepare(`select count(*) from runs where status in ('queued', 'running')`).pluck();
  while ((live.get() as number) > 0) await pause(20);
  const startOf = database.prepare('select last_run_at from tasks where id = ?').pluck();
  const started = paths.map((path, index) => (startOf.get(path.split('/')[3]) as number) - (from + index * gapMs));
  database.close();
  return started;
}

/** What the database alone takes for the same work, without anything around it. */
function bareDatabase(file: string): Figure[] {
  const database = openSqlite(file);
  const page = database.prepare('select * from tasks order by id desc limit 51');
  const one = database.prepare('select * from tasks where id = ?');
  const commit = database.prepare(`insert into kv (scope, key, value, updated_at) values ('bench', ?, '', 0)`);
  const ids = database.prepare('select id from tasks limit 1000').pluck().all() as string[];
  const work = {
    'bare better-sqlite3: select of 51 tasks': () => page.all(),
    'bare better-sqlite3: select of a task': (index: number) => one.get(ids[index % ids.length]),
    'bare better-sqlite3: durable commit of a row': (index: number) => commit.run(`api ${index}`),
  };
  const figures = Object.entries(work).map(([name, call]) => {
    const taken = Array.from({ length: 1000 }, (_none, index) => {
      const began = performance.now();
      call(index);
      return performance.now() - began;
    });
    return {
      name: `${name}, p50 (p99 ${percentile(taken, 0.99).toFixed(3)})`,
      value: percentile(taken, 0.5),
      unit: 'ms',
    };
  });
  database.close();
  return figures;
}
