import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { soon } from '../support/patience.ts';
import { aFolder, aStub } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { openBotApi } from './bot-api.ts';
import { startProgram } from './program.ts';

/** Processes of their own: what is told while no worker lives, what becomes of the slots of that time, and kinds that are paused. */

const headers = { authorization: `Bearer ${onPostgres.API_TOKEN}`, 'content-type': 'application/json' };
const hour = 3_600_000;

async function processesOn(env: Readonly<Record<string, string>> = {}) {
  const database = await freshPostgres();
  onTestFinished(() => database.drop());
  const settings = {
    ...onPostgres,
    TELEGRAM_BOT_TOKEN: `123456789:${'A'.repeat(35)}`,
    TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
    DATABASE_URL: database.url,
    ...env,
  };
  const begin = (ROLE: string) => startProgram(aFolder(), { ...settings, ROLE }, onTestFinished);
  const [api, worker] = [begin('api'), begin('worker')];
  const url = await api.url();
  await worker.url();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set search_path to cronogram');
  onTestFinished(() => client.end());
  const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as T };
  };
  const create = async (title: string, facts: object) => {
    const body = { title, instructions: title, ...facts };
    const made = await ask<{ task: { task_id: string } }>('POST', '/v1/threads/cli:default/tasks', body);
    expect(made.status).toBe(201);
    return made.body.task.task_id;
  };
  return { ask, create, client, worker, begin };
}

interface Status {
  readonly scheduler: { readonly state: string; readonly since: string | null };
  readonly processes: readonly { readonly role: string }[];
  readonly paused_kinds: readonly { readonly kind: string }[];
}

it('tells that the scheduler is paused while no worker lives; on return each policy decides, and one report tells it', async () => {
  const { ask, create, client, worker, begin } = await processesOn();
  const hourly = {
    kind: 'interval',
    interval: 'PT1H',
    start_at: new Date(Date.now() - 10.5 * hour).toISOString(),
    timezone: 'UTC',
  };
  const tasks = new Map<string, string>();
  for (const missed of ['skip', 'once', 'all'])
    tasks.set(
      missed,
      await create(missed, { schedule: hourly, policies: { missed, grace: 'PT1M', overlap: 'queue' } }),
    );

  worker.kill('SIGKILL');
  await worker.ended;
  // Three hours go by for the database.
  const since = Date.now() - 3 * hour;
  await client.query(`update processes set seen_at = $1, lease_until = $1 where role = 'worker'`, [since]);
  await client.query(`update tasks set next_at = next_at - $1::bigint`, [3 * hour]);
  await client.query(`update kv set value = $1 where scope = 'system' and key = 'alive_at'`, [String(since)]);
  const paused = { state: 'paused', since: new Date(since).toISOString() };
  await soon(async () => expect((await ask<Status>('GET', '/v1/status')).body.scheduler).toEqual(paused));
  const byHand = await ask('POST', `/v1/tasks/${tasks.get('skip')}/run-now`);
  expect(byHand).toMatchObject({ status: 200, body: { waits_for: { reason: 'no_worker', since: paused.since } } });
  expect(await ask('POST', '/v1/tick')).toMatchObject({ status: 409, body: { error: { code: 'no_worker' } } });
  await create('made meanwhile', { schedule: hourly });

  await begin('worker').url();
  await soon(async () =>
    expect((await ask<Status>('GET', '/v1/status')).body).toMatchObject({
      scheduler: { state: 'running', since: null },
      processes: [{ role: 'api' }, { role: 'worker' }],
    }),
  );
  const statuses = async (missed: string) => {
    const path = `/v1/tasks/${tasks.get(missed)}/runs`;
    const { body } = await ask<{ task_runs: readonly { status: string; source: string }[] }>('GET', path);
    return body.task_runs.filter(({ source }) => source !== 'run_now').map(({ status }) => status);
  };
  await soon(async () => expect(await statuses('skip')).toEqual(['missed', 'missed', 'missed']));
  await soon(async () => expect((await statuses('once')).toSorted()).toEqual(['missed', 'missed', 'succeeded']));
  await soon(async () => expect(await statuses('all')).toEqual(['succeeded', 'succeeded', 'succeeded']));
  const downtimes = async () =>
    (await ask<{ downtimes: readonly { from: string; counts: object | null }[] }>('GET', '/v1/downtimes')).body
      .downtimes;
  await soon(async () =>
    expect(await downtimes()).toMatchObject([{ from: paused.since, counts: { missed: 5, late: 4 } }]),
  );
  expect(await ask('POST', '/v1/tick')).toMatchObject({ status: 200, body: { elsewhere: true, failed: [] } });
});

it('answers people while no worker lives', async () => {
  const telegram = await openBotApi();
  onTestFinished(() => telegram.close());
  const owners = { TELEGRAM_API_ROOT: telegram.root, TELEGRAM_OWNERS: '1001' };
  const { client, worker, begin } = await processesOn(owners);
  await begin('bot').url();
  worker.kill('SIGKILL');
  await worker.ended;
  const since = Date.now() - 3 * hour;
  await client.query(`update processes set seen_at = $1, lease_until = $1 where role = 'worker'`, [since]);
  const from = { id: 1001, is_bot: false, first_name: 'Ada' };
  const entities = [{ type: 'bot_command', offset: 0, length: 7 }];
  const message = { message_id: 5, date: 1, chat: { id: 1001, type: 'private', first_name: 'Ada' }, from, entities };
  telegram.bring({ update_id: 1, message: { ...message, text: '/status' } });
  await soon(() => expect(telegram.texts.join()).toContain('Scheduler paused since'));
});

it('lets runs of a paused kind wait in every worker, whichever process was told, and over a death', async () => {
  let visits = 0;
  const host = await aStub((_incoming, outgoing) => {
    visits += 1;
    outgoing.end('done');
  });
  const { ask, create, worker, begin } = await processesOn({ EGRESS_ALLOW: new URL(host).host });
  const action = { kind: 'http', url: `${host}/price` };
  const far = { kind: 'once', once_at: new Date(Date.now() + 100 * hour).toISOString(), timezone: 'UTC' };
  const call = await create('call', { action, schedule: far });
  expect((await ask('POST', '/v1/actions/http/pause')).status).toBe(200);
  const ran = async (id: string) => {
    const { body } = await ask<{ task_run: { run_id: string } }>('POST', `/v1/tasks/${id}/run-now`);
    return body.task_run.run_id;
  };
  const state = async (id: string) => (await ask<{ state: string }>('GET', `/v1/runs/${id}`)).body.state;
  const waiting = await ran(call);
  worker.kill('SIGKILL');
  await worker.ended;
  const next = begin('worker');
  await next.url();
  const beside = await create('beside', { schedule: far });
  const quick = await ran(beside);
  await soon(async () => expect(await state(quick)).toBe('succeeded'));
  expect([await state(waiting), visits]).toEqual(['queued', 0]);
  expect((await ask<Status>('GET', '/v1/status')).body.paused_kinds).toMatchObject([{ kind: 'http' }]);
  expect((await ask('POST', '/v1/actions/http/resume')).status).toBe(200);
  await soon(async () => expect(await state(waiting)).toBe('succeeded'));
  expect(visits).toBe(1);
  const { body } = await ask<{ attempts: readonly { worker: object; job_id: string | null }[] }>(
    'GET',
    `/v1/runs/${quick}`,
  );
  expect(body.attempts).toMatchObject([
    { worker: { role: 'worker', pid: next.pid }, job_id: expect.stringMatching(/^\d+$/) as string },
  ]);
});
