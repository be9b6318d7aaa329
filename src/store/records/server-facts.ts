import type { ServerFacts } from '../../app/ports/chat-facts.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';

/** How the whole server stands. */
export function* serverFacts(dialect: Engine['dialect'], now: number): Script<ServerFacts> {
  const states = yield* rows<{ state: string; count: number }>(
    `select state, count(*) as count from tasks where state <> 'deleted' group by state`,
  );
  const due = yield* row<{ count: number; since: number | null }>(
    `select count(*) as count, min(next_at) as since from tasks where next_at is not null and next_at <= ?i`,
    now,
  );
  const next = yield* row<{ at: number | null }>(`select min(next_at) as at from tasks where next_at is not null`);
  const oldest = yield* row<{ created_at: number }>(`select created_at from runs order by id limit 1`);
  const queued = yield* counted(`select count(*) as count from runs where status in ('queued', 'backoff')`);
  const running = yield* counted(`select count(*) as count from runs where status = 'running'`);
  const open = yield* rows<{ status: string; count: number }>(
    `select status, count(*) as count from deliveries where status in ('pending', 'blocked') group by status`,
  );
  const unknown = yield* counted(`select count(*) as count from deliveries where status = 'unknown'`);
  const chats = yield* counted(
    `select count(*) as count from chats where provider = 'telegram' and state = 'approved'`,
  );
  const inStatus = (status: string) => Number(open.find((one) => one.status === status)?.count ?? 0);
  const inState = (state: string) => Number(states.find((one) => one.state === state)?.count ?? 0);
  return {
    tasks: states.reduce((sum, { count }) => sum + Number(count), 0),
    active: inState('active'),
    paused: inState('paused'),
    completed: inState('completed'),
    due: Number(due?.count ?? 0),
    dueSince: due?.since ?? null,
    nextDueAt: next?.at ?? null,
    running,
    queued,
    pending: inStatus('pending'),
    blocked: inStatus('blocked'),
    unknown,
    chats,
    databaseBytes: yield* databaseBytes(dialect),
    oldestRunAt: oldest?.created_at ?? null,
  };
}

function* counted(text: string): Script<number> {
  return Number((yield* row<{ count: number }>(text))?.count ?? 0);
}

export function* databaseBytes(dialect: Engine['dialect']): Script<number> {
  const size = yield* row<{ bytes: number }>(
    dialect === 'sqlite'
      ? `select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : `select pg_database_size(current_database()) as bytes`,
  );
  return Number(size?.bytes ?? 0);
}
