import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import { sqliteTables } from '../../../src/store/tables/sqlite.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aMessage, claimParts, delivered, threadOf } from '../scenes.ts';
import { engineOn, failing, target } from './verbs.ts';

/** The chats themselves, people, notes of the product to itself, and what comes before anybody knows whose it is. */
const ofNobody = [
  'chats',
  'users',
  'inbox',
  'kv',
  'idempotency_keys',
  'downtimes',
  'hosts',
  'host_calls',
  'pace',
  'processes',
  'paused_kinds',
  'set_backs',
  'tokens',
];

const tables = Object.values(sqliteTables)
  .map((table) => getTableConfig(table as SQLiteTable))
  .filter(({ name }) => !ofNobody.includes(name));

/** Rows that do not name their chat. Downtimes and findings of the audit are about none. */
async function unnamed(world: World): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of tables) {
    const about = name === 'events' ? `and kind not like 'downtime%' and kind <> 'audit.finding'` : '';
    const rows = await world.query(`select * from ${name} where chat_id is null ${about}`);
    found.push(...rows.map((row) => `${name}: ${JSON.stringify(row)}`));
  }
  return found;
}

const filled = `occurrences runs attempts usage events audit task_tags task_versions deliveries gaps`.split(' ');

async function chatsIn(world: World, table: string): Promise<unknown[]> {
  const rows = await world.query<{ chat_id: string }>(`select distinct chat_id from ${table} order by chat_id`);
  return rows.map(({ chat_id: id }) => id);
}

/** A task that has run, failed, been paused over a slot, skipped and asked for by hand; its chat, and what is on its way there. */
async function aLife(world: World, address = '-100') {
  const engine = engineOn(world);
  const { rooms, pass, settle, time } = engine;
  const request = { threadKey: `telegram:chat:${address}` };
  const action = { kind: 'echo', spends: [{ kind: 'requests', quantity: 1 }] };
  const task = await engine.create({ action, tags: ['home'], policies: { missed: 'skip', ack: {} } }, request);
  const broken = await engine.create({ title: 'Fail', action: failing }, request);
  await pass(hour);
  await rooms.tasks.runNow(target(task));
  await settle();
  await rooms.tasks.skip(target(task), { count: 1, from: time.now() });
  await rooms.tasks.edit(target(task), { title: 'Sit down', tags: ['garden'] });
  // So many missed slots are told as one gap.
  await pass(200 * hour);
  await rooms.tasks.delete(target(broken));
  await world.store.addMessages([aMessage(world, { thread: threadOf(address) })], time.now());
  for (const part of await claimParts(world, { now: time.now() }))
    await world.store.endParts([delivered(part)], time.now());
  return { ...engine, task };
}

/** Isolation by row hangs on the chat that each row names. */
export function chatRowTests(open: OpenWorld): void {
  test('every table of the things of a chat names the chat', () => {
    const without = tables.filter(({ columns }) => !columns.some(({ name }) => name === 'chat_id'));
    expect(without.map(({ name }) => name)).toEqual([]);
    expect(tables.length).toBeGreaterThan(15);
  });

  test('whatever happens to tasks, no row is left without its chat', async () => {
    const world = await open();
    const { task } = await aLife(world);
    expect(await unnamed(world)).toEqual([]);
    for (const table of filled) expect(await chatsIn(world, table), table).toEqual([task.chatId]);
  });

  test('a chat that takes another in has all of its rows', async () => {
    const world = await open();
    await world.store.noteChat({ newId: 'old', address: '-1', title: null, kind: 'group', at: nine });
    const { task } = await aLife(world, '-2');
    const bytes = Buffer.from('the same');
    for (const [chatId, expiresAt] of [
      ['old', nine],
      [task.chatId, nine + hour],
    ] as const) {
      const blob = { chatId, sha256: 'f' };
      await world.store.beginBlob({ ...blob, mime: '', size: 8, now: nine - hour, expiresAt, quota: 100 });
      await world.store.putChunk(blob, 0, bytes);
    }
    await world.store.endBlob({ chatId: task.chatId, sha256: 'f' }, 1);
    await world.store.moveChat('-1', '-2', nine + 5 * hour);

    for (const table of [...filled, 'blobs', 'blob_chunks'])
      expect(await chatsIn(world, table), table).toEqual(['old']);
    expect(await world.query('select is_whole, expires_at from blobs')).toEqual([
      { is_whole: 1, expires_at: nine + hour },
    ]);
    expect(Buffer.from((await world.store.readChunk({ chatId: 'old', sha256: 'f' }, 0)) ?? [])).toEqual(bytes);
  });

  test('a run that is under way while its chat becomes one with another loses nothing of its result', async () => {
    const world = await open();
    await world.store.noteChat({ newId: 'old', address: '-1', title: null, kind: 'group', at: nine });
    const { rooms, create, time } = engineOn(world);
    const spends = [{ kind: 'requests', quantity: 1 }];
    const action = { kind: 'echo', delay_ms: 10_000, spends, files: [{ name: 'a.txt', size: 8 }] };
    const policies = { ack: {} };
    const request = { threadKey: 'telegram:chat:-2' };
    const tasks = [
      await create({ action, policies }, request),
      await create({ title: 'Ask', action, policies: { approval: 'required' } }, request),
    ];
    await time.advance(30 * minute);
    await rooms.scheduler.step(time.now(), 100);
    await rooms.runner.step(time.now(), 100);
    // The file of a third is on its way into the store.
    const put = { chatId: tasks[0]?.chatId ?? '', sha256: 'f' };
    await world.store.beginBlob({ ...put, mime: '', size: 8, now: nine, expiresAt: nine + hour, quota: 100 });
    await world.store.moveChat('-1', '-2', time.now());
    await world.store.putChunk(put, 0, Buffer.from('the same'));
    expect(await world.store.endBlob(put, 1)).toBe(true);
    expect(await world.store.blobSize(put)).toBe(8);
    expect(Buffer.from((await world.store.readChunk(put, 0)) ?? []).toString()).toBe('the same');
    expect(await world.store.chatSettings(put.chatId)).toEqual(await world.store.chatSettings('old'));

    await time.advance(10_000);
    await rooms.runner.idle();
    expect(await world.query('select distinct status from runs')).toEqual([{ status: 'succeeded' }]);
    for (const table of ['runs', 'deliveries', 'events', 'usage', 'acks', 'blobs', 'blob_refs', 'attempts'])
      expect(await chatsIn(world, table), table).toEqual(['old']);
    expect(await world.query(`select run_id from blob_refs where role = 'output'`)).toHaveLength(2);
    expect(await world.query(`select id from deliveries where status = 'blocked' and kind = 'result'`)).not.toEqual([]);
  });

  test('a task that moves takes along what defines it and what is to come, and leaves its history', async () => {
    const world = await open();
    const { rooms, create, pass, time } = engineOn(world);
    const task = await create({
      action: { kind: 'echo', spends: [{ kind: 'requests', quantity: 1 }] },
      tags: ['home'],
    });
    await pass(hour);
    const there = await world.store.noteChat({
      newId: 'there',
      address: '-7',
      title: null,
      kind: 'group',
      at: time.now(),
    });
    await world.store.changeChat(there.id, { state: 'approved' }, time.now() + minute);
    await rooms.tasks.attach({ taskId: task.id, actor: 'api:token:default' }, 'telegram:chat:-7');

    for (const table of ['task_tags', 'task_versions']) expect(await chatsIn(world, table), table).toEqual(['there']);
    for (const table of ['attempts', 'usage']) expect(await chatsIn(world, table), table).toEqual([task.chatId]);
  });
}
