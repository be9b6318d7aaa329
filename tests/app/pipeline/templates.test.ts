import { describe, expect, it } from 'vitest';
import type { Rendered } from '../../../src/app/ports/outside.ts';
import { actor, aPipeline, minute, start } from '../../support/pipeline.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

describe('a template', () => {
  const templateOf = async (rendered: Rendered) => {
    const owners: string[] = [];
    const p = await aPipeline({
      templates: {
        check: async () => undefined,
        render: async (_text, owner) => {
          owners.push(owner);
          return rendered;
        },
      },
    });
    const task = await p.create({ schedule: hourly, instructions: '{{ x }}' });
    for (let part = 0; part < 24; part += 1) await p.pass(5 * minute);
    return { p, owners, id: task.id };
  };

  it('that would harm others pauses its task at once, and says what to do', async () => {
    const error = 'The template took down the process that rendered it. Make it simpler.';
    const { p, owners, id } = await templateOf({ is: 'giveUp', error, isHarmful: true });
    expect(owners).toEqual([actor]);
    expect(await p.history(id)).toMatchObject([{ status: 'failed', error }]);
    expect(await p.rooms.tasks.get(id)).toMatchObject({
      state: 'paused',
      pausedReason: 'harmful_template',
      paused: { by: 'system' },
    });
    const told = p.database.prepare(`select content from deliveries where kind = 'notice'`).pluck().all() as string[];
    expect(told.map((content) => JSON.parse(content) as object)).toEqual([
      { view: 'autoPaused', reason: 'harmful_template', failures: 1, error },
    ]);
  });

  it('that has a fault fails its run and goes on', async () => {
    const { p, id } = await templateOf({ is: 'giveUp', error: 'undefined variable' });
    expect((await p.history(id)).map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect((await p.rooms.tasks.get(id)).state).toBe('active');
  });

  it('that cannot be rendered now is tried again later each time, which uses up no attempt of its policy', async () => {
    const { p, id } = await templateOf({ is: 'retry', error: 'busy', afterMs: 10 * minute, isFree: true });
    const [run] = await p.history(id);
    expect(run?.attempts.map(({ startedAt }) => (startedAt - start) / minute)).toEqual([60, 70, 85, 100, 115]);
  });

  it('that can never be rendered fails its run after ten attempts', async () => {
    const { p, id } = await templateOf({ is: 'retry', error: 'busy', afterMs: 1000, isFree: true });
    const [run] = await p.history(id);
    expect(run).toMatchObject({ status: 'failed', error: 'busy' });
    expect(run?.attempts).toHaveLength(10);
  });
});

it('a template knows its task, its run and what asked for it', async () => {
  const p = await aPipeline();
  const text = '{{ task.id }} {{ run.number }} {{ run.source }} {{ run.slot }} {{ run.attempt }}';
  const task = await p.create({ schedule: hourly, instructions: text });
  await p.rooms.tasks.runNow({ taskId: task.id, actor });
  await p.settle();
  await p.rooms.tasks.snooze({ taskId: task.id, actor }, start + 10 * minute);
  for (let part = 0; part < 6; part += 1) await p.pass(10 * minute);
  const shown = p.database.prepare(`select output from runs order by id`).pluck().all() as string[];
  const iso = (at: number) => new Date(at).toISOString();
  expect(shown.map((output) => (JSON.parse(output) as { text: string }).text)).toEqual([
    `${task.id} 1 run_now ${iso(start + 1)} 1`,
    `${task.id} 2 snooze ${iso(start + 10 * minute)} 1`,
    `${task.id} 3 schedule ${iso(start + 60 * minute)} 1`,
  ]);
});
