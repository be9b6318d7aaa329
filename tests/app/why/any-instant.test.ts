import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Answer } from '../../../src/app/why/answers.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { Task } from '../../../src/domain/task.ts';
import { actor, aPipeline, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { askAt, story } from './asking.ts';

interface Life {
  pipeline: Pipeline;
  readonly task: Task;
}

type Move = (life: Life) => Promise<unknown>;

const by = ({ task }: Life) => ({ taskId: task.id, actor }) as const;
const crons = ['0 * * * *', '*/7 * * * *', '30 2 * * *', '* * * * *', '15 */3 * * *'];
const cron = (index: number) =>
  ({ kind: 'cron', cron: crons[index] ?? '0 * * * *', timezone: 'Europe/Madrid' }) as const;

/** What a refusal refuses has not happened, and needs no answer. */
async function tried(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });
}

const span = fc.integer({ min: 1, max: 20 * 60 }).map((tens) => tens * 10_000);
const chosen = {
  missed: fc.constantFrom('skip', 'once', 'all', 'ask'),
  overlap: fc.constantFrom('skip', 'queue', 'replace', 'allow'),
  grace: fc.constantFrom('PT0S', 'PT1M', 'PT2H'),
  auto_pause: fc.constantFrom(0, 3),
} as const;
const bounds = { max_runs: fc.integer({ min: 1, max: 30 }), until: fc.constant('2026-11-19T03:00:00Z') } as const;
const policies = fc.oneof(
  { weight: 6, arbitrary: fc.record(chosen, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.record({ ...chosen, ...bounds }, { requiredKeys: [] }) },
);

const moves = fc.oneof(
  {
    weight: 6,
    arbitrary: span.map(
      (ms): Move =>
        ({ pipeline }) =>
          pipeline.pass(ms),
    ),
  },
  {
    weight: 2,
    arbitrary: span.map((ms): Move => async (life) => {
      await life.pipeline.time.advance(ms * 3);
      life.pipeline = life.pipeline.restart();
      await life.pipeline.settle();
    }),
  },
  // The clock is set back, to the beginning at the earliest.
  span.map((ms): Move => async ({ pipeline: { time, rooms } }) => {
    time.setWall(Math.max(start, time.now() - ms));
    await rooms.clockWatch.check(100);
  }),
  // The clock is ahead for a while, and is put right.
  fc.tuple(span, span).map(([ahead, ms]): Move => async ({ pipeline }) => {
    pipeline.time.setWall(pipeline.time.now() + ahead);
    await pipeline.pass(ms);
    pipeline.time.setWall(pipeline.time.now() - ahead);
    while (await pipeline.rooms.clockWatch.check(100));
  }),
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.pause(by(life), null)),
  span.map(
    (ms): Move =>
      (life) =>
        life.pipeline.rooms.tasks.pause(by(life), life.pipeline.time.now() + ms),
  ),
  { weight: 2, arbitrary: fc.constant<Move>((life) => life.pipeline.rooms.tasks.resume(by(life))) },
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.delete(by(life))),
  { weight: 3, arbitrary: fc.constant<Move>((life) => life.pipeline.rooms.tasks.restore(by(life))) },
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.undo(by(life), null)),
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.runNow(by(life))),
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.cancel(by(life))),
  fc.constant<Move>((life) => life.pipeline.rooms.tasks.unskip(by(life))),
  fc.boolean().map(
    (run): Move =>
      (life) =>
        life.pipeline.rooms.tasks.answer(by(life), run ? 'all' : 'none'),
  ),
  fc.integer({ min: 1, max: 4 }).map(
    (count): Move =>
      (life) =>
        life.pipeline.rooms.tasks.skip(by(life), { count, from: null }),
  ),
  span.map(
    (ms): Move =>
      (life) =>
        life.pipeline.rooms.tasks.snooze(by(life), { forMs: ms }),
  ),
  fc.tuple(fc.integer({ min: 0, max: 4 }), policies).map(
    ([index, chosen]): Move =>
      (life) =>
        life.pipeline.rooms.tasks.edit(by(life), { schedule: cron(index), policies: chosen }),
  ),
);

const history = fc.record({
  schedule: fc.integer({ min: 0, max: 4 }),
  policies,
  work: fc.constantFrom({}, { delay_ms: 45_000 }, { fail_attempts: 1 }, { fail_attempts: 5 }),
  moves: fc.array(moves, { minLength: 1, maxLength: 14 }),
  /** How many thousandths of the way from before the beginning to what lies ahead, and to the full minute, or hour. */
  instants: fc.array(fc.tuple(fc.noBias(fc.nat({ max: 1000 })), fc.constantFrom(minute, 7 * minute, hour)), {
    minLength: 5,
    maxLength: 15,
  }),
});

/** A slot that nobody accounts for would be a lost one, and none of these histories may lose any. */
function isHonest({ decision, cause, line }: Answer): boolean {
  return (decision !== 'unrecorded' || cause === 'clock_set_back') && cause !== '' && /^[A-Z][^\n]*[^.]\.$/.test(line);
}

it('every instant of every history has an honest answer, alone and in the whole story', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      const pipeline = await aPipeline();
      const action = { kind: 'echo', ...given.work };
      const retry = { attempts: 2, base: 'PT10S' };
      const task = await pipeline.create({
        action,
        schedule: cron(given.schedule),
        policies: { ...given.policies, retry },
      });
      const life: Life = { pipeline, task };
      for (const move of given.moves) await tried(move(life));
      const now = life.pipeline.time.now();

      for (const [share, step] of given.instants) {
        const from = start - hour;
        const at = Math.floor((from + (share / 1000) * (now + 3 * hour - from)) / step) * step;
        const answers = await askAt(life.pipeline, task, at);
        expect(answers.length).toBeGreaterThan(0);
        expect(answers.filter((answer) => !isHonest(answer))).toEqual([]);
        const slots = answers.flatMap(({ slot }) => slot ?? []);
        expect(new Set(slots).size).toBe(slots.length);
      }
      const window = { from: start - hour, to: now + 2 * hour };
      const whole = await story(life.pipeline, task, { ...window, limit: 200 });
      expect(whole.filter((answer) => !isHonest(answer))).toEqual([]);
      expect(await story(life.pipeline, task, { ...window, limit: 7 })).toEqual(whole);
      const told = whole.flatMap(({ evidence }) => evidence.taskRunId ?? []);
      const kept = await life.pipeline.history(task.id);
      const within = kept.filter(({ slotAt }) => slotAt <= window.to).map(({ id }) => id);
      expect(told.slice(-within.length)).toEqual(within);
      // What the story says about a slot is what its instant says.
      for (const answer of whole.slice(-10)) {
        if (answer.at !== null) expect(await askAt(life.pipeline, task, answer.at)).toContainEqual(answer);
      }
      life.pipeline.database.close();
    }),
    { numRuns: 50, seed: 11 },
  );
});
