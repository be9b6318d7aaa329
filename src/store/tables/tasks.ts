import { sql } from 'drizzle-orm';
import type { TopicLoss } from '../../app/ports/outbox.ts';
import type { Actor } from '../../domain/access.ts';
import type { BlockedCause } from '../../domain/shown.ts';
import { failuresPause, ownerGonePause, type TaskState, type TopicState } from '../../domain/task.ts';
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

/** The person's definition, and where the task stands in time. */
function definitionColumns({ text, int }: Dialect) {
  return {
    id: text('id').primaryKey(),
    number: int('number').notNull(),
    homeTopic: int('home_topic'),
    ownerId: text('owner_id').$type<Actor>().notNull(),
    grantId: text('grant_id').notNull(),
    version: int('version').notNull(),
    state: text('state').$type<TaskState>().notNull(),
    nextAt: int('next_at'),
    title: text('title').notNull(),
    instructions: text('instructions').notNull(),
    action: text('action').notNull(),
    /** A copy out of the action, by which tasks are counted. */
    actionKind: text('action_kind').notNull().default('message'),
    scheduleKind: text('schedule_kind').notNull(),
    onceAt: int('once_at'),
    cron: text('cron'),
    rrule: text('rrule'),
    interval: text('interval'),
    startAt: int('start_at'),
    intervalFrom: text('interval_from'),
    timezone: text('timezone').notNull(),
    minGapMs: int('min_gap_ms'),
    policies: text('policies').notNull(),
    /** A copy out of the policies, so that the end of a run can pause the task in the same statement. */
    autoPause: int('auto_pause').notNull(),
    /** Another one: 1 where its runs may live side by side. */
    beside: int('beside').notNull().default(0),
    /** Two more, so that the end of its last run completes the task, and an index finds results that have grown old. */
    maxRuns: int('max_runs'),
    refreshMs: int('refresh_ms'),
    subject: text('subject'),
    /** The subject as it is looked for. */
    subjectKey: text('subject_key'),
    /** JSON, in the order in which they were given; each is a row of `task_tags` too, by which it is found. */
    tags: text('tags').notNull(),
    context: text('context').notNull(),
    /** Counts how often a person has changed the context, so that a run does not write over what it has not seen. */
    contextVersion: int('context_version').notNull().default(0),
    /** The version since which it watches what it watches now: a run of an earlier one saw something else. */
    watchedSince: int('watched_since').notNull().default(0),
  };
}

/** The life of a task: counters, its topic, and who did what to it last. */
function lifeColumns({ text, int }: Dialect) {
  return {
    runs: int('runs').notNull(),
    failures: int('failures').notNull(),
    consecutiveFailures: int('consecutive_failures').notNull(),
    boundedRuns: int('bounded_runs').notNull(),
    /** The version since which runs count there: those that an earlier timing asked for do not. */
    boundedSince: int('bounded_since').notNull().default(0),
    /** The number that its last run was given. */
    runNumber: int('run_number').notNull().default(0),
    lastRunId: text('last_run_id'),
    lastRunAt: int('last_run_at'),
    lastRunStatus: text('last_run_status').$type<'succeeded' | 'failed' | 'cancelled'>(),
    lastError: text('last_error'),
    /** When a run succeeded last. */
    freshAt: int('fresh_at'),
    topicState: text('topic_state').$type<TopicState>().notNull(),
    topicId: int('topic_id'),
    topicBoot: text('topic_boot'),
    topicAskedAt: int('topic_asked_at'),
    topicCause: text('topic_cause').$type<BlockedCause>(),
    topicName: text('topic_name'),
    /** When its creation was last asked for: calls count against the budget of the chat, whatever became of them. */
    topicCalledAt: int('topic_called_at'),
    /** Why the topic is to be made again. */
    topicLost: int('topic_lost').$type<TopicLoss>(),
    /** When it was last given up to be made again: that happens once an hour at most. */
    topicLostAt: int('topic_lost_at'),
    /** 1 where its topic is the one that the one-offs of its chat share. */
    topicShared: int('topic_shared').notNull().default(0),
    /** The pinned card in the topic. */
    cardMessageId: int('card_message_id'),
    /** Since when it fails, which people were told, and how often it had failed before. */
    incidentAt: int('incident_at'),
    incidentFailures: int('incident_failures'),
    pausedReason: text('paused_reason'),
    /** A pause that ends by itself: from this instant on the task has slots again. */
    resumeAt: int('resume_at'),
    /** The last slot that has its row in advance, as somebody skipped it or the clock was ahead: past it, no plan has to look for such rows. */
    skipsUntil: int('skips_until'),
    createdAt: int('created_at').notNull(),
    createdBy: text('created_by').$type<Actor>().notNull(),
    updatedAt: int('updated_at').notNull(),
    updatedBy: text('updated_by').$type<Actor>().notNull(),
    pausedAt: int('paused_at'),
    pausedBy: text('paused_by').$type<Actor>(),
    resumedAt: int('resumed_at'),
    resumedBy: text('resumed_by').$type<Actor>(),
    deletedAt: int('deleted_at'),
    deletedBy: text('deleted_by').$type<Actor>(),
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
      chatId: d
        .text('chat_id')
        .notNull()
        .references(() => chats.id),
      ...lifeColumns(d),
    },
    (t) => [
      // The owner check: a task acts only under a grant of its own owner.
      d.foreignKey({
        name: 'tasks_grant',
        columns: [t.grantId, t.ownerId],
        foreignColumns: [grants.id, grants.ownerId],
      }),
      d.uniqueIndex('tasks_number').on(t.chatId, t.number),
      // A page of the tasks of a chat, newest first.
      d.index('tasks_list').on(t.chatId, t.id),
      d.index('tasks_of_grant').on(t.grantId),
      d.index('tasks_due').on(t.nextAt).where(sql.raw('next_at is not null')),
      d.index('tasks_resume').on(t.resumeAt).where(sql.raw('resume_at is not null')),
      d
        .index('tasks_stale')
        .on(sql.raw('(fresh_at + refresh_ms)'))
        .where(sql.raw(`refresh_ms is not null and state = 'active'`)),
      d.index('tasks_owner').on(t.ownerId, t.state),
      d
        .index('tasks_failed_too_often')
        .on(t.pausedAt)
        .where(sql.raw(`paused_reason = '${failuresPause}'`)),
      d
        .index('tasks_waiting_for_owner')
        .on(t.ownerId)
        .where(sql.raw(`paused_reason = '${ownerGonePause}'`)),
      // A page of the tasks of a subject, newest first.
      d.index('tasks_subject_key').on(t.subjectKey, t.id).where(sql.raw('subject_key is not null')),
      d.index('tasks_place').on(t.chatId, t.topicId).where(sql.raw('topic_id is not null')),
      d.index('tasks_topic_called').on(t.topicCalledAt).where(sql.raw('topic_called_at is not null')),
      d.check('tasks_state', sql.raw(`state in ('active', 'paused', 'completed', 'deleted')`)),
      // The truth about the next slot exists exactly while the task is enabled.
      d.check('tasks_next', sql.raw(`(state = 'active') = (next_at is not null)`)),
      d.check('tasks_payload', sql.raw(payloadCheck)),
      d.check('tasks_topic', sql.raw(`topic_state <> 'ready' or topic_id is not null`)),
      d.check('tasks_topic_state', sql.raw(`topic_state in ('none', 'creating', 'ready', 'blocked')`)),
    ],
  );
}

/** The tags of a task, one by one: what is written with its definition, and goes with its row. */
export function taskTagsTable(d: Dialect) {
  const { table, text } = d;
  const tagColumns = { taskId: text('task_id').notNull(), tag: text('tag').notNull(), chatId: text('chat_id') };
  return table('task_tags', tagColumns, (t) => [d.primaryKey({ name: 'task_tags_pk', columns: [t.taskId, t.tag] })]);
}
