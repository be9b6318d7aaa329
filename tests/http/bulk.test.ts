import { describe, expect, it } from 'vitest';
import { hour } from '../support/fakes.ts';
import { aPlace, iso, said } from './verb-place.ts';

describe.each(['pause', 'resume', 'cancel'])('POST /v1/tasks/%s', (verb) => {
  const path = `/v1/tasks/${verb}`;

  it('needs a subject or a tag, and knows no other field', async () => {
    const { ask } = await aPlace();
    expect(said(await ask('POST', path))).toBe('400 invalid_request');
    expect(said(await ask('POST', path, {}))).toBe('400 invalid_request');
    const named = await ask('POST', path, { thread_key: 'cli:default' });
    expect([said(named), named.json.error.message]).toEqual([
      '400 invalid_request',
      expect.stringContaining('/v1/threads/'),
    ]);
    expect(said(await ask('POST', path, { tag: '' }))).toBe('400 invalid_request');
    expect(said(await ask('POST', path, { tag: 'a', all: true }))).toBe('400 invalid_request');
    expect(said(await ask('POST', `${path}?dry_run=maybe`, { tag: 'a' }))).toBe('400 invalid_request');
    expect(said(await ask('POST', path, { tag: 'a', thread_key: 'nonsense' }))).toBe('400 invalid_thread_key');
  });

  it('answers nothing where nothing is of that name', async () => {
    const { ask, make } = await aPlace();
    await make({ tags: ['b'] });
    expect((await ask('POST', path, { tag: 'a' })).text).toBe('{"changed":0,"left":0}');
  });
});

describe('many tasks at once', () => {
  it('are paused until an instant, counted first, and go on', async () => {
    const { ask, make } = await aPlace();
    const [one, two] = [await make({ tags: ['a'] }), await make({ tags: ['a', 'b'], subject: 's' })];
    await make();
    const until = iso(4 * hour);
    const told = async (path: string, body: object) => (await ask('POST', path, body)).text;
    expect(await told('/v1/tasks/pause?dry_run=true', { tag: 'a', until })).toBe('{"changed":2,"left":0}');
    expect((await ask('GET', one)).json.task.state).toBe('active');
    expect(await told('/v1/tasks/pause', { tag: 'a', until })).toBe('{"changed":2,"left":0}');
    expect((await ask('GET', two)).json.task).toMatchObject({ state: 'paused', resume_at: until });
    expect(await told('/v1/tasks/resume', { tag: 'a', subject: 's' })).toBe('{"changed":1,"left":0}');
    expect(await told('/v1/tasks/resume', { subject: 's' })).toBe('{"changed":0,"left":0}');
    expect((await ask('GET', one)).json.task.state).toBe('paused');
  });

  it('are told apart by what they run now when that is called off', async () => {
    const { ask, make } = await aPlace();
    const path = await make({ tags: ['a'] });
    await make({ tags: ['a'] });
    await ask('POST', `${path}/run-now`);
    expect((await ask('POST', '/v1/tasks/cancel?dry_run=true', { tag: 'a' })).text).toBe('{"changed":1,"left":1}');
    expect((await ask('POST', '/v1/tasks/cancel', { tag: 'a' })).text).toBe('{"changed":1,"left":1}');
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toMatchObject([{ status: 'cancelled' }]);
  });

  it('are not paused until an instant that is past', async () => {
    const { ask, make } = await aPlace();
    const path = await make({ tags: ['a'] });
    expect(said(await ask('POST', '/v1/tasks/pause', { tag: 'a', until: iso(-hour) }))).toBe('400 invalid_request');
    expect((await ask('GET', path)).json.task.state).toBe('active');
  });
});
