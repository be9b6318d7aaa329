import { describe, expect, it } from 'vitest';
import { outgoingKey } from '../../../src/domain/occurrence.ts';
import {
  actor,
  aPipeline,
  day,
  hour,
  ingest,
  minute,
  start,
  type Pipeline,
  texts,
  withTask,
  afterAnHour,
} from '../../support/pipeline.ts';
import {
  ended,
  failing,
  find,
  hourly,
  long,
  newsOf,
  nextIn,
  once,
  running,
  runIdOf,
  runOf,
  slow,
  story,
  target,
} from './world.ts';

type Kind = 'retry' | 'replay';
const kindsOfRepeat = ['retry', 'replay'] as const;

const again = (p: Pipeline, kind: Kind, runId: string, idempotencyKey: string | null = null) =>
  p.rooms.tasks.repeat(kind, runId, { actor, idempotencyKey });

/** A scheduled run that has failed for good at ten. */
async function aFailure(more: Parameters<Pipeline['create']>[0] = {}) {
  const { p, task } = await afterAnHour({ schedule: hourly, action: failing, ...more });
  const [slot] = await p.history(task.id);
  if (slot === undefined) throw new Error('the slot has not run');
  return { p, task, slot, runId: runIdOf(slot) };
}

/** What the action fails for is mended. */
async function mend(p: Pipeline, task: { readonly id: string }): Promise<void> {
  p.database.exec(`update runs set input = replace(input, '"fail_attempts":99', '"fail_attempts":0')`);
  await p.rooms.tasks.edit(target(task), { action: { kind: 'echo' } });
}

const keyOf = (p: Pipeline, runId: string | null) =>
  (runOf(p, runId ?? '').input['again'] as { outgoingKey: string } | undefined)?.outgoingKey;

describe('a retry', () => {
  it('is a new occurrence of the same call: same input, same key, and it names what it makes good', async () => {
    const { p, task, slot, runId } = await aFailure();
    await p.pass(5 * minute);
    const { taskRun } = await again(p, 'retry', runId);
    expect(taskRun).toMatchObject({
      source: 'retry',
      status: 'dispatched',
      replayOf: slot.id,
      slotAt: start + hour + 5 * minute,
    });
    const [before, after] = [runOf(p, runId).input, runOf(p, runIdOf(taskRun)).input];
    expect(after).toEqual({
      ...before,
      context: {},
      again: { kind: 'retry', outgoingKey: outgoingKey(task.id, start + hour), askedAt: start + hour + 5 * minute },
    });
  });

  it('of a retry of a retry bears the key of the first slot', async () => {
    const { p, task, runId } = await aFailure();
    let last = runId;
    for (let turn = 0; turn < 3; turn += 1) {
      await p.pass(minute);
      last = runIdOf((await again(p, 'retry', last)).taskRun);
      expect(keyOf(p, last)).toBe(outgoingKey(task.id, start + hour));
      await p.settle();
    }
    expect(await story(p, task)).toEqual(['60 failed', '61 retry failed', '62 retry failed', '63 retry failed']);
  });

  it('a second time, while one is under way, answers that one', async () => {
    const { p, task, runId } = await aFailure();
    const first = await again(p, 'retry', runId);
    const second = await newsOf(p, async () => {
      expect((await again(p, 'retry', runId)).taskRun.id).toBe(first.taskRun.id);
    });
    expect([second.verbs, second.events, (await p.history(task.id)).length]).toEqual([[], [], 2]);
  });

  it('once one has succeeded answers that one, and after a failure makes another', async () => {
    const { p, task, runId } = await aFailure();
    await again(p, 'retry', runId);
    await p.settle();
    await mend(p, task);
    await p.pass(minute);
    const good = await again(p, 'retry', runId);
    await p.settle();
    expect((await again(p, 'retry', runId)).taskRun).toMatchObject({ id: good.taskRun.id, status: 'succeeded' });
    expect(await story(p, task)).toEqual(['60 failed', '60 retry failed', '61 retry succeeded']);
  });

  it('of any run of one chain finds the retry that made the slot good', async () => {
    const { p, task, runId } = await aFailure({ policies: { overlap: 'allow' } });
    const second = runIdOf((await again(p, 'retry', runId)).taskRun);
    await p.settle();
    await p.pass(minute);
    const third = runIdOf((await again(p, 'retry', second)).taskRun);
    await p.settle();
    await mend(p, task);
    await p.pass(minute);
    const good = (await again(p, 'retry', third)).taskRun;
    for (const state of ['under way', 'done']) {
      for (const one of [runId, second, third])
        expect((await again(p, 'retry', one)).taskRun.id, `${one} ${state}`).toBe(good.id);
      await p.settle();
    }
    expect(await p.history(task.id)).toHaveLength(4);
  });

  it('with a key answers the same one again, also when the first call found one under way', async () => {
    const { p, task, runId } = await aFailure();
    const first = await again(p, 'retry', runId);
    for (let turn = 0; turn < 2; turn += 1)
      expect((await again(p, 'retry', runId, 'k')).taskRun.id).toBe(first.taskRun.id);
    await p.settle();
    expect((await again(p, 'retry', runId, 'k')).taskRun).toMatchObject({ id: first.taskRun.id, status: 'failed' });
    expect(await p.history(task.id)).toHaveLength(2);
  });

  it('sees the context as it stands now, and writes it on', async () => {
    const { p, task, runId } = await aFailure({ context: { seen: 1 } });
    p.database.exec(`update runs set input = replace(input, '"fail_attempts":99', '"context":{"seen":3}')`);
    await p.rooms.tasks.edit(target(task), { context: { seen: 2 } });
    const { taskRun } = await again(p, 'retry', runId);
    expect(runOf(p, runIdOf(taskRun)).input['context']).toEqual({ seen: 2 });
    await p.settle();
    expect((await find(p, task)).context).toEqual({ seen: 3 });
  });
});

describe('a replay', () => {
  it('is a new call with what the run was given, and leaves the context alone', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', context: { seen: 2 } };
    const task = await p.create({ schedule: hourly, action, context: { seen: 1 }, instructions: 'old' });
    await p.pass(hour);
    const [slot] = await p.history(task.id);
    await p.rooms.tasks.edit(target(task), { instructions: 'new', context: { seen: 5 } });
    await p.pass(minute);
    const { taskRun } = await again(p, 'replay', slot?.runId ?? '');
    await p.settle();
    expect(runOf(p, runIdOf(taskRun)).input).toMatchObject({
      context: { seen: 1 },
      instructions: 'old',
      slotAt: start + hour,
    });
    expect(keyOf(p, taskRun.runId)).toBe(outgoingKey(task.id, start + hour + minute));
    expect((await find(p, task)).context).toEqual({ seen: 5 });
    expect(texts(p)).toEqual(['old', 'old']);
  });

  it('with the same key is one', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const runId = await ended(p, task);
    const first = await again(p, 'replay', runId, 'k');
    await p.settle();
    expect((await again(p, 'replay', runId, 'k')).taskRun.id).toBe(first.taskRun.id);
    expect(await p.history(task.id)).toHaveLength(2);
  });

  it('that failed is retried as the call that the replay was', async () => {
    const { p, task, runId } = await aFailure();
    await p.pass(minute);
    const replayed = runIdOf((await again(p, 'replay', runId)).taskRun);
    await p.settle();
    await p.pass(minute);
    const { taskRun } = await again(p, 'retry', replayed);
    expect(keyOf(p, taskRun.runId)).toBe(outgoingKey(task.id, start + hour + minute));
    await p.settle();
    // The first slot was not made good by that, because it was another call.
    expect((await again(p, 'retry', runId)).taskRun.id).not.toBe(taskRun.id);
  });
});

describe.each(kindsOfRepeat)('every %s', (kind) => {
  it('moves no slot, counts against no bound, and tells who asked', async () => {
    const { p, task, runId } = await aFailure({ policies: { max_runs: 2 } });
    const { verbs, audit } = await newsOf(p, async () => again(p, kind, runId));
    await p.settle();
    expect([verbs, audit[0]?.actor, JSON.parse(audit[0]?.before ?? '{}')]).toEqual([[kind], actor, { run_id: runId }]);
    expect(await nextIn(p, task)).toBe(120);
    expect((await find(p, task)).counters.boundedRuns).toBe(1);
  });

  it('is refused with the id of the live run that excludes it', async () => {
    const p = await aPipeline();
    for (const overlap of ['skip', 'queue', 'replace'] as const) {
      const task = await p.create({ schedule: once(9), action: failing, policies: { ...long, overlap } });
      const runId = await ended(p, task);
      await p.rooms.tasks.edit(target(task), { action: slow });
      const live = await running(p, task);
      await expect(again(p, kind, runId), overlap).rejects.toMatchObject({
        code: 'run_in_progress',
        details: { run_id: live },
      });
    }
  });

  it('of a run that goes on is refused by its own id', async () => {
    const { p, task } = await withTask({ schedule: once(9), action: slow, policies: { ...long, overlap: 'allow' } });
    const live = await running(p, task);
    await expect(again(p, kind, live)).rejects.toMatchObject({ code: 'run_in_progress', details: { run_id: live } });
  });

  it('is unknown for a run that never was, and for one of a deleted task', async () => {
    const { p, task, runId } = await aFailure({ policies: { overlap: 'allow' } });
    await again(p, kind, runId);
    p.database.exec(`update occurrences set status = 'succeeded' where source in ('retry', 'replay')`);
    await p.rooms.tasks.delete(target(task));
    for (const id of ['never-was', runId])
      await expect(again(p, kind, id), id).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of a run without a task is refused', async () => {
    const p = await aPipeline();
    const { runId } = await ingest(p, { action: { kind: 'echo' }, delivers: false });
    await p.settle();
    await expect(again(p, kind, runId)).rejects.toMatchObject({ code: 'not_repeatable' });
  });

  it('works on a paused and on a completed task, and leaves it so', async () => {
    const { p, ...paused } = await aFailure({ policies: { overlap: 'allow' } });
    await p.rooms.tasks.pause(target(paused.task), null);
    await again(p, kind, paused.runId);
    const completed = await p.create({ schedule: once(2), action: failing });
    await p.pass(hour);
    await again(p, kind, (await p.history(completed.id))[0]?.runId ?? '');
    await p.settle();
    expect([(await find(p, paused.task)).state, (await find(p, completed)).state]).toEqual(['paused', 'completed']);
    expect((await story(p, completed)).at(-1)).toBe(`120 ${kind} failed`);
  });

  it('keeps what it shows for max_age from the asking, however old its slot is', async () => {
    const { p, task, runId } = await aFailure({ schedule: once(1), policies: { max_age: 'PT1H' } });
    p.database.exec(`update runs set input = replace(input, '"fail_attempts":99', '"fail_attempts":0')`);
    await p.pass(2 * day);
    const { taskRun } = await again(p, kind, runId);
    await p.settle();
    expect((await p.store.readTaskRun(taskRun.id))?.deliveries).toMatchObject([{ status: 'delivered' }]);
    expect(task.policies.max_age).toBe('PT1H');
  });

  it('is not late itself, and goes through a restart', async () => {
    const { p, task, runId } = await aFailure();
    await again(p, kind, runId);
    const later = p.restart();
    await later.pass(minute);
    expect(await later.history(task.id)).toMatchObject([
      { status: 'failed' },
      { source: kind, status: 'failed', lateMs: 0 },
    ]);
  });
});
