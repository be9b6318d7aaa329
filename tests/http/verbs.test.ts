import { describe, expect, it } from 'vitest';
import { day, hour, minute } from '../support/pipeline.ts';
import { aPlace, failing, iso, said, thread } from './verb-place.ts';

describe('a body', () => {
  it.each([
    ['pause', { until: '2026-11-18T09:00:00Z' }, 'until', /in the future/],
    ['pause', { until: iso(6 * 366 * day) }, 'until', /at the latest/],
    ['pause', { until: 'tomorrow' }, 'until', /an instant with its offset/],
    ['pause', { until: '2026-11-19T09:00:00' }, 'until', /an instant with its offset/],
    ['pause', { until: '2026-02-30T09:00:00Z' }, 'until', /an instant with its offset/],
    ['pause', { until: null }, 'until', /instant/],
    ['pause', { until: 1795000000000 }, 'until', /instant/],
    ['pause', { till: iso(hour) }, 'till', /not known here; known are: until/],
    ['skip', { count: 0 }, 'count', /./],
    ['skip', { count: 101 }, 'count', /./],
    ['skip', { count: 1.5 }, 'count', /./],
    ['skip', { count: '1' }, 'count', /./],
    ['skip', { count: null }, 'count', /./],
    ['skip', { from: 'next' }, 'from', /./],
    ['snooze', {}, undefined, /either "for", a duration such as PT10M, or "until"/],
    ['snooze', { for: 'PT10M', until: iso(hour) }, undefined, /either "for"/],
    ['snooze', { for: 'ten minutes' }, 'for', /PT10M, PT2H or P1D/],
    ['snooze', { for: 'P1M' }, 'for', /PT10M/],
    ['snooze', { for: '' }, 'for', /PT10M/],
    ['snooze', { for: 'PT0S' }, 'until', /in the future/],
    ['snooze', { for: 'P367D' }, 'until', /at the latest/],
    ['snooze', { for: '-PT10M' }, 'for', /PT10M/],
    ['snooze', { for: 10 }, 'for', /string/],
    ['snooze', { until: '2026-11-18T08:59:59Z' }, 'until', /in the future/],
    ['snooze', { until: 'later' }, 'until', /an instant/],
    ['snooze', { minutes: 10 }, 'minutes', /known are: for, until/],
    ['undo', { entry_id: 5 }, 'entry_id', /./],
    ['undo', { entry_id: 'x'.repeat(33) }, 'entry_id', /./],
    ['undo', { entry_id: null }, 'entry_id', /./],
  ])('of %s that is %j is refused by its field, and changes nothing', async (verb, body, field, message) => {
    const { ask, make } = await aPlace();
    const path = await make();
    const refused = await ask('POST', `${path}/${verb}`, body);
    expect([said(refused), refused.json.error.details?.['field']]).toEqual(['400 invalid_request', field]);
    expect(refused.json.error.message).toMatch(message);
    expect((await ask('GET', path)).json.task).toMatchObject({ state: 'active', version: 1, next_run_at: iso(hour) });
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toEqual([]);
  });
});

describe('pausing over HTTP', () => {
  it('ends by itself at the instant that was named, and says so', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    const paused = await ask('POST', `${path}/pause`, { until: '2026-11-18T12:00:00+01:00' });
    expect([paused.status, typeof paused.json.entry_id]).toEqual([200, 'string']);
    expect(paused.json.task).toMatchObject({
      state: 'paused',
      paused_reason: 'manual',
      resume_at: '2026-11-18T11:00:00.000Z',
      next_run_at: null,
    });
    await p.pass(2 * hour);
    expect((await ask('GET', path)).json.task).toMatchObject({
      state: 'active',
      resume_at: null,
      next_run_at: iso(3 * hour),
    });
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toMatchObject([
      { scheduled_for: iso(2 * hour), status: 'succeeded' },
    ]);
  });

  it('twice has one entry, and resuming a task with nothing left is refused', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ schedule: { kind: 'once', once_at: iso(hour), timezone: 'UTC' } });
    expect((await ask('POST', `${path}/pause`)).json.entry_id).not.toBeNull();
    expect((await ask('POST', `${path}/pause`)).json.entry_id).toBeNull();
    await p.pass(2 * hour);
    expect(said(await ask('POST', `${path}/resume`))).toBe('409 schedule_exhausted');
  });
});

describe('skipping over HTTP', () => {
  it('skips one run by default, the one that was seen, and takes it back', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    const skipped = await ask('POST', `${path}/skip`);
    expect(skipped.json.task.next_run_at).toBe(iso(2 * hour));
    expect((await ask('GET', `${path}/runs?status=skipped`)).json.task_runs).toMatchObject([
      { scheduled_for: iso(hour), reason: 'skip', source: 'schedule', run_id: null },
    ]);
    // The same instant in other words.
    const seen = { count: 3, from: '2026-11-18T12:00:00+01:00' };
    expect((await ask('POST', `${path}/skip`, seen)).json.task.next_run_at).toBe(iso(5 * hour));
    expect((await ask('POST', `${path}/skip`, seen)).json).toMatchObject({
      entry_id: null,
      task: { next_run_at: iso(5 * hour) },
    });
    expect((await ask('GET', `${path}/next?count=2`)).json.next).toEqual([iso(5 * hour), iso(6 * hour)]);
    expect((await ask('POST', `${path}/unskip`)).json.task.next_run_at).toBe(iso(hour));
    expect((await ask('POST', `${path}/unskip`)).json.entry_id).toBeNull();
  });

  it('is refused for a task that has no coming run', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    await ask('POST', `${path}/pause`);
    expect(said(await ask('POST', `${path}/skip`))).toBe('409 nothing_to_skip');
  });
});

describe('snoozing over HTTP', () => {
  it('takes a duration or an instant, and shows the run that is to come', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    expect((await ask('POST', `${path}/snooze`, { for: 'PT10M' })).json.task.next_run_at).toBe(iso(hour));
    expect((await ask('GET', `${path}/runs?status=pending`)).json.task_runs).toMatchObject([
      { scheduled_for: iso(10 * minute), source: 'snooze', run_id: null },
    ]);
    await ask('POST', `${path}/snooze`, { until: iso(20 * minute) });
    await p.pass(20 * minute);
    expect((await ask('GET', `${path}/runs`)).json.task_runs.map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', null],
      ['skipped', 'replaced'],
    ]);
  });
});

describe('runs over HTTP', () => {
  it('are cancelled, once, and the answer says whether', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ action: { kind: 'echo', delay_ms: 60_000 }, policies: { timeout: 'PT5M' } });
    const ran = await ask('POST', `${path}/run-now`);
    const run = `/v1/runs/${ran.json.task_run.run_id}`;
    await p.rooms.runner.step(p.time.now(), 10);
    expect((await ask('POST', `${run}/cancel`)).json).toMatchObject({ cancelled: true, run: { status: 'running' } });
    await p.settle();
    expect((await ask('POST', `${run}/cancel`, {})).json).toMatchObject({
      cancelled: true,
      run: { status: 'cancelled' },
    });
    expect((await ask('GET', `${path}/runs`)).json.task_runs).toMatchObject([{ status: 'cancelled', deliveries: [] }]);
    const done = `/v1/runs/${(await ask('POST', `${await make()}/run-now`)).json.task_run.run_id}`;
    await p.settle();
    expect((await ask('POST', `${done}/cancel`)).json).toMatchObject({
      cancelled: false,
      run: { status: 'succeeded' },
    });
  });

  it('of a task are called off by the task', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    await ask('POST', `${path}/run-now`);
    expect((await ask('POST', `${path}/cancel`)).json.entry_id).not.toBeNull();
    expect((await ask('POST', `${path}/cancel`)).json.entry_id).toBeNull();
  });

  it('are retried and replayed, with what they come from', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ action: failing });
    const first = (await ask('POST', `${path}/run-now`)).json.task_run;
    expect(said(await ask('POST', `/v1/runs/${first.run_id}/retry`))).toBe('409 run_in_progress');
    await p.settle();
    const retried = await ask('POST', `/v1/runs/${first.run_id}/retry`);
    expect(retried.json.task_run).toMatchObject({
      source: 'retry',
      status: 'dispatched',
      replay_of: first.task_run_id,
    });
    const busy = await ask('POST', `/v1/runs/${first.run_id}/replay`);
    expect([said(busy), busy.json.error.details]).toEqual([
      '409 run_in_progress',
      { run_id: retried.json.task_run.run_id },
    ]);
    await p.settle();
    expect((await ask('POST', `/v1/runs/${first.run_id}/replay`)).json.task_run.source).toBe('replay');
  });

  it('that succeeded are not retried', async () => {
    const { p, ask, make } = await aPlace();
    const run = (await ask('POST', `${await make()}/run-now`)).json.task_run;
    await p.settle();
    const refused = await ask('POST', `/v1/runs/${run.run_id}/retry`);
    expect([said(refused), refused.json.error.message]).toEqual([
      '409 not_repeatable',
      'This run succeeded, so there is nothing to retry. Replay it to do it once more.',
    ]);
  });
});

describe('changes over HTTP', () => {
  it('are told field by field and undone by their entry', async () => {
    const { ask, make } = await aPlace();
    const path = await make({ title: 'One', policies: { grace: 'PT1M' } });
    const edited = await ask('PATCH', path, {
      title: 'Two',
      policies: { grace: null },
      schedule: { kind: 'interval', interval: 'PT2H', timezone: 'UTC' },
    });
    expect(edited.json.changes).toMatchObject({
      title: { before: 'One', after: 'Two' },
      policies: { before: { grace: 'PT1M' }, after: {} },
      schedule: { before: { kind: 'cron', cron: '0 * * * *' }, after: { kind: 'interval', start_at: iso(0) } },
    });
    const undone = await ask('POST', `${path}/undo`, { entry_id: edited.json.entry_id });
    expect(undone.json).toMatchObject({
      task: { title: 'One', policies: { grace: 'PT1M' }, next_run_at: iso(hour), schedule: { kind: 'cron' } },
      undone: { entry_id: edited.json.entry_id, verb: 'edit', at: iso(0) },
    });
    const twice = await ask('POST', `${path}/undo`, { entry_id: edited.json.entry_id });
    expect(twice.json).toMatchObject({ entry_id: null, undone: { entry_id: edited.json.entry_id } });
    expect(said(await ask('POST', `${path}/undo`))).toBe('409 nothing_to_undo');
    expect((await ask('GET', `${path}/versions`)).json.versions.map(({ definition }) => definition.title)).toEqual([
      'One',
      'Two',
      'One',
    ]);
  });

  it('that change nothing have no entry', async () => {
    const { ask, make } = await aPlace();
    const path = await make({ title: 'One' });
    expect((await ask('PATCH', path, { title: 'One' })).json).toMatchObject({
      entry_id: null,
      changes: {},
      task: { version: 1 },
    });
  });

  it('are undone for a day', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ title: 'One' });
    await ask('PATCH', path, { title: 'Two' });
    await p.time.advance(day + 1);
    expect(said(await ask('POST', `${path}/undo`))).toBe('409 too_late');
  });

  it('are answered by yes or no', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ policies: { missed: 'ask' } });
    await p.pass(hour + 40 * minute);
    for (const body of [undefined, {}, { run: 'yes' }, { run: true, all: true }])
      expect(said(await ask('POST', `${path}/answer`, body))).toBe('400 invalid_request');
    expect(said(await ask('POST', `${path}/answer`, { run: true }))).toBe('200');
    expect(said(await ask('POST', `${path}/answer`, { run: true }))).toBe('409 nothing_to_answer');
  });

  it('are answered with the latest, all or none of them', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make({ policies: { missed: 'ask' } });
    await p.pass(2 * hour + 40 * minute);
    for (const body of [{ answer: 'some' }, { answer: 'all', run: true }])
      expect(said(await ask('POST', `${path}/answer`, body))).toBe('400 invalid_request');
    expect(said(await ask('POST', `${path}/answer`, { answer: 'latest' }))).toBe('200');
    await p.settle();
    const { json } = await ask('GET', `${path}/runs`);
    expect(json.task_runs.map(({ status }: { status: string }) => status)).toEqual(['succeeded', 'skipped']);
  });
});

describe('deletion over HTTP', () => {
  it('is taken back within a day, if there is room', async () => {
    const { p, ask, make } = await aPlace({ settings: { QUOTA_PER_CHAT: 1 } });
    const path = await make();
    expect((await ask('POST', `${path}/restore`)).json.entry_id).toBeNull();
    await ask('DELETE', path);
    const other = await make();
    const full = await ask('POST', `${path}/restore`);
    expect([said(full), full.headers.get('retry-after')]).toEqual(['429 quota_exceeded', '60']);
    await ask('DELETE', other);
    expect((await ask('POST', `${path}/restore`)).json.task).toMatchObject({ state: 'active', next_run_at: iso(hour) });
    await ask('DELETE', path);
    await p.time.advance(day + 1);
    expect(said(await ask('POST', `${path}/restore`))).toBe('409 too_late');
  });

  it('hides a task from every verb but its way back', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    await ask('DELETE', path);
    const bodies = { snooze: { for: 'PT10M' }, answer: { run: true } } as Readonly<Record<string, object>>;
    const verbs = ['pause', 'resume', 'skip', 'unskip', 'snooze', 'cancel', 'answer', 'run-now'];
    for (const verb of verbs)
      expect(said(await ask('POST', `${path}/${verb}`, bodies[verb])), verb).toBe('404 not_found');
    for (const part of ['', '/runs', '/next', '/versions'])
      expect(said(await ask('GET', `${path}${part}`)), part).toBe('404 not_found');
    expect((await ask('POST', `${path}/undo`)).json.task.state).toBe('active');
  });

  it('of a whole thread is counted first', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    await make();
    await ask('POST', `${path}/pause`);
    const counts = { tasks: 2, active: 1, paused: 1, completed: 0, live_runs: 0, open_deliveries: 0 };
    const route = `/v1/threads/${thread}/tasks`;
    expect((await ask('DELETE', `${route}?dry_run=true`)).json).toEqual({ deleted: false, counts });
    expect((await ask('GET', route)).json.tasks).toHaveLength(2);
    expect((await ask('DELETE', route)).json).toEqual({ deleted: true, counts });
    expect((await ask('DELETE', route)).json.counts).toMatchObject({ tasks: 0 });
    expect(said(await ask('DELETE', `${route}?dry_run=maybe`))).toBe('400 invalid_request');
    expect(said(await ask('DELETE', `${route}?dry=true`))).toBe('400 invalid_request');
    expect(said(await ask('DELETE', '/v1/threads/nonsense/tasks'))).toBe('400 invalid_thread_key');
    expect((await ask('POST', `${path}/restore`)).json.task).toMatchObject({
      state: 'paused',
      paused_reason: 'manual',
    });
  });
});

describe('a whole thread over HTTP', () => {
  it('is paused and resumed, and says how many tasks that was', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    await make();
    const route = `/v1/threads/${thread}`;
    expect((await ask('POST', `${route}/pause`, { until: iso(5 * hour) })).json).toEqual({ changed: 2, left: 0 });
    expect((await ask('GET', path)).json.task.resume_at).toBe(iso(5 * hour));
    expect((await ask('POST', `${route}/resume`)).json).toEqual({ changed: 2, left: 0 });
    expect((await ask('POST', `${route}/resume`)).json).toEqual({ changed: 0, left: 0 });
    for (const body of [{ until: iso(-hour) }, { until: 'x' }, { when: 1 }])
      expect(said(await ask('POST', `${route}/pause`, body))).toBe('400 invalid_request');
    expect((await ask('GET', path)).json.task.state).toBe('active');
  });
});

describe('every verb', () => {
  it('is told in the audit as done by the token', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    for (const verb of ['pause', 'resume', 'skip', 'unskip', 'run-now', 'cancel']) await ask('POST', `${path}/${verb}`);
    const actors = p.database.prepare('select distinct actor from audit').pluck().all();
    expect(actors).toEqual(['api:token:default']);
  });
});
