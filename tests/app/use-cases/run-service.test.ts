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
