import { describe, expect, it } from 'vitest';
import { createRescue } from '../../../src/app/housekeeping/rescue.ts';
import { createClaimCount } from '../../../src/app/pipeline/holding.ts';
import type { Claimed } from '../../../src/app/ports/upkeep.ts';
import { memoryLog } from '../../support/fakes.ts';
import { start } from '../../support/pipeline.ts';

describe('the rescue', () => {
  /** One ward under test: what the store says is claimed, what the room holds, and what was let go. */
  function aWard() {
    const claims = createClaimCount();
    const held = new Set<string>();
    const rung: string[] = [];
    const gone: Claimed[] = [];
    let claimed: readonly Claimed[] = [];
    const idle = { has: () => false, ...createClaimCount() };
    const chore = createRescue({
      store: {
        claimedRuns: async ({ after, limit }) => claimed.filter(({ id }) => id > after).slice(0, limit),
        claimedParts: async () => [],
        letRunsGo: async (_boot, lost) => {
          gone.push(...lost.map(({ id, fence }) => ({ id, fence })));
          return lost.length;
        },
        letPartsGo: async () => 0,
      },
      bootId: 'boot',
      runner: { has: (id) => held.has(id), ...claims },
      deliverer: idle,
      bell: { ring: (room) => rung.push(room) },
      timer: { yield: async () => undefined },
      log: memoryLog(),
    });
    let now = start;
    return {
      chore,
      claims,
      held,
      rung,
      gone,
      see: (...rows: Claimed[]) => {
        claimed = rows;
      },
      look: async () => {
        now += 30_000;
        await chore.step(now, 1);
      },
    };
  }

  it('lets go what two looks in a row found unheld, and rings', async () => {
    const w = aWard();
    w.see({ id: 'a', fence: 1 });
    await w.look();
    expect(w.gone).toEqual([]);
    await w.look();
    expect([w.gone, w.rung]).toEqual([[{ id: 'a', fence: 1 }], ['runner']]);
  });

  it('lets go every one of many, whatever fits into one page', async () => {
    const w = aWard();
    const many = Array.from({ length: 2500 }, (_one, index) => ({ id: `r${1000 + index}`, fence: 1 }));
    w.see(...many);
    w.held.add('r1002').add('r3400');
    await w.look();
    await w.look();
    expect(w.gone).toEqual(many.filter(({ id }) => id !== 'r1002' && id !== 'r3400'));
  });

  it('never lets go what the room holds, also when it was late to hold it', async () => {
    const w = aWard();
    w.see({ id: 'a', fence: 1 });
    await w.look();
    w.held.add('a');
    await w.look();
    await w.look();
    expect(w.gone).toEqual([]);
  });

  it('begins anew with a run that was claimed again in between', async () => {
    const w = aWard();
    w.see({ id: 'a', fence: 1 });
    await w.look();
    w.see({ id: 'a', fence: 2 });
    await w.look();
    expect(w.gone).toEqual([]);
    await w.look();
    expect(w.gone).toEqual([{ id: 'a', fence: 2 }]);
  });

  it('waits for a claim whose answer is still on its way, however long that takes', async () => {
    const w = aWard();
    let answer = () => {};
    const claim = w.claims.during(
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    w.see({ id: 'a', fence: 1 });
    for (let looks = 0; looks < 5; looks += 1) await w.look();
    expect(w.gone).toEqual([]);
    answer();
    await claim;
    await w.look();
    expect(w.gone).toEqual([{ id: 'a', fence: 1 }]);
  });

  it('does not wait for claims that were asked for only after its look', async () => {
    const w = aWard();
    w.see({ id: 'a', fence: 1 });
    await w.look();
    void w.claims.during(() => new Promise(() => {}));
    await w.look();
    expect(w.gone).toEqual([{ id: 'a', fence: 1 }]);
  });
});
