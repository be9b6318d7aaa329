import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start } from '../../support/pipeline.ts';
import { askAt, said, told, why } from './asking.ts';

const second = 1000;
const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;
const minutely = { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } as const;
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;

describe('a slot that ran', () => {
  it('is on time within a second; the evidence knows the milliseconds, and as which message it was delivered', async () => {
    const p = await aPipeline();
    const task = await p.create();
    await p.pass(5 * minute + 3);

    expect(await said(p, task, start + 5 * minute)).toBe('ran, schedule: Wed 18 Nov 09:05: ran on time; delivered.');
    expect((await why(p, task, start + 5 * minute)).evidence).toMatchObject({
      source: 'schedule',
      lateMs: 3,
      startedAfterMs: 3,
      attempts: { count: 1, lastError: null },
      deliveries: [{ status: 'delivered', messageId: 1002 }],
      version: 1,
    });
  });

  it('says so when it was made up for after an outage', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.pass(hour + 30 * minute);
    expect(await said(p, task, start + hour)).toBe(
      'late, catch_up: Wed 18 Nov 10:00: ran late, at 10:30, 30 minutes after its time, as nobody was there in time; delivered.',
    );
  });

  it('says so when it had to wait for the run before it', async () => {
    const p = await aPipeline();
    const slow = { kind: 'echo', delay_ms: 59 * second };
    const task = await p.create({ action: slow, schedule: minutely, policies: { overlap: 'queue', timeout: 'PT2M' } });
    await p.pass(30 * second);
    await p.rooms.tasks.runNow(by(task));
    await p.settle();
    await p.pass(30 * second);
    await p.pass(10 * second);
    expect(await said(p, task, start + minute)).toBe(
      'waiting, overlap: Wed 18 Nov 09:01: waiting for the run before it to end (policy overlap: queue).',
    );
    await p.pass(20 * second);
    await p.pass(minute);
    expect(await said(p, task, start + minute)).toBe(
      'ran, schedule: Wed 18 Nov 09:01: ran, 30 seconds after its time, as it had to wait; delivered.',
    );
    expect((await why(p, task, start + minute)).evidence).toMatchObject({ lateMs: 0, startedAfterMs: 30 * second });
  });

  it('tells of the attempts it took', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', fail_attempts: 1 };
    const task = await p.create({ action, policies: { retry: { base: 'PT1S', jitter: 0 } } });
    await p.pass(5 * minute);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'running, backoff: Wed 18 Nov 09:05: failed so far, and will be tried again at 09:05:01: echo fails attempt 1.',
    );
    await p.pass(second);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'ran, schedule: Wed 18 Nov 09:05: ran on time, at the second attempt; delivered.',
    );
  });

  it('is kept in the history where nothing is delivered', async () => {
    const p = await aPipeline();
    const task = await p.create({}, { threadKey: 'cli:default' });
    await p.pass(5 * minute);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'ran, schedule: Wed 18 Nov 09:05: ran on time; its result is kept in the history, as cli:default is delivered nowhere.',
    );
  });

  it('tells of every message of a long result', async () => {
    const p = await aPipeline();
    const task = await p.create({ instructions: 'a '.repeat(5000) });
    await p.pass(5 * minute);
    await p.pass(minute);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'ran, schedule: Wed 18 Nov 09:05: ran on time; delivered in 3 messages.',
    );
    expect((await why(p, task, start + 5 * minute)).evidence.deliveries?.map(({ messageId }) => messageId)).toEqual([
      1002, 1003, 1004,
    ]);
  });
});

describe('a run whose message did not arrive', () => {
  it.each(['blocked', 'refused', 'dropped', 'notSent'] as const)('is told apart: %s', async (fault) => {
    const p = await aPipeline();
    const task = await p.create({ policies: { unknown: 'ask' } });
    p.chat.failSends(fault);
    await p.pass(5 * minute);
    const lines = {
      blocked:
        'ran, schedule: Wed 18 Nov 09:05: ran on time, but its message is not delivered, and somebody has to mend the cause: not enough rights to send text messages to the chat.',
      refused: 'ran, schedule: Wed 18 Nov 09:05: ran on time, but its message was not delivered: message is too long.',
      dropped:
        'ran, schedule: Wed 18 Nov 09:05: ran on time, but nobody knows yet whether its message arrived: socket hang up.',
      notSent:
        'ran, schedule: Wed 18 Nov 09:05: ran on time, but its message is not delivered yet: connection refused.',
    };
    expect(await said(p, task, start + 5 * minute)).toBe(lines[fault]);
  });

  it('says when its message was too old', async () => {
    const p = await aPipeline();
    const task = await p.create({ policies: { max_age: 'PT10S' } });
    p.chat.failSends('blocked');
    await p.pass(5 * minute);
    await p.pass(20 * minute);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'ran, schedule: Wed 18 Nov 09:05: ran on time, but its message was not delivered: too old: not delivered within max_age.',
    );
  });
});

describe('a run that failed', () => {
  it('tells its error', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', fail_attempts: 9 };
    const task = await p.create({ action, policies: { retry: { attempts: 2, base: 'PT1S', jitter: 0 } } });
    await p.pass(5 * minute);
    await p.pass(minute);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'failed, error: Wed 18 Nov 09:05: failed after 2 attempts: echo fails attempt 2.',
    );
  });

  it('says so when the process died under it, and what came of that', async () => {
    const p = await aPipeline();
    const task = await p.create({ action: { kind: 'echo', delay_ms: 30 * second, repeatable: false } });
    await p.pass(5 * minute);
    expect(await said(p, task, start + 5 * minute)).toBe('running, running: Wed 18 Nov 09:05: running now.');
    const next = p.restart();
    await next.settle();
    expect(await said(next, task, start + 5 * minute)).toBe(
      'failed, error: Wed 18 Nov 09:05: failed: interrupted, effects unknown.',
    );
  });
});

describe('a run that somebody asked for', () => {
  it('stands beside the slot of its minute', async () => {
    const p = await aPipeline();
    const task = await p.create();
    await p.pass(5 * minute + 20 * second);
    await p.rooms.tasks.runNow(by(task));
    await p.settle();
    expect((await askAt(p, task, start + 5 * minute)).map(told)).toEqual([
      'ran, schedule: Wed 18 Nov 09:05: ran, 20 seconds after its time; delivered.',
      'ran, run_now: Wed 18 Nov 09:05: ran, asked for by hand by telegram:user:1001; delivered.',
    ]);
    expect((await askAt(p, task, start + 5 * minute + 20 * second)).map(told)).toHaveLength(1);
  });

  it('was snoozed to its time', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.snooze(by(task), start + 10 * minute);
    expect(await said(p, task, start + 10 * minute)).toBe(
      'planned, snooze: Wed 18 Nov 09:10: planned: it was snoozed to this time by telegram:user:1001 at 09:00.',
    );
    await p.pass(10 * minute + 4);
    expect(await said(p, task, start + 10 * minute)).toBe(
      'ran, snooze: Wed 18 Nov 09:10: ran, because telegram:user:1001 snoozed it; delivered.',
    );
  });

  it('was snoozed again', async () => {
    const p = await aPipeline();
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.snooze(by(task), start + 10 * minute);
    await p.rooms.tasks.snooze(by(task), start + 20 * minute);
    expect(await said(p, task, start + 10 * minute)).toBe(
      'skipped, replaced: Wed 18 Nov 09:10: skipped, snoozed to this time by telegram:user:1001, because it was snoozed again, to another time.',
    );
  });

  it('is a retry, or a replay, of another slot', async () => {
    const p = await aPipeline();
    const task = await p.create({
      action: { kind: 'echo', fail_attempts: 1 },
      policies: { retry: { attempts: 1 } },
      schedule: hourly,
    });
    await p.pass(hour);
    const [run] = await p.history(task.id);
    await p.pass(minute);
    await p.rooms.tasks.repeat('retry', run?.runId ?? '', { actor });
    await p.settle();
    expect(await said(p, task, start + hour + minute)).toBe(
      'failed, error: Wed 18 Nov 10:01: failed, as a retry by telegram:user:1001 of Wed 18 Nov 10:00: echo fails attempt 1.',
    );
    await p.pass(minute);
    await p.rooms.tasks.repeat('replay', run?.runId ?? '', { actor: 'api:token:default' });
    await p.settle();
    expect(await said(p, task, start + hour + 2 * minute)).toBe(
      'failed, error: Wed 18 Nov 10:02: failed, as a replay by the API token "default" of Wed 18 Nov 10:00: echo fails attempt 1.',
    );
  });

  it('was cancelled', async () => {
    const p = await aPipeline();
    const task = await p.create({ action: { kind: 'echo', delay_ms: 30 * second } });
    await p.pass(5 * minute);
    await p.pass(10 * second);
    await p.rooms.tasks.cancel(by(task));
    await p.settle();
    await p.pass(second);
    expect(await said(p, task, start + 5 * minute)).toBe(
      'cancelled, cancelled: Wed 18 Nov 09:05: cancelled by telegram:user:1001 at 09:05.',
    );
  });
});
