import { describe, expect, it } from 'vitest';
import { actor, aPipeline, day, hour, minute, start, type Pipeline } from '../../support/pipeline.ts';
import { said, why } from './asking.ts';

const second = 1000;
const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
const minutely = { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } as const;
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;
const slow = { kind: 'echo', delay_ms: 60 * second };

/** Passes the minutes one by one, so that no slot is late. */
async function live(p: Pipeline, minutes: number): Promise<void> {
  for (let step = 0; step < minutes; step += 1) await p.pass(minute);
}

describe('a slot that was not run', () => {
  it('because the run before it was still going', async () => {
    const p = await aPipeline();
    const task = await p.create({ action: { ...slow, delay_ms: 45 * second }, schedule: minutely });
    await p.pass(minute + 20 * second);
    await p.pass(40 * second);
    expect(await said(p, task, start + 2 * minute)).toBe(
      'skipped, overlap: Wed 18 Nov 09:02: skipped, because the run before it was still going (policy overlap: skip).',
    );
  });

  it('because too many were waiting before it', async () => {
    const p = await aPipeline();
    const task = await p.create({ action: slow, schedule: minutely, policies: { overlap: 'queue', timeout: 'P1D' } });
    await p.pass(minute);
    p.database.prepare(`update tasks set policies = '{"overlap":"queue","grace":"P1D"}'`).run();
    await p.time.advance(15 * minute - second);
    await p.rooms.scheduler.step(p.time.now(), 100);
    expect(await said(p, task, start + 15 * minute)).toBe(
      'skipped, queue_full: Wed 18 Nov 09:15: skipped, because 10 others were waiting before it already (policy overlap: queue).',
    );
  });

  it('because a newer slot replaced it', async () => {
    const p = await aPipeline();
    const task = await p.create({
      action: slow,
      schedule: minutely,
      policies: { overlap: 'replace', timeout: 'P1D' },
    });
    await p.pass(minute + 30 * second);
    await p.pass(30 * second);
    await p.pass(second);
    expect(await said(p, task, start + minute)).toBe(
      'cancelled, replaced: Wed 18 Nov 09:01: cancelled, because a newer run took its place (policy overlap: replace).',
    );
  });

  it('because max_runs was used up', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: minutely, policies: { max_runs: 1, grace: 'PT1H' } });
    await p.pass(3 * minute);
    expect(await said(p, task, start + 2 * minute)).toBe(
      'skipped, max_runs: Wed 18 Nov 09:02: skipped, because max_runs (1) was used up.',
    );
    expect(await said(p, task, start + 4 * minute)).toBe(
      'completed, completed: Wed 18 Nov 09:04: no run planned; the task was completed: its last time was Wed 18 Nov 09:03.',
    );
  });

  it.each(['skip', 'once', 'all', 'ask'] as const)('because nobody was there: %s', async (missed) => {
    const p = await aPipeline();
    const limit = missed === 'all' || missed === 'ask' ? { missed_limit: 1 } : {};
    const task = await p.create({ schedule: hourly, policies: { missed, ...limit } });
    await p.pass(2 * hour + 40 * minute);
    const lines = {
      skip: 'missed, late: Wed 18 Nov 10:00: missed; nobody was there until 11:40, which is past the grace of 10 minutes, and the policy missed: skip leaves late runs out.',
      once: 'missed, covered: Wed 18 Nov 10:00: missed; nobody was there until 11:40, and the policy missed: once makes up for all missed runs with one.',
      all: 'missed, beyond_limit: Wed 18 Nov 10:00: missed; nobody was there until 11:40, and the policy missed: all makes up for the latest run alone.',
      ask: 'missed, beyond_limit: Wed 18 Nov 10:00: missed; nobody was there until 11:40, and the policy missed: ask asks about the latest run alone.',
    };
    expect(await said(p, task, start + hour)).toBe(lines[missed]);
  });

  it('because nobody answered, or somebody said no', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly, policies: { missed: 'ask' } });
    await p.pass(hour + 40 * minute);
    expect(await said(p, task, start + hour)).toBe(
      'waiting, ask: Wed 18 Nov 10:00: waiting for an answer: it was missed, and the policy missed: ask asks whether it is to run after all, until Thu 19 Nov 10:40.',
    );
    await p.rooms.tasks.answer(by(task), 'none');
    expect(await said(p, task, start + hour)).toBe(
      'skipped, declined: Wed 18 Nov 10:00: skipped, because telegram:user:1001 answered at 10:40 that it was not to run after all.',
    );

    const daily = { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } as const;
    const other = await p.create({ schedule: daily, policies: { missed: 'ask' } });
    await p.pass(2 * hour);
    await p.pass(day);
    expect(await said(p, other, start + 3 * hour)).toBe(
      'skipped, ask_expired: Wed 18 Nov 12:00: skipped, because nobody answered within 1 day whether it was to run after all (policy missed: ask).',
    );
  });

  it('because it was skipped in advance', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.skip(by(task), { count: 1, from: null });
    expect(await said(p, task, start + hour)).toBe(
      'skipped, skip: Wed 18 Nov 10:00: will be left out, as telegram:user:1001 skipped it at 09:00.',
    );
    await p.pass(2 * hour);
    expect(await said(p, task, start + hour)).toBe(
      'skipped, skip: Wed 18 Nov 10:00: skipped, because telegram:user:1001 had skipped it in advance at 09:00.',
    );
    expect((await why(p, task, start + hour)).evidence).toMatchObject({ deed: { verb: 'skip', actor, at: start } });
  });

  it('because the task was paused, or deleted, while it waited', async () => {
    const p = await aPipeline();
    const policies = { overlap: 'queue', timeout: 'P1D' } as const;
    const paused = await p.create({ action: slow, schedule: minutely, policies });
    const deleted = await p.create({ action: slow, schedule: minutely, policies });
    await p.pass(minute);
    await p.time.advance(30 * second);
    await p.time.advance(29 * second + 999);
    for (const task of [paused, deleted])
      p.database.prepare('update tasks set next_at = next_at - 1 where id = ?').run(task.id);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.tasks.pause(by(paused), null);
    await p.rooms.tasks.delete(by(deleted));
    const last = start + 2 * minute - 1;
    expect(await said(p, paused, last)).toBe(
      'skipped, paused: Wed 18 Nov 09:01:59: skipped, because telegram:user:1001 paused the task at 09:01 while it was waiting.',
    );
    expect(await said(p, deleted, last)).toBe(
      'cancelled, deleted: Wed 18 Nov 09:01:59: cancelled, because telegram:user:1001 deleted the task at 09:01.',
    );
  });

  it.each([
    ['missing', `update tasks set grant_id = 'none'`],
    ['revoked', `update grants set revoked_at = 1`],
    ['expired', `update grants set expires_at = 1`],
    ['scope', `update grants set scopes = '[]'`],
  ])('because of its grant: %s', async (fault, statement) => {
    const p = await aPipeline();
    const task = await p.create();
    p.database.pragma('foreign_keys = off');
    p.database.exec(statement);
    await p.pass(5 * minute);
    const lines: Readonly<Record<string, string>> = {
      missing: 'has no grant, which is its right to run',
      revoked: 'the grant of the task, which is its right to run, was revoked',
      expired: 'the grant of the task, which is its right to run, had expired',
      scope: 'the grant of the task does not cover what it does',
    };
    const line = await said(p, task, start + 5 * minute);
    expect(line).toContain(`skipped, grant_${fault}: Wed 18 Nov 09:05: skipped, because `);
    expect(line).toContain(lines[fault]);
  });

  it('because nobody can say why', async () => {
    const p = await aPipeline();
    const task = await p.create();
    await live(p, 5);
    p.database.prepare('delete from occurrences').run();
    expect(await said(p, task, start + 5 * minute)).toBe(
      'unrecorded, no_record: Wed 18 Nov 09:05: no record, though the schedule names this time; this should not happen, and the nightly audit reports it.',
    );
    await p.rooms.reconcile({ fix: true, actor: 'system' });
    expect(await said(p, task, start + 5 * minute)).toBe(
      'unrecorded, no_record: Wed 18 Nov 09:05: no record, though the schedule names this time; this should not happen, and the nightly audit reports it.',
    );
  });

  it('because its row could not be read', async () => {
    const p = await aPipeline();
    const task = await p.create();
    p.database.prepare(`update tasks set policies = 'x'`).run();
    await p.pass(5 * minute + second);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'missed, unreadable: Wed 18 Nov 09:05: no run; the system had paused it on Wed 18 Nov 09:05:01, as its row could not be read: policies is no JSON, before this run was taken up.',
    );
    expect(await said(p, task, start + 10 * minute)).toBe(
      'paused, unreadable: Wed 18 Nov 09:10: no run planned; the system had paused it on Wed 18 Nov 09:05, as its row could not be read: policies is no JSON.',
    );
  });

  it('because it is about to be', async () => {
    const p = await aPipeline();
    const task = await p.create();
    await p.time.advance(5 * minute);
    expect(await said(p, task, start + 5 * minute)).toBe('due, due: Wed 18 Nov 09:05: due, and about to be taken up.');
  });
});

describe('slots of a long outage', () => {
  it('have one answer together', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: minutely, policies: { missed: 'skip' } });
    await p.pass(2 * day);
    expect(await said(p, task, start + day)).toBe(
      'gap, late: From Thu 19 Nov 01:41 to Thu 19 Nov 18:20: 1,000 runs missed in one outage; nobody was there until Fri 20 Nov 09:00, which is past the grace of 30 seconds, and the policy missed: skip leaves late runs out.',
    );
    expect(await said(p, task, start + day + 30 * second)).toBe(
      'no_slot, no_slot: Thu 19 Nov 09:00:30: not a time of this task (every minute); the times around it are 09:00 (missed) and 09:01 (missed).',
    );
  });

  it('are left out when the task was paused by its failures', async () => {
    const p = await aPipeline();
    const task = await p.create({
      action: { ...slow, fail_attempts: 1 },
      schedule: minutely,
      policies: { retry: { attempts: 1 }, auto_pause: 3, missed: 'skip', overlap: 'allow', timeout: 'PT2M' },
    });
    await live(p, 4);
    expect(await said(p, task, start + 4 * minute)).toBe(
      'gap, paused: Wed 18 Nov 09:04: 1 run left out, as the task was paused by then (09:04).',
    );
    expect(await said(p, task, start + 50 * minute)).toBe(
      'paused, auto:consecutive_failures: Wed 18 Nov 09:50: no run planned; the system had paused it on Wed 18 Nov 09:04, as its runs had failed too often in a row.',
    );
  });
});
