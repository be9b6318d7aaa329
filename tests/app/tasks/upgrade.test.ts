import type { Database } from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { migrateSqlite, readMigrations } from '../../../src/store/engine/migrate.ts';
import { actor, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import { auditOf, failing, find, hourly, nextIn, once, runIdOf, story, target } from './world.ts';

type Row = Readonly<Record<string, unknown>>;

const tablesOf = (database: Database) =>
  database
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    .pluck()
    .all() as string[];

/** A run whose texts stand in its input. */
function inOneText({ title, instructions, ...row }: Row): Row {
  return { ...row, input: JSON.stringify({ title, instructions, ...(JSON.parse(String(row['input'])) as object) }) };
}

/** Takes a database back to how the first version would have written it: the same rows, as far as its tables knew them. */
function asFirstVersion(database: Database, tables: ReadonlyMap<string, readonly Row[]>): void {
  const known = new Set(tablesOf(database));
  for (const [name, rows] of tables) {
    if (!known.has(name) || name === 'schema_migrations') continue;
    const columns = database.prepare(`select name from pragma_table_info(?)`).pluck().all(name) as string[];
    const insert = database.prepare(
      `insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    );
    for (const row of name === 'runs' ? rows.map(inOneText) : rows) insert.run(columns.map((column) => row[column]));
  }
}

/** The same data after an upgrade from the first version, under a new process. */
async function upgraded(p: Pipeline): Promise<Pipeline> {
  const { database } = p;
  const tables = new Map(
    tablesOf(database).map((name) => [name, database.prepare(`select * from ${name}`).all() as Row[]]),
  );
  database.pragma('foreign_keys = off');
  for (const name of tables.keys()) database.exec(`drop table ${name}`);
  const [first] = readMigrations('sqlite');
  if (first === undefined) throw new Error('there is no first version');
  await migrateSqlite(database, start, [first]);
  asFirstVersion(database, tables);
  database.pragma('foreign_keys = on');
  await migrateSqlite(database, p.time.now());
  return p.restart();
}

/** What the first version wrote about a deed. */
function oldAudit(p: Pipeline, task: { readonly id: string }, verb: string, before: object | null): void {
  p.database
    .prepare('insert into audit (at, actor, verb, task_id, before) values (?, ?, ?, ?, ?)')
    .run(p.time.now(), actor, verb, task.id, before === null ? null : JSON.stringify(before));
}

describe('a database of the first version', () => {
  it('has no events and no versions, and every verb works on it', async () => {
    const { p: old, task: made } = await withTask({ title: 'One', schedule: hourly, action: failing });
    await old.pass(hour);
    const p = await upgraded(old);
    expect(auditOf(p)).toMatchObject([{ verb: 'create', state_before: null, state_after: 'active' }]);
    expect(p.database.prepare('select count(*) from events').pluck().get()).toBe(0);

    const { tasks } = p.rooms;
    const [slot] = await p.history(made.id);
    await tasks.edit(target(made), { title: 'Two' });
    expect((await tasks.undo(target(made), null)).task.title).toBe('One');
    expect((await tasks.versions(made.id)).map(({ definition }) => definition.title)).toEqual(['One', 'Two', 'One']);
    await tasks.skip(target(made), { count: 1, from: null });
    await tasks.unskip(target(made));
    await tasks.snooze(target(made), { forMs: 10 * minute });
    await tasks.pause(target(made), p.time.now() + minute);
    await p.pass(minute);
    expect(await nextIn(p, made)).toBe(120);
    if (slot === undefined) throw new Error('the slot has run');
    await tasks.repeat('retry', runIdOf(slot), { actor });
    await p.settle();
    await tasks.repeat('replay', runIdOf(slot), { actor });
    await p.settle();
    await tasks.runNow(target(made));
    await tasks.cancel(target(made));
    await tasks.delete(target(made));
    await tasks.restore(target(made));
    await p.pass(59 * minute);
    expect(await story(p, made)).toEqual([
      '60 failed',
      '61 retry failed',
      '61 replay failed',
      '61 run_now cancelled cancelled',
      '70 snooze cancelled deleted',
      '120 failed',
    ]);
  });

  it('has tasks that were paused and deleted by it, which go on from where they stood', async () => {
    const { p: old, task: paused } = await withTask({ schedule: hourly });
    await old.rooms.tasks.pause(target(paused), null);
    const gone = await old.create({ schedule: hourly });
    await old.rooms.tasks.delete(target(gone));
    const both = await old.create({ schedule: hourly });
    await old.rooms.tasks.pause(target(both), null);
    await old.rooms.tasks.delete(target(both));
    const completed = await old.create({ schedule: once(1) });
    await old.pass(hour);
    old.database.exec('delete from audit');
    oldAudit(old, paused, 'pause', { state: 'active' });
    oldAudit(old, gone, 'delete', { state: 'active' });
    oldAudit(old, both, 'pause', { state: 'active' });
    oldAudit(old, both, 'delete', { state: 'paused' });
    const p = await upgraded(old);
    const { tasks } = p.rooms;
    expect((await tasks.undo(target(paused), null)).task).toMatchObject({ state: 'active', nextAt: start + 2 * hour });
    expect((await tasks.restore(target(gone))).task).toMatchObject({ state: 'active', nextAt: start + 2 * hour });
    expect((await tasks.restore(target(both))).task).toMatchObject({
      state: 'paused',
      pausedReason: 'manual',
      resumeAt: null,
    });
    expect((await tasks.edit(target(completed), { schedule: once(5) })).task.state).toBe('active');
  });

  it('has edits that can be undone by their entries', async () => {
    const { p: old, task } = await withTask({ title: 'New', subject: 's', schedule: hourly });
    old.database.exec('delete from audit');
    oldAudit(old, task, 'edit', { title: 'Old', subject: null });
    const p = await upgraded(old);
    expect((await p.rooms.tasks.undo(target(task), null)).task).toMatchObject({ title: 'Old', subject: null });
  });

  it('keeps what waits and what is live, and goes on with it', async () => {
    const { p: old, task } = await withTask({ schedule: hourly, policies: { overlap: 'queue' } });
    await old.time.advance(hour);
    await old.rooms.scheduler.step(old.time.now(), 10);
    await old.rooms.tasks.runNow(target(task));
    const p = await upgraded(old);
    await p.settle();
    expect(await story(p, task)).toEqual(['60 succeeded', '60 run_now succeeded']);
    expect((await find(p, task)).version).toBe(1);
  });
});
