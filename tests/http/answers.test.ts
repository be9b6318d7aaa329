import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../src/domain/errors.ts';
import { iso } from '../../src/domain/schedule/time/calendar.ts';
import type { Task } from '../../src/domain/task.ts';
import { statusOf } from '../../src/http/errors.ts';
import { aDoor, bearer, createPath, creation, now, run, task, taskRun } from './door.ts';

const wireTask = {
  task_id: 'task-1',
  number: 3,
  version: 2,
  title: 'Stand up',
  instructions: 'Stand up!',
  action: { kind: 'message' },
  schedule: {
    kind: 'cron',
    once_at: null,
    cron: '0 9 * * 1-5',
    rrule: null,
    interval: null,
    start_at: null,
    from: null,
    timezone: 'Europe/Madrid',
  },
  enabled: true,
  state: 'active',
  next_run_at: '2026-11-18T10:00:00.000Z',
  creator_thread_key: 'telegram:chat:-1001234:topic:7',
  execution_thread_key: 'telegram:chat:-1001234:topic:42',
  delivery_target: {
    provider: 'telegram',
    route: { chat_id: '-1001234', message_thread_id: 42, chatId: -1001234, messageThreadId: 42 },
    metadata: { creator_message_thread_id: 7 },
  },
  owner_user_key: 'telegram:user:7',
  grant_id: 'grant-1',
  policies: { overlap: 'queue' },
  context: { seen: 1 },
  subject: 'daily',
  tags: ['team'],
  counters: { runs: 5, failures: 1, consecutive_failures: 0, bounded_runs: 4 },
  paused_reason: null,
  resume_at: null,
  created_at: '2026-11-18T08:59:55.000Z',
  created_by: 'telegram:user:7',
  updated_at: '2026-11-18T08:59:56.000Z',
  updated_by: 'telegram:user:7',
  paused_at: null,
  paused_by: null,
  resumed_at: '2026-11-18T08:59:57.000Z',
  resumed_by: 'system:api',
  deleted_at: null,
  deleted_by: null,
  last_run_id: 'run-0',
  last_run_at: '2026-11-18T08:59:59.000Z',
  last_run_status: 'succeeded',
  last_outcome: 'missed',
  last_error_message: null,
  stale_since: null,
};

describe('an answer', () => {
  it('tells a task in the words of the API', async () => {
    expect((await aDoor().ask('GET', '/v1/tasks/task-1')).json).toEqual({ task: { ...wireTask, snoozed_to: [] } });
  });

  it('tells what a task has not got as null', async () => {
    const bare = {
      ...task,
      home: { provider: 'telegram', address: '5', topic: null },
      topicId: null,
      nextAt: null,
      state: 'paused',
    } as const;
    const { json } = await aDoor({ get: async () => bare }).ask('GET', '/v1/tasks/task-1');
    expect(json.task).toMatchObject({
      enabled: false,
      next_run_at: null,
      execution_thread_key: null,
      delivery_target: { route: { chat_id: '5', chatId: 5 }, metadata: {} },
    });
  });

  it('tells since when a result is too old, and nothing while it is not', async () => {
    const staleOf = async (facts: Partial<Task>) => {
      const { json } = await aDoor({ get: async () => ({ ...task, ...facts }) }).ask('GET', '/v1/tasks/task-1');
      return json.task.stale_since as unknown;
    };
    expect(await staleOf({ staleAt: now })).toBe(iso(now));
    expect(await staleOf({ staleAt: now, state: 'paused', nextAt: null })).toBe(iso(now));
    expect(await staleOf({ staleAt: now + 1 })).toBeNull();
    expect(await staleOf({ staleAt: now, state: 'completed', nextAt: null })).toBeNull();
  });

  it('names a thread of its own for a task that is delivered nowhere', async () => {
    const home = { provider: 'cli', address: 'default', topic: null };
    const { json } = await aDoor({ get: async () => ({ ...task, home, topicId: null }) }).ask(
      'GET',
      '/v1/tasks/task-1',
    );
    expect(json.task.execution_thread_key).toBe('cli:task:task-1');
    expect(json.task.delivery_target.route).toEqual({ chat_id: 'default', threadKey: 'cli:default' });
  });

  it('tells a run of a task with its attempts and deliveries', async () => {
    const { json } = await aDoor().ask('POST', '/v1/tasks/task-1/run-now');
    expect(json).toEqual({
      task: wireTask,
      task_run: {
        task_run_id: 'occurrence-1',
        task_id: 'task-1',
        scheduled_for: '2026-11-18T09:00:00.000Z',
        idempotency_key: 'task:task-1:scheduled_for:2026-11-18T09:00:00.000Z',
        run_id: 'run-1',
        status: 'dispatched',
        source: 'run_now',
        reason: null,
        replay_of: null,
        late_ms: 0,
        run_number: 6,
        action_kind: 'message',
        error_message: null,
        error_code: null,
        created_at: '2026-11-18T09:00:00.000Z',
        updated_at: '2026-11-18T09:00:00.000Z',
        trace_id: 'run-1',
        attempts: [
          {
            attempt: 1,
            status: 'running',
            started_at: '2026-11-18T09:00:00.000Z',
            finished_at: null,
            duration_ms: null,
            http_status: null,
            action_kind: 'message',
            error_message: null,
            worker: { boot_id: 'boot', role: null, host: null, pid: null },
            job_id: null,
          },
        ],
        deliveries: [
          {
            delivery_id: 'delivery-1',
            part: 1,
            status: 'delivered',
            thread_key: 'telegram:chat:-1001234:topic:42',
            chat_id: '-1001234',
            message_thread_id: 42,
            message_id: 99,
            error_code: null,
            error_message: null,
            fallback: false,
            created_at: '2026-11-18T09:00:00.000Z',
            delivered_at: '2026-11-18T09:00:00.005Z',
            trace_id: 'run-1',
          },
        ],
      },
      waits_for: null,
    });
  });

  it('tells a run', async () => {
    const { json } = await aDoor().ask('GET', `/v1/runs/${run.id}`);
    expect(json).toMatchObject({
      run_id: 'run-1',
      task_run_id: taskRun.id,
      status: 'succeeded',
      state: 'succeeded',
      output: { text: 'Stand up!' },
      error_message: null,
    });
  });

  it.each([
    ['queued', 'running'],
    ['running', 'running'],
    ['backoff', 'running'],
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['cancelled', 'failed'],
  ] as const)('tells the state %s of a run as the status %s', async (state, status) => {
    const door = aDoor({ getRun: async () => ({ ...run, status: state, error: state }) });
    const { json } = await door.ask('GET', '/v1/runs/run-1');
    expect(json).toMatchObject({ status, state, error_message: state, error: { message: state } });
  });

  it('tells of a last run that was cancelled that it has failed, and its finer word', async () => {
    const door = aDoor({ get: async () => ({ ...task, lastRunStatus: 'cancelled', lastOutcome: 'cancelled' }) });
    const { json } = await door.ask('GET', '/v1/tasks/task-1');
    expect(json.task).toMatchObject({ last_run_status: 'failed', last_outcome: 'cancelled' });
  });

  it('is 201 with warnings when a task was made, also when that is repeated, and 200 when it was there', async () => {
    const made = await aDoor().ask('POST', createPath, creation);
    expect([made.status, made.json.warnings]).toEqual([201, ['Short months.']]);
    expect(made.json.warning_details).toEqual([{ code: 'days_29_31', message: 'Short months.' }]);
    const door = aDoor({ create: async () => ({ task, created: false, replayed: false, warnings: [], assumed: [] }) });
    expect((await door.ask('POST', createPath, creation)).status).toBe(200);
    const again = aDoor({ create: async () => ({ task, created: true, replayed: true, warnings: [], assumed: [] }) });
    expect((await again.ask('POST', createPath, creation)).status).toBe(201);
  });
});

describe('an error', () => {
  const codes = Object.keys(statusOf) as ErrorCode[];

  it.each(codes)('with the code %s has its status and the envelope', async (code) => {
    const door = aDoor({ get: async () => Promise.reject(new AppError(code, 'A sentence.', { details: { a: 1 } })) });
    const { status, json } = await door.ask('GET', '/v1/tasks/task-1');
    expect(status).toBe(statusOf[code]);
    expect(Object.keys(json)).toEqual(['error']);
    expect(json.error.code).toBe(code);
  });

  it('of ours shows an id, and its cause only to the log', async () => {
    const door = aDoor({ get: async () => Promise.reject(new Error('select secret\nparams: the text of a person')) });
    const { status, json, text } = await door.ask('GET', '/v1/tasks/task-1');
    expect([status, json.error.code]).toEqual([500, 'internal']);
    expect(text).not.toContain('secret');
    const fault = door.log.lines.find(({ event }) => event === 'http_fault');
    expect(fault?.facts).toMatchObject({
      error_id: json.error.details?.['error_id'],
      error: 'Error: select secret',
      request_id: 'id-00000001',
      route: '/v1/tasks/:task_id',
    });
    expect(JSON.stringify(door.log.lines)).not.toContain('the text of a person');
  });

  it('that will pass says when to come back', async () => {
    const door = (code: ErrorCode) => aDoor({ get: async () => Promise.reject(new AppError(code, 'x')) });
    expect((await door('quota_exceeded').ask('GET', '/v1/tasks/task-1')).headers.get('retry-after')).toBe('60');
    expect((await door('store_unavailable').ask('GET', '/v1/tasks/task-1')).headers.get('retry-after')).toBe('5');
  });
});

describe('the token', () => {
  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['no scheme', 'the-token'],
    ['another scheme', 'Basic the-token'],
    ['a wrong one', 'Bearer the-tokem'],
    ['a longer one', 'Bearer the-token2'],
    ['two', 'Bearer the-token x'],
  ])('is needed under /v1: %s', async (_what, authorization) => {
    const door = aDoor();
    for (const path of ['/v1/tasks', '/v1/no-such-route', '/v1', '/%761/tasks']) {
      const response = await door.app.request(path, { headers: authorization === undefined ? {} : { authorization } });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="cronogram"']);
      expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
    }
    expect(door.asked).toEqual([]);
  });

  it('is taken whatever the case of its scheme', async () => {
    expect((await aDoor().app.request('/v1/tasks', { headers: { authorization: 'bearer the-token' } })).status).toBe(
      200,
    );
  });

  it('never reaches the log, nor does what people wrote', async () => {
    const door = aDoor();
    await door.ask('POST', '/v1/threads/cli:hidden-name/tasks?x=hidden-query', { ...creation, title: 'hidden-title' });
    await door.app.request('/v1/tasks', { headers: { authorization: 'Bearer wrong-token' } });
    expect(JSON.stringify(door.log.lines)).not.toMatch(/hidden|-token/);
  });
});

describe('what is open', () => {
  it('says that it is not ready, and why', async () => {
    const health = { live: () => ({ ok: true }), ready: async () => ({ ok: false, database: 'SQLITE_FULL' }) };
    const response = await aDoor({}, { health }).app.request('/readyz');
    expect([response.status, await response.json()]).toEqual([503, { ok: false, database: 'SQLITE_FULL' }]);
  });

  it('answers a probe whatever its query says', async () => {
    expect((await aDoor().app.request('/readyz?at=1&at=2')).status).toBe(200);
  });

  it('names the version', async () => {
    expect(await (await aDoor().app.request('/version')).json()).toEqual({
      name: 'cronogram',
      version: '1.2.3',
      node: process.versions.node,
    });
  });
});

describe('a request', () => {
  it('is one line of the log, probes in a lower voice', async () => {
    const door = aDoor();
    await door.ask('GET', '/v1/tasks/task-1', undefined, { 'x-request-id': 'req-7' });
    await door.ask('GET', '/readyz');
    await door.ask('GET', '/nowhere');
    expect(door.log.lines.map(({ level, event, facts }) => [level, event, facts['route'], facts['status']])).toEqual([
      ['info', 'http_request', '/v1/tasks/:task_id', 200],
      ['debug', 'http_request', '/readyz', 200],
      ['info', 'http_request', 'none', 404],
    ]);
    expect(door.log.lines[0]?.facts).toMatchObject({ method: 'GET', request_id: 'req-7', ms: 0 });
  });

  it.each(['with space', 'x'.repeat(129), '<script>'])('gets an id of ours when its own is odd: %s', async (id) => {
    const response = await aDoor().app.request('/livez', { headers: { ...bearer, 'x-request-id': id } });
    expect(response.headers.get('x-request-id')).toMatch(/^id-\d+$/);
  });
});
