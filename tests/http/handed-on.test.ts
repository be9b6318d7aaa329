import { describe, expect, it } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { apiOperator } from '../../src/app/use-cases/tokens.ts';
import { aDoor, type Json } from './door.ts';

const by = { actor: 'system:api', traceId: 'trace' };
const letting = { by: by.actor, traceId: by.traceId };
const changer = { ...by, idempotencyKey: null };
const ofTask = { taskId: 'a', ...changer };
const until = '2026-11-18T12:00:00+01:00';
const at = Date.parse(until);
const key = 'telegram:chat:-5:topic:7';
const thread = { provider: 'telegram', address: '-5', topic: 7 };
const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
const page = { limit: 3, cursor: 'c' };

type Row = readonly [request: string, body: object | undefined, useCase: string, ...given: unknown[]];

/** Requests, and what the use cases are asked for by them. */
const rows: readonly Row[] = [
  [
    `POST /v1/threads/${key}/tasks`,
    { instructions: 'x', schedule: { ...hourly, rrule: null }, policies: { on_existing: 'upsert', overlap: 'skip' } },
    'tasks.create',
    {
      threadKey: key,
      input: { instructions: 'x', schedule: hourly, policies: { overlap: 'skip' } },
      onExisting: 'upsert',
      ...changer,
    },
  ],
  [
    `POST /v1/threads/${key}/tasks`,
    { when: 'every day at 9 x', timezone: 'UTC' },
    'tasks.create',
    {
      threadKey: key,
      input: { when: 'every day at 9 x', timezone: 'UTC', instructions: undefined, policies: {} },
      onExisting: undefined,
      ...changer,
    },
  ],
  [
    `GET /v1/tasks?thread_key=${key}&state=disabled&q=x&tag=t&subject=s&limit=3&cursor=c`,
    undefined,
    'tasks.list',
    { thread, state: 'disabled', text: 'x', tag: 't', subject: 's', ...page },
  ],
  [
    `GET /v1/threads/${key}/tasks?tag=t`,
    undefined,
    'tasks.list',
    { thread, state: 'all', text: null, tag: 't', subject: null, limit: 50, cursor: null },
  ],
  ['GET /v1/tasks/a', undefined, 'tasks.get', 'a'],
  ['DELETE /v1/tasks/a', undefined, 'tasks.delete', ofTask],
  ['GET /v1/tasks/a/versions', undefined, 'tasks.versions', 'a'],
  [
    'PATCH /v1/tasks/a',
    { title: 'x', schedule: { ...hourly, from: null } },
    'tasks.edit',
    ofTask,
    { title: 'x', schedule: hourly },
  ],
  [
    'GET /v1/grants?thread_key=' + key + '&owner=system:api&task_id=a&state=revoked&limit=3&cursor=c',
    undefined,
    'tasks.listGrants',
    { thread, ownerId: 'system:api', taskId: 'a', account: null, state: 'revoked', ...page },
  ],
  [
    'POST /v1/grants',
    { task_id: 'a', scopes: ['action:*'], expires_at: until },
    'tasks.grant',
    ofTask,
    { scopes: ['action:*'], expiresAt: at },
  ],
  ['POST /v1/grants', { task_id: 'a' }, 'tasks.grant', ofTask, { scopes: null, expiresAt: undefined }],
  ['POST /v1/grants', { task_id: 'a', expires_at: null }, 'tasks.grant', ofTask, { scopes: null, expiresAt: null }],
  ['GET /v1/tasks/a/context', undefined, 'tasks.get', 'a'],
  [
    'PATCH /v1/tasks/a/context',
    { context: { city: 'Oslo', count: null } },
    'tasks.context',
    ofTask,
    { is: 'merged', fields: { city: 'Oslo', count: null } },
  ],
  ['DELETE /v1/tasks/a/context', undefined, 'tasks.context', ofTask, { is: 'reset' }],
  ['DELETE /v1/grants/g', undefined, 'tasks.revoke', 'g', by],
  ['POST /v1/tasks/a/run-now', undefined, 'tasks.runNow', ofTask],
  ['POST /v1/tasks/a/cancel', undefined, 'tasks.cancel', ofTask],
  ['POST /v1/tasks/a/answer', { answer: 'latest' }, 'tasks.answer', ofTask, 'latest'],
  ['POST /v1/tasks/a/answer', { run: true }, 'tasks.answer', ofTask, 'all'],
  ['POST /v1/tasks/a/answer', { run: false }, 'tasks.answer', ofTask, 'none'],
  ['POST /v1/tasks/a/pause', undefined, 'tasks.pause', ofTask, null],
  ['POST /v1/tasks/a/pause', { until }, 'tasks.pause', ofTask, at],
  ['POST /v1/tasks/a/resume', undefined, 'tasks.resume', ofTask],
  ['POST /v1/tasks/a/skip', undefined, 'tasks.skip', ofTask, { count: 1, from: null }],
  ['POST /v1/tasks/a/skip', { count: 3, from: until }, 'tasks.skip', ofTask, { count: 3, from: at }],
  ['POST /v1/tasks/a/unskip', undefined, 'tasks.unskip', ofTask],
  ['POST /v1/tasks/a/snooze', { for: 'PT10M', task_run_id: 'r' }, 'tasks.snooze', ofTask, { forMs: 600_000 }, 'r'],
  ['POST /v1/tasks/a/snooze', { until }, 'tasks.snooze', ofTask, at, null],
  ['POST /v1/tasks/a/restore', undefined, 'tasks.restore', ofTask],
  ['POST /v1/tasks/a/undo', undefined, 'tasks.undo', ofTask, null],
  ['POST /v1/tasks/a/undo', { entry_id: '9' }, 'tasks.undo', ofTask, '9'],
  ['POST /v1/tasks/a/attach', { thread_key: key }, 'tasks.attach', ofTask, key],
  [`DELETE /v1/threads/${key}/tasks?dry_run=true`, undefined, 'bulk.count', { thread }],
  [`DELETE /v1/threads/${key}/tasks`, undefined, 'bulk.purge', { thread }, by],
  [
    'DELETE /v1/people/telegram:user:7/tasks?dry_run=true',
    undefined,
    'bulk.count',
    { thread: null, ownerId: 'telegram:user:7' },
  ],
  [
    `DELETE /v1/people/system:api/tasks?thread_key=${key}`,
    undefined,
    'bulk.purge',
    { thread, ownerId: 'system:api' },
    by,
  ],
  [`POST /v1/threads/${key}/pause`, { until }, 'bulk.pause', { thread, subject: null, tag: null }, by, at],
  [`POST /v1/threads/${key}/resume`, undefined, 'bulk.resume', { thread, subject: null, tag: null }, by],
  [`POST /v1/threads/${key}/cancel`, undefined, 'runs.cancelThread', key, by],
  [
    'POST /v1/tasks/pause',
    { tag: 't', until },
    'bulk.pause',
    { thread: null, subject: null, tag: 't' },
    { ...by, isDry: false },
    at,
  ],
  [
    'POST /v1/tasks/resume',
    { subject: 's', thread_key: key },
    'bulk.resume',
    { thread, subject: 's', tag: null },
    { ...by, isDry: false },
  ],
  [
    'POST /v1/tasks/cancel?dry_run=true',
    { tag: 't', subject: 's' },
    'bulk.cancel',
    { thread: null, subject: 's', tag: 't' },
    { ...by, isDry: true },
  ],
  [
    `GET /v1/runs?status=running&state=backoff&task_id=a&thread_key=${key}&source=ci&subject=s&tag=t&tag=u&tag=&q=x&from=${encodeURIComponent(until)}&limit=3&cursor=c`,
    undefined,
    'runs.list',
    {
      states: ['backoff'],
      taskId: 'a',
      thread,
      source: 'ci',
      subject: 's',
      tags: ['t', 'u'],
      text: 'x',
      from: at,
      to: null,
      ...page,
    },
  ],
  ['GET /v1/runs/r/result', undefined, 'runs.result', 'r'],
  ['GET /v1/runs/r/attachments/7', undefined, 'runs.attachment', 'r', 7],
  [
    'GET /v1/tasks/a/runs?status=failed&limit=3&cursor=c',
    undefined,
    'tasks.listRuns',
    { taskId: 'a', status: 'failed', ...page },
  ],
  ['GET /v1/tasks/a/next?count=2', undefined, 'truth.upcoming', 'a', 2],
  ['GET /v1/runs/r', undefined, 'tasks.getRun', 'r'],
  ['POST /v1/runs/r/cancel', undefined, 'tasks.cancelRun', 'r', by.actor, by.traceId],
  ['POST /v1/runs/r/retry', undefined, 'tasks.repeat', 'retry', 'r', changer],
  ['POST /v1/runs/r/replay', undefined, 'tasks.repeat', 'replay', 'r', changer],
  [
    'POST /v1/messages',
    { thread_key: key, text: 'x', source: 'ci', user_key: 'ada', delivery_mode: 'silent' },
    'messages.post',
    { threadKey: key, text: 'x', source: 'ci', userKey: 'ada', mode: 'silent', idempotencyKey: null, traceId: 'trace' },
  ],
  [
    'POST /v1/actions/preview',
    { action: { kind: 'http', url: 'https://example.com' }, schedule: hourly },
    'testRuns.check',
    {
      action: { kind: 'http', url: 'https://example.com' },
      instructions: '',
      title: 'http',
      threadKey: null,
      actor: by.actor,
    },
  ],
  [`GET /v1/budgets?thread_key=${key}`, undefined, 'spending.list', { thread, ownerId: null, taskId: null }],
  [
    'PUT /v1/budgets',
    { thread_key: key, per: 'day', requests: 5, tokens: null },
    'spending.set',
    { is: 'chat', thread },
    { per: 'day', requests: 5, tokens: undefined, money: undefined },
    by.actor,
  ],
  ['GET /v1/tokens?limit=3&cursor=c', undefined, 'tokens.list', page],
  [
    'POST /v1/tokens',
    { name: 'ci', scopes: ['run'], thread_keys: [key], expires_at: until },
    'tokens.create',
    { name: 'ci', scopes: ['run'], threadKeys: [key], expiresAt: at },
    { principal: apiOperator, traceId: by.traceId },
  ],
  ['DELETE /v1/tokens/7', undefined, 'tokens.revoke', { id: '7', by: by.actor, traceId: by.traceId }],
  [
    'POST /v1/actions/test',
    { action: { kind: 'http' }, instructions: 'Hi', thread_key: key, timezone: 'Asia/Tokyo', confirm: true },
    'testRuns.run',
    {
      threadKey: key,
      title: 'Hi',
      instructions: 'Hi',
      action: { kind: 'http' },
      timezone: 'Asia/Tokyo',
      context: undefined,
      actor: by.actor,
      isAgreed: true,
      idempotencyKey: null,
      traceId: 'trace',
    },
  ],
  [
    'GET /v1/tasks/a/why?at=2026-11-18T11:00&limit=3',
    undefined,
    'truth.why',
    'a',
    { at: '2026-11-18T11:00', from: undefined, to: undefined, after: null, limit: 3 },
  ],
  [
    'GET /v1/events?after=e&task_id=a&kind=run.&limit=3',
    undefined,
    'truth.readEvents',
    { after: 'e', taskId: 'a', kind: 'run.', limit: 3 },
  ],
  ['GET /v1/audit?task_id=a&limit=3&cursor=c', undefined, 'truth.readAudit', { taskId: 'a', ...page }],
  ['GET /v1/downtimes?limit=3', undefined, 'truth.listDowntimes', 3],
  ['GET /v1/status', undefined, 'operations.status'],
  [
    `GET /v1/usage?thread_key=${key}&user_key=system:api&to=${encodeURIComponent(until)}`,
    undefined,
    'operations.usage',
    { threadKey: key, userKey: 'system:api', taskId: null, group: null, from: null, to: at },
  ],
  ['GET /v1/secrets', undefined, 'secrets.list', null],
  [
    'PUT /v1/secrets/KEY',
    { value: 'sesame', hosts: ['a.example.com'] },
    'secrets.set',
    { place: null, name: 'KEY', value: 'sesame', hosts: ['a.example.com'], ...letting },
  ],
  ['DELETE /v1/secrets/KEY', undefined, 'secrets.delete', { place: null, name: 'KEY', ...letting }],
  ['POST /v1/rotate-secrets?after=a', undefined, 'secrets.rotate', 'a'],
  ...['pause', 'resume'].map((to): Row => [`POST /v1/actions/a/${to}`, undefined, `kindPauses.${to}`, 'a', by]),
  ['GET /v1/threads?limit=3&cursor=c', undefined, 'access.threads', { ...page, of: null }],
  ['GET /v1/access?limit=3&cursor=c', undefined, 'access.list', page],
  ['PUT /v1/access/telegram:chat:-100', undefined, 'access.allow', { address: '-100', role: undefined, ...letting }],
  ['PUT /v1/access/7', { role: 'owner' }, 'access.allow', { address: '7', role: 'owner', ...letting }],
  ['DELETE /v1/access/7', undefined, 'access.deny', { address: '7', ...letting }],
  [
    'POST /v1/actions/test',
    { action: { kind: 'message' }, instructions: 'x', timezone: 'UTC', thread_key: key, confirm: true },
    'testRuns.run',
    {
      threadKey: key,
      title: 'x',
      instructions: 'x',
      action: { kind: 'message' },
      timezone: 'UTC',
      context: undefined,
      isAgreed: true,
      ...changer,
    },
  ],
  ['POST /v1/tick', undefined, 'operations.tick'],
  ['POST /v1/audit/run', undefined, 'upkeep.audit'],
  ['POST /v1/reconcile', undefined, 'upkeep.reconcile', { fix: false, actor: by.actor }],
  ['POST /v1/reconcile', { fix: true }, 'upkeep.reconcile', { fix: true, actor: by.actor }],
];

describe('what is asked for', () => {
  it.for(rows)('%s %j is handed on to %s, whole', async ([request, body, useCase, ...given]) => {
    const door = aDoor();
    const [method = '', path = ''] = request.split(' ');
    const { status, text } = await door.ask(method, path, body, { 'x-request-id': by.traceId });
    expect([status < 300, door.asked], text).toEqual([true, [{ name: useCase, given }]]);
  });

  it('is a row of this table for every operation that has a use case', () => {
    const shapes = rows.map(([request]) =>
      (request.split('?', 1)[0] ?? '')
        .replace(/\/(?:a|r|g|7)(?=\/|$)/g, '/{}')
        .replace(key, '{}')
        .replace('/system:api/', '/{}/')
        .replace('/KEY', '/{}'),
    );
    const missing = Object.entries(operations).filter(
      ([, { method, path, scope }]) =>
        scope !== 'open' && !shapes.includes(`${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`),
    );
    // A preview is calculated by the door's own, and kinds are told as they are.
    expect(missing.map(([id]) => id)).toEqual(['previewSchedule', 'listActions']);
  });
});

describe('a message', () => {
  it.each([
    [{}, 'normal'],
    [{ delivery_mode: 'followUp' }, 'normal'],
    [{ delivery_mode: 'steer' }, 'normal'],
    [{ delivery_mode: 'steer', sound: 'silent' }, 'silent'],
    [{ sound: 'urgent' }, 'urgent'],
    [{ delivery_mode: 'urgent' }, 'urgent'],
    [{ images: [] }, 'normal'],
  ])('that asks for %j comes with the sound %s', async (fields, mode) => {
    const door = aDoor();
    expect((await door.ask('POST', '/v1/messages', { thread_key: key, text: 'x', ...fields })).status).toBe(202);
    expect(door.asked).toMatchObject([{ name: 'messages.post', given: [{ mode }] }]);
  });
});

describe('the runs that are listed', () => {
  it.each([
    ['source=ci', { source: 'ci', taskId: null }],
    ['source=task', { source: 'task', taskId: null }],
    ['source=task:a', { source: null, taskId: 'a' }],
    ['source=task:a&task_id=a', { source: null, taskId: 'a' }],
    ['source=task:a&task_id=b', { source: 'task:a', taskId: 'b' }],
  ])('come from where %s says', async (query, from) => {
    const door = aDoor();
    await door.ask('GET', `/v1/runs?${query}`);
    expect(door.asked).toMatchObject([{ name: 'runs.list', given: [from] }]);
  });

  const live = ['queued', 'running', 'backoff'];

  it.each([
    ['', null],
    ['status=running', live],
    ['status=live', live],
    ['state=live', live],
    ['status=succeeded', ['succeeded']],
    ['status=failed', ['failed', 'cancelled']],
    ['state=cancelled', ['cancelled']],
    ['status=failed&state=failed', ['failed']],
    ['status=succeeded&state=failed', []],
  ])('stand as %s says', async (query, states) => {
    const door = aDoor();
    await door.ask('GET', `/v1/runs?${query}`);
    expect(door.asked).toMatchObject([{ name: 'runs.list', given: [{ states }] }]);
  });
});

describe('what comes of it', () => {
  const told = async (request: string, body?: object): Promise<Json> => {
    const [method = '', path = ''] = request.split(' ');
    return (await aDoor().ask(method, path, body)).json;
  };

  it('is a page with the place where the next one begins', async () => {
    for (const list of ['tasks', 'threads/cli:default/tasks', 'runs', 'grants'])
      expect((await told(`GET /v1/${list}`)).next_cursor, list).toBe('more');
    expect((await told('GET /v1/tasks/a/runs')).next_cursor).toBeNull();
  });

  it('is counted, and deleted unless that was only asked', async () => {
    const counts = { tasks: 5, active: 3, paused: 1, completed: 1, live_runs: 1, open_deliveries: 2 };
    const path = '/v1/threads/cli:default/tasks';
    expect(await told(`DELETE ${path}?dry_run=true`)).toEqual({ deleted: false, counts });
    expect(await told(`DELETE ${path}`)).toEqual({ deleted: true, counts });
  });

  it('is the entry of the change, and of the one that it took back', async () => {
    expect(await told('POST /v1/tasks/a/pause')).toMatchObject({ entry_id: '17', task: { task_id: 'task-1' } });
    const undone = { entry_id: '16', verb: 'pause', at: '2026-11-18T09:00:00.000Z' };
    expect(await told('POST /v1/tasks/a/undo')).toMatchObject({ entry_id: '17', undone });
    expect(await told('POST /v1/runs/r/cancel')).toMatchObject({ cancelled: true, run: { run_id: 'run-1' } });
  });

  it('is whether anything of the thread was called off, and how much', async () => {
    const answer = { thread_key: 'cli:default', cancelled: true, runs: 2, left: 1 };
    expect(await told('POST /v1/threads/cli:default/cancel')).toEqual(answer);
  });

  it('is what the audit found, and what was mended', async () => {
    const finding = {
      check: 'dispatched_without_run',
      count: 1,
      examples: ['occurrence-1'],
      sentence: 'An occurrence says that its run is live, and no such run is.',
      fixable: true,
    };
    const audit = { at: '2026-11-18T09:00:00.000Z', findings: [finding], checked: { tasks: 1 } };
    expect(await told('POST /v1/audit/run')).toEqual(audit);
    const fixed = [{ check: finding.check, id: 'occurrence-1', did: 'failed: its run is missing' }];
    expect(await told('POST /v1/reconcile', { fix: true })).toEqual({ findings: [finding], fixed });
  });

  it('is a run that ended as it ended', async () => {
    expect(await told('GET /v1/runs/r/result')).toEqual({
      run_id: 'run-1',
      status: 'succeeded',
      state: 'succeeded',
      output: { text: 'Stand up!' },
      error_message: null,
      error_code: null,
      error: null,
      finished_at: '2026-11-18T09:00:00.000Z',
    });
  });
});
