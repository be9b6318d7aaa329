import { expect, it } from 'vitest';
import { aPipeline, hour, minute, start, withTask } from '../../support/pipeline.ts';
import { entryOf, find, hourly, nextIn, story, target } from './world.ts';

it('a skipped slot behind one that was brought back uses up no run and is not shown as the next', async () => {
  const { p, task } = await withTask({ schedule: hourly, policies: { max_runs: 2 } });
  const first = entryOf(await p.rooms.tasks.skip(target(task), { count: 1, from: null }));
  await p.rooms.tasks.skip(target(task), { count: 1, from: null });
  await p.rooms.tasks.undo(target(task), first);
  await p.pass(hour);
  expect(await nextIn(p, task)).toBe(180);
  for (let turn = 0; turn < 4; turn += 1) await p.pass(30 * minute);
  expect(await story(p, task)).toEqual(['60 succeeded', '120 skipped skip', '180 succeeded']);
  expect((await find(p, task)).counters.boundedRuns).toBe(2);
});

it('a slot that was skipped and has passed comes like any other when the clock goes back and the timing changes', async () => {
  const { p, task } = await withTask({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 1, from: null });
  await p.pass(90 * minute);
  p.time.setWall(start);
  await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, cron: '30 0 1 1 *' } });
  await p.rooms.tasks.edit(target(task), { schedule: hourly });
  await p.pass(hour);
  expect(await story(p, task)).toEqual(['60 succeeded']);
});

it('a task of which all was skipped goes on from now when that is taken back, also where the clock went back', async () => {
  const p = await aPipeline();
  const until = new Date(start + 4 * hour).toISOString();
  const task = await p.create({ schedule: hourly, policies: { until } });
  await p.pass(2 * hour);
  await p.rooms.tasks.skip(target(task), { count: 2, from: null });
  p.time.setWall(start - hour);
  await p.rooms.tasks.unskip(target(task));
  expect(await nextIn(p, task)).toBe(0);
});

it('another timing says that what was skipped is not skipped any more', async () => {
  const { p, task } = await withTask({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 2, from: null });
  const titled = await p.rooms.tasks.edit(target(task), { title: 'Other' });
  expect(titled.warnings).toEqual([]);
  const { warnings } = await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, timezone: 'Asia/Kolkata' } });
  expect(warnings.map(({ code }) => code)).toEqual(['skips_dropped']);
  expect(warnings[0]?.message).toBe(
    'The 2 runs that were skipped are not skipped at the new time. Skip again where it is still wanted.',
  );
  expect(await nextIn(p, task)).toBe(30);
});

it('what was skipped stays so where another zone or another end leaves a slot at the same instant', async () => {
  const { p, task } = await withTask({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 2, from: null });
  const bounded = await p.rooms.tasks.edit(target(task), {
    policies: { until: new Date(start + 9 * hour).toISOString() },
  });
  expect(bounded.warnings).toEqual([]);
  expect(await nextIn(p, task)).toBe(180);
  const moved = await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, timezone: 'Europe/Madrid' } });
  expect([moved.task.schedule.timezone, moved.warnings]).toEqual(['Europe/Madrid', []]);
  for (let turn = 0; turn < 6; turn += 1) await p.pass(30 * minute);
  expect(await story(p, task)).toEqual(['60 skipped skip', '120 skipped skip', '180 succeeded']);
});

it.each([
  ['an edit', { schedule: { ...hourly, cron: '30 * * * *' } }],
  ['an edit that also pauses', { schedule: { ...hourly, cron: '30 * * * *' }, enabled: false }],
])('what another timing gave up is skipped again when that is taken back: %s', async (_what, patch) => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 2, from: null });
  const { entryId, warnings } = await p.rooms.tasks.edit(target(task), patch);
  expect([warnings.map(({ code }) => code), await story(p, task)]).toEqual([['skips_dropped'], []]);
  await p.rooms.tasks.undo(target(task), entryId);
  expect(await nextIn(p, task)).toBe(180);
  for (let turn = 0; turn < 6; turn += 1) await p.pass(30 * minute);
  expect(await story(p, task)).toEqual(['60 skipped skip', '120 skipped skip', '180 succeeded']);
});

it('a skip that another timing gave up and that has passed meanwhile does not come back', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 2, from: null });
  const { entryId } = await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, cron: '30 * * * *' } });
  for (let turn = 0; turn < 8; turn += 1) await p.pass(10 * minute);
  await p.rooms.tasks.undo(target(task), entryId);
  expect(await nextIn(p, task)).toBe(180);
  expect(await story(p, task)).toEqual(['30 succeeded', '120 skipped skip']);
});

it('a definition that is put in the place of another one gives its skips back as well', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  await p.rooms.tasks.skip(target(task), { count: 1, from: null });
  await p.create({ title: task.title, schedule: { ...hourly, cron: '30 * * * *' } }, { onExisting: 'upsert' });
  expect(await story(p, task)).toEqual([]);
  await p.rooms.tasks.undo(target(task), null);
  expect(await story(p, task)).toEqual(['60 skipped skip']);
});
