import { describe, expect, it } from 'vitest';
import type { PartsOf } from '../../src/api/operations.ts';
import { hour } from '../support/pipeline.ts';
import { aPlace, iso, thread } from './verb-place.ts';

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
    expect((await ask('GET', path)).json.task).toMatchObject({ grant_id: grant?.grant_id });
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
    expect(revoked.grant).toMatchObject({ revoked_at: iso(0), revoked_by: 'system:api' });
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
});
