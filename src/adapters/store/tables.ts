import { sql } from 'drizzle-orm';
import type * as sqlite from 'drizzle-orm/sqlite-core';

/**
 * The tables, written once. Every column is a text or an integer in both dialects, so that a row read on one engine looks
 * the same on the other; times are integer milliseconds UTC, JSON is text that the rows' codec reads. The names in
 * TypeScript are the names in SQL. The dialects differ in the column builders alone, and a parity test compares them.
 */
export interface Dialect {
  readonly table: typeof sqlite.sqliteTable;
  readonly text: <N extends string>(name: N) => sqlite.SQLiteTextBuilderInitial<N, [string, ...string[]], undefined>;
  readonly int: <N extends string>(name: N) => sqlite.SQLiteIntegerBuilderInitial<N>;
  /** A primary key that counts up by itself. */
  readonly serial: <N extends string>(name: N) => sqlite.SQLiteIntegerBuilderInitial<N>;
  readonly check: typeof sqlite.check;
  readonly index: typeof sqlite.index;
  readonly uniqueIndex: typeof sqlite.uniqueIndex;
  readonly unique: typeof sqlite.unique;
  readonly primaryKey: typeof sqlite.primaryKey;
  readonly foreignKey: typeof sqlite.foreignKey;
}

const liveRun = sql.raw(`status in ('queued', 'running', 'backoff', 'waiting')`);

export type Tables = ReturnType<typeof defineTables>;

export function defineTables(d: Dialect) {
  const known = places(d);
  return { ...known, ...definitions(d, known), ...work(d), ...outbox(d), ...records(d) };
}

function places(d: Dialect) {
  const { text, int } = d;
  /** One base thread: a chat, or a thread such as `cli:default` that is delivered nowhere. Task numbers count in it. */
  const chats = d.table(
    'chats',
    {
      id: text('id').primaryKey(),
      provider: text('provider').notNull(),
      address: text('address').notNull(),
      title: text('title'),
      kind: text('kind'),
      state: text('state').notNull(),
      timezone: text('timezone'),
      settings: text('settings').notNull(),
      approved_by: text('approved_by'),
      last_number: int('last_number').notNull(),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [
      d.uniqueIndex('chats_address').on(t.provider, t.address),
      d.check('chats_state', sql.raw(`state in ('new', 'approved', 'refused', 'gone')`)),
    ],
  );
  /** Every address under which a chat was ever known, so that a migrated group is still found by its old id. */
  const chat_aliases = d.table(
    'chat_aliases',
    {
      provider: text('provider').notNull(),
      address: text('address').notNull(),
      chat_id: text('chat_id').notNull().references(() => chats.id),
      created_at: int('created_at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'chat_aliases_pk', columns: [t.provider, t.address] })],
  );
  /** Principals: people, tokens, the product. The id is the typed actor. */
  const users = d.table(
    'users',
    {
      id: text('id').primaryKey(),
      name: text('name'),
      role: text('role').notNull(),
      timezone: text('timezone'),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    () => [d.check('users_role', sql.raw(`role in ('owner', 'user', 'system')`))],
  );
  const grants = d.table(
    'grants',
    {
      id: text('id').primaryKey(),
      owner_id: text('owner_id').notNull().references(() => users.id),
      chat_id: text('chat_id').notNull().references(() => chats.id),
      scopes: text('scopes').notNull(),
      expires_at: int('expires_at'),
      revoked_at: int('revoked_at'),
      revoked_by: text('revoked_by'),
      created_at: int('created_at').notNull(),
      created_by: text('created_by').notNull(),
    },
    // A constraint and not an index, because Postgres makes indexes after the foreign key of the tasks that points here.
    (t) => [d.unique('grants_owner').on(t.id, t.owner_id)],
  );
  return { chats, chat_aliases, users, grants };
}

/** Exactly one schedule payload, and the right one. */
const payloadCheck = `case schedule_kind
    when 'once' then once_at is not null and cron is null and rrule is null and interval is null
    when 'cron' then once_at is null and cron is not null and rrule is null and interval is null
    when 'rrule' then once_at is null and cron is null and rrule is not null and interval is null
    when 'interval' then once_at is null and cron is null and rrule is null
      and interval is not null and start_at is not null and interval_from in ('start', 'completion')
    else 1 = 0 end`;

function definitions(d: Dialect, { chats, grants }: Pick<ReturnType<typeof places>, 'chats' | 'grants'>) {
  const { text, int } = d;
  const tasks = d.table(
    'tasks',
    {
      id: text('id').primaryKey(),
      chat_id: text('chat_id').notNull().references(() => chats.id),
      number: int('number').notNull(),
      home_topic: int('home_topic'),
      owner_id: text('owner_id').notNull(),
      grant_id: text('grant_id').notNull(),
      version: int('version').notNull(),
      state: text('state').notNull(),
      next_at: int('next_at'),
      title: text('title').notNull(),
      instructions: text('instructions').notNull(),
      action: text('action').notNull(),
      schedule_kind: text('schedule_kind').notNull(),
      once_at: int('once_at'),
      cron: text('cron'),
      rrule: text('rrule'),
      interval: text('interval'),
      start_at: int('start_at'),
      interval_from: text('interval_from'),
      timezone: text('timezone').notNull(),
      min_gap_ms: int('min_gap_ms'),
      policies: text('policies').notNull(),
      /** A copy out of the policies, so that the end of a run can pause the task in the same statement. */
      auto_pause: int('auto_pause').notNull(),
      subject: text('subject'),
      tags: text('tags').notNull(),
      context: text('context').notNull(),
      runs: int('runs').notNull(),
      failures: int('failures').notNull(),
      consecutive_failures: int('consecutive_failures').notNull(),
      bounded_runs: int('bounded_runs').notNull(),
      last_run_at: int('last_run_at'),
      last_run_status: text('last_run_status'),
      last_error: text('last_error'),
      topic_state: text('topic_state').notNull(),
      topic_id: int('topic_id'),
      topic_boot: text('topic_boot'),
      topic_asked_at: int('topic_asked_at'),
      topic_cause: text('topic_cause'),
      paused_reason: text('paused_reason'),
      created_at: int('created_at').notNull(),
      created_by: text('created_by').notNull(),
      updated_at: int('updated_at').notNull(),
      updated_by: text('updated_by').notNull(),
      paused_at: int('paused_at'),
      paused_by: text('paused_by'),
      resumed_at: int('resumed_at'),
      resumed_by: text('resumed_by'),
      deleted_at: int('deleted_at'),
      deleted_by: text('deleted_by'),
    },
    (t) => [
      // The owner check: a task acts only under a grant of its own owner.
      d.foreignKey({
        name: 'tasks_grant',
        columns: [t.grant_id, t.owner_id],
        foreignColumns: [grants.id, grants.owner_id],
      }),
      d.uniqueIndex('tasks_number').on(t.chat_id, t.number),
      d.index('tasks_due').on(t.next_at).where(sql.raw('next_at is not null')),
      d.index('tasks_owner').on(t.owner_id, t.state),
      d.index('tasks_subject').on(t.chat_id, t.subject).where(sql.raw('subject is not null')),
      d.check('tasks_state', sql.raw(`state in ('active', 'paused', 'completed', 'deleted')`)),
      // The truth about the next slot exists exactly while the task is enabled.
      d.check('tasks_next', sql.raw(`(state = 'active') = (next_at is not null)`)),
      d.check('tasks_payload', sql.raw(payloadCheck)),
      d.check('tasks_topic', sql.raw(`topic_state <> 'ready' or topic_id is not null`)),
      d.check('tasks_topic_state', sql.raw(`topic_state in ('none', 'creating', 'ready', 'blocked')`)),
    ],
  );
  return { tasks };
}

function work(d: Dialect) {
  const { text, int } = d;
  const occurrences = d.table(
    'occurrences',
    {
      id: text('id').primaryKey(),
      task_id: text('task_id').notNull(),
      slot_at: int('slot_at').notNull(),
      source: text('source').notNull(),
      status: text('status').notNull(),
      reason: text('reason'),
      decide_by: int('decide_by'),
      replay_of: text('replay_of'),
      run_id: text('run_id'),
      /** How long after its slot it was taken up: the lateness that a person asks about. */
      late_ms: int('late_ms').notNull(),
      error: text('error'),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [
      // Also the uniqueness of the idempotency key, which is a function of these two columns.
      d.uniqueIndex('occurrences_slot').on(t.task_id, t.slot_at),
      d.index('occurrences_pending').on(t.task_id, t.slot_at).where(sql.raw(`status = 'pending'`)),
      d.index('occurrences_decide').on(t.decide_by).where(sql.raw(`status = 'pending' and decide_by is not null`)),
      d.check(
        'occurrences_status',
        sql.raw(
          `status in ('pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed')`,
        ),
      ),
      d.check('occurrences_run', sql.raw(`status <> 'dispatched' or run_id is not null`)),
    ],
  );
  /** Missed slots that are too many for a row each. */
  const gaps = d.table(
    'gaps',
    {
      id: text('id').primaryKey(),
      task_id: text('task_id').notNull(),
      from_at: int('from_at').notNull(),
      to_at: int('to_at').notNull(),
      count: int('count').notNull(),
      reason: text('reason').notNull(),
      created_at: int('created_at').notNull(),
    },
    (t) => [d.uniqueIndex('gaps_from').on(t.task_id, t.from_at)],
  );
  const runs = d.table(
    'runs',
    {
      id: text('id').primaryKey(),
      source: text('source').notNull(),
      idempotency_key: text('idempotency_key').notNull(),
      payload_hash: text('payload_hash').notNull(),
      lane: text('lane').notNull(),
      in_order: int('in_order').notNull(),
      exclusive: int('exclusive').notNull(),
      /** Ten minus the priority, so that one ascending index serves the most urgent first. */
      rank: int('rank').notNull(),
      task_id: text('task_id'),
      task_version: int('task_version'),
      occurrence_id: text('occurrence_id'),
      chat_id: text('chat_id'),
      owner_id: text('owner_id').notNull(),
      outgoing_key: text('outgoing_key').notNull(),
      status: text('status').notNull(),
      ready_at: int('ready_at').notNull(),
      fence: int('fence').notNull(),
      boot_id: text('boot_id'),
      attempts: int('attempts').notNull(),
      interruptions: int('interruptions').notNull(),
      cancel_requested_at: int('cancel_requested_at'),
      input: text('input').notNull(),
      output: text('output'),
      error: text('error'),
      created_at: int('created_at').notNull(),
      started_at: int('started_at'),
      finished_at: int('finished_at'),
    },
    (t) => [
      d.uniqueIndex('runs_key').on(t.idempotency_key, t.source),
      d.uniqueIndex('runs_exclusive').on(t.task_id).where(sql`exclusive = 1 and ${liveRun}`),
      d.index('runs_shared').on(t.task_id).where(sql`exclusive = 0 and ${liveRun}`),
      d.index('runs_lane').on(t.lane).where(sql`in_order = 1 and ${liveRun}`),
      d.index('runs_ready').on(t.rank, t.ready_at).where(sql.raw(`status in ('queued', 'backoff')`)),
      d.index('runs_running').on(t.boot_id).where(sql.raw(`status = 'running'`)),
      d.check(
        'runs_status',
        sql.raw(`status in ('queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled')`),
      ),
      d.check('runs_boot', sql.raw(`status <> 'running' or boot_id is not null`)),
    ],
  );
  const attempts = d.table(
    'attempts',
    {
      run_id: text('run_id').notNull(),
      attempt: int('attempt').notNull(),
      status: text('status').notNull(),
      boot_id: text('boot_id').notNull(),
      started_at: int('started_at').notNull(),
      finished_at: int('finished_at'),
      duration_ms: int('duration_ms'),
      http_status: int('http_status'),
      error: text('error'),
    },
    (t) => [
      d.primaryKey({ name: 'attempts_pk', columns: [t.run_id, t.attempt] }),
      d.check(
        'attempts_status',
        sql.raw(`status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')`),
      ),
      d.check('attempts_end', sql.raw(`(status = 'running') = (finished_at is null)`)),
    ],
  );
  return { occurrences, gaps, runs, attempts };
}

function outbox(d: Dialect) {
  const { text, int } = d;
  const deliveries = d.table(
    'deliveries',
    {
      /** Counts up with time, so that it is also the order of the parts of a thread. */
      id: text('id').primaryKey(),
      run_id: text('run_id'),
      task_id: text('task_id'),
      chat_id: text('chat_id').notNull(),
      /** The thread within the chat: parts of one lane go out in order. */
      lane: text('lane').notNull(),
      rank: int('rank').notNull(),
      kind: text('kind').notNull(),
      part: int('part').notNull(),
      status: text('status').notNull(),
      ready_at: int('ready_at'),
      content: text('content').notNull(),
      unknown_policy: text('unknown_policy').notNull(),
      expires_at: int('expires_at'),
      fence: int('fence').notNull(),
      boot_id: text('boot_id'),
      sends: int('sends').notNull(),
      sent_at: int('sent_at'),
      settles: int('settles').notNull(),
      evidence: text('evidence'),
      cause: text('cause'),
      error: text('error'),
      platform_chat_id: text('platform_chat_id'),
      message_thread_id: int('message_thread_id'),
      message_id: int('message_id'),
      created_at: int('created_at').notNull(),
      delivered_at: int('delivered_at'),
    },
    (t) => [
      d.uniqueIndex('deliveries_part').on(t.run_id, t.kind, t.part),
      d.index('deliveries_ready')
        .on(t.chat_id, t.rank, t.id)
        .where(sql.raw(`status in ('pending', 'blocked')`)),
      d.index('deliveries_waiting').on(t.ready_at).where(sql.raw(`status in ('pending', 'blocked')`)),
      d.index('deliveries_unknown').on(t.ready_at).where(sql.raw(`status = 'unknown'`)),
      d.index('deliveries_sending').on(t.boot_id).where(sql.raw(`status = 'sending'`)),
      d.index('deliveries_open')
        .on(t.lane, t.id)
        .where(sql.raw(`status in ('pending', 'blocked', 'sending', 'unknown')`)),
      d.check(
        'deliveries_status',
        sql.raw(`status in ('pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed')`),
      ),
      // "Delivered" means delivered: no path can set it without the id that the platform returned.
      d.check('deliveries_proof', sql.raw(`status <> 'delivered' or message_id is not null`)),
    ],
  );
  return { deliveries };
}

function records(d: Dialect) {
  const { text, int, serial } = d;
  /** Append only. */
  const audit = d.table(
    'audit',
    {
      id: serial('id').primaryKey(),
      at: int('at').notNull(),
      actor: text('actor').notNull(),
      verb: text('verb').notNull(),
      task_id: text('task_id'),
      chat_id: text('chat_id'),
      before: text('before'),
      after: text('after'),
    },
    (t) => [d.index('audit_task').on(t.task_id, t.at)],
  );
  const idempotency_keys = d.table(
    'idempotency_keys',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      payload_hash: text('payload_hash').notNull(),
      /** What the first call made. It commits together with the effect, so there is no state in between. */
      result: text('result').notNull(),
      created_at: int('created_at').notNull(),
      expires_at: int('expires_at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'idempotency_keys_pk', columns: [t.scope, t.key] }),
      d.index('idempotency_keys_expiry').on(t.expires_at),
    ],
  );
  /** Updates of the platform, stored before the next offset is asked for. */
  const inbox = d.table(
    'inbox',
    {
      update_id: int('update_id').primaryKey(),
      payload: text('payload').notNull(),
      status: text('status').notNull(),
      attempts: int('attempts').notNull(),
      error: text('error'),
      received_at: int('received_at').notNull(),
      done_at: int('done_at'),
    },
    (t) => [
      d.index('inbox_open').on(t.update_id).where(sql.raw(`status = 'received'`)),
      d.check('inbox_status', sql.raw(`status in ('received', 'done', 'failed')`)),
    ],
  );
  /** A task being made by question and answer; it survives a restart and an upgrade. */
  const drafts = d.table(
    'drafts',
    {
      id: text('id').primaryKey(),
      chat_id: text('chat_id').notNull(),
      user_id: text('user_id').notNull(),
      topic: int('topic'),
      step: text('step').notNull(),
      body: text('body').notNull(),
      message_id: int('message_id'),
      expires_at: int('expires_at').notNull(),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [d.index('drafts_place').on(t.chat_id, t.user_id)],
  );
  /** What runs consumed, booked once per run and kind on the owner and the chat. */
  const usage = d.table(
    'usage',
    {
      run_id: text('run_id').notNull(),
      kind: text('kind').notNull(),
      quantity: int('quantity').notNull(),
      task_id: text('task_id'),
      owner_id: text('owner_id').notNull(),
      chat_id: text('chat_id'),
      at: int('at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'usage_pk', columns: [t.run_id, t.kind] }),
      d.index('usage_owner').on(t.owner_id, t.at),
    ],
  );
  const kv = d.table(
    'kv',
    {
      scope: text('scope').notNull(),
      key: text('key').notNull(),
      value: text('value').notNull(),
      expires_at: int('expires_at'),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'kv_pk', columns: [t.scope, t.key] })],
  );
  return { audit, idempotency_keys, inbox, drafts, usage, kv };
}
