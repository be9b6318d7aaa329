import { describe, expect, it } from 'vitest';
import { checkContent } from '../../../src/app/tasks/definition.ts';
import { scopesOf } from '../../support/actions.ts';
import { actor, hour, hourly, minute, start, texts, withTask, type Pipeline } from '../../support/pipeline.ts';
import { failing, find, runIdOf, story, target } from '../tasks/world.ts';

const skip = { skip_if_unchanged: 'skip' } as const;

const acksOf = ({ database }: Pipeline) => database.prepare('select status, nags from acks order by created_at').all();

const firstOf = async (p: Pipeline, { id }: { readonly id: string }) => {
  const [first] = await p.history(id);
  if (first === undefined) throw new Error('it has not run');
  return runIdOf(first);
};

describe('a result that is the same as that of the last success', () => {
  it('is not shown with skip, and comes without a sound with silent; the first one is shown, and all succeed', async () => {
    for (const [wanted, shown, sounds] of [
      ['none', 3, [0, 0, 0]],
      ['silent', 3, [0, 1, 1]],
      ['skip', 1, [0]],
    ] as const) {
      const { p, task } = await withTask({ schedule: hourly, policies: { skip_if_unchanged: wanted } });
      for (let slot = 0; slot < 3; slot += 1) await p.pass(hour);
      const same = wanted === 'none' ? 'succeeded' : 'succeeded unchanged';
      expect(await story(p, task)).toEqual(['60 succeeded', `120 ${same}`, `180 ${same}`]);
      expect(texts(p)).toHaveLength(shown);
      const rows = p.database.prepare(`select silent from deliveries where kind = 'result' order by id`).all();
      expect(rows.map((row) => (row as { silent: number }).silent)).toEqual(sounds);
      expect((await find(p, task)).counters).toMatchObject({ runs: 3, failures: 0 });
    }
  });

  it('is shown again when the text was edited, and once more when that is taken back', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { instructions: 'Sit down!' });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { title: 'Another name for the same' });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { instructions: 'Stand up!' });
    await p.pass(hour);
    expect(texts(p)).toEqual(['Stand up!', 'Sit down!', 'Stand up!']);
  });

  it('is shown where another file comes with the same words', async () => {
    const photo = (id: string) => ({ kind: 'message', media: { kind: 'photo', file_id: id } });
    const { p, task } = await withTask({ schedule: hourly, policies: skip, action: photo('one') });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { action: photo('two') });
    await p.pass(hour);
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 succeeded', '180 succeeded unchanged']);
  });

  it('is not told from others by the line that says that it is late', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    await p.pass(hour + 30 * minute);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 catch_up succeeded unchanged']);
    expect(texts(p)).toEqual(['Stand up!']);
  });

  it('is looked for behind failures', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip, action: { kind: 'echo' } });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { action: failing });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { action: { kind: 'echo' } });
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 failed', '180 succeeded unchanged']);
    expect(texts(p).filter((text) => text === 'Stand up!')).toHaveLength(1);
  });

  it('is shown when the one before it could not be delivered', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { ...skip, max_age: 'PT10M' } });
    await p.pass(hour);
    p.database.exec(`update deliveries set status = 'failed', message_id = null where kind = 'result'`);
    await p.pass(hour);
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 succeeded', '180 succeeded unchanged']);
  });

  it('is shown when the one that was to be shown fails only after others were spared for it', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    p.database.exec(`update deliveries set status = 'blocked', message_id = null where kind = 'result'`);
    for (let slot = 0; slot < 2; slot += 1) await p.pass(hour);
    p.database.exec(`update deliveries set status = 'failed' where kind = 'result'`);
    for (let slot = 0; slot < 2; slot += 1) await p.pass(hour);
    const told = ['60', '120 unchanged', '180 unchanged', '240', '300 unchanged'];
    expect(await story(p, task)).toEqual(told.map((slot) => slot.replace(/^\d+/, '$& succeeded')));
  });

  it('is shown when the one before it is gone', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    p.database.exec('delete from occurrences; delete from runs');
    await p.pass(hour);
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!']);
    expect(await story(p, task)).toEqual(['120 succeeded']);
  });

  it('is noted for a thread that is delivered nowhere as well', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip }, { threadKey: 'cli:default' });
    await p.pass(hour);
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 succeeded unchanged']);
  });
});

describe('a result that somebody asked for by hand', () => {
  it.each<[string, (p: Pipeline, task: { readonly id: string }) => Promise<unknown>]>([
    ['run now', (p, task) => p.rooms.tasks.runNow(target(task))],
    ['a snooze', (p, task) => p.rooms.tasks.snooze(target(task), start + hour + minute)],
    [
      'a replay',
      async (p, task) => p.rooms.tasks.repeat('replay', await firstOf(p, task), { actor, idempotencyKey: null }),
    ],
  ])('is shown, whatever the one before it was: %s', async (_what, ask) => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    await ask(p, task);
    await p.pass(minute);
    expect((await story(p, task)).at(-1)).toMatch(/succeeded$/);
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!']);
    await p.pass(hour);
    expect(texts(p)).toHaveLength(2);
  });

  it('is shown when somebody wanted a missed run after all', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { ...skip, missed: 'ask' } });
    await p.pass(hour);
    await p.time.advance(hour + 20 * minute);
    await p.settle();
    await p.rooms.tasks.answer(target(task), 'latest');
    await p.settle();
    expect(await story(p, task)).toEqual(['60 succeeded', '120 catch_up succeeded']);
  });

  it('is what the next one is compared with, but for a replay, which shows what was', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip });
    await p.pass(hour);
    const first = await firstOf(p, task);
    await p.rooms.tasks.edit(target(task), { instructions: 'Sit down!' });
    await p.rooms.tasks.runNow(target(task));
    await p.pass(minute);
    await p.rooms.tasks.repeat('replay', first, { actor, idempotencyKey: null });
    await p.pass(minute);
    await p.pass(hour - 2 * minute);
    expect(texts(p)).toEqual(['Stand up!', 'Sit down!', 'Stand up!']);
    expect((await story(p, task)).at(-1)).toBe('120 succeeded unchanged');
  });
});

describe('a result that is not shown', () => {
  it('asks nobody to confirm it, and leaves the question about the one before it open', async () => {
    const ack = { nag_every: 'PT10M', nag_limit: 20 };
    const { p } = await withTask({ schedule: hourly, policies: { ...skip, ack } });
    await p.pass(hour);
    for (let step = 0; step < 6; step += 1) await p.pass(10 * minute);
    await p.pass(minute);
    expect(acksOf(p)).toEqual([{ status: 'open', nags: 6 }]);
  });

  it('asks nobody to approve it', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: { ...skip, approval: 'required' } });
    await p.pass(hour);
    await p.pass(hour);
    expect(await story(p, task)).toEqual(['60 succeeded', '120 succeeded unchanged']);
    expect(p.database.prepare(`select count(*) as n from deliveries where cause = 'approval'`).get()).toEqual({ n: 1 });
  });

  it('ends the incident with a word all the same', async () => {
    const { p, task } = await withTask({ schedule: hourly, policies: skip, action: { kind: 'echo' } });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { action: failing });
    await p.pass(hour);
    await p.rooms.tasks.edit(target(task), { action: { kind: 'echo' } });
    await p.pass(hour);
    expect(texts(p).map((text) => /recovered/.test(text))).toEqual([false, false, true]);
  });
});

it('is refused beside a watch in the action, which does the same', () => {
  const rules = {
    actions: { scopesOf, require: () => ({ check: () => [] }) },
    minIntervalMs: minute,
    retentionDays: 90,
    maxRunsDefault: 0,
    parsed: new Set<string>(),
  };
  const action = { kind: 'http', watch: { on: 'body' } };
  const content = { title: 'One', instructions: 'One', action };
  for (const wanted of ['silent', 'skip'] as const) {
    const define = () => checkContent(rules, { ...content, policies: { skip_if_unchanged: wanted } });
    expect(define).toThrow(
      expect.objectContaining({ code: 'invalid_policy', details: { field: 'policies.skip_if_unchanged' } }),
    );
  }
  for (const policies of [{}, { skip_if_unchanged: 'none' }] as const) checkContent(rules, { ...content, policies });
});
