import { expect, it, onTestFinished } from 'vitest';
import { createLease, type Leased } from '../../../src/app/operations/lease.ts';
import { noHints } from '../../../src/app/ports/hints.ts';
import type { Processes, Renewal } from '../../../src/app/ports/processes.ts';
import { aProcess } from '../../support/builders.ts';
import { manualTime, memoryLog, minute, second, start } from '../../support/fakes.ts';
import { worldsOf } from '../../support/store-worlds.ts';

const open = worldsOf('sqlite');

/** A process that polls, or would: what it asks, what it holds, and its renewals, which the test makes. */
async function aPoller() {
  const { store } = await open();
  for (const id of ['boot-a', 'boot-b']) {
    await store.enrol({ ...aProcess, id, role: 'bot' }, false);
  }
  const time = manualTime(start);
  // The clock of the database is carried on by the stopwatch, and so stands still while this computer sleeps.
  const clock = { now: () => start + time.elapsed() };
  let [asked, tell] = [0, (_renewal: Renewal | null) => {}];
  const onRenewal: Processes['onRenewal'] = (call) => {
    tell = (renewal) => call(renewal, time.elapsed());
    return () => undefined;
  };
  const lease = createLease({
    stopwatch: time,
    timer: time,
    clock,
    wall: time,
    log: memoryLog(),
    bootId: 'boot-a',
    hints: noHints,
    processes: { onRenewal },
    name: 'polling',
    store: {
      ...store,
      holdLease: (...asking) => {
        asked += 1;
        return store.holdLease(...asking);
      },
    },
  });
  const held: Leased[] = [];
  const stop = new AbortController();
  const ended = lease.run(stop.signal, async (leased) => {
    held.push(leased);
    await new Promise((resolve) => leased.signal.addEventListener('abort', resolve));
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const until = async (is: () => boolean) => {
    while (!is()) await time.yield();
  };
  const polling = (holder: string, until: number) => ({ polling: { holder, until } }) as Renewal;
  return {
    store,
    time,
    clock,
    held,
    until,
    asked: () => asked,
    renew: (holder = 'boot-a') => tell(polling(holder, clock.now() + 20 * second)),
    fail: () => tell(null),
    isDoing: () => held.at(-1)?.signal.aborted === false,
  };
}

it('whoever polls holds its lease on with the renewals of its process, and asks for nothing besides', async () => {
  const { time, until, asked, renew, isDoing, held } = await aPoller();
  await until(isDoing);
  for (let round = 0; round < 12; round += 1) {
    await time.advance(10 * second);
    renew();
  }
  expect([asked(), isDoing(), held[0]?.isHeld()]).toEqual([1, true, true]);
  // None is heard any more: it asks by itself, and goes on.
  await time.advance(15 * second);
  await until(() => asked() === 2);
  expect(isDoing()).toBe(true);
});

it('a renewal that fails, or tells of another holder, has it look at once, and stop where it has lost the lease', async () => {
  const { store, time, clock, until, asked, renew, fail, isDoing } = await aPoller();
  await until(isDoing);
  fail();
  await until(() => asked() === 2);
  expect(isDoing()).toBe(true);

  await time.advance(25 * second);
  await until(() => asked() === 4);
  await store.endLease('polling', 'boot-a');
  await store.holdLease('polling', 'boot-b', { now: clock.now(), ms: 20 * second });
  renew('boot-b');
  await until(() => !isDoing());
  // It waits for as long as the other one renews.
  const before = asked();
  for (let round = 0; round < 6; round += 1) {
    await time.advance(10 * second);
    await store.holdLease('polling', 'boot-b', { now: clock.now(), ms: 20 * second });
    renew('boot-b');
  }
  expect(asked()).toBe(before);
  await time.advance(21 * second);
  await until(isDoing);
});

it('a process whose computer has slept does not poll on, although no clock of the database has moved meanwhile', async () => {
  const { time, until, held, isDoing, asked } = await aPoller();
  await until(isDoing);
  await time.advance(5 * second);
  expect(held[0]?.isHeld()).toBe(true);
  time.setWall(time.now() + 10 * minute);
  expect(held[0]?.isHeld()).toBe(false);
  // Whoever polls asks that before each question, and then has the lease looked at.
  held[0]?.doubt();
  await until(() => asked() === 2);
  expect([isDoing(), held[0]?.isHeld()]).toEqual([true, true]);
});
