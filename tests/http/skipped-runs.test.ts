import { expect, it } from 'vitest';
import { calls, withHttp } from '../support/actions.ts';
import { aPipeline, day } from '../support/pipeline.ts';
import { token } from './door.ts';
import { appOver } from './pipeline-door.ts';

const hourly = { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } as const;
const action = { kind: 'http', url: 'https://api.example.com/price' } as const;

interface TaskRun {
  readonly run_id: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly error_message: string | null;
  readonly trace_id: string | null;
}

/** A task that calls something, and what the door tells of its runs. */
async function aTask(made = calls()) {
  const p = await aPipeline({ actions: withHttp(made) });
  const app = appOver(p);
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await app.request(path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as {
      readonly task: { readonly task_id: string; readonly grant_id: string };
      readonly task_run: TaskRun;
      readonly task_runs: readonly TaskRun[];
      readonly error_message: string;
    };
  };
  const { task } = await ask('POST', '/v1/threads/cli:default/tasks', { action, schedule: hourly });
  const path = `/v1/tasks/${task.task_id}`;
  const runNow = async () =>
    (await ask('POST', `${path}/run-now`, undefined, { 'x-request-id': 'asked-by-ada' })).task_run;
  const runs = async () => (await ask('GET', `${path}/runs`)).task_runs;
  return { p, ask, task, runNow, runs };
}

it('tells of a run that only itself could find out it may not do the same sentence in the list as by its id', async () => {
  const error = 'the secret TOKEN may not go to api.example.com';
  const { p, ask, runNow, runs } = await aTask(calls(() => ({ is: 'skip', reason: 'secret_host', error })));
  await runNow();
  await p.pass(1000);
  const [listed] = await runs();
  expect(listed).toMatchObject({ status: 'skipped', reason: 'secret_host', error_message: error });
  expect((await ask('GET', `/v1/runs/${listed?.run_id ?? ''}`)).error_message).toBe(error);
});

it('names the request that asked for a run which was skipped for its budget or its grant', async () => {
  const usage = [{ kind: 'requests', quantity: 1 }] as const;
  const { p, ask, task, runNow, runs } = await aTask(calls(() => ({ is: 'done', text: 'answered', usage })));
  await ask('PUT', '/v1/budgets', { thread_key: 'cli:default', requests: 1, per: 'day' });
  await runNow();
  await p.pass(1000);
  const skipped = { status: 'skipped', run_id: null, trace_id: 'asked-by-ada' };
  expect(await runNow()).toMatchObject({ ...skipped, reason: 'budget' });
  await ask('DELETE', `/v1/grants/${task.grant_id}`);
  await p.pass(day);
  expect(await runNow()).toMatchObject({ ...skipped, reason: 'grant_revoked' });
  const told = (await runs()).filter(({ trace_id: trace }) => trace === 'asked-by-ada');
  expect(told.map(({ reason }) => reason)).toEqual(['grant_revoked', 'budget', null]);
  // The schedule asks in the course of no request.
  const ofSlots = (await runs()).filter(({ reason, trace_id: trace }) => reason === 'grant_revoked' && trace === null);
  expect(ofSlots.map(({ status }) => status)).toEqual(['skipped']);
});
