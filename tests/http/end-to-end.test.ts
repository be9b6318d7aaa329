import { describe, expect, it } from 'vitest';
import { minute, type PipelineOptions, start } from '../support/pipeline.ts';
import { creation, cron } from './door.ts';
import { aPlace as aRoom } from './verb-place.ts';

async function aPlace(options: PipelineOptions = {}) {
  const { p: pipeline, ask } = await aRoom(options);
  const make = (more = {}, key?: string) => {
    const headers: Readonly<Record<string, string>> = key === undefined ? {} : { 'idempotency-key': key };
    return ask('POST', '/v1/threads/telegram:chat:-1001234:topic:7/tasks', { ...creation, ...more }, headers);
  };
  return { pipeline, ask, make };
}

describe('a task in plain words', () => {
  const inWords = async ({ ask }: Pick<Awaited<ReturnType<typeof aPlace>>, 'ask'>, body: object, key = 'one') =>
    ask(
      'POST',
      '/v1/threads/telegram:chat:-1001234/tasks',
      { timezone: 'Europe/Madrid', ...body },
      {
        'idempotency-key': key,
      },
    );

  it('gets its time, its text and its policies from them', async () => {
    const place = await aPlace();
    const { task } = (
      await inWords(place, { when: 'every day at 8 until done: Take the pill', policies: { grace: 'PT1M' } })
    ).json;
    expect(task).toMatchObject({
      instructions: 'Take the pill',
      schedule: { kind: 'cron', cron: '0 8 * * *', timezone: 'Europe/Madrid' },
      policies: { ack: { nag_every: 'PT10M', nag_limit: 3 }, grace: 'PT1M' },
    });
  });

  it('is the same task when it is asked for again, though the words mean another time by then', async () => {
    const place = await aPlace();
    const body = { when: 'in 20 minutes Call mum' };
    const first = await inWords(place, body);
    await place.pipeline.time.advance(minute);
    const again = await inWords(place, body);
    expect([again.status, again.json.task]).toEqual([201, first.json.task]);
  });

  it('is for whom they say first', async () => {
    const { task } = (await inWords(await aPlace(), { when: '@ben tomorrow at 17:00 bring the keys' })).json;
    expect(task).toMatchObject({ title: 'bring the keys', instructions: '@ben: bring the keys' });
  });

  it('comes at the hours of its chat, and on the days that dates mean there', async () => {
    const place = await aPlace();
    await inWords(place, { when: 'in 20 minutes tea' });
    const { store } = place.pipeline;
    const chat = await store.findChat('-1001234');
    await store.changeChat(chat?.id ?? '', { settings: { dates: 'us', hours: { morning: 480 } } }, start);
    const { json } = await inWords(place, { when: 'on 3/4/2027 call mum' }, 'two');
    expect(json).toMatchObject({
      task: { schedule: { once_at: '2027-03-04T07:00:00.000Z' } },
      assumed: [{ what: 'day', text: '08:00' }],
    });
  });

  it('has one text, and a time that can be read', async () => {
    const place = await aPlace();
    const twice = await inWords(place, { when: 'every day at 9 Stand up', instructions: 'Sit down' });
    expect([twice.status, twice.json.error.details]).toEqual([400, { field: 'when' }]);
    const unread = await inWords(place, { when: 'whenever it rains' }, 'two');
    expect([unread.status, unread.json.error.code]).toEqual([400, 'invalid_schedule']);
    const blank = await inWords(place, { when: 'every day at 9' }, 'three');
    expect([blank.status, blank.json.error.details]).toMatchObject([400, { field: 'instructions' }]);
  });
});

describe('a task', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const { ask, make } = await aPlace();
    const made = await make({ tags: ['team'], subject: 'daily', context: { a: 1 }, policies: { missed: 'all' } });
    expect([made.status, made.json.warnings]).toEqual([201, []]);
    const { task } = made.json;
    expect(task).toMatchObject({
      number: 1,
      enabled: true,
      title: 'Stand up!',
      next_run_at: '2026-11-19T08:00:00.000Z',
      owner_user_key: 'system:api',
    });
    const path = `/v1/tasks/${task.task_id}`;
    const read = { ...task, snoozed_to: [] };
    expect((await ask('GET', path)).json.task).toEqual(read);
    expect(
      (await ask('GET', '/v1/tasks?tag=team&subject=daily&q=stand&thread_key=telegram:chat:-1001234:topic:7')).json
        .tasks,
    ).toEqual([read]);
    expect((await ask('GET', '/v1/threads/telegram%3Achat%3A-1001234/tasks')).json.tasks).toEqual([read]);
    const changed = await ask('PATCH', path, { title: 'Sit down', policies: { missed: null }, subject: null });
    expect(changed.json.task).toMatchObject({
      title: 'Sit down',
      policies: {},
      subject: null,
      next_run_at: task.next_run_at,
    });
    expect((await ask('DELETE', path)).json).toEqual({ deleted: true });
    const gone = await Promise.all([
      ask('GET', path),
      ask('DELETE', path),
      ask('PATCH', path, { title: 'x' }),
      ask('GET', '/v1/tasks/never-was'),
      ...['runs', 'next', 'versions'].map((part) => ask('GET', `${path}/${part}`)),
    ]);
    expect(gone.map(({ status, text }) => [status, text])).toEqual(gone.map(() => [404, gone[0]?.text]));
  });

  it('takes its own schedule back without a change', async () => {
    const { ask, make } = await aPlace();
    for (const schedule of [
      cron,
      { kind: 'once', once_at: '2027-01-31T09:00', timezone: 'Europe/Madrid' },
      { kind: 'rrule', rrule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', timezone: 'UTC' },
      { kind: 'interval', interval: 'PT90M', from: 'completion', timezone: 'UTC' },
    ]) {
      const { task } = (await make({ schedule })).json;
      const again = await ask('PATCH', `/v1/tasks/${task.task_id}`, { schedule: task.schedule });
      expect([again.status, again.json.task.schedule, again.json.task.next_run_at]).toEqual([
        200,
        task.schedule,
        task.next_run_at,
      ]);
    }
  });

  it('runs now, and its run can be read with attempts and deliveries', async () => {
    const { ask, make, pipeline } = await aPlace();
    const path = `/v1/tasks/${(await make()).json.task.task_id}`;
    const ran = await ask('POST', `${path}/run-now`);
    expect([ran.status, ran.json.task_run.status, ran.json.task_run.source]).toEqual([200, 'dispatched', 'run_now']);
    const busy = await ask('POST', `${path}/run-now`);
    expect([busy.status, busy.json.error.code, busy.json.error.details]).toEqual([
      409,
      'run_in_progress',
      { run_id: ran.json.task_run.run_id },
    ]);
    await pipeline.settle();
    const [run] = (await ask('GET', `${path}/runs`)).json.task_runs;
    expect(run).toMatchObject({
      task_run_id: ran.json.task_run.task_run_id,
      status: 'succeeded',
      attempts: [{ attempt: 1, status: 'succeeded' }],
      deliveries: [{ part: 1, status: 'delivered', chat_id: '-1001234' }],
    });
    expect((await ask('GET', `/v1/runs/${run?.run_id}`)).json).toMatchObject({
      status: 'succeeded',
      task_run_id: run?.task_run_id,
    });
    const after = (await ask('GET', path)).json.task;
    expect(after.execution_thread_key).toBe(
      `telegram:chat:-1001234:topic:${after.delivery_target.route.message_thread_id}`,
    );
    expect((await ask('GET', '/v1/runs/never-was')).status).toBe(404);
  });

  it('is refused with a reason when it cannot be', async () => {
    const { make, ask } = await aPlace({ settings: { QUOTA_PER_CHAT: 1 } });
    const refusal = async (more: object) => {
      const { status, json } = await make(more);
      return [status, json.error.code, json.error.details?.['reason']];
    };
    expect(await refusal({ schedule: { kind: 'once', once_at: '2020-01-01T00:00:00Z', timezone: 'UTC' } })).toEqual([
      400,
      'invalid_schedule',
      'past',
    ]);
    expect(await refusal({ schedule: { kind: 'interval', interval: 'PT5S', timezone: 'UTC' } })).toEqual([
      400,
      'invalid_schedule',
      'too_dense',
    ]);
    expect(await refusal({ action: { kind: 'fly' } })).toEqual([400, 'invalid_action', undefined]);
    expect(await refusal({ instructions: '{{ unclosed' })).toEqual([400, 'invalid_template', undefined]);
    expect(await refusal({ policies: { timeout: 'soon' } })).toEqual([400, 'invalid_policy', undefined]);
    expect(await refusal({ title: 'x'.repeat(129) })).toEqual([400, 'invalid_request', undefined]);
    expect((await ask('POST', '/v1/threads/nowhere/tasks', creation)).json.error.code).toBe('invalid_thread_key');
    expect((await make()).status).toBe(201);
    const full = await make();
    expect([full.status, full.json.error.code, full.headers.get('retry-after')]).toEqual([429, 'quota_exceeded', '60']);
  });
});

it('tells a client that the store is away', async () => {
  const { ask, pipeline } = await aPlace();
  pipeline.database.close();
  const { status, json, headers } = await ask('GET', '/v1/tasks');
  expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '5']);
});
