import { describe, expect, it } from 'vitest';
import type { Counts } from '../../src/app/ports/pipeline.ts';
import { createLoop, type Work } from '../../src/system/loop.ts';
import { manualTime, memoryLog, second } from '../support/fakes.ts';

const none: Counts = { taken: 0, more: false };

interface Given {
  readonly steps?: readonly (Counts | Error)[];
  readonly nextAt?: (now: number) => number | null;
}

function aLoop({ steps = [], nextAt = () => null }: Given = {}) {
  const time = manualTime(0);
  const log = memoryLog();
  const turns: number[] = [];
  const left = [...steps];
  const work: Work = {
    name: 'test',
    step: async (now) => {
      turns.push(now);
      const next = left.shift() ?? none;
      if (next instanceof Error) throw next;
      return next;
    },
    nextAt: async (now) => nextAt(now),
  };
  const loop = createLoop(work, { clock: time, stopwatch: time, timer: time, log, batchMax: 10 });
  return { time, log, turns, loop };
}

describe('a loop', () => {
  it('looks at once when it starts, and then sleeps until the nearest due row', async () => {
    const { loop, time, turns } = aLoop({ nextAt: (now) => (now < 5 * second ? 5 * second : null) });
    loop.start();
    await time.advance(0);
    await time.advance(5 * second);
    expect(turns).toEqual([0, 5 * second]);
  });

  it('never sleeps longer than thirty seconds, however far the next row is', async () => {
    const { loop, time, turns } = aLoop({ nextAt: () => 60 * 86_400 * second });
    loop.start();
    await time.advance(0);
    await time.advance(95 * second);
    expect(turns).toEqual([0, 30, 60, 90].map((at) => at * second));
  });

  it('goes on at once while there is more, and gives others a turn in between', async () => {
    const { loop, time, turns } = aLoop({
      steps: [
        { taken: 10, more: true },
        { taken: 10, more: true },
        { taken: 3, more: false },
      ],
    });
    loop.start();
    let others = 0;
    for (let turn = 0; turn < 5; turn += 1) {
      await time.yield();
      others += 1;
    }
    expect(turns).toEqual([0, 0, 0]);
    expect(others).toBe(5);
  });

  it('is woken by a ring, and a ring during a step is not lost', async () => {
    const { loop, time, turns } = aLoop();
    loop.start();
    loop.ring();
    await time.advance(0);
    await time.advance(0);
    expect(turns).toEqual([0, 0]);
    await time.advance(7 * second);
    loop.ring();
    await time.advance(0);
    expect(turns).toEqual([0, 0, 7 * second]);
  });

  it('makes one step for all who ring in the same turn of the process', async () => {
    const { loop, time, turns } = aLoop();
    loop.start();
    await time.advance(second);
    for (let count = 0; count < 5; count += 1) loop.ring();
    expect(turns).toEqual([0]);
    await time.advance(0);
    await time.advance(0);
    expect(turns).toEqual([0, second]);
    expect(loop.isAsleep()).toBe(true);
  });

  it('does not spin on a row that is due but held by somebody', async () => {
    const { loop, time, turns } = aLoop({ nextAt: () => 0 });
    loop.start();
    await time.advance(0);
    await time.advance(second);
    expect(turns.length).toBeLessThanOrEqual(11);
  });

  it('survives a failing step, waits longer and longer, ignores rings meanwhile, and says so', async () => {
    const [full, away] = [new Error('database is full'), new Error('database is away')];
    const { loop, time, turns, log } = aLoop({ steps: [full, full, away] });
    loop.start();
    await time.advance(0);
    await time.advance(100);
    loop.ring();
    await time.advance(100);
    expect(turns).toHaveLength(1);
    expect(loop.health()).toMatchObject({ ok: false, error: 'database is full' });
    await time.advance(10 * second);
    expect(turns).toEqual([0, 500, 1500, 2500]);
    expect(loop.health()).toMatchObject({ ok: true, error: null });
    // The same fault is told once.
    expect(log.lines.map(({ event }) => event)).toEqual(['step_failed', 'step_failed', 'loop_recovered']);
  });

  it('sees the same clock again after it went back', async () => {
    const { loop, time, turns } = aLoop({ nextAt: (now) => now + 60 * second });
    time.setWall(3600 * second);
    loop.start();
    await time.advance(0);
    await time.advance(second);
    time.setWall(0);
    await time.advance(30 * second);
    expect(turns).toEqual([3600 * second, 29 * second]);
  });

  it('stops after the step in hand, and begins no other', async () => {
    const { loop, time, turns } = aLoop();
    loop.start();
    await time.advance(0);
    await time.advance(0);
    await loop.stop();
    loop.ring();
    await time.advance(60 * second);
    expect(turns).toEqual([0]);
  });

  it('is stuck when no step has ended for a minute and a half', async () => {
    const time = manualTime(0);
    const work: Work = { name: 'test', step: () => new Promise(() => {}), nextAt: async () => null };
    const loop = createLoop(work, { clock: time, stopwatch: time, timer: time, log: memoryLog(), batchMax: 1 });
    loop.start();
    await time.advance(0);
    await time.advance(89 * second);
    expect(loop.health().ok).toBe(true);
    await time.advance(second);
    expect(loop.health().ok).toBe(false);
  });
});
