import { expect, test } from 'vitest';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { someone } from '../scenes.ts';
import { engineOn, target, type Engine } from './verbs.ts';

const admin = 'telegram:user:9';
const inGroup = { threadKey: 'telegram:chat:-100', actor: someone } as const;

/** A group in which somebody has tasks, hourly from nine on, at half past eight. */
async function aGroup(open: OpenWorld, count = 1) {
  const world = await open();
  const engine = engineOn(world);
  const tasks = [];
  for (let made = 0; made < count; made += 1) tasks.push(await engine.create({}, inGroup));
  const [task] = tasks;
  if (task === undefined) throw new Error('there is no task');
  const note = (status: 'out' | 'member') =>
    world.store.noteMember({ chatId: task.chatId, userId: someone, status, checkedAt: engine.time.now() });
  /** The owner leaves, and the slot of nine passes. */
  const leave = async () => {
    await note('out');
    await engine.pass(30 * minute);
  };
  /** How the task stands: its state, why it is paused, and whose it is. */
  const standing = async () => {
    const { state, pausedReason, ownerId } = await engine.rooms.tasks.get(task.id);
    return [state, pausedReason, ownerId];
  };
  const words = async () =>
    (await world.query<{ content: string }>(`select content from deliveries where kind = 'notice' order by id`)).map(
      ({ content }) => JSON.parse(content) as object,
    );
  return { world, ...engine, tasks, task, note, leave, standing, words };
}

const waiting = ['paused', 'auto:owner_gone', someone];
const going = ['active', null, someone];

const renewals: readonly (readonly [string, string, (rooms: Engine['rooms'], id: string) => Promise<unknown>])[] = [
  ['pressed', admin, ({ tasks }, id) => tasks.renew({ ...target({ id }), actor: admin })],
  [
    'asked for by a program',
    'system:api',
    ({ tasks }, id) =>
      tasks.grant({ ...target({ id }), actor: 'api:token:default' }, { scopes: null, expiresAt: null }),
  ],
  ['asked for of many', admin, ({ bulk }) => bulk.renew({ ownerId: someone }, { actor: admin })],
];

const meanwhile: readonly (readonly [string, unknown, (rooms: Engine['rooms'], id: string) => Promise<unknown>])[] = [
  ['pauses', ['paused', 'manual', someone], ({ tasks }, id) => tasks.pause({ ...target({ id }), actor: admin }, null)],
  ['pauses all', ['paused', 'manual', someone], ({ bulk }) => bulk.pause({}, { actor: admin }, null)],
  [
    'switches it off',
    ['paused', 'manual', someone],
    ({ tasks }, id) => tasks.edit({ ...target({ id }), actor: admin }, { enabled: false }),
  ],
  ['resumes', going, ({ tasks }, id) => tasks.resume({ ...target({ id }), actor: admin })],
  ['renews', ['active', null, admin], ({ tasks }, id) => tasks.renew({ ...target({ id }), actor: admin })],
];

/** Tasks whose owner is out of the chat wait for them, from the first slot on. */
export function ownerGoneTests(open: OpenWorld): void {
  test('the first slot is skipped, the task is paused by the system, and goes on when its owner is back', async () => {
    const { world, rooms, task, note, leave, standing, story, pass, time } = await aGroup(open);
    await leave();
    expect(await standing()).toEqual(waiting);
    await pass(90 * minute);
    expect(await note('member')).toBe(true);
    await pass(minute);
    expect(await standing()).toEqual(going);
    expect(await rooms.tasks.get(task.id)).toMatchObject({
      created: { by: someone },
      updated: { by: 'system', at: time.now() },
      paused: { by: 'system', at: nine },
      resumed: { by: 'system', at: time.now() },
    });
    await pass(29 * minute);
    expect(await story(task)).toEqual(['0 skipped grant_revoked', '120 succeeded']);
    const audit = await world.query(`select verb, actor, state_before, state_after from audit order by id`);
    expect(audit.slice(1)).toEqual([
      { verb: 'pause', actor: 'system', state_before: 'active', state_after: 'paused' },
      { verb: 'resume', actor: 'system', state_before: 'paused', state_after: 'active' },
    ]);
    expect(await note('member')).toBe(false);
  });

  test('a run that was admitted before does not begin, and pauses the task as well', async () => {
    const { rooms, task, note, standing, story, time, settle } = await aGroup(open);
    await time.advance(30 * minute);
    await rooms.scheduler.step(time.now(), 10);
    await note('out');
    await settle();
    expect([await standing(), await story(task)]).toEqual([waiting, ['0 skipped grant_revoked']]);
  });

  test('one word is said for each person and chat, however many tasks that stops, and again when they leave again', async () => {
    const { world, rooms, create, leave, note, words, pass } = await aGroup(open, 3);
    const elsewhere = await create({}, { ...inGroup, threadKey: 'telegram:chat:8' });
    await rooms.tasks.pause(target(await create({}, inGroup)), null);
    await world.store.noteUser({ id: someone, name: 'Bob' }, nine);
    await world.store.noteMember({ chatId: elsewhere.chatId, userId: someone, status: 'out', checkedAt: nine });
    await leave();
    await pass(hour);
    expect(await words()).toEqual([{ view: 'ownerGone', ownerId: someone, name: 'Bob', tasks: 3 }]);
    expect(await world.query(`select goes_to, to_topic, task_id from deliveries where kind = 'notice'`)).toEqual([
      { goes_to: 'thread', to_topic: null, task_id: null },
    ]);
    const chatId = (await rooms.tasks.get((await create({}, inGroup)).id)).chatId;
    const isAwaited = () => world.store.isAwaited(chatId, someone);
    const due = () => world.query(`select kind from standing where kind = 'ownerGone' and due_at is not null`);
    expect([await isAwaited(), await due()]).toEqual([true, []]);
    // In a private chat nobody else is there to be told.
    expect((await rooms.tasks.get(elsewhere.id)).pausedReason).toBe('auto:owner_gone');
    await note('member');
    expect([await isAwaited(), await due()]).toEqual([false, [{ kind: 'ownerGone' }]]);
    await pass(30 * minute);
    await leave();
    expect(await words()).toHaveLength(2);
  });

  test.each(meanwhile)('a person who %s it meanwhile has decided, and the return changes nothing', async (...one) => {
    const [, expected, deed] = one;
    const { rooms, task, leave, note, standing, pass } = await aGroup(open);
    await leave();
    await deed(rooms, task.id);
    await note('member');
    await pass(minute);
    expect(await standing()).toEqual(expected);
  });

  test.each(renewals)('a renewal that is %s lets it go on under the right of %s', async (_how, by, renew) => {
    const { world, rooms, task, leave, standing, story, pass, time } = await aGroup(open);
    await leave();
    await renew(rooms, task.id);
    expect(await standing()).toEqual(['active', null, by]);
    const [last] = await world.query<{ verb: string; before: string; after: string }>(
      `select verb, before, after from audit order by id desc limit 1`,
    );
    expect(last?.verb).toBe('grant');
    expect(JSON.parse(last?.before ?? '')).toMatchObject({ owner_user_key: someone });
    expect(JSON.parse(last?.after ?? '')).toMatchObject({ owner_user_key: by, scopes: ['action:message'] });
    expect((await rooms.tasks.get(task.id)).resumed).toMatchObject({ at: time.now() });
    await pass(hour);
    expect(await story(task)).toEqual(['0 skipped grant_revoked', '60 succeeded']);
  });

  test('a task that runs is not renewed, and what nothing is left of is completed by a renewal', async () => {
    const { world, rooms, task, create, leave, note, pass } = await aGroup(open);
    expect((await rooms.tasks.renew({ ...target(task), actor: admin })).entryId).toBeNull();
    const once = await create({ policies: { max_runs: 1 } }, inGroup);
    await leave();
    await world.query(`update tasks set bounded_runs = 1 where id = ?t`, once.id);
    await rooms.tasks.renew({ ...target(once), actor: admin });
    expect(await rooms.tasks.get(once.id)).toMatchObject({ state: 'completed', pausedReason: null, ownerId: admin });
    await note('member');
    await pass(minute);
    expect((await rooms.tasks.get(once.id)).state).toBe('completed');
  });

  test('owners for whom tasks wait are asked about although nothing of theirs is due, the rest only ahead of it', async () => {
    const { world, task, leave, time } = await aGroup(open, 2);
    const stale = (staleAt: number) => world.store.staleMembers(time.now(), staleAt, 9);
    await leave();
    const gone = { chatId: task.chatId, address: '-100', userId: someone };
    expect([await stale(nine - 30 * minute), await stale(nine)]).toEqual([[], [gone]]);
  });

  test('a task that comes back, or moves to where its owner is, waits no longer', async () => {
    const { rooms, tasks, leave, note, pass } = await aGroup(open, 2);
    await leave();
    const [deleted, moved] = tasks.map(({ id }) => target({ id }));
    if (deleted === undefined || moved === undefined) throw new Error('two tasks are needed');
    await rooms.tasks.attach(moved, 'telegram:chat:-200');
    await rooms.tasks.delete(deleted);
    await note('member');
    await rooms.tasks.restore(deleted);
    await pass(minute);
    for (const { taskId } of [deleted, moved]) expect((await rooms.tasks.get(taskId)).state).toBe('active');
  });

  test('an owner of the bot who is in no chat loses the right there with the role, and has it again with it', async () => {
    const { world, note, standing, pass } = await aGroup(open);
    await world.store.changeUser(someone, { role: 'owner' }, nine);
    await note('out');
    await pass(hour);
    expect(await standing()).toEqual(going);
    await world.store.changeUser(someone, { role: 'user' }, nine);
    await pass(hour);
    expect(await standing()).toEqual(waiting);
    await world.store.changeUser(someone, { role: 'owner' }, nine);
    await pass(minute);
    expect(await standing()).toEqual(going);
  });
}
