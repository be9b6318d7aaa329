import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

/** State of hosts outside that several processes call. One that is alone keeps it in memory. */
export function hostsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'hosts',
    {
      host: text('host').primaryKey(),
      /** Instants at which calls began lately, each as the milliseconds since the one before it. */
      began: text('began').notNull(),
      /** Ends of calls alike, with a sign behind those that went badly. */
      ends: text('ends').notNull(),
      heldUntil: int('held_until').notNull(),
      breaker: text('breaker').$type<'closed' | 'open' | 'halfOpen'>().notNull(),
      openUntil: int('open_until').notNull(),
      times: int('times').notNull(),
      /** The task that had its turn last. */
      lastTurn: text('last_turn').notNull(),
      /** Nothing of it matters from then on, unless it is called. */
      forgettableFrom: int('forgettable_from').notNull(),
    },
    (t) => [d.index('hosts_forgettable').on(t.forgettableFrom)],
  );
}

/** Runs that wait for a place at a host, or have one: a run may have one at its target and one where it asks for a token. It is kept for a while for a run that was woken, and taken by an attempt. */
export function hostCallsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'host_calls',
    {
      host: text('host').notNull(),
      runId: text('run_id').notNull(),
      /** Whose turn it is: its task, or the run where it has none. */
      turn: text('turn').notNull(),
      status: text('status').$type<'waiting' | 'kept' | 'taken'>().notNull(),
      /** The attempt and its process; -1 and null of a run that waits for its attempt. */
      fence: int('fence').notNull(),
      bootId: text('boot_id'),
      keptAt: int('kept_at').notNull(),
    },
    (t) => [
      d.primaryKey({ columns: [t.host, t.runId] }),
      d.index('host_calls_waiting').on(t.host, t.turn, t.runId).where(sql.raw(`status = 'waiting'`)),
      d.index('host_calls_held').on(t.host).where(sql.raw(`status <> 'waiting'`)),
    ],
  );
}
