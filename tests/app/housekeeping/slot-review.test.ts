import { describe, expect, it } from 'vitest';
import type { Opinion, SlotQuestion } from '../../../src/app/housekeeping/second-opinion.ts';
import { createSlotReview, type SlotEngine, type SlotReview } from '../../../src/app/housekeeping/slot-review.ts';
import { nextSlot, nextSlots } from '../../../src/domain/schedule/schedule.ts';
import { toWall } from '../../../src/domain/schedule/time/zone.ts';
import type { Task } from '../../../src/domain/task.ts';
import { tidy } from '../../support/chores.ts';
import {
  actor,
  anOwner,
  aPipeline,
  day,
  hour,
  minute,
  start,
  type Pipeline,
  withTask,
} from '../../support/pipeline.ts';

const daily = { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } as const;

/** A library that is always right. */
function rightAbout({ schedule, after, count, upTo }: SlotQuestion): Opinion {
  return { is: 'slots', slots: nextSlots(schedule, after, { count, upTo }), unsure: [] };
}

interface Review extends SlotReview {
  readonly p: Pipeline;
  readonly asked: SlotQuestion[];
  readonly counted: string[];
  /** Looks at what waits. */
  settle(): Promise<void>;
  words(): Promise<unknown[]>;
}

interface Given {
  readonly engine?: Partial<SlotEngine>;
  readonly answer?: (question: SlotQuestion) => Opinion;
}

function reviewOf(p: Pipeline, { engine = {}, answer = rightAbout }: Given = {}): Review {
  const asked: SlotQuestion[] = [];
  const counted: string[] = [];
  const { time, store, log } = p;
  const review = createSlotReview({
    store,
    opinion: {
      slotsOf: async (question) => {
        asked.push(question);
        return answer(question);
      },
    },
    engine: { nextSlot, toWall, ...engine },
    clock: time,
    timer: time,
    bell: { ring: () => undefined },
    meter: { count: (name, labels) => counted.push([name, ...Object.values(labels)].join(' ')), took: () => undefined },
    log,
  });
  return {
    ...review,
    p,
    asked,
    counted,
    settle: async () => {
      for (let more = true; more;) ({ more } = await review.chores[0].step(time.now(), 100));
    },
    words: async () => {
      await p.rooms.alarms.look(time.now());
      return p.database
        .prepare<[], { address: string; content: string }>(
          `select c.address, d.content from deliveries d join chats c on c.id = d.chat_id where d.kind = 'answer' order by d.id`,
        )
        .all()
        .map(({ address, content }) => ({ address, ...(JSON.parse(content) as object) }));
    },
  };
}

/** A place whose owner has a private chat. */
async function aPlace(): Promise<Pipeline> {
  const p = await aPipeline();
  await anOwner(p);
  return p;
}

async function lookAt(review: Review, task: Task): Promise<void> {
  review.look(task.id);
  await review.settle();
}

const lines = ({ p }: Pick<Review, 'p'>, event: string) => p.log.lines.filter((line) => line.event === event);
const iso = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString());

/** Faults of an engine, and what of it the owner is shown: our slots, and those of the library. */
const noons = [3 * hour, 3 * hour + day, 3 * hour + 2 * day, 3 * hour + 3 * day].map((ms) => start + ms);
const [first = 0, second = 0, third = 0, fourth = 0] = noons;
const faults: readonly (readonly [string, SlotEngine['nextSlot'], number[], number[]])[] = [
  [
    'shifts every slot by an hour',
    (schedule, after) => (nextSlot(schedule, after - hour) ?? 0) + hour,
    [first + hour, second + hour, third + hour],
    [first, second, third],
  ],
  [
    'loses a slot',
    (schedule, after) => nextSlot(schedule, after === first ? second : after),
    [third, fourth, fourth + day],
    [second, third, fourth],
  ],
  [
    'invents a slot',
    (schedule, after) => (after === first ? first + minute : nextSlot(schedule, after)),
    [first + minute, second, third],
    [second, third, fourth],
  ],
  [
    'finds no end but its own',
    (schedule, after) => (after >= second ? null : nextSlot(schedule, after)),
    [],
    [third, fourth, fourth + day],
  ],
  ['finds nothing at all', () => null, [], [first, second, third]],
];

describe('a fault of our engine', () => {
  it.each(faults)('that %s is a finding, counted, and told to the owner once', async (_name, broken, ours, theirs) => {
    const p = await aPlace();
    const task = await p.create({ schedule: daily, title: 'Lunch' });
    const review = reviewOf(p, { engine: { nextSlot: broken } });
    await lookAt(review, task);
    await lookAt(review, task);
    expect(review.counted).toEqual(['second_opinions_total cron differs', 'second_opinions_total cron differs']);
    const { findings } = await p.rooms.audit.run();
    expect(findings).toMatchObject([{ check: 'slots_differ', count: 1, examples: [task.id] }]);
    const told = (slots: readonly number[]) => (slots.length === 0 ? 'no more' : iso(slots).join(', '));
    expect(findings[0]?.sentence).toContain(`Task #1 (${task.id}): ${told(ours)} here, ${told(theirs)} by croner.`);
    const facts = { taskId: task.id, number: 1, title: 'Lunch', timezone: 'UTC', library: 'croner', ours, theirs };
    expect(await review.words()).toMatchObject([
      { address: '1001', view: 'alarm', over: null, facts: { cause: 'second_opinion', ...facts } },
    ]);
    expect(lines(review, 'slots_differ')).toMatchObject([
      { level: 'warn', facts: { task_id: task.id, library: 'croner', ours: iso(ours), theirs: iso(theirs) } },
    ]);
    const { events } = await p.store.readEvents({ after: null, taskId: null, kind: 'audit.finding', limit: 9 });
    expect(events.length).toBeGreaterThan(0);
  });

  it('in the reading of the clock is seen in a task that runs once', async () => {
    const p = await aPlace();
    const onceAt = start + day;
    const schedule = { kind: 'once', once_at: new Date(onceAt).toISOString(), timezone: 'Europe/Madrid' } as const;
    const task = await p.create({ schedule });
    const answer = ({ shown }: SlotQuestion): Opinion => ({ is: 'slots', slots: [(shown ?? 0) - hour], unsure: [] });
    const healthy = reviewOf(p, { answer });
    await lookAt(healthy, task);
    expect(healthy.counted).toEqual(['second_opinions_total once agrees']);
    const broken = reviewOf(p, { answer, engine: { toWall: (_zone, at) => at + 2 * hour } });
    await lookAt(broken, task);
    expect((await p.rooms.audit.run()).findings[0]?.sentence).toContain(
      `${iso([onceAt]).join()} here, ${iso([onceAt + hour]).join()} by luxon.`,
    );
  });

  it('is not told again after a restart, and is told for another schedule', async () => {
    const p = await aPlace();
    const task = await p.create({ schedule: daily });
    const broken = { engine: { nextSlot: () => null } };
    await lookAt(reviewOf(p, broken), task);
    const again = reviewOf(p, broken);
    await lookAt(again, task);
    expect(await again.words()).toHaveLength(1);
    const { task: edited } = await p.rooms.tasks.edit(
      { taskId: task.id, actor },
      { schedule: { ...daily, cron: '5 12 * * *' } },
    );
    await lookAt(again, edited);
    expect(await again.words()).toHaveLength(2);
  });

  it('is no finding any more when the answers agree, or the task is gone', async () => {
    const p = await aPlace();
    const [kept, gone] = [await p.create({ schedule: daily }), await p.create({ schedule: daily })];
    const broken = reviewOf(p, { engine: { nextSlot: () => null } });
    await lookAt(broken, kept);
    await lookAt(broken, gone);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slots_differ', count: 2 }]);
    await p.rooms.tasks.delete({ taskId: gone.id, actor });
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ count: 1, examples: [kept.id] }]);
    await lookAt(reviewOf(p), kept);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });

  it('is kept beside another one that is found at the same moment', async () => {
    const p = await aPlace();
    const review = reviewOf(p, { engine: { nextSlot: () => null } });
    for (let made = 0; made < 2; made += 1) review.look((await p.create({ schedule: daily })).id);
    const [fresh] = review.chores;
    await Promise.all([fresh.step(p.time.now(), 100), fresh.step(p.time.now(), 100)]);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slots_differ', count: 2 }]);
  });

  it('is in the log alone where no owner has a private chat', async () => {
    const { p, task } = await withTask({ schedule: daily });
    const review = reviewOf(p, { engine: { nextSlot: () => null } });
    await lookAt(review, task);
    expect(await review.words()).toEqual([]);
    expect(lines(review, 'slots_differ')).toHaveLength(1);
  });

  it('in hundreds of tasks does not flood the owner', async () => {
    const p = await aPlace();
    const review = reviewOf(p, { engine: { nextSlot: () => null } });
    for (let made = 0; made < 60; made += 1) await lookAt(review, await p.create({ schedule: daily }));
    expect(await review.words()).toHaveLength(10);
    expect((await p.rooms.audit.run()).findings).toMatchObject([{ check: 'slots_differ', count: 50 }]);
  });
});

describe('a second opinion', () => {
  it('that agrees is counted, and nothing else', async () => {
    const p = await aPlace();
    const review = reviewOf(p);
    await lookAt(review, await p.create({ schedule: daily }));
    expect(review.asked[0]).toMatchObject({
      after: start,
      count: 12,
      ours: noons.concat(review.asked[0]?.ours.slice(4) ?? []),
    });
    expect(review.counted).toEqual(['second_opinions_total cron agrees']);
    expect((await p.rooms.audit.run()).findings).toEqual([]);
    expect(await review.words()).toEqual([]);
    expect(lines(review, 'slots_differ')).toEqual([]);
  });

  it.each(['known_fault', 'clock_change', 'undecided', 'refused', 'away', 'timeout', 'died'] as const)(
    'that is none (%s) is counted, and is never a difference',
    async (reason) => {
      const p = await aPlace();
      const review = reviewOf(p, { answer: () => ({ is: 'none', reason }), engine: { nextSlot: () => null } });
      await lookAt(review, await p.create({ schedule: daily }));
      expect(review.counted).toEqual([`second_opinions_total cron ${reason}`]);
      expect((await p.rooms.audit.run()).findings).toEqual([]);
      const told = reason === 'timeout' || reason === 'died' ? 1 : 0;
      expect(lines(review, 'second_opinion_missing')).toHaveLength(told);
    },
  );

  it('leaves out the instants of which it is not sure', async () => {
    const p = await aPlace();
    const answer = (question: SlotQuestion): Opinion => ({
      is: 'slots',
      slots: nextSlots(question.schedule, question.after, { count: 12 }).map((at) => (at === second ? at + hour : at)),
      unsure: [second, second + hour],
    });
    const review = reviewOf(p, { answer });
    await lookAt(review, await p.create({ schedule: daily }));
    expect(review.counted).toEqual(['second_opinions_total cron agrees']);
  });

  it('is compared only as far as both answers reach', async () => {
    const p = await aPlace();
    const answer = ({ schedule, after, upTo }: SlotQuestion): Opinion => ({
      is: 'slots',
      slots: [...nextSlots(schedule, after, { count: 11, upTo }), start + 365 * day],
      unsure: [start + 365 * day],
    });
    const review = reviewOf(p, { answer });
    await lookAt(review, await p.create({ schedule: daily, policies: { until: new Date(third).toISOString() } }));
    expect(review.asked[0]?.ours).toEqual([first, second, third]);
    expect(review.counted).toEqual(['second_opinions_total cron agrees']);
  });

  it('is asked about the first slot alone of a delay after completion', async () => {
    const p = await aPlace();
    const review = reviewOf(p);
    const schedule = { kind: 'interval', interval: 'PT2H', from: 'completion', timezone: 'UTC' } as const;
    await p.time.advance(minute);
    await lookAt(review, await p.create({ schedule }));
    expect(review.asked).toMatchObject([{ count: 1, ours: [start + minute + 2 * hour] }]);
  });
});

describe('the review', () => {
  it('looks at new and edited schedules after the commit, and delays neither them nor another chore', async () => {
    const asked: SlotQuestion[] = [];
    const opinion = {
      slotsOf: (question: SlotQuestion) => {
        asked.push(question);
        return new Promise<Opinion>(() => undefined);
      },
    };
    const meter = { count: () => undefined, took: () => undefined };
    const p = await aPipeline({ secondOpinion: { opinion, meter } });
    const task = await p.create({ schedule: daily });
    await tidy(p.rooms.housekeeper, p.time);
    for (let slot = 0; slot < 12; slot += 1) await p.time.yield();
    expect(asked).toHaveLength(1);
    // The answer never comes, and everything goes on.
    const cron = '0 13 * * *';
    const { task: edited } = await p.rooms.tasks.edit({ taskId: task.id, actor }, { schedule: { ...daily, cron } });
    expect(edited.schedule).toMatchObject({ cron });
    await p.pass(4 * hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    await p.time.advance(day);
    await tidy(p.rooms.housekeeper, p.time);
    expect(lines({ p }, 'retention')).toHaveLength(1);
  });

  it.each([
    ['a creation', async () => undefined, 1],
    [
      'an edit of the schedule',
      async (p: Pipeline, taskId: string) =>
        p.rooms.tasks.edit({ taskId, actor }, { schedule: { ...daily, cron: '1 1 * * *' } }),
      2,
    ],
    [
      'an edit of something else',
      async (p: Pipeline, taskId: string) => p.rooms.tasks.edit({ taskId, actor }, { title: 'Tea' }),
      1,
    ],
    [
      'an edit that is taken back',
      async (p: Pipeline, taskId: string) => {
        await p.rooms.tasks.edit({ taskId, actor }, { schedule: { ...daily, cron: '1 1 * * *' } });
        await tidy(p.rooms.housekeeper, p.time);
        await p.time.advance(minute);
        await p.rooms.tasks.undo({ taskId, actor }, null);
      },
      3,
    ],
  ] as const)('is rung by %s', async (_name, act, times) => {
    const asked: string[] = [];
    const slotsOf = async (question: SlotQuestion) => {
      asked.push(JSON.stringify(question.schedule));
      return rightAbout(question);
    };
    const meter = { count: () => undefined, took: () => undefined };
    const p = await aPipeline({ secondOpinion: { opinion: { slotsOf }, meter } });
    const task = await p.create({ schedule: daily });
    for (let turn = 0; turn < 2; turn += 1) {
      for (let step = 0; step < 20; step += 1) {
        await p.rooms.housekeeper.step(p.time.now(), 100);
        // A question takes as many turns as it has slots.
        for (let slot = 0; slot < 12; slot += 1) await p.time.yield();
        await p.time.advance(10);
      }
      if (turn === 0) await act(p, task.id);
    }
    expect(asked).toHaveLength(times);
  });

  it('drops the oldest when too many wait, and counts it', async () => {
    const p = await aPlace();
    const review = reviewOf(p);
    const task = await p.create({ schedule: daily });
    review.look(task.id);
    for (let waiting = 0; waiting < 256; waiting += 1) review.look(`task-${waiting}`);
    expect(review.counted).toEqual(['second_opinions_dropped_total']);
    await review.settle();
    expect(review.asked).toEqual([]);
  });

  it('looks at all active tasks in the night, some in each step', async () => {
    const p = await aPlace();
    const review = reviewOf(p);
    for (let made = 0; made < 45; made += 1) await p.create({ schedule: { ...daily, cron: `${made} 12 * * *` } });
    const paused = await p.create({ schedule: { ...daily, cron: '59 12 * * *' } });
    await p.rooms.tasks.pause({ taskId: paused.id, actor }, null);
    const [, night] = review.chores;
    expect(night).toMatchObject({ when: { nightly: 10 * minute }, beside: true });
    let steps = 0;
    for (let more = true; more; steps += 1) ({ more } = await night.step(p.time.now(), 100));
    expect(steps).toBeGreaterThanOrEqual(3);
    expect(new Set(review.asked.map(({ schedule }) => JSON.stringify(schedule))).size).toBe(45);
    expect(review.asked).toHaveLength(45);
  });
});
