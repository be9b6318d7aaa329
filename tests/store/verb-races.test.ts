import { describe, expect, test } from 'vitest';
import { hour, minute, nine } from '../support/builders.ts';
import { worldsOf, type OpenWorld } from '../support/store-worlds.ts';
import { numbers, processes, together, opened, withTask } from './at-once.ts';
import { actor, deeds, failing, target, type Engine } from './conformance/verbs.ts';

/** So many callers of one verb. */
const atOnce = <T>(
  engines: readonly [Engine, ...Engine[]],
  count: number,
  call: (engine: Engine, index: number) => Promise<T>,
) =>
  together(
    engines,
    numbers(count).map((index) => (engine) => call(engine, index)),
  );

const entries = (changes: readonly { readonly entryId: string | null }[]) =>
  changes.filter(({ entryId }) => entryId !== null).length;

function sameVerbTests(open: OpenWorld): void {
  test('40 skips of the slot that all of them saw skip that slot alone', async () => {
    const { world, engines, task } = await withTask(open);
    const { won, codes } = await atOnce(engines, 40, ({ rooms }) =>
      rooms.tasks.skip(target(task), { count: 1, from: nine }),
    );
    expect([codes, won.length, entries(won)]).toEqual([[], 40, 1]);
    expect(await engines[0].story(task)).toEqual(['0 skipped skip']);
    expect(await deeds(world)).toEqual(['create nothing -> active', 'skip active -> active']);
  });

  test('40 retries of one run make one run, and all of them answer it', async () => {
    const { world, engines, first, task } = await withTask(open, { action: failing, policies: { overlap: 'allow' } });
    const runId = (await first.rooms.tasks.runNow(target(task))).taskRun.runId ?? '';
    await first.settle();
    const { won, codes } = await atOnce(engines, 40, ({ rooms }) => rooms.tasks.repeat('retry', runId, { actor }));
    expect([codes, new Set(won.map(({ taskRun }) => taskRun.id)).size]).toEqual([[], 1]);
    expect(await world.query('select count(*) as runs from runs')).toEqual([{ runs: 2 }]);
    expect((await deeds(world)).filter((line) => line.startsWith('retry'))).toHaveLength(1);
  });

  test('40 snoozes to one instant are one snooze', async () => {
    const { engines, task } = await withTask(open);
    const { won, codes } = await atOnce(engines, 40, ({ rooms }) =>
      rooms.tasks.snooze(target(task), nine + 10 * minute),
    );
    expect([codes, entries(won), await engines[0].story(task)]).toEqual([[], 1, ['10 snooze pending']]);
  });

  test('40 snoozes to different instants leave one that is open', async () => {
    const { engines, task } = await withTask(open);
    const { codes } = await atOnce(engines, 40, ({ rooms }, index) =>
      rooms.tasks.snooze(target(task), nine + (index + 1) * minute + 1),
    );
    const open40 = (await engines[0].story(task)).filter((line) => line.endsWith('pending'));
    expect([codes, open40.length]).toEqual([[], 1]);
  });

  test('one entry undone by 40 at once is undone once', async () => {
    const { world, engines, task } = await withTask(open, { title: 'One' });
    const { entryId } = await engines[0].rooms.tasks.edit(target(task), { title: 'Two' });
    const { won, codes } = await atOnce(engines, 40, ({ rooms }) => rooms.tasks.undo(target(task), entryId));
    expect([codes, entries(won)]).toEqual([[], 1]);
    expect((await world.store.listVersions(task.id)).map(({ definition }) => definition.title)).toEqual([
      'One',
      'Two',
      'One',
    ]);
  });

  test.each(['pause', 'resume', 'delete', 'restore', 'cancel'] as const)('40 times %s at once is one', async (verb) => {
    const { world, engines, first, task } = await withTask(open);
    if (verb === 'resume') await first.rooms.tasks.pause(target(task), null);
    if (verb === 'restore') await first.rooms.tasks.delete(target(task));
    if (verb === 'cancel') await first.rooms.tasks.runNow(target(task));
    const before = (await deeds(world)).length;
    const { won, codes } = await atOnce(engines, 40, ({ rooms: { tasks } }) =>
      verb === 'pause' ? tasks.pause(target(task), null) : tasks[verb](target(task)),
    );
    expect(codes.filter((code) => verb !== 'delete' || code !== 'not_found')).toEqual([]);
    expect([entries(won), (await deeds(world)).length - before]).toEqual([1, 1]);
  });

  test('one answer of 40 different ones counts', async () => {
    const { world, engines, first, task } = await withTask(open, { policies: { missed: 'ask' } });
    await first.pass(50 * minute);
    const { won, codes } = await atOnce(engines, 40, ({ rooms }, index) =>
      rooms.tasks.answer(target(task), index % 2 === 0 ? 'all' : 'none'),
    );
    expect([won.length, new Set(codes)]).toEqual([1, new Set(['nothing_to_answer'])]);
    const [answered] = await world.query<{ after: string }>(`select after from audit where verb = 'answer'`);
    await first.settle();
    const ran = answered?.after.includes('"run":true') === true;
    expect(await first.story(task)).toEqual([ran ? '0 catch_up succeeded' : '0 catch_up skipped declined']);
  });

  test('40 versions at once are one for each change, in their order', async () => {
    const { world, engines, task } = await withTask(open, { title: 'One' });
    const { codes } = await atOnce(engines, 40, ({ rooms }, index) =>
      rooms.tasks.edit(target(task), { title: `T${index}` }),
    );
    expect(codes).toEqual([]);
    const versions = await world.query<{ version: number }>('select version from task_versions order by version');
    expect(versions.map(({ version }) => version)).toEqual(numbers(41).map((index) => index + 1));
  });
}

function crossedVerbTests(open: OpenWorld): void {
  test('a pause that ends while a person resumes ends once', async () => {
    const { world, engines, first } = await opened(open);
    const tasks = await Promise.all(numbers(10).map(() => first.create()));
    for (const task of tasks) await first.rooms.tasks.pause(target(task), nine + 30 * minute);
    await first.time.advance(hour);
    const { codes } = await atOnce(engines, 40, async ({ rooms }, index) => {
      const task = tasks[index % 10];
      if (index < 20 && task !== undefined) await rooms.tasks.resume(target(task));
      else await rooms.scheduler.step(nine + 30 * minute, 3);
    });
    await first.settle();
    expect([codes, (await deeds(world)).filter((line) => line.startsWith('resume')).length]).toEqual([[], 10]);
    expect(
      await world.query(`select count(*) as ok from tasks where state = 'active' and next_at = ?i`, nine + hour),
    ).toEqual([{ ok: 10 }]);
  });

  test('a snooze while its task is deleted is ended with it, or not found', async () => {
    const { world, engines, first } = await opened(open);
    const tasks = await Promise.all(numbers(20).map(() => first.create()));
    const { codes } = await atOnce(engines, 40, async ({ rooms }, index) => {
      const task = tasks[index % 20];
      if (task === undefined) return;
      if (index < 20) await rooms.tasks.snooze(target(task), nine + 10 * minute);
      else await rooms.tasks.delete(target(task));
    });
    expect(codes.filter((code) => code !== 'not_found')).toEqual([]);
    const [left] = await world.query<{ open: number; gone: number }>(
      `select (select count(*) from occurrences where status = 'pending') as open,
         (select count(*) from tasks where state = 'deleted') as gone`,
    );
    expect(left).toEqual({ open: 0, gone: 20 });
  });

  test('a run that is cancelled while it ends has one end, one event of it, and its occurrence agrees', async () => {
    const { world, engines, first } = await opened(open);
    const tasks = await Promise.all(numbers(20).map(() => first.create({ policies: { overlap: 'allow' } })));
    const runs = await Promise.all(tasks.map((task) => first.rooms.tasks.runNow(target(task))));
    const { codes } = await atOnce(engines, 44, async ({ rooms }, index) => {
      const runId = runs[index]?.taskRun.runId;
      if (typeof runId === 'string') await rooms.tasks.cancelRun(runId, actor);
      else await rooms.runner.step(nine, 3).then(() => rooms.runner.idle());
    });
    await first.settle();
    expect(codes).toEqual([]);
    const ends = await world.query<{ run: string; slot: string; told: number }>(
      `select r.status as run, o.status as slot, (select count(*) from events e where e.ref = r.id
         and e.kind in ('run.succeeded', 'run.failed', 'run.cancelled', 'run.backoff')) as told
       from runs r join occurrences o on o.id = r.occurrence_id`,
    );
    expect(ends.filter(({ run, slot, told }) => run !== slot || told !== 1)).toEqual([]);
    expect(ends.filter(({ run }) => run === 'succeeded' || run === 'cancelled')).toHaveLength(20);
  });

  test('slots that are skipped while they come due run, or are skipped, each once', async () => {
    const { engines, first } = await opened(open);
    const tasks = await Promise.all(numbers(20).map(() => first.create()));
    await first.time.advance(30 * minute);
    const { codes } = await atOnce(engines, 40, async ({ rooms }, index) => {
      const task = tasks[index % 20];
      if (index < 20 && task !== undefined) await rooms.tasks.skip(target(task), { count: 1, from: null });
      else await rooms.scheduler.step(nine, 3);
    });
    await first.settle();
    expect(codes).toEqual([]);
    const stories = await Promise.all(tasks.map((task) => first.story(task)));
    expect(new Set(stories.map((lines) => lines.join()))).toEqual(new Set(['0 succeeded,60 skipped skip']));
  });

  test('restoring at the edge of the quota brings back exactly what has room', async () => {
    const world = await open();
    const [first, ...others] = processes(world, { QUOTA_PER_CHAT: 20 });
    const tasks = await Promise.all(numbers(20).map(() => first.create()));
    for (const task of tasks) await first.rooms.tasks.delete(target(task));
    for (const _one of numbers(13)) await first.create();
    const { won, codes } = await atOnce([first, ...others], 20, ({ rooms }, index) =>
      rooms.tasks.restore({ taskId: tasks[index]?.id ?? '', actor }),
    );
    expect([won.length, new Set(codes)]).toEqual([7, new Set(['quota_exceeded'])]);
  });
}

describe.each(['postgres', 'sqlite'] as const)('on %s', (kind) => {
  const open = worldsOf(kind);
  describe('the same verb at once', () => {
    sameVerbTests(open);
  });
  describe('verbs that cross', () => {
    crossedVerbTests(open);
  });
});
