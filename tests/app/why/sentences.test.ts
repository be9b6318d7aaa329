import { expect, it } from 'vitest';
import type { OccurrenceSource, OccurrenceStatus, Reason } from '../../../src/domain/occurrence.ts';
import { actor, aPipeline, hour, minute, start } from '../../support/pipeline.ts';
import { said } from './asking.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

/** Listed by type, so that a new one is not forgotten here either. */
const reasons: Readonly<Record<Reason, OccurrenceStatus>> = {
  overlap: 'pending',
  queue_full: 'skipped',
  replaced: 'cancelled',
  max_runs: 'skipped',
  late: 'missed',
  covered: 'missed',
  beyond_limit: 'missed',
  ask: 'pending',
  ask_expired: 'skipped',
  declined: 'skipped',
  skip: 'skipped',
  undone: 'skipped',
  unaccounted: 'missed',
  deleted: 'cancelled',
  paused: 'skipped',
  cancelled: 'cancelled',
  grant_missing: 'skipped',
  grant_revoked: 'skipped',
  grant_expired: 'skipped',
  grant_scope: 'skipped',
};
const sources: Readonly<Record<OccurrenceSource, true>> = {
  schedule: true,
  catch_up: true,
  run_now: true,
  snooze: true,
  retry: true,
  replay: true,
};
const statuses = ['pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed'] as const;

it('whatever a row says, its answer is one line', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  const add = p.database.prepare(
    `insert into occurrences (id, task_id, slot_at, source, status, reason, run_id, late_ms, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, 'gone', 5, ?, ?)`,
  );
  const words = [...Object.keys(reasons), null, 'of_tomorrow'];
  const rows = Object.keys(sources).flatMap((source) =>
    statuses.flatMap((status) => words.map((reason) => ({ source, status, reason }))),
  );
  const lines = new Set<string>();
  for (const [index, { source, status, reason }] of rows.entries()) {
    const at = start + (index + 1) * hour;
    add.run(`o-${at}`, task.id, at, source, status, reason, at + minute, at + minute);
    const line = await said(p, task, at);
    expect(line).not.toMatch(/undefined|null|NaN|\[object|, ,|;;|: :/);
    lines.add(line);
  }
  expect(lines.size).toBeGreaterThan(500);
}, 30_000);

it('every reason has a sentence of its own', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  const add = p.database.prepare(
    `insert into occurrences (id, task_id, slot_at, source, status, reason, late_ms, created_at, updated_at)
     values (?, ?, ?, 'schedule', ?, ?, 5, ?, ?)`,
  );
  const lines = new Set<string>();
  let at = start;
  for (const [reason, status] of Object.entries(reasons)) {
    at += hour;
    add.run(`o-${at}`, task.id, at, status, reason, at + minute, at + minute);
    const line = await said(p, task, at);
    lines.add(line.replace(/^.*?\d\d:\d\d: /, ''));
  }
  expect(lines.size).toBe(Object.keys(reasons).length);
});

it('an undone snooze says who took it back', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  const by = { taskId: task.id, actor } as const;
  await p.rooms.tasks.snooze(by, start + 10 * minute);
  await p.pass(minute);
  await p.rooms.tasks.undo(by, null);
  expect(await said(p, task, start + 10 * minute)).toBe(
    'skipped, undone: Wed 18 Nov 09:10: skipped, snoozed to this time by telegram:user:1001, because telegram:user:1001 took that back at 09:01.',
  );
});

it('a run that is put off by its jitter says so', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly, policies: { jitter: 'PT1M' } });
  await p.pass(hour);
  // How long depends on the task, so that a hundred of them do not start at once.
  expect(await said(p, task, start + hour)).toMatch(
    /^running, queued: Wed 18 Nov 10:00: its run is to start at 10:0[01](:\d\d)? \(policy jitter\)\.$/,
  );
  await p.pass(minute);
  expect(await said(p, task, start + hour)).toMatch(
    /^ran, schedule: Wed 18 Nov 10:00: ran, (1 minute|\d+ (seconds|ms)) after its time, put off by the policy jitter; delivered\.$/,
  );
});

it('a question that was answered with yes says who wanted it', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly, policies: { missed: 'ask' } });
  await p.pass(hour + 20 * minute);
  await p.rooms.tasks.answer({ taskId: task.id, actor }, 'latest');
  await p.settle();
  expect(await said(p, task, start + hour)).toBe(
    'late, catch_up: Wed 18 Nov 10:00: ran late, at 10:20, 20 minutes after its time, as nobody was there in time and telegram:user:1001 wanted it after all; delivered.',
  );
});
