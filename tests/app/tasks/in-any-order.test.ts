import { expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { actor, aPipeline, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { auditOf, eventsOf, failing, find, inGroup, iso, kinds, overlaps, slow, target } from './world.ts';

/** Chance that is the same in every run of a test: a linear congruence is random enough to mix verbs. */
function chanceOf(seed: number) {
  let state = seed;
  const below = (count: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * count);
  };
  return { below, of: <T>(items: readonly T[]): T => items[below(items.length)] as T };
}

type Chance = ReturnType<typeof chanceOf>;

/** Every verb with what a person might say; what they were told before, they may say again. */
function moves(p: Pipeline, task: { readonly id: string }, chance: Chance): readonly (() => Promise<unknown>)[] {
  const { tasks, bulk } = p.rooms;
  const at = () => p.time.now() + chance.of([1, minute, 20 * minute, hour, 2 * hour + 1]);
  const runOf = async () => {
    const runs = (await p.history(task.id)).flatMap(({ runId }) => runId ?? []);
    return runs.length === 0 ? 'none' : chance.of(runs);
  };
  return [
    () => tasks.pause(target(task), chance.below(2) === 0 ? null : at()),
    () => tasks.resume(target(task)),
    () => tasks.resume(target(task)),
    () => tasks.skip(target(task), { count: 1 + chance.below(3), from: null }),
    async () => tasks.skip(target(task), { count: 1, from: (await find(p, task)).nextAt }),
    () => tasks.unskip(target(task)),
    () => tasks.snooze(target(task), at()),
    () => tasks.cancel(target(task)),
    async () => tasks.cancelRun(await runOf(), actor),
    async () => tasks.repeat(chance.of(['retry', 'replay']), await runOf(), { actor }),
    () => tasks.runNow(target(task)),
    () => tasks.answer(target(task), chance.of(['latest', 'all', 'none'] as const)),
    () => tasks.delete(target(task)),
    () => tasks.restore(target(task)),
    () => tasks.restore(target(task)),
    () => tasks.undo(target(task), null),
    () => tasks.undo(target(task), String(1 + chance.below(auditOf(p).length))),
    () => tasks.edit(target(task), { title: chance.of(['A', 'B']), enabled: chance.of([true, false, undefined]) }),
    () => tasks.edit(target(task), { schedule: chance.of(kinds)[1] }),
    () => tasks.edit(target(task), { policies: { overlap: chance.of(overlaps), max_runs: chance.of([null, 3]) } }),
    () => tasks.edit(target(task), { action: chance.of([{ kind: 'message' }, failing, slow]) }),
    () => bulk.pause(inGroup, { actor }, at()),
    () => bulk.resume(inGroup, { actor }),
    () => p.pass(chance.of([1, minute, 20 * minute])),
    () => p.pass(hour),
    () => p.time.advance(chance.of([1, minute, hour, 3 * hour])),
  ];
}

/** What must hold between any two verbs, whatever was said before. */
async function check(p: Pipeline, task: { readonly id: string }, story: string): Promise<void> {
  const { state, nextAt, resumeAt } = await find(p, task);
  expect(nextAt !== null, `${story}: a next slot, exactly while active`).toBe(state === 'active');
  expect(resumeAt === null || state === 'paused', `${story}: an end only of a pause`).toBe(true);
  const rows = await p.history(task.id);
  const open = rows.filter(({ status }) => status === 'pending');
  if (state === 'deleted') expect(open, `${story}: nothing waits for a deleted task`).toEqual([]);
  expect(open.filter(({ source }) => source === 'snooze').length, `${story}: one snooze`).toBeLessThanOrEqual(1);
  const told = eventsOf(p).filter(({ kind, ref }) => kind.startsWith('task.') && ref !== null);
  expect(
    told.map(({ kind, ref }) => `${ref} ${kind}`),
    `${story}: one event for each row of the audit`,
  ).toEqual(auditOf(p).map(({ id, verb }) => `${id} task.${verb}`));
  const lying = p.database
    .prepare(
      `select o.id from occurrences o left join runs r on r.id = o.run_id
       where o.status = 'dispatched' and (r.status is null or r.status in ('succeeded', 'failed', 'cancelled'))
          or r.status in ('queued', 'running', 'backoff') and o.status <> 'dispatched'`,
    )
    .all();
  expect(lying, `${story}: occurrences and runs agree`).toEqual([]);
}

it.each(Array.from({ length: 40 }, (_none, seed) => seed + 1))(
  'verbs in any order leave a task whole, and never a fault of ours: seed %i',
  async (seed) => {
    const chance = chanceOf(seed);
    const p = await aPipeline();
    const policies = {
      timeout: 'PT5M',
      missed: chance.of(['skip', 'once', 'all', 'ask'] as const),
      overlap: chance.of(overlaps),
      until: iso(start + 60 * hour),
      auto_pause: 3,
    };
    const task = await p.create({
      schedule: chance.of(kinds)[1],
      policies,
      action: chance.of([{ kind: 'message' }, failing, slow]),
    });
    for (let turn = 0; turn < 60; turn += 1) {
      const all = moves(p, task, chance);
      const move = chance.below(all.length);
      try {
        await all[move]?.();
      } catch (error) {
        expect(error, `turn ${turn}, move ${move}`).toBeInstanceOf(AppError);
        expect((error as AppError).code, `turn ${turn}, move ${move}: ${String(error)}`).not.toBe('internal');
      }
      await check(p, task, `turn ${turn}, move ${move}`);
    }
  },
);
