import { expect, test } from 'vitest';
import type { TaskInput } from '../../../src/app/tasks/definition.ts';
import { uploadBytesMax } from '../../../src/domain/files/limits.ts';
import { second } from '../../support/fakes.ts';
import { aPipeline, hour, hourly, type Pipeline } from '../../support/pipeline.ts';

const kB = 1024;

function bringing(...files: readonly (readonly [name: string, size: number])[]): Partial<TaskInput> {
  return { schedule: hourly, action: { kind: 'echo', files: files.map(([name, size]) => ({ name, size })) } };
}

/** Outputs of the runs of a task, the last one first. */
async function outputsOf({ store }: Pipeline, taskId: string) {
  const { items } = await store.listTaskRuns({ taskId, status: null, limit: 10, cursor: null });
  return Promise.all(items.map(async ({ runId }) => (await store.readRun(runId ?? ''))?.output ?? null));
}

function rowsIn({ database }: Pipeline, table: string): number {
  return database.prepare(`select count(*) from ${table}`).pluck().get() as number;
}

/** The whole outbox, as it was planned. */
function plannedIn({ database }: Pipeline): readonly Record<string, unknown>[] {
  const rows = database.prepare(`select content from deliveries where kind = 'result' order by id`).pluck().all();
  return rows.map((content) => JSON.parse(String(content)) as Record<string, unknown>);
}

test('the files of a run are in the store before its end, which refers to them and to nothing else', async () => {
  const p = await aPipeline();
  const task = await p.create(bringing(['a.txt', 300 * kB], ['b.txt', 10]));
  await p.pass(hour);

  const [output] = await outputsOf(p, task.id);
  const file = (name: string, size: number) => ({ kind: 'document', name, mime: 'text/plain', size });
  expect(output).toMatchObject({ attachments: [file('a.txt', 300 * kB), file('b.txt', 10)] });
  const { attachments } = output as { attachments: { sha256: string }[] };
  for (const { sha256 } of attachments) {
    const bytes = await p.rooms.blobs.readBlob(task.chatId, sha256);
    expect(bytes?.length).toBeGreaterThan(0);
  }
  expect([rowsIn(p, 'blobs'), rowsIn(p, 'blob_chunks'), rowsIn(p, 'blob_refs')]).toEqual([2, 3, 2]);
  expect(plannedIn(p).some(({ media }) => (media as { name?: string } | undefined)?.name === 'a.txt')).toBe(true);
});

test('equal files of many runs are kept once', async () => {
  const p = await aPipeline();
  const task = await p.create(bringing(['a.txt', 300 * kB]));
  for (let run = 0; run < 3; run += 1) await p.pass(hour);
  expect(await outputsOf(p, task.id)).toHaveLength(3);
  expect([rowsIn(p, 'blobs'), rowsIn(p, 'blob_chunks'), rowsIn(p, 'blob_refs')]).toEqual([1, 2, 3]);
});

test('a run for whose files there is no room succeeds, and tells one line for each that did not fit', async () => {
  const p = await aPipeline();
  const task = await p.create(bringing(['small.txt', 10 * kB], ['large.txt', 1100 * kB], ['other.txt', 20 * kB]));
  await p.pass(hour);

  const [run] = await p.history(task.id);
  expect(run?.status).toBe('succeeded');
  const [output] = await outputsOf(p, task.id);
  const reason = 'the files of this chat take up all the room that it has';
  expect(output).toMatchObject({
    attachments: [
      { name: 'small.txt' },
      { name: 'large.txt', size: 1100 * kB, missing: reason },
      { name: 'other.txt' },
    ],
  });
  const words = plannedIn(p)
    .map(({ text }) => String(text))
    .join('\n');
  expect(words).toContain(`(large.txt, 1.1 MB, is missing: ${reason}.)`);
});

test('a file that nobody could be sent is not kept, and takes nothing else along', async () => {
  const p = await aPipeline({ settings: { BLOB_QUOTA_PER_CHAT: 2 ** 40 } });
  const task = await p.create(bringing(['film.mp4', uploadBytesMax + 1], ['a.txt', 5]));
  await p.pass(hour);
  const [output] = await outputsOf(p, task.id);
  expect(output).toMatchObject({ attachments: [{ missing: 'a file has 50 MB at most' }, { name: 'a.txt' }] });
  expect(rowsIn(p, 'blobs')).toBe(1);
});

test('a process that dies between the bytes and the end leaves bytes that expire, and the next one brings them again', async () => {
  const p = await aPipeline();
  const task = await p.create(bringing(['a.txt', 300 * kB]));
  const finishRuns = p.store.finishRuns.bind(p.store);
  let died = false;
  Object.assign(p.store, {
    finishRuns: async () => {
      died = true;
      return new Promise(() => undefined);
    },
  });
  void p.pass(hour);
  await expect.poll(() => died).toBe(true);
  expect([rowsIn(p, 'blobs'), rowsIn(p, 'blob_refs')]).toEqual([1, 0]);
  Object.assign(p.store, { finishRuns });
  const next = p.restart();
  await next.pass(second);
  expect(await outputsOf(next, task.id)).toMatchObject([{ attachments: [{ name: 'a.txt' }] }]);
  expect([rowsIn(p, 'blobs'), rowsIn(p, 'blob_refs')]).toEqual([1, 1]);
});

test('a question for approval names the files, and all of them wait for the answer', async () => {
  const p = await aPipeline();
  const brought = bringing(['a.txt', 10], ['b.txt', 20]);
  const task = await p.create({ ...brought, instructions: 'For you', policies: { approval: 'required' } });
  await p.pass(hour);

  const asked = p.database.prepare(`select content from deliveries where content like '%"view":"approval"%'`).pluck();
  expect(JSON.parse(String(asked.get()))).toMatchObject({ text: 'For you\n\n[a.txt, b.txt]' });
  const waiting = p.database.prepare(`select status, cause from deliveries where kind = 'result'`);
  expect(waiting.all()).toEqual([1, 2, 3].map(() => ({ status: 'blocked', cause: 'approval' })));
  const { runId } = (await p.history(task.id))[0] ?? {};
  await p.rooms.approvals.decide({ runId: runId ?? '', actor: 'telegram:user:1001', isGiven: true });
  await p.pass(second);
  expect(new Set(waiting.all().map((row) => (row as { status: string }).status))).toEqual(new Set(['delivered']));
});
