import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, paced, type Pipeline } from '../../support/pipeline.ts';

const daily = { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } as const;

async function aReminder() {
  const p = await aPipeline();
  const task = await p.create({ instructions: 'Take the pill\nwith water', schedule: daily, policies: { ack: {} } });
  await p.pass(30 * minute);
  const [run] = await p.history(task.id);
  return { p, task, request: { taskId: task.id, occurrenceId: run?.id ?? '', actor } as const };
}

const texts = (p: Pipeline) => p.chat.shown.map(({ text }) => text);
const result = 'Take the pill\nwith water';

/** The first reminder is with the platform, and its answer is still to come. */
async function nagOnItsWay() {
  const reminder = await aReminder();
  const { p } = reminder;
  const release = p.chat.hold();
  await p.time.advance(10 * minute);
  await p.rooms.nagging.step(p.time.now(), 100);
  await p.rooms.deliverer.step(p.time.now(), 100);
  await p.time.advance(0);
  const answer = async () => {
    release();
    await p.pass(minute);
  };
  return { ...reminder, answer };
}

describe('a reminder that is on its way to the platform', () => {
  it.each<
    [string, (p: Pipeline, request: { taskId: string; occurrenceId: string; actor: typeof actor }) => Promise<unknown>]
  >([
    ['somebody says Done', (p, request) => p.rooms.acks.done(request)],
    ['the task is paused', (p, { taskId }) => p.rooms.tasks.pause({ taskId, actor }, null)],
    ['the task is deleted', (p, { taskId }) => p.rooms.tasks.delete({ taskId, actor })],
    ['the task is snoozed', (p, { taskId }) => p.rooms.tasks.snooze({ taskId, actor }, { forMs: hour })],
  ])('is taken away when %s before its answer is there', async (_name, deed) => {
    const { p, request, answer } = await nagOnItsWay();
    await deed(p, request);
    await answer();
    expect(texts(p)).toEqual([result]);
  });

  it.each(['rateLimited', 'notSent', 'blocked', 'dropped', 'lost'] as const)(
    'does not stay, and does not come again, when Done was said and its answer is: %s',
    async (fault) => {
      const { p, request } = await aReminder();
      p.chat.failSends(fault);
      const release = p.chat.hold();
      await p.time.advance(10 * minute);
      await p.rooms.nagging.step(p.time.now(), 100);
      await p.rooms.deliverer.step(p.time.now(), 100);
      await p.time.advance(0);
      await p.rooms.acks.done(request);
      release();
      for (let passed = 0; passed < 30; passed += 1) await p.pass(minute);
      expect(texts(p)).toEqual([result]);
    },
  );
});

describe('a reminder of what has not come yet', () => {
  it('is looked for at whole milliseconds, which is all that a database may take', async () => {
    const p = await aPipeline();
    p.chat.failSends('blocked', 'blocked', 'blocked');
    await p.create({ instructions: result, schedule: daily, policies: { ack: {} } });
    await p.pass(30 * minute);
    for (let passed = 0; passed < 25; passed += 1) {
      await p.pass(minute + 1);
      const [at] = p.database.prepare('select nag_at from acks').pluck().all();
      expect(Number.isInteger(at), String(at)).toBe(true);
    }
  });
});

describe('many reminders at once, at the pace of the platform', () => {
  it('hold up no result', async () => {
    const p = await aPipeline({ settings: paced });
    for (let count = 0; count < 30; count += 1)
      await p.create({
        instructions: `Pill ${count}`,
        schedule: daily,
        policies: { ack: { nag_every: 'PT1M', nag_limit: 100 } },
      });
    await p.create({ instructions: 'On time', schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } });
    for (let passed = 0; passed < 65 * 20; passed += 1) await p.pass(3000);
    const results = p.database
      .prepare(
        `select d.created_at as made, d.delivered_at as shown, d.status from deliveries d join tasks t on t.id = d.task_id
         where d.kind = 'result' and t.instructions = 'On time' order by d.id`,
      )
      .all() as { made: number; shown: number | null; status: string }[];
    const late = results.map(({ made, shown }) => ((shown ?? Infinity) - made) / minute);
    expect(late.filter((minutes) => minutes > 1)).toEqual([]);
    expect(late).toHaveLength(1);
  }, 60_000);
});
