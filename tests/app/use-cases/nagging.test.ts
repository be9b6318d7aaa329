import { describe, expect, it } from 'vitest';
import type { Policies } from '../../../src/domain/policy.ts';
import { actor, aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';

/** A reminder every day at half past nine that somebody has to confirm. */
async function aReminder(policies: Policies = { ack: {} }) {
  const p = await aPipeline();
  const daily = { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } as const;
  const task = await p.create({ instructions: 'Take the pill\nwith water', schedule: daily, policies });
  await p.pass(30 * minute);
  const [run] = await p.history(task.id);
  const occurrenceId = run?.id ?? '';
  return { p, task, occurrenceId, request: { taskId: task.id, occurrenceId, actor } as const };
}

/** A reminder shows the first line of the result alone. */
const texts = (p: Pipeline) =>
  p.chat.shown.map(({ text }) => (text === 'Take the pill' ? '[nag]' : text.startsWith('[') ? text : '[result]'));
const acksOf = (p: Pipeline) =>
  p.database.prepare('select status, nags, nag_at from acks order by created_at, occurrence_id').all();
const nagsOf = (p: Pipeline) =>
  (
    p.database
      .prepare(`select content, created_at from deliveries where content like '%"view":"nag"%' order by id`)
      .all() as {
      content: string;
      created_at: number;
    }[]
  ).map(({ content, created_at: at }) => ({ ...(JSON.parse(content) as object), minute: (at - start) / minute }));

describe('a reminder that asks to be confirmed', () => {
  it('reminds every ten minutes, each word in the place of the one before, and then tells an admin and stops', async () => {
    const { p } = await aReminder();
    expect(texts(p)).toEqual(['[result]']);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[nag]']);
    expect(nagsOf(p)).toMatchObject([{ text: 'Take the pill', dueAt: start + 30 * minute, number: 1, minute: 40 }]);
    await p.pass(10 * minute);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[nag]']);
    expect(nagsOf(p)).toMatchObject([{ number: 1 }, { number: 2, minute: 50 }, { number: 3, minute: 60 }]);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[escalated]', '[escalated]']);
    expect(acksOf(p)).toEqual([{ status: 'given_up', nags: 3, nag_at: null }]);
    await p.pass(5 * hour);
    expect(texts(p)).toHaveLength(3);
  });

  it('stops when somebody says Done, whose reminders are taken away; the first one counts', async () => {
    const { p, request } = await aReminder();
    await p.pass(10 * minute);
    const done = await p.rooms.acks.done(request);
    expect(done).toMatchObject({ by: actor, at: start + 40 * minute, isFirst: true, result: { messageId: 1002 } });
    const other = 'telegram:user:1002';
    expect(await p.rooms.acks.done({ ...request, actor: other })).toMatchObject({ by: actor, isFirst: false });
    await p.pass(hour);
    expect(texts(p)).toEqual(['[result]']);
    expect(acksOf(p)).toEqual([{ status: 'done', nags: 1, nag_at: null }]);
  });

  it('begins anew when Done was said by mistake, and only then', async () => {
    const { p, request } = await aReminder();
    expect(await p.rooms.acks.notDone(request)).toBe(false);
    await p.pass(10 * minute);
    await p.rooms.acks.done(request);
    await p.pass(minute);
    expect(await p.rooms.acks.notDone(request)).toBe(true);
    expect(acksOf(p)).toEqual([{ status: 'open', nags: 1, nag_at: start + 51 * minute }]);
    await p.pass(10 * minute);
    expect(nagsOf(p)).toMatchObject([{ number: 1 }, { number: 2 }]);
  });

  it('counts from the moment in which its result was there', async () => {
    const p = await aPipeline();
    p.chat.failSends('blocked', 'blocked', 'blocked');
    await p.create({
      schedule: { kind: 'once', once_at: new Date(start + 30 * minute).toISOString(), timezone: 'UTC' },
      policies: { ack: {} },
    });
    for (let minutes = 0; minutes < 90; minutes += 1) await p.pass(minute);
    const shown = p.database.prepare(`select delivered_at as at from deliveries where kind = 'result'`);
    const { at } = shown.get() as { at: number };
    expect((at - start) / minute).toBeGreaterThan(55);
    const [first, second] = nagsOf(p);
    expect(first?.minute).toBe((at - start) / minute + 10);
    expect(second?.minute).toBe((at - start) / minute + 20);
  });

  it('sleeps through quiet hours, uncounted, and goes on with their end', async () => {
    const quiet = { from: '09:35', to: '12:00', mode: 'silent' } as const;
    const { p } = await aReminder({ ack: {}, quiet });
    await p.pass(2 * hour);
    expect(nagsOf(p)).toEqual([]);
    await p.pass(30 * minute);
    expect(nagsOf(p)).toMatchObject([{ number: 1, minute: 180 }]);
  });

  it('is superseded by the next run of its task, by hand or not', async () => {
    const { p, task } = await aReminder();
    await p.pass(10 * minute);
    await p.pass(day - 10 * minute);
    expect(acksOf(p)).toMatchObject([
      { status: 'superseded', nags: 1 },
      { status: 'open', nags: 0 },
    ]);
    await p.pass(10 * minute);
    await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await p.settle();
    expect(acksOf(p)).toMatchObject([{ status: 'superseded' }, { status: 'superseded', nags: 1 }, { status: 'open' }]);
    expect(texts(p).filter((text) => text === '[nag]')).toEqual([]);
  });

  it('is answered by a snooze, and asks again when that comes', async () => {
    const { p, task } = await aReminder();
    await p.pass(10 * minute);
    await p.rooms.tasks.snooze({ taskId: task.id, actor }, { forMs: hour });
    await p.pass(30 * minute);
    expect(texts(p)).toEqual(['[result]']);
    await p.pass(30 * minute);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[result]', '[nag]']);
    expect(acksOf(p)).toMatchObject([{ status: 'superseded' }, { status: 'open', nags: 1 }]);
  });

  it.each(['pause', 'delete'] as const)('ends with a %s of its task', async (verb) => {
    const { p, task, request } = await aReminder();
    await p.pass(10 * minute);
    const target = { taskId: task.id, actor } as const;
    await (verb === 'pause' ? p.rooms.tasks.pause(target, null) : p.rooms.tasks.delete(target));
    await p.pass(hour);
    expect(acksOf(p)).toEqual([{ status: 'dropped', nags: 1, nag_at: null }]);
    expect(texts(p)).toEqual(['[result]']);
    expect(await p.rooms.acks.done(request)).toMatchObject({ isFirst: true });
  });

  it('ends when the task is told to ask for nothing any more', async () => {
    const { p, task } = await aReminder();
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { policies: { ack: null } });
    await p.pass(10 * minute);
    expect(acksOf(p)).toMatchObject([{ status: 'dropped' }]);
    expect(nagsOf(p)).toEqual([]);
  });

  it('goes on after a restart, and loses or doubles nothing', async () => {
    const { p } = await aReminder();
    await p.pass(10 * minute);
    const next = p.restart();
    await next.settle();
    expect(nagsOf(next)).toHaveLength(1);
    await next.pass(10 * minute);
    expect(nagsOf(next)).toHaveLength(2);
  });

  it('moves along with a clock that is set back', async () => {
    const { p } = await aReminder();
    p.time.setWall(p.time.now() - hour);
    await p.store.shiftClock(-hour);
    await p.pass(10 * minute);
    expect(nagsOf(p)).toHaveLength(1);
  });
});

describe('what asks for nothing', () => {
  it('has no row until somebody says Done, and none after that was taken back', async () => {
    const { p, request } = await aReminder({});
    expect(acksOf(p)).toEqual([]);
    expect(await p.rooms.nagging.nextAt(p.time.now())).toBeNull();
    expect(await p.rooms.acks.done(request)).toMatchObject({ isFirst: true, result: { messageId: 1002 } });
    expect(acksOf(p)).toEqual([{ status: 'done', nags: 0, nag_at: null }]);
    expect(await p.rooms.acks.notDone(request)).toBe(true);
    expect(acksOf(p)).toEqual([]);
  });

  it('can be said to be done also when nothing is known of it any more', async () => {
    const { p, task } = await aReminder({});
    const request = { taskId: task.id, occurrenceId: 'long-gone', actor } as const;
    expect(await p.rooms.acks.done(request)).toMatchObject({ by: actor, isFirst: true, result: null });
    expect(acksOf(p)).toEqual([]);
  });

  it('asks nobody when its run fails', async () => {
    const p = await aPipeline();
    await p.create({
      action: { kind: 'echo', fail_attempts: 9 },
      policies: { ack: {}, retry: { attempts: 1 } },
    });
    await p.pass(5 * minute);
    expect(acksOf(p)).toEqual([]);
  });
});
