import { expect, test } from 'vitest';
import type { TaskQuery } from '../../../src/app/ports/tasks.ts';
import { aTask, claimAll, hour, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { claimParts, show, withTask, withReadyTask } from '../scenes.ts';

const everything: TaskQuery = {
  thread: null,
  state: 'all',
  text: null,
  tag: null,
  subject: null,
  limit: 50,
  cursor: null,
};
const thread = { provider: 'telegram', address: '-100', topic: null };

/** Single reads and lists. */
export function readTests(open: OpenWorld): void {
  const titles = async ({ store }: World, query: Partial<TaskQuery>) =>
    (await store.listTasks({ ...everything, ...query })).items.map(({ title }) => title);

  test('what does not exist is null', async () => {
    const { store } = await open();

    expect([await store.readTask('none'), await store.readTaskRun('none'), await store.readRun('none')]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test.each([
    ['everything but what was deleted', {}, ['done', 'off', 'on']],
    ['what is enabled', { state: 'enabled' }, ['on']],
    ['what is not', { state: 'disabled' }, ['done', 'off']],
    ['what is completed', { state: 'completed' }, ['done']],
    ['what was deleted', { state: 'deleted' }, ['gone']],
  ] as const)('a list shows %s, the newest first', async (_what, query, expected) => {
    const world = await open();
    for (const [title, state] of [
      ['on', 'active'],
      ['off', 'paused'],
      ['gone', 'deleted'],
      ['done', 'completed'],
    ] as const) {
      const { id } = await aTask(world, { title });
      if (state !== 'active') await world.query('update tasks set state = ?t, next_at = null where id = ?t', state, id);
    }

    expect(await titles(world, query)).toEqual(expected);
  });

  test.each([
    ['a word of the title in another case', { text: 'PLANTS' }, ['Water plants']],
    ['a word of the instructions', { text: 'kibble' }, ['Cat 50%_off\\']],
    ['letters beyond ASCII as they were written', { text: 'Отчёт' }, ['Отчёт за Ärger']],
    ['signs that mean something to a search', { text: '50%_off\\' }, ['Cat 50%_off\\']],
    ['a sign that stands for nothing else', { text: '_' }, ['Cat 50%_off\\']],
    ['what nobody wrote', { text: 'dragon' }, []],
    ['a tag', { tag: 'home' }, ['Cat 50%_off\\', 'Water plants']],
    ['a tag in its own case', { tag: 'Home' }, ['Отчёт за Ärger']],
    ['no part of a tag', { tag: 'hom' }, []],
    ['a tag with signs', { tag: 'a"b,%' }, ['Water plants']],
    ['a subject', { subject: 'cat' }, ['Cat 50%_off\\']],
    ['a subject in a chat', { subject: 'cat', thread }, ['Cat 50%_off\\']],
    ['a subject in capitals', { subject: 'CAT' }, ['Cat 50%_off\\']],
    ['letters of a subject beyond ASCII in another case', { subject: 'élodie strauß' }, ['Отчёт за Ärger']],
    ['no part of a subject', { subject: 'ca' }, []],
    ['a tag and a text', { tag: 'home', text: 'water' }, ['Water plants']],
  ])('a list finds %s', async (_what, query, expected) => {
    const world = await open();
    await aTask(world, { title: 'Water plants', instructions: 'x', tags: ['home', 'a"b,%'] });
    await aTask(world, { title: 'Cat 50%_off\\', instructions: 'Buy Kibble', tags: ['home'], subject: 'cat' });
    await aTask(world, { title: 'Отчёт за Ärger', instructions: 'x', tags: ['Home'], subject: 'Élodie STRAUß' });

    expect(await titles(world, query)).toEqual(expected);
  });

  test('a base thread shows its whole chat, a topic what was asked for in it, and an old address still finds both', async () => {
    const world = await open();
    const { chatId } = await aTask(world, { title: 'base' });
    await aTask(world, { title: 'topic', home: { ...thread, topic: 7 } });
    await aTask(world, { title: 'elsewhere', home: { ...thread, address: '-200' } });
    await world.query(`update chats set address = '-300' where id = ?t`, chatId);

    expect(await titles(world, { thread })).toEqual(['topic', 'base']);
    expect(await titles(world, { thread: { ...thread, topic: 7 } })).toEqual(['topic']);
    expect(await titles(world, { thread: { ...thread, provider: 'cli' } })).toEqual([]);
  });

  test('pages of tasks follow each other without a gap or a double, while tasks are added', async () => {
    const world = await open();
    for (const title of ['a', 'b', 'c', 'd']) await aTask(world, { title });
    const first = await world.store.listTasks({ ...everything, limit: 2 });
    await aTask(world, { title: 'e' });
    const second = await world.store.listTasks({ ...everything, limit: 2, cursor: first.next });

    expect([first, second].map(({ items }) => items.map(({ title }) => title))).toEqual([
      ['d', 'c'],
      ['b', 'a'],
    ]);
    expect(second.next).toBeNull();
  });

  test('a cursor of another list, or of nobody, is refused', async () => {
    const world = await open();
    // The second is due later, so that it is the first one that is claimed.
    const tasks = [await aTask(world), await aTask(world, { nextAt: nine + hour })];
    const occurrences = [1, 2].map((n) => world.make.occurrence({ slotAt: nine - n }));
    await claimAll(world, { now: nine, limit: 1 }, () => ({ occurrences, runs: [] }));
    const ofTasks = (await world.store.listTasks({ ...everything, limit: 1 })).next;
    const runQuery = { taskId: tasks[0]?.id ?? '', status: null, limit: 1 };
    const ofRuns = (await world.store.listTaskRuns({ ...runQuery, cursor: null })).next;
    if (ofTasks === null || ofRuns === null) throw new Error('both lists have a second page');

    for (const cursor of [
      ofRuns,
      '',
      'x',
      `${ofTasks}=`,
      Buffer.from(`task:'; drop`).toString('base64url'),
      Buffer.from('plain').toString('base64url'),
    ]) {
      await expect(world.store.listTasks({ ...everything, cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
    for (const cursor of [ofTasks, '', Buffer.from('slot:tomorrow').toString('base64url')]) {
      await expect(world.store.listTaskRuns({ ...runQuery, cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
  });

  test('a task whose row cannot be read is still shown, with the unreadable parts empty', async () => {
    const world = await open();
    await aTask(world, { title: 'bad' });
    await world.query(`update tasks set action = '{', policies = '[]', context = '1', tags = 'x'`);

    expect((await world.store.listTasks(everything)).items).toMatchObject([
      { title: 'bad', action: { kind: 'unreadable' }, policies: {}, context: {}, tags: [] },
    ]);
  });

  test('pages of runs follow each other, newest first, filtered by status', async () => {
    const { world, task } = await withTask(open);
    const statuses = ['skipped', 'missed', 'skipped', 'missed', 'skipped'] as const;
    const occurrences = statuses.map((status, index) => world.make.occurrence({ status, slotAt: nine - index * hour }));
    await claimAll(world, { now: nine, limit: 1 }, () => ({ occurrences, runs: [] }));
    const page = (cursor: string | null, status: 'skipped' | null = null) =>
      world.store.listTaskRuns({ taskId: task.id, status, limit: 2, cursor });
    const hours = ({ items }: Awaited<ReturnType<typeof page>>) => items.map(({ slotAt }) => (nine - slotAt) / hour);
    const first = await page(null);
    const second = await page(first.next);
    const third = await page(second.next);

    expect([hours(first), hours(second), hours(third), third.next]).toEqual([[0, 1], [2, 3], [4], null]);
    const skipped = await page(null, 'skipped');
    expect([hours(skipped), hours(await page(skipped.next, 'skipped'))]).toEqual([[0, 2], [4]]);
  });
}

/** Notes, the clock that was set back, and the check that the store can commit. */
export function upkeepTests(open: OpenWorld): void {
  test('a note keeps what was written last', async () => {
    const { store } = await open();
    expect(await store.readNote('tz')).toBeNull();
    await store.writeNote('tz', '2026a', nine);
    await store.writeNote('tz', '2027b', nine + hour);

    expect(await store.readNote('tz')).toBe('2027b');
    expect(await store.readNote('other')).toBeNull();
  });

  test('a ping commits', async () => {
    const { store } = await open();
    await store.ping(nine);

    expect(await store.readNote('ping')).toBe(String(nine));
  });

  test('pauses move along with a clock that was set back, and slots stay', async () => {
    const { world, task } = await withReadyTask(open);
    await show(
      world,
      task,
      [1, 2, 3].map((part) => world.make.part({ part })),
      nine + hour,
    );
    await world.query(`update deliveries set status = 'unknown', sent_at = ready_at, ready_at = null where part = 1`);
    await world.query(`update deliveries set status = 'unknown', sent_at = ready_at where part = 2`);
    const { runId } = await world.store.addRun(world.make.newRun({ createdAt: nine + hour }));
    await world.store.setBack({ id: 'back', byMs: -hour, twice: { from: nine, to: nine } });

    expect(await world.query('select ready_at, sent_at from deliveries order by part')).toEqual([
      { ready_at: null, sent_at: nine },
      { ready_at: nine, sent_at: nine },
      { ready_at: nine, sent_at: null },
    ]);
    expect(await world.query('select ready_at from runs where id = ?t', runId)).toEqual([{ ready_at: nine }]);
    expect((await world.store.readTask(task.id))?.nextAt).toBe(nine);
  });

  test('what is on its way when the clock is set back is looked for in the new time; what is past stays', async () => {
    const { world, task } = await withReadyTask(open);
    await show(world, task, [world.make.part()]);
    const [part] = await claimParts(world, { now: nine });
    await world.store.setBack({ id: 'back', byMs: -hour, twice: { from: nine, to: nine } });

    expect(await world.query('select status, sent_at from deliveries')).toEqual([
      { status: 'sending', sent_at: (part?.sentAt ?? 0) - hour },
    ]);
    expect(await world.query(`select ready_at from runs where status = 'succeeded'`)).toEqual([{ ready_at: nine }]);
  });
}

const many = 2300;

/** A task in a chat of its own, and behind it, newer, more tasks of another chat than two looks pass. */
async function aLongList(world: World) {
  const home = { provider: 'cli', address: 'rare', topic: null };
  const rare = await aTask(world, { title: 'An orchid', tags: ['greenhouse'], subject: 'flowers', home });
  const plain = await aTask(world, { title: 'A daisy' });
  // Their ids come after all others, and the ten thousands keep them in one order as numbers and as texts.
  await world.query(
    `insert into tasks (id, chat_id, number, owner_id, grant_id, version, state, title, instructions, action, schedule_kind,
       once_at, timezone, policies, auto_pause, tags, context, runs, failures, consecutive_failures, bounded_runs, topic_state,
       created_at, created_by, updated_at, updated_by)
     with recursive n(i) as (select 10001 union all select i + 1 from n where i < 10000 + ${many})
     select 'z' || i, t.chat_id, i, t.owner_id, t.grant_id, 1, 'completed', t.title, t.instructions, t.action, 'once', ?i, 'UTC',
       '{}', 10, '[]', '{}', 0, 0, 0, 0, 'none', 0, 'system', 0, 'system' from tasks t, n where t.id = ?t`,
    nine,
    plain.id,
  );
  return { rare, home };
}

/** A list of many. */
export function longListTests(open: OpenWorld): void {
  test.each([
    ['a word', { text: 'orchid' }],
    ['a tag', { tag: 'greenhouse' }],
    ['a state', { state: 'enabled' }],
  ] as const)('a look for %s is bounded, and what stands far back is found by going on', async (_what, query) => {
    const world = await open();
    const { rare } = await aLongList(world);

    const pages: (readonly string[])[] = [];
    let cursor: string | null = null;
    do {
      const page = await world.store.listTasks({ ...everything, ...query, cursor });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== null && pages.length < 9);
    expect(pages.flat()).toContain(rare.id);
    expect(pages.slice(0, 2)).toEqual([[], []]);
    expect(pages).toHaveLength(3);
  });

  test('every task is on one page, however the pages are cut', async () => {
    const world = await open();
    await aLongList(world);

    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await world.store.listTasks({ ...everything, limit: 333, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    } while (cursor !== null);
    expect(seen).toHaveLength(many + 2);
    expect(seen).toEqual([...new Set(seen)].toSorted().reverse());
  });

  test.each(['thread', 'subject'] as const)(
    'the tasks of a %s are found in one look, however many stand beside them',
    async (name) => {
      const world = await open();
      const { rare, home } = await aLongList(world);

      const within = { thread: { thread: home }, subject: { subject: 'flowers' } }[name];
      const page = await world.store.listTasks({ ...everything, ...within, text: 'orchid' });
      expect(page).toEqual({ items: [expect.objectContaining({ id: rare.id })], next: null });
    },
  );

  test('a look for a word among the many tasks of a subject is bounded', async () => {
    const world = await open();
    await aLongList(world);
    await world.query(`update tasks set subject = 'flowers', subject_key = 'flowers'`);

    const page = await world.store.listTasks({ ...everything, subject: 'flowers', text: 'orchid' });
    expect(page).toEqual({ items: [], next: expect.any(String) as string });
  });
}
