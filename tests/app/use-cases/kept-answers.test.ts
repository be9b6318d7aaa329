import { describe, expect, it } from 'vitest';
import { createKeptAnswers, type AnswerStore, type KeptAnswer } from '../../../src/app/use-cases/kept-answers.ts';
import { sha256 } from '../../../src/system/ids.ts';
import { memoryLog } from '../../support/fakes.ts';
import { aPipeline, type Pipeline } from '../../support/pipeline.ts';

const request = { operation: 'runTaskNow', target: { task_id: 't' }, payload: [{}, { a: 1, b: 2 }], key: 'k' };

function tellerOf({ store, time }: Pick<Pipeline, 'store' | 'time'>, own: Partial<AnswerStore> = {}) {
  const log = memoryLog();
  const answers: AnswerStore = {
    keptAnswer: (once, now) => store.keptAnswer(once, now),
    keepAnswer: (once, answer, now) => store.keepAnswer(once, answer, now),
    ...own,
  };
  const tellOnce = createKeptAnswers({ store: answers, clock: time, digest: sha256, log });
  let calls = 0;
  const tell = async (): Promise<KeptAnswer> => {
    calls += 1;
    return { status: 201, body: `{"call":${calls}}` };
  };
  return { tellOnce, tell, log, calls: () => calls };
}

describe('an answer under a key', () => {
  it('is found whatever the order of the fields, and refused for another payload', async () => {
    const { tellOnce, tell } = tellerOf(await aPipeline());
    await tellOnce(request, tell);
    const turned = { ...request, payload: [{}, { b: 2, a: 1 }] };
    expect((await tellOnce(turned, tell)).isRepeated).toBe(true);
    const other = { ...request, payload: [{}, { a: 1, b: 3 }] };
    await expect(tellOnce(other, tell)).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('belongs to one operation and one target', async () => {
    const { tellOnce, tell, calls } = tellerOf(await aPipeline());
    await tellOnce(request, tell);
    await tellOnce({ ...request, target: { task_id: 'u' } }, tell);
    await tellOnce({ ...request, operation: 'skipTask' }, tell);
    await tellOnce({ ...request, key: 'other' }, tell);
    expect(calls()).toBe(4);
  });

  it('is not there yet while the first request is at work: the second is sent away, whatever it asks', async () => {
    const { tellOnce, tell } = tellerOf(await aPipeline());
    let open = () => {};
    const held = new Promise<void>((resolve) => {
      open = resolve;
    });
    const first = tellOnce(request, async () => {
      await held;
      return tell();
    });
    await expect(tellOnce(request, tell)).rejects.toMatchObject({ code: 'request_in_progress' });
    await expect(tellOnce({ ...request, payload: 'other' }, tell)).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    expect((await tellOnce({ ...request, key: 'other' }, tell)).body).toBe('{"call":1}');
    open();
    expect((await first).body).toBe('{"call":2}');
    expect(await tellOnce(request, tell)).toMatchObject({ body: '{"call":2}', isRepeated: true });
  });

  it('that could not be kept was told all the same, and only the log knows', async () => {
    const p = await aPipeline();
    const keepAnswer = async () => Promise.reject(new Error('the disk is full'));
    const { tellOnce, tell, log } = tellerOf(p, { keepAnswer });
    expect((await tellOnce(request, tell)).body).toBe('{"call":1}');
    expect(log.lines.map(({ event }) => event)).toEqual(['answer_not_kept']);
    expect((await tellOnce(request, tell)).body).toBe('{"call":2}');
  });
});
