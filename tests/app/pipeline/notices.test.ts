import { describe, expect, it } from 'vitest';
import { contextBytesMax } from '../../../src/domain/limits.ts';
import {
  actor,
  aPipeline,
  group,
  hour,
  ingest,
  minute,
  start,
  type Pipeline,
  hourly,
  withTask,
  afterAnHour,
  restarted,
} from '../../support/pipeline.ts';
const echo = (settings: object = {}) => ({ kind: 'echo', ...settings }) as const;
const broken = echo({ fail_attempts: 9, error: 'final' });
const failing = { schedule: hourly, action: broken, policies: { auto_pause: 0 } } as const;

interface Word {
  readonly id: string;
  readonly run_id: string | null;
  readonly content: Readonly<Record<string, unknown>>;
}

/** What is put into the outbox about the tasks, in order. */
function words({ database }: Pipeline, kind = 'notice'): Word[] {
  const found = database
    .prepare<[string], Omit<Word, 'content'> & { content: string }>(
      'select id, run_id, content from deliveries where kind = ? and task_id is not null order by id',
    )
    .all(kind);
  return found.map((row) => ({ ...row, content: JSON.parse(row.content) as Word['content'] }));
}

const views = (p: Pipeline) => words(p).map(({ content }) => content['view']);

async function turns(p: Pipeline, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await p.pass(hour);
}

describe('a failure', () => {
  it('is told with its run, its slot, its attempts and its reason', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 9 }) });
    await p.pass(30_000);
    await p.pass(minute);
    const [run] = await p.history(task.id);
    expect(words(p)).toMatchObject([
      {
        run_id: run?.runId,
        content: {
          view: 'failed',
          runId: run?.runId,
          slotAt: start + hour,
          attempts: 3,
          error: 'echo fails attempt 3',
        },
      },
    ]);
  });

  it('is not told while it is still tried again, nor when a later try succeeds', async () => {
    const { p } = await afterAnHour({ schedule: hourly, action: echo({ fail_attempts: 2 }) });
    await p.pass(30_000);
    expect(views(p)).toEqual([]);
    await p.pass(minute);
    expect(views(p)).toEqual([]);
    expect(words(p, 'result')).toHaveLength(1);
  });

  it('is told once, whatever else goes wrong until it works again', async () => {
    const { p, task } = await withTask(failing);
    const other = { instructions: '{% if false %}x{% endif %}', action: { kind: 'message' } } as const;
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, other);
    await p.pass(hour);
    expect(views(p)).toEqual(['failed']);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { instructions: 'x', action: echo() });
    await p.pass(hour);
    expect(words(p).at(-1)?.content).toMatchObject({ view: 'recovered', since: start + hour, failures: 2 });
  });

  it('of one task says nothing about another', async () => {
    const p = await aPipeline();
    const tasks = [await p.create(failing), await p.create(failing)];
    await turns(p, 2);
    const told = p.database.prepare(`select task_id from deliveries where kind = 'notice'`).pluck().all();
    expect(told).toHaveLength(2);
    expect(new Set(told)).toEqual(new Set(tasks.map(({ id }) => id)));
  });

  it('is told in no thread that is kept in history alone', async () => {
    const { p } = await withTask(failing, { threadKey: 'cli:default' });
    await turns(p, 2);
    expect(p.database.prepare('select count(*) from deliveries').pluck().get()).toBe(0);
  });

  it('is told by nobody for a run that belongs to no task', async () => {
    const p = await aPipeline();
    const { chatId } = await p.create({ schedule: { ...hourly, cron: '0 0 1 1 *' } });
    await ingest(p, { action: broken }, { chatId });
    await p.settle();
    expect(p.database.prepare('select status from runs').pluck().all()).toEqual(['failed']);
    expect(p.database.prepare('select count(*) from deliveries').pluck().get()).toBe(0);
  });

  it('is told also when it ends a run that a dead process left behind', async () => {
    const { p } = await afterAnHour({ schedule: hourly, action: echo({ delay_ms: 5000, repeatable: false }) });
    const next = await restarted(p);
    expect(words(next).map(({ content }) => content)).toMatchObject([
      { view: 'failed', attempts: 1, slotAt: start + hour, error: 'interrupted, effects unknown' },
    ]);
  });

  it('is told once when the process dies right after it', async () => {
    const { p } = await afterAnHour(failing);
    const next = await restarted(p);
    await turns(next, 1);
    expect(views(next)).toEqual(['failed']);
  });
});

describe('a success', () => {
  it('after a failure that was told is told once, after its result, with how often it failed, and the next failure anew', async () => {
    const { p, task } = await withTask(failing);
    const turn = async (action: { readonly kind: string }, count: number) => {
      await p.rooms.tasks.edit({ taskId: task.id, actor }, { action });
      await turns(p, count);
    };
    await turns(p, 3);
    await turn(echo(), 2);
    await turn(broken, 2);
    expect(words(p).map(({ content }) => content)).toMatchObject([
      { view: 'failed' },
      { view: 'recovered', since: start + hour, failures: 3 },
      { view: 'failed' },
    ]);
    expect((words(p, 'result')[0]?.id ?? '') < (words(p)[1]?.id ?? '')).toBe(true);
  });

  it('is no news when nothing had failed', async () => {
    const { p } = await withTask({ schedule: hourly });
    await turns(p, 2);
    expect(views(p)).toEqual([]);
  });
});

describe('the pause after too many failures', () => {
  it('is told with how many there were, after the failure itself', async () => {
    const { p } = await withTask({ ...failing, policies: { auto_pause: 3 } });
    await turns(p, 5);
    expect(words(p).map(({ content }) => content)).toMatchObject([
      { view: 'failed' },
      { view: 'autoPaused', reason: 'auto:consecutive_failures', failures: 3, error: 'echo fails attempt 1' },
    ]);
  });

  it('is the one word where the first failure pauses it: it tells the error as well', async () => {
    const { p } = await withTask({ ...failing, policies: { auto_pause: 3 } });
    p.database.exec('update tasks set consecutive_failures = 2');
    await turns(p, 1);
    expect(views(p)).toEqual(['autoPaused']);
  });
});

describe('what a person asked for by hand', () => {
  it('is told each time it fails', async () => {
    const { p, task } = await withTask(failing);
    await turns(p, 1);
    await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await p.settle();
    await p.rooms.tasks.runNow({ taskId: task.id, actor });
    await p.settle();
    expect(views(p)).toEqual(['failed', 'failed', 'failed']);
  });

  it('is told each time it is retried in vain', async () => {
    const { p, task } = await withTask(failing);
    await turns(p, 1);
    const [first] = await p.history(task.id);
    for (let again = 0; again < 2; again += 1) {
      await p.rooms.tasks.repeat('retry', first?.runId ?? '', { actor });
      await p.settle();
    }
    expect(views(p)).toEqual(['failed', 'failed', 'failed']);
  });

  it('and was put off is told when it fails', async () => {
    const { p, task } = await withTask(failing);
    await turns(p, 1);
    await p.rooms.tasks.snooze({ taskId: task.id, actor }, { forMs: minute });
    await p.pass(minute);
    expect(views(p)).toEqual(['failed', 'failed']);
  });
});

describe('a run that is called off', () => {
  it('while its last attempt fails tells nobody either', async () => {
    const { p, task } = await afterAnHour({
      schedule: hourly,
      action: echo({ delay_ms: 1000, fail_attempts: 9, error: 'final' }),
    });
    p.database.exec(`update runs set cancel_requested_at = 1, cancel_reason = 'cancelled'`);
    await p.time.advance(1000);
    await p.rooms.runner.idle();
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'cancelled' }]);
    expect(views(p)).toEqual([]);
  });
});

describe('the parts of a result', () => {
  it('bear the buttons of their occurrence under the last one', async () => {
    const p = await aPipeline();
    const text = `${'x'.repeat(4000)}\n\n${'y'.repeat(4000)}\n\n${'z'.repeat(100)}`;
    const task = await p.create({ schedule: hourly, instructions: text });
    await p.pass(hour);
    const [occurrence] = await p.history(task.id);
    expect(words(p, 'result').map(({ content }) => content)).toEqual([
      { text: 'x'.repeat(4000) },
      { text: 'y'.repeat(4000) },
      { view: 'result', text: 'z'.repeat(100), occurrenceId: occurrence?.id },
    ]);
  });

  it('of a run without an occurrence bear none', async () => {
    const p = await aPipeline();
    const { chatId } = await p.create({ schedule: { ...hourly, cron: '0 0 1 1 *' } });
    await ingest(p, { instructions: 'Stand up!' }, { chatId });
    await p.settle();
    expect(p.database.prepare('select content from deliveries').pluck().all()).toEqual([`{"text":"Stand up!"}`]);
  });
});

describe('words about a task', () => {
  it('are no deliveries of its runs', async () => {
    const { p, task } = await withTask(failing, { threadKey: group });
    await turns(p, 1);
    expect(await p.history(task.id)).toMatchObject([{ status: 'failed', deliveries: [] }]);
  });
});

describe('a context that a task does not keep', () => {
  it('is kept with its run, and told once, where a person changed that of the task meanwhile', async () => {
    const { p, task } = await withTask({
      action: echo({ context: { by: 'run' }, delay_ms: 5000 }),
      context: { by: 'nobody' },
    });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    await p.time.advance(1000);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { context: { by: 'person' } });
    await p.pass(minute);
    const { lastRunId, context } = await p.rooms.tasks.get(task.id);
    expect(context).toEqual({ by: 'person' });
    const run = await p.store.readRun(lastRunId ?? '');
    expect(run).toMatchObject({ status: 'succeeded', output: { type: 'echo', context: { by: 'run' } } });
    for (let slot = 0; slot < 2; slot += 1) await p.pass(5 * minute);
    expect(words(p)).toMatchObject([{ run_id: lastRunId, content: { view: 'contextLeft', size: 12 } }]);
    const next = await p.rooms.tasks.get(task.id);
    expect(next).toMatchObject({ context: { by: 'run' }, lastRunStatus: 'succeeded' });
    expect((await p.store.readRun(next.lastRunId ?? ''))?.output).not.toHaveProperty('context');
  });

  it('is the task’s, where a person changed something else meanwhile that has a context of its own', async () => {
    const { p, task } = await withTask({ action: echo({ context: { by: 'run' }, delay_ms: 5000 }) });
    await p.time.advance(5 * minute);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.runner.step(p.time.now(), 100);
    await p.time.advance(1000);
    await p.rooms.tasks.edit({ taskId: task.id, actor }, { action: echo({ context: { by: 'another' } }) });
    await p.pass(minute);
    expect((await p.rooms.tasks.get(task.id)).context).toEqual({ by: 'run' });
  });

  it('is told where it is too large, and the one before stays', async () => {
    const { p, task } = await withTask({ action: echo(), context: { seen: 0 } });
    const action = echo({ context: { text: 'x'.repeat(contextBytesMax) } });
    p.database.prepare('update tasks set action = ?').run(JSON.stringify(action));
    await p.pass(5 * minute);
    expect(await p.rooms.tasks.get(task.id)).toMatchObject({ context: { seen: 0 }, lastRunStatus: 'succeeded' });
    expect(words(p)).toMatchObject([{ content: { view: 'contextLeft', size: contextBytesMax + 11 } }]);
  });
});
