import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../src/domain/task.ts';
import { migrateSqlite } from '../../src/store/engine/migrate.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { translate } from '../../src/store/engine/store.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { aRunningTask, aTask, claimAll, endOf, hour, minute, nine } from '../support/builders.ts';
import { watched } from '../support/fresh-sqlite.ts';
import { aFolder } from '../support/place.ts';
import { sourceFlags } from '../support/sources.ts';
import { worldOver, type World } from '../support/store-worlds.ts';
import { aMessage, aReadyTask, change, claimParts, delivered, lost, show, slotsOf } from './scenes.ts';

const moduleOf = (name: string) => new URL(`../../src/store/engine/${name}.ts`, import.meta.url).href;

/** What only the engine of one file has: a disk that fills up, a writer that waits, and plans that can be read. */
async function aWorld() {
  const file = join(aFolder(), 'cronogram.db');
  const connection = openSqlite(file);
  onTestFinished(() => void connection.close());
  await migrateSqlite(connection, 0);
  const seen = watched(connection);
  const world = worldOver(sqliteEngine(connection), () => sqliteEngine(openSqlite(file)));
  return { ...world, connection, ...seen };
}

test('a full disk refuses the claim as a whole, and the same slots are claimed when there is room again', async () => {
  const world = await aWorld();
  for (let count = 0; count < 100; count += 1) await aTask(world);
  const pages = world.connection.pragma('page_count', { simple: true }) as number;
  world.connection.pragma(`max_page_count = ${pages}`);
  const claims = () => claimAll(world, { now: nine, limit: 100 });

  await expect(claims()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('free some space') as string,
  });
  await expect(claims()).rejects.toMatchObject({ code: 'store_unavailable' });
  for (const table of ['occurrences', 'runs']) expect(await world.query(`select id from ${table}`)).toEqual([]);
  expect(await world.query('select distinct next_at from tasks')).toEqual([{ next_at: nine }]);

  world.connection.pragma('max_page_count = 1073741823');
  expect(await claims()).toMatchObject({ taken: 100 });
  expect(await world.query('select distinct slot_at from occurrences')).toEqual([{ slot_at: nine }]);
});

test('a full disk keeps no database open: what is committed waits in its log', async () => {
  const file = join(aFolder(), 'full.db');
  const connection = openSqlite(file);
  await migrateSqlite(connection, nine);
  connection.exec(`insert into kv (scope, key, value, updated_at) values ('s', 'k', 'v', 1)`);
  const pragma = connection.pragma.bind(connection);
  connection.pragma = (text, options) => {
    if (text.startsWith('wal_checkpoint')) throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    return pragma(text, options);
  };
  await sqliteEngine(connection).close();

  expect(connection.open).toBe(false);
  const again = openSqlite(file);
  onTestFinished(() => void again.close());
  expect(again.prepare(`select value from kv where scope = 's'`).pluck().get()).toBe('v');
});

const opening = (file: string) =>
  openStore({
    url: `file:${file}`,
    holder: { pid: 1, host: 'here', since: 0 },
    onLost: () => undefined,
    timer: systemTimer,
  });

test('a file that is no database is named at the start, with what helps', async () => {
  const file = join(aFolder(), 'broken.db');
  writeFileSync(file, 'no database '.repeat(1000));
  await expect(opening(file)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(new RegExp(`NOTADB.*${file} is damaged.*cronogram restore latest`)) as string,
  });
});

test('a page that is damaged while the server runs is told with the file and with what helps', async () => {
  const world = await aWorld();
  for (let count = 0; count < 100; count += 1) await aTask(world);
  world.connection.pragma('wal_checkpoint(TRUNCATE)');
  const file = openSync(world.connection.name, 'r+');
  const { size } = fstatSync(file);
  writeSync(file, Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096);
  closeSync(file);
  world.connection.pragma('shrink_memory');
  await expect(claimAll(world, { now: nine, limit: 100 })).rejects.toMatchObject({
    message: expect.stringMatching(
      new RegExp(`SQLITE_CORRUPT.*${world.connection.name} is damaged.*cronogram restore latest`),
    ) as string,
  });
});

test.each([
  ['EROFS', /EROFS: the disk of \/data\/c\.db can only be read; mount it/],
  ['EPERM', /EPERM: \/data\/c\.db belongs to another user; .*chown/],
  ['EACCES', /EACCES: give the user of this process the right to write to \/data\/c\.db/],
  ['EMFILE', /EMFILE: this process has too many files open; raise its limit/],
  ['SQLITE_READONLY_DIRECTORY', /SQLITE_READONLY: give the user of this process the right to write to c\.db/],
])('%s is told with its place and with what helps', (code, told) => {
  const path = code.startsWith('E') ? { path: '/data/c.db' } : {};
  expect(translate(Object.assign(new Error(code), { code, ...path }), 'c.db').message).toMatch(told);
});

test('a process that is out of files goes on with the database that it has open, and is told why it gets no other', () => {
  const file = join(aFolder(), 'c.db');
  const script = `
    import { openSync } from 'node:fs';
    import { openSqlite } from ${JSON.stringify(moduleOf('sqlite'))};
    import { translate } from ${JSON.stringify(moduleOf('store'))};
    translate(new Error('warm'), '');
    const connection = openSqlite(${JSON.stringify(file)});
    connection.exec('create table t (a integer unique, b text)');
    connection.exec('with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) insert into t select i, hex(randomblob(500)) from n');
    try { for (;;) openSync('/dev/null', 'r'); } catch {}
    // SQLite keeps what it needs to take a long statement back in a file of its own, unless it is told otherwise.
    connection.exec('begin; update t set a = a + 10000, b = hex(randomblob(500)); commit');
    try { openSqlite(${JSON.stringify(`${file}2`)}); } catch (error) {
      console.log(translate(error, ${JSON.stringify(file)}).message);
    }`;
  const node = [process.execPath, ...sourceFlags, '--input-type=module', '-e', script];
  const told = execFileSync('prlimit', ['--nofile=64:64', ...node], { encoding: 'utf8' });
  expect(told).toMatch(/EMFILE: this process has too many files open; raise its limit/);
});

test('a store that cannot commit says so when it is asked', async () => {
  const world = await aWorld();
  const pages = world.connection.pragma('page_count', { simple: true }) as number;
  world.connection.pragma(`max_page_count = ${pages}`);
  const fill = async () => {
    for (let count = 0; ; count += 1) await world.store.writeNote(`note ${count}`, 'x'.repeat(4000), nine);
  };

  await expect(fill()).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('another writer that does not let go makes the store unavailable, and nothing is lost', async () => {
  const world = await aWorld();
  await aTask(world);
  world.connection.pragma('busy_timeout = 0');
  const other = openSqlite(world.connection.name);
  other.exec('begin immediate');

  await expect(claimAll(world, { now: nine, limit: 1 })).rejects.toMatchObject({ code: 'store_unavailable' });
  other.exec('rollback');
  other.close();
  expect(await claimAll(world, { now: nine, limit: 1 })).toMatchObject({ taken: 1 });
});

test('a store that was closed is unavailable', async () => {
  const { store, connection } = await aWorld();
  connection.close();

  await expect(store.nextDueAt(nine)).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(store.readTask('x')).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('letters beyond ASCII are found in whatever case', async () => {
  const world = await aWorld();
  await aTask(world, { title: 'Отчёт за Ärger' });
  const query = { thread: null, state: 'all', tag: null, subject: null, limit: 5, cursor: null } as const;

  expect((await world.store.listTasks({ ...query, text: 'отчёт ЗА ä' })).items).toHaveLength(1);
});

/** Calls every method that a loop calls, so that every hot statement has been prepared. */
async function useEverything(world: World): Promise<void> {
  const once = { scope: 's', target: '', key: 'k', payloadHash: 'h', expiresAt: nine + hour };
  await aTask(world, { once, onExisting: 'upsert', subject: 's', nextAt: nine + 9 * hour });
  const { task, started } = await aRunningTask(world);
  const full = {
    deliveries: [world.make.part()],
    usage: [{ kind: 'tokens' as const, quantity: 1 }],
    context: {},
    nextAt: nine + hour,
  };
  await world.store.finishRuns([endOf(started, { ...full, status: 'failed', attemptStatus: 'failed' })]);
  const waiting = world.make.occurrence({ slotAt: nine + minute });
  const late = world.make.occurrence({ slotAt: nine + 2 * minute, decideBy: nine });
  const gap = { id: 'gap', fromAt: 1, toAt: 2, count: 2, reason: 'late' as const };
  await claimAll(world, { now: nine + hour, limit: 1 }, () => ({
    occurrences: [waiting, late],
    runs: [],
    gap,
    replaces: true,
  }));
  await world.store.expireQuestions({ now: nine + hour, limit: 9 });
  await world.store.admitWaiting({ now: nine, limit: 9 }, (found) =>
    found.map(({ id }) => ({ occurrenceId: id, taskId: task.id, skip: 'overlap' })),
  );
  await world.store.replanTasks(null, { now: nine, limit: 9 }, () => []);
  const ready = await aReadyTask(world, { nextAt: nine + 9 * hour });
  await world.query(`delete from runs where status = 'queued'`);
  await show(world, ready, [world.make.part()]);
  const parts = await claimParts(world, { after: 'a' });
  await world.store.endParts(
    parts.map((part) => lost(part)),
    nine,
  );
  await change(world, task, { endWaiting: 'deleted' as const, cancelLive: true, stamp: 'updated' as const });
  await world.store.nextDueAt(nine);
  await world.store.nextRunAt(nine);
  await world.store.nextPartAt(nine);
  await world.store.cancelRequested('boot');
  await useConversation(world, ready);
  const items = await slotsOf(world, task);
  await world.store.readTaskRun(items[0]?.id ?? '');
  await world.store.readRun(started.run.id);
}

/** Calls every method that an update, a send or a chore of the conversation calls. */
async function useConversation(world: World, task: Task): Promise<void> {
  const { chatId } = task;
  const user = 'telegram:user:7';
  await world.store.receiveUpdates([{ id: 1, payload: '{}', address: '-100', messageId: 9, lane: null }], nine);
  await world.store.openUpdates(0, 9);
  await world.store.beginUpdate(1, 'boot');
  const draft = {
    id: 'd',
    chatId,
    userId: user,
    topic: null,
    messageId: 9,
    step: 's',
    body: {},
    expiresAt: nine + hour,
  } as const;
  const message = aMessage(world);
  await world.store.endUpdate({
    id: 1,
    status: 'done',
    error: null,
    messages: [message],
    draft: { is: 'put', draft },
    at: nine,
    bootId: 'boot',
  });
  await world.store.tellOnce({ word: 'not_pinned' }, aMessage(world), nine);
  await world.store.noteChat({ newId: 'c', address: '-100', title: 'x', kind: 'supergroup', at: nine });
  await world.store.changeChat(chatId, { state: 'approved' }, nine);
  await world.store.noteUser({ id: user, name: 'Ada' }, nine);
  await world.store.readUser(user);
  await world.store.noteMember({ chatId, userId: user, status: 'out', checkedAt: nine });
  await world.store.noteMember({ chatId, userId: user, status: 'member', checkedAt: nine });
  await world.store.staleMembers(nine, nine, 9);
  await world.store.readDraft('d');
  await world.store.openDraft(chatId, user, null, nine);
  await world.store.draftOfWords(chatId, user, 9);
  await world.store.taskByNumber(chatId, 1);
  await world.store.taskByTopic(chatId, 77);
  await world.store.chatTasks({ chatId, filter: 'all', ownerId: user, text: 'x', offset: 0, limit: 8 });
  await world.store.lastMessageBefore('-100', nine);
  await world.store.explainedAfter('-100', 1, 9);
  await world.store.unknownParts('-100', '');
  await world.store.orphanTopics('-100', 'x', nine);
  await world.store.settleByHand('x', true, nine);
  await world.store.retryBlocked({ chatId, taskId: task.id, inDoubt: false }, nine);
  await world.store.writeHold(chatId, nine, nine);
  await world.store.readHolds(nine);
  await world.store.sentSince(nine);
  await world.store.waitingResults(chatId, nine);
  await world.store.endTopic({ taskId: task.id, state: 'none', lost: 1, at: 0 });
  await world.store.beginTopic({ taskId: task.id, name: 'x' }, 'boot', nine);
  await world.store.endTopic({ taskId: task.id, state: 'ready', id: 78, cardId: 'card', remadeId: 'remade', at: nine });
  for (const part of await claimParts(world)) await world.store.endParts([delivered(part, 5, { pinId: 'pin' })], nine);
}

test('no statement of a step reads a whole table: what is scanned is an index of open rows alone', async () => {
  const world = await aWorld();
  await useEverything(world);
  const used = [...world.statements].filter(
    (text) => /^\s*(with|select|update|insert|delete)\b/i.test(text) && !text.startsWith('delete from runs'),
  );
  const small = new Set(
    world.connection
      .prepare(
        `select i.name from sqlite_master t, pragma_index_list(t.name) i where t.type = 'table' and i.partial = 1`,
      )
      .pluck()
      .all(),
  );
  const faults = used.flatMap((text) =>
    world
      .planOf(text)
      .filter(
        (detail) =>
          detail.startsWith('SCAN ') && !/^SCAN (CONSTANT ROW|calls|heads|explained|owning|\d+ CONSTANT)/.test(detail),
      )
      .filter((detail) => !small.has(/USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? ''))
      .map((detail) => `${detail}: ${text.replace(/\s+/g, ' ').slice(0, 160)}`),
  );

  expect(used.length).toBeGreaterThan(50);
  expect(faults).toEqual([]);
});

test('no statement that is kept is planned anew for the number of its limit', async () => {
  const world = await aWorld();
  await useEverything(world);
  const limited = (limit: RegExp) => [...world.statements].filter((text) => limit.test(text));

  expect(limited(/\blimit \+\?/).length).toBeGreaterThan(10);
  expect(limited(/\blimit\s+\?/)).toEqual([]);
});

test('when the next part is due is found among the few that are open, however much was sent of late', async () => {
  const world = await aWorld();
  await world.store.nextPartAt(nine);
  const asked = [...world.statements].filter(
    (text) => text.startsWith('select min(') && text.includes('from deliveries'),
  );
  expect(asked).toHaveLength(3);
  for (const text of asked) expect(world.planOf(text).join()).toMatch(/INDEX deliveries_(?:waiting|unknown)\b/);
});
