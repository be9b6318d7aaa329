import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, minute, start, texts, withTask, afterAnHour } from '../../support/pipeline.ts';

const iso = (at: number) => new Date(at).toISOString();

describe('from a due slot to a message in its own topic', () => {
  it('makes one occurrence, one run, one attempt, one topic and one delivery with its proof', async () => {
    const { p, task } = await withTask({ instructions: 'Stand up!' });
    expect(task).toMatchObject({
      number: 1,
      state: 'active',
      nextAt: start + 5 * minute,
      topicState: 'none',
      topicId: null,
    });
    await p.pass(5 * minute);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ slotAt: start + 5 * minute, status: 'succeeded', source: 'schedule', lateMs: 0 });
    expect(run?.attempts).toMatchObject([{ attempt: 1, status: 'succeeded' }]);
    const topic = p.chat.topics[0];
    expect(p.chat.topics).toEqual([{ chatId: '-1001234', id: expect.any(Number) as number, name: 'Stand up!' }]);
    expect(p.chat.shown).toEqual([
      { chatId: '-1001234', topic: topic?.id, messageId: expect.any(Number) as number, text: 'Stand up!' },
    ]);
    expect(run?.deliveries).toMatchObject([
      {
        status: 'delivered',
        messageId: p.chat.shown[0]?.messageId,
        messageThreadId: topic?.id,
        platformChatId: '-1001234',
      },
    ]);
  });

  it('sends the parts of a long text in order', async () => {
    const p = await aPipeline();
    const text = Array.from({ length: 1500 }, (_line, index) => `line ${index}`).join('\n');
    const task = await p.create({ instructions: text, title: 'Long' });
    await p.pass(5 * minute);
    expect(p.chat.shown.length).toBeGreaterThan(1);
    expect(p.chat.shown.map((message) => message.text).join('\n')).toBe(text);
    const [run] = await p.history(task.id);
    expect(run?.deliveries.map(({ part, status }) => [part, status])).toEqual(
      p.chat.shown.map((_message, index) => [index + 1, 'delivered']),
    );
  });

  it('keeps the results of a thread that is no chat in history, and delivers them nowhere', async () => {
    const { p, task } = await withTask({}, { threadKey: 'cli:default' });
    await p.pass(5 * minute);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ status: 'succeeded', deliveries: [] });
    expect((await p.store.readRun(run?.runId ?? ''))?.output).toEqual({ type: 'message', text: 'Stand up!' });
    expect(p.chat.calls).toEqual([]);
  });

  it('fills a template with its task, its run and its context, and leaves other texts alone', async () => {
    const { p } = await withTask({
      instructions: '#{{ task.number }} {{ run.scheduled_for }} {{ context.name }}',
      context: { name: 'Ada' },
    });
    await p.create({ instructions: '{{ not a template', action: { kind: 'message', plain: true } });
    await p.create({ instructions: 'a { b } c %' });
    await p.pass(5 * minute);
    expect(texts(p).sort()).toEqual(['#1 2026-11-18T09:05:00.000Z Ada', 'a { b } c %', '{{ not a template'].sort());
  });

  it('refuses a broken template when the task is created, and says how to send it as it is', async () => {
    const p = await aPipeline();
    await expect(p.create({ instructions: 'Hi {{ name' })).rejects.toMatchObject({
      code: 'invalid_template',
      message: expect.stringContaining('action.plain') as string,
    });
  });

  it('leaves the message of a run that is on time exactly as it was written', async () => {
    const { p } = await withTask();
    await p.pass(5 * minute + 30_000);
    expect(texts(p)).toEqual(['Stand up!']);
  });
});

describe('kinds of schedules', () => {
  it('a task that runs once is completed by its only slot', async () => {
    const { p, task } = await afterAnHour({ schedule: { kind: 'once', once_at: iso(start + hour), timezone: 'UTC' } });
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ state: 'completed', nextAt: null, counters: { runs: 1 } });
    expect(await p.history(task.id)).toHaveLength(1);
  });

  it('an exhausted rrule is completed and never stops the others', async () => {
    const { p, task: rule } = await withTask({
      schedule: { kind: 'rrule', rrule: 'FREQ=HOURLY;COUNT=2', timezone: 'UTC' },
    });
    const other = await p.create({ schedule: { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } });
    for (let step = 0; step < 4; step += 1) await p.pass(hour);
    expect(await p.rooms.tasks.get(rule.id)).toMatchObject({ state: 'completed', nextAt: null });
    expect((await p.history(other.id)).map(({ status }) => status)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      'succeeded',
    ]);
  });

  it('an interval stays on its anchor, however late its runs were', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } });
    await p.pass(hour + 7 * minute);
    await p.pass(hour);
    expect((await p.history(task.id)).map(({ slotAt }) => slotAt)).toEqual([start + hour, start + 2 * hour]);
  });

  it('a delay counts from the end of the last run', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'interval', interval: 'PT10M', from: 'completion', timezone: 'UTC' },
      action: { kind: 'echo', delay_ms: 20_000 },
    });
    await p.pass(10 * minute);
    await p.pass(20_000);
    expect((await p.rooms.tasks.get(task.id)).nextAt).toBe(start + 10 * minute + 20_000 + 10 * minute);
  });

  it('a delay has no slot while its run goes on', async () => {
    const { p, task } = await withTask({
      schedule: { kind: 'interval', interval: 'PT1M', from: 'completion', timezone: 'UTC' },
      action: { kind: 'echo', delay_ms: 60_000 },
      policies: { timeout: 'PT5M' },
    });
    await p.pass(minute);
    await p.pass(59_000);
    await p.pass(500);
    expect(await p.history(task.id)).toHaveLength(1);
    await p.pass(10_000);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
  });
});

describe('evolving context', () => {
  it('is handed from run to run, and a failed run leaves it as it was', async () => {
    const { p, task } = await withTask({ action: { kind: 'echo', context: { seen: 1 } }, context: { seen: 0 } });
    await p.pass(5 * minute);
    expect((await p.rooms.tasks.get(task.id)).context).toEqual({ seen: 1 });
    await p.rooms.tasks.edit(
      { taskId: task.id, actor },
      { action: { kind: 'echo', context: { seen: 2 }, fail_attempts: 9, error: 'final' } },
    );
    await p.pass(5 * minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ context: { seen: 1 }, lastRunStatus: 'failed' });
  });

  it('stays as a person has set it while the run was under way, and the next run goes on from there', async () => {
    const action = { kind: 'echo', context: { by: 'run' }, delay_ms: 5000 } as const;
    const { p, task } = await withTask({ action, context: { by: 'nobody' } });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    await p.time.advance(1000);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { context: { by: 'person' } });
    await p.pass(minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ context: { by: 'person' }, lastRunStatus: 'succeeded' });
    await p.pass(4 * minute);
    await p.pass(minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ context: { by: 'run' }, counters: { runs: 2 } });
  });
});

const daily = { kind: 'interval', interval: 'P1D', timezone: 'UTC' } as const;

describe('many tasks', () => {
  it('a slow one delays nobody else', async () => {
    const { p, task: slow } = await withTask({
      action: { kind: 'echo', delay_ms: 50_000 },
      policies: { timeout: 'PT5M' },
    });
    const quick = await p.create();
    await p.pass(5 * minute);
    expect(await p.history(slow.id)).toMatchObject([{ status: 'dispatched' }]);
    expect(await p.history(quick.id)).toMatchObject([{ status: 'succeeded' }]);
    await p.pass(50_000);
    expect(await p.history(slow.id)).toMatchObject([{ status: 'succeeded' }]);
  });

  it('a full runner takes up the rest when it has room again', async () => {
    const p = await aPipeline({ settings: { RUN_CONCURRENCY: 2 } });
    const tasks = [];
    for (let index = 0; index < 5; index += 1) tasks.push(await p.create({ action: { kind: 'echo', delay_ms: 1000 } }));
    await p.pass(5 * minute);
    for (let turn = 0; turn < 5; turn += 1) await p.pass(1000);
    for (const task of tasks)
      expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', attempts: [{ attempt: 1 }] }]);
  });

  it('what a person asks for now is started first, and then what is more urgent', async () => {
    const p = await aPipeline({ settings: { RUN_CONCURRENCY: 1 } });
    const action = { kind: 'echo', delay_ms: 1000 } as const;
    const plain = await p.create({ action });
    const urgent = await p.create({ action, policies: { priority: 10 } });
    const asked = await p.create({ action, policies: { priority: 1 }, schedule: daily });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.tasks.runNow({ taskId: asked.id, actor });
    for (let turn = 0; turn < 3; turn += 1) await p.pass(1000);
    const startOf = async ({ id }: { id: string }) => (await p.history(id))[0]?.attempts[0]?.startedAt ?? 0;
    const [first, second, third] = [await startOf(asked), await startOf(urgent), await startOf(plain)];
    expect([second - first, third - second]).toEqual([1000, 1000]);
  });

  it('what a person asked for keeps its class while it waits, and a refresh is behind all of them', async () => {
    const p = await aPipeline();
    const policies = { overlap: 'queue', priority: 1, refresh_after: 'PT1H' } as const;
    const { id: taskId } = await p.create({ schedule: daily, action: { kind: 'echo', delay_ms: 1000 }, policies });
    await p.rooms.tasks.runNow({ taskId, actor });
    await p.rooms.tasks.runNow({ taskId, actor });
    await p.rooms.tasks.snooze({ taskId, actor }, start + minute);
    for (let turn = 0; turn < 4; turn += 1) await p.pass(minute);
    await p.time.advance(2 * hour);
    await p.rooms.scheduler.refresh(p.time.now(), 10);
    const ranks = p.database.prepare('select rank from runs order by id').pluck().all() as number[];
    expect(ranks).toEqual([ranks[0], ranks[0], ranks[0], 10]);
    expect(ranks[0]).toBeLessThan(0);
  });
});

describe('a row that cannot be read', () => {
  it.each([
    ['policies', '{"missed":'],
    ['action', '[]'],
    ['cron', '61 * * * *'],
    ['timezone', 'Mars/Olympus'],
    ['context', 'null'],
  ])('with a broken %s is paused with the reason, and all others run', async (column, text) => {
    const { p, task: broken } = await withTask();
    const fine = await p.create();
    p.database.prepare(`update tasks set ${column} = ? where id = ?`).run(text, broken.id);
    await p.pass(5 * minute);
    await p.pass(5 * minute);
    expect(await p.history(fine.id)).toHaveLength(2);
    expect(await p.rooms.tasks.get(broken.id)).toMatchObject({
      state: 'paused',
      nextAt: null,
      pausedReason: expect.stringMatching(/^unreadable: /) as string,
    });
    expect(p.log.lines.filter(({ event }) => event === 'task_quarantined')).toHaveLength(1);
    await expect(p.rooms.tasks.resume({ taskId: broken.id, actor })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['rrule', 'FREQ=NONSENSE'],
    ['cron', 'x'],
    ['timezone', 'Mars/Olympus'],
    ['tags', '{'],
    ['context', 'null'],
  ])('with a broken %s is mended by a new schedule, and by nothing less', async (column, text) => {
    const p = await aPipeline();
    const kind =
      column === 'rrule'
        ? { kind: 'rrule', rrule: 'FREQ=HOURLY', timezone: 'UTC' }
        : { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' };
    const broken = await p.create({ schedule: kind as { kind: 'cron'; cron: string; timezone: string } });
    p.database.prepare(`update tasks set ${column} = ? where id = ?`).run(text, broken.id);
    await p.pass(hour);
    await expect(p.rooms.tasks.edit({ taskId: broken.id, actor }, { title: 'New' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const schedule = { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' } as const;
    await p.rooms.tasks.edit({ taskId: broken.id, actor }, { schedule, enabled: true });
    await p.pass(5 * minute);
    expect((await p.history(broken.id)).at(-1)).toMatchObject({ status: 'succeeded' });
    expect((await p.rooms.tasks.get(broken.id)).state).toBe('active');
  });

  it('can be deleted before anybody stumbled over it', async () => {
    const { p, task: broken } = await withTask();
    p.database.prepare(`update tasks set cron = 'x' where id = ?`).run(broken.id);
    await p.time.advance(5 * minute);
    await p.rooms.tasks.delete({ taskId: broken.id, actor });
    await expect(p.rooms.tasks.get(broken.id)).rejects.toMatchObject({ code: 'task_not_found' });
  });
});
