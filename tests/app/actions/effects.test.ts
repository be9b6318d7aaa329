import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/app/actions/action.ts';
import { calls, withHttp, type Calls } from '../../support/actions.ts';
import { actor, aPipeline, day, group, hour, hourly, minute, texts, type Pipeline } from '../../support/pipeline.ts';

const url = 'https://example.com/hook';
const hook = {
  kind: 'http',
  method: 'POST',
  url,
  headers: { authorization: 'Bearer abc', 'x-team': 'a', 'x-api-key': '{{ secrets.KEY }}' },
  body: { text: 'hi' },
  template: '{{ status }}',
} as const;
const required = { approval: 'required' } as const;

async function asking(made: Calls, input = {}) {
  const p = await aPipeline({ actions: withHttp(made) });
  const schedule = { kind: 'once', once_at: new Date(p.time.now() + hour).toISOString(), timezone: 'UTC' } as const;
  const task = await p.create({ schedule, action: hook, policies: required, ...input }, { threadKey: group });
  await p.pass(hour);
  return { p, task };
}

function questionOf({ database }: Pipeline): { readonly text: string } {
  const found = database.prepare(`select content from deliveries where content like '%"approval"%'`).pluck().get();
  if (typeof found !== 'string') throw new Error('nobody was asked');
  return JSON.parse(found) as { readonly text: string };
}

const runOf = async (p: Pipeline, taskId: string) => (await p.history(taskId))[0]?.runId ?? '';

describe('an effect that somebody must approve', () => {
  it('is asked about before it happens, with what would be sent and without what is secret', async () => {
    const made = calls();
    const { p, task } = await asking(made);
    expect(made.jobs).toEqual([]);
    expect(questionOf(p)).toMatchObject({ isEffect: true });
    expect(questionOf(p).text).toBe(
      `POST ${url}\nheaders: authorization: •••\nx-team: a\nx-api-key: {{ secrets.KEY }}\nbody: text: hi`.replace(
        'headers: ',
        'headers:\n',
      ),
    );
    expect(await p.rooms.tasks.getRun(await runOf(p, task.id))).toMatchObject({
      status: 'backoff',
      error: 'waits for somebody to approve it',
      attempts: [],
    });
  });

  it('happens once somebody lets it, and its result is not asked about again', async () => {
    const made = calls(() => ({ is: 'done', text: 'sent', httpStatus: 200 }));
    const { p, task } = await asking(made);
    const runId = await runOf(p, task.id);
    const decided = await p.rooms.approvals.decide({ runId, actor, isGiven: true });
    expect(decided).toMatchObject({ is: 'decided', isGiven: true, isFirst: true, isEffect: true });
    await p.settle();
    expect(made.jobs).toHaveLength(1);
    expect(texts(p)).toEqual([questionOf(p).text, 'sent']);
    expect(await p.rooms.approvals.decide({ runId, actor, isGiven: false })).toMatchObject({
      is: 'decided',
      isGiven: true,
      isFirst: false,
    });
  });

  it('is asked about once, however often it is tried', async () => {
    let tries = 0;
    const answer = (): Outcome =>
      (tries += 1) === 1 ? { is: 'retry', error: 'no answer' } : { is: 'done', text: 'sent' };
    const { p, task } = await asking(calls(answer));
    await p.rooms.approvals.decide({ runId: await runOf(p, task.id), actor, isGiven: true });
    await p.settle();
    await p.pass(minute);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', attempts: [{}, {}] }]);
    expect(texts(p)).toEqual([questionOf(p).text, 'sent']);
  });

  it.each([
    [
      'somebody discards it',
      (p: Pipeline, runId: string) => p.rooms.approvals.decide({ runId, actor, isGiven: false }),
    ],
    ['nobody answers within a day', (p: Pipeline) => p.pass(day)],
  ])('is left out when %s: the slot is skipped with that reason, and no failure is counted', async (_when, decide) => {
    const made = calls();
    const { p, task } = await asking(made);
    await decide(p, await runOf(p, task.id));
    await p.settle();
    expect(made.jobs).toEqual([]);
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'discarded', attempts: [] }]);
    expect((await p.rooms.tasks.get(task.id)).counters).toMatchObject({ failures: 0, consecutiveFailures: 0 });
  });

  it('says in its question that the time is over, after a restart too', async () => {
    const { p } = await asking(calls());
    const later = p.restart();
    await later.pass(day);
    const over = later.database.prepare(`select count(*) from deliveries where content like '%"isOver":true%'`).pluck();
    expect(over.get()).toBe(1);
  });

  it('of a daily task is asked about each day, whether or not somebody answered the day before', async () => {
    const { p, task } = await asking(calls(), { schedule: { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } });
    for (let days = 0; days < 3; days += 1) await p.pass(day);
    expect((await p.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ...Array.from({ length: 3 }, () => ['skipped', 'discarded']),
      ['dispatched', null],
    ]);
  });

  it('holds no place of the runner while it waits', async () => {
    const made = calls();
    const p = await aPipeline({ actions: withHttp(made), settings: { RUN_CONCURRENCY: 1 } });
    await p.create({ schedule: hourly, action: hook, policies: required }, { threadKey: group });
    await p.create({ schedule: hourly, instructions: 'Stand up' });
    await p.pass(hour);
    expect(texts(p)).toContain('Stand up');
  });

  it('is not asked about where it only reads: then its result is', async () => {
    const made = calls(() => ({ is: 'done', text: 'The price is 7.' }));
    const { p, task } = await asking(made, { action: { kind: 'http', url } });
    expect(made.jobs).toHaveLength(1);
    expect(questionOf(p)).not.toHaveProperty('isEffect');
    await p.rooms.approvals.decide({ runId: await runOf(p, task.id), actor, isGiven: true });
    await p.settle();
    expect(texts(p)).toEqual([questionOf(p).text, 'The price is 7.']);
  });
});

describe('the progress of a run', () => {
  it('is told as an event and with the run, at most once a second, and the newest words count', async () => {
    let finish: (outcome: Outcome) => void = () => {};
    const made = calls(() => new Promise<Outcome>((resolve) => (finish = resolve)));
    const p = await aPipeline({ actions: withHttp(made) });
    const task = await p.create({ schedule: hourly, action: { kind: 'http', url } });
    await p.pass(hour);
    const [job] = made.jobs;
    for (const part of ['1 of 3', '2 of 3', '3 of 3']) job?.progress(part);
    await p.time.advance(0);
    const runId = await runOf(p, task.id);
    expect((await p.rooms.tasks.getRun(runId)).progress).toBe('1 of 3');
    await p.time.advance(1000);
    expect((await p.rooms.tasks.getRun(runId)).progress).toBe('3 of 3');

    finish({ is: 'done', text: 'done' });
    await p.settle();
    job?.progress('too late');
    await p.time.advance(5000);
    const { events } = await p.store.readEvents({ after: null, taskId: task.id, kind: 'run.progress', limit: 10 });
    expect(events.map(({ ref, data }) => [ref, data?.['text']])).toEqual([
      [runId, '1 of 3'],
      [runId, '3 of 3'],
    ]);
  });
});

describe('a task whose action is not there any more', () => {
  it('skips its slots with the reason, goes on by its schedule, and tells its owner once', async () => {
    const made = calls();
    const p = await aPipeline({ actions: withHttp(made) });
    const task = await p.create({ schedule: hourly, action: { kind: 'http', url } }, { threadKey: group });
    await p.pass(hour);
    const without = p.restart({}, []);
    for (let slot = 0; slot < 3; slot += 1) await without.pass(hour);
    expect((await without.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', null],
      ['skipped', 'gone_kind'],
      ['skipped', 'gone_kind'],
      ['skipped', 'gone_kind'],
    ]);
    expect(await without.rooms.tasks.get(task.id)).toMatchObject({ state: 'active', counters: { failures: 0 } });
    expect(texts(without).filter((text) => text === '[mayNotRun]')).toHaveLength(1);

    const again = without.restart({}, withHttp(made));
    await again.pass(hour);
    expect((await again.history(task.id)).at(-1)).toMatchObject({ status: 'succeeded' });
  });
});
