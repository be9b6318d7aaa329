import { expect, test } from 'vitest';
import type { RunEnd, StartedRun } from '../../../src/app/ports/pipeline.ts';
import type { Store } from '../../../src/app/ports/store.ts';
import type { Costs } from '../../../src/domain/spending/usage.ts';
import { aTask, endOf, failureOf, hour, nine, readable, startAll } from '../../support/builders.ts';
import { chanceFrom, type Chance } from '../../support/chance.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { codes } from '../at-once.ts';
import { owner, threadOf } from '../scenes.ts';

const day = 24 * hour;
const costs: Costs = { requests: 3, tokens: 0, money: 0, currency: null };
const tasksOfLife = 6;
const stepsOfLife = 14;

/** A life of budgets: servers that run and die, days that turn, and people who raise limits. */
interface Life {
  readonly world: World;
  readonly chance: Chance;
  readonly stores: readonly Store[];
  readonly chatId: string;
  now: number;
  boots: number;
  limit: number;
  /** Attempts that somebody still works on; those of a server that died come too late. */
  inHand: readonly StartedRun[];
}

async function aLife(open: OpenWorld, seed: number): Promise<Life> {
  const world = await open();
  const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
  for (let index = 0; index < tasksOfLife; index += 1) {
    await aTask(world, {
      title: `Task ${index}`,
      ...(index === 0 ? { policies: { budget: { requests: 7, per: 'day' } } } : {}),
    });
  }
  const stores = [world.store, world.another(), world.another()];
  const life: Life = { world, chance: chanceFrom(seed), stores, chatId, now: nine, boots: 1, limit: 0, inHand: [] };
  await raise(life);
  return life;
}

/** A limit goes up alone: what has been let in under a higher one stays let in. */
async function raise(life: Life): Promise<void> {
  life.limit += life.chance.between(3, 12);
  const { chatId, limit: quantity, now: at } = life;
  const one = { kind: 'requests', quantity, currency: null, timezone: 'Europe/Madrid' } as const;
  const change = { per: null, kinds: ['requests'], actor: owner, at } as const;
  const ofChat = { ...one, scope: 'chat', account: chatId, chatId, per: 'day' } as const;
  await life.world.store.changeBudgets({ ...change, scope: 'chat', account: chatId, set: [ofChat] });
  const own = { ...one, scope: 'person', account: owner, chatId: null, per: 'month', quantity: quantity * 3 } as const;
  await life.world.store.changeBudgets({ ...change, scope: 'person', account: owner, set: [own] });
}

const boot = ({ boots }: Life) => `boot-${boots}`;

function claim({ world, now }: Life, store: Store) {
  return store.claimDue({ now, limit: 3 }, (due) =>
    due.map(readable).map((task) => {
      const made = world.make.claim(task, { nextAt: now + hour });
      return {
        ...made,
        runs: made.runs.map((run) => ({
          ...run,
          costs,
          createdAt: now,
          readyAt: now,
          // They live side by side, so that more of them meet.
          exclusive: false,
        })),
      };
    }),
  );
}

/** Answers how many were decided about: one for which there is no room ends instead. */
async function startSome(life: Life, store: Store): Promise<number> {
  const { now } = life;
  const without = (runId: string, interrupted: boolean) => {
    const end = { status: 'cancelled', occurrence: 'skipped', reason: 'budget', errorCode: 'not_allowed' } as const;
    return { runId, does: 'end', interrupted, error: 'budget', ...end } as const;
  };
  const { taken, started } = await store.startRuns({ now, limit: 3 }, boot(life), (runs) =>
    startAll(runs).map((plan) => {
      const run = runs.find((one) => one.id === plan.runId);
      if (plan.does !== 'start' || run === undefined || 'unreadable' in run) return plan;
      if (run.reserved !== null && !plan.interrupted) return plan;
      return { ...plan, reserve: { costs, without: without(plan.runId, plan.interrupted) } };
    }),
  );
  life.inHand = [...life.inHand, ...started];
  return taken;
}

/** What an attempt has used is never more than what it had reserved; of some nobody knows. */
function someEnd({ chance, now }: Life, run: StartedRun): RunEnd {
  const quantity = chance.between(0, costs.requests);
  const used = quantity === 0 ? [] : [{ kind: 'requests', quantity, source: 'example.com' } as const];
  const facts = { usage: chance.is(0.2) ? null : used, startedAt: now, finishedAt: now };
  if (chance.is(0.4)) return failureOf(run, { ...facts, status: 'backoff', readyAt: now });
  return chance.is(0.3) ? failureOf(run, facts) : endOf(run, facts);
}

async function endSome(life: Life, store: Store): Promise<void> {
  const ends = life.inHand.filter(() => life.chance.is(0.6));
  life.inHand = life.inHand.filter((run) => !ends.includes(run));
  await store.finishRuns(ends.map((run) => someEnd(life, run)));
}

async function die(life: Life): Promise<void> {
  await life.world.store.letRunsGo(boot(life), []);
  life.boots += 1;
}

/** One step: as many deeds at once as there are stores, and then, now and then, a death, a day, or a raise. */
async function step(life: Life): Promise<void> {
  const { chance, stores } = life;
  const deeds = [claim, startSome, endSome];
  const results = await Promise.allSettled(stores.map((store) => chance.pick(deeds)(life, store)));
  expect(codes(results)).toEqual([]);
  if (chance.is(0.2)) await die(life);
  if (chance.is(0.2)) await raise(life);
  life.now += chance.is(0.15) ? day : chance.between(0, 90) * 60_000;
}

const budgetsOf = ({ world, now }: Life) =>
  world.store.listBudgets({ thread: null, ownerId: null, taskId: null, now, limit: 100 });

/** The limits hold, and what is kept with each budget is what its usage says. */
async function checkBudgets(life: Life): Promise<void> {
  const budgets = await budgetsOf(life);
  expect(budgets).toHaveLength(3);
  for (const { scope, account, quantity, spent, reserved, from, to } of budgets) {
    expect(spent + reserved, `${scope} at ${new Date(life.now).toISOString()}`).toBeLessThanOrEqual(quantity);
    const column = scope === 'chat' ? 'chat_id' : scope === 'person' ? 'owner_id' : 'task_id';
    const [sum] = await life.world.query<{ used: number }>(
      `select coalesce(sum(quantity), 0) as used from usage where ${column} = ?t and kind = 'requests' and at >= ?i and at < ?i`,
      account,
      from,
      to,
    );
    expect(spent).toBe(Number(sum?.used));
  }
}

/** Everything that is left comes to its end in a last life of a server. */
async function settle(life: Life): Promise<void> {
  await die(life);
  life.inHand = [];
  for (let round = 0; round < 40; round += 1) {
    if ((await startSome(life, life.world.store)) === 0) return;
    const ends = life.inHand.map((run) => endOf(run, { usage: [], startedAt: life.now, finishedAt: life.now }));
    await life.world.store.finishRuns(ends);
    life.inHand = [];
  }
  throw new Error('the runs do not come to their end');
}

/** Random lives of budgets. */
export function spendingLifeTests(open: OpenWorld): void {
  test.each([1, 2, 3, 4, 5, 6])(
    'whatever runs, dies, turns and is raised at once, no budget is ever exceeded, and nothing stays reserved (life %i)',
    async (seed) => {
      const life = await aLife(open, seed);
      for (let count = 0; count < stepsOfLife; count += 1) {
        await step(life);
        await checkBudgets(life);
      }
      await settle(life);
      await checkBudgets(life);
      expect((await budgetsOf(life)).map(({ reserved }) => reserved)).toEqual([0, 0, 0]);
      const [counted] = await life.world.query<{ skipped: number; used: number }>(
        `select (select count(*) from occurrences where reason = 'budget') as skipped, (select count(*) from usage) as used`,
      );
      expect(Number(counted?.skipped)).toBeGreaterThan(0);
      expect(Number(counted?.used)).toBeGreaterThan(0);
    },
  );
}
