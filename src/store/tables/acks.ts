import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

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
