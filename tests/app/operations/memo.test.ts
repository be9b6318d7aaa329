import { expect, it } from 'vitest';
import { memo } from '../../../src/app/operations/recent.ts';
import { manualTime } from '../../support/fakes.ts';

it('an answer is shared by all who ask while it is made, and kept from when it was asked for; a failure is not', async () => {
  const time = manualTime(0);
  const made: (() => void)[] = [];
  const ask = memo(time, 1000, () => {
    const count = made.length;
    return new Promise<number>((resolve, reject) => {
      made.push(() => (count === 1 ? reject(new Error('away')) : resolve(count)));
    });
  });
  const first = ask();
  await time.advance(1500);
  expect(ask()).toBe(first);
  made[0]?.();
  expect(await first).toBe(0);
  const failing = ask();
  made[1]?.();
  await expect(failing).rejects.toThrow('away');
  const third = ask();
  made[2]?.();
  expect(await third).toBe(2);
  await time.advance(999);
  expect(await ask()).toBe(2);
  await time.advance(1);
  expect(ask()).not.toBe(third);
  expect(made).toHaveLength(4);
});
