import { expect, it } from 'vitest';
import { createBacklogWord } from '../../../src/app/housekeeping/backlog.ts';
import { createBell } from '../../../src/app/jobs/jobs.ts';
import { backlogEveryMs } from '../../../src/domain/limits.ts';
import { countingIds } from '../../support/fakes.ts';
import { minute, start, withTask } from '../../support/pipeline.ts';

async function aBacklog(results: number) {
  const { p, task } = await withTask({
    schedule: { kind: 'once', once_at: new Date(start + minute).toISOString(), timezone: 'UTC' },
  });
  const add = p.database.prepare(
    `insert into deliveries (id, chat_id, lane, rank, kind, part, status, ready_at, content, unknown_policy, fence, sends, put_offs, settles, created_at)
     values (?, ?, ?, 1, 'result', 1, 'pending', ?, '{"text":"x"}', 'resend', 0, 0, 0, 0, ?)`,
  );
  for (let index = 0; index < results; index += 1) add.run(`r${index}`, task.chatId, `lane ${index}`, start, start);
  const held = new Set([task.chatId]);
  const chore = createBacklogWord({
    store: p.store,
    pacer: { heldChats: () => held },
    ids: countingIds('word'),
    bell: createBell(),
  });
  const words = () =>
    p.database.prepare(`select content, rank from deliveries where kind = 'answer'`).all() as {
      content: string;
      rank: number;
    }[];
  return { p, chore, held, words };
}

it('tells a chat once how many of its results wait, ahead of them, and again for the next backlog', async () => {
  const { p, chore, held, words } = await aBacklog(6);
  await chore.step(start + minute, 1);
  await chore.step(start + minute + backlogEveryMs, 1);
  expect(words().map(({ content, rank }) => [JSON.parse(content) as object, rank])).toEqual([
    [{ view: 'backlog', waiting: 6, oldestAt: start }, 0],
  ]);
  p.database.exec(`update deliveries set status = 'failed' where kind = 'result'`);
  held.clear();
  await chore.step(start + 2 * minute, 1);
  p.database.exec(`update deliveries set status = 'pending' where kind = 'result'`);
  for (const { id } of [...p.database.prepare('select id from chats').all()] as { id: string }[]) held.add(id);
  await chore.step(start + 3 * minute, 1);
  expect(words()).toHaveLength(2);
});

it('says nothing of a few results, of results that have just come, and of chats that need not wait', async () => {
  const few = await aBacklog(4);
  await few.chore.step(start + minute, 1);
  const fresh = await aBacklog(6);
  await fresh.chore.step(start + minute - 1, 1);
  const free = await aBacklog(6);
  free.held.clear();
  await free.chore.step(start + minute, 1);
  expect([...few.words(), ...fresh.words(), ...free.words()]).toEqual([]);
});
