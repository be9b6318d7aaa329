import { describe, expect, it } from 'vitest';
import type { Policies } from '../../../src/domain/policy.ts';
import { actor, aPipeline, hour, minute, paced, start, type Pipeline, withTask } from '../../support/pipeline.ts';

const daily = { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } as const;

/** A reminder every day at half past nine that somebody has to confirm. */
async function aReminder(policies: Policies = { ack: {} }) {
  const { p, task } = await withTask({ instructions: 'Take the pill\nwith water', schedule: daily, policies });
  await p.pass(30 * minute);
  const [run] = await p.history(task.id);
  return { p, request: { taskId: task.id, occurrenceId: run?.id ?? '', actor } as const };
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
    for (let passed = 0; passed < 3; passed += 1) await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[nag]']);
    expect(nagsOf(p)).toMatchObject([
      { text: 'Take the pill', dueAt: start + 30 * minute, number: 1, minute: 40 },
      { number: 2, minute: 50 },
      { number: 3, minute: 60 },
    ]);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['[result]', '[escalated]', '[escalated]']);
    await p.pass(5 * hour);
    expect(texts(p)).toHaveLength(3);
  });

  it('counts from the moment in which its result was there', async () => {
    const p = await aPipeline();
    p.chat.failSends('blocked', 'blocked', 'blocked');
    await p.create({ schedule: daily, policies: { ack: {} } });
    await p.pass(30 * minute);
    for (let minutes = 0; minutes < 60; minutes += 1) await p.pass(minute);
    const shown = p.database.prepare(`select delivered_at as at from deliveries where kind = 'result'`);
    const at = ((shown.get() as { at: number }).at - start) / minute;
    expect(at).toBeGreaterThan(55);
    expect(nagsOf(p).slice(0, 2)).toMatchObject([{ minute: at + 10 }, { minute: at + 20 }]);
  });

  it.each(['rateLimited', 'notSent', 'blocked', 'dropped', 'lost'] as const)(
    'does not stay, and does not come again, when Done was said and its answer is: %s',
    async (fault) => {
      const { p, request } = await aReminder();
      p.chat.failSends(fault);
      const release = p.chat.hold();
      await p.pass(10 * minute);
      await p.rooms.acks.done(request);
      release();
      for (let passed = 0; passed < 30; passed += 1) await p.pass(minute);
      expect(texts(p)).toEqual(['[result]']);
    },
  );

  it('asks alone: what was taken back by mistake while a snooze waits is all that is asked about', async () => {
    const { p, request } = await aReminder();
    await p.rooms.acks.done(request);
    await p.rooms.tasks.runNow(request);
    await p.pass(minute);
    await p.rooms.tasks.snooze(request, { forMs: hour });
    await p.rooms.acks.notDone(request);
    await p.rooms.tasks.undo(request, null);
    expect(acksOf(p)).toMatchObject([{ status: 'open' }, { status: 'superseded' }]);
  });

  it('is said to have come to nothing when Done is taken back after the last one', async () => {
    const { p, request } = await aReminder();
    for (let passed = 0; passed < 3; passed += 1) await p.pass(10 * minute);
    expect(acksOf(p)).toMatchObject([{ status: 'open', nags: 3 }]);
    await p.rooms.acks.done(request);
    await p.rooms.acks.notDone(request);
    expect(acksOf(p)).toMatchObject([{ status: 'open', nags: 3 }]);
    await p.pass(10 * minute);
    expect(acksOf(p)).toMatchObject([{ status: 'given_up' }]);
    expect(texts(p)).toContain('[escalated]');
    const told = texts(p).length;
    // Told once, it is not told again.
    await p.rooms.acks.done(request);
    await p.rooms.acks.notDone(request);
    await p.pass(10 * minute);
    expect(acksOf(p)).toMatchObject([{ status: 'given_up' }]);
    expect(texts(p)).toHaveLength(told);
  });

  it.each(['pause', 'delete'] as const)('goes on when the %s that ended it is taken back', async (verb) => {
    const { p, request } = await aReminder();
    await p.pass(10 * minute);
    await (verb === 'pause' ? p.rooms.tasks.pause(request, null) : p.rooms.tasks.delete(request));
    await p.pass(minute);
    expect(acksOf(p)).toMatchObject([{ status: 'dropped', nags: 1 }]);
    await p.rooms.tasks.undo(request, null);
    expect(acksOf(p)).toMatchObject([{ status: 'open', nags: 1 }]);
    await p.pass(10 * minute);
    expect(acksOf(p)).toMatchObject([{ status: 'open', nags: 2 }]);
  });

  it('moves along with a clock that is set back', async () => {
    const { p } = await aReminder();
    p.time.setWall(p.time.now() - hour);
    await p.store.setBack({ id: 'back', byMs: -hour, twice: { from: p.time.now(), to: p.time.now() } });
    await p.pass(10 * minute);
    expect(nagsOf(p)).toHaveLength(1);
  });

  it('holds up no result, however many there are, at the pace of the platform', async () => {
    const p = await aPipeline({ settings: paced });
    const policies = { ack: { nag_every: 'PT1M', nag_limit: 100 } };
    for (let count = 0; count < 30; count += 1)
      await p.create({ instructions: `Pill ${count}`, schedule: daily, policies });
    await p.create({ instructions: 'On time', schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } });
    for (let passed = 0; passed < 65 * 20; passed += 1) await p.pass(3000);
    const results = p.database
      .prepare(
        `select d.created_at as made, d.delivered_at as shown from deliveries d join tasks t on t.id = d.task_id
         where d.kind = 'result' and t.instructions = 'On time' order by d.id`,
      )
      .all() as { made: number; shown: number | null }[];
    const late = results.map(({ made, shown }) => ((shown ?? Infinity) - made) / minute);
    expect(late.filter((minutes) => minutes > 1)).toEqual([]);
    expect(late).toHaveLength(1);
  });
});

describe('what asks for nothing', () => {
  it('can be said to be done also when nothing is known of it any more', async () => {
    const { p, request } = await aReminder({});
    const gone = { ...request, occurrenceId: 'long-gone' };
    expect(await p.rooms.acks.done(gone)).toMatchObject({ by: actor, isFirst: true, result: null });
    expect(acksOf(p)).toEqual([]);
    expect(await p.rooms.acks.done(request)).toMatchObject({ isFirst: true, result: { messageId: 1002 } });
    expect(acksOf(p)).toEqual([{ status: 'done', nags: 0, nag_at: null }]);
  });

  it('is a run that fails', async () => {
    const { p } = await withTask({
      action: { kind: 'echo', fail_attempts: 9 },
      policies: { ack: {}, retry: { attempts: 1 } },
    });
    await p.pass(5 * minute);
    expect(acksOf(p)).toEqual([]);
  });
});
