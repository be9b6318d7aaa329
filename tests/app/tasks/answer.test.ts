import { describe, expect, it } from 'vitest';
import { aPipeline, day, hour, minute, start, type Pipeline, texts, withTask } from '../../support/pipeline.ts';
import { find, hourly, long, newsOf, nextIn, running, slow, story, target } from './world.ts';

const answer = (p: Pipeline, task: { readonly id: string }, choice: 'latest' | 'all' | 'none') =>
  p.rooms.tasks.answer(target(task), choice);

/** A task that asks about the slots of ten and eleven, at twenty past eleven. */
async function aQuestion(more: Parameters<Pipeline['create']>[0] = {}) {
  const p = await aPipeline();
  const { policies, ...rest } = more;
  const task = await p.create({ schedule: hourly, policies: { missed: 'ask', ...policies }, ...rest });
  await p.time.advance(2 * hour + 20 * minute);
  await p.settle();
  return { p, task };
}

/** What came in the topic, apart from the question itself. */
const textsOf = (p: Pipeline) => texts(p).filter((text) => text !== '[missed]');

describe('the question about missed slots', () => {
  it('is one word in the topic, made with the claim of the slots, however many they are', async () => {
    const { p, task } = await aQuestion();
    expect(texts(p)).toEqual(['[missed]']);
    const [row] = p.database.prepare(`select content, expires_at from deliveries where kind = 'notice'`).all() as {
      content: string;
      expires_at: number;
    }[];
    const decideBy = p.time.now() + day;
    expect(JSON.parse(row?.content ?? '')).toEqual({
      view: 'missed',
      from: start + hour,
      to: start + 2 * hour,
      count: 2,
      decideBy,
    });
    expect(row?.expires_at).toBe(decideBy);
    const { id } = await p.create({
      schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' },
      policies: { missed: 'ask' },
    });
    await p.time.advance(3 * day);
    await p.settle();
    const asked = p.database.prepare(`select count(*) as count from deliveries where task_id = ? and kind = 'notice'`);
    expect(asked.get(id)).toEqual({ count: 1 });
    expect(await p.store.readQuestion(id)).toMatchObject({ count: 10 });
    expect(await p.store.readQuestion(task.id)).not.toBeNull();
  });

  it('answered with the latest runs that slot, late, and the result says so', async () => {
    const { p, task } = await aQuestion();
    expect(await story(p, task)).toEqual(['60 catch_up pending ask', '120 catch_up pending ask']);
    const { verbs, events, audit } = await newsOf(p, () => answer(p, task, 'latest'));
    const [, asked] = await p.history(task.id);
    expect([verbs, events, JSON.parse(audit[0]?.after ?? '')]).toEqual([
      ['answer'],
      ['occurrence.skipped', 'task.answer'],
      { answer: 'latest', run: true, task_run_ids: [asked?.id] },
    ]);
    await p.settle();
    expect(await story(p, task)).toEqual(['60 catch_up skipped declined', '120 catch_up succeeded']);
    expect(textsOf(p)[0]).toMatch(/Late: due Wed 18 Nov 11:00/);
  });

  it('waits its turn behind a live run', async () => {
    const { p, task } = await aQuestion({ action: slow, policies: long });
    await running(p, task);
    await answer(p, task, 'all');
    await p.settle();
    expect((await story(p, task))[0]).toBe('60 catch_up pending ask');
    await p.pass(minute);
    expect((await story(p, task))[0]).toBe('60 catch_up dispatched');
  });

  it('with yes counts against max_runs like the slot that it is', async () => {
    const { p, task } = await aQuestion({ policies: { max_runs: 1 } });
    await answer(p, task, 'all');
    await p.settle();
    expect(await find(p, task)).toMatchObject({ state: 'completed', counters: { boundedRuns: 1 } });
  });

  it('does not hold back the slots that come', async () => {
    const { p, task } = await aQuestion();
    await p.pass(40 * minute);
    expect((await story(p, task)).at(-1)).toBe('180 succeeded');
    expect(await nextIn(p, task)).toBe(240);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 4 * hour);
  });

  it('about thousands of slots keeps its rows few and its account whole', async () => {
    const { p, task } = await withTask({ schedule: { ...hourly, cron: '* * * * *' }, policies: { missed: 'ask' } });
    await p.time.advance(3 * day);
    for (let steps = 0; steps < 20; steps += 1) await p.settle();
    const inGaps = p.database.prepare('select sum(count) from gaps').pluck().get() as number;
    expect((await p.history(task.id)).length + inGaps).toBe(3 * 24 * 60);
    await answer(p, task, 'all');
    for (let passed = 0; passed < 30; passed += 1) await p.pass(100);
    expect((await p.history(task.id)).filter(({ status }) => status === 'pending')).toEqual([]);
  });
});
