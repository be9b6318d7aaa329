import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';
import type { chatsTable, grantsTable } from './places.ts';

/** Exactly one schedule payload, and the right one. */
const payloadCheck = `case schedule_kind
    when 'once' then once_at is not null and cron is null and rrule is null and interval is null
    when 'cron' then once_at is null and cron is not null and rrule is null and interval is null
    when 'rrule' then once_at is null and cron is null and rrule is not null and interval is null
    when 'interval' then once_at is null and cron is null and rrule is null
      and interval is not null and start_at is not null and interval_from in ('start', 'completion')
    else 1 = 0 end`;

/** What a person defined, and where the task stands in time. */
function definitionColumns({ text, int }: Dialect) {
  return {
    id: text('id').primaryKey(),
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
  };
}

/** What happened to it: counters, its topic, and who did what to it last. */
function lifeColumns({ text, int }: Dialect) {
  return {
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
    topic_name: text('topic_name'),
    /** When its creation was last asked for: calls count against the budget of the chat, whatever became of them. */
    topic_called_at: int('topic_called_at'),
    /** 1 when the topic was deleted by a person and is to be made again. */
    topic_lost: int('topic_lost'),
    /** The pinned card in the topic. */
    card_message_id: int('card_message_id'),
    /** Since when it fails, which people were told, and how often it had failed before. */
    incident_at: int('incident_at'),
    incident_failures: int('incident_failures'),
    paused_reason: text('paused_reason'),
    /** A pause that ends by itself: from this instant on the task has slots again. */
    resume_at: int('resume_at'),
    /** The last slot that somebody skipped in advance: past it, no plan has to look for such slots. */
    skips_until: int('skips_until'),
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
  };
}

export function tasksTable(
  d: Dialect,
  { chats, grants }: { chats: ReturnType<typeof chatsTable>; grants: ReturnType<typeof grantsTable> },
) {
  return d.table(
    'tasks',
    {
      ...definitionColumns(d),
      chat_id: d
        .text('chat_id')
        .notNull()
        .references(() => chats.id),
      ...lifeColumns(d),
    },
    (t) => [
      // The owner check: a task acts only under a grant of its own owner.
      d.foreignKey({
        name: 'tasks_grant',
        columns: [t.grant_id, t.owner_id],
        foreignColumns: [grants.id, grants.owner_id],
      }),
      d.uniqueIndex('tasks_number').on(t.chat_id, t.number),
      // A page of the tasks of a chat, newest first.
      d.index('tasks_list').on(t.chat_id, t.id),
      d.index('tasks_of_grant').on(t.grant_id),
      d.index('tasks_due').on(t.next_at).where(sql.raw('next_at is not null')),
      d.index('tasks_resume').on(t.resume_at).where(sql.raw('resume_at is not null')),
      d.index('tasks_owner').on(t.owner_id, t.state),
      d.index('tasks_subject').on(t.chat_id, t.subject).where(sql.raw('subject is not null')),
      d.index('tasks_place').on(t.chat_id, t.topic_id).where(sql.raw('topic_id is not null')),
      d.index('tasks_topic_called').on(t.topic_called_at).where(sql.raw('topic_called_at is not null')),
      d.check('tasks_state', sql.raw(`state in ('active', 'paused', 'completed', 'deleted')`)),
      // The truth about the next slot exists exactly while the task is enabled.
      d.check('tasks_next', sql.raw(`(state = 'active') = (next_at is not null)`)),
      d.check('tasks_payload', sql.raw(payloadCheck)),
      d.check('tasks_topic', sql.raw(`topic_state <> 'ready' or topic_id is not null`)),
      d.check('tasks_topic_state', sql.raw(`topic_state in ('none', 'creating', 'ready', 'blocked')`)),
    ],
  );
}
