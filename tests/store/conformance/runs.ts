import { expect, test } from 'vitest';
import type { SlotPlan, StartableRun, StartPlan } from '../../../src/app/ports/pipeline.ts';
import type { Reason } from '../../../src/domain/occurrence.ts';
import { outcomeAt } from '../../../src/domain/task.ts';
import {
  aTask,
  bootId,
  claimAll,
  endOf,
  hour,
  minute,
  nine,
  runInput,
  startAll,
  startEvery,
  startOne,
} from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { withRunningTask, withTask } from '../scenes.ts';

const ready = { now: nine, limit: 100 };

type End = Extract<StartPlan, { does: 'end' }>;

function ended(runId: string, facts: Partial<End> = {}): End {
  const refusal = { status: 'failed', occurrence: 'failed', reason: null } as const;
  const error = { error: 'it cannot start', errorCode: 'failed' } as const;
  return { runId, does: 'end', interrupted: false, ...refusal, ...error, ...facts };
}

async function oneTaskRun(world: World, taskId: string) {
  const { items } = await world.store.listTaskRuns({ taskId, status: null, limit: 1, cursor: null });
  return items[0];
}

/** Runs from their insertion to their attempts. */
export function runTests(open: OpenWorld): void {
  test('ready runs start, the most urgent first and then the oldest', async () => {
    const world = await open();
    const add = (priority: number, createdAt: number) => world.store.addRun(world.make.newRun({ priority, createdAt }));
    const late = await add(5, nine - minute);
    const early = await add(5, nine - hour);
    const urgent = await add(8, nine);
    await add(9, nine + 1);
    const { started, more } = await world.store.startRuns({ now: nine, limit: 2 }, bootId, startAll);

    expect(started.map(({ run }) => run.id)).toEqual([urgent.runId, early.runId]);
    expect(more).toBe(true);
    expect((await startEvery(world, nine)).map(({ run }) => run.id)).toEqual([late.runId]);
  });

  test('a run that has to wait begins no attempt, tells why, and is ready again at its time', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const until = nine + minute;
    await world.store.startRuns(ready, bootId, () => [
      { runId, does: 'wait', interrupted: false, until, reason: 'its host is busy' },
    ]);

    expect(await world.store.readRun(runId)).toMatchObject({
      status: 'backoff',
      error: 'its host is busy',
      attempts: [],
    });
    expect(await world.store.nextRunAt(nine)).toBe(until);
    expect(await startEvery(world, nine)).toEqual([]);
    expect(await startEvery(world, until)).toMatchObject([{ attempt: 1, run: { id: runId } }]);
  });

  test('a run that waits begins when it is woken, and nothing else is touched by that', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const { runId: called } = await world.store.addRun(world.make.newRun());
    const until = nine + minute;
    const wait = { does: 'wait', interrupted: false, until, reason: 'its host is busy' } as const;
    await world.store.startRuns(ready, bootId, () => [
      { runId, ...wait },
      { runId: called, ...wait },
    ]);
    await world.store.cancelRun({ runId: called, actor: 'system:api', at: nine });

    await world.store.wakeRuns([runId, called, 'nobody'], nine + 1);
    expect((await startEvery(world, nine + 1)).map(({ run }) => run.id)).toEqual([runId]);
    await world.store.wakeRuns([runId], nine + 2);
    expect(await startEvery(world, nine + 2)).toEqual([]);
  });

  test('runs of kinds that have no place left, and those that a plan leaves out, stay as they are', async () => {
    const world = await open();
    const input = { ...runInput, action: { kind: 'http' } };
    const { runId: call } = await world.store.addRun(world.make.newRun({ input }));
    const { runId: message } = await world.store.addRun(world.make.newRun());
    const first = await world.store.startRuns({ ...ready, without: ['http', 'script'] }, bootId, startAll);
    expect(first.started.map(({ run }) => run.id)).toEqual([message]);
    expect(await world.store.startRuns(ready, bootId, () => [])).toMatchObject({ taken: 0, started: [] });
    expect((await startEvery(world, nine)).map(({ run }) => run.id)).toEqual([call]);
  });

  test('a job starts the runs that it names and no others, and a look those that no job has started for long', async () => {
    const world = await open();
    const add = (createdAt: number) => world.store.addRun(world.make.newRun({ createdAt }));
    const [old, named, fresh] = [await add(nine - minute), await add(nine), await add(nine)];
    const only = [named.runId, 'gone'];
    expect((await world.store.startRuns({ ...ready, only }, bootId, startAll)).started).toMatchObject([
      { run: { id: named.runId } },
    ]);
    const looked = await world.store.startRuns({ ...ready, queuedBefore: nine - minute / 2 }, bootId, startAll);
    expect(looked.started.map(({ run }) => run.id)).toEqual([old.runId]);
    expect((await startEvery(world, nine)).map(({ run }) => run.id)).toEqual([fresh.runId]);
  });

  test('an effect waits for somebody to let it happen, and the first word about it counts', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const decideBy = nine + hour;
    const question = { id: null, text: 'POST https://example.com', decideBy };
    const waits = { runId, does: 'wait', interrupted: false, until: decideBy, reason: 'waits', question } as const;
    const { runId: busy } = await world.store.addRun(world.make.newRun());
    // Another one waits for its host meanwhile, and nobody for its consent.
    const host = {
      runId: busy,
      does: 'wait',
      interrupted: false,
      until: decideBy,
      reason: 'its host is busy',
    } as const;
    await world.store.startRuns(ready, bootId, () => [host, waits]);
    expect((await world.store.readRun(busy))?.status).toBe('backoff');
    const decide = (isGiven: boolean, at: number) =>
      world.store.decideApproval({ runId, actor: 'telegram:user:7', isGiven, at });

    expect(await decide(true, decideBy)).toEqual({ is: 'expired' });
    const given = { is: 'decided', isGiven: true, by: 'telegram:user:7', at: nine + minute, isEffect: true };
    expect(await decide(true, nine + minute)).toEqual({ ...given, isFirst: true });
    expect(await decide(false, nine + 2 * minute)).toEqual({ ...given, isFirst: false });
    const [started] = await startEvery(world, nine + minute);
    expect(started?.run.consent).toEqual({ is: 'given', by: 'telegram:user:7', at: nine + minute });
  });

  test('how far a run is stands with it while its claim holds, and is told as an event', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const { fence } = await startOne(world, nine);
    await world.store.noteProgress({ runId, fence, text: '1 of 3', at: nine });
    await world.store.noteProgress({ runId, fence: fence + 1, text: 'of another', at: nine });

    expect(await world.store.readRun(runId)).toMatchObject({ progress: '1 of 3' });
    const { events } = await world.store.readEvents({ after: null, taskId: null, kind: 'run.progress', limit: 10 });
    expect(events).toMatchObject([{ ref: runId, data: { text: '1 of 3' } }]);
  });

  test('a started run has an open attempt, a fence and an owner, and is not started again', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const started = await startOne(world, nine + minute);

    expect(started).toMatchObject({ attempt: 1, fence: 1, run: { id: runId, input: runInput, interruptions: 0 } });
    expect(await world.store.readRun(runId)).toMatchObject({
      status: 'running',
      startedAt: nine + minute,
      attempts: [{ attempt: 1, status: 'running', startedAt: nine + minute, finishedAt: null }],
    });
    expect(await startEvery(world, nine + hour)).toEqual([]);
  });

  test('a run of a task brings the state of the task and its grant', async () => {
    const { started, task } = await withRunningTask(open);

    expect(started.run).toMatchObject({
      taskId: task.id,
      taskState: 'active',
      taskVersion: 1,
      grant: { ownerId: 'telegram:user:7', chatId: task.chatId, scopes: ['action:message'], revokedAt: null },
    });
  });

  test('runs in order are served one at a time in their lane, whatever their rank', async () => {
    const world = await open();
    const lane = { lane: 'thread' };
    const add = async (facts: object) => (await world.store.addRun(world.make.newRun(facts))).runId;
    const [first, second] = [await add(lane), await add({ ...lane, priority: 9 })];
    const [elsewhere, free] = [await add({ lane: 'other' }), await add({})];
    const started = await startEvery(world, nine);
    expect(started.map(({ run }) => run.id).toSorted()).toEqual([first, elsewhere, free].toSorted());

    const head = started.find(({ run }) => run.id === first);
    if (head === undefined) throw new Error('the head of the lane did not start');
    await world.store.finishRuns([endOf(head, { attemptStatus: 'failed', status: 'backoff', readyAt: nine + hour })]);
    expect(await startEvery(world, nine)).toEqual([]);
    await world.query(`update runs set status = 'cancelled' where id = ?t`, first);
    expect((await startOne(world, nine)).run.id).toBe(second);
  });

  test('one exclusive run of a task lives at a time, and any number of others', async () => {
    const { store, make } = await open();
    const task = { id: 'task', version: 1, chatId: 'chat' };
    await store.addRun(make.taskRun(task, nine));
    await store.addRun(make.taskRun(task, nine + 1, { exclusive: false }));

    await expect(store.addRun(make.taskRun(task, nine + 2))).rejects.toMatchObject({
      code: expect.stringMatching(/internal|store_unavailable/) as string,
    });
    expect(await store.addRun(make.taskRun(task, nine + 3, { exclusive: false }))).toMatchObject({ created: true });
  });
}

/** Runs that end before they start, rows that cannot be read, and what another boot left behind. */
export function refusedRunTests(open: OpenWorld): void {
  test('a run that fails before its first attempt counts as a failure of its task', async () => {
    const { world, task } = await withTask(open);
    await claimAll(world, ready);
    await world.store.startRuns(ready, bootId, (runs) => runs.map(({ id }) => ended(id)));

    expect(await oneTaskRun(world, task.id)).toMatchObject({ error: 'it cannot start', errorCode: 'failed' });
    expect(await world.store.readTask(task.id)).toMatchObject({
      counters: { runs: 1, failures: 1, consecutiveFailures: 1 },
      lastRunStatus: 'failed',
      lastError: 'it cannot start',
    });
  });

  test('a slot that did not run is the last outcome, and one that is skipped ahead is not yet', async () => {
    const { world, task } = await withTask(open);
    const outcome = async (at = nine + 9 * hour) => {
      const read = await world.store.readTask(task.id);
      return read === null ? undefined : outcomeAt(read, at);
    };
    expect(await outcome()).toBeNull();
    const none = { runs: [], gap: null, replaces: false } as const;
    const claim = (nextAt: number, facts: Partial<SlotPlan>) =>
      claimAll(world, { now: nine + 9 * hour, limit: 1 }, () => ({ ...none, occurrences: [], nextAt, ...facts }));
    const skipped = (slotAt: number, reason: Reason) => world.make.occurrence({ slotAt, status: 'skipped', reason });
    await claim(nine + hour, { occurrences: [skipped(nine + 20 * hour, 'skip')] });
    await world.query(`update tasks set skips_until = ${nine + 20 * hour}`);
    expect([await outcome(), await outcome(nine + 20 * hour)]).toEqual([null, 'skipped']);
    await claim(nine + hour, { occurrences: [skipped(nine, 'overlap')] });
    expect(await outcome()).toBe('skipped');
    const gap = { id: 'gap', fromAt: nine + hour, toAt: nine + 3 * hour, count: 3, reason: 'late' } as const;
    await claim(nine + 4 * hour, { gap });
    expect(await outcome()).toBe('missed');
    await claim(nine + 5 * hour, { occurrences: [skipped(nine + 4 * hour, 'overlap')] });
    expect(await outcome()).toBe('skipped');
  });

  test('the last outcome is of what was decided last, not of the latest slot', async () => {
    const { world, task, started } = await withRunningTask(open);
    const skipped = Array.from({ length: 30 }, (_, index) =>
      world.make.occurrence({ slotAt: nine + hour + index, status: 'skipped', reason: 'overlap' }),
    );
    const none = { runs: [], gap: null, replaces: false } as const;
    const at = nine + 48 * hour;
    await claimAll(world, { now: at, limit: 1 }, () => ({ ...none, occurrences: skipped, nextAt: at + hour }));
    expect((await world.store.readTask(task.id))?.lastOutcome).toBe('skipped');
    await world.store.finishRuns([{ ...endOf(started), finishedAt: at + 1 }]);
    expect((await world.store.readTask(task.id))?.lastOutcome).toBe('succeeded');
  });

  test('the runs of a task are numbered, whatever asked for them', async () => {
    const { world, task } = await withTask(open);
    const other = await aTask(world);
    const numbers = [];
    for (const [one, at] of [
      [task, 1],
      [other, 1],
      [task, 2],
      [task, 3],
    ] as const) {
      const { runId } = await world.store.addRun(world.make.taskRun(one, nine + at, { exclusive: false }));
      numbers.push((await world.store.readRun(runId))?.runNumber);
    }
    const { runId } = await world.store.addRun(world.make.newRun());
    expect([...numbers, (await world.store.readRun(runId))?.runNumber]).toEqual([1, 1, 2, 3, null]);
    expect(await world.store.readRun(runId)).toMatchObject({ actionKind: 'message' });
  });

  test('a plan that throws starts nobody', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    const failing = world.store.startRuns(ready, bootId, () => {
      throw new Error('a fault of the plan');
    });

    await expect(failing).rejects.toMatchObject({ code: 'internal' });
    expect(await world.store.readRun(runId)).toMatchObject({ status: 'queued', attempts: [] });
  });

  test.each([
    ['input', `update runs set input = '[]' where id = ?t`],
    [
      'grant',
      `update grants set scopes = '{' where id in (select grant_id from tasks t join runs r on r.task_id = t.id where r.id = ?t)`,
    ],
  ])('a run whose %s cannot be read fails with the reason, and the others start', async (_what, corrupt) => {
    const world = await open();
    await aTask(world);
    await claimAll(world, ready);
    const bad = (await world.query<{ id: string }>('select id from runs'))[0]?.id ?? '';
    await world.query(corrupt, bad);
    const good = await world.store.addRun(world.make.newRun());
    const { started } = await world.store.startRuns(ready, bootId, (runs) =>
      runs.map((run) =>
        'unreadable' in run
          ? ended(run.id, { error: run.unreadable })
          : { runId: run.id, does: 'start', interrupted: false },
      ),
    );

    expect(started.map(({ run }) => run.id)).toEqual([good.runId]);
    expect(await world.store.readRun(bad)).toMatchObject({ status: 'failed' });
  });

  test('a run that another boot left behind comes first, as an interrupted attempt and a new one', async () => {
    const world = await open();
    const { runId } = await world.store.addRun(world.make.newRun());
    await startEvery(world, nine, 'boot-before');
    await world.store.letRunsGo('boot-before', []);
    const queued = await world.store.addRun(world.make.newRun({ priority: 9 }));
    const { started } = await world.store.startRuns({ now: nine + hour, limit: 2 }, bootId, startAll);

    expect(started.map(({ run, attempt, fence }) => [run.id, run.interruptions, attempt, fence])).toEqual([
      [runId, 1, 2, 2],
      [queued.runId, 0, 1, 1],
    ]);
    expect((await world.store.readRun(runId))?.attempts).toMatchObject([
      { attempt: 1, status: 'interrupted', finishedAt: nine + hour, durationMs: null },
      { attempt: 2, status: 'running' },
    ]);
  });

  test('the old owner of a run that was taken over writes nothing any more', async () => {
    const { world, task } = await withRunningTask(open);
    await world.store.letRunsGo(bootId, []);
    const { started } = await world.store.startRuns(ready, bootId, startAll);
    const [fresh] = started;
    const stale = { ...started[0], fence: 1, attempt: 1, placeAt: null, run: fresh?.run as StartableRun };

    expect(await world.store.finishRuns([endOf(stale)])).toEqual({ written: 0, autoPaused: [] });
    expect(await oneTaskRun(world, task.id)).toMatchObject({
      status: 'dispatched',
      attempts: [{ status: 'interrupted' }, { status: 'running' }],
    });
  });

  test('the next instant of the runner is the nearest ready run, and at once for what was left behind', async () => {
    const world = await open();
    expect(await world.store.nextRunAt(nine)).toBeNull();
    await world.store.addRun(world.make.newRun({ createdAt: nine + hour }));
    await world.store.addRun(world.make.newRun({ createdAt: nine + minute, priority: 1 }));
    expect(await world.store.nextRunAt(nine)).toBe(nine + minute);
    await startEvery(world, nine + minute);
    expect(await world.store.nextRunAt(nine + minute)).toBe(nine + hour);
    await world.store.letRunsGo(bootId, []);
    expect(await world.store.nextRunAt(nine)).toBe(nine);
  });

  test('failures before the first attempt pause a task as well', async () => {
    const { world, task } = await withTask(open, { policies: { auto_pause: 3 } });
    await world.query('update tasks set consecutive_failures = 2 where id = ?t', task.id);
    await claimAll(world, ready);
    await world.store.startRuns(ready, bootId, (runs) => runs.map(({ id }) => ended(id)));

    expect(await world.store.readTask(task.id)).toMatchObject({
      state: 'paused',
      nextAt: null,
      pausedReason: 'auto:consecutive_failures',
    });
  });
}
