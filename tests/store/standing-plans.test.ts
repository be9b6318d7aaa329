import type { Database } from 'better-sqlite3';
import { expect, test } from 'vitest';
import { watched } from '../support/fresh-sqlite.ts';
import { aPipeline, day, hour, minute } from '../support/pipeline.ts';

/** Indexes that hold only what is open: to walk one of them is no more work than there is to do. */
function openIndexes(database: Database): ReadonlySet<string> {
  const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[];
  const indexes = tables.flatMap(
    (table) => database.pragma(`index_list(${table})`) as { name: string; partial: 0 | 1 }[],
  );
  return new Set(indexes.filter(({ partial }) => partial === 1).map(({ name }) => name));
}

const growing = ['tasks', 'occurrences', 'runs', 'attempts', 'deliveries', 'events', 'audit', 'inbox', 'chat_aliases'];

/** Whether a step passes every row of a table that grows, or every chat, from where it would go on to all of their tasks. */
function isWide(detail: string, text: string, open: ReadonlySet<string>): boolean {
  if (/chats_address \(provider=\?\)/.test(detail)) return /\btasks\b/.test(text);
  const [, table, index = ''] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
  if (table === undefined) return false;
  const isOfTable = growing.some((name) => name === table || new RegExp(`\\b${name}(?: as)? ${table}\\b`).test(text));
  // In the order of a key, a statement ends where its limit does.
  return isOfTable && !open.has(index) && !(index.startsWith('sqlite_autoindex') && /\blimit\b/.test(text));
}

/** Everything that a start, a loop or a watcher asks again and again. */
async function standingQuestions() {
  const p = await aPipeline();
  const { statements, planOf } = watched(p.database);
  const { rooms, store, time } = p;
  await rooms.downtimes.open();
  await p.create();
  await p.pass(hour);
  for (const room of [rooms.scheduler, rooms.runner, rooms.deliverer, rooms.nagging]) await room.nextAt(time.now());
  // All chores: those of the day, and those of the night.
  for (let steps = 0; steps < 150; steps += 1) {
    await time.advance(steps === 50 ? day : minute);
    await rooms.housekeeper.step(time.now(), 100);
  }
  await store.sentSince(time.now());
  await store.staleMembers(time.now(), time.now(), 10);
  await store.serverFacts(time.now());
  await store.workload(time.now(), 10);
  await store.taskTally('', 10);
  const asked = [...statements].filter((text) => /^\s*(?:select|with|update|delete)/i.test(text));
  expect(asked.length).toBeGreaterThan(80);
  return { database: p.database, asked, planOf };
}

test('nothing that is asked again and again passes all tasks, however many there are', async () => {
  const { database, asked, planOf } = await standingQuestions();
  const open = openIndexes(database);
  const faults = asked.flatMap((text) =>
    planOf(text).flatMap((detail) => (isWide(detail, text, open) ? [`${detail}: ${text}`] : [])),
  );
  expect(faults).toEqual([]);
});

test('nothing that is asked again and again is planned again, whatever is bound to it', async () => {
  const { database, asked } = await standingQuestions();
  const bestOf = (work: () => unknown) => {
    const took = Array.from({ length: 30 }, () => {
      const from = performance.now();
      work();
      return performance.now() - from;
    });
    return Math.min(...took);
  };
  const prepared = asked.map((text) => ({ text, statement: database.prepare<unknown[]>(text) }));
  const faults = prepared.filter(({ text, statement }) => {
    if (!statement.readonly) return false;
    // Nothing is found, so the work of a statement that keeps its plan is next to none.
    const values = (text.match(/\?/g) ?? []).map(() => 0);
    return bestOf(() => statement.all(values)) > 0.7 * bestOf(() => database.prepare(text));
  });
  expect(faults.map(({ text }) => text)).toEqual([]);
});
