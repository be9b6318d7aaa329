import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms } from '../../src/compose/assembly.ts';
import type { Engine } from '../../src/store/engine/engine.ts';
import { migratePostgres } from '../../src/store/engine/migrate.ts';
import { postgresEngine, postgresPool } from '../../src/store/engine/postgres.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore, translate } from '../../src/store/engine/store.ts';
import { countingIds, faultyTransport, manualTime, memoryLog } from '../support/fakes.ts';
import { freshSqlite } from '../support/fresh-sqlite.ts';
import { actor, group, minute, settings, start } from '../support/pipeline.ts';
import { freshPostgres } from '../support/postgres.ts';

type Claiming = 'startRuns' | 'claimParts' | 'letRunsGo';

/** Commits, and then behaves like a connection that broke before the answer came. */
function losing(store: Store): Store & { loseNext(claim: Claiming): void } {
  let lose: Claiming | null = null;
  const answered = async <T>(claim: Claiming, answer: Promise<T>): Promise<T> => {
    const found = await answer;
    if (lose !== claim) return found;
    lose = null;
    throw translate(Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' }));
  };
  return {
    ...store,
    startRuns: (...asked) => answered('startRuns', store.startRuns(...asked)),
    claimParts: (...asked) => answered('claimParts', store.claimParts(...asked)),
    letRunsGo: (...asked) => answered('letRunsGo', store.letRunsGo(...asked)),
    loseNext: (claim) => {
      lose = claim;
    },
  };
}

async function aPlace(engine: Engine) {
  const lossy = losing(createStore(engine));
  const store: Store = lossy;
  const time = manualTime(start);
  const log = memoryLog();
  const chat = faultyTransport();
  const world = { clock: time, stopwatch: time, timer: time, ids: countingIds('boot'), log };
  const rooms = composeRooms(settings, world, { store, transport: (budget) => chat.within(budget) });
  const { task } = await rooms.tasks.create({
    threadKey: group,
    actor,
    idempotencyKey: null,
    input: { instructions: 'Stand up!', schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' } },
  });
  const step = async () => {
    const now = time.now();
    await rooms.scheduler.step(now, 100);
    await rooms.runner.step(now, 100);
    await turns();
    await rooms.deliverer.step(now, 100);
    await turns();
  };
  // On a real server an answer takes longer than a turn of the loop, and the manual clock does not move meanwhile.
  const turns = async () => {
    await rooms.runner.idle();
    await rooms.deliverer.idle();
  };
  const settle = async () => {
    for (let round = 0; round < 6; round += 1) await step();
  };
  const history = async () =>
    (await store.listTaskRuns({ taskId: task.id, status: null, limit: 10, cursor: null })).items;
  return { lossy, rooms, time, log, chat, settle, history };
}

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const engines = {
  sqlite: async () => {
    const database = await freshSqlite();
    return sqliteEngine(database);
  },
  postgres: async () => {
    const fresh = await freshPostgres();
    opened.push(() => fresh.drop());
    const connections = postgresPool(fresh.url);
    opened.push(() => connections.end());
    const client = await connections.connect();
    await migratePostgres(client, start).finally(() => client.release());
    return postgresEngine(connections);
  },
};

describe.each(Object.entries(engines))('a claim whose answer was lost, on %s', (_name, anEngine) => {
  const letGo = (p: Awaited<ReturnType<typeof aPlace>>) => p.log.lines.filter(({ event }) => event === 'claims_let_go');

  it('leaves a run that nobody executes; the next step lets it go, and it is done once', async () => {
    const p = await aPlace(await anEngine());
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    p.lossy.loseNext('startRuns');
    await expect(p.rooms.runner.step(p.time.now(), 100)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await p.history()).toMatchObject([{ status: 'dispatched', attempts: [{ status: 'running' }] }]);

    await p.settle();
    expect(await p.history()).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'interrupted' }, { status: 'succeeded' }] },
    ]);
    expect(p.chat.shown.map(({ text }) => text)).toEqual(['Stand up!']);
    expect(letGo(p)).toMatchObject([{ facts: { room: 'runner', count: 1 } }]);
  });

  it('is let go also when it was committed only after its answer was given up', async () => {
    const p = await aPlace(await anEngine());
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    p.lossy.loseNext('startRuns');
    await expect(p.rooms.runner.step(p.time.now(), 100)).rejects.toMatchObject({ code: 'store_unavailable' });
    p.lossy.loseNext('letRunsGo');
    await expect(p.rooms.runner.step(p.time.now(), 100)).rejects.toMatchObject({ code: 'store_unavailable' });
    await p.time.advance(31_000);
    await p.settle();
    expect(await p.history()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('leaves a part that nobody sends; the next step lets it go, and evidence settles it', async () => {
    const p = await aPlace(await anEngine());
    await p.time.advance(5 * minute);
    await p.settle();
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    await p.rooms.runner.idle();
    // The first run has made the topic, so this claim is the one that sends.
    p.lossy.loseNext('claimParts');
    await expect(p.rooms.deliverer.step(p.time.now(), 100)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect((await p.history())[0]).toMatchObject({ deliveries: [{ status: 'sending' }] });

    await p.settle();
    await p.time.advance(3000);
    await p.settle();
    expect((await p.history())[0]).toMatchObject({ deliveries: [{ status: 'delivered' }] });
    expect(p.chat.shown).toHaveLength(2);
    expect(letGo(p)).toMatchObject([{ facts: { room: 'deliverer', count: 1 } }]);
  });

  it('is told apart from work that goes on', async () => {
    const p = await aPlace(await anEngine());
    const open = p.chat.hold();
    await p.time.advance(5 * minute);
    const now = p.time.now();
    await p.rooms.scheduler.step(now, 100);
    await p.rooms.runner.step(now, 100);
    await p.rooms.runner.idle();
    await p.rooms.deliverer.step(now, 100);
    p.lossy.loseNext('claimParts');
    await expect(p.rooms.deliverer.step(now, 100)).rejects.toMatchObject({ code: 'store_unavailable' });
    await p.rooms.deliverer.step(now, 100);
    open();
    await p.settle();
    expect(await p.history()).toMatchObject([{ status: 'succeeded', deliveries: [{ status: 'delivered' }] }]);
    expect(letGo(p)).toEqual([]);
  });
});
