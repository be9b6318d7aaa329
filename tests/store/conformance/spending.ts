import { expect, test } from 'vitest';
import type { NewBudget, SpentQuery } from '../../../src/app/ports/metering.ts';
import { noChange } from '../../../src/app/ports/tasks.ts';
import type { Costs } from '../../../src/domain/spending/usage.ts';
import { aTask, claimAll, endOf, failureOf, hour, nine, startAll, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { owner, threadOf } from '../scenes.ts';

const day = 24 * hour;
const midnight = nine - 9 * hour;
const costs: Costs = { requests: 1, tokens: 0, money: 0, currency: null };
const one = [{ kind: 'requests', quantity: 1, source: 'api.example.com' }] as const;

const limit = (account: string, facts: Partial<NewBudget> = {}): NewBudget => ({
  scope: 'chat',
  account,
  chatId: account,
  kind: 'requests',
  per: 'day',
  quantity: 2,
  currency: null,
  timezone: 'UTC',
  ...facts,
});

function setBudgets(world: World, set: readonly NewBudget[], at = nine - 2 * hour) {
  const [{ scope, account } = limit('')] = set;
  return world.store.changeBudgets({
    scope: scope === 'person' ? 'person' : 'chat',
    account,
    per: 'day',
    kinds: ['requests', 'tokens', 'money'],
    set,
    actor: owner,
    at,
  });
}

/** So many tasks with a slot at nine, each of which costs a request; their slots are taken up. */
async function claimed(world: World, count: number, of: Partial<Costs> = {}) {
  const tasks = [];
  for (let index = 0; index < count; index += 1) tasks.push(await aTask(world, { title: `Call ${index}` }));
  await world.store.claimDue({ now: nine, limit: 100 }, (due) =>
    due.map((row) => {
      if ('unreadable' in row) throw new Error('unreadable');
      const claim = world.make.claim(row);
      return { ...claim, runs: claim.runs.map((run) => ({ ...run, costs: { ...costs, ...of } })) };
    }),
  );
  return tasks;
}

const outcomes = (world: World) =>
  world.query('select status, reason, run_id is null as out from occurrences order by id');
const budgetsOf = (world: World, now = nine) =>
  world.store.listBudgets({ thread: null, ownerId: null, taskId: null, now, limit: 100 });

/** What runs may spend, what they have reserved, and what they have spent. */
export function spendingTests(open: OpenWorld): void {
  test('runs for which a budget has no room are never made, and their slots say why', async () => {
    const world = await open();
    const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await setBudgets(world, [limit(chatId)]);
    await claimed(world, 3);

    const found = await outcomes(world);
    expect(found.filter(({ status }) => status === 'dispatched')).toHaveLength(2);
    expect(found.filter(({ status }) => status === 'skipped').map(({ reason, out }) => [reason, Boolean(out)])).toEqual(
      [['budget', true]],
    );
    expect(await world.query('select count(*) as n from runs')).toEqual([{ n: 2 }]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 0, reserved: 2, from: midnight, to: midnight + day }]);
    // Told once as nearly used up, and once as used up.
    const told = await world.query(`select content from deliveries where kind = 'notice' order by id`);
    expect(told.map(({ content }) => (JSON.parse(String(content)) as { is: string }).is).toSorted()).toEqual([
      'near',
      'spent',
    ]);
  });

  test('an end settles what was reserved, once, and what was spent stays', async () => {
    const world = await open();
    const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await setBudgets(world, [limit(chatId), limit(chatId, { kind: 'tokens', quantity: 100 })]);
    const [task] = await claimed(world, 1);
    const started = await startOne(world, nine);
    const end = endOf(started, { usage: [...one, { kind: 'bytes', quantity: 9 }] });
    await world.store.finishRuns([end]);
    await world.store.finishRuns([end]);

    expect(await budgetsOf(world)).toMatchObject([
      { spent: 1, reserved: 0 },
      { kind: 'tokens', spent: 0 },
    ]);
    const query: SpentQuery = {
      thread: threadOf('-100'),
      ownerId: null,
      taskId: null,
      from: midnight,
      to: midnight + day,
    };
    expect(await world.store.spentByTask({ ...query, taskId: task?.id ?? '' }, 10)).toEqual([
      { taskId: task?.id, number: task?.number, title: 'Call 0', kind: 'bytes', quantity: 9, currency: null },
      { taskId: task?.id, number: task?.number, title: 'Call 0', kind: 'requests', quantity: 1, currency: null },
    ]);
    expect(await world.store.spentByQuarter({ ...query, ownerId: owner })).toEqual([
      { from: nine, kind: 'bytes', quantity: 9, currency: null },
      { from: nine, kind: 'requests', quantity: 1, currency: null },
    ]);
    expect(await world.store.spentInChat(chatId, nine)).toEqual([
      { kind: 'bytes', quantity: 9, currency: null },
      { kind: 'requests', quantity: 1, currency: null },
    ]);
    expect(await world.store.spentInChat(chatId, nine + 1)).toEqual([]);
  });

  test('an attempt of which nobody knows what it has spent counts with all that it had reserved', async () => {
    const world = await open();
    await claimed(world, 1, { tokens: 50, money: 7, currency: 'EUR' });
    await world.store.finishRuns([endOf(await startOne(world, nine), { usage: null })]);
    expect(await world.query('select kind, quantity, source, currency from usage order by kind')).toEqual([
      { kind: 'money', quantity: 7, source: 'estimate', currency: 'EUR' },
      { kind: 'requests', quantity: 1, source: 'estimate', currency: null },
      { kind: 'tokens', quantity: 50, source: 'estimate', currency: null },
    ]);
  });

  test('a run that is tried again keeps its reservation while there is room beside what it has spent', async () => {
    const world = await open();
    const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await setBudgets(world, [limit(chatId, { quantity: 2 })]);
    await claimed(world, 1);
    const again = { status: 'backoff', readyAt: nine, usage: [...one] } as const;
    await world.store.finishRuns([failureOf(await startOne(world, nine), again)]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 1, reserved: 1 }]);
    await world.store.finishRuns([failureOf(await startOne(world, nine), again)]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 2, reserved: 0 }]);

    const without = { does: 'end', interrupted: false, status: 'cancelled', occurrence: 'skipped' } as const;
    const { started } = await world.store.startRuns({ now: nine, limit: 10 }, 'boot-here', (runs) =>
      runs.map(({ id: runId }) => ({
        runId,
        does: 'start',
        interrupted: false,
        reserve: { costs, without: { ...without, runId, reason: 'budget', error: 'budget', errorCode: 'not_allowed' } },
      })),
    );
    expect(started).toEqual([]);
    expect(await outcomes(world)).toMatchObject([{ status: 'skipped', reason: 'budget' }]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 2, reserved: 0 }]);
  });

  test('an attempt that was lost is settled when its run is taken up again', async () => {
    const world = await open();
    const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await setBudgets(world, [limit(chatId, { quantity: 5 })]);
    await claimed(world, 1);
    await startOne(world, nine, 'boot-dead');
    await world.store.letRunsGo('boot-dead', []);
    const { started } = await world.store.startRuns({ now: nine, limit: 10 }, 'boot-here', (runs) =>
      startAll(runs).map((plan) =>
        plan.does === 'start'
          ? {
              ...plan,
              reserve: {
                costs,
                without: {
                  runId: plan.runId,
                  does: 'end',
                  interrupted: true,
                  status: 'failed',
                  occurrence: 'failed',
                  reason: null,
                  error: '',
                  errorCode: 'failed',
                },
              },
            }
          : plan,
      ),
    );
    expect(started.map(({ run }) => run.reserved)).toEqual([{ costs, at: nine }]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 1, reserved: 1 }]);
  });

  test('a day opens by itself, and one that comes again is summed up from what was spent', async () => {
    const world = await open();
    const chatId = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await setBudgets(world, [limit(chatId), limit(chatId, { kind: 'money', quantity: 10, currency: 'EUR' })]);
    await claimed(world, 2, { money: 3, currency: 'EUR' });
    const { started } = await world.store.startRuns({ now: nine, limit: 10 }, 'boot-here', startAll);
    const usage = [
      ...one,
      { kind: 'money', quantity: 3, currency: 'EUR' },
      { kind: 'money', quantity: 99, currency: 'USD', source: 'x' },
    ] as const;
    await world.store.finishRuns(started.map((run) => endOf(run, { usage })));
    expect(await budgetsOf(world)).toMatchObject([{ kind: 'money', spent: 6 }, { spent: 2 }]);
    expect(await budgetsOf(world, nine + day)).toMatchObject([{ spent: 0 }, { spent: 0, from: midnight + day }]);
    expect(await budgetsOf(world)).toMatchObject([{ spent: 6 }, { spent: 2 }]);
  });

  test('budgets of a chat, a person and a task all hold, and those of a task follow its policy', async () => {
    const world = await open();
    const task = await aTask(world, { policies: { budget: { requests: 7, per: 'month' } } });
    await setBudgets(world, [limit(owner, { scope: 'person', chatId: null, quantity: 1, timezone: 'Asia/Tokyo' })]);
    await claimAll(world, { now: nine, limit: 10 }, (due) => {
      const claim = world.make.claim(due);
      return { runs: claim.runs.map((run) => ({ ...run, costs })) };
    });
    const names = async (query: object) =>
      (
        await world.store.listBudgets({ thread: null, ownerId: null, taskId: null, now: nine, limit: 100, ...query })
      ).map(({ scope, quantity, reserved, timezone }) => [scope, quantity, reserved, timezone]);
    expect(await names({ taskId: task.id })).toEqual([['task', 7, 1, 'UTC']]);
    expect(await names({ ownerId: owner })).toEqual([['person', 1, 1, 'Asia/Tokyo']]);
    expect(await names({ thread: threadOf('-100') })).toEqual([['task', 7, 1, 'UTC']]);
    const target = { taskId: task.id, actor: owner, at: nine, quota: { chat: 9, user: 9 }, once: null } as const;
    const put = (policies: object) => world.store.changeTask({ ...target }, () => ({ ...noChange, set: { policies } }));
    await put({ budget: { tokens: 5, per: 'day' } });
    expect(await world.query(`select kind, per from budgets where scope = 'task'`)).toEqual([
      { kind: 'tokens', per: 'day' },
    ]);
    await put({});
    expect(await world.query(`select kind from budgets where scope = 'task'`)).toEqual([]);
    expect(await setBudgets(world, [limit(owner, { scope: 'person', chatId: null, quantity: 9 })])).toBe(0);
    const gone = {
      scope: 'person',
      account: owner,
      per: null,
      kinds: ['requests'],
      set: [],
      actor: owner,
      at: nine,
    } as const;
    expect(await world.store.changeBudgets(gone)).toBe(1);
  });

  test('runs that go leave what they have spent as one row a day, so that a month stays as it was', async () => {
    const world = await open();
    const tasks = await claimed(world, 2);
    const { started } = await world.store.startRuns({ now: nine, limit: 10 }, 'boot-here', startAll);
    await world.store.finishRuns(started.map((run) => endOf(run, { usage: [...one] })));
    const query: SpentQuery = { thread: null, ownerId: owner, taskId: null, from: midnight, to: midnight + day };
    const before = await world.store.spentOf(query);
    expect(before).toEqual([{ kind: 'requests', quantity: 2, currency: null }]);
    await world.query(`update tasks set state = 'deleted', next_at = null, deleted_at = 1`);
    for (const shelf of ['occurrences', 'runs'] as const)
      await world.store.prune({ shelf, after: null, before: nine + 9 * day, limit: 100, now: nine + 9 * day });
    expect(await world.query('select attempt, at from usage')).toEqual(tasks.map(() => ({ attempt: 0, at: midnight })));
    expect(await world.store.spentOf(query)).toEqual(before);
  });

  test('a chat that takes another in keeps its budgets, has those of the other, and sums up what both have spent', async () => {
    const world = await open();
    const young = await world.store.chatIdOf(threadOf('-100'), 'chat-1', nine);
    await world.store.noteChat({ newId: 'old', address: '-1', title: null, kind: 'group', at: nine });
    await setBudgets(world, [limit('old', { quantity: 50 })]);
    await setBudgets(world, [limit(young, { quantity: 5 }), limit(young, { kind: 'tokens', quantity: 8 })]);
    await claimed(world, 1);
    await world.store.finishRuns([endOf(await startOne(world, nine), { usage: [...one] })]);
    await world.store.moveChat('-1', '-100', nine);
    expect(await budgetsOf(world)).toMatchObject([
      { account: 'old', kind: 'requests', quantity: 50, spent: 1 },
      { account: 'old', kind: 'tokens', quantity: 8, spent: 0 },
    ]);
  });
}
