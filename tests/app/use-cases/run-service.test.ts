import { describe, expect, it } from 'vitest';
import type { RunInput, RunRequest } from '../../../src/domain/run.ts';
import { aPipeline, runServiceOf } from '../../support/pipeline.ts';

const input: RunInput = {
  title: 'A message',
  instructions: 'say this',
  action: { kind: 'echo', delay_ms: 1000 },
  timezone: 'UTC',
  number: null,
  slotAt: null,
  late: false,
  delivers: false,
};

function request(idempotencyKey: string, facts: Partial<RunRequest> = {}): RunRequest {
  return {
    source: 'api',
    idempotencyKey,
    lane: 'telegram:chat:-5',
    exclusive: false,
    priority: 5,
    taskId: null,
    taskVersion: null,
    occurrenceId: null,
    chatId: null,
    ownerId: 'system:api',
    input,
    ...facts,
  };
}

describe('the door to execution', () => {
  it('takes a request once: the same key and payload is the same run', async () => {
    const p = await aPipeline();
    const service = runServiceOf(p);
    const first = await service.ingest(request('k'));
    expect(first.created).toBe(true);
    expect(await service.ingest(request('k'))).toEqual({ runId: first.runId, created: false });
    expect((await service.ingest(request('k', { source: 'telegram' }))).created).toBe(true);
  });

  it('refuses another payload under a key that was used', async () => {
    const p = await aPipeline();
    const service = runServiceOf(p);
    await service.ingest(request('k'));
    const other = request('k', { input: { ...input, instructions: 'say something else' } });
    await expect(service.ingest(other)).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    await expect(service.ingest(request('k', { lane: 'telegram:chat:-6' }))).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  it('serves the messages of a thread in order, to their end, and threads side by side', async () => {
    const p = await aPipeline();
    const service = runServiceOf(p);
    const ids: string[] = [];
    for (const [key, lane] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
    ] as const) {
      ids.push((await service.ingest(request(key, { lane }))).runId);
    }
    const states = async () => Promise.all(ids.map(async (id) => (await p.store.readRun(id))?.status));
    await p.settle();
    expect(await states()).toEqual(['running', 'queued', 'running']);
    await p.pass(1000);
    expect(await states()).toEqual(['succeeded', 'running', 'succeeded']);
    await p.pass(1000);
    expect(await states()).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });
});
