import { expect, it } from 'vitest';
import type { Ask, Engine, Script } from '../../src/store/engine/engine.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { freshSqlite } from '../support/fresh-sqlite.ts';
import { actor, aPipeline, group, minute } from '../support/pipeline.ts';

const asked: ReadonlySet<Ask['does']> = new Set(['rows', 'insert', 'update']);

/** The engine, which counts its transactions and reads, and the statements in them. */
function counting(engine: Engine) {
  let [scripts, statements] = [0, 0];
  function* counted<T>(script: Script<T>): Script<T> {
    let step = script.next();
    while (step.done !== true) {
      if (asked.has(step.value.does)) statements += 1;
      step = script.next(yield step.value);
    }
    return step.value;
  }
  const playing =
    (play: Engine['transact']): Engine['transact'] =>
    (script) => {
      scripts += 1;
      return play(() => counted(script()));
    };
  return {
    engine: {
      ...engine,
      read: playing((script) => engine.read(script)),
      transact: playing((script) => engine.transact(script)),
      transactLightly: playing((script) => engine.transactLightly(script)),
    } satisfies Engine,
    /** Since the last time. */
    taken: () => {
      const found = `${statements} in ${scripts}`;
      [scripts, statements] = [0, 0];
      return found;
    },
  };
}

/**
 * What a process that has SQLite for itself pays for a slot: whatever several processes need to share a database is paid by those alone.
 * A change of these numbers is a decision about the path that everybody takes.
 */
it('on SQLite a slot, and a look that finds nothing, cost so many statements in so many transactions', async () => {
  const { engine, taken } = counting(sqliteEngine(await freshSqlite()));
  const p = await aPipeline({ engine });
  await p.rooms.tasks.create({
    threadKey: group,
    actor,
    idempotencyKey: null,
    input: { instructions: 'Stand up!', schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' } },
  });
  // The first slot makes the topic and the card.
  await p.pass(8 * minute);
  const costs: Record<string, string> = {};
  const step = async (name: string, room: 'scheduler' | 'runner' | 'deliverer') => {
    taken();
    const now = p.time.now();
    await p.rooms[room].step(now, 100);
    await p.rooms.runner.idle();
    await p.rooms.deliverer.idle();
    costs[`${name}: ${room}`] = taken();
    await p.rooms[room].nextAt(now);
    costs[`${name}: when ${room} is next`] = taken();
  };
  for (const room of ['scheduler', 'runner', 'deliverer'] as const) await step('nothing', room);
  await p.time.advance(2 * minute);
  for (const room of ['scheduler', 'runner', 'deliverer'] as const) await step('a slot', room);
  taken();
  await p.rooms.nagging.step(p.time.now(), 100);
  await p.rooms.nagging.nextAt(p.time.now());
  costs['nothing: acks, and when they are next'] = taken();
  p.rooms.processes.isHeld();
  p.rooms.processes.isKeeper();
  await p.rooms.processes.live();
  costs['whether others live'] = taken();
  expect(costs).toEqual({
    'nothing: scheduler': '5 in 4',
    'nothing: when scheduler is next': '4 in 1',
    'nothing: runner': '2 in 1',
    'nothing: when runner is next': '2 in 1',
    'nothing: deliverer': '4 in 1',
    'nothing: when deliverer is next': '4 in 2',
    'nothing: acks, and when they are next': '2 in 2',
    'a slot: scheduler': '8 in 4',
    'a slot: when scheduler is next': '4 in 1',
    'a slot: runner': '15 in 2',
    'a slot: when runner is next': '2 in 1',
    'a slot: deliverer': '10 in 2',
    'a slot: when deliverer is next': '4 in 2',
    'whether others live': '0 in 0',
  });
});
