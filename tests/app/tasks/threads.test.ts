import { describe, expect, it } from 'vitest';
import { actor, aPipeline, group, type Pipeline } from '../../support/pipeline.ts';
import { auditOf, hourly } from './world.ts';

const deeds = {
  purge: (p: Pipeline) => p.rooms.threads.purge(group, { actor }),
  pause: (p: Pipeline) => p.rooms.threads.pause(group, { actor }, null),
  resume: (p: Pipeline) => p.rooms.threads.resume(group, { actor }),
} as const;

describe('what is done to a whole thread', () => {
  it.each(['purge', 'pause', 'resume'] as const)('gives other work a turn after each task: %s', async (deed) => {
    const p = await aPipeline();
    for (let index = 0; index < 4; index += 1) await p.create({ schedule: hourly });
    if (deed === 'resume') await deeds.pause(p);
    const verb = deed === 'purge' ? 'delete' : deed;
    const done: number[] = [];
    Object.assign(p.time, {
      yield: async () => void done.push(auditOf(p).filter((one) => one.verb === verb).length),
    });
    await deeds[deed](p);
    expect(done).toEqual([1, 2, 3, 4]);
  });
});
