import { describe, expect, test } from 'vitest';
import { createKeptAnswers, type GivenAnswer } from '../../src/app/use-cases/kept-answers.ts';
import { sha256 } from '../../src/system/ids.ts';
import { minute, nine } from '../support/builders.ts';
import { manualTime, memoryLog } from '../support/fakes.ts';
import { worldsOf, type OpenWorld, type World } from '../support/store-worlds.ts';
import { numbers } from './at-once.ts';
import { actor, deeds, engineOn } from './conformance/verbs.ts';

/** Processes over one database, each with its own memory of what is at work. */
function processes(world: World) {
  const time = manualTime(nine - 30 * minute);
  return numbers(4).map((index) => {
    const store = index === 0 ? world.store : world.another();
    const engine = engineOn(world, store, time);
    const tellOnce = createKeptAnswers({ store, clock: time, digest: sha256, log: memoryLog() });
    return { ...engine, tellOnce };
  });
}

type Process = ReturnType<typeof processes>[number];

function runNow({ rooms, tellOnce }: Process, taskId: string, key: string): Promise<GivenAnswer> {
  return tellOnce({ operation: 'runTaskNow', target: { task_id: taskId }, payload: {}, key }, async (once) => {
    const { taskRun } = await rooms.tasks.runNow({ taskId, actor, idempotencyKey: once });
    return { status: 200, body: taskRun.id };
  });
}

function raceTests(open: OpenWorld): void {
  test('one request that reaches four processes at once is done once, and all tell the same of it from then on', async () => {
    const world = await open();
    const all = processes(world);
    const task = await all[0]?.create();
    const id = task?.id ?? '';
    const told = await Promise.all(all.map((one) => runNow(one, id, 'k')));
    expect(new Set(told.map(({ body }) => body)).size).toBe(1);
    expect((await deeds(world)).filter((line) => line.startsWith('run_now'))).toHaveLength(1);
    for (const one of all) expect(await runNow(one, id, 'k')).toEqual({ ...told[0], isRepeated: true });
  });

  test('two requests that share a key by mistake are told apart in whatever process they come', async () => {
    const world = await open();
    const [one, two] = processes(world);
    if (one === undefined || two === undefined) throw new Error('there are no processes');
    const task = await one.create();
    const skip = ({ rooms, tellOnce }: Process, count: number) =>
      tellOnce({ operation: 'skipTask', target: { task_id: task.id }, payload: { count }, key: 'k' }, async (once) => {
        const target = { taskId: task.id, actor, idempotencyKey: once } as const;
        await rooms.tasks.skip(target, { count, from: null });
        return { status: 200, body: String(count) };
      });
    const results = await Promise.allSettled([skip(one, 1), skip(two, 2)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [refused] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refused).toMatchObject({ code: 'idempotency_mismatch' });
    expect((await deeds(world)).filter((line) => line.startsWith('skip'))).toHaveLength(1);
  });
}

describe.each(['sqlite', 'postgres'] as const)('answers told by several processes over %s', (kind) => {
  raceTests(worldsOf(kind));
});
