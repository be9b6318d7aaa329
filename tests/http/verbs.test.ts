import { describe, expect, it } from 'vitest';
import { aChat, day, hour } from '../support/pipeline.ts';
import { aPlace, iso, said, thread } from './verb-place.ts';

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
    ['answer', { answer: 'some' }, undefined, /./],
    ['answer', { answer: 'all', run: true }, undefined, /./],
    ['answer', { run: 'yes' }, undefined, /./],
    ['answer', {}, undefined, /./],
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

describe('skipping over HTTP', () => {
  it('skips one run by default, the one that was seen, and takes it back', async () => {
    const { ask, make } = await aPlace();
    const path = await make();
    const skipped = await ask('POST', `${path}/skip`);
    expect(skipped.json.task.next_run_at).toBe(iso(2 * hour));
    expect((await ask('GET', `${path}/runs?status=skipped`)).json.task_runs).toMatchObject([
      { scheduled_for: iso(hour), reason: 'skip', source: 'schedule', run_id: null },
    ]);
    // An instant with another offset is one and the same.
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
});

describe('attaching over HTTP', () => {
  it.each(['refused', 'gone'] as const)('knows no chat that is %s', async (state) => {
    const { p, ask, make } = await aPlace();
    await aChat(p, '-5', { state });
    const path = `${await make({}, 'cli:default')}/attach`;
    expect(said(await ask('POST', path, { thread_key: 'telegram:chat:-5' }))).toBe('404 not_found');
    expect(said(await ask('POST', path, { thread_key: thread }))).toBe('200');
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
});
