import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { actor, group, hour, minute, texts } from '../../../support/pipeline.ts';
import { caller, failing, json } from './caller.ts';

describe('a call that fails', () => {
  it.each([
    ['a 4xx once', failing(404), 1, 'failed', /answered 404: no luck/],
    ['a 409 once', failing(409), 1, 'failed', /answered 409/],
    ['a 5xx as its policy says', failing(500), 3, 'failed', /answered 500: no luck/],
    ['a 408 as its policy says', failing(408), 3, 'failed', /answered 408/],
    ['a connection that breaks', (response: ServerResponse) => response.destroy(), 3, 'failed', /api\.example\.com/],
  ])('is tried: %s', async (_what, answer, tries, status, error) => {
    const { p, seen, pass, fetching } = await caller(answer);
    const task = await fetching({}, { policies: { retry: { base: 'PT1S', jitter: 0 } } });
    await pass(hour);
    for (let seconds = 0; seconds < 8; seconds += 1) await pass(1000);
    expect(seen).toHaveLength(tries);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ status, error: expect.stringMatching(error) as string });
    expect(run?.attempts).toHaveLength(tries);
  });

  it('leaves what came as data, with the kind of its failure', async () => {
    const broken = await caller((response) => response.destroy());
    const once = { policies: { retry: { attempts: 1 } } };
    const task = await broken.fetching({}, once);
    await broken.pass(hour);
    expect(await broken.lastOutput(task.id)).toMatchObject({
      type: 'http',
      data: {
        status: null,
        ok: false,
        headers: {},
        body: null,
        error: { type: 'NETWORK', message: expect.any(String) as string },
      },
    });
    const gone = await caller((response) =>
      response.writeHead(410, { 'content-type': 'application/json' }).end('{"gone":true}'),
    );
    const other = await gone.fetching({}, once);
    await gone.pass(hour);
    expect(await gone.lastOutput(other.id)).toMatchObject({ data: { status: 410, ok: false, body: { gone: true } } });
  });

  it('by its own timeout is one of the network', async () => {
    const { pass, fetching, lastOutput } = await caller(() => undefined);
    const task = await fetching({ timeout: 'PT0.2S' }, { policies: { retry: { attempts: 1 } } });
    await pass(hour);
    expect(await lastOutput(task.id)).toMatchObject({ data: { status: null, ok: false, error: { type: 'TIMEOUT' } } });
  });

  it('by the timeout of its policy reads the same', async () => {
    const { p, seen, settle, fetching, lastOutput } = await caller(() => undefined);
    const task = await fetching({}, { policies: { timeout: 'PT10S', retry: { attempts: 1 } } });
    await p.time.advance(hour);
    await p.settle();
    await expect.poll(() => seen.length).toBe(1);
    await p.time.advance(10_000);
    await settle();
    const error = { type: 'TIMEOUT', message: 'no answer within 10 s' };
    expect(await lastOutput(task.id)).toMatchObject({ data: { status: null, ok: false, body: null, error } });
  });

  it('is told at once to whoever tests a call of a host that is left alone', async () => {
    const { p, seen, base, settle } = await caller(failing(500));
    const action = { kind: 'http', url: `${base}/price` };
    const wish = { threadKey: group, title: 'Price', instructions: '', action, timezone: 'UTC', actor } as const;
    const tested = async (idempotencyKey: string) => {
      const { id } = await p.rooms.testRuns.run({ ...wish, isAgreed: true, idempotencyKey });
      await settle();
      await p.time.advance(1000);
      return p.store.readRun(id);
    };
    for (let calls = 0; calls < 10; calls += 1) await tested(`${calls}`);
    const error = expect.stringContaining('fails again and again') as string;
    expect(await tested('last')).toMatchObject({ status: 'failed', error });
    expect(seen).toHaveLength(10);
    expect(texts(p)).toHaveLength(11);
  });

  it('is a success where its status is expected, and no success where it is not', async () => {
    const missing = await caller(failing(404));
    const task = await missing.fetching({ expect_status: [200, 404] });
    await missing.pass(hour);
    expect(await missing.p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    const fine = await caller(json({}));
    const other = await fine.fetching({ expect_status: 201 });
    await fine.pass(hour);
    expect(fine.seen).toHaveLength(1);
    expect(await fine.p.history(other.id)).toMatchObject([{ status: 'failed' }]);
  });

  it('waits as long as the host asked, and so does every other task of that host', async () => {
    const { p, seen, pass, fetching } = await caller((response) => {
      if (seen.length === 1) response.writeHead(429, { 'retry-after': '120' });
      response.end('ok');
    });
    const first = await fetching({}, { policies: { retry: { base: 'PT1S', jitter: 0 } } });
    const other = await fetching(
      {},
      { title: 'Other', schedule: { kind: 'cron', cron: '1 10 * * *', timezone: 'UTC' } },
    );
    await pass(hour);
    await pass(minute);
    expect(seen).toHaveLength(1);
    const [waiting] = await p.history(other.id);
    expect(waiting?.attempts).toEqual([]);
    expect(await p.rooms.tasks.getRun(waiting?.runId ?? '')).toMatchObject({
      status: 'backoff',
      error: expect.stringContaining('asked to be left alone') as string,
    });
    await pass(minute);
    expect(seen).toHaveLength(3);
    expect(await p.rooms.tasks.get(first.id)).toMatchObject({ counters: { failures: 0 } });
  });
});
