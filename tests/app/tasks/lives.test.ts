import { expect, it } from 'vitest';
import type { TaskInput } from '../../../src/app/tasks/definition.ts';
import { aPipeline, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { delay, find, hourly, long, newsOf, once, slow, story, target } from './world.ts';

/**
 * What becomes of a task: a life in words, and how it stands in the end. All numbers are minutes from the start. `+60` lets
 * time pass, `~60` too while nobody looks, `@90` names an instant, `=` says that a verb changes nothing, `!code` that it is
 * refused.
 */
type Life = readonly [sentence: string, input: Partial<TaskInput>, life: string, end: End];

interface End {
  readonly story?: readonly string[];
  readonly state?: string;
  readonly next?: number | null;
  readonly until?: number | null;
  readonly title?: string;
}

type Verb = (p: Pipeline, taskId: string, given: readonly string[]) => Promise<unknown>;

const at = (word: string) => start + Number(word.slice(1)) * minute;
const instant = (word: string | undefined) => (word === undefined ? null : at(word));

const verbs: Readonly<Record<string, Verb>> = {
  skip: (p, id, [count = '1', from]) =>
    p.rooms.tasks.skip(target({ id }), { count: Number(count), from: instant(from) }),
  unskip: (p, id) => p.rooms.tasks.unskip(target({ id })),
  pause: (p, id, [until]) => p.rooms.tasks.pause(target({ id }), instant(until)),
  resume: (p, id) => p.rooms.tasks.resume(target({ id })),
  delete: (p, id) => p.rooms.tasks.delete(target({ id })),
  restore: (p, id) => p.rooms.tasks.restore(target({ id })),
  snooze: (p, id, [until = '']) => p.rooms.tasks.snooze(target({ id }), at(until)),
  undo: (p, id) => p.rooms.tasks.undo(target({ id }), null),
  run: (p, id) => p.rooms.tasks.runNow(target({ id })),
  on: (p, id) => p.rooms.tasks.edit(target({ id }), { enabled: true }),
  off: (p, id) => p.rooms.tasks.edit(target({ id }), { enabled: false }),
  title: (p, id, [title = '']) => p.rooms.tasks.edit(target({ id }), { title }),
  cron: (p, id, [minutes = '']) =>
    p.rooms.tasks.edit(target({ id }), { schedule: { ...hourly, cron: `${minutes} * * * *` } }),
  once: (p, id, [hours = '']) => p.rooms.tasks.edit(target({ id }), { schedule: once(Number(hours)) }),
  action: (p, id, [kind = '']) => p.rooms.tasks.edit(target({ id }), { action: { kind } }),
  allow: (p, id) => p.rooms.tasks.edit(target({ id }), { policies: { overlap: 'allow' } }),
  cancel: (p, id) => p.rooms.tasks.cancel(target({ id })),
  step: (p) => p.rooms.scheduler.step(p.time.now(), 10),
  replan: (p) => p.rooms.scheduler.replan(p.time.now(), 10),
  runner: (p) => p.rooms.runner.step(p.time.now(), 100),
  settle: (p) => p.settle(),
};

async function lived(p: Pipeline, taskId: string, life: string): Promise<void> {
  for (const step of life.split(', ')) {
    const [word = '', ...given] = step.split(' ');
    const fate = /^[=!]/.test(given.at(-1) ?? '') ? given.pop() : undefined;
    const deed = async () => {
      if (word.startsWith('+')) return p.pass(Number(word.slice(1)) * minute);
      if (word.startsWith('~')) return p.time.advance(Number(word.slice(1)) * minute);
      return verbs[word]?.(p, taskId, given);
    };
    const news = await newsOf(p, async () => {
      if (fate?.startsWith('!') === true) await expect(deed(), step).rejects.toMatchObject({ code: fate.slice(1) });
      else await deed();
    });
    if (fate !== undefined) expect([news.verbs, news.events], step).toEqual([[], []]);
  }
}

const minutesOf = (instantMs: number | null) => (instantMs === null ? null : Math.round((instantMs - start) / minute));

const skipped = (...slots: readonly number[]) => slots.map((slot) => `${slot} skipped skip`);
const catchUp = { policies: { missed: 'all' } } as const;
/** Behind a run that lasts, others wait. */
const queueing = { action: slow, policies: { ...long, overlap: 'queue' } } as const;
const echoing = { kind: 'echo', delay_ms: 10_000 } as const;

const skipping: readonly Life[] = [
  ['of the only slot of a once-task completes it', { schedule: once(1) }, 'skip', { state: 'completed', next: null }],
  [
    'of the only slot is taken back by unskip',
    { schedule: once(1) },
    'skip, unskip, +60',
    { story: ['60 succeeded'], state: 'completed' },
  ],
  ['of the slot that a person saw skips that one alone', {}, 'skip 1 @60, skip 1 @60 =', { story: skipped(60) }],
  ['of a slot that came meanwhile lets that slot run', {}, '~60, skip 1 @60, settle', { story: ['60 succeeded'] }],
  [
    'at exactly a slot skips the one after it',
    {},
    '~60, skip, settle',
    { story: ['60 succeeded', ...skipped(120)], next: 180 },
  ],
  [
    'counts against no bound of runs',
    { policies: { max_runs: 2 } },
    'skip 3, +240, +60, +60',
    { story: [...skipped(60, 120, 180), '240 succeeded', '300 succeeded'], state: 'completed' },
  ],
  [
    'of a delay that is running is refused, because its end decides when the next run is',
    { schedule: delay, action: echoing },
    '+60, skip !nothing_to_skip, +1, skip',
    { story: ['60 succeeded', '120 skipped skip'] },
  ],
  [
    'lasts through a pause that ends by itself before it',
    {},
    'skip 2, pause @30, +30, +30, +60, +60',
    { story: [...skipped(60, 120), '180 succeeded'] },
  ],
  ['lasts through a deletion that is taken back', {}, 'skip, delete, restore', { next: 120 }],
  ['lasts when another title is given', {}, 'skip, title Other', { story: skipped(60), next: 120 }],
  [
    'ends when another timing is given',
    {},
    'skip, cron 0,30, +30, +30',
    { story: ['30 succeeded', '60 succeeded'], next: 90 },
  ],
  [
    'is taken back for what is to come, and never for what is past',
    {},
    'skip 3, +60, unskip, +60, +60',
    { story: [...skipped(60), '120 succeeded', '180 succeeded'] },
  ],
  [
    'is taken back in a pause without bringing the task to life',
    {},
    'skip 2, pause, unskip',
    { state: 'paused', next: null },
  ],
  ['is taken back in a pause, and its slots run after that', {}, 'skip 2, pause, unskip, resume', { next: 60 }],
  ['is undone, and done again when its unskip is undone', {}, 'skip 2, undo, skip 2, unskip, undo', { next: 180 }],
  ['of slots that have passed cannot be undone any more', {}, 'skip, +90, undo =', { next: 120 }],
  ['lasts through new rules of time', {}, 'skip 2, replan', { next: 180 }],
  ['is not shown as the next after a pause that ended by itself', {}, 'skip, pause @30, +31', { next: 120 }],
  [
    'uses up no run after a pause that ended by itself',
    { policies: { max_runs: 1 } },
    'skip, pause @30, +31, +30, +30, +30',
    { story: [...skipped(60), '120 succeeded'] },
  ],
];

const editing: readonly Life[] = [
  ['of the title keeps a slot that was due', {}, '~60, title New, settle', { story: ['60 succeeded'], title: 'New' }],
  ['takes up the slot that is due although nothing changes', { title: 'T' }, '~60, title T', { next: 120 }],
  [
    'gives a completed task something to do again',
    { schedule: once(1) },
    '+60, once 3',
    { state: 'active', next: 180 },
  ],
  [
    'of the timing starts the count of runs again',
    { policies: { max_runs: 1 } },
    '+60, cron 30, +30',
    { story: ['60 succeeded', '90 succeeded'], state: 'completed' },
  ],
  ['of the action takes the right to it along', {}, 'action echo, +60', { story: ['60 succeeded'] }],
  ['of the action that is undone does so too', {}, 'action echo, undo, +60', { story: ['60 succeeded'] }],
  [
    'of the title leaves a delay to count from the finish of its run',
    { schedule: delay, action: slow, policies: long },
    '+60, title New, +1',
    { next: 121 },
  ],
  [
    'of the overlap to allow admits what waits',
    queueing,
    '+60, run, allow, settle',
    { story: ['60 dispatched', '60 run_now dispatched'] },
  ],
];

const running: readonly Life[] = [
  [
    'works in a pause, and leaves it so',
    {},
    'pause, run, settle',
    { story: ['0 run_now succeeded'], state: 'paused', next: null },
  ],
  [
    'moves nothing of a delay',
    { schedule: delay, policies: { start_at: '2026-11-18T12:00:00Z' } },
    '+1, run, settle',
    { story: ['1 run_now succeeded'], next: 180 },
  ],
  [
    'in a pause is called off by cancel',
    { action: slow, policies: long },
    'pause, run, runner, cancel, settle',
    { story: ['0 run_now cancelled cancelled'] },
  ],
  ['that is called off in vain still takes up the slot that is due', {}, '~60, cancel', { next: 120 }],
];

const pausing: readonly Life[] = [
  [
    'until an instant makes up for nothing, and ends by itself',
    catchUp,
    'pause @150, +90, +90, +60',
    { story: ['180 succeeded', '240 succeeded'], state: 'active', until: null },
  ],
  [
    'of a once-task over its slot completes it',
    { schedule: once(1) },
    'pause @90, +90',
    { state: 'completed', next: null, until: null },
  ],
  [
    'at exactly a slot gives that slot first',
    {},
    '~60, pause @90, settle',
    { story: ['60 succeeded'], state: 'paused', until: 90 },
  ],
  ['until the same instant changes nothing', {}, 'pause @90, +10, pause @90 =', { until: 90 }],
  ['until another instant moves its end', {}, 'pause @90, +10, pause @30, +20', { state: 'active', next: 60 }],
  ['for good takes its end away', {}, 'pause @30, pause, +180', { story: [], state: 'paused', until: null }],
  ['that was resumed has an end no more', {}, 'pause @30, resume, +40', { story: [], state: 'active', until: null }],
  ['that was deleted has an end no more', {}, 'pause @30, delete, +40', { state: 'deleted', until: null }],
  [
    'of a delay, resumed by hand, lets it begin anew',
    { schedule: delay },
    'pause @120, +30, resume',
    { state: 'active', next: 90 },
  ],
  [
    'of a delay that runs puts off the next run to its own end, not to the finish',
    { schedule: delay, action: echoing },
    '+60, pause @90, +1, +29',
    { state: 'active', next: 150 },
  ],
  [
    'over the last slot cannot be resumed',
    { schedule: once(1) },
    'pause, +120, resume !schedule_exhausted',
    { state: 'paused' },
  ],
  ['that is over within a slot gives that slot once', {}, '~60, pause, resume, settle', { story: ['60 succeeded'] }],
  [
    'ends what waits',
    queueing,
    '+60, run, pause',
    { story: ['60 dispatched', '60 run_now skipped paused'], state: 'paused' },
  ],
  ['of a delay lets it begin anew at exactly its end', { schedule: delay }, 'pause @30, +30', { next: 90 }],
  ['resumed at exactly a slot has had that slot', {}, 'pause, ~60, resume, settle', { story: [], next: 120 }],
  [
    'resumed at the instant of its end keeps that slot',
    {},
    'pause @60, ~60, resume, settle',
    { story: ['60 succeeded'] },
  ],
  [
    'resumed after an end that nobody saw keeps the slots since then',
    {},
    'pause @60, ~65, resume, settle',
    { story: ['60 succeeded'] },
  ],
  [
    'that has ended by itself is not resumed once more',
    {},
    'pause @60, ~60, step, resume =, settle',
    { story: ['60 succeeded'] },
  ],
  ['switched off loses its end', {}, 'pause @90, off, +180', { story: [], state: 'paused', until: null }],
  [
    'switched off has its end back when that is undone',
    {},
    'pause @90, off, undo, +90, +30',
    { story: ['120 succeeded'] },
  ],
  ['without an end is not switched off once more', {}, 'pause, off =', { state: 'paused' }],
  ['is undone', {}, 'pause @300, undo', { state: 'active', next: 60, until: null }],
  ['that moved an end is undone to that end', {}, 'pause @90, pause @300, undo', { state: 'paused', until: 90 }],
  [
    'that moved an end which has passed is undone to no pause',
    {},
    'pause @90, pause @360, +120, undo',
    { state: 'active', next: 180 },
  ],
  ['is back with its end when the resume is undone', {}, 'pause @90, resume, undo', { state: 'paused', until: 90 }],
  ['is back with its end when switching on is undone', {}, 'pause @90, on, undo', { state: 'paused', until: 90 }],
];

const snoozing: readonly Life[] = [
  ['does not begin before its time', {}, 'snooze @30, +29.9', { story: ['30 snooze pending'], next: 60 }],
  ['begins at its time', {}, 'snooze @30, +30', { story: ['30 snooze succeeded'], next: 60 }],
  [
    'to the same end changes nothing, also where that instant was taken',
    {},
    'snooze @30, snooze @40, snooze @30, snooze @30 =',
    { story: ['30 snooze skipped replaced', '30 snooze pending', '40 snooze skipped replaced'] },
  ],
  [
    'runs a completed once-task once more, and leaves it completed',
    { schedule: once(1) },
    '+60, snooze @90, +30',
    { story: ['60 succeeded', '90 snooze succeeded'], state: 'completed', next: null },
  ],
  [
    'of a paused task runs in the pause, because a person asked for it',
    {},
    'pause, snooze @30, +60',
    { story: ['30 snooze succeeded'], state: 'paused' },
  ],
  ['is ended by a pause', {}, 'snooze @30, pause, +40', { story: ['30 snooze skipped paused'] }],
  ['is ended by a deletion', {}, 'snooze @30, delete, +40', { story: ['30 snooze cancelled deleted'] }],
  [
    'of a delay moves no slot of it',
    { schedule: delay },
    'snooze @30, +30',
    { story: ['30 snooze succeeded'], next: 60 },
  ],
  [
    'to come takes no place in the queue and holds no slot back',
    { schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' }, policies: { overlap: 'queue' } },
    'snooze @30, +1, +1',
    { story: ['1 succeeded', '2 succeeded', '30 snooze pending'] },
  ],
  ['is undone with a row', {}, 'snooze @30, undo, +40', { story: ['30 snooze skipped undone'] }],
  [
    'that was moved is undone to where it was',
    {},
    'snooze @30, snooze @40, undo',
    { story: ['30 snooze skipped replaced', '30 snooze pending', '40 snooze skipped undone'] },
  ],
  ['that has run is not undone', {}, 'snooze @30, +35, undo =', { story: ['30 snooze succeeded'] }],
];

const deleting: readonly Life[] = [
  [
    'at exactly a slot takes that slot up and cancels it',
    {},
    '~60, delete, settle',
    { story: ['60 cancelled deleted'] },
  ],
  [
    'keeps the pause of a task that is restored',
    {},
    'pause @180, delete, +60, restore',
    { state: 'paused', next: null, until: 180 },
  ],
  [
    'ends a pause whose end has passed by the time of the restoration, and makes up for nothing',
    catchUp,
    'pause @30, delete, +150, restore, settle',
    { story: [], state: 'active', next: 180 },
  ],
  [
    'leaves a task completed whose runs were used up',
    { policies: { max_runs: 1 } },
    '~60, delete, restore',
    { state: 'completed', next: null },
  ],
  ['is undone alone of a task that is gone', { title: 'T' }, 'title New, delete, undo', { title: 'New', next: 60 }],
  ['is undone, and then what was before it', { title: 'T' }, 'title New, delete, undo, undo', { title: 'T' }],
  ['is back when the restoration is undone', {}, 'delete, restore, undo', { state: 'deleted' }],
];

const undoing: readonly Life[] = [
  [
    'goes back step by step, and never over a step that was taken back',
    { title: 'One' },
    'title Two, title Three, undo, undo, undo !nothing_to_undo',
    { title: 'One' },
  ],
  ['finds nothing in runs', {}, 'run, undo !nothing_to_undo', {}],
  [
    'to a time that has passed is refused',
    { schedule: once(1) },
    'once 5, +120, undo !invalid_schedule',
    { next: 300 },
  ],
  ['keeps the slot that is due', {}, 'cron 30, ~30, undo, settle', { story: ['30 succeeded'], next: 60 }],
];

it.each([
  ...skipping.map((life) => ['skipping', ...life] as const),
  ...pausing.map((life) => ['a pause', ...life] as const),
  ...snoozing.map((life) => ['a snooze', ...life] as const),
  ...deleting.map((life) => ['a deletion', ...life] as const),
  ...undoing.map((life) => ['undoing', ...life] as const),
  ...editing.map((life) => ['an edit', ...life] as const),
  ...running.map((life) => ['a run by hand', ...life] as const),
])('%s %s', async (_subject, _sentence, input, life, end) => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly, ...input });
  await lived(p, task.id, life);
  const { state, nextAt, resumeAt, title } = await find(p, task);
  expect({ state, next: minutesOf(nextAt), until: minutesOf(resumeAt), title }).toMatchObject(
    Object.fromEntries(Object.entries(end).filter(([name]) => name !== 'story')),
  );
  if (end.story !== undefined) expect(await story(p, task)).toEqual(end.story);
});
