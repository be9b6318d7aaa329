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
      worker: { running: false, action_kinds: ['message', 'digest', 'echo'] },
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
