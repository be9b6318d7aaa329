import { describe, expect, it } from 'vitest';
import { inSteps, type Chore, type Done, type When } from '../../../src/app/housekeeping/chore.ts';
import { houseOf, tidy } from '../../support/chores.ts';
import { manualTime, memoryLog } from '../../support/fakes.ts';
import { day, hour, minute, start } from '../../support/pipeline.ts';

function aPlace(notes: Record<string, string> = {}) {
  const time = manualTime(start);
  const store = {
    readNote: async (key: string) => notes[key] ?? null,
    writeNote: async (key: string, value: string) => void (notes[key] = value),
  };
  return { time, log: memoryLog(), store, notes };
}

const one: Done = { taken: 1, more: false };
const nothing: Done = { taken: 0, more: false };

/** Does what the script says, step by step, and at its end begins it again; a text is the failure of a step. */
function aChore(name: string, when: When, script: readonly (Done | string)[] = [one]) {
  const done: number[] = [];
  let next = 0;
  const chore: Chore = {
    name,
    when,
    step: async (now) => {
      const result = script[next % script.length] ?? one;
      next += 1;
      if (typeof result === 'string') throw new Error(result);
      done.push(now);
      return result;
    },
  };
  return { done, chore };
}

const hourly = { every: hour };
const steps = (count: number): Done[] =>
  Array.from({ length: count }, (_none, at) => ({ taken: 1, more: at < count - 1 }));

describe('the housekeeper', () => {
  it('does one bounded step a turn, and the chores take turns', async () => {
    const p = aPlace();
    const order: string[] = [];
    const noted = (name: string, count: number): Chore => {
      const { chore } = aChore(name, hourly, steps(count));
      return { ...chore, step: async (now, limit) => (order.push(name), chore.step(now, limit)) };
    };
    const house = houseOf(p, [noted('a', 3), noted('b', 2)]);
    expect(await tidy(house, p.time)).toBe(5);
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(await house.nextAt(p.time.now())).toBeGreaterThanOrEqual(start + hour);
  });

  it('leaves time to everybody else between two steps, and more after a burst of them', async () => {
    const { time, ...p } = aPlace();
    const house = houseOf({ ...p, time }, [aChore('a', hourly, steps(60)).chore]);
    const pauses: number[] = [];
    while (pauses.length < 49) {
      await house.step(time.now(), 100);
      const pause = ((await house.nextAt(time.now())) ?? 0) - time.now();
      pauses.push(pause);
      await time.advance(pause - 1);
      expect(await house.step(time.now(), 100)).toEqual(nothing);
      await time.advance(1);
    }
    expect(pauses).toEqual([...Array.from({ length: 47 }, () => 10), 300, 10]);
  });

  it('makes no pause longer than it is, wherever the stopwatch stands between two milliseconds', async () => {
    const { time, ...p } = aPlace();
    let elapsed = 0.6;
    const house = houseOf({ ...p, time: { ...time, elapsed: () => elapsed } }, [aChore('a', hourly, steps(2)).chore]);
    await house.step(time.now(), 100);
    elapsed += 0.2;

    const pause = ((await house.nextAt(time.now())) ?? 0) - time.now();
    expect(pause).toBe(9);
    elapsed += pause;
    expect((await house.step(time.now(), 100)).taken).toBe(1);
  });

  it('does a chore as often as it says, while it is asked for, or after the pause that it wants', async () => {
    const p = aPlace();
    let wanted = false;
    const every = aChore('every', hourly);
    const asked = aChore('asked', { asked: () => wanted }, [nothing]);
    const soon = aChore('soon', hourly, [{ ...one, afterMs: minute }, one]);
    const house = houseOf(p, [every.chore, asked.chore, soon.chore]);
    for (let passed = 0; passed <= 60; passed += 1) {
      await tidy(house, p.time, 5000);
      wanted = passed >= 59;
      await p.time.advance(minute - (p.time.now() % minute));
    }
    expect([every, soon].map(({ done }) => done.map((at) => Math.floor((at - start) / minute)))).toEqual([
      [0, 60],
      [0, 1],
    ]);
    // Asked for, and nothing to be done: it rests instead of being asked again and again.
    expect(asked.done).toHaveLength(1);
    expect(await houseOf(p, [aChore('idle', { asked: () => false }).chore]).nextAt(start)).toBeNull();
  });

  it('logs a chore that fails and tries it later and later, while the others go on', async () => {
    const p = aPlace();
    const good = aChore('good', hourly, steps(2));
    const bad = aChore('bad', hourly, ['broken', 'broken', one]);
    const house = houseOf(p, [bad.chore, good.chore]);
    await tidy(house, p.time);
    expect([good.done.length, bad.done.length]).toEqual([2, 0]);
    expect(await house.nextAt(p.time.now())).toBe(start + minute);
    await p.time.advance(start + minute - p.time.now());
    await tidy(house, p.time);
    expect(await house.nextAt(p.time.now())).toBe(start + 3 * minute);
    await p.time.advance(2 * minute);
    await tidy(house, p.time);
    expect(bad.done).toEqual([start + 3 * minute]);
    expect(p.log.lines.map(({ event, facts }) => [event, facts['failures']])).toEqual([
      // A fault that goes on is told once.
      ['chore_failed', 1],
      ['chore_recovered', 2],
    ]);
  });

  it('takes a night of which nobody can say when it was done last for a failure', async () => {
    const p = aPlace();
    const store = { ...p.store, readNote: () => Promise.reject(new Error('the store is away')) };
    const good = aChore('good', hourly);
    await tidy(houseOf({ ...p, store }, [aChore('broken', { nightly: 0 }).chore, good.chore]), p.time);
    expect(good.done).toHaveLength(1);
    expect(p.log.lines).toMatchObject([
      { event: 'chore_failed', facts: { chore: 'broken', error: 'the store is away' } },
    ]);
  });

  it('waits for no chore that works beside the others, and begins no second step of it', async () => {
    const p = aPlace();
    const begun: (() => void)[] = [];
    const slow: Chore = {
      name: 'slow',
      when: hourly,
      beside: true,
      step: () => new Promise((resolve) => begun.push(() => resolve(one))),
    };
    const good = aChore('good', hourly, steps(3));
    const house = houseOf(p, [slow, good.chore]);
    await tidy(house, p.time);
    await p.time.advance(2 * hour);
    await tidy(house, p.time);
    expect([begun.length, good.done.length]).toEqual([1, 6]);
    begun[0]?.();
    await p.time.advance(0);
    expect(await house.nextAt(p.time.now())).toBeGreaterThan(p.time.now() + 20_000);
    await p.time.advance(hour);
    await tidy(house, p.time);
    expect(begun).toHaveLength(2);
  });

  it('minds no wall clock that is set back, neither between steps nor in a rest', async () => {
    const p = aPlace();
    const house = houseOf(p, [aChore('bad', hourly, ['broken', one]).chore, aChore('good', hourly).chore]);
    await tidy(house, p.time);
    p.time.setWall(start - 30 * day);
    expect(await house.nextAt(p.time.now())).toBeLessThanOrEqual(p.time.now() + minute);
    await p.time.advance(minute);
    expect(await tidy(house, p.time)).toBe(1);
  });
});

describe('work of the night', () => {
  const night = Date.UTC(2026, 10, 19, 3);

  /** Days by the hour; answers the hours, counted from the start, at which something was done. */
  async function pass(p: ReturnType<typeof aPlace>, hours: number, script: readonly (Done | string)[] = [one]) {
    const { done, chore } = aChore('tidy', { nightly: 0 }, script);
    const house = houseOf(p, [chore]);
    for (let passed = 0; passed < hours; passed += 1) {
      await tidy(house, p.time);
      await p.time.advance(hour - (p.time.now() % hour));
    }
    return done.map((at) => Math.floor((at - start) / hour));
  }

  it('waits for the first night of a new database, and is done once in each', async () => {
    expect(await pass(aPlace(), 48)).toEqual([18, 42]);
  });

  it('is neither repeated nor forgotten by a restart', async () => {
    const p = aPlace();
    expect(await pass(p, 12)).toEqual([]);
    await p.time.advance(10 * hour);
    expect(await pass(p, 2)).toEqual([22]);
    expect(await pass(p, 20)).toEqual([42]);
  });

  it('counts as done only when nothing is left, so a restart in the middle begins it again', async () => {
    const p = aPlace();
    await pass(p, 1);
    p.time.setWall(night);
    await pass(p, 1, [{ taken: 1, more: true, afterMs: day }]);
    expect(await pass(p, 1)).toEqual([19]);
  });

  it.each([
    ['does not wait for years after a clock that was wrong', Date.UTC(2099, 0, 1)],
    ['is done in the coming night when the clock was set back since the last one', night + 300 * day],
  ])('%s', async (_what, finishedAt) => {
    expect(await pass(aPlace({ 'chore:tidy': String(finishedAt) }), 24)).toEqual([18]);
  });
});

describe('long work in steps', () => {
  it('goes on where it was, and begins from its front after a failure', async () => {
    const log: string[] = [];
    let failing = true;
    const step = inSteps(async function* () {
      for (const page of ['a', 'b']) {
        if (page === 'b' && failing) throw new Error('away');
        log.push(page);
        yield 3;
      }
    });
    expect(await step(0, 1)).toEqual({ taken: 3, more: true });
    await expect(step(0, 1)).rejects.toThrow('away');
    failing = false;
    const results = [await step(0, 1), await step(0, 1), await step(0, 1)];
    expect([log, results.map(({ more }) => more)]).toEqual([
      ['a', 'a', 'b'],
      [true, true, false],
    ]);
  });
});
