import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, start, type Pipeline } from '../../support/pipeline.ts';
import { auditOf, find, hourly, inGroup, long, once, running, runOf, slow, target } from './world.ts';

const by = { actor } as const;
const tagged = { tag: 'plants' };

const verbs = {
  pause: (p: Pipeline, dry = false) => p.rooms.bulk.pause(tagged, { ...by, isDry: dry }, null),
  resume: (p: Pipeline, dry = false) => p.rooms.bulk.resume(tagged, { ...by, isDry: dry }),
  cancel: (p: Pipeline, dry = false) => p.rooms.bulk.cancel(tagged, { ...by, isDry: dry }),
} as const;

/** Two tasks that bear the tag, one of another tag, and one whose tag only begins like it. */
async function someTasks(p: Pipeline) {
  const make = (tags: string[], more = {}) =>
    p.create({ schedule: hourly, action: slow, policies: long, tags, ...more });
  return {
    mine: [await make(['plants']), await make(['x', 'plants'])],
    others: [await make(['dogs']), await make(['plants2'])],
  };
}

async function states(p: Pipeline, tasks: readonly { readonly id: string }[]) {
  const found = await Promise.all(tasks.map((task) => find(p, task)));
  return found.map(({ state }) => state);
}

describe('what is done to all tasks of a tag or a subject', () => {
  it('pauses and resumes those and no others, each with a row of its own', async () => {
    const p = await aPipeline();
    const { mine, others } = await someTasks(p);
    expect(await verbs.pause(p)).toEqual({ changed: 2, left: 0 });
    expect([await states(p, mine), await states(p, others)]).toEqual([
      ['paused', 'paused'],
      ['active', 'active'],
    ]);
    expect(auditOf(p).filter(({ verb }) => verb === 'pause')).toHaveLength(2);
    expect(await verbs.pause(p)).toEqual({ changed: 0, left: 0 });
    expect(await verbs.resume(p)).toEqual({ changed: 2, left: 0 });
    expect(await states(p, mine)).toEqual(['active', 'active']);
  });

  it('calls off what they run now, and leaves those that run nothing', async () => {
    const p = await aPipeline();
    const { mine, others } = await someTasks(p);
    const [first] = mine;
    const [other] = others;
    if (first === undefined || other === undefined) throw new Error('there are no tasks');
    const [mineId, otherId] = [await running(p, first), await running(p, other)];
    expect(await verbs.cancel(p, true)).toEqual({ changed: 1, left: 1 });
    expect(await verbs.cancel(p)).toEqual({ changed: 1, left: 1 });
    expect(await verbs.cancel(p)).toEqual({ changed: 0, left: 2 });
    await p.settle();
    expect([runOf(p, mineId).status, runOf(p, otherId).status]).toEqual(['cancelled', 'running']);
  });

  it.each(['pause', 'resume', 'cancel'] as const)(
    'counts without changing anything when it is dry: %s',
    async (verb) => {
      const p = await aPipeline();
      const { mine } = await someTasks(p);
      if (verb === 'resume') await verbs.pause(p);
      if (verb === 'cancel') for (const task of mine) await running(p, task);
      const before = auditOf(p).length;
      expect(await verbs[verb](p, true)).toEqual({ changed: 2, left: 0 });
      expect(auditOf(p)).toHaveLength(before);
      expect(await verbs[verb](p)).toEqual({ changed: 2, left: 0 });
    },
  );

  it.each(['pause', 'resume'] as const)('gives other work a turn after each task: %s', async (deed) => {
    const p = await aPipeline();
    for (let index = 0; index < 4; index += 1) await p.create({ schedule: hourly });
    const { bulk } = p.rooms;
    if (deed === 'resume') await bulk.pause(inGroup, by, null);
    const done: number[] = [];
    Object.assign(p.time, {
      yield: async () => void done.push(auditOf(p).filter((one) => one.verb === deed).length),
    });
    await (deed === 'pause' ? bulk.pause(inGroup, by, null) : bulk.resume(inGroup, by));
    expect(done).toEqual([1, 2, 3, 4]);
  });

  it('takes those of one owner alone', async () => {
    const p = await aPipeline();
    const [mine, other] = [await p.create(), await p.create({}, { actor: 'telegram:user:1002' })];
    const chosen = { ...inGroup, ownerId: other.ownerId };
    expect(await p.rooms.bulk.pause(chosen, by, null)).toEqual({ changed: 1, left: 0 });
    expect(await states(p, [mine, other])).toEqual(['active', 'paused']);
  });

  it('takes a subject exactly, and a thread beside it', async () => {
    const p = await aPipeline();
    const add = { onExisting: 'add' } as const;
    const here = await p.create({ schedule: hourly, subject: 'water' }, add);
    await p.create({ schedule: hourly, subject: 'water' }, { ...add, threadKey: 'cli:default' });
    await p.create({ schedule: hourly, subject: 'watering' }, add);
    const chosen = { subject: 'water' };
    expect(await p.rooms.bulk.pause(chosen, { ...by, isDry: true }, null)).toEqual({ changed: 2, left: 0 });
    expect(await p.rooms.bulk.pause({ ...chosen, ...inGroup }, by, start + hour)).toEqual({ changed: 1, left: 0 });
    expect((await find(p, here)).resumeAt).toBe(start + hour);
    expect(await p.rooms.bulk.pause(chosen, by, null)).toEqual({ changed: 1, left: 0 });
  });

  it('lets those stay paused that failed or have nothing left, and goes on with the others', async () => {
    const p = await aPipeline();
    const make = (schedule: Parameters<typeof once>[0] | null) =>
      p.create({ schedule: schedule === null ? hourly : once(schedule), tags: ['plants'] });
    const [failed, over, fine] = [await make(null), await make(1), await make(null)];
    await verbs.pause(p);
    p.database.prepare(`update tasks set paused_reason = 'failures' where id = ?`).run(failed.id);
    await p.pass(2 * hour);
    expect(await verbs.resume(p)).toEqual({ changed: 1, left: 2 });
    expect(await states(p, [failed, over, fine])).toEqual(['paused', 'paused', 'active']);
  });

  it('refuses an end of the pause that is past before anything is paused', async () => {
    const p = await aPipeline();
    const { mine } = await someTasks(p);
    await expect(p.rooms.bulk.pause(tagged, by, start)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await states(p, mine)).toEqual(['active', 'active']);
    await p.rooms.tasks.delete(target(mine[0] ?? { id: '' }));
    expect(await verbs.pause(p)).toEqual({ changed: 1, left: 0 });
  });
});
