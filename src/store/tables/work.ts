import { sql } from 'drizzle-orm';
import type { Actor } from '../../domain/access.ts';
import type { AckStatus } from '../../domain/ack.ts';
import type { DeliveryKind, DeliveryStatus } from '../../domain/delivery.ts';
import type { OccurrenceSource, OccurrenceStatus, Reason } from '../../domain/occurrence.ts';
import type { UnknownPolicy } from '../../domain/policy.ts';
import type { AttemptStatus, RunErrorCode, RunStatus } from '../../domain/run.ts';
import type { Dialect } from './dialect.ts';

/** `waiting` is none of today's statuses. It stays in the predicates of indexes, which statements repeat to the letter. */
const liveRuns = (which: string) => sql.raw(`${which} and status in ('queued', 'running', 'backoff', 'waiting')`);

export function occurrencesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'occurrences',
    {
      id: text('id').primaryKey(),
      taskId: text('task_id').notNull(),
      slotAt: int('slot_at').notNull(),
      source: text('source').$type<OccurrenceSource>().notNull(),
      status: text('status').$type<OccurrenceStatus>().notNull(),
      reason: text('reason').$type<Reason>(),
      decideBy: int('decide_by'),
      replayOf: text('replay_of'),
      runId: text('run_id'),
      /** How long after its slot it was taken up: the lateness that a person asks about. */
      lateMs: int('late_ms').notNull(),
      error: text('error'),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
      /** The row of the audit that led to its reason; null where nobody did anything. */
      deedId: int('deed_id'),
      /** The row of the audit by which somebody asked for it; null for what the schedule alone asked for. */
      askedBy: int('asked_by'),
      chatId: text('chat_id'),
    },
    (t) => [
      // Also the uniqueness of the idempotency key, which is a function of these two columns.
      d.uniqueIndex('occurrences_slot').on(t.taskId, t.slotAt),
      d.index('occurrences_pending').on(t.taskId, t.slotAt).where(sql.raw(`status = 'pending'`)),
      d.index('occurrences_snoozed').on(t.slotAt).where(sql.raw(`status = 'pending' and source = 'snooze'`)),
      d.index('occurrences_replay').on(t.replayOf).where(sql.raw('replay_of is not null')),
      d.index('occurrences_decide').on(t.decideBy).where(sql.raw(`status = 'pending' and decide_by is not null`)),
      d.check(
        'occurrences_status',
        sql.raw(`status in ('pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed')`),
      ),
      d.check('occurrences_run', sql.raw(`status <> 'dispatched' or run_id is not null`)),
    ],
  );
}

/** Missed slots that are too many for a row each. */
export function gapsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'gaps',
    {
      id: text('id').primaryKey(),
      taskId: text('task_id').notNull(),
      fromAt: int('from_at').notNull(),
      toAt: int('to_at').notNull(),
      count: int('count').notNull(),
      reason: text('reason').$type<Reason>().notNull(),
      createdAt: int('created_at').notNull(),
      chatId: text('chat_id'),
    },
    (t) => [d.uniqueIndex('gaps_from').on(t.taskId, t.fromAt)],
  );
}

/**
 * The reservation for its next attempt, in every budget that it spends from, and since when. It counts while the run is live, and is taken
 * back with its end: the indexes do not ask for the status, because they would be written anew each time that it changes.
 */
function reservedColumns({ text, int }: Dialect) {
  return {
    reservedAt: int('reserved_at'),
    reservedRequests: int('reserved_requests'),
    reservedTokens: int('reserved_tokens'),
    reservedMoney: int('reserved_money'),
    reservedCurrency: text('reserved_currency'),
  };
}

function timeColumns({ int }: Dialect) {
  return { createdAt: int('created_at').notNull(), startedAt: int('started_at'), finishedAt: int('finished_at') };
}

function triesColumns({ int }: Dialect) {
  return {
    attempts: int('attempts').notNull(),
    interruptions: int('interruptions').notNull(),
    /** Attempts at which something else stood in the way; the policy does not count them. */
    freeAttempts: int('free_attempts').notNull().default(0),
  };
}

/** The texts of its input stand by themselves, because people search them; the rest of it is JSON. */
function inputColumns({ text }: Dialect) {
  return {
    title: text('title').notNull().default(''),
    instructions: text('instructions').notNull().default(''),
    input: text('input').notNull(),
    /** The blob with the large parts of its input, which equal those of other runs; null where they stand in `input`. */
    snapshot: text('snapshot'),
  };
}

/** Held by a process that is gone: its boot id has this before it, and the row is free. */
export const lostMark = 'lost:';
/** Spelled without a range, which the order of letters of a database might turn around. */
export const isLost = isLostIn();

export function isLostIn(alias?: string): string {
  return `substr(${alias === undefined ? '' : `${alias}.`}boot_id, 1, ${lostMark.length}) = '${lostMark}'`;
}

export function runsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'runs',
    {
      id: text('id').primaryKey(),
      source: text('source').notNull(),
      idempotencyKey: text('idempotency_key').notNull(),
      payloadHash: text('payload_hash').notNull(),
      lane: text('lane'),
      exclusive: int('exclusive').notNull(),
      /** Ten minus the priority, so that one ascending index serves the most urgent first. */
      rank: int('rank').notNull(),
      taskId: text('task_id'),
      taskVersion: int('task_version'),
      /** The version of the context which it was given. */
      contextVersion: int('context_version'),
      occurrenceId: text('occurrence_id'),
      chatId: text('chat_id'),
      ownerId: text('owner_id').$type<Actor>().notNull(),
      /** Counts the runs of its task; null for what no task sends. */
      runNumber: int('run_number'),
      actionKind: text('action_kind'),
      status: text('status').$type<RunStatus>().notNull(),
      readyAt: int('ready_at').notNull(),
      fence: int('fence').notNull(),
      bootId: text('boot_id'),
      ...triesColumns(d),
      cancelRequestedAt: int('cancel_requested_at'),
      cancelReason: text('cancel_reason'),
      ...inputColumns(d),
      output: text('output'),
      /** JSON: since when an effect waits for somebody to allow it, or who did, before its attempt; null where none has to. */
      approval: text('approval'),
      /** The last words of a live run about how far it is. */
      progress: text('progress'),
      error: text('error'),
      errorCode: text('error_code').$type<RunErrorCode>(),
      ...timeColumns(d),
      /** The request that asked for it, as its client named it; null for what a schedule asked for. */
      traceId: text('trace_id'),
      ...reservedColumns(d),
    },
    (t) => [
      d.index('runs_reserved_chat').on(t.chatId).where(sql.raw('reserved_at is not null')),
      d.index('runs_reserved_owner').on(t.ownerId).where(sql.raw('reserved_at is not null')),
      d.uniqueIndex('runs_key').on(t.idempotencyKey, t.source),
      d.uniqueIndex('runs_exclusive').on(t.taskId).where(liveRuns('exclusive = 1')),
      d.index('runs_shared').on(t.taskId).where(liveRuns('exclusive = 0')),
      d.index('runs_lane').on(t.lane).where(liveRuns('lane is not null')),
      d.index('runs_ready').on(t.rank, t.readyAt).where(sql.raw(`status in ('queued', 'backoff')`)),
      d.index('runs_running').on(t.bootId).where(sql.raw(`status = 'running'`)),
      d
        .index('runs_lost')
        .on(t.id)
        .where(sql.raw(`status = 'running' and ${isLost}`)),
      d.check(
        'runs_status',
        sql.raw(`status in ('queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled')`),
      ),
      d.check('runs_boot', sql.raw(`status <> 'running' or boot_id is not null`)),
    ],
  );
}

export function attemptsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'attempts',
    {
      runId: text('run_id').notNull(),
      attempt: int('attempt').notNull(),
      status: text('status').$type<AttemptStatus>().notNull(),
      bootId: text('boot_id').notNull(),
      startedAt: int('started_at').notNull(),
      finishedAt: int('finished_at'),
      durationMs: int('duration_ms'),
      httpStatus: int('http_status'),
      error: text('error'),
      chatId: text('chat_id'),
      /** The job of the queue that brought it to its process; null where a process has found it by itself. */
      jobId: text('job_id'),
    },
    (t) => [
      d.primaryKey({ name: 'attempts_pk', columns: [t.runId, t.attempt] }),
      d.check(
        'attempts_status',
        sql.raw(`status in ('running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled')`),
      ),
      d.check('attempts_end', sql.raw(`(status = 'running') = (finished_at is null)`)),
    ],
  );
}

function deliveryColumns({ text, int }: Dialect) {
  return {
    /** Counts up with time, so that it is also the order of the parts of a thread. */
    id: text('id').primaryKey(),
    runId: text('run_id'),
    taskId: text('task_id'),
    chatId: text('chat_id').notNull(),
    /** Parts of one lane go out in order: of a task, its card, an approval, an answer, a notice or a thread. */
    lane: text('lane').notNull(),
    rank: int('rank').notNull(),
    kind: text('kind').$type<DeliveryKind>().notNull(),
    part: int('part').notNull(),
    status: text('status').$type<DeliveryStatus>().notNull(),
    readyAt: int('ready_at'),
    content: text('content').notNull(),
    unknownPolicy: text('unknown_policy').$type<UnknownPolicy>().notNull(),
    expiresAt: int('expires_at'),
    fence: int('fence').notNull(),
    bootId: text('boot_id'),
    sends: int('sends').notNull(),
    putOffs: int('put_offs').notNull(),
    sentAt: int('sent_at'),
    settles: int('settles').notNull(),
    evidence: text('evidence'),
    /** JSON: who let a result go that waited for approval, or discarded it. */
    decision: text('decision'),
    cause: text('cause'),
    error: text('error'),
    platformChatId: text('platform_chat_id'),
    messageThreadId: int('message_thread_id'),
    messageId: int('message_id'),
    createdAt: int('created_at').notNull(),
    deliveredAt: int('delivered_at'),
    /** `task`: the task's own topic, whichever that is by then. `thread`: `to_topic` of the chat, null for its base thread. */
    goesTo: text('goes_to').$type<'task' | 'thread'>().notNull().default('task'),
    toTopic: int('to_topic'),
    /** The message of ours that it changes or pins; null for a new one. */
    edits: int('edits'),
    /** Since when an earlier send of it may have arrived, until something has settled that. */
    doubtedAt: int('doubted_at'),
    /** 1: quiet hours do not apply to it. */
    urgent: int('urgent').notNull().default(0),
    /** 1: it comes without a sound. */
    silent: int('silent').notNull().default(0),
    /** The end of the quiet hours for which it waits, or has waited. */
    heldUntil: int('held_until'),
    /** JSON: the one person who sees it, where Telegram can do that. */
    onlyFor: text('only_for'),
    /** Messages of Telegram that it becomes: an album is several. */
    messages: int('messages').notNull().default(1),
  };
}

export function deliveriesTable(d: Dialect) {
  return d.table('deliveries', deliveryColumns(d), (t) => [
    d.uniqueIndex('deliveries_part').on(t.runId, t.kind, t.part),
    d.index('deliveries_ready').on(t.chatId, t.rank, t.id).where(sql.raw(`status in ('pending', 'blocked')`)),
    d.index('deliveries_waiting').on(t.readyAt).where(sql.raw(`status in ('pending', 'blocked')`)),
    d.index('deliveries_unknown').on(t.readyAt).where(sql.raw(`status = 'unknown'`)),
    d.index('deliveries_sending').on(t.bootId).where(sql.raw(`status = 'sending'`)),
    ...d.onPostgres(() =>
      d
        .index('deliveries_in_hand')
        .on(t.chatId)
        .where(sql.raw(`boot_id is not null and status in ('pending', 'blocked', 'sending', 'unknown')`)),
    ),
    d
      .index('deliveries_lost')
      .on(t.id)
      .where(sql.raw(`status = 'sending' and ${isLost}`)),
    d
      .index('deliveries_open')
      .on(t.lane, t.id)
      .where(sql.raw(`status in ('pending', 'blocked', 'sending', 'unknown')`)),
    d.index('deliveries_message').on(t.platformChatId, t.messageId).where(sql.raw('message_id is not null')),
    d.index('deliveries_held').on(t.chatId, t.heldUntil).where(sql.raw('held_until is not null')),
    d.index('deliveries_sent').on(t.sentAt).where(sql.raw('sent_at is not null')),
    d.check(
      'deliveries_status',
      sql.raw(`status in ('pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed')`),
    ),
    // "Delivered" means delivered: no path can set it without the id that Telegram returned.
    d.check('deliveries_proof', sql.raw(`status <> 'delivered' or message_id is not null`)),
  ]);
}

/** Messages of an album, in the order in which they stand; the first of them is that of its delivery. */
export function albumMessagesTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'album_messages',
    {
      deliveryId: text('delivery_id').notNull(),
      position: int('position').notNull(),
      chatId: text('chat_id').notNull(),
      platformChatId: text('platform_chat_id').notNull(),
      messageId: int('message_id').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'album_messages_pk', columns: [t.deliveryId, t.position] }),
      d.index('album_messages_message').on(t.platformChatId, t.messageId),
    ],
  );
}

/** Confirmations, due or given: one row for each occurrence that anybody said Done to, or must. */
export function acksTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'acks',
    {
      occurrenceId: text('occurrence_id').primaryKey(),
      taskId: text('task_id').notNull(),
      chatId: text('chat_id').notNull(),
      runId: text('run_id'),
      status: text('status').$type<AckStatus>().notNull(),
      /** The policy as it was when the run ended. */
      nagEveryMs: int('nag_every_ms'),
      nagLimit: int('nag_limit').notNull(),
      nags: int('nags').notNull(),
      /** When somebody is reminded next; null when nobody is. */
      nagAt: int('nag_at'),
      /** The delivery of the last reminder, which the next one takes the place of. */
      nagDeliveryId: text('nag_delivery_id'),
      doneAt: int('done_at'),
      doneBy: text('done_by').$type<Actor>(),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
    },
    (t) => [
      d.index('acks_due').on(t.nagAt).where(sql.raw(`status = 'open' and nag_at is not null`)),
      d.index('acks_open').on(t.taskId).where(sql.raw(`status = 'open'`)),
      d.check('acks_status', sql.raw(`status in ('open', 'done', 'given_up', 'superseded', 'dropped')`)),
      d.check('acks_done', sql.raw(`(status = 'done') = (done_at is not null)`)),
    ],
  );
}

/**
 * Messages of ours that tell how something stands, and are drawn anew when that has changed: the cards of a task, and words
 * about what is to be done. The id is the lane in which a message is drawn anew.
 */
export function standingTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'standing',
    {
      id: text('id').primaryKey(),
      /** `card`, `started`, or the view of a word. */
      kind: text('kind').notNull(),
      /** Empty where it is about the whole chat. */
      taskId: text('task_id').notNull(),
      chatId: text('chat_id').notNull(),
      /** The row of the message. */
      deliveryId: text('delivery_id').notNull(),
      /** When it is to be drawn anew; null while nothing has changed. */
      dueAt: int('due_at'),
      drawnAt: int('drawn_at'),
      /** The print of what it shows, by which it is known that a drawing would look the same; null where it is not known. */
      print: text('print'),
      createdAt: int('created_at').notNull(),
    },
    (t) => [
      d.index('standing_due').on(t.dueAt, t.chatId).where(sql.raw('due_at is not null')),
      d.index('standing_task').on(t.taskId),
    ],
  );
}
