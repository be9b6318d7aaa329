import { expect, test } from 'vitest';
import type { StartPlan, StartedRun } from '../../src/app/ports/pipeline.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { aProcess, endOf, minute, nine, runInput } from '../support/builders.ts';
import { chanceFrom } from '../support/chance.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';
import { numbers } from './at-once.ts';

const open = worldsOf('postgres');
const hosts = ['one.example.com', 'two.example.com'];
const rules = { concurrency: 3, perSecond: 10 };

interface Call {
  readonly host: string;
  readonly task: string;
  readonly at: number;
}

interface Worker {
  readonly id: string;
  readonly store: Store;
  readonly inHand: StartedRun[];
}

const hostOf = ({ run }: StartedRun) => run.input.title;

/** Workers over connections of their own, side by side, and what both hosts see of them. */
async function theWork(world: World, runs: number) {
  const calls: Call[] = [];
  const workers: Worker[] = [];
  for (const index of numbers(4)) {
    const id = `boot-${index}`;
    await world.store.enrol({ id, ...aProcess }, false);
    workers.push({ id, store: world.another(), inHand: [] });
  }
  for (const index of numbers(runs)) {
    const input = { ...runInput, title: hosts[index % 2] ?? '', action: { kind: 'http' } };
    await world.store.addRun(world.make.newRun({ taskId: `task ${index % 7}`, input }));
  }
  return { calls, workers };
}

const inside = (workers: readonly Worker[], host: string) =>
  workers.flatMap(({ inHand }) => inHand.filter((one) => hostOf(one) === host)).length;

async function begin({ id, store, inHand }: Worker, now: number, calls: Call[]): Promise<number> {
  const { started } = await store.startRuns({ now, limit: 5 }, id, (found) =>
    found.flatMap((run): StartPlan[] => {
      if ('unreadable' in run) return [];
      const place = { is: 'asked', host: run.input.title, turn: run.taskId ?? run.id, rules } as const;
      return [{ runId: run.id, does: 'start', interrupted: run.status === 'running', place }];
    }),
  );
  for (const one of started) calls.push({ host: hostOf(one), task: one.run.taskId ?? '', at: now });
  inHand.push(...started);
  return started.length;
}

/** Some of what is in hand ends, and is told of in the one order or in the other. */
async function end({ store, inHand }: Worker, now: number, chance: ReturnType<typeof chanceFrom>): Promise<number> {
  const ending = inHand.splice(0, chance.between(0, inHand.length));
  if (ending.length === 0) return 0;
  const left = ending.map((one) => {
    return { host: hostOf(one), runId: one.run.id, fence: one.fence, end: 'good', heldUntil: 0 } as const;
  });
  const told = () => store.leaveHosts(left, [], { now, rules });
  const ended = () => store.finishRuns(ending.map((one) => endOf(one)));
  const deeds = chance.is(0.5) ? [told, ended] : [ended, told];
  for (const deed of deeds) await deed();
  return ending.length;
}

test.each([1, 2, 3])(
  'four workers keep within the places and the rate of each host, also when one of them dies, and every run is done (seed %i)',
  async (seed) => {
    const world = await open();
    const chance = chanceFrom(seed);
    const { calls, workers } = await theWork(world, 60);
    let [now, done, lost] = [nine, 0, 0];
    for (let round = 0; done < 60; round += 1) {
      if (round > 500) throw new Error(`only ${done} are done`);
      const ended = await Promise.all(
        workers.map(async (worker) => {
          await begin(worker, now, calls);
          return end(worker, now, chance);
        }),
      );
      for (const count of ended) done += count;
      for (const host of hosts) expect(inside(workers, host)).toBeLessThanOrEqual(rules.concurrency);
      now += chance.between(0, 60);
      await workers[0]?.store.leaveHosts([], hosts, { now, rules });
      const [dead] = round < 10 || lost > 0 ? [] : workers.slice(1).filter(({ inHand }) => inHand.length > 0);
      if (dead === undefined) continue;
      // What it had in hand begins once more with another one, and what it says later counts for nothing.
      lost = dead.inHand.length;
      workers.splice(workers.indexOf(dead), 1);
      await world.store.retire(dead.id, null);
      const late = dead.inHand.map(({ run, fence }) => ({ host: run.input.title, runId: run.id, fence }));
      const left = late.map((one) => ({ ...one, end: 'bad', heldUntil: now + minute }) as const);
      await world.store.leaveHosts(left, [], { now, rules });
    }
    expect(lost).toBeGreaterThan(0);
    expect(calls).toHaveLength(60 + lost);
    for (const host of hosts) {
      const at = calls.flatMap((call) => (call.host === host ? call.at : []));
      for (const one of at) {
        const within = at.filter((other) => other >= one && other < one + 1000);
        expect(within.length).toBeLessThanOrEqual(rules.perSecond);
      }
    }
    expect(await world.query('select run_id from host_calls')).toEqual([]);
  },
);
