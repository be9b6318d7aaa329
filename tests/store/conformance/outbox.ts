import { expect, test } from 'vitest';
import type { OutboxPart, PartEnd } from '../../../src/app/ports/outbox.ts';
import { unknownHoldMs } from '../../../src/domain/limits.ts';
import { aTask, bootId, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import {
  aMessage,
  aReadyTask,
  blocked,
  claimParts,
  delivered,
  lost,
  nextPart,
  putOff,
  refused,
  show,
  threadOf,
  withTask,
  withReadyTask,
} from '../scenes.ts';

async function rowOf(world: World, id: string) {
  return (await world.query('select * from deliveries where id = ?t', id))[0];
}

/** Parts on their way: claims, order and fairness. */
export function outboxTests(open: OpenWorld): void {
  test('a claimed part carries its route and is marked as being sent before it leaves', async () => {
    const { world, task } = await withReadyTask(open);
    const part = world.make.part({ content: { text: 'Hello' }, unknown: 'ask', expiresAt: nine + hour });
    await show(world, task, [part]);

    expect(await claimParts(world)).toMatchObject([
      {
        id: part.id,
        status: 'sending',
        fence: 1,
        sends: 1,
        sentAt: nine + minute,
        expiresAt: nine + hour,
        unknown: 'ask',
        kind: 'result',
        shown: { text: 'Hello' },
        edits: null,
        isResent: false,
        doubtSince: null,
        home: threadOf('-100'),
        route: threadOf('-100', 77),
        topic: { taskId: task.id, state: 'ready', id: 77 },
      },
    ]);
    expect(await rowOf(world, part.id)).toMatchObject({ status: 'sending', boot_id: bootId });
    expect(await claimParts(world)).toEqual([]);
  });

  test('a part that needs its topic first stays as it is, and only the last claim of it counts', async () => {
    const { world, task } = await withTask(open);
    await show(world, task, [world.make.part()]);
    const first = await nextPart(world);
    const second = await nextPart(world);

    expect([first.status, first.sends, first.topic?.state, first.route.topic]).toEqual(['pending', 0, 'none', null]);
    expect(await world.store.endParts([putOff(first, { unsent: false, afterMs: 1 })], nine)).toBe(0);
    expect(await world.store.endParts([putOff(second, { unsent: false, afterMs: hour })], nine)).toBe(1);
    expect(await claimParts(world)).toEqual([]);
    expect((await nextPart(world, { now: nine + hour })).fence).toBeGreaterThan(second.fence);
  });

  test.each([
    ['pending', `ready_at = ?i`],
    ['sending', `status = 'sending', boot_id = 'boot-here', ready_at = ?i`],
    ['blocked', `status = 'blocked', cause = 'no_topic_right', ready_at = ?i`],
  ])('a later part never overtakes an earlier one that is %s', async (_status, set) => {
    const { world, task } = await withReadyTask(open);
    const [first, second] = [world.make.part({ rank: 3 }), world.make.part({ part: 2, rank: 0 })];
    await show(world, task, [first, second]);
    await world.query(`update deliveries set ${set} where id = ?t`, nine + 100 * hour, first.id);

    expect(await claimParts(world, { now: nine + hour })).toEqual([]);
    await world.query(`update deliveries set status = 'failed' where id = ?t`, first.id);
    expect((await nextPart(world, { now: nine + hour })).id).toBe(second.id);
  });

  test('a part that a person is asked about holds its own thread alone, for two minutes and no longer', async () => {
    const { world, task } = await withReadyTask(open);
    const [first, second] = [world.make.part(), world.make.part({ part: 2 })];
    await show(world, task, [first, second]);
    const sent = await nextPart(world);
    await world.store.endParts([lost(sent, null)], nine);
    const other = world.make.part();
    await show(world, await aReadyTask(world), [other]);

    expect((await nextPart(world)).id).toBe(other.id);
    expect(await claimParts(world, { now: nine + minute + unknownHoldMs - 1 })).toEqual([]);
    expect((await nextPart(world, { now: nine + minute + unknownHoldMs })).id).toBe(second.id);
  });

  test('while a part of a chat is looked for, nothing but answers leaves there, for two minutes at most', async () => {
    const world = await open();
    const [doubted, other] = [await aReadyTask(world), await aReadyTask(world)];
    await show(world, doubted, [world.make.part()]);
    const sent = await nextPart(world);
    await world.store.endParts([lost(sent, hour)], nine);
    const next = world.make.part();
    await show(world, other, [next]);
    await world.store.addMessages([aMessage(world)], nine);

    expect((await nextPart(world)).kind).toBe('answer');
    const end = nine + minute + unknownHoldMs;
    expect(await claimParts(world, { now: end - 1 })).toEqual([]);
    expect((await nextPart(world, { now: end })).id).toBe(next.id);
  });

  test('the most urgent part of a chat goes first, and threads of one chat take turns', async () => {
    const world = await open();
    const [calm, urgent] = [await aReadyTask(world), await aReadyTask(world)];
    const [card, result] = [world.make.part({ rank: 2 }), world.make.part({ rank: 1 })];
    await show(world, calm, [card]);
    await show(world, urgent, [result]);
    const first = await nextPart(world);
    await world.store.endParts([delivered(first)], nine);

    expect([first.id, (await nextPart(world)).id]).toEqual([result.id, card.id]);
  });

  test('every chat has its turn before one comes again, and busy chats are left alone', async () => {
    const world = await open();
    const chats: string[] = [];
    for (const address of ['-1', '-2', '-3', '-4']) {
      const task = await aReadyTask(world, { home: threadOf(address) });
      chats.push(task.chatId);
      await show(world, task, [world.make.part(), world.make.part({ part: 2 })]);
    }
    const turn = async (after: string, busy: ReadonlySet<string> = new Set()) => {
      const parts = await claimParts(world, { limit: 2, after, busy });
      await world.store.endParts(
        parts.map((part) => delivered(part)),
        nine,
      );
      return parts.map(({ chatId }) => chatId);
    };
    const [a = '', b = '', c = '', d = ''] = chats;

    expect(await turn('')).toEqual([a, b]);
    expect(await turn(b)).toEqual([c, d]);
    expect(await turn(c, new Set([d]))).toEqual([a, b]);
    expect(await turn(a)).toEqual([c, d]);
    expect(await turn('')).toEqual([]);
  });

  test('chats that are held back do not keep others from their turn', async () => {
    const world = await open();
    for (const address of ['-1', '-2', '-3']) {
      const held = await aReadyTask(world, { home: threadOf(address) });
      const [first, second] = [world.make.part(), world.make.part({ part: 2 })];
      await show(world, held, [first, second]);
      await world.query(`update deliveries set status = 'blocked', ready_at = ?i where id = ?t`, nine + hour, first.id);
    }
    const free = await aReadyTask(world, { home: threadOf('-4') });
    await show(world, free, [world.make.part()]);

    expect((await nextPart(world, { limit: 2 })).chatId).toBe(free.chatId);
  });

  test('no more parts are claimed than were asked for, and no two of one chat', async () => {
    const world = await open();
    const inChat = (address: string) => aReadyTask(world, { home: threadOf(address) });
    await show(world, await inChat('-1'), [world.make.part()]);
    await show(world, await inChat('-3'), [world.make.part()]);
    await world.store.endParts(
      (await claimParts(world)).map((part) => lost(part, 2 * minute)),
      nine,
    );
    await show(world, await inChat('-1'), [world.make.part()]);
    await show(world, await inChat('-2'), [world.make.part()]);
    await show(world, await inChat('-2'), [world.make.part()]);

    const busy = new Set(['a chat elsewhere']);
    expect(await claimParts(world, { limit: 1, now: nine + 2 * minute, busy })).toHaveLength(1);
    expect(await claimParts(world, { limit: 3, now: nine + 2 * minute, busy })).toHaveLength(3);
    const parts = await claimParts(world, { now: nine + 2 * minute });
    expect(new Set(parts.map(({ chatId }) => chatId)).size).toBe(parts.length);
  });

  test('a part without an answer is looked for even while its chat has more to send', async () => {
    const world = await open();
    const [silent, busy] = [await aReadyTask(world), await aReadyTask(world)];
    await show(world, silent, [world.make.part()]);
    const sent = await nextPart(world);
    await world.store.endParts([lost(sent, 2 * minute)], nine);
    await show(world, busy, [world.make.part(), world.make.part({ part: 2 })]);

    expect(await nextPart(world, { now: nine + 2 * minute })).toMatchObject({ id: sent.id, status: 'unknown' });
  });

  test('a part whose content cannot be read fails with the reason, and the others go out', async () => {
    const { world, task } = await withReadyTask(open);
    const [bad, good] = [world.make.part(), world.make.part({ part: 2 })];
    await show(world, task, [bad, good]);
    await world.query(`update deliveries set content = '{"text":' where id = ?t`, bad.id);
    const claimed = [...(await claimParts(world)), ...(await claimParts(world))];

    expect(claimed.map(({ id }) => id)).toEqual([good.id]);
    expect(await rowOf(world, bad.id)).toMatchObject({ status: 'failed', error: 'unreadable: content is no JSON' });
  });

  test('what a dead process was sending is in doubt, and is looked for shortly after', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const part = await nextPart(world, { boot: 'boot-before' });
    await world.store.letPartsGo('boot-before', []);

    expect(await claimParts(world)).toEqual([]);
    expect(await rowOf(world, part.id)).toMatchObject({ status: 'unknown', ready_at: nine + minute + 2000, sends: 1 });
    const doubtful = await nextPart(world, { now: nine + minute + 2000 });
    expect(doubtful).toMatchObject({ id: part.id, status: 'unknown', doubtSince: nine + minute, sends: 1 });
    // The dead process might still say something, under a claim that is gone.
    expect(await world.store.endParts([delivered(part)], nine)).toBe(0);
    expect(await world.store.endParts([delivered(doubtful)], nine)).toBe(1);
  });

  test('the next instant of the deliverer leaves out what is ready but held back', async () => {
    const { world, task } = await withReadyTask(open);
    expect(await world.store.nextPartAt(nine)).toBeNull();
    await show(world, task, [world.make.part(), world.make.part({ part: 2 })], nine + minute);
    expect(await world.store.nextPartAt(nine)).toBe(nine + minute);
    expect(await world.store.nextPartAt(nine + minute)).toBeNull();

    const sent = await nextPart(world);
    await world.store.endParts([lost(sent, 2 * minute)], nine);
    expect(await world.store.nextPartAt(nine + minute)).toBe(nine + 2 * minute);
    await world.query(`update deliveries set ready_at = null where id = ?t`, sent.id);
    expect(await world.store.nextPartAt(nine + minute)).toBe(nine + minute + unknownHoldMs);
    expect(await world.store.nextPartAt(nine + hour)).toBeNull();
  });
}

/** How parts end, and how topics are made. */
export function partEndTests(open: OpenWorld): void {
  const aClaimedPart = async (world: World) => {
    const task = await aReadyTask(world);
    await show(world, task, [world.make.part()]);
    return nextPart(world);
  };

  test('a delivered part keeps the ids that the platform returned, for ever', async () => {
    const world = await open();
    const part = await aClaimedPart(world);

    expect(await world.store.endParts([delivered(part)], nine)).toBe(1);
    expect(await world.store.endParts([delivered(part), lost(part, 0)], nine)).toBe(0);
    expect(await world.store.readRun(part.runId ?? '')).toMatchObject({
      deliveries: [
        {
          status: 'delivered',
          thread: threadOf('-100', 77),
          platformChatId: '-100',
          messageThreadId: 77,
          messageId: 5001,
          deliveredAt: nine + minute,
        },
      ],
    });
  });

  test.each<[string, (part: OutboxPart) => PartEnd, Record<string, unknown>, codes?: string[]]>([
    [
      'told to wait',
      (part) => putOff(part, { afterMs: hour, error: '429' }),
      { status: 'pending', ready_at: nine + hour, error: '429', sends: 0, put_offs: 1, settles: 0 },
    ],
    [
      'blocked',
      (part) => blocked(part),
      { status: 'blocked', ready_at: nine + hour, cause: 'no_topic_right', error: 'refused', sends: 0 },
      ['{"error_code":"telegram_topics_unavailable"}'],
    ],
    [
      'without an answer',
      (part) => lost(part, hour),
      { status: 'unknown', ready_at: nine + hour, evidence: '{}', settles: 0 },
    ],
    [
      'refused',
      (part) => refused(part),
      { status: 'failed', ready_at: null, error: 'too long' },
      ['{"error_code":"other"}'],
    ],
  ])('a part that is %s says so once, and only under its own claim', async (_how, end, expected, codes = []) => {
    const world = await open();
    const part = await aClaimedPart(world);

    expect(await world.store.endParts([end({ ...part, fence: part.fence - 1 })], nine)).toBe(0);
    expect(await rowOf(world, part.id)).toMatchObject({ status: 'sending' });
    expect(await world.store.endParts([end(part)], nine)).toBe(1);
    const written = await rowOf(world, part.id);
    expect(written).toMatchObject(expected);
    const told = await world.query<{ data: string | null }>(
      `select data from events where ref = ?t and kind in ('delivery.blocked', 'delivery.failed')`,
      part.id,
    );
    expect(told.map(({ data }) => data)).toEqual(codes);
    // An end is written again where the answer to its first write was lost.
    expect(await world.store.endParts([end(part)], nine)).toBe(0);
    expect(await rowOf(world, part.id)).toEqual(written);
  });

  test('every look for evidence is counted, until the part is sent again', async () => {
    const world = await open();
    await world.store.endParts([lost(await aClaimedPart(world), minute)], nine);
    const first = await nextPart(world);
    await world.store.endParts([lost(first, minute)], nine);
    const second = await nextPart(world);
    await world.store.endParts([putOff(second, { unsent: false, error: null, evidence: 'absent' })], nine);
    const again = await nextPart(world, { now: nine + hour });

    expect([first.settles, second.settles, again.settles, again.sends]).toEqual([0, 1, 0, 2]);
    expect(again.sentAt).toBe(nine + hour);
    expect(await rowOf(world, again.id)).toMatchObject({ evidence: 'absent' });
  });

  test('what could not be looked at counts as no look', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const settles: number[] = [];
    const part = async () => {
      const claimed = await nextPart(world);
      settles.push(claimed.settles);
      return lost(claimed, 0);
    };
    await world.store.endParts([await part()], nine);
    await world.store.endParts([{ ...(await part()), isNoLook: true }], nine);
    await world.store.endParts([await part()], nine);
    await part();
    expect(settles).toEqual([0, 0, 0, 1]);
  });

  test('ends of all kinds are written in one call', async () => {
    const world = await open();
    for (const address of ['-1', '-2', '-3'])
      await show(world, await aReadyTask(world, { home: threadOf(address) }), [world.make.part()]);
    const ends = (await claimParts(world)).map((part, index) =>
      [delivered(part), lost(part, null), refused(part)].slice(index, index + 1),
    );

    expect(await world.store.endParts(ends.flat(), nine)).toBe(3);
    expect((await world.query('select status from deliveries order by id')).map(({ status }) => status)).toEqual([
      'delivered',
      'unknown',
      'failed',
    ]);
  });

  test('a part that goes where its task was asked for keeps its lane, under a line that is said once', async () => {
    const world = await open();
    const task = await aReadyTask(world, { home: threadOf('-1', 7) });
    const other = await aReadyTask(world, { home: threadOf('-2') });
    for (const one of [task, other]) await show(world, one, [world.make.part(), { ...world.make.part(), part: 2 }]);
    const ends = (await claimParts(world)).map((part) =>
      putOff(part, part.taskId === task.id ? { reroute: { topic: 7, cause: 'topics_off' } } : {}),
    );

    expect(await world.store.endParts(ends, nine)).toBe(2);
    const sent: unknown[] = [];
    for (let parts = await claimParts(world); parts.length > 0; parts = await claimParts(world)) {
      const mine = parts.filter(({ taskId }) => taskId === task.id);
      sent.push(...mine.map(({ kind, route, fallback }) => [kind, route.topic, fallback]));
      await world.store.endParts(
        parts.map((part) =>
          part.taskId === task.id && part.fallback === null
            ? putOff(part, { reroute: { topic: 7, cause: 'topics_off' } })
            : delivered(part),
        ),
        nine,
      );
    }
    expect(sent).toEqual([
      ['notice', 7, 'taken'],
      ['result', 7, 'taken'],
      ['result', 77, null],
      ['result', 7, 'taken'],
    ]);
    expect(await world.query(`select reason, task_id from told where word = 'fallback'`)).toEqual([
      { reason: 'topics_off', task_id: task.id },
    ]);
    await show(world, task, [world.make.part()]);
    await world.store.endParts([delivered(await nextPart(world))], nine);
    expect(await world.query(`select reason from told where word = 'fallback'`)).toEqual([]);
  });

  test('an owner is there until they leave, the chat is refused, or the right is taken away', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    const isThere = () => world.store.isOwnerThere(task.id);
    expect(await isThere()).toBe(true);
    await world.query(`update chats set state = 'refused'`);
    expect(await isThere()).toBe(false);
    await world.query(`update chats set state = 'approved'`);
    await world.query('update grants set revoked_at = 1');
    expect(await isThere()).toBe(false);
  });

  test('a topic is made by one at a time, and again only when it is known to be missing', async () => {
    const { store, ...world } = await open();
    const { id: taskId } = await aTask({ ...world, store });
    const topic = async () => {
      const task = await store.readTask(taskId);
      return [task?.topicState, task?.topicId];
    };

    expect(await store.beginTopic({ taskId, name: 'plants' }, bootId, nine)).toBe(true);
    expect(await store.beginTopic({ taskId, name: 'plants' }, 'boot-after', nine)).toBe(false);
    await store.endTopic({ taskId, state: 'ready', id: 42, cardId: 'card', remadeId: 'remade', at: nine });
    expect(await topic()).toEqual(['ready', 42]);
    expect(await store.beginTopic({ taskId, name: 'plants' }, bootId, nine)).toBe(false);
    await store.endTopic({ taskId, state: 'none', lost: null, at: 0 });
    expect(await topic()).toEqual(['none', null]);
    expect(await store.beginTopic({ taskId, name: 'plants' }, bootId, nine)).toBe(true);
    await store.endTopic({ taskId, state: 'blocked', cause: 'no_topic_right' });
    expect(await topic()).toEqual(['blocked', null]);
    expect(await store.beginTopic({ taskId, name: 'plants' }, bootId, nine)).toBe(true);
  });

  test('whoever takes over a topic that is being made sees since when, and one that is blocked sees why', async () => {
    const { world, task } = await withTask(open);
    await show(world, task, [world.make.part()]);
    await world.store.beginTopic({ taskId: task.id, name: task.title }, 'boot-before', nine);
    expect((await nextPart(world)).topic).toMatchObject({ state: 'creating', askedAt: nine, name: task.title });

    await world.store.endTopic({ taskId: task.id, state: 'blocked', cause: 'no_topic_right' });
    expect((await nextPart(world)).topic).toMatchObject({
      state: 'blocked',
      cause: 'no_topic_right',
      askedAt: null,
    });
  });

  test('two creations that both began end with one topic begun', async () => {
    const { store, ...world } = await open();
    const { id } = await aTask({ ...world, store });
    const begun = await Promise.all(
      ['a', 'b', 'c'].map((boot) => store.beginTopic({ taskId: id, name: 'plants' }, boot, nine)),
    );

    expect(begun.filter(Boolean)).toHaveLength(1);
  });
}
