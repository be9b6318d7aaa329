import { describe, expect, it } from 'vitest';
import { aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { find, hourly, long, newsOf, nextIn, once, running, slow, story, target } from './world.ts';

const answer = (p: Pipeline, task: { readonly id: string }, run: boolean) => p.rooms.tasks.answer(target(task), run);

/** A task that asks about the slot of eleven, at twenty past eleven. */
async function aQuestion(more: Parameters<Pipeline['create']>[0] = {}) {
  const p = await aPipeline();
  const { policies, ...rest } = more;
  const task = await p.create({ schedule: hourly, policies: { missed: 'ask', ...policies }, ...rest });
  await p.time.advance(2 * hour + 20 * minute);
  await p.settle();
  return { p, task };
}

describe('the question about a missed slot', () => {
  it('answered with yes runs the slot, late, and the result says so', async () => {
    const { p, task } = await aQuestion();
    expect(await story(p, task)).toEqual(['60 missed covered', '120 catch_up pending ask']);
    const { verbs, events, audit } = await newsOf(p, () => answer(p, task, true));
    const [, asked] = await p.history(task.id);
    expect([verbs, events, JSON.parse(audit[0]?.after ?? '')]).toEqual([
      ['answer'],
      ['task.answer'],
      { run: true, task_run_ids: [asked?.id] },
    ]);
    await p.settle();
    expect(await story(p, task)).toEqual(['60 missed covered', '120 catch_up succeeded']);
    expect(p.chat.shown[0]?.text).toMatch(/Late: due 2026-11-18 11:00/);
  });

  it('answered with no ends it as declined', async () => {
    const { p, task } = await aQuestion();
    const { events } = await newsOf(p, () => answer(p, task, false));
    expect(events).toEqual(['occurrence.skipped', 'task.answer']);
    await p.settle();
    expect(await story(p, task)).toEqual(['60 missed covered', '120 catch_up skipped declined']);
    expect(p.chat.shown).toEqual([]);
  });

  it.each([true, false])('answered twice, after %s, is refused the second time', async (run) => {
    const { p, task } = await aQuestion();
    await answer(p, task, run);
    await expect(answer(p, task, !run)).rejects.toMatchObject({ code: 'nothing_to_answer' });
    await p.settle();
    expect((await story(p, task))[1]).toBe(run ? '120 catch_up succeeded' : '120 catch_up skipped declined');
  });

  it('is answered for all that wait', async () => {
    const { p, task } = await aQuestion();
    await p.time.advance(2 * hour);
    await p.settle();
    await answer(p, task, true);
    await p.settle();
    expect((await story(p, task)).filter((line) => line.includes('catch_up'))).toEqual([
      '120 catch_up succeeded',
      '240 catch_up succeeded',
    ]);
  });

  it('waits its turn behind a live run', async () => {
    const { p, task } = await aQuestion({ action: slow, policies: long });
    await running(p, task);
    await answer(p, task, true);
    await p.settle();
    expect((await story(p, task))[1]).toBe('120 catch_up pending ask');
    await p.pass(minute);
    expect((await story(p, task))[1]).toBe('120 catch_up dispatched');
  });

  it('of a once-task that is completed by its slot runs it all the same', async () => {
    const { p, task } = await aQuestion({ schedule: once(2) });
    expect((await find(p, task)).state).toBe('completed');
    await answer(p, task, true);
    await p.settle();
    expect(await story(p, task)).toEqual(['120 catch_up succeeded']);
  });

  it('with yes counts against max_runs like the slot that it is', async () => {
    const { p, task } = await aQuestion({ policies: { max_runs: 1 } });
    await answer(p, task, true);
    await p.settle();
    expect(await find(p, task)).toMatchObject({ state: 'completed', counters: { boundedRuns: 1 } });
  });

  it('is over with a pause, a deletion or a day, and then there is nothing to answer', async () => {
    for (const end of ['pause', 'delete', 'day'] as const) {
      const { p, task } = await aQuestion();
      if (end === 'pause') await p.rooms.tasks.pause(target(task), null);
      if (end === 'delete') await p.rooms.tasks.delete(target(task));
      if (end === 'day') await p.rooms.tasks.edit(target(task), { schedule: once(100) }).then(() => p.pass(day));
      const code = end === 'delete' ? 'not_found' : 'nothing_to_answer';
      await expect(answer(p, task, true), end).rejects.toMatchObject({ code });
    }
  });

  it('does not hold back the slots that come', async () => {
    const { p, task } = await aQuestion();
    await p.pass(40 * minute);
    expect((await story(p, task)).at(-1)).toBe('180 succeeded');
    expect(await nextIn(p, task)).toBe(240);
    expect(await p.rooms.scheduler.nextAt(p.time.now())).toBe(start + 4 * hour);
  });
});

it('a task that asks nothing has nothing to answer', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  await expect(answer(p, task, true)).rejects.toMatchObject({ code: 'nothing_to_answer' });
});
