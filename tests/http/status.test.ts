import { describe, expect, it } from 'vitest';
import { hour } from '../support/pipeline.ts';
import { aPlace, iso, said, thread } from './verb-place.ts';

type Facts = Readonly<Record<string, unknown>>;

async function told(place: Awaited<ReturnType<typeof aPlace>>, path: string, method = 'GET'): Promise<Facts> {
  return JSON.parse((await place.ask(method, path)).text) as Facts;
}

describe('GET /v1/status', () => {
  it('tells how the server stands', async () => {
    const place = await aPlace();
    const { p, make, ask } = place;
    const paused = await make();
    await ask('POST', `${paused}/pause`);
    const path = await make();
    await p.time.advance(hour);
    await ask('POST', `${path}/run-now`);
    expect(await told(place, '/v1/status')).toMatchObject({
      version: '1.2.3',
      now: iso(hour),
      uptime_seconds: 3600,
      started_at: iso(0),
      ready: { ok: true, database: 'ok' },
      tasks: { total: 2, active: 1, paused: 1, completed: 0 },
      due: { count: 1, since: iso(hour) },
      next_due_at: iso(hour),
      runs: { running: 0, queued: 1 },
      deliveries: { pending: 0, blocked: 0, unknown: 0 },
      chats: 0,
      audit: null,
      retention: { days: 90, oldest_run_at: iso(hour) },
      last_tick_at: iso(0),
      last_stale_look_at: null,
      worker: { running: false, action_kinds: ['message', 'digest', 'http', 'echo'] },
    });
    await ask('POST', '/v1/tick');
    await p.settle();
    expect(await told(place, '/v1/status')).toMatchObject({
      last_tick_at: iso(hour),
      worker: { running: true },
      due: { count: 0, since: null },
      next_due_at: iso(2 * hour),
      runs: { running: 0, queued: 0 },
    });
  });
});

describe('alarms', () => {
  it('that are open stand in the status, and owners who cannot hear of them', async () => {
    const place = await aPlace();
    const { store, rooms, time } = place.p;
    const finding = { at: iso(0), findings: [{ check: 'slot_twice', count: 2 }] };
    await store.writeNote('audit', JSON.stringify(finding), time.now());
    await store.changeUser('telegram:user:77', { role: 'owner' }, time.now());
    await rooms.alarms.look(time.now());
    expect((await told(place, '/v1/status'))['alarms']).toEqual({
      open: [{ cause: 'audit', since: iso(0), about: 'slot_twice' }],
      unheard: ['telegram:user:77'],
    });
  });
});

describe('GET /v1/usage', () => {
  it('tells what was used, of a thread and a person, in a stretch', async () => {
    const place = await aPlace();
    const { p, make, ask } = place;
    await make();
    await p.pass(hour);
    await p.pass(hour);
    const all = { runs: 2, failures: 0, capped: false };
    expect(await told(place, '/v1/usage')).toMatchObject({ ...all, quota: { chat: null, user: null } });
    expect(await told(place, `/v1/usage?thread_key=${thread}&user_key=system:api`)).toMatchObject({
      ...all,
      quota: { chat: { used: 1, limit: 500 }, user: { used: 0, limit: 500 } },
    });
    expect(await told(place, `/v1/usage?from=${iso(hour + 1)}&to=${iso(3 * hour)}`)).toMatchObject({
      from: iso(hour + 1),
      to: iso(3 * hour),
      runs: 1,
    });
    expect(await told(place, '/v1/usage?thread_key=telegram:chat:-404')).toMatchObject({ runs: 0, messages: 0 });
    const never = `/v1/usage?from=${iso(hour)}&to=${iso(hour)}`;
    expect(said(await ask('GET', never))).toBe('400 invalid_request');
    expect(said(await ask('GET', '/v1/usage?user_key=ada'))).toBe('400 invalid_request');
    expect(said(await ask('GET', '/v1/usage?thread_key=ada'))).toBe('400 invalid_thread_key');
  });
});

describe('/v1/access', () => {
  it('lets in, tells who is in, and shuts out, once each', async () => {
    const place = await aPlace();
    const { p, ask } = place;
    const owner = { id: '1001', thread_key: 'telegram:chat:1001', who: null, role: 'owner', by: 'system:api' };
    const put = async (id: string, body: object = {}) =>
      JSON.parse((await ask('PUT', `/v1/access/${id}`, body)).text) as Facts;
    expect(await put('1001', { role: 'owner' })).toMatchObject({ access: { ...owner, since: iso(0) } });
    expect(await put('telegram:user:1001')).toMatchObject({ access: owner, entry_id: null });
    await p.time.advance(hour);
    expect(await put('-1001234')).toMatchObject({ access: { role: 'group', since: iso(hour) } });
    expect(await told(place, '/v1/access?limit=1')).toMatchObject({
      access: [{ id: '-1001234' }],
      next_cursor: expect.any(String) as string,
    });
    const gone = await told(place, '/v1/access/telegram:chat:-1001234', 'DELETE');
    expect(gone).toEqual({ denied: true, paused: 0, entry_id: '3' });
    expect(await told(place, '/v1/access/-1001234', 'DELETE')).toMatchObject({ entry_id: null });
    expect((await told(place, '/v1/access'))['access']).toMatchObject([owner]);
    expect(said(await ask('DELETE', '/v1/access/1001'))).toBe('409 last_owner');
    expect(said(await ask('PUT', '/v1/access/1001', { role: 'user' }))).toBe('409 last_owner');
    expect(said(await ask('PUT', '/v1/access/-1001234', { role: 'owner' }))).toBe('400 invalid_request');
    expect(said(await ask('PUT', '/v1/access/ada', {}))).toBe('400 invalid_request');
  });
});
