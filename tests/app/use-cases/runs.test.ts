import { describe, expect, it } from 'vitest';
import type { RunQuery, RunView, Page } from '../../../src/app/ports/runs.ts';
import { createRuns } from '../../../src/app/use-cases/runs.ts';
import { aChat, actor, aPipeline, group, ingest, minute, type Pipeline } from '../../support/pipeline.ts';

const by = { actor: 'api:token:default', traceId: 'trace-1' } as const;

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
  limit: 2,
  cursor: null,
};

async function aPlace(): Promise<Pipeline> {
  const p = await aPipeline();
  await aChat(p);
  return p;
}

function post(p: Pipeline, threadKey = group): Promise<RunView> {
  return p.rooms.messages.post({ threadKey, text: 'Hello', source: 'api', mode: 'normal', idempotencyKey: null });
}

describe('how a run ended', () => {
  it('is not told while it lives, but how it stands is', async () => {
    const p = await aPlace();
    const { id } = await post(p);

    await expect(p.rooms.runs.result(id)).rejects.toMatchObject({
      code: 'not_finished',
      details: { run_id: id, status: 'running', state: 'queued' },
    });
    await expect(p.rooms.runs.result('none')).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it.each([
    ['succeeded', { kind: 'echo' }, { status: 'succeeded', error: null }],
    ['failed', { kind: 'echo', fail_attempts: 9, error: 'final' }, { status: 'failed', output: null }],
  ] as const)('is told when it has %s', async (_how, action, expected) => {
    const p = await aPlace();
    const task = await p.create({ action });
    const { taskRun } = await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await p.settle();

    expect(await p.rooms.runs.result(taskRun.runId ?? '')).toMatchObject(expected);
  });
});

describe('the list of all runs', () => {
  /** A store whose looks find what a test says, page by page. */
  function listOver(pages: readonly (readonly string[])[]) {
    const asked: Pick<RunQuery, 'cursor' | 'limit'>[] = [];
    const yields = { count: 0 };
    const runs = createRuns({
      store: {
        listRuns: async ({ cursor, limit }): Promise<Page<RunView>> => {
          asked.push({ cursor, limit });
          const at = cursor === null ? 0 : Number(cursor);
          const items = (pages[at] ?? []).map((id) => ({ id }) as RunView);
          return { items, next: at + 1 < pages.length ? String(at + 1) : null };
        },
        readRun: async () => null,
        broughtBack: async () => null,
        liveRunsOf: async () => [],
        cancelRuns: async () => 0,
      },
      blobs: { openBlob: async () => null },
      clock: { now: () => 0 },
      timer: {
        after: () => () => undefined,
        yield: async () => {
          yields.count += 1;
        },
      },
      bell: { ring: () => undefined },
    });
    return { asked, yields, list: (query: Partial<RunQuery> = {}) => runs.list({ ...everything, ...query }) };
  }

  it('looks on while a page is not full, and lets others have their turn in between', async () => {
    const { list, asked, yields } = listOver([[], ['a'], [], ['b'], ['c']]);
    const { items, next } = await list();

    expect({ ids: items.map(({ id }) => id), next }).toEqual({ ids: ['a', 'b'], next: '4' });
    expect(asked.map(({ limit }) => limit)).toEqual([2, 2, 1, 1]);
    expect(yields.count).toBe(3);
  });

  it('answers what it has found after some looks, and goes on from there', async () => {
    const { list, asked } = listOver([...Array.from({ length: 25 }, () => []), ['far']]);

    const first = await list();
    expect({ items: first.items, next: first.next, looks: asked.length }).toEqual({ items: [], next: '10', looks: 10 });
    const last = await list({ cursor: '20' });
    expect({ ids: last.items.map(({ id }) => id), next: last.next }).toEqual({ ids: ['far'], next: null });
  });
});

describe('calling off what a thread has under way', () => {
  it('stops what its tasks run and messages that wait, and nothing of other threads', async () => {
    const p = await aPlace();
    const slow = await p.create({ action: { kind: 'echo', delay_ms: 20_000 } });
    const elsewhere = await p.create({ action: { kind: 'echo', delay_ms: 20_000 } }, { threadKey: 'cli:default' });
    await p.pass(5 * minute);
    const [first, second] = [await post(p), await post(p)];

    expect(await p.rooms.runs.cancelThread(group, by)).toEqual({ cancelled: 3, left: 0 });
    expect(await p.rooms.runs.cancelThread(group, by)).toEqual({ cancelled: 0, left: 0 });
    await p.settle();
    const statuses = [first, second].map(async ({ id }) => (await p.store.readRun(id))?.status);
    expect(await Promise.all(statuses)).toEqual(['cancelled', 'cancelled']);
    expect(await p.history(slow.id)).toMatchObject([{ status: 'cancelled', reason: 'cancelled' }]);
    expect(await p.history(elsewhere.id)).toMatchObject([{ status: 'dispatched' }]);
    expect(p.chat.shown).toEqual([]);
    expect(p.database.prepare(`select actor, task_id, trace_id from audit where verb = 'cancel'`).all()).toEqual([
      { actor: by.actor, task_id: slow.id, trace_id: 'trace-1' },
    ]);
  });

  it('reaches every run, however many there are', async () => {
    const p = await aPlace();
    for (let count = 0; count < 250; count += 1) await post(p, 'cli:default');

    expect(await p.rooms.runs.cancelThread('cli:default', by)).toEqual({ cancelled: 250, left: 0 });
  });

  it('finds nothing in a thread that nobody knows, and refuses what is none', async () => {
    const p = await aPlace();

    expect(await p.rooms.runs.cancelThread('cli:nobody', by)).toEqual({ cancelled: 0, left: 0 });
    await expect(p.rooms.runs.cancelThread('nonsense', by)).rejects.toMatchObject({ code: 'invalid_thread_key' });
  });

  it('counts what ended by itself in the meantime as left', async () => {
    const p = await aPlace();
    const { id } = await post(p);
    const stale = createRuns({
      store: { ...p.store, liveRunsOf: async () => [id] },
      clock: p.time,
      timer: p.time,
      bell: p.rooms.bell,
      blobs: p.rooms.blobs,
    });
    await p.settle();

    expect(await stale.cancelThread(group, by)).toEqual({ cancelled: 0, left: 1 });
    expect((await p.store.readRun(id))?.status).toBe('succeeded');
  });
});

it('the messages of a thread are served in order, to their end, and threads side by side', async () => {
  const p = await aPipeline();
  const ids: string[] = [];
  for (const [idempotencyKey, lane] of ['a1', 'a2', 'b1'].map((key) => [key, key.slice(0, 1)] as const))
    ids.push(
      (await ingest(p, { action: { kind: 'echo', delay_ms: 1000 }, delivers: false }, { idempotencyKey, lane })).runId,
    );
  const states = async () => Promise.all(ids.map(async (id) => (await p.store.readRun(id))?.status));
  await p.settle();
  expect(await states()).toEqual(['running', 'queued', 'running']);
  await p.pass(1000);
  expect(await states()).toEqual(['succeeded', 'running', 'succeeded']);
  await p.pass(1000);
  expect(await states()).toEqual(['succeeded', 'succeeded', 'succeeded']);
});
