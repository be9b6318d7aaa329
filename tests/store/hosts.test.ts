import { describe, expect, it } from 'vitest';
import {
  createHosts,
  type Entrant,
  type Hold,
  type Hosts,
  type Place,
} from '../../src/app/actions/http/hosts/hosts.ts';
import { createSharedHosts } from '../../src/app/actions/http/hosts/shared-hosts.ts';
import type { HostStore } from '../../src/app/ports/outbound.ts';
import type { RunStore, StartPlan } from '../../src/app/ports/pipeline.ts';
import type { HostRules } from '../../src/domain/outbound/hosts.ts';
import { aProcess, runInput } from '../support/builders.ts';
import { manualTime, memoryLog, second, start, type ManualTime } from '../support/fakes.ts';
import { worldsOf, type Kind } from '../support/store-worlds.ts';

const host = 'api.example.com';
const usual = { concurrency: 2, perSecond: 100 };

/** Hosts as the runs of one process meet them, wherever it is written who has a place. */
interface Meeting {
  readonly hosts: Hosts;
  readonly time: Pick<ManualTime, 'now'>;
  /** A new run that wants to begin; null where it has begun. */
  hold(runId: string, taskId?: string, at?: string): Promise<Hold | null>;
  enter(runId: string, taskId?: string, at?: string, signal?: AbortSignal): Promise<Place | Hold>;
  /** Runs that waited and begin now. */
  begun(): Promise<string[]>;
  leave(place: Place | undefined, ...said: Parameters<Place['leave']>): Promise<void>;
  pass(ms: number): Promise<void>;
}

type Meet = (rules?: HostRules) => Promise<Meeting>;

const signal = new AbortController().signal;
const entrant = (runId: string, taskId: string): Entrant => ({ runId, taskId, fence: 1, placeAt: null });

const inMemory: Meet = async (rules = usual) => {
  const time = manualTime(start);
  let woken: string[] = [];
  const tasks = new Map<string, [task: string, at: string]>();
  const hosts = createHosts({ stopwatch: time, timer: time, rules, wake: (ids) => woken.push(...ids) });
  const hold: Meeting['hold'] = async (runId, taskId = runId, at = host) => {
    tasks.set(runId, [taskId, at]);
    return hosts.hold(at, { runId, taskId }) as Hold | null;
  };
  return {
    hosts,
    time,
    hold,
    enter: (runId, taskId = runId, at = host, by = signal) => hosts.enter(at, entrant(runId, taskId), by),
    begun: async () => {
      const found = woken;
      woken = [];
      for (const runId of found) expect(await hold(runId, ...(tasks.get(runId) ?? []))).toBeNull();
      return found;
    },
    leave: async (place, ...said) => place?.leave(...said),
    pass: (ms) => time.advance(ms),
  };
};

/** Waits until nothing is asked of the store. */
function watched<T extends HostStore & RunStore>(store: T) {
  let asked = 0;
  const counted = async <R>(answer: Promise<R>): Promise<R> => {
    asked += 1;
    return answer.finally(() => (asked -= 1));
  };
  const quiet = async () => {
    for (let idle = 0; idle < 3; idle = asked === 0 ? idle + 1 : 0)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const asking: Pick<T, 'leaveHosts' | 'enterHost' | 'addRun' | 'startRuns'> = {
    leaveHosts: (...given) => counted(store.leaveHosts(...given)),
    enterHost: (...given) => counted(store.enterHost(...given)),
    addRun: (...given) => counted(store.addRun(...given)),
    startRuns: (...given) => counted(store.startRuns(...given)),
  };
  return { store: { ...store, ...asking }, quiet };
}

function inRows(kind: Kind): Meet {
  const open = worldsOf(kind);
  return async (rules = usual) => {
    const world = await open();
    const { store, quiet } = watched(world.store);
    const time = manualTime(start);
    const bootId = 'boot-a';
    await store.enrol({ id: bootId, ...aProcess, at: start }, false);
    const deps = { store, clock: time, timer: time, log: memoryLog(), bootId, rules, onWoken: () => {} };
    const hosts = createSharedHosts(deps);
    const begunAt = new Map<string, Entrant>();
    const wanted = new Map<string, string>();
    const startSome = async (only?: string[]) => {
      const which = { now: time.now(), limit: 100, ...(only === undefined ? {} : { only }) };
      const { started } = await store.startRuns(which, bootId, (runs) =>
        runs.flatMap((run): StartPlan[] => {
          if ('unreadable' in run) return [];
          const place = hosts.hold(wanted.get(run.id) ?? host, { runId: run.id, taskId: run.taskId });
          return place?.is === 'asked' ? [{ runId: run.id, does: 'start', interrupted: false, place }] : [];
        }),
      );
      for (const { run, fence, placeAt } of started)
        begunAt.set(run.id, { runId: run.id, taskId: run.taskId, fence, placeAt });
      return started.map(({ run }) => run.id);
    };
    const added = (runId: string, taskId: string) => {
      const input = { ...runInput, action: { kind: 'http' } };
      return store.addRun(world.make.newRun({ id: runId, taskId, input, createdAt: time.now() }));
    };
    return {
      hosts,
      time,
      hold: async (runId, taskId = runId, at = host) => {
        wanted.set(runId, at);
        await added(runId, taskId);
        if ((await startSome([runId])).length > 0) return null;
        const [row] = await world.query<{ at: number; error: string }>(
          `select ready_at as at, error from runs where id = '${runId}'`,
        );
        return { is: 'held', afterMs: Number(row?.at) - time.now(), reason: row?.error ?? '' };
      },
      enter: async (runId, taskId = runId, at = host, by = signal) => {
        if (!begunAt.has(runId)) {
          await added(runId, taskId);
          const { started } = await store.startRuns({ now: time.now(), limit: 1, only: [runId] }, bootId, () => [
            { runId, does: 'start', interrupted: false },
          ]);
          for (const { fence } of started) begunAt.set(runId, { runId, taskId, fence, placeAt: null });
        }
        return hosts.enter(at, begunAt.get(runId) ?? entrant(runId, taskId), by);
      },
      begun: () => startSome(),
      leave: async (place, ...said) => {
        place?.leave(...said);
        await quiet();
      },
      pass: async (ms) => {
        await quiet();
        for (let left = ms; ;) {
          const step = Math.min(time.untilTimer() ?? Infinity, left);
          await time.advance(step);
          await quiet();
          left -= step;
          if (left <= 0) return;
        }
      },
    };
  };
}

async function entered(p: Meeting, runId: string, taskId = runId): Promise<Place> {
  expect(await p.hold(runId, taskId)).toBeNull();
  return (await p.enter(runId, taskId)) as Place;
}

describe.each([
  ['the memory of a process that is alone', inMemory],
  ['rows of SQLite', inRows('sqlite')],
  ['rows of Postgres', inRows('postgres')],
] as const)('places at hosts, in %s', (_name, meet) => {
  it('are given while there are some; without one a run waits, with the reason', async () => {
    const p = await meet();
    await entered(p, 'a');
    await entered(p, 'b');
    expect(await p.hold('c')).toEqual({
      is: 'held',
      afterMs: 30_000,
      reason: 'api.example.com is busy: 2 calls at once are the most',
    });
    expect(await p.hold('d', 'd', 'other.example.com')).toBeNull();
  });

  it('go to the one that waits when they are given back, once', async () => {
    const p = await meet();
    const a = await entered(p, 'a');
    await entered(p, 'b');
    await p.hold('c');
    await p.hold('d');
    await p.leave(a, 'good');
    expect(await p.hold('e')).not.toBeNull();
    expect(await p.begun()).toEqual(['c']);
    await p.leave(a, 'good');
    expect(await p.begun()).toEqual([]);
    await p.leave((await p.enter('c')) as Place, 'good');
    expect(await p.begun()).toEqual(['d']);
  });

  it('go to a task with one run beside a task with many', async () => {
    const p = await meet();
    const places = [await entered(p, 'a1', 'a'), await entered(p, 'a2', 'a')];
    for (const run of ['a3', 'a4', 'a5', 'a6']) await p.hold(run, 'a');
    await p.hold('b1', 'b');
    await p.hold('c1', 'c');
    const order: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await p.leave(places.shift(), 'good');
      const [run = ''] = await p.begun();
      order.push(run);
      places.push((await p.enter(run, run.slice(0, 1))) as Place);
    }
    expect(order).toEqual(['b1', 'c1', 'a3', 'a4', 'a5']);
  });

  it('are given out at the pace of the host', async () => {
    const p = await meet({ concurrency: 100, perSecond: 10 });
    for (let run = 0; run < 10; run += 1) await p.leave(await entered(p, `first${run}`), 'good');
    for (let run = 10; run < 25; run += 1)
      expect(await p.hold(`more${run}`)).toMatchObject({
        reason: expect.stringContaining('10 times a second') as string,
      });
    await p.pass(999);
    expect(await p.begun()).toHaveLength(0);
    await p.pass(1);
    expect(await p.begun()).toHaveLength(10);
    await p.pass(999);
    expect(await p.begun()).toHaveLength(0);
    await p.pass(1);
    expect(await p.begun()).toHaveLength(5);
  });

  it('are not given while the host asked to be left alone, whatever the task is', async () => {
    const p = await meet();
    await p.leave(await entered(p, 'a'), 'unsaid', 60_000);
    expect(await p.hold('b')).toEqual({
      is: 'held',
      afterMs: 60_000,
      reason: 'api.example.com asked to be left alone for a while',
    });
    await p.pass(59_999);
    expect(await p.begun()).toEqual([]);
    await p.pass(1);
    expect(await p.begun()).toEqual(['b']);
  });

  it('are not given while the host fails again and again, and then one goes first', async () => {
    const p = await meet();
    for (let run = 0; run < 10; run += 1) await p.leave(await entered(p, `r${run}`), 'bad');
    expect(await p.hold('x')).toMatchObject({
      afterMs: 30_000,
      reason: expect.stringContaining('fails again and again') as string,
    });
    await p.hold('y');
    await p.pass(30_000);
    expect(await p.begun()).toEqual(['x']);
    await p.leave((await p.enter('x')) as Place, 'good');
    expect(await p.begun()).toEqual(['y']);
  });

  describe('for an attempt that learns of its host only now', () => {
    it('are taken at once, or waited for a little', async () => {
      const p = await meet();
      const a = (await p.enter('a')) as Place;
      await entered(p, 'b');
      const asked = p.enter('c');
      await p.pass(second);
      await p.leave(a, 'good');
      await p.pass(second);
      expect((await asked).is).toBe('entered');
    });

    it('are given up after a while, with the reason, and to those behind it', async () => {
      const p = await meet();
      const places = [await entered(p, 'a'), await entered(p, 'b')];
      const asked = p.enter('c');
      await p.pass(6000);
      expect(((await asked) as Hold).reason).toContain('is busy');
      await p.hold('d');
      for (const place of places) await p.leave(place, 'good');
      expect(await p.begun()).toEqual(['d']);
    });

    it('are not waited for where that takes longer, and not when it is called off', async () => {
      const p = await meet();
      const controller = new AbortController();
      await entered(p, 'a');
      const b = await entered(p, 'b');
      const asked = p.enter('c', 'c', host, controller.signal);
      controller.abort();
      await p.pass(200);
      expect((await asked).is).toBe('held');
      await p.leave(b, 'unsaid', 60_000);
      expect(await p.enter('d')).toMatchObject({ is: 'held', afterMs: 60_000 });
    });
  });
});

describe('a place that is kept in memory', () => {
  it('is lost by the run that does not take it, and the next one has it', async () => {
    const time = manualTime(start);
    const woken: string[] = [];
    const hosts = createHosts({ stopwatch: time, timer: time, rules: usual, wake: (ids) => woken.push(...ids) });
    const who = (runId: string) => ({ runId, taskId: runId });
    for (const runId of ['a', 'b']) hosts.hold(host, who(runId));
    const a = (await hosts.enter(host, entrant('a', 'a'), signal)) as Place;
    await hosts.enter(host, entrant('b', 'b'), signal);
    for (const runId of ['c', 'd']) hosts.hold(host, who(runId));
    a.leave('good');
    await time.advance(4999);
    expect(woken).toEqual(['c']);
    await time.advance(1);
    expect(woken).toEqual(['c', 'd']);
  });
});
