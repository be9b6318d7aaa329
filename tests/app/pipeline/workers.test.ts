import { expect, it } from 'vitest';
import { createCollector } from '../../../src/app/pipeline/collector.ts';
import { createLostClaims } from '../../../src/app/pipeline/workers.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { manualTime, memoryLog } from '../../support/fakes.ts';
import { minute, start } from '../../support/pipeline.ts';

it('lets go at the next step what a lost answer has left behind, and once more when a late commit has had its time', async () => {
  const [time, log] = [manualTime(start), memoryLog()];
  let gone = 0;
  const claims = createLostClaims(
    { processes: { begun: async () => {} }, stopwatch: time, log },
    'runner',
    async () => (gone += 1),
  );
  expect(await claims.claim(async () => 'held')).toBe('held');
  await claims.letGo();
  expect(gone).toBe(0);
  await expect(claims.claim(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  for (const count of [1, 1]) {
    await claims.letGo();
    expect(gone).toBe(count);
  }
  await time.advance(30_000);
  for (const count of [2, 2]) {
    await claims.letGo();
    expect(gone).toBe(count);
  }
  expect(log.lines).toMatchObject([{ event: 'claims_let_go' }, { event: 'claims_let_go' }]);
});

it('ends that a store cannot take are told once, and written within seconds of its return', async () => {
  const [time, log] = [manualTime(0), memoryLog()];
  const written: string[] = [];
  let backAt = Infinity;
  const write = async (ends: readonly string[]) => {
    if (time.now() < backAt) throw new AppError('store_unavailable', 'away');
    written.push(...ends);
  };
  const ends = createCollector({ timer: time, log }, 10, { write, instead: (end) => end });
  ends.add('one');
  await time.advance(10 * minute);
  ends.add('two');
  expect(log.lines.map(({ event }) => event)).toEqual(['results_not_written']);
  backAt = time.now();
  await time.advance(2000);
  expect(written).toEqual(['one', 'two']);
});
