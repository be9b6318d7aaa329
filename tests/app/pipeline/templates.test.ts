import { describe, expect, it } from 'vitest';
import { messageAction } from '../../../src/app/actions/message.ts';
import type { Rendered } from '../../../src/app/ports/outside.ts';
import { runInput } from '../../support/builders.ts';
import { promptTemplates } from '../../support/fakes.ts';
import { actor, aPipeline, minute, start } from '../../support/pipeline.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

describe('a template', () => {
  const busy: Rendered = { is: 'retry', error: 'busy', afterMs: 1000, isFree: true };
  const broken = new Error('it broke');
  const templateOf = async (...answers: (Rendered | Error)[]) => {
    const owners: string[] = [];
    const p = await aPipeline({
      templates: {
        check: async () => undefined,
        render: async (_text, owner) => {
          owners.push(owner);
          const answer = answers[owners.length - 1] ?? answers.at(-1) ?? busy;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    });
    const policies = { retry: { attempts: 3 } };
    const task = await p.create({ schedule: hourly, instructions: '{{ x }}', policies });
    for (let part = 0; part < 24; part += 1) await p.pass(5 * minute);
    return { p, owners, id: task.id };
  };

  it('that would harm others pauses its task at once, and says what to do', async () => {
    const error = 'The template took down the process that rendered it. Make it simpler.';
    const { p, owners, id } = await templateOf({ is: 'giveUp', error, fault: 'it died', isHarmful: true });
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
    const { p, id } = await templateOf({ is: 'giveUp', error: 'unknown variable', fault: 'unknown variable' });
    expect((await p.history(id)).map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect((await p.rooms.tasks.get(id)).state).toBe('active');
  });

  it('that cannot be rendered now is tried again later each time, which uses up no attempt of its policy', async () => {
    const { p, id } = await templateOf({ is: 'retry', error: 'busy', afterMs: 10 * minute, isFree: true });
    const [run] = await p.history(id);
    expect(run?.attempts.map(({ startedAt }) => (startedAt - start) / minute)).toEqual([60, 70, 85, 100, 115]);
  });

  it.each([
    ['before', [busy, busy, busy]],
    ['after', [broken, busy, busy]],
    ['between', [broken, busy, broken, busy]],
  ])('that cannot be rendered for a while leaves its policy all attempts: %s others', async (_when, answers) => {
    const { p, id } = await templateOf(...answers, broken);
    const [run] = await p.history(id);
    expect(run).toMatchObject({ status: 'failed', error: 'it broke' });
    expect(run?.attempts.filter(({ error }) => error === 'it broke')).toHaveLength(3);
  });

  it('that can never be rendered fails its run after ten attempts', async () => {
    const { p, id } = await templateOf(busy);
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

describe('a template that names the last result', () => {
  it('is given that of the last run that ended well, and what became of the last slot', async () => {
    const p = await aPipeline();
    const told = '[{{ last.text | default: "nothing yet" }}] {{ last.number }} {{ last.outcome }} {{ last.at }}';
    const task = await p.create({ schedule: hourly, instructions: told });
    const target = { taskId: task.id, actor } as const;
    const say = (instructions: string) => p.rooms.tasks.edit(target, { instructions });
    await p.pass(60 * minute);
    await say('{{ context.missing }}');
    await p.pass(60 * minute);
    await say(told);
    await p.pass(60 * minute);
    await p.rooms.tasks.skip(target, { count: 1, from: null });
    await p.pass(60 * minute);
    await p.pass(60 * minute);
    const at = (minutes: number) => new Date(start + minutes * minute).toISOString();
    const first = '[nothing yet]   ';
    const third = `[${first}] 1 failed ${at(60)}`;
    expect(p.chat.shown.map(({ text }) => text).filter((text) => text.startsWith('[') && text.includes(' '))).toEqual([
      first,
      third,
      `[${third}] 3 skipped ${at(180)}`,
    ]);
  });

  it.each([
    ['{{ last.text | default: "-" }}', 1],
    ['{% if last.number %}{{ last["text"] }}{% endif %}', 1],
    ['{{ task.title | split: " " | last }}', 0],
    ['{% for one in (1..2) %}{{ forloop.last }}{% endfor %}', 0],
    ['{{ run.number }}', 0],
  ])('reads it, and no other does: %s', async (instructions, reads) => {
    const asked: string[] = [];
    const action = messageAction(promptTemplates(), async (taskId) => {
      asked.push(taskId);
      return null;
    });
    const whose = { runId: 'r', taskId: 't', chatId: 'c', ownerId: actor, runNumber: 1 } as const;
    const job = {
      ...whose,
      scopes: ['action:message'],
      unconfirmed: [],
      attempt: 1,
      fence: 1,
      placeAt: null,
      startedAt: start,
      outgoingKey: 'k',
      signal: new AbortController().signal,
      progress: () => {},
    };
    await action.run({ ...job, input: { ...runInput, instructions } });
    expect(asked).toEqual(Array.from({ length: reads }, () => 't'));
  });
});
