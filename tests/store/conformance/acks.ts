import { expect, test } from 'vitest';
import type { DueAck, NagDecision } from '../../../src/app/ports/questions.ts';
import type { NewTask } from '../../../src/app/ports/tasks.ts';
import { aTask, claimAll, endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { change, claimParts, delivered, nextPart, someone, threadOf, withTask } from '../scenes.ts';

export const ack = { nagEveryMs: 10 * minute, nagLimit: 3 };

/** A task whose slot at nine has run, and asks to be confirmed. */
export async function asked(world: World, facts: Partial<NewTask> = {}, isAsked = true) {
  const task = await aTask(world, { policies: { ack: {} }, ...facts });
  await claimAll(world, { now: nine, limit: 100 });
  const started = await startOne(world, nine);
  const part = world.make.part();
  await world.store.finishRuns([endOf(started, { deliveries: [part], ...(isAsked ? { ack } : {}) })]);
  const occurrenceId = started.run.occurrenceId ?? '';
  return {
    task,
    started,
    part,
    occurrenceId,
    note: { taskId: task.id, occurrenceId, actor: 'telegram:user:7', at: nine + minute } as const,
  };
}

export const rowsOf = (world: World) =>
  world.query<{ status: string; nags: number; nag_at: number | null; done_by: string | null }>(
    'select status, nags, nag_at, done_by from acks order by created_at, occurrence_id',
  );
const notices = async (world: World) =>
  world.query<{ kind: string; status: string; edits: number | null; part: number }>(
    `select kind, status, edits, part from deliveries where kind in ('notice', 'remove') order by id`,
  );

/** What the plan is shown, and what is decided about it. */
export async function claim(
  world: World,
  now: number,
  decide: (due: DueAck) => NagDecision,
): Promise<readonly DueAck[]> {
  const seen: DueAck[] = [];
  await world.store.claimNags({ now, limit: 10 }, (due) => {
    seen.push(...due);
    return due.map(decide);
  });
  return seen;
}

export const nag =
  (world: World, number: number, nextAt: number) =>
  ({ occurrenceId }: DueAck): NagDecision => ({ occurrenceId, is: 'nag', deliveryId: world.make.id(), number, nextAt });

async function deliver(world: World, messageId: number, now: number): Promise<void> {
  await world.store.endParts([delivered(await nextPart(world, { now, limit: 1 }), messageId, { at: now })], now);
}

/** Its topic is there, so that its results can go out. */
export async function withTopic(world: World, taskId: string): Promise<void> {
  await world.query(`update tasks set topic_state = 'ready', topic_id = 42 where id = ?t`, taskId);
}

/** Confirmations, and who is reminded of them. */
export function ackTests(open: OpenWorld): void {
  test('it is due so long after the end, and shows what its decision is made from', async () => {
    const world = await open();
    const { occurrenceId } = await asked(world, { policies: { ack: {}, quiet: { mode: 'off' } } });
    const dueAt = nine + 1000 + ack.nagEveryMs;
    expect(await world.store.nextNagAt()).toBe(dueAt);
    expect(await claim(world, dueAt - 1, () => ({ occurrenceId, is: 'drop' }))).toEqual([]);
    const seen = await claim(world, dueAt, () => ({ occurrenceId, is: 'later', at: nine + hour }));
    expect(seen).toEqual([
      {
        occurrenceId,
        nags: 0,
        nagEveryMs: ack.nagEveryMs,
        nagLimit: 3,
        createdAt: nine + 1000,
        result: { is: 'waiting', until: null },
        lastNag: null,
        isWanted: true,
        quiet: null,
        timezone: 'UTC',
      },
    ]);
    expect(await world.store.nextNagAt()).toBe(nine + hour);
  });

  test('a reminder, the removal of the one before and the instant of the next are one step', async () => {
    const world = await open();
    const { task } = await asked(world);
    await withTopic(world, task.id);
    await deliver(world, 501, nine + 2000);
    await claim(world, nine + hour, nag(world, 1, nine + 2 * hour));
    await deliver(world, 502, nine + hour);
    const [again] = await claim(world, nine + 2 * hour, nag(world, 2, nine + 3 * hour));
    expect(again).toMatchObject({ nags: 1, result: { is: 'shown', at: nine + 2000 }, lastNag: { is: 'shown' } });
    expect(await rowsOf(world)).toMatchObject([{ status: 'open', nags: 2, nag_at: nine + 3 * hour }]);
    const all = await notices(world);
    expect(all.filter(({ kind }) => kind === 'notice').map(({ part, status }) => [part, status])).toEqual([
      [11, 'delivered'],
      [12, 'pending'],
    ]);
    expect(all.filter(({ kind }) => kind === 'remove')).toMatchObject([{ status: 'pending', edits: 502 }]);
  });

  test('a Done that nobody asked for has its row, is of its own task alone, and goes when it is taken back', async () => {
    const world = await open();
    const { note } = await asked(world, {}, false);
    const other = await aTask(world);
    expect(await world.store.noteDone({ ...note, taskId: other.id })).toMatchObject({ isFirst: true, result: null });
    expect(await rowsOf(world)).toEqual([]);
    await world.store.noteDone(note);
    expect(await rowsOf(world)).toMatchObject([{ status: 'done', nags: 0 }]);
    expect(await world.store.takeBackDone(note)).toBe(true);
    expect(await world.store.takeBackDone(note)).toBe(false);
    expect(await rowsOf(world)).toEqual([]);
  });

  test('two that claim at once remind once', async () => {
    const world = await open();
    await asked(world);
    const both = await Promise.all([
      claim(world, nine + hour, nag(world, 1, nine + 2 * hour)),
      claim(world, nine + hour, nag(world, 1, nine + 2 * hour)),
    ]);
    expect(both.flat()).toHaveLength(1);
    expect(await notices(world)).toHaveLength(1);
  });
}

/** Results that someone has to let go. */
export function approvalTests(open: OpenWorld): void {
  const waiting = async (world: World) => {
    const task = await aTask(world, { home: threadOf('-100', 7) });
    await withTopic(world, task.id);
    await claimAll(world, { now: nine, limit: 100 });
    const started = await startOne(world, nine);
    const approveBy = nine + 24 * hour;
    const parts = [1, 2].map((part) => world.make.part({ part, approveBy }));
    const approval = { id: world.make.id(), text: 'Water the plants.', decideBy: approveBy };
    await world.store.finishRuns([endOf(started, { deliveries: parts, approval })]);
    return { task, runId: started.run.id, approveBy };
  };
  const results = (world: World) =>
    world.query<Record<string, unknown>>(
      `select status, cause, lane, ready_at, expires_at, error from deliveries where kind = 'result' order by part`,
    );
  const claimed = (world: World, now: number) => claimParts(world, { now });

  test('waits aside, and is asked about in the thread where the task was asked for', async () => {
    const world = await open();
    const { task, approveBy } = await waiting(world);
    const one = { status: 'blocked', cause: 'approval', lane: `approval:${task.id}`, ready_at: approveBy, error: null };
    expect(await results(world)).toEqual([
      { ...one, expires_at: approveBy },
      { ...one, expires_at: approveBy },
    ]);
    const [question] = await claimed(world, nine + 2000);
    expect(question).toMatchObject({ kind: 'notice', shown: { view: 'approval' }, route: { topic: 7 } });
    expect(await world.store.retryBlocked({ chatId: task.chatId, taskId: null, inDoubt: true }, nine + hour)).toBe(0);
  });

  test('is let go by the first decision, and the second is told of it', async () => {
    const world = await open();
    const { task, runId } = await waiting(world);
    const given = { runId, actor: someone, isGiven: true, at: nine + hour } as const;
    expect(await world.store.decideApproval(given)).toMatchObject({ is: 'decided', isGiven: true, isFirst: true });
    expect(await results(world)).toMatchObject([
      { status: 'pending', cause: null, lane: `task:${task.id}`, ready_at: nine + hour, expires_at: null },
      { status: 'pending', cause: null, lane: `task:${task.id}` },
    ]);
    expect(await world.store.decideApproval({ ...given, isGiven: false, at: nine + 2 * hour })).toEqual({
      is: 'decided',
      isGiven: true,
      by: someone,
      at: nine + hour,
      isFirst: false,
    });
  });

  test('is discarded, and told as such', async () => {
    const world = await open();
    const { runId } = await waiting(world);
    await world.store.decideApproval({ runId, actor: someone, isGiven: false, at: nine + hour });
    expect(await results(world)).toMatchObject([
      { status: 'failed', error: 'discarded', ready_at: null },
      { status: 'failed', error: 'discarded' },
    ]);
    expect((await world.store.readRun(runId))?.deliveries[0]?.decision).toEqual({
      isGiven: false,
      by: someone,
      at: nine + hour,
    });
  });

  test('is over with its time, and goes with its task', async () => {
    const world = await open();
    const { runId, approveBy } = await waiting(world);
    await claimed(world, nine + 2000);
    expect(await claimed(world, approveBy)).toEqual([]);
    expect(await results(world)).toMatchObject([
      { status: 'failed', error: 'nobody approved it within 1 day' },
      { status: 'failed' },
    ]);
    const late = { runId, actor: someone, isGiven: true, at: approveBy + 1 } as const;
    expect(await world.store.decideApproval(late)).toEqual({ is: 'expired' });
    expect(await world.store.decideApproval({ ...late, runId: 'none' })).toEqual({ is: 'none' });
  });
}

/** Questions about missed slots, and words about runs that were left out. */
export function askedTests(open: OpenWorld): void {
  const due = { now: nine, limit: 100 };
  const words = async (world: World) =>
    (await world.query<{ content: string }>(`select content from deliveries where kind = 'notice' order by id`)).map(
      ({ content }) => JSON.parse(content) as object,
    );

  test('slots that are asked about bring one word, in the topic, about all that wait by then', async () => {
    const { world, task } = await withTask(open);
    const asked = [2, 1].map((n) =>
      world.make.occurrence({
        slotAt: nine - n * minute,
        source: 'catch_up',
        reason: 'ask',
        decideBy: nine + n * hour,
      }),
    );
    const questionId = world.make.id();
    await claimAll(world, due, () => ({ occurrences: asked, runs: [], questionId }));

    const question = { from: nine - 2 * minute, to: nine - minute, count: 2, decideBy: nine + 2 * hour };
    expect(await world.store.readQuestion(task.id)).toEqual(question);
    expect(await words(world)).toEqual([{ view: 'missed', ...question }]);
    expect(await world.query(`select goes_to, expires_at from deliveries`)).toEqual([
      { goes_to: 'task', expires_at: nine + 2 * hour },
    ]);
    await world.store.expireQuestions({ now: nine + 2 * hour, limit: 9 });
    expect(await world.store.readQuestion(task.id)).toBeNull();
  });

  test('whoever answered last is known', async () => {
    const { world, task } = await withTask(open);
    expect(await world.store.lastAnswer(task.id, nine)).toBeNull();
    const audit = { verb: 'answer', before: null, after: { answer: 'latest', run: true } } as const;
    await change(world, task, { audit }, { actor: someone, at: nine + minute });
    expect(await world.store.lastAnswer(task.id, nine)).toEqual({ by: someone, at: nine + minute, choice: 'latest' });
    expect(await world.store.lastAnswer(task.id, nine + hour)).toBeNull();
  });

  test('a run that is left out for want of a right is told in the chat, once for each loss of it', async () => {
    const { world, task } = await withTask(open);
    const skipped = (slotAt: number) =>
      claimAll(world, { now: slotAt, limit: 100 }, () => ({
        occurrences: [world.make.occurrence({ slotAt, status: 'skipped', reason: 'grant_revoked' })],
        runs: [],
      }));
    await world.query(`update grants set revoked_at = ?i, revoked_by = 'system'`, nine - minute);
    await skipped(nine);
    await skipped(nine + hour);
    expect(await words(world)).toMatchObject([{ view: 'mayNotRun', reason: 'grant_revoked' }]);
    expect(await world.query(`select goes_to, to_topic, task_id from deliveries`)).toEqual([
      { goes_to: 'thread', to_topic: null, task_id: task.id },
    ]);
    await world.query(`update grants set revoked_at = ?i, revoked_by = ?t`, nine + hour, someone);
    await skipped(nine + 2 * hour);
    expect(await words(world)).toHaveLength(2);
  });
}
