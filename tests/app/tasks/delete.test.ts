import { describe, expect, it } from 'vitest';
import { parseThreadKey } from '../../../src/domain/thread.ts';
import {
  actor,
  aPipeline,
  day,
  group,
  hour,
  minute,
  start,
  type Pipeline,
  texts,
  withTask,
} from '../../support/pipeline.ts';
import {
  delay,
  find,
  hourly,
  inGroup,
  iso,
  kinds,
  long,
  newsOf,
  nextIn,
  once,
  running,
  slow,
  story,
  target,
} from './world.ts';

const remove = (p: Pipeline, task: { readonly id: string }) => p.rooms.tasks.delete(target(task));
const restore = (p: Pipeline, task: { readonly id: string }) => p.rooms.tasks.restore(target(task));

describe('deleting', () => {
  it('ends what waits, what is asked, what is snoozed and what runs, each with its row', async () => {
    const p = await aPipeline();
    const policies = { ...long, overlap: 'queue', missed: 'ask' } as const;
    const task = await p.create({ schedule: hourly, action: slow, policies });
    await p.time.advance(2 * hour + 40 * minute);
    await p.settle();
    await p.rooms.tasks.snooze(target(task), start + 5 * hour);
    await running(p, task);
    await p.rooms.tasks.runNow(target(task));
    await remove(p, task);
    await p.settle();
    expect(await story(p, task)).toEqual([
      '60 catch_up cancelled deleted',
      '120 catch_up cancelled deleted',
      '160 run_now cancelled deleted',
      '160 run_now cancelled deleted',
      '300 snooze cancelled deleted',
    ]);
    // What stands in the chat is drawn anew within a minute: the card, and the question that is over.
    await p.pass(minute);
    await p.pass(minute);
    await expect(p.rooms.tasks.get(task.id)).rejects.toMatchObject({ code: 'task_not_found' });
    const calls = p.chat.calls.length;
    await p.pass(4 * hour);
    expect(await story(p, task)).toHaveLength(5);
    expect(texts(p)).toEqual(['[missed]']);
    expect(p.chat.calls).toHaveLength(calls);
  });

  it('while the action is about to be done shows nothing of it, and makes no topic', async () => {
    const { p, task } = await withTask({ schedule: once(9), action: { kind: 'echo', delay_ms: 5000 } });
    await running(p, task);
    await remove(p, task);
    // The work is done before anybody can tell its runner.
    await p.time.advance(5000);
    await p.settle();
    // What the attempt did is told by its own row; the run was called off before.
    expect(await p.history(task.id)).toMatchObject([
      { status: 'cancelled', reason: 'deleted', attempts: [{ status: 'succeeded' }], deliveries: [] },
    ]);
    expect([p.chat.calls, p.chat.shown]).toEqual([[], []]);
  });
});

describe('restoring', () => {
  it.each(kinds)('an active task goes on with its next slot from now: %s', async (kind, schedule) => {
    const { p, task } = await withTask({ schedule });
    await remove(p, task);
    await p.pass(90 * minute);
    const { task: back } = await restore(p, task);
    const next = { once: null, 'interval from completion': start + 150 * minute }[kind];
    expect(back).toMatchObject({
      state: next === null ? 'completed' : 'active',
      nextAt: next === undefined ? start + 2 * hour : next,
      deleted: null,
    });
    await p.pass(90 * minute);
    expect((await story(p, task)).every((line) => !line.startsWith('60'))).toBe(true);
  });

  it('a task that was paused for its failures stays so', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', fail_attempts: 9, error: 'final' };
    const task = await p.create({ schedule: hourly, action, policies: { auto_pause: 3 } });
    for (let turn = 0; turn < 3; turn += 1) await p.pass(hour);
    await remove(p, task);
    expect((await restore(p, task)).task).toMatchObject({
      state: 'paused',
      pausedReason: 'auto:consecutive_failures',
      resumeAt: null,
      counters: { consecutiveFailures: 3 },
    });
  });

  it('a completed task stays completed, and takes no place in a quota', async () => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 1 } });
    const task = await p.create({ schedule: once(1) });
    await p.pass(hour);
    await remove(p, task);
    await p.create();
    expect((await restore(p, task)).task).toMatchObject({ state: 'completed', nextAt: null });
  });

  it.each(['active', 'paused'] as const)('a task that was %s needs room in the quota', async (state) => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 1 } });
    const task = await p.create({ schedule: hourly });
    if (state === 'paused') await p.rooms.tasks.pause(target(task), null);
    await remove(p, task);
    const other = await p.create();
    await expect(restore(p, task)).rejects.toMatchObject({ code: 'quota_exceeded' });
    await expect(p.rooms.tasks.undo(target(task), null)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect((await find(p, task)).state).toBe('deleted');
    await remove(p, other);
    expect((await restore(p, task)).task.state).toBe(state);
  });

  it('works for 24 hours to the millisecond, and then no more', async () => {
    const p = await aPipeline();
    const tasks = [await p.create({ schedule: delay }), await p.create({ schedule: delay })] as const;
    for (const task of tasks) await remove(p, task);
    await p.time.advance(day);
    expect((await restore(p, tasks[0])).task.state).toBe('active');
    await p.time.advance(1);
    await expect(restore(p, tasks[1])).rejects.toMatchObject({ code: 'too_late' });
  });
});

describe('a whole thread', () => {
  /** Two tasks of a topic, one of the base thread, one of another chat. */
  async function aChat(p: Pipeline) {
    const topic = `${group}:topic:7`;
    return {
      topic,
      inTopic: [
        await p.create({ schedule: hourly }, { threadKey: topic }),
        await p.create({ schedule: once(1) }, { threadKey: topic }),
      ],
      inBase: await p.create({ schedule: hourly }),
      elsewhere: await p.create({ schedule: hourly }, { threadKey: 'telegram:chat:-77' }),
    };
  }

  const statesOf = (p: Pipeline) => p.database.prepare('select state from tasks order by id').pluck().all();

  it('is counted before it is purged, and counting changes nothing', async () => {
    const p = await aPipeline();
    const { inBase } = await aChat(p);
    await p.pass(hour);
    await p.rooms.tasks.pause(target(inBase), null);
    await p.rooms.tasks.edit(target(inBase), { action: slow, policies: long });
    await running(p, inBase);
    const counts = { active: 1, paused: 1, completed: 1, liveRuns: 1, openDeliveries: 0 };
    const { verbs } = await newsOf(p, async () => expect(await p.rooms.bulk.count(inGroup)).toEqual(counts));
    expect(verbs).toEqual([]);
    expect(await p.rooms.bulk.purge(inGroup, { actor })).toEqual({ counts, isDone: true });
    expect(await p.rooms.bulk.count(inGroup)).toEqual({
      active: 0,
      paused: 0,
      completed: 0,
      liveRuns: 0,
      openDeliveries: 0,
    });
  });

  it('is purged with its topics, and no other chat is touched', async () => {
    const p = await aPipeline();
    const { elsewhere } = await aChat(p);
    const { verbs, audit } = await newsOf(p, () => p.rooms.bulk.purge(inGroup, { actor }));
    expect([verbs, new Set(audit.map((row) => row.actor))]).toEqual([['delete', 'delete', 'delete'], new Set([actor])]);
    expect(statesOf(p)).toEqual(['deleted', 'deleted', 'deleted', 'active']);
    const again = await newsOf(p, () => p.rooms.bulk.purge(inGroup, { actor }));
    expect([again.verbs, await nextIn(p, elsewhere)]).toEqual([[], 60]);
  });

  it('that is a topic is purged alone', async () => {
    const p = await aPipeline();
    const { topic } = await aChat(p);
    expect(await p.rooms.bulk.purge({ thread: parseThreadKey(topic) }, { actor })).toMatchObject({
      counts: { active: 2 },
    });
    expect(statesOf(p)).toEqual(['deleted', 'deleted', 'active', 'active']);
    expect(await p.rooms.bulk.purge({ thread: parseThreadKey(`${group}:topic:8`) }, { actor })).toMatchObject({
      counts: { active: 0 },
    });
  });

  it('is left whole when its purge fails at the last task', async () => {
    const p = await aPipeline();
    const { inBase } = await aChat(p);
    p.database
      .exec(`create trigger fault before insert on audit when new.verb = 'delete' and new.task_id = '${inBase.id}'
      begin select raise(abort, 'the disk is full'); end`);
    await expect(p.rooms.bulk.purge(inGroup, { actor })).rejects.toThrow('the disk is full');
    expect(statesOf(p)).toEqual(['active', 'active', 'active', 'active']);
  });

  it('is not purged when it has other tasks than somebody agreed to', async () => {
    const p = await aPipeline();
    await aChat(p);
    const purged = await p.rooms.bulk.purge(inGroup, { actor, expected: 2 });
    expect(purged).toMatchObject({ isDone: false, counts: { active: 3 } });
    expect(statesOf(p)).toEqual(['active', 'active', 'active', 'active']);
  });

  it('is purged with what waits and runs, each told by its row, and each task can come back', async () => {
    const p = await aPipeline();
    const policies = { ...long, overlap: 'queue', ack: { nag_every: 'PT10M' } } as const;
    const [busy, paused, due] = [
      await p.create({ schedule: hourly, action: slow, policies }),
      await p.create({ schedule: hourly }),
      await p.create({ schedule: hourly }),
    ];
    await p.rooms.tasks.pause(target(paused), start + 30 * minute);
    await p.time.advance(hour + minute);
    await running(p, busy);
    await p.rooms.tasks.runNow(target(busy));
    const { audit, isTold } = await newsOf(p, () => p.rooms.bulk.purge(inGroup, { actor, expected: 3 }));
    expect(audit.map(({ verb }) => verb)).toEqual(['resume', 'delete', 'delete', 'delete']);
    expect(isTold).toHaveLength(4);
    await p.settle();
    const ended = ['61 run_now cancelled deleted', '61 run_now cancelled deleted'];
    expect(await story(p, busy)).toEqual(ended);
    // Slots that nobody had taken up yet are told by a gap.
    const gaps = p.database.prepare('select task_id, count, reason from gaps order by task_id').all();
    expect(gaps).toEqual([busy, paused, due].map(({ id }) => ({ task_id: id, count: 1, reason: 'deleted' })));
    const { answers } = await p.rooms.truth.why(due.id, { at: iso(start + hour), after: null, limit: 10 });
    expect(answers).toMatchObject([{ decision: 'gap', cause: 'deleted' }]);
    expect(p.database.prepare(`select count(*) from grants where revoked_at is null`).pluck().get()).toBe(0);
    for (const task of [busy, paused, due]) expect((await restore(p, task)).task.state).toBe('active');
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('of one person is purged here or in all chats, and nobody else loses anything', async () => {
    const p = await aPipeline();
    const ben = 'telegram:user:1002';
    const elsewhere = 'telegram:chat:-77';
    await p.create({}, { actor: ben });
    await p.create({}, { actor: ben, threadKey: elsewhere });
    await p.create();
    expect(await p.rooms.bulk.count({ ownerId: ben })).toMatchObject({ active: 2 });
    expect(await p.rooms.bulk.purge({ ...inGroup, ownerId: ben }, { actor })).toMatchObject({ counts: { active: 1 } });
    expect(statesOf(p)).toEqual(['deleted', 'active', 'active']);
    expect(await p.rooms.bulk.purge({ ownerId: ben }, { actor })).toMatchObject({ counts: { active: 1 } });
    expect(statesOf(p)).toEqual(['deleted', 'deleted', 'active']);
  });

  it('of more tasks than a page has is purged to the last', async () => {
    const p = await aPipeline();
    for (let made = 0; made < 205; made += 1) await p.create({ schedule: hourly });
    expect(await p.rooms.bulk.purge(inGroup, { actor })).toMatchObject({ counts: { active: 205 } });
    expect(await p.rooms.bulk.count(inGroup)).toMatchObject({ active: 0 });
  });
});
