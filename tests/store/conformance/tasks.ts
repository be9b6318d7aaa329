import { expect, test } from 'vitest';
import { noChange, type TaskScene } from '../../../src/app/ports/tasks.ts';
import type { Once } from '../../../src/app/use-cases/kept-answers.ts';
import { parseSchedule } from '../../../src/domain/schedule/schedule.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import { aTask, hour, nine } from '../../support/builders.ts';
import { day } from '../../support/fakes.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';

const group: Thread = { provider: 'telegram', address: '-100', topic: null };
const once: Once = { scope: 'create', target: '', key: 'k', payloadHash: 'hash', expiresAt: nine + day };

function create(world: World, facts: object = {}, plan: (scene: TaskScene) => typeof noChange = () => noChange) {
  return world.store.createTask(world.make.newTask(facts), plan);
}

/** Creation: identity, quota, numbers, and the key that makes a repeat harmless. */
export function createTests(open: OpenWorld): void {
  test('a task is created with its grant, its chat, its owner and an audit row', async () => {
    const world = await open();
    const { task, created } = await create(world, { home: { ...group, topic: 7 }, subject: 's', tags: ['t'] });

    expect(created).toBe(true);
    expect(task).toMatchObject({
      number: 1,
      version: 1,
      state: 'active',
      nextAt: nine,
      ownerId: 'telegram:user:7',
      home: { provider: 'telegram', address: '-100', topic: 7 },
      topicState: 'none',
      topicId: null,
      counters: { runs: 0, failures: 0, consecutiveFailures: 0, boundedRuns: 0 },
      created: { at: nine - hour, by: 'telegram:user:7' },
      paused: null,
    });
    expect(await world.store.readTask(task.id)).toEqual(task);
    expect(await world.query('select verb, task_id from audit')).toEqual([{ verb: 'create', task_id: task.id }]);
    expect(await world.query('select owner_id, scopes from grants')).toEqual([
      { owner_id: 'telegram:user:7', scopes: '["action:message"]' },
    ]);
  });

  test('numbers count up in each base thread, in its topics too, and are never given twice', async () => {
    const world = await open();
    const numberIn = async (home: Thread) => (await create(world, { home })).task.number;
    const local: Thread = { provider: 'cli', address: 'default', topic: null };

    expect([await numberIn(group), await numberIn({ ...group, topic: 5 }), await numberIn(local)]).toEqual([1, 2, 1]);
    await world.query(`update tasks set state = 'deleted', next_at = null`);
    expect([await numberIn(group), await numberIn(local)]).toEqual([3, 2]);
  });

  test('a chat is found under its old address, and one that is approved gives its tasks to whoever approved it', async () => {
    const world = await open();
    const { task } = await create(world);
    await world.query(`update chats set address = '-200', state = 'approved', approved_by = 'telegram:user:9'`);
    await world.query(`insert into chat_aliases values ('telegram', '-200', ?t, 0)`, task.chatId);
    const moved = (await create(world)).task;

    expect(moved).toMatchObject({
      chatId: task.chatId,
      number: 2,
      ownerId: 'telegram:user:9',
      home: { address: '-200' },
    });
  });

  test('a person owns what they made, whoever approved the chat', async () => {
    const world = await open();
    await create(world);
    await world.query(`update chats set state = 'approved', approved_by = 'telegram:user:9'`);

    expect((await create(world, { owner: 'telegram:user:8' })).task).toMatchObject({ ownerId: 'telegram:user:8' });
  });

  test.each([
    ['chat', { quota: { chat: 2, user: 9 } }, {}],
    ['user', { quota: { chat: 9, user: 2 } }, { home: { ...group, address: '-2' } }],
  ])(
    'the quota of a %s is exact, counts what can still run, and a refusal leaves nothing behind',
    async (quota, facts, place) => {
      const world = await open();
      const first = await create(world, { ...facts, ...place });
      await create(world, facts.quota.user === 2 ? facts : { ...facts, ownerIfNone: 'telegram:user:8' });
      const third = create(world, { ...facts, once });

      await expect(third).rejects.toMatchObject({ code: 'quota_exceeded', details: { quota, limit: 2 } });
      expect(await world.query('select id from tasks')).toHaveLength(2);
      expect(await world.query('select id from grants')).toHaveLength(2);
      expect(await world.query('select key from idempotency_keys')).toEqual([]);
      await world.query(`update tasks set state = 'completed', next_at = null where id = ?t`, first.task.id);
      expect(await create(world, facts)).toMatchObject({ created: true });
    },
  );

  test.each(['system:api', 'telegram:user:7'])(
    'a token has no quota of a user, and takes nothing of that of %s, to whom its tasks belong',
    async (ownerIfNone) => {
      const world = await open();
      const quota = { chat: 9, user: 1 };
      const byToken = { quota, ownerIfNone, actor: 'api:token:default' };
      await create(world, byToken);

      expect(await create(world, byToken)).toMatchObject({ created: true });
      expect(await create(world, { quota })).toMatchObject({ created: true });
      await expect(create(world, { quota })).rejects.toMatchObject({ code: 'quota_exceeded' });
    },
  );

  test('fail names the task that is there, add makes another, upsert changes the one that is there', async () => {
    const world = await open();
    const { task } = await create(world, { subject: 's' });
    const twin = { subject: 's', onExisting: 'fail' };

    await expect(create(world, twin)).rejects.toMatchObject({
      code: 'task_exists',
      details: { task_id: task.id, number: 1 },
    });
    const scenes: TaskScene[] = [];
    const upserted = await create(world, { ...twin, onExisting: 'upsert' }, (scene) => {
      scenes.push(scene);
      return { ...noChange, set: { instructions: 'New text' }, stamp: 'updated' };
    });
    expect(upserted).toMatchObject({ created: false, task: { id: task.id, version: 2, instructions: 'New text' } });
    expect(scenes[0]?.task.id).toBe(task.id);
    expect(await create(world, { ...twin, onExisting: 'add' })).toMatchObject({ created: true, task: { number: 2 } });
  });

  test.each([
    ['another subject', { subject: 'other' }],
    ['its subject in capitals, which other programs tell apart', { subject: 'S' }],
    ['no subject', { subject: null }],
    ['another title', { subject: 's', title: 'Feed the cat' }],
    ['another chat', { subject: 's', home: { provider: 'telegram', address: '-2', topic: null } }],
  ])('a task with %s is another task', async (_what, facts) => {
    const world = await open();
    await create(world, { subject: 's' });

    expect(await create(world, { ...facts, onExisting: 'fail' })).toMatchObject({ created: true });
  });

  test('a deleted task is nobody’s twin', async () => {
    const world = await open();
    await create(world);
    await world.query(`update tasks set state = 'deleted', next_at = null`);

    expect(await create(world, { onExisting: 'fail' })).toMatchObject({ created: true });
  });

  test('the same key with the same payload answers the first task, also after an upsert', async () => {
    const world = await open();
    const first = await create(world, { once });
    expect(first).toMatchObject({ created: true, replayed: false });
    expect(await create(world, { once })).toEqual({ ...first, replayed: true });

    await create(world, { onExisting: 'upsert', once: { ...once, key: 'u' } });
    const again = await create(world, { onExisting: 'upsert', once: { ...once, key: 'u' } });
    expect(again).toMatchObject({ created: false, task: { id: first.task.id } });
    expect(await world.query('select id from tasks')).toHaveLength(1);
  });

  test('the same key with another payload is refused, and in another scope it is another key', async () => {
    const world = await open();
    await create(world, { once });

    await expect(create(world, { once: { ...once, payloadHash: 'other' } })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    expect(await create(world, { once: { ...once, scope: 'elsewhere', payloadHash: 'other' } })).toMatchObject({
      created: true,
    });
  });

  test('what was made under a key is found without doing it again', async () => {
    const world = await open();
    const made = await create(world, { once });

    expect(await world.store.madeUnder(once, nine)).toEqual({ ...made, replayed: true });
    expect(await world.store.madeUnder({ ...once, key: 'free' }, nine)).toBeNull();
    expect(await world.store.madeUnder({ ...once, scope: 'elsewhere' }, nine)).toBeNull();
    expect(await world.store.madeUnder(once, once.expiresAt)).toBeNull();
    const other = world.store.madeUnder({ ...once, payloadHash: 'other' }, nine);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    expect(await world.query('select key from idempotency_keys')).toEqual([{ key: 'k' }]);
  });

  test('a key past its time is as good as new', async () => {
    const world = await open();
    await create(world, { once });
    const later = { at: nine + day, once: { ...once, payloadHash: 'other', expiresAt: nine + 2 * day } };

    expect(await create(world, later)).toMatchObject({ created: true });
    expect(await create(world, later)).toMatchObject({ replayed: true });
  });

  test('what the first call under a key could not do, the second one may try', async () => {
    const world = await open();
    await expect(create(world, { once, quota: { chat: 0, user: 9 } })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });

    expect(await create(world, { once })).toMatchObject({ created: true });
  });

  test('a long schedule of several rhythms with exceptions is kept to the letter', async () => {
    const world = await open();
    const days = Array.from({ length: 400 }, (_, day) => new Date(nine + day * 24 * hour).toISOString().slice(0, 10));
    const rrule = [
      'DTSTART;TZID=Europe/Madrid:20261119T090000',
      'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
      'RRULE:FREQ=WEEKLY;BYDAY=SA,SU;BYHOUR=11;BYMINUTE=0;BYSECOND=0',
      'EXRULE:FREQ=WEEKLY;BYDAY=SU',
      `EXDATE;VALUE=DATE:${days.join().replaceAll('-', '')}`,
    ].join('\n');
    const schedule = parseSchedule({ kind: 'rrule', rrule, timezone: 'Europe/Madrid' }, nine);
    const { task } = await create(world, { schedule });
    expect(schedule).toMatchObject({ rrule });
    expect((await world.store.readTask(task.id))?.schedule).toEqual(schedule);
  });

  test('a creation whose last statement fails leaves neither chat, owner, grant nor task', async () => {
    const world = await open();
    // An interval without its start is refused by the table, after everything else was written.
    const schedule = { kind: 'interval', interval: 'PT1H', startAt: null, from: 'start', timezone: 'UTC' };

    await expect(create(world, { schedule })).rejects.toMatchObject({ code: 'internal' });
    for (const table of ['chats', 'chat_aliases', 'users', 'grants', 'tasks', 'audit']) {
      expect(await world.query(`select * from ${table}`)).toEqual([]);
    }
  });
}

/** What the tables refuse, whoever asks: a second wall behind every statement. */
export function tableTests(open: OpenWorld): void {
  test.each([
    ['a second schedule payload', `update tasks set once_at = 1`, /tasks_payload/],
    ['a schedule of no known kind', `update tasks set schedule_kind = 'moon'`, /tasks_payload/],
    ['an active task without a next slot', `update tasks set next_at = null`, /tasks_next/],
    ['a next slot of a task that is not active', `update tasks set state = 'paused'`, /tasks_next/],
    ['a state of no known kind', `update tasks set state = 'asleep', next_at = null`, /tasks_state/],
    ['a topic that is ready without its id', `update tasks set topic_state = 'ready'`, /tasks_topic/],
    ['a grant of another owner', `update tasks set owner_id = 'telegram:user:8'`, /tasks_grant|FOREIGN KEY/],
    ['a grant that does not exist', `update tasks set grant_id = 'none'`, /tasks_grant|FOREIGN KEY/],
    ['a chat that does not exist', `update tasks set chat_id = 'none'`, /chat_id|FOREIGN KEY/],
    [
      'the same number twice in a chat',
      `insert into tasks (id, chat_id, number, owner_id, grant_id, version, state, next_at, title, instructions, action,
         schedule_kind, cron, timezone, policies, auto_pause, tags, context, runs, failures, consecutive_failures,
         bounded_runs, topic_state, created_at, created_by, updated_at, updated_by)
       select 'copy', chat_id, number, owner_id, grant_id, version, state, next_at, title, instructions, action,
         schedule_kind, cron, timezone, policies, auto_pause, tags, context, runs, failures, consecutive_failures,
         bounded_runs, topic_state, created_at, created_by, updated_at, updated_by from tasks`,
      /tasks_number|tasks\.number/,
    ],
    [
      'a dispatched occurrence without a run',
      `insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
       values ('o', 't', 1, 'schedule', 'dispatched', 0, 0, 0)`,
      /occurrences_run/,
    ],
    [
      'an ended attempt that claims to run',
      `insert into attempts (run_id, attempt, status, boot_id, started_at, finished_at) values ('r', 1, 'running', 'b', 1, 2)`,
      /attempts_end/,
    ],
    [
      'a delivered part without the id of its message',
      `insert into deliveries (id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence, sends, put_offs,
         settles, created_at) values ('d', 'c', 'l', 1, 'result', 1, 'delivered', '{}', 'resend', 0, 0, 0, 0, 0)`,
      /deliveries_proof/,
    ],
  ])('the tables refuse %s', async (_what, statement, constraint) => {
    const world = await open();
    await aTask(world);

    await expect(world.query(statement)).rejects.toThrow(constraint);
  });
}
