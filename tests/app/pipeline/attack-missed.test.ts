import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import type { Policies } from '../../../src/domain/policy.ts';
import { actor, aPipeline, day, hour, minute, type Pipeline } from '../../support/pipeline.ts';

interface Row {
  readonly status: string;
  readonly reason: string | null;
  readonly source: string;
}

const rowsOf = (p: Pipeline) =>
  p.database.prepare('select status, reason, source from occurrences order by slot_at').all() as Row[];
const tally = (p: Pipeline) => {
  const counts: Record<string, number> = {};
  for (const { status, reason } of rowsOf(p))
    counts[`${status} ${reason ?? ''}`.trim()] = (counts[`${status} ${reason ?? ''}`.trim()] ?? 0) + 1;
  return counts;
};
const gapsOf = (p: Pipeline) => p.database.prepare('select count, reason from gaps order by from_at').all();
const words = (p: Pipeline) => p.chat.shown.filter(({ text }) => text === '[missed]').length;

async function away({
  cron = '0 * * * *',
  ms = 3 * hour + 30 * minute,
  policies = {},
}: { cron?: string; ms?: number; policies?: Policies } = {}) {
  const p = await aPipeline();
  const { id: taskId } = await p.create({
    schedule: { kind: 'cron', cron, timezone: 'UTC' },
    policies: { missed: 'ask', ...policies },
  });
  await p.settle();
  await p.time.advance(ms);
  await p.settle();
  return { p, taskId, target: { taskId, actor } as const };
}

describe('a question about missed runs', () => {
  it('is one for both outages while nobody has answered, and the answer is about all that is open', async () => {
    const { p, target } = await away();
    await p.time.advance(2 * hour);
    await p.settle();
    expect([tally(p), words(p)]).toEqual([{ 'pending ask': 5 }, 2]);
    await p.rooms.tasks.answer(target, 'latest');
    await p.settle();
    expect(tally(p)).toEqual({ 'skipped declined': 4, succeeded: 1 });
    expect(rowsOf(p).at(-1)?.status).toBe('succeeded');
    await expect(p.rooms.tasks.answer(target, 'all')).rejects.toMatchObject({ code: 'nothing_to_answer' });
  });

  it('is over when its time is over, whoever presses then, for each outage at its own time', async () => {
    const { p, target } = await away();
    await p.rooms.tasks.edit(target, { schedule: { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' } });
    await p.time.advance(day);
    // The press comes before the step that would have ended it.
    const asked = await p.rooms.tasks.answer(target, 'all').then(
      () => 'answered',
      (error: unknown) => (error instanceof AppError ? error.code : String(error)),
    );
    await p.settle();
    expect([asked, tally(p)]).toEqual(['nothing_to_answer', { 'skipped ask_expired': 3 }]);
  });

  it('about thousands of slots keeps its rows few and its account whole', async () => {
    const { p, target } = await away({ cron: '* * * * *', ms: 3 * day });
    for (let steps = 0; steps < 20; steps += 1) await p.settle();
    const counted = rowsOf(p).length + (gapsOf(p) as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
    expect(counted).toBe(3 * 24 * 60);
    expect(words(p)).toBeLessThanOrEqual(2);
    await p.rooms.tasks.answer(target, 'all');
    for (let passed = 0; passed < 30; passed += 1) await p.pass(100);
    expect(Object.keys(tally(p)).filter((one) => one.startsWith('pending'))).toEqual([]);
  });

  it.each([
    ['a pause', (p: Pipeline, target: { taskId: string; actor: typeof actor }) => p.rooms.tasks.pause(target, null)],
    ['a deletion', (p: Pipeline, target: { taskId: string; actor: typeof actor }) => p.rooms.tasks.delete(target)],
  ] as const)('is answered by %s, and nothing of it comes later', async (_name, deed) => {
    const { p, target } = await away();
    await deed(p, target);
    await p.settle();
    expect(Object.keys(tally(p)).filter((one) => one.startsWith('pending'))).toEqual([]);
    await p.pass(2 * day);
    expect(p.chat.shown.filter(({ text }) => text.startsWith('Stand up'))).toEqual([]);
  });

  it('stays open over an edit of the text, whose new words the runs say', async () => {
    const { p, target } = await away();
    await p.rooms.tasks.edit(target, { instructions: 'Sit down!' });
    await p.rooms.tasks.answer(target, 'all');
    await p.settle();
    expect(tally(p)).toEqual({ succeeded: 3 });
    expect(p.chat.shown.filter(({ text }) => text.startsWith('Sit down!'))).toHaveLength(3);
  });

  it('answered twice at once has one answer', async () => {
    const { p, target } = await away();
    const answers = await Promise.allSettled([
      p.rooms.tasks.answer(target, 'all'),
      p.rooms.tasks.answer(target, 'none'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await p.settle();
    expect(tally(p)).toEqual({ succeeded: 3 });
  });

  it('counts what is run after all against max_runs', async () => {
    const { p, target } = await away({ policies: { max_runs: 2 } });
    await p.rooms.tasks.answer(target, 'all');
    for (let passed = 0; passed < 5; passed += 1) await p.pass(hour);
    const ran = rowsOf(p).filter(({ status }) => status === 'succeeded').length;
    expect(ran).toBeLessThanOrEqual(2);
  });
});
