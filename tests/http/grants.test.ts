import { describe, expect, it } from 'vitest';
import type { PartsOf } from '../../src/api/operations.ts';
import { hour } from '../support/pipeline.ts';
import { aPlace, iso, said, thread } from './verb-place.ts';

type Told = PartsOf<'revokeGrant'>['answer'] & PartsOf<'listGrants'>['answer'];

async function aRightPlace() {
  const { p, ask, make } = await aPlace();
  const path = await make();
  const taskId = path.split('/').at(-1) ?? '';
  const told = async (method: string, where: string, body?: unknown, headers = {}) =>
    JSON.parse((await ask(method, where, body, headers)).text) as Told;
  return { p, ask, make, path, taskId, told };
}

describe('grants', () => {
  it('are given with a task, listed, revoked once, and given anew', async () => {
    const { p, ask, path, taskId, told } = await aRightPlace();
    const [grant] = (await told('GET', `/v1/grants?task_id=${taskId}`)).grants;
    expect(grant).toMatchObject({
      task_ids: [taskId],
      owner_user_key: 'system:api',
      thread_key: thread,
      scopes: ['action:message'],
      expires_at: null,
      revoked_at: null,
      revoked_by: null,
      created_at: iso(0),
    });
    const where = `/v1/grants/${grant?.grant_id}`;
    const revoked = await told('DELETE', where);
    expect(revoked.grant).toMatchObject({ revoked_at: iso(0), revoked_by: 'api:token:default' });
    expect(revoked.entry_id).not.toBeNull();
    expect((await told('DELETE', where)).entry_id).toBeNull();
    await p.pass(hour);
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toMatchObject([
      { status: 'skipped', reason: 'grant_revoked' },
    ]);
    const why = await ask('GET', `${path}/why?at=${iso(hour)}`);
    expect(why.text).toContain('its right to run, was revoked');

    const given = await ask('POST', '/v1/grants', { task_id: taskId, expires_at: iso(3 * hour), scopes: ['action:*'] });
    expect([given.status, (JSON.parse(given.text) as Told).grant]).toMatchObject([
      201,
      { task_ids: [taskId], scopes: ['action:*'], expires_at: iso(3 * hour), revoked_at: null },
    ]);
    await p.pass(hour);
    await p.pass(hour);
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toMatchObject([
      { status: 'skipped', reason: 'grant_expired' },
      { status: 'succeeded' },
      { status: 'skipped', reason: 'grant_revoked' },
    ]);
  });

  it('stay revoked when the clock goes back to before that', async () => {
    const { p, ask, path, taskId, told } = await aRightPlace();
    await p.pass(30 * 60_000);
    const [grant] = (await told('GET', `/v1/grants?task_id=${taskId}`)).grants;
    await told('DELETE', `/v1/grants/${grant?.grant_id}`);
    p.time.setWall(p.time.now() - hour);
    expect((await ask('POST', `${path}/run-now`)).json.task_run).toMatchObject({
      status: 'skipped',
      reason: 'grant_revoked',
    });
  });

  it('are listed by thread, owner and state, page by page', async () => {
    const { ask, make, told } = await aRightPlace();
    await make();
    await ask('POST', '/v1/threads/cli:default/tasks', {
      instructions: 'Elsewhere',
      schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' },
    });
    const count = async (query: string) => (await told('GET', `/v1/grants${query}`)).grants.length;
    expect(await count('')).toBe(3);
    expect(await count(`?thread_key=${thread}`)).toBe(2);
    expect(await count('?thread_key=telegram:chat:-404')).toBe(0);
    expect(await count('?owner=system:api&state=active')).toBe(3);
    expect(await count('?owner=telegram:user:5')).toBe(0);
    expect(await count('?state=revoked')).toBe(0);
    const first = await told('GET', '/v1/grants?limit=2');
    const second = await told('GET', `/v1/grants?limit=2&cursor=${first.next_cursor}`);
    expect([first.grants.length, second.grants.length, second.next_cursor]).toEqual([2, 1, null]);
    expect(said(await ask('GET', `/v1/tasks?cursor=${first.next_cursor}`))).toBe('400 invalid_cursor');
    expect(said(await ask('GET', '/v1/grants?state=old'))).toBe('400 invalid_request');
  });

  it('refuse what would let nothing run, and are not found where there are none', async () => {
    const { ask, taskId } = await aRightPlace();
    const give = async (body: object) => said(await ask('POST', '/v1/grants', body));
    expect(await give({ task_id: taskId, scopes: ['action:http'] })).toBe('400 invalid_request');
    expect(await give({ task_id: taskId, scopes: [] })).toBe('400 invalid_request');
    expect(await give({ task_id: taskId, expires_at: iso(0) })).toBe('400 invalid_request');
    expect(await give({ task_id: taskId, expires_at: 'soon' })).toBe('400 invalid_request');
    expect(await give({})).toBe('400 invalid_request');
    expect(await give({ task_id: 'none' })).toBe('404 not_found');
  });

  it('go with a task that is deleted, and come back with it', async () => {
    const { ask, path, taskId, told } = await aRightPlace();
    const one = async () => (await told('GET', `/v1/grants?task_id=${taskId}`)).grants[0];
    await ask('DELETE', path);
    expect(await one()).toMatchObject({ revoked_by: 'system:deleted' });
    await ask('POST', `${path}/restore`);
    expect(await one()).toMatchObject({ revoked_at: null, revoked_by: null });
  });
});
