import { expect, test } from 'vitest';
import { minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';

const anEntry = expect.any(String) as string;
const by = 'telegram:user:1001';

/** Kinds of actions that are paused for all processes. */
export function pausedKindTests(open: OpenWorld): void {
  test('a kind is paused once, by whoever was first, until somebody resumes it', async () => {
    const world = await open();
    const { store } = world;
    expect(await store.pausedKinds()).toEqual([]);
    const pause = { kind: 'http', since: nine, by };
    const first = await store.pauseKind({ kind: 'http', by, at: nine, traceId: 'trace-1' });
    expect(first).toEqual({ pause, entryId: anEntry });
    const again = await store.pauseKind({ kind: 'http', by: 'system:api', at: nine + minute, traceId: null });
    expect(again).toEqual({ pause, entryId: null });
    await store.pauseKind({ kind: 'digest', by, at: nine + minute, traceId: null });
    expect((await store.pausedKinds()).map(({ kind }) => kind)).toEqual(['http', 'digest']);

    const resumed = await store.resumeKind({ kind: 'http', by: 'system:api', at: nine + minute, traceId: null });
    expect(resumed).toEqual({ pause: null, entryId: anEntry });
    expect(await store.resumeKind({ kind: 'http', by, at: nine + minute, traceId: null })).toEqual({
      pause: null,
      entryId: null,
    });
    expect((await store.pausedKinds()).map(({ kind }) => kind)).toEqual(['digest']);

    const deeds = await world.query('select verb, actor, before, after, trace_id from audit order by id');
    expect(deeds).toEqual([
      { verb: 'kind_pause', actor: by, before: null, after: '{"kind":"http"}', trace_id: 'trace-1' },
      { verb: 'kind_pause', actor: by, before: null, after: '{"kind":"digest"}', trace_id: null },
      {
        verb: 'kind_resume',
        actor: 'system:api',
        before: JSON.stringify(pause),
        after: null,
        trace_id: null,
      },
    ]);
    expect(await world.query('select kind from events order by id')).toEqual(
      ['kind.pause', 'kind.pause', 'kind.resume'].map((kind) => ({ kind })),
    );
  });

  test('a renewal names the kinds that are paused, and does not name the runner for their runs', async () => {
    const world = await open();
    const { store } = world;
    const own = { id: 'boot-b', role: 'worker', release: '1', kinds: ['message'], host: 'garden', pid: 7 } as const;
    await store.enrol({ ...own, connections: null, at: null, leaseMs: minute }, false);
    const renewed = async () => {
      const { due, pausedKinds } = (await store.renewLease('boot-b', minute, false)) ?? {};
      return { due, pausedKinds };
    };
    await store.addRun(world.make.newRun());
    await world.query(`update runs set ready_at = 1`);
    expect(await renewed()).toEqual({ due: ['runner'], pausedKinds: '' });
    for (const kind of ['message', 'http']) await store.pauseKind({ kind, by, at: nine, traceId: null });
    expect(await renewed()).toEqual({ due: [], pausedKinds: 'http,message' });
  });
}
