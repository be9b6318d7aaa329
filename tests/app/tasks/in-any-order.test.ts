import { expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { chanceFrom, type Chance } from '../../support/chance.ts';
import { actor, aPipeline, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { auditOf, eventsOf, failing, find, inGroup, iso, kinds, overlaps, slow, target } from './world.ts';

/** Every verb with what a person might say; what they were told before, they may say again. */
function moves(p: Pipeline, task: { readonly id: string }, chance: Chance): readonly (() => Promise<unknown>)[] {
  const { tasks, bulk } = p.rooms;
  const at = () => p.time.now() + chance.pick([1, minute, 20 * minute, hour, 2 * hour + 1]);
  const runOf = async () => {
    const runs = (await p.history(task.id)).flatMap(({ runId }) => runId ?? []);
    return runs.length === 0 ? 'none' : chance.pick(runs);
  };
  return [
    () => tasks.pause(target(task), chance.is(0.5) ? null : at()),
    () => tasks.resume(target(task)),
    () => tasks.resume(target(task)),
    () => tasks.skip(target(task), { count: chance.between(1, 3), from: null }),
    async () => tasks.skip(target(task), { count: 1, from: (await find(p, task)).nextAt }),
    () => tasks.unskip(target(task)),
    () => tasks.snooze(target(task), at()),
    () => tasks.cancel(target(task)),
    async () => tasks.cancelRun(await runOf(), actor),
    async () => tasks.repeat(chance.pick(['retry', 'replay']), await runOf(), { actor }),
    () => tasks.runNow(target(task)),
    () => tasks.answer(target(task), chance.pick(['latest', 'all', 'none'] as const)),
    () => tasks.delete(target(task)),
    () => tasks.restore(target(task)),
    () => tasks.restore(target(task)),
    () => tasks.undo(target(task), null),
    () => tasks.undo(target(task), String(chance.between(1, auditOf(p).length))),
    () =>
      tasks.edit(target(task), { title: chance.pick(['A', 'B']), ...(chance.is(0.7) && { enabled: chance.is(0.5) }) }),
    () => tasks.edit(target(task), { schedule: chance.pick(kinds)[1] }),
    () => tasks.edit(target(task), { policies: { overlap: chance.pick(overlaps), max_runs: chance.pick([null, 3]) } }),
    () => tasks.edit(target(task), { action: chance.pick([{ kind: 'message' }, failing, slow]) }),
    () => bulk.pause(inGroup, { actor }, at()),
    () => bulk.resume(inGroup, { actor }),
    () => p.pass(chance.pick([1, minute, 20 * minute])),
    () => p.pass(hour),
    () => p.time.advance(chance.pick([1, minute, hour, 3 * hour])),
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
  const putOff = open.filter(({ source }) => source === 'snooze').map(({ replayOf }) => replayOf);
  expect(new Set(putOff).size, `${story}: one snooze of a result`).toBe(putOff.length);
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
    const chance = chanceFrom(seed);
    const p = await aPipeline();
    const policies = {
      timeout: 'PT5M',
      missed: chance.pick(['skip', 'once', 'all', 'ask'] as const),
      overlap: chance.pick(overlaps),
      until: iso(start + 60 * hour),
      auto_pause: 3,
    };
    const task = await p.create({
      schedule: chance.pick(kinds)[1],
      policies,
      action: chance.pick([{ kind: 'message' }, failing, slow]),
    });
    for (let turn = 0; turn < 60; turn += 1) {
      const all = moves(p, task, chance);
      const move = chance.between(0, all.length - 1);
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
