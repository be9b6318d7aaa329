import { describe, expect, it } from 'vitest';
import { aPipeline, hour, minute, start, type Pipeline, withTask } from '../../support/pipeline.ts';
import { entryOf, find, hourly, iso, newsOf, story, target } from './world.ts';

const half = { ...hourly, cron: '30 * * * *' };

type Missed = 'skip' | 'once' | 'all' | 'ask';

/** A task whose pause ended at a quarter to ten, while the scheduler slept; two slots have passed since then. */
async function endedUnseen(missed: Missed = 'all') {
  const { p, task } = await withTask({ schedule: half, subject: 'exercise', policies: { missed } });
  const { entryId } = await p.rooms.tasks.edit(target(task), { title: 'Another name', schedule: hourly });
  await p.rooms.tasks.pause(target(task), start + 45 * minute);
  await p.time.advance(2 * hour + 20 * minute);
  return { p, task, edited: entryOf({ entryId }) };
}

type Scene = Awaited<ReturnType<typeof endedUnseen>>;
type Deed = (scene: Scene) => Promise<unknown>;

const both = ['60 catch_up succeeded', '120 catch_up succeeded'];
/** A task has one run at a time, so the second of them still waits when a verb ends what waits. */
const first = both.slice(0, 1);

const deeds: readonly (readonly [string, Deed, readonly string[], string])[] = [
  ['switching it on', ({ p, task }) => p.rooms.tasks.edit(target(task), { enabled: true }), both, 'active'],
  ['an edit of the title', ({ p, task }) => p.rooms.tasks.edit(target(task), { title: 'New' }), both, 'active'],
  ['another schedule', ({ p, task }) => p.rooms.tasks.edit(target(task), { schedule: half }), both, 'active'],
  ['resuming', ({ p, task }) => p.rooms.tasks.resume(target(task)), both, 'active'],
  [
    'pausing again',
    ({ p, task }) => p.rooms.tasks.pause(target(task), null),
    [...first, '120 catch_up skipped paused'],
    'paused',
  ],
  [
    'pausing until another instant',
    ({ p, task }) => p.rooms.tasks.pause(target(task), start + 10 * hour),
    [...first, '120 catch_up skipped paused'],
    'paused',
  ],
  [
    'switching it off',
    ({ p, task }) => p.rooms.tasks.edit(target(task), { enabled: false }),
    [...first, '120 catch_up skipped paused'],
    'paused',
  ],
  [
    'deleting',
    ({ p, task }) => p.rooms.tasks.delete(target(task)),
    ['60 catch_up cancelled deleted', '120 catch_up cancelled deleted'],
    'deleted',
  ],
  [
    'skipping the next slot',
    ({ p, task }) => p.rooms.tasks.skip(target(task), { count: 1, from: null }),
    [...both, '180 skipped skip'],
    'active',
  ],
  [
    'a snooze',
    ({ p, task }) => p.rooms.tasks.snooze(target(task), start + 150 * minute),
    [...both, '150 snooze pending'],
    'active',
  ],
  ['an upsert with another schedule', ({ p }) => upsert(p), both, 'active'],
  ['undoing an older edit', ({ p, task, edited }) => p.rooms.tasks.undo(target(task), edited), both, 'active'],
];

function upsert(p: Pipeline) {
  const policies = { missed: 'all' } as const;
  return p.create({ schedule: half, subject: 'exercise', title: 'Another name', policies }, { onExisting: 'upsert' });
}

describe('a pause whose end passed while nobody noticed', () => {
  it.each(deeds)('loses no slot since then to %s', async (_verb, deed, told, state) => {
    const scene = await endedUnseen();
    const { audit } = await newsOf(scene.p, () => deed(scene));
    expect(audit[0]).toMatchObject({ actor: 'system', verb: 'resume', state_before: 'paused' });
    await scene.p.settle();
    expect(await story(scene.p, scene.task)).toEqual(told);
    expect((await find(scene.p, scene.task)).state).toBe(state);
  });

  it.each([
    ['skip', ['60 missed late', '120 missed late']],
    ['once', ['60 missed covered', '120 catch_up succeeded']],
    ['all', both],
    ['ask', ['60 catch_up pending ask', '120 catch_up pending ask']],
  ] as const)(
    'leaves the slots since then to the policy missed also when it is switched on: %s',
    async (missed, told) => {
      const { p, task } = await endedUnseen(missed);
      await p.rooms.tasks.edit(target(task), { enabled: true });
      await p.settle();
      expect(await story(p, task)).toEqual(told);
    },
  );

  it('ends in the audit before the verb that found it', async () => {
    const { p, task } = await endedUnseen();
    const { audit, events } = await newsOf(p, () => p.rooms.tasks.pause(target(task), null));
    expect(audit.map((one) => [one.actor, one.verb, one.state_before, one.state_after])).toEqual([
      ['system', 'resume', 'paused', 'active'],
      ['telegram:user:1001', 'pause', 'active', 'paused'],
    ]);
    expect(events.slice(0, 1)).toEqual(['task.resume']);
  });

  it('is left to the scheduler for its neighbours', async () => {
    const p = await aPipeline();
    const [one, other] = [await p.create({ schedule: hourly }), await p.create({ schedule: hourly })];
    for (const task of [one, other]) await p.rooms.tasks.pause(target(task), start + 45 * minute);
    await p.time.advance(hour);
    const { audit } = await newsOf(p, () => p.rooms.tasks.edit(target(one), { title: 'New' }));
    expect(audit.map(({ verb }) => verb)).toEqual(['resume', 'edit']);
    await p.settle();
    expect([await story(p, one), await story(p, other)]).toEqual([['60 succeeded'], ['60 succeeded']]);
  });
});

describe('switching a task off that is paused until an instant', () => {
  it('makes the pause open-ended, and says so in the audit', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const until = start + 90 * minute;
    await p.rooms.tasks.pause(target(task), until);
    const { audit } = await newsOf(p, () => p.rooms.tasks.edit(target(task), { enabled: false }));
    expect(audit).toMatchObject([
      {
        verb: 'pause',
        state_before: 'paused',
        state_after: 'paused',
        before: JSON.stringify({ reason: 'manual', until: iso(until) }),
        after: JSON.stringify({ reason: 'manual' }),
      },
    ]);
    await p.pass(3 * hour);
    expect(await find(p, task)).toMatchObject({ state: 'paused', resumeAt: null });
    expect(await story(p, task)).toEqual([]);
  });
});
