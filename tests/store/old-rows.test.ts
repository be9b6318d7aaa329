import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migratePostgres, migrateSqlite, readMigrations } from '../../src/store/engine/migrate.ts';
import { postgresPool } from '../../src/store/engine/postgres.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { hour, minute, nine } from '../support/builders.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres } from '../support/postgres.ts';

/** Rows as they were before who did what to a slot was written down, and some of them as the first version left them. */
interface OldDatabase {
  readonly write: (statement: string) => unknown;
  readonly migrate: () => Promise<unknown>;
  readonly read: (statement: string) => Promise<unknown[]>;
}

async function onSqlite(old: number): Promise<OldDatabase> {
  const connection = openSqlite(join(aFolder(), 'cronogram.db'));
  onTestFinished(() => void connection.close());
  await migrateSqlite(connection, 0, readMigrations('sqlite').slice(0, old));
  return {
    write: (statement) => connection.exec(statement),
    migrate: () => migrateSqlite(connection, 1),
    read: async (statement) => connection.prepare(statement).all(),
  };
}

async function onPostgres(old: number): Promise<OldDatabase> {
  const database = await freshPostgres();
  const pool = postgresPool(database.url);
  const client = await pool.connect();
  onTestFinished(async () => {
    client.release();
    await pool.end();
    await database.drop();
  });
  await migratePostgres(client, 0, readMigrations('postgres').slice(0, old));
  return {
    write: (statement) => client.query(statement, []),
    migrate: () => migratePostgres(client, 1),
    read: async (statement) => (await client.query(statement, [])).rows,
  };
}

type Audit = readonly [id: number, at: number, verb: string, before?: string | null, after?: string | null];

const audit: readonly Audit[] = [
  [1, nine, 'create'],
  [2, nine + minute, 'skip'],
  [3, nine + 2 * minute, 'pause', '{"state":"active"}', '{"reason":"manual"}'],
  [4, nine + 3 * minute, 'delete', '{"state":"paused"}', '{"state":"deleted"}'],
  [5, nine + 4 * minute, 'restore', '{"state":"deleted"}', '{"state":"paused"}'],
  [6, nine + 5 * minute, 'delete', '{', null],
  [7, nine + 6 * minute, 'cancel'],
  [8, nine + 7 * minute, 'answer'],
  [9, nine + 8 * minute, 'run_now'],
  // The clock was set back by an hour before this one.
  [10, nine - 52 * minute, 'resume'],
  [11, nine - 51 * minute, 'edit'],
];

type Slot = readonly [
  id: string,
  source: string,
  status: string,
  reason: string | null,
  createdAt: number,
  updatedAt: number,
];

const slots: readonly Slot[] = [
  ['skipped', 'schedule', 'skipped', 'skip', nine + minute, nine + hour],
  ['paused', 'schedule', 'skipped', 'paused', nine, nine + 2 * minute],
  ['deleted', 'schedule', 'cancelled', 'deleted', nine, nine + 3 * minute],
  ['cancelled', 'schedule', 'cancelled', 'cancelled', nine, nine + hour],
  ['answered', 'catch_up', 'succeeded', null, nine, nine + 7 * minute],
  ['by-hand', 'run_now', 'succeeded', null, nine + 8 * minute, nine + hour],
  ['nobody', 'schedule', 'skipped', 'overlap', nine + minute, nine + minute],
];

/** What was found out about three parts: the answer of a person stood among it. */
const evidence = [
  '{"approved_by":"telegram:user:7","approval_at":5,"found":1}',
  '{"discarded_by":"telegram:user:7","approval_at":5}',
  '{"found":2}',
];

type OldTask = readonly [id: string, title: string, policies: string, tags?: string];

/** A task whose runs may live side by side, and one whose title alone says so. */
const tasks: readonly OldTask[] = [
  ['t', 'A title', '{"overlap":"allow"}'],
  ['other', '"overlap":"allow"', '{"overlap":"skip"}'],
];

const text = (value: string | null | undefined) => (value === null || value === undefined ? 'null' : `'${value}'`);

async function addTasks(database: OldDatabase, rows: readonly OldTask[]): Promise<void> {
  for (const statement of [
    `insert into users (id, role, created_at, updated_at) values ('o', 'user', 1, 1)`,
    `insert into chats (id, provider, address, state, settings, last_number, created_at, updated_at)
     values ('c', 'telegram', '1', 'approved', '{}', 2, 1, 1)`,
    `insert into grants (id, owner_id, chat_id, scopes, created_at, created_by) values ('g', 'o', 'c', '[]', 1, 'o')`,
  ])
    await database.write(statement);
  for (const [index, [id, title, policies, tags = '[]']] of rows.entries()) {
    await database.write(
      `insert into tasks (id, number, owner_id, grant_id, version, state, next_at, title, instructions, action, schedule_kind, cron,
         timezone, policies, auto_pause, tags, context, runs, failures, consecutive_failures, bounded_runs, topic_state, created_at,
         created_by, updated_at, updated_by, chat_id)
       values ('${id}', ${index}, 'o', 'g', 1, 'active', 5, '${title}', '', '{}', 'cron', '', 'UTC', '${policies}', 10, '${tags}', '{}',
         0, 0, 0, 0, 'none', 1, 'o', 1, 'o', 'c')`,
    );
  }
}

const engines = [
  ['SQLite', onSqlite],
  ['Postgres', onPostgres],
] as const;

test.each(engines)(
  'an older database is told who did what, and when its clock was set back: %s',
  async (_engine, open) => {
    const database = await open(5);
    for (const [id, at, verb, before, after] of audit) {
      await database.write(
        `insert into audit (id, at, actor, verb, task_id, before, after) values (${id}, ${at}, 'system', '${verb}', 't', ${text(before)}, ${text(after)})`,
      );
    }
    for (const [index, [id, source, status, reason, createdAt, updatedAt]] of slots.entries()) {
      await database.write(
        `insert into occurrences (id, task_id, slot_at, source, status, reason, run_id, late_ms, created_at, updated_at)
       values ('${id}', 't', ${index}, '${source}', '${status}', ${text(reason)}, 'r-${id}', 0, ${createdAt}, ${updatedAt})`,
      );
    }
    await database.write(
      `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, owner_id, status, ready_at, fence, attempts,
       interruptions, input, created_at, cancel_requested_at)
     values ('r-cancelled', 'task', 'k', 'h', 1, 5, 't', 'o', 'cancelled', 0, 1, 1, 0, '{}', ${nine}, ${nine + 6 * minute})`,
    );
    for (const id of ['d1', 'd2', 'd3']) {
      const report = id === 'd1' ? `'{}'` : 'null';
      await database.write(`insert into downtimes (id, from_at, to_at, report) values ('${id}', 1, 2, ${report})`);
    }
    for (const [index, found] of evidence.entries()) {
      await database.write(
        `insert into deliveries (id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence, sends, put_offs, settles,
         created_at, evidence) values ('p${index}', 'c', 'l', 1, 'result', 1, 'failed', '{}', 'resend', 1, 1, 0, 0, 1, '${found}')`,
      );
    }
    await addTasks(database, tasks);
    await database.migrate();

    const decisions = await database.read('select decision from deliveries order by id');
    expect(decisions).toEqual([{ decision: evidence[0] }, { decision: evidence[1] }, { decision: null }]);
    expect(await database.read('select id from tasks where beside = 1')).toEqual([{ id: 't' }]);
    const states = await database.read(
      'select state_before, state_after from audit where id < 7 or id = 10 order by id',
    );
    expect(states.map((one) => Object.values(one as object).join(' -> '))).toEqual([
      ' -> active',
      ' -> ',
      'active -> paused',
      'paused -> deleted',
      'deleted -> paused',
      'active -> deleted',
      'paused -> active',
    ]);
    const doers = await database.read('select id, deed_id, asked_by from occurrences order by slot_at');
    expect(doers.map((one): unknown[] => Object.values(one as object))).toEqual([
      ['skipped', 2, null],
      ['paused', 3, null],
      ['deleted', 4, null],
      ['cancelled', 7, null],
      ['answered', null, 8],
      ['by-hand', null, 9],
      ['nobody', null, null],
    ]);
    expect(await database.read('select from_at, to_at from set_backs')).toEqual([
      { from_at: nine - 52 * minute, to_at: nine + 8 * minute },
    ]);
    expect(await database.read('select id from downtimes order by id')).toEqual([{ id: 'd1' }, { id: 'd2' }]);
  },
);

/** Words that were said, as their keys put several ids into one text, and what they say now. */
const said: readonly (readonly [key: string, ...now: string[]])[] = [
  ['blocked:topics_off:', 'blocked', 'topics_off', '', ''],
  ['blocked:topic_closed:7', 'blocked', 'topic_closed', '', '7'],
  ['blocked:topic_in_doubt:t', 'blocked', 'topic_in_doubt', 't', ''],
  ['failed:0123-7fff:grant:t', 'failed', '', '', '0123-7fff:grant:t'],
  ['notPinned', 'not_pinned', '', '', ''],
  ['grant_revoked:t:5', 'may_not_run', 'grant_revoked', 't', '5'],
  ['grant_missing:t:', 'may_not_run', 'grant_missing', 't', ''],
  ['reply-hint:telegram:user:7:t', 'reply_hint', '', 't', 'telegram:user:7'],
  ['slots_differ:t:abc', 'slots_differ', '', 't', 'abc'],
];

/** Keys of requests, and what they are kept under now. */
const under = [
  ['create', 'create', ''],
  ['run-now:t', 'run-now', 't'],
  ['answer:skipTask:abc', 'answer:skipTask', 'abc'],
] as const;

const quoted = JSON.stringify({ title: 'Say "hi"', instructions: 'C:\\new', action: { kind: 'message' } });

test.each(engines)('ids that stood together in a text have columns of their own: %s', async (_engine, open) => {
  const database = await open(10);
  await addTasks(database, [
    ['t', 'A title', '{}', '["home","a, b"]'],
    ['torn', 'A title', '{}', '["home"'],
    ['bare', 'A title', '{}'],
  ]);
  for (const [id, input] of [
    ['r', quoted],
    ['torn', '{'],
  ] as const) {
    await database.write(
      `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, owner_id, status, ready_at, fence, attempts,
         interruptions, input, created_at) values ('${id}', 'api', '${id}', 'h', 0, 5, 'o', 'succeeded', 0, 1, 1, 0, '${input}', 1)`,
    );
  }
  const keys = [...said.map(([key]) => ['told:c', key]), ['hold', 'c']];
  for (const [scope, key] of keys) {
    await database.write(
      `insert into kv (scope, key, value, updated_at) values ('${String(scope)}', '${String(key)}', '', 3)`,
    );
  }
  for (const [scope] of under) {
    await database.write(
      `insert into idempotency_keys (scope, key, payload_hash, result, created_at, expires_at) values ('${scope}', 'k', 'h', '', 0, 1)`,
    );
  }
  await database.migrate();

  const valuesOf = async (statement: string) =>
    (await database.read(statement)).map((row): unknown[] => Object.values(row as object));
  const sorted = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.join(' | ')).toSorted();
  expect(sorted(await valuesOf('select task_id, tag from task_tags'))).toEqual(['t | a, b', 't | home']);
  expect(await valuesOf('select title, instructions from runs order by id')).toEqual([
    ['Say "hi"', 'C:\\new'],
    ['', ''],
  ]);
  const told = await valuesOf('select word, reason, task_id, about, chat_id, at from told');
  expect(sorted(told)).toEqual(sorted(said.map(([_key, ...now]) => [...now, 'c', 3])));
  expect(await valuesOf('select scope from kv')).toEqual([['hold']]);
  expect(sorted(await valuesOf('select scope, target from idempotency_keys'))).toEqual(
    sorted(under.map(([_before, ...now]) => now)),
  );
});

test.each(engines)(
  'an older database knows what bounds its runs, which of them go on, and when a task succeeded last: %s',
  async (_engine, open) => {
    const database = await open(12);
    const bounded = '{"overlap":"allow","max_runs":5}';
    await addTasks(database, [
      ['ran', 'A', bounded],
      ['failed', 'B', '{}'],
      ['never', 'max_runs', '{}'],
    ]);
    await database.write(
      `update tasks set bounded_runs = 3, last_run_at = ${nine}, last_run_status = 'succeeded' where id = 'ran'`,
    );
    await database.write(`update tasks set last_run_at = ${nine}, last_run_status = 'failed' where id = 'failed'`);
    // Runs used to be counted when they began to be under way.
    for (const [index, [source, status]] of [
      ['schedule', 'queued'],
      ['catch_up', 'backoff'],
      ['run_now', 'queued'],
      ['schedule', 'succeeded'],
    ].entries()) {
      await database.write(
        `insert into occurrences (id, task_id, slot_at, source, status, run_id, late_ms, created_at, updated_at)
         values ('o${index}', 'ran', ${index}, '${source}', 'dispatched', 'r${index}', 0, 1, 1)`,
      );
      await database.write(
        `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, occurrence_id, owner_id, status, ready_at,
           fence, attempts, interruptions, input, created_at)
         values ('r${index}', 'task', 'k${index}', 'h', 0, 5, 'ran', 'o${index}', 'o', '${status}', 0, 1, 1, 0, '{}', 1)`,
      );
    }
    await database.migrate();
    expect(
      await database.read('select id, max_runs, bounded_runs, bounded_since, fresh_at from tasks order by number'),
    ).toEqual([
      { id: 'ran', max_runs: 5, bounded_runs: 1, bounded_since: 0, fresh_at: nine },
      { id: 'failed', max_runs: null, bounded_runs: 0, bounded_since: 0, fresh_at: null },
      { id: 'never', max_runs: null, bounded_runs: 0, bounded_since: 0, fresh_at: null },
    ]);
  },
);

test.each(engines)('every row of a chat names its chat, also those of an older database: %s', async (_engine, open) => {
  const database = await open(14);
  await addTasks(database, [
    ['t', 'A title', '{}'],
    ['edited', 'Another', '{}'],
  ]);
  const statements = [
    `insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, chat_id, owner_id, status, ready_at, fence,
       attempts, interruptions, input, created_at)
     values ('r', 'task', 'k1', 'h', 0, 5, 't', 'before', 'o', 'succeeded', 0, 1, 1, 0, '{}', 5),
       ('live', 'task', 'k2', 'h', 0, 5, 'edited', 'c', 'o', 'queued', 0, 1, 0, 0, '{}', 5)`,
    `insert into attempts (run_id, attempt, status, boot_id, started_at, finished_at) values ('r', 1, 'succeeded', 'b', 1, 2)`,
    `insert into occurrences (id, task_id, slot_at, source, status, run_id, late_ms, created_at, updated_at)
     values ('o1', 't', 1, 'schedule', 'succeeded', 'r', 0, 1, 1), ('o2', 't', 2, 'schedule', 'skipped', null, 0, 1, 1)`,
    `insert into gaps (id, task_id, from_at, to_at, count, reason, created_at) values ('g', 't', 1, 2, 3, 'downtime', 1)`,
    `insert into task_tags (task_id, tag) values ('t', 'home')`,
    `insert into task_versions (task_id, version, at, actor, definition) values ('t', 1, 1, 'o', '{}')`,
    `insert into usage (run_id, kind, quantity, task_id, owner_id, at) values ('r', 'requests', 1, 't', 'o', 1)`,
    `insert into deliveries (id, chat_id, lane, rank, kind, part, status, content, unknown_policy, fence, sends, put_offs, settles, created_at)
     values ('d', 'elsewhere', 'l', 1, 'answer', 1, 'failed', '{}', 'resend', 1, 1, 0, 0, 1)`,
    `insert into audit (id, at, actor, verb, task_id, chat_id, after)
     values (1, 6, 'o', 'edit', 'edited', null, '{"context":{}}'), (2, 6, 'o', 'allow', null, 'c', null)`,
    `insert into events (id, tx, at, kind, task_id, ref) values (1, 0, 1, 'run.succeeded', 't', 'r'), (2, 0, 1, 'delivery.failed', null, 'd'),
       (3, 0, 1, 'access.allow', null, '2'), (4, 0, 1, 'task.create', 't', '1'), (5, 0, 1, 'downtime.reported', null, 'x')`,
  ];
  for (const statement of statements) await database.write(statement);
  await database.write(`update tasks set action = '{"kind":"echo"}' where id = 't'`);
  await database.migrate();

  const chatsOf = async (table: string, key: string) =>
    (await database.read(`select chat_id from ${table} order by ${key}`)).map(
      (row) => (row as { chat_id: unknown }).chat_id,
    );
  // The task has moved since that run.
  expect(await chatsOf('attempts', 'run_id')).toEqual(['before']);
  expect(await chatsOf('occurrences', 'id')).toEqual(['before', 'c']);
  expect(await chatsOf('usage', 'run_id')).toEqual(['before']);
  for (const [table, key] of [
    ['gaps', 'id'],
    ['task_tags', 'tag'],
    ['task_versions', 'version'],
  ] as const)
    expect(await chatsOf(table, key), table).toEqual(['c']);
  expect(await chatsOf('audit', 'id')).toEqual(['c', 'c']);
  expect(await chatsOf('events', 'id')).toEqual(['before', 'elsewhere', 'c', 'c', null]);
  expect(
    await database.read('select id, action_kind, context_version, watched_since from tasks order by number'),
  ).toEqual([
    { id: 't', action_kind: 'echo', context_version: 0, watched_since: 0 },
    { id: 'edited', action_kind: 'message', context_version: 1, watched_since: 0 },
  ]);
});

test.each(engines)(
  'subjects of an older database are looked for in small letters and capitals: %s',
  async (_engine, open) => {
    const database = await open(22);
    await addTasks(database, [
      ['t', 'A', '{}'],
      ['none', 'B', '{}'],
    ]);
    await database.write(`update tasks set subject = 'Anna' where id = 't'`);
    await database.migrate();
    expect(await database.read('select id, subject, subject_key from tasks order by number')).toEqual([
      { id: 't', subject: 'Anna', subject_key: 'anna' },
      { id: 'none', subject: null, subject_key: null },
    ]);
  },
);

test.each(engines)(
  'usage keeps its rows and its days, and no run that ended holds a reservation: %s',
  async (_engine, open) => {
    const database = await open(24);
    await addTasks(database, [['t', 'A title', '{}']]);
    const run = (id: string, status: string) =>
      database.write(`insert into runs (id, source, idempotency_key, payload_hash, exclusive, rank, task_id, chat_id, owner_id, status, ready_at,
       fence, attempts, interruptions, input, created_at, reserved_at, reserved_requests)
     values ('${id}', 'task', '${id}', 'h', 0, 5, 't', 'c', 'o', '${status}', 0, 1, 1, 0, '{}', 5, 5, 1)`);
    await run('ended', 'succeeded');
    await run('queued', 'queued');
    const usage = (id: string, runId: string | null, attempt: number) =>
      database.write(`insert into usage (id, run_id, attempt, kind, source, quantity, task_id, owner_id, chat_id, at)
      values ('${id}', ${runId === null ? 'null' : `'${runId}'`}, ${attempt}, 'requests', 'a.example', 3, 't', 'o', 'c', 5)`);
    await usage('ended 1 requests a.example', 'ended', 1);
    await usage('day c o t requests a.example  5', null, 0);
    await database.migrate();

    expect(await database.read('select id, reserved_at from runs order by id')).toEqual([
      { id: 'ended', reserved_at: null },
      { id: 'queued', reserved_at: 5 },
    ]);
    expect(
      await database.read('select run_id, attempt, kind, source, quantity, at from usage order by attempt'),
    ).toEqual([
      {
        run_id: 'day c o t requests a.example  5',
        attempt: 0,
        kind: 'requests',
        source: 'a.example',
        quantity: 3,
        at: 5,
      },
      { run_id: 'ended', attempt: 1, kind: 'requests', source: 'a.example', quantity: 3, at: 5 },
    ]);
  },
);
