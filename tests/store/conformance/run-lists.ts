import { expect, test } from 'vitest';
import type { RunQuery } from '../../../src/app/ports/runs.ts';
import { liveStatuses, threadLane, type RunStatus } from '../../../src/domain/run.ts';
import { aTask, claimAll, endOf, hour, minute, nine, runInput, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, threadOf, withTask } from '../scenes.ts';

const everything: RunQuery = {
  states: null,
  taskId: null,
  thread: null,
  source: null,
  subject: null,
  tags: [],
  text: null,
  from: null,
  to: null,
  limit: 50,
  cursor: null,
};

const group = threadOf('-100');

async function pageOf({ store }: World, query: Partial<RunQuery>) {
  const { items, next } = await store.listRuns({ ...everything, ...query });
  return { ids: items.map(({ id }) => id), next };
}

/** All pages together, and how many there were. */
async function allOf(world: World, query: Partial<RunQuery>) {
  const ids: string[] = [];
  let [pages, cursor]: [number, string | null] = [0, null];
  do {
    const page = await pageOf(world, { ...query, cursor });
    ids.push(...page.ids);
    cursor = page.next;
    pages += 1;
  } while (cursor !== null);
  return { ids, pages };
}

/** A message in a topic of the chat, or in its base thread. */
async function aMessageRun(world: World, chatId: string, facts: { topic?: number; text?: string; at?: number } = {}) {
  const { topic = null, text = 'Ready.', at = nine } = facts;
  const input = { ...runInput, title: 'Message', instructions: text, message: { topic, mode: 'normal' as const } };
  const lane = threadLane(chatId, topic);
  return (await world.store.addRun(world.make.newRun({ chatId, lane, input, createdAt: at }))).runId;
}

/** Two tasks, of which each has run once, and a message in a topic. */
async function aPlace(world: World) {
  const water = await aTask(world, { subject: 'plants', tags: ['home', 'daily'] });
  await claimAll(world, { now: nine, limit: 1 });
  const cat = await aTask(world, { title: 'Cat', subject: 'cat', tags: ['home'], home: threadOf('-100', 7) });
  await claimAll(world, { now: nine + minute, limit: 1 });
  await world.query('update runs set created_at = ?i where task_id = ?t', nine + minute, cat.id);
  const text = 'Ready: "water" C:\\new';
  const message = await aMessageRun(world, water.chatId, { topic: 7, text, at: nine + 2 * minute });
  const runOf = async (taskId: string) =>
    (await world.query<{ id: string }>('select id from runs where task_id = ?t', taskId))[0]?.id ?? '';
  return { water, cat, ofWater: await runOf(water.id), ofCat: await runOf(cat.id), message };
}

interface Ending {
  readonly status: RunStatus;
  readonly error?: string;
}

async function endAs(world: World, id: string, { status, error }: Ending): Promise<void> {
  await world.query(
    `update runs set status = ?t, error = ?t, finished_at = ?i where id = ?t`,
    status,
    error ?? null,
    nine + hour,
    id,
  );
}

/** Runs of every kind in one list. */
export function runListTests(open: OpenWorld): void {
  test('all runs are listed, newest first, each as it is when it is read alone', async () => {
    const world = await open();
    const { ofWater, ofCat, message } = await aPlace(world);
    const { items } = await world.store.listRuns(everything);

    expect(items.map(({ id }) => id)).toEqual([message, ofCat, ofWater]);
    expect(items).toEqual(await Promise.all(items.map(({ id }) => world.store.readRun(id))));
    const tasks = items.slice(1).map(({ taskId }) => `task:${taskId}`);
    expect(items.map(({ source }) => source)).toEqual(['api', ...tasks]);
    expect(items.map(({ thread }) => thread)).toEqual([threadOf('-100', 7), threadOf('-100', 7), group]);
  });

  test('a list is read in pages that neither repeat nor leave out a run', async () => {
    const world = await open();
    const { ofWater, ofCat, message } = await aPlace(world);

    expect(await allOf(world, { limit: 1 })).toEqual({ ids: [message, ofCat, ofWater], pages: 3 });
    expect(await allOf(world, { limit: 3 })).toMatchObject({ ids: [message, ofCat, ofWater] });
    expect(await allOf(world, { limit: 1, states: liveStatuses })).toMatchObject({ ids: [message, ofCat, ofWater] });
  });

  test.each([
    ['a task', async ({ water }: Place) => ({ taskId: water.id }), ['ofWater']],
    ['a chat', async () => ({ thread: group }), ['message', 'ofCat', 'ofWater']],
    ['a topic', async () => ({ thread: threadOf('-100', 7) }), ['message', 'ofCat']],
    ['another chat', async () => ({ thread: threadOf('-200') }), []],
    ['what asked for it', async () => ({ source: 'api' }), ['message']],
    ['a subject', async () => ({ subject: 'cat' }), ['ofCat']],
    ['a tag', async () => ({ tags: ['home'] }), ['ofCat', 'ofWater']],
    ['all of several tags', async () => ({ tags: ['home', 'daily'] }), ['ofWater']],
    ['a part of a tag', async () => ({ tags: ['hom'] }), []],
    ['words in another case', async () => ({ text: 'READY' }), ['message']],
    ['words with signs that JSON escapes', async () => ({ text: ': "WATER" c:\\New' }), ['message']],
    ['a field of what is kept, which nobody wrote', async () => ({ text: 'instructions' }), []],
    ['the first instant', async () => ({ from: nine + minute }), ['message', 'ofCat']],
    ['the last instant', async () => ({ to: nine + minute }), ['ofCat', 'ofWater']],
    ['a stretch of time', async () => ({ from: nine + minute, to: nine + minute }), ['ofCat']],
    ['several of them', async () => ({ tags: ['home'], from: nine + minute, source: 'task' }), ['ofCat']],
  ] as const)('they are found by %s', async (_what, query, expected) => {
    const world = await open();
    const place = await aPlace(world);

    expect((await allOf(world, await query(place))).ids).toEqual(expected.map((name) => place[name]));
  });

  test('they are found by how they stand', async () => {
    const world = await open();
    const { ofWater, ofCat, message } = await aPlace(world);
    await endAs(world, ofWater, { status: 'failed', error: 'the garden is closed' });

    expect((await pageOf(world, { states: ['failed'] })).ids).toEqual([ofWater]);
    expect((await pageOf(world, { states: liveStatuses })).ids).toEqual([message, ofCat]);
    expect((await pageOf(world, { states: ['queued'] })).ids).toEqual([message, ofCat]);
    for (const states of [['running'], []] as const) expect((await pageOf(world, { states })).ids).toEqual([]);
    expect((await pageOf(world, { states: ['failed', 'cancelled'] })).ids).toEqual([ofWater]);
    expect((await pageOf(world, { text: 'Garden' })).ids).toEqual([ofWater]);
    expect((await pageOf(world, { states: liveStatuses, tags: ['home'] })).ids).toEqual([ofCat]);
  });

  test('a chat is found by an address that it had before', async () => {
    const world = await open();
    const { id } = await aChat(world);
    const message = await aMessageRun(world, id);
    await world.store.moveChat('-100', '-1001', nine);

    expect((await pageOf(world, { thread: group })).ids).toEqual([message]);
    expect((await world.store.readRun(message))?.thread).toEqual(threadOf('-1001'));
  });

  test('a run whose input cannot be read is listed and found all the same', async () => {
    const world = await open();
    const { ofWater, message } = await aPlace(world);
    await world.query(`update runs set input = '{' where id in (?t, ?t)`, ofWater, message);

    expect((await pageOf(world, {})).ids).toContain(ofWater);
    expect((await pageOf(world, { text: 'ready' })).ids).toEqual([message]);
  });

  test('a cursor of another list, or of the list of one task, is refused', async () => {
    const world = await open();
    const { water } = await aPlace(world);
    const { next } = await pageOf(world, { limit: 1 });

    await expect(pageOf(world, { cursor: 'bm9uc2Vuc2U' })).rejects.toMatchObject({ code: 'invalid_cursor' });
    await expect(pageOf(world, { taskId: water.id, cursor: next })).rejects.toMatchObject({ code: 'invalid_cursor' });
    await expect(pageOf(world, { cursor: Buffer.from('run:at:5').toString('base64url') })).rejects.toMatchObject({
      code: 'invalid_cursor',
    });
  });
}

type Place = Awaited<ReturnType<typeof aPlace>>;

const many = 4500;

/** Thousands of runs that have ended, of which the oldest alone failed, and some that live. */
async function aLongHistory(world: World) {
  const { id: chatId } = await aChat(world);
  const failed = await aMessageRun(world, chatId, { text: 'The oldest' });
  const live = await aMessageRun(world, chatId, { text: 'It waits' });
  // Their ids come after all others, and the ten thousands keep them in one order as numbers and as texts.
  await world.query(
    `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, owner_id, status, ready_at, fence, attempts,
       interruptions, input, created_at, finished_at, chat_id)
     with recursive n(i) as (select 10001 union all select i + 1 from n where i < 10000 + ${many})
     select 'z' || i, 'task', 'k' || i, '', 0, 5, 'system', 'succeeded', ?i, 1, 1, 0, '{}', ?i, ?i, ?t from n`,
    nine,
    nine,
    nine,
    chatId,
  );
  await endAs(world, failed, { status: 'failed' });
  return { chatId, failed, live };
}

/** What is asked of a long history. */
export function longRunListTests(open: OpenWorld): void {
  test('a look is bounded: what stands far back is found by going on, and pages in between may be empty', async () => {
    const world = await open();
    const { failed } = await aLongHistory(world);
    const first = await pageOf(world, { states: ['failed'] });

    expect(first).toMatchObject({ ids: [], next: expect.any(String) as string });
    const all = await allOf(world, { states: ['failed'] });
    expect(all.ids).toEqual([failed]);
    expect(all.pages).toBe(3);
  });

  test('what lives is found in one look, however much has ended since', async () => {
    const world = await open();
    const { live, chatId } = await aLongHistory(world);

    expect(await pageOf(world, { states: liveStatuses })).toEqual({ ids: [live], next: null });
    expect(await pageOf(world, { states: ['queued'], text: 'waits' })).toEqual({ ids: [live], next: null });
    expect(await pageOf(world, { states: ['backoff'] })).toEqual({ ids: [], next: null });
    await world.query(`update runs set status = 'queued' where chat_id = ?t and status = 'succeeded'`, chatId);
    expect((await allOf(world, { states: liveStatuses, limit: 200 })).ids).toHaveLength(many + 1);
  });

  test('the runs of one task are found in one look, however many others there are', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, { now: nine, limit: 1 });
    await aLongHistory(world);

    const found = await pageOf(world, { taskId: task.id });
    expect(found).toEqual({ ids: [expect.any(String) as string], next: null });
  });

  test('a run whose output cannot be read is shown without it, and so are those beside it', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, { now: nine, limit: 1 });
    const started = await startOne(world, nine);
    await world.store.finishRuns([endOf(started, { output: { text: 'Dry.' } })]);
    await world.query(`update runs set output = '{"text":'`);
    expect(await world.store.readRun(started.run.id)).toMatchObject({
      taskId: task.id,
      status: 'succeeded',
      output: null,
    });
  });

  test('the last result of a task is that of its latest slot that ended well, and its outcome that of any', async () => {
    const { world, task } = await withTask(open);
    const { store, make } = world;
    const none = { lastOutcome: null, skippedAt: null, number: null, at: null, output: null };
    expect([await store.lastResult('nobody'), await store.lastResult(task.id)]).toEqual([null, none]);
    await claimAll(world, { now: nine, limit: 1 });
    const started = await startOne(world, nine);
    expect(await store.lastResult(task.id)).toEqual(none);
    await store.finishRuns([endOf(started, { output: { text: 'Dry.' } })]);
    const { finishedAt: at } = endOf(started);
    const dry = { lastOutcome: 'succeeded', skippedAt: null, number: 1, at, output: { text: 'Dry.' } };
    expect(await store.lastResult(task.id)).toEqual(dry);
    await world.query('update tasks set next_at = ?i where id = ?t', nine + 9 * hour, task.id);
    for (const [hours, source, status] of [
      [1, 'replay', 'succeeded'],
      [2, 'schedule', 'failed'],
    ] as const) {
      await world.query(
        `insert into occurrences (id, task_id, slot_at, source, status, run_id, late_ms, created_at, updated_at)
         values ('${make.id()}', '${task.id}', ${nine + hours * hour}, '${source}', '${status}', 'other', 0, ${nine}, ${nine + hours * hour})`,
      );
    }
    expect(await store.lastResult(task.id)).toEqual({ ...dry, lastOutcome: 'failed' });
  });
}
