import { describe, expect, it } from 'vitest';
import { createKeptAnswers } from '../../src/app/use-cases/kept-answers.ts';
import { sha256 } from '../../src/system/ids.ts';
import { aDoor, createPath, creation, taskRun, task } from './door.ts';
import { aPlace, said } from './verb-place.ts';

const key = (name: string) => ({ 'idempotency-key': name });
const replayed = 'idempotency-replayed';

describe('a request with an Idempotency-Key', () => {
  it('is told the same again, byte for byte, although the task has changed meanwhile', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    const first = await ask('POST', `${path}/run-now`, {}, key('k'));
    await p.settle();
    await ask('PATCH', path, { tags: ['another'] });
    const again = await ask('POST', `${path}/run-now`, {}, key('k'));
    expect([again.status, again.text, again.headers.get(replayed)]).toEqual([first.status, first.text, 'true']);
    expect(first.headers.get(replayed)).toBeNull();
    // The effect and the answer share one row, so that neither can be there without the other's key.
    expect(p.database.prepare('select answer is not null as told from idempotency_keys').all()).toEqual([{ told: 1 }]);
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toHaveLength(1);
  });

  it('is told how things stand when the process died before the answer was kept', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    const first = await ask('POST', `${path}/run-now`, {}, key('k'));
    p.database.prepare(`update idempotency_keys set answer = null`).run();
    await p.settle();
    const again = await ask('POST', `${path}/run-now`, {}, key('k'));
    expect(again.json.task_run).toMatchObject({ task_run_id: first.json.task_run.task_run_id, status: 'succeeded' });
    expect((await ask('POST', `${path}/run-now`, {}, key('k'))).text).toBe(again.text);
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toHaveLength(1);
  });

  it('takes no second change back, whether the answer was kept or lost', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ title: 'First' });
    for (const title of ['Second', 'Third']) await ask('PATCH', path, { title });
    const first = await ask('POST', `${path}/undo`, {}, key('k'));
    expect(first.json.task.title).toBe('Second');
    expect((await ask('POST', `${path}/undo`, {}, key('k'))).text).toBe(first.text);
    p.database.prepare(`update idempotency_keys set answer = null`).run();
    expect((await ask('POST', `${path}/undo`, {}, key('k'))).json.task.title).toBe('Second');
    expect((await ask('POST', `${path}/undo`, {}, key('k2'))).json.task.title).toBe('First');
  });

  it('is not remembered when it only counted', async () => {
    const { ask, make } = await aPlace();
    await make({ tags: ['team'] });
    const pause = (query: string) => ask('POST', `/v1/tasks/pause${query}`, { tag: 'team' }, key('k'));
    expect([(await pause('?dry_run=true')).status, (await pause('')).headers.get(replayed)]).toEqual([200, null]);
    expect((await pause('')).headers.get(replayed)).toBe('true');
  });

  it('is not remembered when it was refused', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    const live = await ask('POST', `${path}/run-now`);
    const refused = await ask('POST', `${path}/run-now`, {}, key('k'));
    expect(said(refused)).toBe('409 run_in_progress');
    expect(refused.json.error.details).toEqual({ run_id: live.json.task_run.run_id });
    await p.settle();
    const made = await ask('POST', `${path}/run-now`, {}, key('k'));
    expect([made.status, made.headers.get(replayed)]).toEqual([200, null]);
  });

  it('is sent away while the first is at work, with the time to come again', async () => {
    let open = () => {};
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    const kept = new Map<string, string>();
    const tellOnce = createKeptAnswers({
      store: {
        keptAnswer: async ({ scope, key: name }) => kept.get(scope + name) ?? null,
        keepAnswer: async ({ scope, key: name }, answer) => void kept.set(scope + name, answer),
      },
      clock: { now: () => 0 },
      digest: sha256,
      log: aDoor().log,
    });
    const runNow = async () => {
      await held;
      return { task, taskRun };
    };
    const door = aDoor({ runNow }, { tellOnce });
    const path = '/v1/tasks/task-1/run-now';
    const first = door.ask('POST', path, {}, key('k'));
    while (door.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = await door.ask('POST', path, {}, key('k'));
    expect([second.status, second.json.error.code, second.headers.get('retry-after')]).toEqual([
      409,
      'request_in_progress',
      '1',
    ]);
    expect((await door.ask('POST', createPath, creation, key('k'))).status).toBe(201);
    open();
    const done = await first;
    const third = await door.ask('POST', path, {}, key('k'));
    expect([done.status, third.text, third.headers.get(replayed)]).toEqual([200, done.text, 'true']);
    expect(door.asked.filter(({ name }) => name === 'tasks.runNow')).toHaveLength(1);
  });
});
