import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callerRole, ofNoChat, policies, withheld } from '../../src/store/engine/caller.ts';
import type { Engine, Script } from '../../src/store/engine/engine.ts';
import { goHome } from '../../src/store/engine/home.ts';
import { migratePostgres, readMigrations } from '../../src/store/engine/migrate.ts';
import { confined, reach } from '../../src/store/engine/reach.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { hour, nine } from '../support/builders.ts';
import { freshPostgres } from '../support/postgres.ts';
import { worldsOf } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';
import { engineOn } from './conformance/verbs.ts';

/** The rights of callers on a real Postgres: what a statement forgets, the policies of the tables remember. */

const [mine, theirs] = ['telegram:chat:-1', 'telegram:chat:-2'];
const open = worldsOf('postgres');

/** A script that asks for its reach and then forgets it. */
function* forgetful<T extends object>(text: string): Script<T[]> {
  yield* reach();
  return yield* rows<T>(text);
}

const played = <T extends object>(engine: Engine, text: string) => engine.transact(() => forgetful<T>(text));
const read = <T extends object>(engine: Engine, text: string) => engine.read(() => forgetful<T>(text));

async function twoChats() {
  const world = await open();
  const engine = engineOn(world);
  const own = await engine.create({ action: { kind: 'echo' } }, { threadKey: mine });
  const other = await engine.create({ action: { kind: 'echo' } }, { threadKey: theirs });
  await engine.pass(hour);
  return { world, own, other, caller: confined(world.engine, [own.chatId]) };
}

const tablesText = `select t.relname as name, t.relrowsecurity as "isOn", a.attname is not null as "isOfChat",
    (select pg_get_expr(p.polqual, t.oid) from pg_policy p where p.polrelid = t.oid and p.polname = 'caller') as policy,
    has_table_privilege('${callerRole}', t.oid, 'select') as "canRead",
    has_table_privilege('${callerRole}', t.oid, 'insert, update, delete') as "canWrite"
  from pg_class t left join pg_attribute a on a.attrelid = t.oid and not a.attisdropped
    and (a.attname = 'chat_id' or t.relname = 'chats' and a.attname = 'id')
  where t.relnamespace = 'cronogram'::regnamespace and t.relkind = 'r' order by 1`;

interface Table {
  readonly name: string;
  readonly isOn: boolean;
  readonly isOfChat: boolean;
  readonly policy: string | null;
  readonly canRead: boolean;
  readonly canWrite: boolean;
}

describe('the tables', () => {
  test('of a chat have their policy, and the others are closed to callers or named with a reason', async () => {
    const world = await open();
    const tables = await world.query<Table>(tablesText);
    expect(tables.filter(({ isOfChat }) => isOfChat).length).toBeGreaterThan(20);
    for (const { name, isOn, isOfChat, policy, canRead, canWrite } of tables) {
      const isKept = isOfChat || name in policies;
      const isClosed = withheld.includes(name) || (!isKept && !(name in ofNoChat));
      expect([name, isOn, policy !== null], name).toEqual([name, isKept, isKept]);
      if (isOfChat) expect(policy, name).toMatch(/^\((id|chat_id) = ANY .*cronogram\.chats/);
      expect([name, canRead], name).toEqual([name, !isClosed]);
      if (isClosed) expect([name, canWrite], name).toEqual([name, false]);
    }
    expect(Object.keys(ofNoChat).filter((name) => !tables.some((table) => table.name === name))).toEqual([]);
  });

  test('that a later step makes get theirs with it', async () => {
    const { client } = await aDatabase();
    const step = { name: '9999_more', statements: ['create table more (id text primary key, chat_id text)'] };
    await migratePostgres(client, 0, [...readMigrations('postgres'), step]);
    const tables = (await client.query(tablesText, [])).rows as Table[];
    expect(tables.find(({ name }) => name === 'more')).toMatchObject({ isOn: true, canWrite: true });
    expect(tables.find(({ name }) => name === 'more')?.policy).toContain('cronogram.chats');
  });
});

describe('a script that forgets its filter', () => {
  test('shows a caller the rows of its chats, in every table', async () => {
    const { world, own, caller } = await twoChats();
    const all = (await world.query<Table>(tablesText)).filter(({ isOfChat, canRead }) => isOfChat && canRead);
    const seen: string[] = [];
    for (const { name } of all) {
      const chat = name === 'chats' ? 'id' : 'chat_id';
      const text = `select distinct ${chat} as chat from ${name}`;
      const found = [await played<{ chat: string }>(caller, text), await read<{ chat: string }>(caller, text)];
      for (const one of found) expect(one.map((row) => row.chat).filter((chat) => chat !== own.chatId)).toEqual([]);
      const everywhere = await world.query<{ chat: string | null }>(text);
      if (everywhere.length > 1 && found[0]?.length === 1) seen.push(name);
    }
    // There is something to hide in them.
    expect(seen).toEqual(
      expect.arrayContaining(['attempts', 'audit', 'chats', 'deliveries', 'events', 'runs', 'tasks']),
    );
  });

  test('changes and makes nothing elsewhere', async () => {
    const { world, own, other, caller } = await twoChats();
    const before = await world.query(`select * from tasks order by id`);
    expect(await played(caller, `update tasks set title = 'Mine' where id = '${other.id}' returning id`)).toEqual([]);
    expect(await played(caller, `delete from occurrences where chat_id = '${other.chatId}' returning id`)).toEqual([]);
    const elsewhere = `insert into told (chat_id, word, reason, task_id, about, at) values ('${other.chatId}', 'x', '', '', '', 0)`;
    await expect(played(caller, elsewhere)).rejects.toThrow(/row-level security/);
    await expect(played(caller, `update tasks set chat_id = '${other.chatId}' where id = '${own.id}'`)).rejects.toThrow(
      /row-level security/,
    );
    expect(await world.query(`select * from tasks order by id`)).toEqual(before);
  });

  test('sees nothing of the tables that callers do not need', async () => {
    const { caller } = await twoChats();
    for (const name of [...withheld, 'tokens', 'inbox', 'schema_migrations'])
      await expect(played(caller, `select * from ${name}`), name).rejects.toThrow(/permission denied/);
  });

  test('leaves no right and no chat behind on its connection', async () => {
    const { world, caller } = await twoChats();
    await played(caller, 'select 1 as one');
    await expect(played(caller, 'select 1 / 0')).rejects.toThrow('division by zero');
    await read(caller, 'select 1 as one');
    const left = `select current_user = session_user as own, coalesce(current_setting('cronogram.chats', true), '') as chats`;
    const found = await Promise.all(Array.from({ length: 12 }, () => world.query(left)));
    expect(new Set(found.map((one) => JSON.stringify(one)))).toEqual(new Set(['[{"own":true,"chats":""}]']));
  });
});

test('only what is about all chats is looked up beyond those of a caller', () => {
  const folder = fileURLToPath(new URL('../../src/store/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const uses = files.flatMap((name) => {
    const count = [...readFileSync(join(folder, name), 'utf8').matchAll(/yield\* beyond\(/g)].length;
    return count === 0 ? [] : [`${name} ${count}`];
  });
  expect(uses.toSorted()).toEqual([
    // Jobs are hints for workers, who reach all chats.
    'jobs/offers.ts 1',
    // A cursor is a place in the order of all events.
    'records/feeds.ts 2',
    // The budget of a person is spent from in every chat.
    'spending/budgets.ts 5',
    // So is the quota of a person.
    'tasks/grants.ts 1',
    // Notes of the server about itself.
    'upkeep/notes.ts 1',
  ]);
});

/** A database, as its owner and as other users. */
async function aDatabase() {
  const { url, drop } = await freshPostgres();
  const ends: (() => Promise<unknown>)[] = [drop];
  onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const connected = async (user?: string) => {
    const as = new URL(url);
    if (user !== undefined) [as.username, as.password] = [user, 'x'];
    const client = new pg.Client({ connectionString: as.href });
    ends.push(() => client.end());
    await client.connect();
    return { query: (text: string, values: readonly unknown[]) => client.query(text, [...values]), release: () => {} };
  };
  const client = await connected();
  const user = async (rights: string) => {
    const name = `user_${process.pid}_${ends.length}`;
    await client.query(`create role ${name} login password 'x' ${rights}`, []);
    ends.push(() => client.query(`drop owned by ${name} cascade; drop role ${name}`, []));
    await client.query(`grant create on database "${new URL(url).pathname.slice(1)}" to ${name}`, []);
    return { name, client: await connected(name) };
  };
  return { client, user };
}

describe('a user of the database', () => {
  test('who may make roles makes the one of the callers, and becomes it', async () => {
    const { user } = await aDatabase();
    const { client } = await user('createrole');
    // The role belongs to the whole server, and may have been made for another database by somebody else.
    const made = await migratePostgres(client, nine);
    if (made.hasCallers) await client.query(`begin; set local role ${callerRole}; rollback`, []);
  });

  test('who may not become the caller is served without the role, until its operator says so', async () => {
    const { client: owner, user } = await aDatabase();
    const { name, client } = await user('');
    await owner.query(
      `do $$ begin create role ${callerRole}; exception when duplicate_object or unique_violation then null; end $$`,
      [],
    );
    expect(await migratePostgres(client, nine)).toMatchObject({ hasCallers: false });
    await owner.query(`grant ${callerRole} to ${name}`, []);
    expect(await migratePostgres(client, nine)).toMatchObject({ hasCallers: true });
    await client.query(`begin; set local role ${callerRole}; ${goHome('cronogram', 'local')}`, []);
    expect((await client.query('select count(*)::int as tasks from tasks', [])).rows).toEqual([{ tasks: 0 }]);
    await client.query('rollback', []);
  });

  test('to whom the policies apply is refused, because it would see no task', async () => {
    const { client: owner, user } = await aDatabase();
    await migratePostgres(owner, nine);
    const { name, client } = await user('');
    await owner.query(
      `grant usage on schema cronogram to ${name}; grant all on all tables in schema cronogram to ${name}`,
      [],
    );
    await expect(migratePostgres(client, nine)).rejects.toThrow(
      new RegExp(`belong to postgres, and ${name} sees no rows.*grant "postgres" to "${name}"`),
    );
  });
});

test('a store of some chats is played under the role', async () => {
  const { world, own } = await twoChats();
  const users: string[] = [];
  function* noting<T>(script: Script<T>): Script<T> {
    const found = yield* script;
    users.push((yield* rows<{ me: string }>('select current_user as me'))[0]?.me ?? '');
    return found;
  }
  const engine: Engine = { ...world.engine, read: (script) => world.engine.read(() => noting(script())) };
  const store = createStore(engine);
  await store.within([own.chatId]).readTask(own.id);
  await store.readTask(own.id);
  expect(users).toEqual([callerRole, 'postgres']);
});
