import { describe, expect, it } from 'vitest';
import { callOf, type Caller } from '../../../../src/app/actions/http/request.ts';
import { readSettings } from '../../../../src/app/actions/http/settings.ts';
import { filled } from '../../../../src/app/actions/http/written.ts';
import { nine, runInput } from '../../../support/builders.ts';

const caller: Caller = {
  taskId: 'task-1',
  runId: 'run-1',
  attempt: 2,
  outgoingKey: `sched:task-1:${nine}`,
  input: { ...runInput, title: 'Price', context: { last: 7 } },
};

const callFor = (spec: object, facts: Partial<Caller> = {}, instructions = '') =>
  callOf(readSettings({ kind: 'http', url: 'https://example.com/a', ...spec }), { ...caller, ...facts }, instructions);

const schedule = {
  'idempotency-key': `sched:task-1:${nine}`,
  'x-schedule-id': 'task-1',
  'x-schedule-time': '2027-01-04T09:00:00.000Z',
  'x-schedule-attempt': '2',
};

describe('the call of an http action', () => {
  it.each(['GET', 'HEAD'])('carries neither body nor envelope with %s', (method) => {
    expect(callFor({ method }, {}, 'text')).toEqual({
      method,
      url: 'https://example.com/a',
      headers: { accept: '*/*', 'user-agent': 'Cronogram', ...schedule },
      body: null,
    });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('carries the envelope with %s', (method) => {
    const { headers, body } = callFor({ method }, {}, 'Hello');
    expect(headers).toMatchObject({ 'content-type': 'application/json', ...schedule });
    expect(JSON.parse(String(body))).toEqual({
      task_id: 'task-1',
      title: 'Price',
      scheduled_for: '2027-01-04T09:00:00.000Z',
      attempt: 2,
      run_id: 'run-1',
      payload: { text: 'Hello', context: { last: 7 } },
    });
  });

  it('says null for a text that is only a note, and an empty context for none', () => {
    const { body } = callFor({ method: 'POST' }, { input: { ...runInput, context: undefined } }, ' ');
    expect(JSON.parse(String(body))).toMatchObject({ payload: { text: null, context: {} } });
  });

  it('knows no task and no slot where there is none', () => {
    const { headers, body } = callFor(
      { method: 'POST' },
      { taskId: null, outgoingKey: 'run:run-1', input: { ...runInput, slotAt: null } },
    );
    expect(headers).toMatchObject({ 'idempotency-key': 'run:run-1', 'x-schedule-attempt': '2' });
    expect(Object.keys(headers)).not.toContain('x-schedule-id');
    expect(Object.keys(headers)).not.toContain('x-schedule-time');
    expect(JSON.parse(String(body))).toMatchObject({ task_id: null, scheduled_for: null });
  });

  it.each([
    [{ body: 'plain' }, 'plain', 'text/plain; charset=utf-8'],
    [{ body: '' }, '', 'text/plain; charset=utf-8'],
    [{ body: { a: [1, null] } }, '{"a":[1,null]}', 'application/json'],
    [{ body: null }, 'null', 'application/json'],
    [{ body: '{}', headers: { 'Content-Type': 'application/json' } }, '{}', 'application/json'],
    [
      { body: { a: 'x y', b: [1, true] }, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      'a=x+y&b=1&b=true',
      'application/x-www-form-urlencoded',
    ],
  ])('carries its own body %j', (spec, body, type) => {
    expect(callFor(spec)).toMatchObject({ method: 'POST', body, headers: { 'content-type': type } });
  });

  it('adds its query to that of the address, and leaves out the fragment', () => {
    const { url } = callFor({ url: 'https://example.com/a?x=1#top', query: { x: '2', q: 'a&b', l: ['é'] } });
    expect(url).toBe('https://example.com/a?x=1&x=2&q=a%26b&l=%C3%A9');
  });

  it('takes its own accept and user-agent', () => {
    const headers = { Accept: 'text/html', 'User-Agent': 'curl' };
    expect(callFor({ headers }).headers).toMatchObject({ accept: 'text/html', 'user-agent': 'curl' });
  });

  it('is made of what the templates came to, each in its place', () => {
    const settings = readSettings({
      kind: 'http',
      url: 'https://example.com/{{ a }}',
      query: { q: '{{ b }}' },
      headers: { 'x-c': '{{ c }}' },
      body: { d: ['{{ d }}', 'plain'] },
    });
    const made = new Map([
      ['action.url', 'https://example.com/7'],
      ['action.query.q.0', 'x&y'],
      ['action.headers.x-c', 'see'],
      ['action.body.d.0', '"quoted"'],
    ]);
    expect(callOf(filled(settings, made), caller, '')).toMatchObject({
      url: 'https://example.com/7?q=x%26y',
      headers: { 'x-c': 'see' },
      body: '{"d":["\\"quoted\\"","plain"]}',
    });
  });

  it.each([
    [{ url: '{{ a }}' }, 'action.url', 'ftp://example.com', 'begins with http'],
    [{ url: '{{ a }}' }, 'action.url', 'https://me:pw@example.com', 'name or a password'],
    [{ headers: { a: '{{ a }}' } }, 'action.headers.a', 'x\nhost: evil', 'no header may hold'],
  ])('is refused where the templates of %j came to no call', (spec, field, text, reason) => {
    const settings = readSettings({ kind: 'http', url: 'https://example.com', ...spec });
    expect(() => callOf(filled(settings, new Map([[field, text]])), caller, '')).toThrow(reason);
  });

  it('cannot send a form with something nested in it', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(() => callFor({ headers, body: { a: { b: 1 } } })).toThrow('action.body.a');
    expect(() => callFor({ headers, body: [1] })).toThrow('action.body is an object');
  });
});
