import { describe, expect, it } from 'vitest';
import type { Changed } from '../../../src/app/ports/tasks.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { TaskState } from '../../../src/domain/task.ts';
import { actor, aPipeline, hour, minute, type Pipeline, withTask } from '../../support/pipeline.ts';
import { find, hourly, kinds, newsOf, once, overlaps, recurring, target } from './world.ts';

type Verb = (p: Pipeline, task: { readonly id: string }) => Promise<Pick<Changed, 'task'>>;

const verbs: Readonly<Record<string, Verb>> = {
  pause: (p, task) => p.rooms.tasks.pause(target(task), p.time.now() + 9 * hour),
  resume: (p, task) => p.rooms.tasks.resume(target(task)),
  skip: (p, task) => p.rooms.tasks.skip(target(task), { count: 1, from: null }),
  unskip: (p, task) => p.rooms.tasks.unskip(target(task)),
  snooze: (p, task) => p.rooms.tasks.snooze(target(task), { forMs: 10 * minute }),
  cancel: (p, task) => p.rooms.tasks.cancel(target(task)),
  answer: (p, task) => p.rooms.tasks.answer(target(task), 'all'),
  undo: (p, task) => p.rooms.tasks.undo(target(task), null),
  restore: (p, task) => p.rooms.tasks.restore(target(task)),
  delete: (p, task) => p.rooms.tasks.delete(target(task)),
  edit: (p, task) => p.rooms.tasks.edit(target(task), { title: 'New' }),
  'run-now': (p, task) => p.rooms.tasks.runNow(target(task)),
};

type Outcome = TaskState | 'same' | AppError['code'];

/** What becomes of a task in each state: the state it is in then, `same` where nothing happens, or the refusal. */
const outcomes: Readonly<Record<keyof typeof verbs, Readonly<Record<TaskState, Outcome>>>> = {
  pause: { active: 'paused', paused: 'paused', completed: 'same', deleted: 'not_found' },
  resume: { active: 'same', paused: 'active', completed: 'schedule_exhausted', deleted: 'not_found' },
  skip: { active: 'active', paused: 'nothing_to_skip', completed: 'nothing_to_skip', deleted: 'not_found' },
  unskip: { active: 'same', paused: 'same', completed: 'same', deleted: 'not_found' },
  snooze: { active: 'active', paused: 'paused', completed: 'completed', deleted: 'not_found' },
  cancel: { active: 'same', paused: 'same', completed: 'same', deleted: 'not_found' },
  answer: {
    active: 'nothing_to_answer',
    paused: 'nothing_to_answer',
    completed: 'nothing_to_answer',
    deleted: 'not_found',
  },
  undo: { active: 'nothing_to_undo', paused: 'active', completed: 'nothing_to_undo', deleted: 'active' },
  restore: { active: 'same', paused: 'same', completed: 'same', deleted: 'active' },
  delete: { active: 'deleted', paused: 'deleted', completed: 'deleted', deleted: 'not_found' },
  edit: { active: 'active', paused: 'paused', completed: 'completed', deleted: 'not_found' },
  'run-now': { active: 'active', paused: 'paused', completed: 'completed', deleted: 'not_found' },
};

async function putInto(p: Pipeline, task: { readonly id: string }, state: TaskState): Promise<void> {
  if (state === 'paused') await p.rooms.tasks.pause(target(task), null);
  if (state === 'deleted') await p.rooms.tasks.delete(target(task));
  if (state === 'completed') for (let turn = 0; turn < 4; turn += 1) await p.pass(hour);
  expect((await find(p, task)).state).toBe(state);
}

async function outcomeOf(deed: () => Promise<unknown>): Promise<AppError['code'] | null> {
  try {
    await deed();
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** What a verb does to a task: one row and one event of that name when it does anything, none of either when not. */
async function check(p: Pipeline, task: { readonly id: string }, verb: string, expected: Outcome): Promise<void> {
  const before = await find(p, task);
  let code: AppError['code'] | null = null;
  const news = await newsOf(p, async () => {
    code = await outcomeOf(async () => verbs[verb]?.(p, task));
  });
  const { state } = await find(p, task);
  const isState = ['active', 'paused', 'completed', 'deleted'].includes(expected);
  const isSame = !isState;
  const told = isState || expected === 'same' ? null : expected;
  expect({ code, state, rows: news.audit.length, events: news.isTold.length }, verb).toEqual({
    code: told,
    state: isSame ? before.state : expected,
    rows: isSame ? 0 : 1,
    events: isSame ? 0 : 1,
  });
  for (const row of news.audit)
    expect(row, verb).toMatchObject({ actor, state_before: before.state, state_after: state });
  if (isSame) expect(await find(p, task), verb).toEqual(before);
}

describe.each(kinds)('a task of kind %s', (_kind, schedule) => {
  it.each<TaskState>(['active', 'paused', 'deleted'])(
    'when it is %s: each verb does its one thing, or nothing',
    async (state) => {
      const p = await aPipeline();
      for (const [verb, outcome] of Object.entries(outcomes)) {
        const task = await p.create({ schedule });
        await putInto(p, task, state);
        const isOver = schedule.kind === 'once' && state === 'active' && verb === 'skip';
        await check(p, task, verb, isOver ? 'completed' : outcome[state]);
      }
    },
  );
});

it.each([
  ['once', { schedule: once(1) }],
  ['with its runs used up', { schedule: hourly, policies: { max_runs: 2 } }],
  ['past its end', { schedule: hourly, policies: { until: '2026-11-18T11:30:00Z' } }],
])('a completed task, %s: each verb does its one thing, or nothing', async (_why, input) => {
  for (const [verb, outcome] of Object.entries(outcomes)) {
    const { p, task } = await withTask(input);
    await putInto(p, task, 'completed');
    await check(p, task, verb, outcome.completed);
  }
});

describe.each(overlaps)('where the overlap is to %s', (overlap) => {
  it.each(recurring)('each verb in turn leaves the slots in order: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule, policies: { overlap } });
    for (const verb of [
      'skip',
      'unskip',
      'snooze',
      'pause',
      'resume',
      'edit',
      'undo',
      'run-now',
      'cancel',
      'delete',
      'restore',
    ]) {
      expect(await outcomeOf(async () => verbs[verb]?.(p, task)), verb).toBeNull();
      await p.settle();
    }
    expect(await find(p, task)).toMatchObject({ state: 'active', title: task.title });
    for (let turn = 0; turn < 3; turn += 1) await p.pass(hour);
    const rows = await p.history(task.id);
    const slots = rows.filter(({ source }) => source === 'schedule');
    expect(slots.map(({ slotAt, status }) => [(slotAt - task.created.at) / hour, status])).toEqual([
      [1, 'succeeded'],
      [2, 'succeeded'],
      [3, 'succeeded'],
    ]);
    expect(rows.filter(({ status }) => status === 'pending' || status === 'dispatched')).toEqual([]);
  });
});

/** Verbs under a key, each with what it tells of its deed besides the task. */
const keyed = {
  edit: (p: Pipeline, id: string) =>
    p.rooms.tasks.edit(target({ id }, 'k'), { title: 'New', schedule: { ...hourly, cron: '0 0 31 * *' } }),
  skip: (p: Pipeline, id: string) => p.rooms.tasks.skip(target({ id }, 'k'), { count: 2, from: null }),
  snooze: (p: Pipeline, id: string) => p.rooms.tasks.snooze(target({ id }, 'k'), { forMs: minute }),
  undo: (p: Pipeline, id: string) => p.rooms.tasks.undo(target({ id }, 'k'), null),
  grant: (p: Pipeline, id: string) => p.rooms.tasks.grant(target({ id }, 'k'), { scopes: null, expiresAt: null }),
  'run-now': (p: Pipeline, id: string) => p.rooms.tasks.runNow(target({ id }, 'k')),
} as const;

describe('every verb by a key', () => {
  it.each(Object.keys(keyed) as (keyof typeof keyed)[])(
    '%s has one effect for a day, of each task its own, and tells what it did as it did first',
    async (verb) => {
      const p = await aPipeline();
      const tasks = [await p.create({ schedule: hourly }), await p.create({ schedule: hourly })] as const;
      for (const one of tasks) await p.rooms.tasks.edit(target(one), { title: 'Another' });
      const told: object[] = [];
      const say = (of: 0 | 1) => newsOf(p, async () => told.push(await keyed[verb](p, tasks[of].id)));
      const first = await say(0);
      await p.rooms.tasks.edit(target(tasks[0]), { title: 'Later' });
      const [again, apart] = [await say(0), await say(1)];
      expect([first, again, apart].map(({ verbs: done }) => done.length)).toEqual([1, 0, 1]);
      const { task: _now, replayed: _flag, ...facts } = { replayed: false, task: null, ...told[0] };
      expect(told[1]).toMatchObject(facts);
      await p.settle();
      await p.pass(25 * hour);
      await p.rooms.tasks.edit(target(tasks[0]), { title: 'Anew', schedule: hourly });
      expect((await say(0)).verbs).toHaveLength(1);
    },
  );

  it('a refusal gives the key back', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.rooms.tasks.pause(target(task), null);
    expect(await outcomeOf(() => keyed.skip(p, task.id))).toBe('nothing_to_skip');
    await p.rooms.tasks.resume(target(task));
    expect((await keyed.skip(p, task.id)).entryId).not.toBeNull();
  });
});
