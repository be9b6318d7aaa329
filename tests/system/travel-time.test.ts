import { expect, it } from 'vitest';
import { createTravelTime } from '../../src/system/clock.ts';
import { manualTime } from '../support/fakes.ts';

function world() {
  const real = manualTime(0);
  const time = createTravelTime(real);
  const woken: [number, number][] = [];
  const wait = (ms: number) => time.after(ms, () => woken.push([ms, time.elapsed()]));
  return { real, time, woken, wait };
}

it('wakes what waits for an instant that is skipped to, in the order of the instants', () => {
  const { time, woken, wait } = world();
  for (const ms of [3000, 1000, 9000]) wait(ms);
  wait(2000)();
  time.skip(5000);
  expect(woken).toEqual([
    [1000, 5000],
    [3000, 5000],
  ]);
});

it('wakes what waits for a later instant when that has come, and once', async () => {
  const { real, time, woken, wait } = world();
  wait(10_000);
  time.skip(9000);
  await real.advance(999);
  expect(woken).toEqual([]);
  await real.advance(1);
  expect(woken).toEqual([[10_000, 10_000]]);
  time.skip(9000);
  await real.advance(20_000);
  expect(woken).toHaveLength(1);
});

it('leaves alone what is called off, by another one that wakes as well', async () => {
  const { real, time, woken, wait } = world();
  const off = wait(10_000);
  time.after(1000, off);
  time.skip(5000);
  await real.advance(10_000);
  expect(woken).toEqual([]);
});
