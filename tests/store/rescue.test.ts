import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms } from '../../src/compose/assembly.ts';
import { translate } from '../../src/store/engine/store.ts';
import { countingIds, faultyTransport, manualTime, memoryLog } from '../support/fakes.ts';
import { actor, group, minute, settings, start } from '../support/pipeline.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';

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

async function aPlace(world: World) {
  const lossy = losing(world.store);
  const store: Store = lossy;
  const time = manualTime(start);
  const log = memoryLog();
  const chat = faultyTransport();
  const here = { clock: time, stopwatch: time, timer: time, ids: countingIds('boot'), log };
  const rooms = composeRooms(settings, here, { store, transport: (budget) => chat.within(budget) });
  const { task } = await rooms.tasks.create({
    threadKey: group,
    actor,
    idempotencyKey: null,
    input: { instructions: 'Stand up!', schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' } },
  });
  const step = async () => {
    for (const room of ['scheduler', 'runner', 'deliverer'] as const) {
      await rooms[room].step(time.now(), 100);
      await turns();
    }
  };
  // On a real server an answer takes longer than a turn of the loop, and the manual clock does not move meanwhile.
  const turns = async () => {
    await rooms.runner.idle();
    await rooms.deliverer.idle();
  };
  const settle = async () => {
    for (let round = 0; round < 6; round += 1) await step();
  };
  /** What loses the answer to its claim tells so, and the claim stands. */
  const loses = async (claim: Claiming, room: 'runner' | 'deliverer') => {
    lossy.loseNext(claim);
    await expect(rooms[room].step(time.now(), 100)).rejects.toMatchObject({ code: 'store_unavailable' });
  };
  /** The next slot is there, and its run is queued. */
  const slot = async () => {
    await time.advance(5 * minute);
    await rooms.scheduler.step(time.now(), 100);
  };
  const work = async () => {
    await rooms.runner.step(time.now(), 100);
    await rooms.runner.idle();
  };
  const history = async () =>
    (await store.listTaskRuns({ taskId: task.id, status: null, limit: 10, cursor: null })).items;
  return { rooms, time, log, chat, settle, history, loses, slot, work };
}

describe.each(['sqlite', 'postgres'] as const)('a claim whose answer was lost, on %s', (kind) => {
  const open = worldsOf(kind);
  const letGo = (p: Awaited<ReturnType<typeof aPlace>>) => p.log.lines.filter(({ event }) => event === 'claims_let_go');

  it('leaves a run that nobody executes; the next step lets it go, and it is done once', async () => {
    const p = await aPlace(await open());
    await p.slot();
    await p.loses('startRuns', 'runner');
    expect(await p.history()).toMatchObject([{ status: 'dispatched', attempts: [{ status: 'running' }] }]);

    await p.settle();
    expect(await p.history()).toMatchObject([
      { status: 'succeeded', attempts: [{ status: 'interrupted' }, { status: 'succeeded' }] },
    ]);
    expect(p.chat.shown.map(({ text }) => text)).toEqual(['Stand up!']);
    expect(letGo(p)).toMatchObject([{ facts: { room: 'runner', count: 1 } }]);
  });

  it('is let go also when it was committed only after its answer was given up', async () => {
    const p = await aPlace(await open());
    await p.slot();
    await p.loses('startRuns', 'runner');
    await p.loses('letRunsGo', 'runner');
    await p.time.advance(31_000);
    await p.settle();
    expect(await p.history()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('leaves a part that nobody sends; the next step lets it go, and evidence settles it', async () => {
    const p = await aPlace(await open());
    await p.time.advance(5 * minute);
    await p.settle();
    await p.slot();
    await p.work();
    // The first run has made the topic, so this claim is the one that sends.
    await p.loses('claimParts', 'deliverer');
    expect((await p.history())[0]).toMatchObject({ deliveries: [{ status: 'sending' }] });

    await p.settle();
    await p.time.advance(3000);
    await p.settle();
    expect((await p.history())[0]).toMatchObject({ deliveries: [{ status: 'delivered' }] });
    expect(p.chat.shown).toHaveLength(2);
    expect(letGo(p)).toMatchObject([{ facts: { room: 'deliverer', count: 1 } }]);
  });

  it('is told apart from work that goes on', async () => {
    const p = await aPlace(await open());
    const goOn = p.chat.hold();
    await p.slot();
    await p.work();
    await p.rooms.deliverer.step(p.time.now(), 100);
    await p.loses('claimParts', 'deliverer');
    await p.rooms.deliverer.step(p.time.now(), 100);
    goOn();
    await p.settle();
    expect(await p.history()).toMatchObject([{ status: 'succeeded', deliveries: [{ status: 'delivered' }] }]);
    expect(letGo(p)).toEqual([]);
  });
});
