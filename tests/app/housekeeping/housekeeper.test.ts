import { describe, expect, it } from 'vitest';
import { type Chore, nightly } from '../../../src/app/housekeeping/chore.ts';
import { createHousekeeper } from '../../../src/app/housekeeping/housekeeper.ts';
import { memoryLog } from '../../support/fakes.ts';
import { day, hour, minute, start } from '../../support/pipeline.ts';

interface Scripted extends Chore {
  readonly done: number[];
}

/** Does so many steps, then is due again an hour later; throws as often as told. */
function aChore(name: string, steps: number, throws = 0): Scripted {
  const done: number[] = [];
  let left = steps;
  let failing = throws;
  let dueAt = start;
  return {
    name,
    done,
    step: async (now) => {
      if (failing > 0) {
        failing -= 1;
        throw new Error(`${name} is broken`);
      }
      done.push(now);
      left -= 1;
      if (left > 0) return { taken: 1, more: true };
      left = steps;
      dueAt = now + hour;
      return { taken: 1, more: false };
    },
    nextAt: async () => dueAt,
  };
}

/** Lets it do what is due, from pause to pause, until nothing is due for a second. Answers the steps that did something. */
async function turn(housekeeper: ReturnType<typeof createHousekeeper>, from: number): Promise<number> {
  let worked = 0;
  for (let now: number | null = from, turns = 0; now !== null && now < from + 1000; turns += 1) {
    if (turns > 1000) throw new Error('the housekeeper does not come to rest');
    worked += (await housekeeper.step(now, 100)).taken;
    now = await housekeeper.nextAt(now);
  }
  return worked;
}

describe('the housekeeper', () => {
  it('does one bounded step a turn, and the chores take turns', async () => {
    const order: string[] = [];
    const noted = (chore: Scripted): Chore => ({
      ...chore,
      step: (now, limit) => {
        order.push(chore.name);
        return chore.step(now, limit);
      },
    });
    const housekeeper = createHousekeeper({ log: memoryLog() }, [noted(aChore('a', 3)), noted(aChore('b', 2))]);
    await turn(housekeeper, start);
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(await housekeeper.nextAt(start + 1000)).toBeGreaterThanOrEqual(start + hour);
  });

  it('leaves time to everybody else between two steps, and more after a burst of them', async () => {
    const housekeeper = createHousekeeper({ log: memoryLog() }, [aChore('a', 60)]);
    const pauses: (number | null)[] = [];
    for (let now: number | null = start; pauses.length < 49;) {
      await housekeeper.step(now, 100);
      const next: number | null = await housekeeper.nextAt(now);
      pauses.push((next ?? 0) - now);
      expect(await housekeeper.step(now + 1, 100)).toEqual({ taken: 0, more: false });
      now = next ?? 0;
    }
    expect(pauses).toEqual([...Array.from({ length: 47 }, () => 10), 300, 10]);
  });

  it('sleeps until the next chore is due, and for ever without one', async () => {
    const housekeeper = createHousekeeper({ log: memoryLog() }, [aChore('a', 1)]);
    expect(await housekeeper.step(start - 1, 100)).toEqual({ taken: 0, more: false });
    expect(await housekeeper.nextAt(start - 1)).toBe(start);
    const idle = createHousekeeper({ log: memoryLog() }, [{ ...aChore('a', 1), nextAt: async () => null }]);
    expect([await idle.step(start, 100), await idle.nextAt(start)]).toEqual([{ taken: 0, more: false }, null]);
  });

  it('logs a chore that fails and tries it later and later, while the others go on', async () => {
    const log = memoryLog();
    const good = aChore('good', 2);
    const bad = aChore('bad', 1, 2);
    const housekeeper = createHousekeeper({ log }, [bad, good]);
    await turn(housekeeper, start);
    expect([good.done.length, bad.done.length]).toEqual([2, 0]);
    expect(await housekeeper.nextAt(start)).toBe(start + minute);
    await turn(housekeeper, start + minute);
    expect(await housekeeper.nextAt(start + minute)).toBe(start + 3 * minute);
    await turn(housekeeper, start + 3 * minute);
    expect(bad.done).toEqual([start + 3 * minute]);
    expect(log.lines.map(({ event, facts }) => [event, facts['failures']])).toEqual([
      ['chore_failed', 1],
      ['chore_failed', 2],
      ['chore_recovered', 2],
    ]);
  });

  it('takes a chore that cannot even say when it is due for one that failed', async () => {
    const log = memoryLog();
    const broken: Chore = { ...aChore('broken', 1), nextAt: () => Promise.reject(new Error('the store is away')) };
    const good = aChore('good', 1);
    const housekeeper = createHousekeeper({ log }, [broken, good]);
    await turn(housekeeper, start);
    expect(good.done).toHaveLength(1);
    expect(log.lines).toMatchObject([
      { event: 'chore_failed', facts: { chore: 'broken', error: 'the store is away' } },
    ]);
  });

  it('does not spin on a chore that is due and has nothing to do', async () => {
    let asked = 0;
    const waiting: Chore = {
      name: 'waiting',
      step: async () => {
        asked += 1;
        return { taken: 0, more: false };
      },
      nextAt: async () => start,
    };
    const housekeeper = createHousekeeper({ log: memoryLog() }, [waiting]);
    await turn(housekeeper, start);
    expect(asked).toBe(1);
    expect(await housekeeper.nextAt(start)).toBe(start + 10_000);
  });

  it('goes on a breath after the clock was set back, however far', async () => {
    const housekeeper = createHousekeeper({ log: memoryLog() }, [{ ...aChore('a', 5), nextAt: async () => 0 }]);
    await housekeeper.step(start, 100);
    const back = start - hour;
    expect(await housekeeper.nextAt(back)).toBe(back + 300);
    expect(await housekeeper.nextAt(back + 200)).toBe(back + 300);
    expect((await housekeeper.step(back + 300, 100)).taken).toBe(1);
  });

  it('does not let a rest outlive a clock that was set back', async () => {
    const housekeeper = createHousekeeper({ log: memoryLog() }, [aChore('bad', 1, 1)]);
    await turn(housekeeper, start);
    const back = start - 30 * day;
    expect(await housekeeper.nextAt(back)).toBe(back + minute);
    expect(await housekeeper.nextAt(back + 1000)).toBe(back + minute);
  });
});

function aNote() {
  const notes = new Map<string, string>();
  return {
    notes,
    store: {
      readNote: async (key: string) => notes.get(key) ?? null,
      writeNote: async (key: string, value: string) => void notes.set(key, value),
    },
  };
}

describe('work of the night', () => {
  const night = Date.UTC(2026, 10, 19, 3);

  const aNight = (store: Parameters<typeof nightly>[0]['store'], steps = 1) => {
    const done: number[] = [];
    const step = async (now: number) => {
      done.push(now);
      return { taken: 1, more: done.length % steps !== 0 };
    };
    return { done, chore: nightly({ store }, { name: 'tidy', afterMs: 0, step }) };
  };

  it('waits for the first night of a new database, and runs once in each', async () => {
    const { store } = aNote();
    const { done, chore } = aNight(store);
    expect(await chore.nextAt(start)).toBe(night);
    expect(await chore.step(night - 1, 1)).toEqual({ taken: 0, more: false });
    await chore.step(night, 1);
    expect(await chore.nextAt(night)).toBe(night + day);
    await chore.step(night + hour, 1);
    expect(done).toEqual([night]);
  });

  it('is neither repeated nor forgotten by a restart', async () => {
    const { store } = aNote();
    await aNight(store).chore.nextAt(start);
    const second = aNight(store);
    expect(await second.chore.nextAt(night + 5 * hour)).toBe(night);
    await second.chore.step(night + 5 * hour, 1);
    const third = aNight(store);
    expect(await third.chore.nextAt(night + 6 * hour)).toBe(night + day);
    expect([second.done, third.done]).toEqual([[night + 5 * hour], []]);
  });

  it('counts as done only when nothing is left, so a restart in the middle begins it again', async () => {
    const { store } = aNote();
    const first = aNight(store, 3);
    await first.chore.nextAt(start);
    expect((await first.chore.step(night, 1)).more).toBe(true);
    expect(await aNight(store).chore.nextAt(night + minute)).toBe(night);
  });

  it('does not wait for years after a clock that was wrong', async () => {
    const { store } = aNote();
    await store.writeNote('chore:tidy', String(Date.UTC(2099, 0, 1)));
    const { done, chore } = aNight(store);
    expect(await chore.nextAt(start)).toBe(night);
    expect(await chore.nextAt(night)).toBe(night);
    await chore.step(night, 1);
    expect([done, await chore.nextAt(night + 1)]).toEqual([[night], night + day]);
  });

  it('is done in the coming night when the clock was set back since the last one, also by a process that starts later', async () => {
    const { store } = aNote();
    const { done, chore } = aNight(store);
    await chore.nextAt(start);
    await chore.step(night, 1);
    const back = night - 300 * day;
    expect(await chore.nextAt(back - hour)).toBe(back);
    const second = aNight(store);
    expect(await second.chore.nextAt(back + hour)).toBe(back);
    await second.chore.step(back + hour, 1);
    expect([done.length, second.done]).toEqual([1, [back + hour]]);
  });
});
