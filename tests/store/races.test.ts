import { describe, expect, test } from 'vitest';
import { noChange, type Created, type NewTask } from '../../src/app/ports/tasks.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { Task } from '../../src/domain/task.ts';
import type { Script } from '../../src/store/engine/engine.ts';
import {
  ample,
  aRunningTask,
  aTask,
  bootId,
  claimAll,
  endOf,
  hour,
  minute,
  nine,
  readable,
  startAll,
} from '../support/builders.ts';
import { storeChild } from '../support/child.ts';
import { worldsOf, type OpenWorld, type World } from '../support/store-worlds.ts';
import { rows } from '../support/texts.ts';
import { atOnce, codes, numbers, untilSomebodyWaits, won } from './at-once.ts';
import { aReadyTask, change, claimParts, delivered, removed, show, withTask } from './scenes.ts';

async function seedTasks(world: World, count: number, facts: Partial<NewTask> = {}): Promise<Task[]> {
  const first = await aTask(world, facts);
  const columns = `chat_id, number, owner_id, grant_id, version, state, next_at, title, instructions, action, schedule_kind,
    cron, timezone, min_gap_ms, policies, auto_pause, tags, context, runs, failures, consecutive_failures, bounded_runs,
    topic_state, created_at, created_by, updated_at, updated_by`;
  for (const index of numbers(count - 1)) {
    const values = columns.replace('number', `${index + 2}`);
    await world.query(
      `insert into tasks (id, ${columns}) select ?t, ${values} from tasks where id = ?t`,
      world.make.id(),
      first.id,
    );
  }
  return Promise.all(
    (await world.query<{ id: string }>('select id from tasks')).map(
      async ({ id }) => (await world.store.readTask(id)) ?? first,
    ),
  );
}

function budgetRaces(open: OpenWorld): void {
  test('200 runs that are let in at once against a budget of 50 are exactly 50', async () => {
    const world = await open();
    const [first] = await seedTasks(world, 200);
    const account = first?.chatId ?? '';
    const limit = { scope: 'chat', account, chatId: account, kind: 'requests', per: 'day', quantity: 50 } as const;
    const set = [{ ...limit, currency: null, timezone: 'UTC' }];
    const by = { actor: 'telegram:user:7', at: nine - hour } as const;
    await world.store.changeBudgets({ scope: 'chat', account, per: 'day', kinds: ['requests'], set, ...by });
    const costs = { requests: 1, tokens: 0, money: 0, currency: null };
    const results = await atOnce(world, 40, (store) =>
      store.claimDue({ now: nine, limit: 5 }, (due) =>
        due.map(readable).map((task) => {
          const claim = world.make.claim(task);
          return { ...claim, runs: claim.runs.map((run) => ({ ...run, costs })) };
        }),
      ),
    );

    expect(codes(results)).toEqual([]);
    const found = await world.query<{ status: string; n: number }>(
      'select status, count(*) as n from occurrences group by status order by status',
    );
    expect(found.map(({ status, n }) => [status, Number(n)])).toEqual([
      ['dispatched', 50],
      ['skipped', 150],
    ]);
    const query = { thread: null, ownerId: null, taskId: null, now: nine, limit: 9 };
    expect(await world.store.listBudgets(query)).toMatchObject([{ reserved: 50, spent: 0 }]);
  });
}

function raceTests(open: OpenWorld): void {
  test('40 callers over 400 due tasks claim each slot exactly once', async () => {
    const world = await open();
    await seedTasks(world, 400);
    const seen: string[] = [];
    const results = await atOnce(world, 40, (store) =>
      store.claimDue({ now: nine, limit: 20 }, (due) => {
        const tasks = due.map(readable);
        seen.push(...tasks.map(({ id }) => id));
        return tasks.map((task) => world.make.claim(task));
      }),
    );
    while ((await claimAll(world, { now: nine, limit: 100 })).taken > 0);

    expect(codes(results)).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
    const [counted] = await world.query<{ tasks: number; slots: number; runs: number }>(
      `select count(distinct o.task_id) as tasks, count(*) as slots, count(distinct r.id) as runs
       from occurrences o join runs r on r.occurrence_id = o.id`,
    );
    expect(counted).toEqual({ tasks: 400, slots: 400, runs: 400 });
    expect(await world.query('select count(*) as due from tasks where next_at <= ?i', nine)).toEqual([{ due: 0 }]);
  });

  test.each<[string, Pick<NewTask, 'quota'>, (index: number) => Partial<NewTask>]>([
    ['chat', { quota: { chat: 7, user: 50 } }, (index) => ({ ownerIfNone: `telegram:user:${index + 1}` })],
    [
      'user',
      { quota: { chat: 50, user: 7 } },
      (index) => ({ home: { provider: 'telegram', address: `-${index + 1}`, topic: null } }),
    ],
  ])('40 creators at the edge of the quota of a %s make exactly what is left of it', async (_whose, quota, apart) => {
    const world = await open();
    const results = await atOnce(world, 40, (store, index) =>
      store.createTask(world.make.newTask({ ...quota, ...apart(index) }), () => noChange),
    );

    expect(won(results)).toHaveLength(7);
    expect(new Set(codes(results))).toEqual(new Set(['quota_exceeded']));
    expect(await world.query('select id from tasks')).toHaveLength(7);
    expect(await world.query('select id from grants')).toHaveLength(7);
  });

  test('creators in chats that nobody has seen before do not get in each other’s way', async () => {
    const world = await open();
    const results = await atOnce(world, 40, (store, index) => {
      const home = { provider: 'telegram', address: `-${index % 4}`, topic: null };
      return store.createTask(world.make.newTask({ home }), () => noChange);
    });

    expect(codes(results)).toEqual([]);
    const last = await world.query('select last_number from chats order by id');
    expect(last).toEqual(numbers(4).map(() => ({ last_number: 10 })));
  });

  test('the same Idempotency-Key 40 times at once makes one task', async () => {
    const world = await open();
    const once = { scope: 'create', target: '', key: 'k', payloadHash: 'h', expiresAt: nine + 24 * hour };
    const results = await atOnce<Created>(world, 40, (store) =>
      store.createTask(world.make.newTask({ once }), () => noChange),
    );

    expect(codes(results)).toEqual([]);
    expect(won(results).filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(won(results).map(({ task }) => task.id)).size).toBe(1);
    expect(await world.query('select id from tasks')).toHaveLength(1);
  });

  test('a slot that an edit has moved away is never claimed', async () => {
    const world = await open();
    const tasks = await seedTasks(world, 40);
    const edited = atOnce(world, 40, (store, index) =>
      store.changeTask(
        { taskId: tasks[index]?.id ?? '', actor: 'system', at: nine - 1, once: null, quota: ample },
        ({ task }) =>
          task.nextAt === nine ? { ...noChange, set: { nextAt: nine + 5 * hour }, stamp: 'updated' } : noChange,
      ),
    );
    const claimed = atOnce(world, 20, (store) =>
      store.claimDue({ now: nine, limit: 3 }, (due) => due.map((row) => world.make.claim(readable(row)))),
    );

    expect([...codes(await edited), ...codes(await claimed)]).toEqual([]);
    const found = await world.query<{ next_at: number; slots: number }>(
      `select t.next_at, (select count(*) from occurrences o where o.task_id = t.id) as slots from tasks t`,
    );
    const states = new Set(found.map(({ next_at, slots }) => `${(next_at - nine) / hour} h, ${slots}`));
    expect([...states].filter((state) => state !== '1 h, 1' && state !== '5 h, 0')).toEqual([]);
  });

  test('a run that ends while it is cancelled has one final state, and its occurrence agrees', async () => {
    const world = await open();
    const tasks = await seedTasks(world, 20);
    await claimAll(world, { now: nine, limit: 100 });
    const { started } = await world.store.startRuns({ now: nine, limit: 10 }, bootId, startAll);
    const ended = atOnce(world, 10, (store, index) =>
      store.finishRuns(started.slice(index, index + 1).map((one) => endOf(one))),
    );
    const deleted = atOnce(world, 20, (store, index) => change({ store }, { id: tasks[index]?.id ?? '' }, removed));

    expect([...codes(await ended), ...codes(await deleted)]).toEqual([]);
    // Whoever committed first decides.
    const states = await world.query<{ run: string; slot: string; count: number }>(
      `select r.status as run, o.status as slot, count(*) as count
       from runs r join occurrences o on o.id = r.occurrence_id group by r.status, o.status order by r.status`,
    );
    expect(states.filter(({ run, slot }) => run !== slot)).toEqual([]);
    expect(states.reduce((sum, { count }) => sum + count, 0)).toBe(20);
    expect(await world.query('select cast(sum(runs) as bigint) as runs from tasks')).toEqual([{ runs: 10 }]);
  });

  test('40 runs by hand of an exclusive task: one is dispatched, the others are told that it runs', async () => {
    const { world, task } = await withTask(open, { nextAt: nine + hour });
    const results = await atOnce(world, 40, (store) =>
      store.changeTask({ taskId: task.id, actor: 'system', at: nine, once: null, quota: ample }, ({ live }) => {
        if (live.length > 0) throw new AppError('run_in_progress', 'This task is running now.');
        const { occurrence, run } = world.make.dispatched(task, nine);
        return { ...noChange, manual: { occurrence: { ...occurrence, source: 'run_now' }, run } };
      }),
    );

    expect(won(results)).toHaveLength(1);
    expect(codes(results)).toEqual(numbers(39).map(() => 'run_in_progress'));
    expect(await world.query('select status from runs')).toEqual([{ status: 'queued' }]);
  });

  test('a run by hand and the claim of a slot at once leave one live run and no fault', async () => {
    const world = await open();
    const tasks = await seedTasks(world, 40);
    const byHand = atOnce(world, 40, (store, index) => {
      const task = tasks[index];
      if (task === undefined) throw new Error('a task for each caller');
      return store.changeTask({ taskId: task.id, actor: 'system', at: nine, once: null, quota: ample }, ({ live }) => {
        if (live.length > 0) throw new AppError('run_in_progress', 'This task is running now.');
        const { occurrence, run } = world.make.dispatched(task, nine + 1);
        return { ...noChange, manual: { occurrence: { ...occurrence, source: 'run_now' }, run } };
      });
    });
    const claimed = atOnce(world, 40, (store) =>
      store.claimDue({ now: nine, limit: 4 }, (due) =>
        due.map(readable).map((task) => {
          const skipped = world.make.occurrence({ status: 'skipped', reason: 'overlap' });
          return world.make.claim(task, task.live > 0 ? { occurrences: [skipped], runs: [] } : {});
        }),
      ),
    );

    expect([...codes(await byHand), ...codes(await claimed)].filter((code) => code !== 'run_in_progress')).toEqual([]);
    expect(await world.query(`select count(*) as runs, count(distinct task_id) as tasks from runs`)).toEqual([
      { runs: 40, tasks: 40 },
    ]);
  });

  test('12 runners take distinct runs', async () => {
    const world = await open();
    for (const _run of numbers(60)) await world.store.addRun(world.make.newRun());
    const results = await atOnce(world, 12, (store) => store.startRuns({ now: nine, limit: 5 }, bootId, startAll));
    const started = won(results).flatMap((one) => one.started.map(({ run }) => run.id));

    expect(codes(results)).toEqual([]);
    expect(new Set(started).size).toBe(started.length);
    expect(await world.query('select run_id from attempts')).toHaveLength(started.length);
  });

  test('12 deliverers never take two parts of one thread at once', async () => {
    const world = await open();
    for (const address of ['-1', '-2', '-3']) {
      for (const _thread of numbers(3)) {
        const task = await aReadyTask(world, { home: { provider: 'telegram', address, topic: null } });
        await show(
          world,
          task,
          numbers(5).map((part) => world.make.part({ part })),
        );
      }
    }
    const order = new Map<string | null, number[]>();
    for (const _round of numbers(6)) {
      const results = await atOnce(world, 12, (store) => claimParts({ store }));
      const parts = won(results).flat();
      expect(codes(results)).toEqual([]);
      expect(new Set(parts.map(({ taskId }) => taskId)).size).toBe(parts.length);
      for (const { taskId, part } of parts) order.set(taskId, [...(order.get(taskId) ?? []), part]);
      await world.store.endParts(
        parts.map((part) => delivered(part)),
        nine,
      );
    }

    for (const parts of order.values()) expect(parts).toEqual(numbers(parts.length));
    expect(await world.query('select id from deliveries where sends > 1')).toEqual([]);
  });
}

describe('on Postgres', () => {
  const open = worldsOf('postgres');
  budgetRaces(open);
  raceTests(open);

  test('a claim that has not seen a live run looks again instead of failing', async () => {
    const { world, task } = await withTask(open);
    await world.store.addRun(world.make.taskRun(task, nine - hour));
    await world.query(`update runs set status = 'succeeded'`);
    const lives: number[] = [];
    let claiming: Promise<unknown> = Promise.resolve();
    // The run comes to life, and that is committed only once the claim waits for it.
    await world.engine.transact(function* (): Script<void> {
      yield* rows(`update runs set status = 'queued'`);
      claiming = claimAll(world, { now: nine, limit: 1 }, ({ live }) => {
        lives.push(live);
        return live > 0 ? { occurrences: [world.make.occurrence({ status: 'skipped' })], runs: [] } : {};
      });
      yield* untilSomebodyWaits();
    });
    await claiming;

    expect(lives).toEqual([0, 1]);
    expect(await world.query('select status from occurrences')).toEqual([{ status: 'skipped' }]);
  });

  test('a question that is answered while it expires stays answered', async () => {
    const world = await open();
    await aRunningTask(world);
    const asked = world.make.occurrence({ slotAt: nine - hour, decideBy: nine + minute });
    await claimAll(world, { now: nine + hour, limit: 1 }, () => ({ occurrences: [asked], runs: [] }));
    let expiring: Promise<unknown> = Promise.resolve();
    // The answer holds the row, and commits only once the other waits for it.
    await world.engine.transact(function* (): Script<void> {
      yield* rows(`update occurrences set status = 'dispatched', run_id = 'r' where id = ?t`, asked.id);
      expiring = world.store.expireQuestions({ now: nine + hour, limit: 10 });
      yield* untilSomebodyWaits();
    });
    await expiring;

    expect(await world.store.readTaskRun(asked.id)).toMatchObject({ status: 'dispatched', reason: null });
  });
});

describe('on one SQLite file', () => {
  const open = worldsOf('sqlite');
  budgetRaces(open);
  raceTests(open);

  test('three processes claim 200 due tasks, each slot once', async () => {
    const world = await open();
    await seedTasks(world, 200);
    const file = (await world.query<{ file: string }>('pragma database_list'))[0]?.file ?? '';
    const children = numbers(3).map(() => storeChild('claim', file));
    for (const child of children) expect(await child.line()).toBe('ready');
    for (const child of children) child.process.stdin?.end('go');
    const taken = await Promise.all(children.map(async (child) => Number(await child.line())));

    expect(taken.reduce((sum, count) => sum + count, 0)).toBe(200);
    expect(await world.query('select count(*) as slots from occurrences')).toEqual([{ slots: 200 }]);
  });
});
