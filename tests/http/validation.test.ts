import { describe, expect, it } from 'vitest';
import { requestBytesMax } from '../../src/domain/limits.ts';
import { aDoor, createPath, creation, cron } from './door.ts';

async function refused(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) {
  const door = aDoor();
  const { status, json } = await door.ask(method, path, body, headers);
  expect(door.asked).toEqual([]);
  return [status, json.error.code, json.error.details?.['field']];
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const creating = (context: string) => `{"instructions":"x","schedule":${JSON.stringify(cron)},"context":${context}}`;

describe('a create', () => {
  it.each([
    ['an unknown field', { ...creation, colour: 'red' }, 'invalid_request', 'colour'],
    ['no instructions', { schedule: cron }, 'invalid_request', 'instructions'],
    ['instructions that are no text', { ...creation, instructions: 5 }, 'invalid_request', 'instructions'],
    ['no schedule', { instructions: 'x' }, 'invalid_schedule', 'schedule'],
    ['both a schedule and words', { ...creation, when: 'every day at 9', timezone: 'UTC' }, 'invalid_request', 'when'],
    ['a schedule that is a text', { ...creation, schedule: 'daily' }, 'invalid_schedule', 'schedule'],
    ['an unknown kind', { ...creation, schedule: { kind: 'daily' } }, 'invalid_schedule', 'schedule.kind'],
    [
      'a kind without its payload',
      { ...creation, schedule: { kind: 'cron', timezone: 'UTC' } },
      'invalid_schedule',
      'schedule.cron',
    ],
    [
      'no zone',
      { ...creation, schedule: { kind: 'cron', cron: '* * * * *' } },
      'invalid_schedule',
      'schedule.timezone',
    ],
    [
      'a field of another kind',
      { ...creation, schedule: { ...cron, interval: 'PT1H' } },
      'invalid_schedule',
      'schedule.interval',
    ],
    [
      'an unknown field of a schedule',
      { ...creation, schedule: { ...cron, tz: 'UTC' } },
      'invalid_schedule',
      'schedule.tz',
    ],
    ['an unknown policy', { ...creation, policies: { fallbacks: 'creator' } }, 'invalid_policy', 'policies.fallbacks'],
    ['a policy out of range', { ...creation, policies: { priority: 11 } }, 'invalid_policy', 'policies.priority'],
    [
      'an unknown field of a policy',
      { ...creation, policies: { retry: { times: 3 } } },
      'invalid_policy',
      'policies.retry.times',
    ],
    [
      'more runs than can be counted',
      { ...creation, policies: { keep: { runs: 1001 } } },
      'invalid_policy',
      'policies.keep.runs',
    ],
    [
      'an unknown way with repeats',
      { ...creation, policies: { skip_if_unchanged: 'yes' } },
      'invalid_policy',
      'policies.skip_if_unchanged',
    ],
    ['a policy that is null', { ...creation, policies: { grace: null } }, 'invalid_policy', 'policies.grace'],
    [
      'a policy with a day that no month has',
      { ...creation, policies: { until: '2027-02-30T00:00:00Z' } },
      'invalid_policy',
      'policies.until',
    ],
    ['an action without a kind', { ...creation, action: {} }, 'invalid_action', 'action.kind'],
    ['a context that is a list', { ...creation, context: [] }, 'invalid_request', 'context'],
    ['a tag that is a number', { ...creation, tags: [1] }, 'invalid_request', 'tags.0'],
    ['a NUL character', { ...creation, instructions: 'a\0b' }, 'invalid_request', 'instructions'],
    ['half of a surrogate pair', { ...creation, title: '\ud83d' }, 'invalid_request', 'title'],
    ['a NUL character inside the context', { ...creation, context: { a: ['\0'] } }, 'invalid_request', 'context.a.0'],
    ['a NUL character in a name', { ...creation, context: { 'a\0': 1 } }, 'invalid_request', 'context.a\0'],
  ])('with %s is refused by name', async (_what, body, code, field) => {
    expect(await refused('POST', createPath, body)).toEqual([400, code, field]);
  });

  it.each([
    ['a prototype in the body', '{"__proto__":{"polluted":true}}', 400, 'invalid_request'],
    ['a prototype in the context', creating('{"__proto__":{"polluted":true}}'), 400, 'invalid_request'],
    ['a number beyond all numbers', creating('{"a":1e999}'), 400, 'invalid_request'],
    ['a context that is nested too deep', creating(nested(32)), 400, 'invalid_request'],
    ['a body that is nested without end', creating('['.repeat(50_000) + ']'.repeat(50_000)), 400, 'invalid_request'],
    ['a body that is too large', creating(`"${'x'.repeat(requestBytesMax)}"`), 413, 'payload_too_large'],
  ])('with %s is refused', async (_what, body, status, code) => {
    expect((await refused('POST', createPath, body)).slice(0, 2)).toEqual([status, code]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('survives a context of as many levels as are allowed', async () => {
    expect((await aDoor().ask('POST', createPath, creating(nested(31)))).status).toBe(201);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'of the type "%s" is refused',
    async (type) => {
      expect(await refused('POST', createPath, '{}', { 'content-type': type })).toEqual([
        415,
        'unsupported_media_type',
        undefined,
      ]);
    },
  );

  it.each(['application/json; charset=utf-8', 'Application/JSON'])('of the type "%s" is read', async (type) => {
    const { status } = await aDoor().ask('POST', createPath, creation, { 'content-type': type });
    expect(status).toBe(201);
  });

  it('that is not UTF-8 is refused', async () => {
    const response = await aDoor().app.request(createPath, {
      method: 'POST',
      headers: { authorization: 'Bearer the-token', 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  it.each(['', 'a b', 'ü', 'x'.repeat(201)])('with the Idempotency-Key "%s" is refused', async (key) => {
    expect(await refused('POST', createPath, creation, { 'idempotency-key': key })).toEqual([
      400,
      'invalid_request',
      'Idempotency-Key',
    ]);
  });

  it('names what is allowed', async () => {
    const { json } = await aDoor().ask('POST', createPath, { ...creation, titel: 'x' });
    expect(json.error.message).toBe(
      'titel: this field is not known here; known are: title, instructions, action, schedule, policies, subject, tags, context, grant_expires_at.',
    );
  });
});

describe('a query', () => {
  it.each([
    ['/v1/tasks?limit=0', 'invalid_request', 'limit'],
    ['/v1/tasks?limit=201', 'invalid_request', 'limit'],
    ['/v1/tasks?limit=1e2', 'invalid_request', 'limit'],
    ['/v1/tasks?limit=1&limit=2', 'invalid_request', 'limit'],
    ['/v1/tasks?state=on', 'invalid_request', 'state'],
    ['/v1/tasks?__proto__=x', 'invalid_request', '__proto__'],
    ['/v1/tasks?thread_key=telegram:x', 'invalid_thread_key', undefined],
    [`/v1/tasks?q=${'x'.repeat(513)}`, 'invalid_request', 'q'],
    ['/v1/tasks?q=%00', 'invalid_request', 'q'],
    [`/v1/tasks?cursor=${'x'.repeat(500)}`, 'invalid_cursor', 'cursor'],
    ['/v1/tasks?q=%zz', 'invalid_request', undefined],
    ['/v1/tasks?q=%ff', 'invalid_request', undefined],
    ['/v1/tasks/task-1/next?count=101', 'invalid_request', 'count'],
    ['/v1/tasks/task-1/runs?status=done', 'invalid_request', 'status'],
    ['/v1/runs?status=pending', 'invalid_request', 'status'],
    ['/v1/runs?from=yesterday', 'invalid_request', 'from'],
    [`/v1/runs?${'tag=x&'.repeat(11)}`, 'invalid_request', 'tag'],
    ['/v1/grants?state=old', 'invalid_request', 'state'],
    ['/v1/usage?from=yesterday', 'invalid_request', 'from'],
  ])('%s is refused', async (path, code, field) => {
    const { status, json } = await aDoor().ask('GET', path);
    expect([status, json.error.code, json.error.details?.['field']]).toEqual([400, code, field]);
  });

  it('takes an empty parameter as absent', async () => {
    const door = aDoor();
    await door.ask('GET', '/v1/tasks?thread_key=&state=&q=&tag=&subject=&limit=&cursor=');
    expect(door.asked[0]?.given).toEqual([
      { thread: null, state: 'all', text: null, tag: null, subject: null, limit: 50, cursor: null },
    ]);
  });
});

describe('a path', () => {
  it('is decoded once', async () => {
    const door = aDoor({ create: async () => Promise.reject(new Error('unused')) });
    await door.ask('POST', '/v1/threads/telegram%3Achat%3A-100%3Atopic%3A7/tasks', creation);
    expect(door.asked[0]?.given[0]).toMatchObject({ threadKey: 'telegram:chat:-100:topic:7' });
    await door.ask('POST', '/v1/threads/cli%253Adefault/tasks', creation);
    expect(door.asked[1]?.given[0]).toMatchObject({ threadKey: 'cli%3Adefault' });
  });

  it.each(['/v1/threads/%/tasks', '/v1/tasks/%zz', '/v1/tasks/%ff', '/%'])(
    'that cannot be decoded is refused: %s',
    async (path) => {
      expect((await refused('GET', path)).slice(0, 2)).toEqual([400, 'invalid_request']);
    },
  );

  it.each(['%00', '%F0%9F%98%80', 'a%2Fb', 'x'.repeat(500), '..%2f'])(
    'with an id that cannot exist is unknown: %s',
    async (id) => {
      for (const path of [`/v1/tasks/${id}`, `/v1/tasks/${id}/runs`])
        expect((await refused('GET', path)).slice(0, 2)).toEqual([404, 'task_not_found']);
      expect((await refused('GET', `/v1/runs/${id}`)).slice(0, 2)).toEqual([404, 'run_not_found']);
    },
  );

  it.each([
    ['GET', '/v1'],
    ['GET', '/v1/tasks/'],
    ['GET', '/v2/tasks'],
    ['POST', '/v1/tasks/task-1/leap'],
    ['OPTIONS', '/v1/leaps'],
  ])('without a route is not found: %s %s', async (method, path) => {
    expect((await refused(method, path)).slice(0, 2)).toEqual([404, 'not_found']);
  });
});

describe('a patch', () => {
  it.each([
    ['nothing', {}, 'invalid_request', undefined],
    ['an unknown field', { state: 'active' }, 'invalid_request', 'state'],
    ['a creation policy', { policies: { on_existing: 'add' } }, 'invalid_policy', 'policies.on_existing'],
    ['a switch that is a text', { enabled: 'yes' }, 'invalid_request', 'enabled'],
    ['a title that is null', { title: null }, 'invalid_request', 'title'],
  ])('with %s is refused', async (_what, body, code, field) => {
    expect(await refused('PATCH', '/v1/tasks/task-1', body)).toEqual([400, code, field]);
  });

  it('passes on exactly what was named', async () => {
    const door = aDoor();
    await door.ask('PATCH', '/v1/tasks/task-1', {
      subject: null,
      enabled: false,
      policies: { grace: null, retry: { attempts: 2 } },
    });
    expect(door.asked[0]?.given).toEqual([
      { taskId: 'task-1', actor: 'system:api', idempotencyKey: null, traceId: 'id-00000001' },
      { subject: null, enabled: false, policies: { grace: null, retry: { attempts: 2 } } },
    ]);
  });
});

describe.each(['pause', 'resume', 'cancel'])('many tasks that one wants to %s', (verb) => {
  it.each([
    ['without a body', '', undefined, 'invalid_request'],
    ['by nothing', '', {}, 'invalid_request'],
    ['of a thread alone, which has an operation of its own', '', { thread_key: 'cli:default' }, 'invalid_request'],
    ['of no tag', '', { tag: '' }, 'invalid_request'],
    ['perhaps', '?dry_run=maybe', { tag: 'a' }, 'invalid_request'],
    ['of a thread that is none', '', { tag: 'a', thread_key: 'nonsense' }, 'invalid_thread_key'],
  ])('%s are refused', async (_how, query, body, code) => {
    expect((await refused('POST', `/v1/tasks/${verb}${query}`, body)).slice(0, 2)).toEqual([400, code]);
  });
});

describe('a whole thread', () => {
  it.each([
    ['DELETE', 'cli:default/tasks?dry_run=maybe', undefined, 'invalid_request'],
    ['DELETE', 'nonsense/tasks', undefined, 'invalid_thread_key'],
    ['POST', 'cli:default/pause', { until: 'x' }, 'invalid_request'],
    ['POST', 'nonsense/pause', {}, 'invalid_thread_key'],
    ['POST', 'nonsense/resume', {}, 'invalid_thread_key'],
  ])('%s %s %j is refused', async (method, path, body, code) => {
    expect((await refused(method, `/v1/threads/${path}`, body)).slice(0, 2)).toEqual([400, code]);
  });
});

describe('a grant', () => {
  it.each([[{}], [{ task_id: 'a', scopes: [] }], [{ task_id: 'a', expires_at: 'soon' }]])(
    'of %j is refused',
    async (body) => {
      expect((await refused('POST', '/v1/grants', body)).slice(0, 2)).toEqual([400, 'invalid_request']);
    },
  );
});

describe('a preview', () => {
  it.each([
    ['an instant without an offset', { schedule: cron, after: '2027-01-01T00:00:00' }, 'invalid_request', 'after'],
    ['a day that no month has', { schedule: cron, after: '2027-02-30T00:00:00Z' }, 'invalid_request', 'after'],
    ['too many', { schedule: cron, count: 101 }, 'invalid_request', 'count'],
    ['half of one', { schedule: cron, count: 1.5 }, 'invalid_request', 'count'],
    ['an unknown zone', { schedule: { ...cron, timezone: 'Mars/Base' } }, 'invalid_schedule', 'schedule.timezone'],
    ['an expression that is none', { schedule: { ...cron, cron: 'daily' } }, 'invalid_schedule', 'schedule.cron'],
  ])('of %s is refused', async (_what, body, code, field) => {
    expect(await refused('POST', '/v1/schedules/preview', body)).toEqual([400, code, field]);
  });

  it('calculates, and says what creation would refuse', async () => {
    const schedule = { kind: 'interval', interval: 'PT10S', timezone: 'UTC', from: null, cron: null };
    const { status, json } = await aDoor().ask('POST', '/v1/schedules/preview', { schedule, count: 2 });
    expect(status).toBe(200);
    expect(json.next).toEqual(['2026-11-18T09:00:10.000Z', '2026-11-18T09:00:20.000Z']);
    expect(json.min_gap_seconds).toBe(10);
    expect(json.warning_details[0]).toMatchObject({ code: 'too_dense' });
  });

  it('of what never fires is empty', async () => {
    const { json } = await aDoor().ask('POST', '/v1/schedules/preview', { schedule: { ...cron, cron: '0 0 30 2 *' } });
    expect(json.next).toEqual([]);
  });
});
