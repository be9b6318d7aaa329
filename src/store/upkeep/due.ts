import { pollingLeaseMs, toldLateMs } from '../../domain/processes/limits.ts';
import { scheduleLimits } from '../../domain/schedule/limits.ts';
import { columns, like, maybe, number, numberOrNull } from '../engine/fields.ts';
import { differing, joined, raw, sql, type Sql } from '../engine/sql.ts';
import { isLostIn } from '../tables/work.ts';

/**
 * Questions beside each renewal, so that a process with nothing to do asks no others: whether something has become due of
 * which no loop was told, or whose loop has died, and who polls. All of it is found by indexes of what is open.
 */

/** The clock of the database. */
export const databaseNow = differing({
  sqlite: `cast(unixepoch('subsec') * 1000 as integer)`,
  postgres: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
});

/** Updates and rows that are as old as this are nobody's news any more: whoever was to take them up has died, or was not told. */
const late = sql`${databaseNow} - ${raw(String(toldLateMs))}`;

const liveRun = (exclusive: 0 | 1) => `exists (select 1 from runs e where e.task_id = o.task_id
  and e.exclusive = ${exclusive} and e.status in ('queued', 'running', 'backoff', 'waiting'))`;

const isAny = (...sources: readonly Sql[]): Sql =>
  joined(
    sources.map((source) => sql`exists (select 1 from ${source})`),
    raw(' or '),
  );

const flag = (condition: Sql) => number(sql`case when ${condition} then 1 else 0 end`);

export const isWorker = `role in ('all', 'worker')`;
const ofWorker = (condition: Sql) => flag(sql`processes.${raw(isWorker)} and (${condition})`);
const ofDeliverer = (condition: Sql) => flag(sql`processes.role <> 'api' and (${condition})`);

/** The loops that are to look. */
export const dueFields = {
  scheduler: ofWorker(
    isAny(
      sql`tasks where next_at <= ${databaseNow}`,
      raw(`tasks where next_at > ${scheduleLimits.lastInstant}`),
      sql`tasks where resume_at <= ${databaseNow}`,
      sql`occurrences where status = 'pending' and decide_by is not null and decide_by <= ${databaseNow}`,
      sql`occurrences o join tasks t on t.id = o.task_id
        where o.status = 'pending' and o.decide_by is null and (o.source <> 'snooze' or o.slot_at <= ${databaseNow})
          and (t.beside = 1 or (not ${raw(liveRun(1))} and not ${raw(liveRun(0))}))`,
    ),
  ),
  runner: ofWorker(
    isAny(
      raw(`runs where status = 'running' and ${isLostIn()}`),
      raw(`runs where status = 'running' and boot_id = processes.id and cancel_requested_at is not null`),
      sql`runs where status in ('queued', 'backoff') and ready_at <= ${late}
        and not exists (select 1 from paused_kinds k where k.kind = runs.action_kind)`,
    ),
  ),
  deliverer: ofDeliverer(
    isAny(
      raw(`deliveries where status = 'sending' and ${isLostIn()}`),
      sql`deliveries where status in ('pending', 'blocked') and ready_at <= ${late}`,
      sql`deliveries where status = 'unknown' and ready_at <= ${late}`,
      sql`standing where due_at is not null and due_at <= ${late}`,
    ),
  ),
  acks: ofWorker(isAny(sql`acks where status = 'open' and nag_at is not null and nag_at <= ${databaseNow}`)),
  inbox: flag(
    sql`processes.role in ('all', 'bot') and exists (select 1 from inbox where status = 'received' and received_at <= ${late}
      and (boot_id is null or not exists (select 1 from processes p where p.id = boot_id and p.ended_at is null)))`,
  ),
};

/** Kinds of actions that are paused. */
export const pausedField = like(
  columns.processes.kinds,
  differing({
    sqlite: `(select coalesce(group_concat(kind, ','), '') from (select kind from paused_kinds order by kind))`,
    postgres: `(select coalesce(string_agg(kind, ',' order by kind collate "C"), '') from paused_kinds)`,
  }),
);

const polling = `kv where scope = 'lease' and key = 'polling'
  and exists (select 1 from processes p where p.id = kv.value and p.ended_at is null)`;

/** The process that polls, and until when. */
export const pollingFields = {
  poller: maybe(like(columns.kv.value, raw(`(select value from ${polling})`))),
  pollsUntil: numberOrNull(
    differing({
      sqlite: `(select expires_at from ${polling})`,
      postgres: `coalesce((select expires_at from kept), (select expires_at from ${polling}))`,
    }),
  ),
};

const nowText = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/**
 * Leases and signs of life that the same statement renews on Postgres, where processes share it: the lease of the polling for whoever has it, the
 * sign of life of the one that keeps the place in order, and a word on the channel, by which each of them knows that it hears.
 */
export const beside = (id: string, signs: boolean): Sql =>
  sql`with own(id, signs) as (select ${id}, ${signs ? 1 : 0})${differing({
    sqlite: '',
    postgres: `, kept as (update kv set expires_at = ${nowText} + ${pollingLeaseMs}, updated_at = ${nowText} from own
      where scope = 'lease' and key = 'polling' and value = own.id and expires_at > ${nowText} returning expires_at),
    signed as (update kv set value = (${nowText})::text, updated_at = ${nowText} from own
      where scope = 'system' and key = 'alive_at' and own.signs = 1)`,
  })}`;

/** Heard by everybody, as a word without hints. */
export const heard = number(differing({ sqlite: '0', postgres: `(select 0 from pg_notify('cronogram', '{}'))` }));
