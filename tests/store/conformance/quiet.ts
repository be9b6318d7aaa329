import { expect, test } from 'vitest';
import type { OutboxPart } from '../../../src/app/ports/outbox.ts';
import type { NewTask } from '../../../src/app/ports/tasks.ts';
import type { Task } from '../../../src/domain/task.ts';
import { endOf, hour, minute, nine, startOne } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aMessage, aReadyTask, claimParts, delivered, nextPart, outbox, putOff, show, threadOf } from '../scenes.ts';

/** Quiet until ten, by the clocks of UTC. */
const quiet = { from: '08:00', to: '10:00', mode: 'hold' } as const;
const ten = nine + hour;
const now = nine + minute;

interface Quiet {
  readonly chat?: Readonly<Record<string, unknown>> | null;
  readonly facts?: Partial<NewTask>;
}

async function aTaskThere(world: World, { chat = quiet, facts = {} }: Quiet = {}): Promise<Task> {
  const task = await aReadyTask(world, facts);
  await world.store.changeChat(task.chatId, { settings: chat === null ? {} : { quiet: chat } }, nine);
  return task;
}

async function inQuiet(open: OpenWorld, given: Quiet = {}) {
  const world = await open();
  return { world, task: await aTaskThere(world, given) };
}

/** What goes out at the instant, one after the other, until nothing does. */
async function flow(world: World, at = now): Promise<OutboxPart[]> {
  const gone: OutboxPart[] = [];
  for (;;) {
    const parts = await claimParts(world, { now: at });
    if (parts.length === 0) return gone;
    gone.push(...parts);
    await world.store.endParts(
      parts.map((part) => delivered(part, 5000 + gone.length)),
      at,
    );
  }
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly ready_at: number;
}

const rowsOf = (world: World) => outbox<Row>(world, '*');
const idsOf = (parts: readonly OutboxPart[]) => parts.map(({ id }) => id);
const bundles = (parts: readonly OutboxPart[]) =>
  parts.flatMap(({ shown }) => ('view' in shown && shown.view === 'bundle' ? [shown.until] : []));

/** What quiet hours make of parts. */
export function quietTests(open: OpenWorld): void {
  test('a result waits for the end of the quiet hours of its chat, untouched, and then comes without a sound', async () => {
    const { world, task } = await inQuiet(open);
    const part = world.make.part();
    await show(world, task, [part]);

    expect(await flow(world)).toEqual([]);
    const row = (await rowsOf(world)).find(({ id }) => id === part.id);
    expect(row).toMatchObject({ status: 'pending', ready_at: ten, held_until: ten, fence: 0, put_offs: 0 });
    expect(await world.store.nextPartAt(now)).toBe(ten);
    expect(await flow(world, ten - 1)).toEqual([]);
    const gone = await flow(world, ten);
    expect(gone).toMatchObject([
      { id: part.id, silent: true },
      { silent: false, shown: { view: 'bundle', until: ten }, route: { topic: null } },
    ]);
  });

  test('the word about a failure waits as well, and answers, cards and what runs without a task do not', async () => {
    const { world, task } = await inQuiet(open);
    const notice = world.make.part({ kind: 'notice' });
    await show(world, task, [notice]);
    await world.store.addMessages([aMessage(world), aMessage(world, { kind: 'notice' })], nine);
    const card = world.make.part({ kind: 'card', rank: 2, content: { view: 'card' } });
    await show(world, task, [card]);

    expect((await flow(world)).map(({ kind }) => kind)).toEqual(['answer', 'notice', 'card']);
    expect(idsOf(await flow(world, ten))[0]).toBe(notice.id);
  });

  test('a send that is put off or lost keeps its silence', async () => {
    const { world, task } = await inQuiet(open, { chat: { ...quiet, mode: 'silent' } });
    await show(world, task, [world.make.part()]);
    const part = await nextPart(world, { now });
    await world.store.endParts([putOff(part, { afterMs: ten - now })], now);
    expect(await claimParts(world, { now: ten })).toMatchObject([{ id: part.id, silent: true }]);
  });

  test('the word about a run that somebody asked for by hand is as urgent as its result', async () => {
    const { world, task } = await inQuiet(open);
    await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
    const started = await startOne(world, nine);
    const failed = world.make.part({ kind: 'notice' });
    const notices = { byHand: true, failed, autoPaused: null, recovered: null, completed: null };
    await world.store.finishRuns([endOf(started, { status: 'failed', attemptStatus: 'failed', error: 'x', notices })]);
    expect(await flow(world)).toMatchObject([{ id: failed.id, silent: false }]);
  });

  test('one word for each chat and end, after everything that waited for it, and none twice', async () => {
    const world = await open();
    const [one, two] = [await aTaskThere(world), await aTaskThere(world)];
    for (const task of [one, two, one]) {
      await show(world, task, [world.make.part()]);
      await flow(world);
    }
    const gone = await flow(world, ten);
    expect(gone.map(({ kind }) => kind)).toEqual(['result', 'result', 'result', 'notice']);
    expect(bundles(gone)).toEqual([ten]);
    expect(await world.store.heldParts(one.chatId, ten)).toEqual([
      { number: 1, title: 'Water the plants', count: 2, topic: 77, messageId: 5001 },
      { number: 2, title: 'Water the plants', count: 1, topic: 77, messageId: 5002 },
    ]);
    expect(await world.store.heldParts(one.chatId, ten + 1)).toEqual([]);
    // What was dropped is not told of.
    await world.query(`update deliveries set status = 'failed' where kind = 'result'`);
    expect(await world.store.heldParts(one.chatId, ten)).toEqual([]);
  });
}

/** What becomes of parts that wait when something changes, and of everybody else meanwhile. */
export function changedQuietTests(open: OpenWorld): void {
  test('when they are called off and back again, what comes then is told of as well', async () => {
    const { world, task } = await inQuiet(open);
    await show(world, task, [world.make.part()]);
    await flow(world);
    await world.store.changeChat(task.chatId, { settings: {} }, now);
    expect(bundles(await flow(world))).toEqual([ten]);
    await world.store.changeChat(task.chatId, { settings: { quiet } }, now);
    await show(world, task, [world.make.part()]);
    expect(await flow(world)).toEqual([]);
    expect((await flow(world, ten)).map(({ kind }) => kind)).toEqual(['result', 'notice']);
  });

  test('when they end at another time, what waits waits for that, and one word tells of it', async () => {
    const { world, task } = await inQuiet(open);
    const part = world.make.part();
    await show(world, task, [part]);
    await flow(world);
    await world.store.changeChat(task.chatId, { settings: { quiet: { ...quiet, to: '10:30' } } }, now);
    expect(await flow(world)).toEqual([]);
    expect(await flow(world, ten)).toEqual([]);
    const gone = await flow(world, ten + hour / 2);
    expect(idsOf(gone)[0]).toBe(part.id);
    expect(bundles(gone)).toEqual([ten + hour / 2]);
  });

  test('half a result is not left standing: the rest of it comes without a sound', async () => {
    const { world, task } = await inQuiet(open);
    const [one, two] = [world.make.part(), world.make.part({ part: 2 })];
    await show(world, task, [one, two], nine - 2 * hour);
    const before = nine - hour - 1;
    const first = await nextPart(world, { now: before });
    await world.store.endParts([delivered(first)], before);
    expect(await flow(world)).toMatchObject([{ id: two.id, silent: true }]);
  });

  test('chats whose results wait take nobody’s turn', async () => {
    const world = await open();
    const there = (address: string) => ({ home: threadOf(address) });
    for (let index = 1; index <= 8; index += 1) {
      await show(world, await aTaskThere(world, { facts: there(`-${index}`) }), [world.make.part()]);
    }
    const loud = await aTaskThere(world, { chat: null, facts: there('-9') });
    const part = world.make.part();
    await show(world, loud, [part]);
    expect(idsOf(await claimParts(world, { now, limit: 1 }))).toEqual([part.id]);
  });

  test('a long night of one task is put off at one look', async () => {
    const { world, task } = await inQuiet(open);
    for (let index = 0; index < 30; index += 1) await show(world, task, [world.make.part()]);
    expect(await claimParts(world, { now })).toEqual([]);
    expect(new Set((await rowsOf(world)).map(({ ready_at: at }) => at))).toEqual(new Set([ten]));
  });

  test('what waits for quiet hours is no backlog, nor when it goes', async () => {
    const { world, task } = await inQuiet(open);
    await show(world, task, [world.make.part()]);
    expect(await world.store.waitingResults(task.chatId, now)).toMatchObject({ count: 1, oldestAt: nine });
    await flow(world);
    expect(await world.store.waitingResults(task.chatId, ten - 1)).toBeNull();
    expect(await world.store.waitingResults(task.chatId, ten + minute)).toMatchObject({ count: 1, oldestAt: ten });
  });

  test('nothing but a person lets go what waits for an approval', async () => {
    const { world, task } = await inQuiet(open, { chat: null });
    const part = world.make.part();
    await show(world, task, [part]);
    await world.query(
      `update deliveries set status = 'blocked', cause = 'approval', lane = 'approval:r', ready_at = ?i, expires_at = ?i where id = ?t`,
      ten,
      ten,
      part.id,
    );
    const all = { chatId: null, taskId: null, inDoubt: true };
    expect(await world.store.retryBlocked(all, now)).toBe(0);
    expect(await world.store.retryBlocked({ ...all, inDoubt: false }, now)).toBe(0);
    // However it came about that its time has come too early.
    await world.query(`update deliveries set ready_at = ?i where id = ?t`, nine, part.id);
    expect(await flow(world)).toEqual([]);
    expect(await flow(world, ten - 1)).toEqual([]);
    // Nobody has approved it in time.
    expect(await flow(world, ten)).toEqual([]);
    expect((await rowsOf(world)).find(({ id }) => id === part.id)).toMatchObject({ status: 'failed' });
  });

  test('a clock that is set back leaves the end of the quiet hours where it is', async () => {
    const { world, task } = await inQuiet(open);
    await show(world, task, [world.make.part()]);
    await flow(world);
    await world.store.setBack({ id: 'back', byMs: -hour / 2, twice: { from: nine, to: nine } });
    expect((await rowsOf(world)).map(({ ready_at: at }) => at)).toContain(ten);
    expect(await flow(world, ten - 1)).toEqual([]);
    expect((await flow(world, ten)).map(({ kind }) => kind)).toEqual(['result', 'notice']);
  });
}
