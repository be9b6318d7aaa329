import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { blobChunkBytes, type BlobStore, type FileRef, type NewFile } from '../../../src/app/ports/blobs.ts';
import { createBlobs } from '../../../src/app/use-cases/blobs.ts';
import type { Task } from '../../../src/domain/task.ts';
import { systemTimer } from '../../../src/system/clock.ts';
import { aRunningTask, endOf, hour, nine, startOne } from '../../support/builders.ts';
import { day } from '../../support/fakes.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { change, only, paused, removed, threadOf, withRunningTask } from '../scenes.ts';
import { engineOn, target } from './verbs.ts';

const quota = 4 * blobChunkBytes;

function blobsOf({ store }: Pick<World, 'store'>): BlobStore {
  return createBlobs({ store, timer: systemTimer, quota });
}

/** Bytes that differ from place to place, so that chunks in a wrong order are not the same file. */
function bytesOf(name: string, size: number): Uint8Array {
  return Uint8Array.from(
    { length: size },
    (_byte, index) => (index * 31 + index / 251 + name.length * 7 + (name.codePointAt(0) ?? 0)) & 0xff,
  );
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function aFile(name: string, size = 100): NewFile {
  return { name, mime: 'text/plain', bytes: bytesOf(name, size) };
}

interface Putting {
  readonly chatId?: string;
  readonly now?: number;
  readonly expiresAt?: number;
}

function put(
  world: World,
  { mime, bytes }: NewFile,
  { chatId = 'c', now = nine, expiresAt = now + day }: Putting = {},
) {
  return blobsOf(world).putBlob({ chatId, sha256: hashOf(bytes), mime, bytes, now, expiresAt });
}

function refOf({ name, mime, bytes }: NewFile): FileRef {
  return { kind: 'document', sha256: hashOf(bytes), name, mime, size: bytes.length };
}

/** Whether it can be read, and is what was put. */
async function stands(world: World, { bytes }: NewFile, chatId = 'c'): Promise<boolean> {
  const found = await blobsOf(world).readBlob(chatId, hashOf(bytes));
  if (found !== null) expect(Buffer.compare(found, bytes)).toBe(0);
  return found !== null;
}

/** A task whose run has ended with the files, which are on their way unless their parts are delivered. */
async function aRunWith(world: World, files: readonly NewFile[], at = nine, hasParts = false) {
  const { task, started } = await aRunningTask(world, { home: threadOf('-100') });
  for (const file of files) await put(world, file, { chatId: task.chatId, now: at });
  const deliveries = hasParts ? [world.make.part()] : [];
  await world.store.finishRuns([endOf(started, { files: files.map(refOf), deliveries, finishedAt: at })]);
  return { task, runId: started.run.id };
}

async function expire(world: World, now: number): Promise<number> {
  let removed = 0;
  for (let more = true; more;) {
    const dropped = await world.store.dropExpired({ now, limit: 100 });
    removed += dropped.removed['blobs'] ?? 0;
    more = dropped.more;
  }
  return removed;
}

const tables = ['blobs', 'blob_chunks', 'blob_refs'] as const;

async function rowsIn(world: World): Promise<number[]> {
  const counts: number[] = [];
  for (const table of tables)
    counts.push(Number(only(await world.query<{ n: number }>(`select count(*) as n from ${table}`)).n));
  return counts;
}

/** Files of runs: kept in chunks, once for each chat, as long as something refers to them. */
export function blobTests(open: OpenWorld): void {
  test.each([0, 1, blobChunkBytes, 2 * blobChunkBytes + 1])(
    'a file of %i bytes is read as it was put',
    async (size) => {
      const world = await open();
      const file = aFile('a', size);
      expect(await put(world, file)).toBe('kept');
      expect(await stands(world, file)).toBe(true);
      expect(await stands(world, file, 'another')).toBe(false);
      expect(await rowsIn(world)).toEqual([1, Math.ceil(size / blobChunkBytes), 0]);
    },
  );

  test('equal bytes are kept once in a chat, and each chat has its own', async () => {
    const world = await open();
    expect([await put(world, aFile('a')), await put(world, { ...aFile('a'), name: 'b' })]).toEqual(['kept', 'kept']);
    expect(await put(world, aFile('a'), { chatId: 'another' })).toBe('kept');
    expect(await rowsIn(world)).toEqual([2, 2, 0]);
  });

  test('what was broken off in the middle is not there, and is completed by the next who puts it', async () => {
    const world = await open();
    const file = aFile('a', 3 * blobChunkBytes);
    const blob = { chatId: 'c', sha256: hashOf(file.bytes) };
    await world.store.beginBlob({
      ...blob,
      mime: '',
      size: file.bytes.length,
      now: nine,
      expiresAt: nine + day,
      quota,
    });
    await world.store.putChunk(blob, 1, file.bytes.subarray(blobChunkBytes, 2 * blobChunkBytes));
    expect(await stands(world, file)).toBe(false);
    expect(await world.store.endBlob(blob, 3)).toBe(false);
    expect(await put(world, file)).toBe('kept');
    expect(await stands(world, file)).toBe(true);
  });

  test('two that put the same bytes at once keep them once', async () => {
    const world = await open();
    const file = aFile('a', 3 * blobChunkBytes);
    expect(await Promise.all([put(world, file), put(world, file)])).toEqual(['kept', 'kept']);
    expect(await stands(world, file)).toBe(true);
    expect(await rowsIn(world)).toEqual([1, 3, 0]);
  });

  test('bytes to which nothing refers go when their time is over, and not before', async () => {
    const world = await open();
    const file = aFile('a', 3 * blobChunkBytes);
    await put(world, file);
    expect(await expire(world, nine + day - 1)).toBe(0);
    expect(await stands(world, file)).toBe(true);
    expect(await expire(world, nine + day)).toBe(1);
    expect(await rowsIn(world)).toEqual([0, 0, 0]);
  });

  test('bytes that are put again in the middle of their removal are whole again', async () => {
    const world = await open();
    const file = aFile('a', 4 * blobChunkBytes);
    await put(world, file);
    await world.query(`delete from blob_chunks where chunk < 2`);
    await world.query(`update blobs set is_whole = 0`);
    expect(await put(world, file, { now: nine + day, expiresAt: nine + 2 * day })).toBe('kept');
    expect(await expire(world, nine + day)).toBe(0);
    expect(await stands(world, file)).toBe(true);
  });

  test('a long file is removed in several steps', async () => {
    const world = await open();
    const roomy = createBlobs({ store: world.store, timer: systemTimer, quota: 100 * blobChunkBytes });
    const bytes = bytesOf('a', 12 * blobChunkBytes);
    await roomy.putBlob({ chatId: 'c', sha256: 'x', mime: '', bytes, now: nine, expiresAt: nine + day });
    expect(await world.store.dropExpired({ now: nine + day, limit: 100 })).toMatchObject({ more: true });
    expect(await roomy.readBlob('c', 'x')).toBeNull();
    expect(await rowsIn(world)).toEqual([1, 8, 0]);
    expect(await expire(world, nine + day)).toBe(1);
    expect(await rowsIn(world)).toEqual([0, 0, 0]);
  });

  test('the end of a run refers to its files, so they stay; files that two runs brought stay with the last of them', async () => {
    const world = await open();
    const [file, own] = [aFile('a'), aFile('b')];
    const first = await aRunWith(world, [file, own]);
    const second = await aRunWith(world, [file]);
    expect(await rowsIn(world)).toEqual([2, 2, 3]);
    expect(await expire(world, nine + 30 * day)).toBe(0);

    const dropRun = async ({ runId }: { readonly runId: string }, now: number) => {
      await world.query(`delete from occurrences where run_id = ?t`, runId);
      const before = now - day;
      await world.query(`update runs set created_at = 0, finished_at = 0 where id = ?t`, runId);
      await world.store.prune({ shelf: 'runs', after: null, now, before, limit: 100 });
    };
    await dropRun(first, nine + 30 * day);
    // Somebody may have put the same bytes a moment ago.
    expect(await expire(world, nine + 31 * day - 1)).toBe(0);
    expect(await expire(world, nine + 31 * day)).toBe(1);
    expect([await stands(world, file, second.task.chatId), await stands(world, own, second.task.chatId)]).toEqual([
      true,
      false,
    ]);
    await dropRun(second, nine + 40 * day);
    expect(await expire(world, nine + 41 * day)).toBe(1);
    expect(await rowsIn(world)).toEqual([0, 0, 0]);
  });

  test('a run that lost its claim, or is called off, refers to nothing', async () => {
    const { world, task, started } = await withRunningTask(open);
    const file = aFile('a');
    await put(world, file, { chatId: task.chatId });
    await world.store.finishRuns([endOf({ ...started, fence: started.fence + 1 }, { files: [refOf(file)] })]);
    expect(await rowsIn(world)).toEqual([1, 1, 0]);
    await world.query(`update runs set cancel_requested_at = 1`);
    await world.store.finishRuns([endOf(started, { files: [refOf(file)] })]);
    expect(await rowsIn(world)).toEqual([1, 1, 0]);
    expect(await expire(world, nine + day)).toBe(1);
  });

  test('an end refers only to what is there', async () => {
    const { world, started } = await withRunningTask(open);
    await world.store.finishRuns([endOf(started, { files: [refOf(aFile('a'))] })]);
    expect(await rowsIn(world)).toEqual([0, 0, 0]);
  });

  test('a chat keeps no more than its quota', async () => {
    const world = await open();
    expect(await put(world, aFile('a', quota + 1))).toBe('over_quota');
    expect(await put(world, aFile('b', quota - 10))).toBe('kept');
    expect(await put(world, aFile('c', 11))).toBe('over_quota');
    expect(await put(world, aFile('c', 10))).toBe('kept');
    expect(await put(world, aFile('c', 10)), 'what is there needs no room').toBe('kept');
    expect(await put(world, aFile('d', 10), { chatId: 'another' })).toBe('kept');
    expect(await put(world, aFile('e', quota), { now: nine + day }), 'what has expired takes no room').toBe('kept');
  });

  test('where there is no room the oldest files go first of which nothing is on its way', async () => {
    const world = await open();
    const half = quota / 2;
    const [waiting, old, young, next] = [
      aFile('a', 10),
      aFile('b', half - 10),
      aFile('c', half),
      aFile('d', half - 10),
    ];
    await aRunWith(world, [waiting], nine, true);
    await aRunWith(world, [old], nine + hour);
    const { task } = await aRunWith(world, [young], nine + 2 * hour);
    const chatId = task.chatId;
    expect(await put(world, next, { chatId, now: nine + 3 * hour })).toBe('kept');
    const left = await Promise.all([waiting, old, young, next].map((file) => stands(world, file, chatId)));
    await expire(world, nine + 3 * hour);
    expect(left).toEqual([true, true, true, true]);
    expect(await stands(world, old, chatId)).toBe(false);
    expect(await stands(world, waiting, chatId)).toBe(true);
    // All else is on its way, or was put a moment ago.
    expect(await put(world, aFile('e', quota - 5), { chatId, now: nine + 3 * hour })).toBe('over_quota');
    expect(await stands(world, young, chatId)).toBe(true);
  });
}

/** Room that is needed at the same moment. */
export function crowdedTests(open: OpenWorld): void {
  test('a file that a run has put a moment ago does not give way, though only an old result refers to it', async () => {
    const world = await open();
    const [file, other] = [aFile('a', quota / 2), aFile('b', quota)];
    const { task } = await aRunWith(world, [file]);
    const now = nine + 5 * hour;
    expect(await put(world, file, { chatId: task.chatId, now })).toBe('kept');
    expect(await put(world, other, { chatId: task.chatId, now: now + 1 })).toBe('over_quota');
    expect(await put(world, other, { chatId: task.chatId, now: now + hour })).toBe('kept');
  });

  test('files that come at once take no more room than there is', async () => {
    const world = await open();
    const { id: chatId } = await world.store.noteChat({
      newId: 'c',
      address: '-1',
      title: null,
      kind: 'group',
      at: nine,
    });
    const third = Math.floor(quota / 3);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => put(world, aFile(name, third), { chatId })),
    );
    expect(answers.filter((answer) => answer === 'kept')).toHaveLength(3);
  });
}

/** Inputs of runs that are large. */
export function snapshotTests(open: OpenWorld): void {
  const context = { page: 'ü'.repeat(5000) };

  async function aPlace() {
    const world = await open();
    const engine = engineOn(world);
    const task = await engine.create({ action: { kind: 'echo' }, context, title: 'Large' });
    await engine.pass(hour);
    return { world, ...engine, task };
  }

  test('equal ones are kept once, and each run has all of its own', async () => {
    const { world, task, rooms, pass, settle } = await aPlace();
    await pass(2 * hour);
    const { taskRun } = await rooms.tasks.runNow(target(task));
    await settle();
    expect(await rowsIn(world)).toEqual([1, 1, 3]);
    const run = await world.store.readEndedRun(taskRun.runId ?? '');
    expect(run?.input).toMatchObject({ title: 'Large', context, action: { kind: 'echo' } });
    await rooms.tasks.edit(target(task), { context: { page: 'a'.repeat(5000) } });
    await rooms.tasks.runNow(target(task));
    await settle();
    expect(await rowsIn(world)).toEqual([2, 2, 4]);
  });

  test('what a run was given goes with the last run that was given it, and for no other reason', async () => {
    const { world, task } = await aPlace();
    const blobs = createBlobs({ store: world.store, timer: systemTimer, quota: 1000 });
    const bytes = bytesOf('a', 1000);
    const file = { chatId: task.chatId, sha256: 'f', mime: '', bytes, now: nine + day, expiresAt: nine + 2 * day };
    expect(await blobs.putBlob(file)).toBe('over_quota');
    expect(await expire(world, nine + 30 * day)).toBe(0);
    await world.query('delete from occurrences');
    const prune = { shelf: 'runs', after: null, now: nine + 30 * day, before: nine + 29 * day, limit: 100 } as const;
    await world.store.prune(prune);
    await expire(world, nine + 31 * day);
    expect(await rowsIn(world)).toEqual([0, 0, 0]);
  });

  test('a run whose input is gone cannot be read, and says so', async () => {
    const { world, task, settle } = await aPlace();
    await change(world, task, paused);
    await world.store.addRun(largeRun(world, task));
    await world.query('delete from blob_chunks');
    await settle();
    const [run] = await world.query<{ error: string }>(`select error from runs where status = 'failed'`);
    expect(run?.error).toContain('unreadable: snapshot is no JSON');
  });
}

function largeRun(world: World, { id: taskId, chatId }: Task) {
  const run = world.make.newRun({ taskId, chatId });
  return { ...run, snapshot: { sha256: 'another', text: JSON.stringify({ action: { kind: 'echo' }, context: {} }) } };
}

/** Another run of the task as it is now. */
async function startNext(world: World, { id: taskId, chatId }: Task) {
  const { version } = only(await world.query<{ version: number }>('select version from tasks where id = ?t', taskId));
  await world.store.addRun(world.make.newRun({ taskId, taskVersion: version, chatId }));
  return startOne(world, nine + hour);
}

/** Values that tasks watch. */
export function watchTests(open: OpenWorld): void {
  const watched = { hash: 'h', value: 'the page', at: nine };

  test('what a run saw is written with its end, and read by the next', async () => {
    const { world, task, started } = await withRunningTask(open);
    expect(await world.store.watchedBy(task.id)).toBeNull();
    await world.store.finishRuns([endOf(started, { watched })]);
    expect(await world.store.watchedBy(task.id)).toEqual(watched);
    const next = await startNext(world, task);
    const later = { hash: 'i', value: null, at: nine + hour };
    await world.store.finishRuns([endOf(next, { watched: later })]);
    expect(await world.store.watchedBy(task.id)).toEqual(later);
  });

  test('a task that watches something else begins anew, and a run of before says nothing about that', async () => {
    const { world, task, started } = await withRunningTask(open);
    await world.store.finishRuns([endOf(started, { watched })]);
    const edit = (action: Task['action']) => change(world, task, { set: { action } });
    await edit({ ...task.action, headers: { accept: 'text/html' } });
    expect(await world.store.watchedBy(task.id)).toEqual(watched);
    const stale = await startNext(world, task);
    await edit({ ...task.action, select: 'price' });
    expect(await world.store.watchedBy(task.id)).toBeNull();
    await world.store.finishRuns([endOf(stale, { watched })]);
    expect(await world.store.watchedBy(task.id)).toBeNull();
  });

  test('what a task watched goes with the task', async () => {
    const { world, task, started } = await withRunningTask(open);
    await world.store.finishRuns([endOf(started, { watched })]);
    await change(world, task, removed);
    for (const shelf of ['occurrences', 'runs', 'tasks'] as const)
      await world.store.prune({ shelf, after: null, now: nine + 400 * day, before: nine + 300 * day, limit: 100 });
    expect(await world.query('select * from watches')).toEqual([]);
  });
}
