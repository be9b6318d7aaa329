import { describe, expect, it } from 'vitest';
import type { Counts } from '../../src/app/ports/pipeline.ts';
import { createLoop } from '../../src/system/loop.ts';
import { manualTime, memoryLog } from '../support/fakes.ts';

/** A loop whose steps end when the test lets them. */
function aLoop() {
  const time = manualTime(0);
  const open: ((counts: Counts | Error) => void)[] = [];
  const loop = createLoop(
    {
      name: 'test',
      step: () =>
        new Promise((resolve, reject) =>
          open.push((counts) => (counts instanceof Error ? reject(counts) : resolve(counts))),
        ),
      nextAt: async () => null,
    },
    { clock: time, stopwatch: time, timer: time, log: memoryLog(), batchMax: 10 },
  );
  const end = async (counts: Counts | Error) => {
    open.shift()?.(counts);
    await time.advance(0);
  };
  return { time, loop, open, end };
}

const some = (taken: number): Counts => ({ taken, more: false });

describe('a turn that somebody asks of a loop', () => {
  it('is a step of its own while the loop does not turn, one after the other', async () => {
    const { loop, open, end } = aLoop();
    const turns = [loop.turn(), loop.turn()];
    expect(open).toHaveLength(1);
    await end(some(3));
    expect([await turns[0], open.length]).toEqual([some(3), 1]);
    await end(some(4));
    expect([await turns[1], loop.taken()]).toEqual([some(4), 7]);
  });

  it('wakes a loop that sleeps, and waits for a step that begins after it was asked for', async () => {
    const { loop, time, open, end } = aLoop();
    loop.start();
    const turn = loop.turn();
    let answered: Counts | null | undefined;
    void turn.then((counts) => {
      answered = counts;
    });
    await end(some(1));
    expect([answered, open.length]).toEqual([undefined, 1]);
    await end(some(2));
    expect(await turn).toEqual(some(2));
    await time.advance(0);
    expect(loop.isAsleep()).toBe(true);
    const next = loop.turn();
    await time.advance(0);
    await end(some(5));
    expect([await next, loop.taken()]).toEqual([some(5), 8]);
  });

  it('does not wait for the end of the pause after a failure, and tells that it failed again', async () => {
    const { loop, time, end } = aLoop();
    loop.start();
    await end(new Error('away'));
    const turn = loop.turn();
    await time.advance(0);
    await end(new Error('still away'));
    expect(await turn).toBeNull();
  });

  it('is answered when the loop stops, and makes no step after that', async () => {
    const { loop, open, end } = aLoop();
    loop.start();
    const turn = loop.turn();
    const stopped = loop.stop();
    await end(some(1));
    await stopped;
    expect([await turn, await loop.turn(), open.length]).toEqual([null, null, 0]);
  });
});
