import { expect, it } from 'vitest';
import { createAlarm } from '../../../src/app/housekeeping/alarm.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { houseOf, tidy } from '../../support/chores.ts';
import { manualTime, memoryLog, minute } from '../../support/fakes.ts';

function anAlarm() {
  const [time, log] = [manualTime(1_800_000_000_000), memoryLog()];
  const said: string[] = [];
  const state = { fault: null as string | null, answer: null as Promise<void> | null, isReachable: true };
  const store = {
    ping: async () => {
      if (state.answer !== null) await state.answer;
      if (state.fault !== null) throw new AppError('store_unavailable', state.fault);
    },
    listOwners: async () =>
      [1, 2].map((id) => ({ id: `telegram:user:${id}` as const, name: null, role: 'owner' as const, timezone: null })),
    readNote: async () => null,
    writeNote: async () => {},
  };
  const platform = {
    tell: async (owner: string, words: string) => {
      if (state.isReachable) said.push(`${owner.slice(-1)}: ${words}`);
      return state.isReachable;
    },
  };
  const alarm = createAlarm({ store, platform, log, clock: time, stopwatch: time, timer: time });
  const house = houseOf({ store, time, log }, [alarm]);
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 1) {
      await tidy(house, time);
      await time.advance(minute);
    }
  };
  return { state, said, log, pass };
}

const full = 'The database cannot be used right now (SQLITE_FULL: the disk is full; free some space).';

it('tells each owner once that the database cannot be used and why, and once that it can again', async () => {
  const { state, said, log, pass } = anAlarm();
  await pass(3);
  state.fault = full;
  await pass(30);
  expect(said.map((one) => one.slice(0, 3))).toEqual(['1: ', '2: ']);
  expect(said[0]).toContain('the disk is full; free some space');
  expect(log.lines.filter(({ event }) => event === 'database_unusable')).toHaveLength(1);
  state.fault = null;
  await pass(30);
  expect(said.slice(2)).toEqual([
    '1: My database can be used again, and I go on.',
    '2: My database can be used again, and I go on.',
  ]);
});

it('tells of each trouble, when it can be told, and of none that passes at once', async () => {
  const { state, said, pass } = anAlarm();
  await pass(1);
  state.fault = full;
  state.isReachable = false;
  await pass(5);
  state.isReachable = true;
  await pass(2);
  expect(said).toHaveLength(2);
  state.fault = null;
  await pass(2);
  state.fault = full;
  await pass(2);
  expect(said).toHaveLength(6);
});

it('tells the reason as well, when a database that did not answer gives one', async () => {
  const { state, said, log, pass } = anAlarm();
  await pass(1);
  let answer = () => {};
  state.answer = new Promise((resolve) => {
    answer = resolve;
  });
  await pass(5);
  expect(said).toEqual(
    [1, 2].map((owner) => expect.stringContaining(`${owner}: I cannot do my work: My database does not`) as string),
  );
  state.fault = full;
  answer();
  await pass(5);
  expect(said.slice(2)).toEqual([1, 2].map(() => expect.stringContaining('the disk is full') as string));
  expect(log.lines.filter(({ event }) => event === 'database_unusable')).toHaveLength(2);
  state.answer = null;
  state.fault = null;
  await pass(5);
  expect(said.slice(4)).toHaveLength(2);
});
