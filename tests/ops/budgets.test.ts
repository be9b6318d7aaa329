import { expect, it, onTestFinished } from 'vitest';
import { soon } from '../support/patience.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { startProgram } from './program.ts';

const headers = { authorization: `Bearer ${onPostgres.API_TOKEN}`, 'content-type': 'application/json' };
const spends = [{ kind: 'requests', quantity: 3, source: 'example.com' }];

interface Budget {
  readonly spent: number;
  readonly reserved: number;
}

/** A server over that database, as a program asks it. */
async function aServer(folder: string, databaseUrl: string) {
  const env = {
    DATABASE_URL: databaseUrl,
    ...onPostgres,
    ECHO_ACTION: '1',
  };
  const program = startProgram(folder, env, onTestFinished);
  const url = await program.url();
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as {
      task: { task_id: string };
      budgets: readonly Budget[];
      spent: readonly object[];
      runs: readonly object[];
    };
  };
  const budget = async () => (await ask('GET', '/v1/budgets')).budgets[0];
  const runs = async () => (await ask('GET', '/v1/runs')).runs;
  return { program, ask, budget, runs };
}

it.each([
  ['SQLite', () => ({ url: 'file:c.db', drop: () => undefined })],
  ['Postgres', freshPostgres],
] as const)(
  'kill -9 between the reservation and the end of a run settles what it held at the next start, on %s',
  async (_engine, open) => {
    const database = await open();
    onTestFinished(() => database.drop());
    const folder = aFolder();
    const first = await aServer(folder, database.url);
    await first.ask('PUT', '/v1/budgets', { thread_key: 'cli:default', requests: 10, per: 'month' });
    const { task } = await first.ask('POST', '/v1/threads/cli:default/tasks', {
      instructions: 'Spends',
      schedule: { kind: 'interval', interval: 'P300D', timezone: 'UTC' },
      action: { kind: 'echo', delay_ms: 60_000, repeatable: false, spends },
    });
    await first.ask('POST', `/v1/tasks/${task.task_id}/run-now`);
    await soon(async () => expect(await first.budget()).toMatchObject({ spent: 0, reserved: 3 }));
    await soon(async () => expect(await first.runs()).toMatchObject([{ status: 'running' }]));
    first.program.kill('SIGKILL');
    await first.program.ended;

    const next = await aServer(folder, database.url);
    await soon(async () => expect(await next.budget()).toMatchObject({ spent: 3, reserved: 0 }));
    expect(await next.runs()).toMatchObject([{ status: 'failed' }]);
    expect((await next.ask('GET', '/v1/usage')).spent).toEqual([{ kind: 'requests', quantity: 3, currency: null }]);
  },
);
