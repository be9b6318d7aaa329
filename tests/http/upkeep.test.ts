import { describe, expect, it } from 'vitest';
import { aDoor } from './door.ts';

const finding = {
  check: 'dispatched_without_run',
  count: 1,
  examples: ['occurrence-1'],
  sentence: 'An occurrence says that its run is live, and no such run is.',
  fixable: true,
};

describe('the audit on demand', () => {
  it('answers what it found and what it looked at', async () => {
    const answer = await aDoor().ask('POST', '/v1/audit/run');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ at: '2026-11-18T09:00:00.000Z', findings: [finding], checked: { tasks: 1 } });
  });
});

describe('reconcile', () => {
  it.each([
    ['without a body', undefined],
    ['with an empty one', {}],
    ['with fix: false', { fix: false }],
  ])('only tells %s', async (_what, body) => {
    const door = aDoor();
    expect((await door.ask('POST', '/v1/reconcile', body)).json).toEqual({ findings: [finding], fixed: [] });
    expect(door.asked).toEqual([{ name: 'reconcile', given: [{ fix: false, actor: 'api:token:default' }] }]);
  });

  it('mends in the name of whoever asks', async () => {
    const door = aDoor();
    expect((await door.ask('POST', '/v1/reconcile', { fix: true })).json).toEqual({
      findings: [finding],
      fixed: [{ check: finding.check, id: 'occurrence-1', did: 'failed: its run is missing' }],
    });
    expect(door.asked).toEqual([{ name: 'reconcile', given: [{ fix: true, actor: 'api:token:default' }] }]);
  });
});
