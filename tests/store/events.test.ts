import { describe, expect, onTestFinished, test } from 'vitest';
import type { EventPage } from '../../src/app/ports/why.ts';
import type { Script } from '../../src/store/engine/engine.ts';
import { migratePostgres } from '../../src/store/engine/migrate.ts';
import { postgresEngine, postgresPool } from '../../src/store/engine/postgres.ts';
import { tellEvents } from '../../src/store/records/journal.ts';
import { nine } from '../support/builders.ts';
import { freshPostgres } from '../support/postgres.ts';
import { worldOver, worldsOf, type World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';

function* tell(ref: string): Script<void> {
  yield* tellEvents([{ kind: 'run.started', at: nine, taskId: null, ref }]);
}

const read = ({ store }: World, after: string | null): Promise<EventPage> =>
  store.readEvents({ after, taskId: null, limit: 3 });

const refs = ({ events }: EventPage) => events.map(({ ref }) => ref);

/** A database of its own, that a start can find as it is. */
async function aServer(): Promise<{ readonly world: World; readonly restart: () => Promise<void> }> {
  const database = await freshPostgres();
  const connections = postgresPool(database.url);
  onTestFinished(async () => {
    await connections.end();
    await database.drop();
  });
  const restart = async () => {
    const client = await connections.connect();
    await migratePostgres(client, 0).finally(() => client.release());
  };
  await restart();
  return { world: worldOver(postgresEngine(connections), () => postgresEngine(connections)), restart };
}

describe('events on a real Postgres', () => {
  const open = worldsOf('postgres');

  test('those of another cluster stay readable in their order, and no reader of theirs misses what is new', async () => {
    const { world, restart } = await aServer();
    // A dump keeps the numbers of transactions that this cluster has not come to yet, and of some that it has.
    for (const [tx, ref] of [
      [900_000_000, 'a'],
      [5, 'b'],
      [900_000_001, 'c'],
    ] as const) {
      await world.query(`insert into events (tx, at, kind, ref) values (?i, ?i, 'run.started', ?t)`, tx, nine, ref);
    }
    const kept = await world.query<{ id: number }>(`select id from events order by id`);
    const cursors = kept.map(({ id }, index) =>
      Buffer.from(`event:${[900_000_000, 5, 900_000_001][index]}:${id}`).toString('base64url'),
    );
    await restart();
    const everything = async (after: string | null) => {
      const seen: (string | null)[] = [];
      for (let cursor = after; ;) {
        const page: EventPage = await read(world, cursor);
        seen.push(...refs(page));
        cursor = page.next;
        if (page.events.length === 0) return seen;
      }
    };
    expect(await everything(null)).toEqual(['a', 'b', 'c']);
    await world.engine.transact(() => tell('new'));
    while ((await everything(null)).length < 4);
    expect(await everything(null)).toEqual(['a', 'b', 'c', 'new']);
    expect(await Promise.all(cursors.map(everything))).toEqual([['b', 'c', 'new'], ['c', 'new'], ['new']]);
    // Also when the event has been removed meanwhile.
    await world.query(`delete from events where ref in ('a', 'c')`);
    expect(await everything(cursors[2] ?? '')).toEqual(['new']);
    await restart();
    expect(await everything(null)).toEqual(['b', 'new']);
  });

  test('an event that commits late is not overtaken by one that was numbered after it', async () => {
    const world = await open();
    const before = await read(world, 'latest');
    const pages: EventPage[] = [];
    // The first transaction takes its numbers first and commits last.
    await world.engine.transact(function* (): Script<void> {
      yield* tell('first');
      void world.engine.transact(() => tell('second'));
      while ((yield* rows(`select id from events where ref = 'second'`)).length === 0);
      void read(world, before.next).then((page) => pages.push(page));
      while (pages.length === 0) yield* rows('select 1');
    });
    const [during] = pages;
    if (during === undefined) throw new Error('nothing was read');

    // The second one is committed, but whoever read it now would never come to the first.
    expect(refs(during)).toEqual([]);
    const rest = () => read(world, during.next);
    // Other tests have transactions open on the same server.
    await expect.poll(async () => (await rest()).events.length).toBe(2);
    expect(refs(await rest())).toEqual(['first', 'second']);
  });

  test('a reader that keeps up with many writers reads every event once', async () => {
    const world = await open();
    const writers = 12;
    const each = 8;
    let writing = true;
    const seen: (string | null)[] = [];
    const reading = (async () => {
      let after: string | null = null;
      // Another test's transaction on the same server may hold the end back for a while; none of it may be missing for good.
      while (writing || seen.length < writers * each * 2) {
        const page: EventPage = await read(world, after);
        seen.push(...refs(page));
        after = page.next;
      }
    })();
    const write = async (writer: number) => {
      for (let turn = 0; turn < each; turn += 1) {
        await world.engine.transact(function* (): Script<void> {
          yield* tell(`${writer}.${turn}.a`);
          yield* rows(`select pg_sleep(${((writer * 7 + turn * 3) % 10) / 1000})`);
          yield* tell(`${writer}.${turn}.b`);
        });
      }
    };
    await Promise.all(Array.from({ length: writers }, (_none, writer) => write(writer)));
    writing = false;
    await reading;

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toHaveLength(writers * each * 2);
    // What one transaction wrote stays together, in its order.
    for (const [index, ref] of seen.entries()) {
      if (ref?.endsWith('a') === true) expect(seen[index + 1]).toBe(ref.replace(/a$/, 'b'));
    }
  });
});
