import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

function deliveryColumns({ text, int }: Dialect) {
  return {
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
    put_offs: int('put_offs').notNull(),
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
    /** `task`: the task's own topic, whichever that is by then. `thread`: `to_topic` of the chat, null for its base thread. */
    goes_to: text('goes_to').notNull().default('task'),
    to_topic: int('to_topic'),
    /** The message of ours that it changes or pins; null for a new one. */
    edits: int('edits'),
    /** Since when an earlier send of it may have arrived, until something has settled that. */
    doubted_at: int('doubted_at'),
    /** 1: quiet hours do not apply to it. */
    urgent: int('urgent').notNull().default(0),
    /** 1: it comes without a sound. */
    silent: int('silent').notNull().default(0),
    /** The end of the quiet hours for which it waits, or has waited. */
    held_until: int('held_until'),
    /** JSON: the one person who sees it, where the platform can do that. */
    only_for: text('only_for'),
  };
}

export function deliveriesTable(d: Dialect) {
  return d.table('deliveries', deliveryColumns(d), (t) => [
    d.uniqueIndex('deliveries_part').on(t.run_id, t.kind, t.part),
    d.index('deliveries_ready').on(t.chat_id, t.rank, t.id).where(sql.raw(`status in ('pending', 'blocked')`)),
    d.index('deliveries_waiting').on(t.ready_at).where(sql.raw(`status in ('pending', 'blocked')`)),
    d.index('deliveries_unknown').on(t.ready_at).where(sql.raw(`status = 'unknown'`)),
    d.index('deliveries_sending').on(t.boot_id).where(sql.raw(`status = 'sending'`)),
    d
      .index('deliveries_open')
      .on(t.lane, t.id)
      .where(sql.raw(`status in ('pending', 'blocked', 'sending', 'unknown')`)),
    d.index('deliveries_message').on(t.platform_chat_id, t.message_id).where(sql.raw('message_id is not null')),
    d.index('deliveries_held').on(t.chat_id, t.held_until).where(sql.raw('held_until is not null')),
    d.index('deliveries_sent').on(t.sent_at).where(sql.raw('sent_at is not null')),
    d.check(
      'deliveries_status',
      sql.raw(`status in ('pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed')`),
    ),
    // "Delivered" means delivered: no path can set it without the id that the platform returned.
    d.check('deliveries_proof', sql.raw(`status <> 'delivered' or message_id is not null`)),
  ]);
}

/** What somebody has to confirm, or has confirmed: one row for each occurrence that anybody said Done to, or must. */
export function acksTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'acks',
    {
      occurrence_id: text('occurrence_id').primaryKey(),
      task_id: text('task_id').notNull(),
      chat_id: text('chat_id').notNull(),
      run_id: text('run_id'),
      status: text('status').notNull(),
      /** The policy as it was when the run ended. */
      nag_every_ms: int('nag_every_ms'),
      nag_limit: int('nag_limit').notNull(),
      nags: int('nags').notNull(),
      /** When somebody is reminded next; null when nobody is. */
      nag_at: int('nag_at'),
      /** The delivery of the last reminder, which the next one takes the place of. */
      nag_delivery_id: text('nag_delivery_id'),
      done_at: int('done_at'),
      done_by: text('done_by'),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    (t) => [
      d.index('acks_due').on(t.nag_at).where(sql.raw(`status = 'open' and nag_at is not null`)),
      d.index('acks_open').on(t.task_id).where(sql.raw(`status = 'open'`)),
      d.check('acks_status', sql.raw(`status in ('open', 'done', 'given_up', 'superseded', 'dropped')`)),
      d.check('acks_done', sql.raw(`(status = 'done') = (done_at is not null)`)),
    ],
  );
}
