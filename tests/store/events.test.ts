import { describe, expect, test } from 'vitest';
import { tellEvents } from '../../src/adapters/store/journal.ts';
import { rows, type Script } from '../../src/adapters/store/engine.ts';
import type { EventPage } from '../../src/app/truth/store.ts';
import { nine } from '../support/builders.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';

function* tell(ref: string): Script<void> {
  yield* tellEvents([{ kind: 'run.started', at: nine, taskId: null, ref }]);
}

const read = ({ store }: World, after: string | null): Promise<EventPage> =>
  store.readEvents({ after, taskId: null, limit: 3 });

const refs = ({ events }: EventPage) => events.map(({ ref }) => ref);

describe('events on a real Postgres', () => {
  const open = worldsOf('postgres');

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
    expect(refs(await read(world, during.next))).toEqual(['first', 'second']);
  });

  test('a reader that keeps up with many writers reads every event once', async () => {
    const world = await open();
    const writers = 12;
    const each = 8;
    let writing = true;
    const seen: (string | null)[] = [];
    const reading = (async () => {
      let after: string | null = null;
      for (let last = false; ;) {
        const page: EventPage = await read(world, after);
        seen.push(...refs(page));
        after = page.next;
        if (page.events.length > 0) continue;
        // One more look after the last writer, because it may have ended between the two.
        if (last) return;
        last = !writing;
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
