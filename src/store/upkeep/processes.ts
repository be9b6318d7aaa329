import type { KindChanged, KindDeed, NewProcess, Renewal, Renewed, Rescued } from '../../app/ports/processes.ts';
import type { KindPause, ProcessView } from '../../domain/processes/process.ts';
import type { Script } from '../engine/engine.ts';
import { columns, mapped, number, pick, type Answer } from '../engine/fields.ts';
import { allOf, int, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insert, insertReturning, one, returning, select, update, updateReturning } from '../engine/statements.ts';
import { recordOther } from '../records/journal.ts';
import { lostMark } from '../tables/work.ts';
import { beside, databaseNow, dueFields, heard, isWorker, pausedField, pollingFields } from './due.ts';

/**
 * Processes and their leases. What a process holds carries its id; a row that belongs to none that lives is marked as lost,
 * and whoever claims next takes it up. The instants are those of the database where several processes share it, so the
 * clocks of their hosts decide nothing.
 */
export const processStore = { enrol, rescueLeft, retire, pauseKind, resumeKind };
export const processReads = { renewLease, listProcesses, lastWorker, databaseTime, pausedKinds };

const nowOr = (at: number | null): Sql => sql`coalesce(${int(at)}, ${databaseNow})`;

function* enrol({ at, leaseMs, kinds, ...self }: NewProcess, alone: boolean): Script<Renewed> {
  // Leases that are over prove nothing while none holds: the database may have been away, and nobody could renew.
  if (!alone && (yield* one(select(anyFields)`from processes where ${isHolding} and id <> ${self.id} limit 1`)))
    yield* endOverdue(self.id);
  const now = at ?? (yield* databaseTime());
  const seen = { startedAt: now, seenAt: now, heldSince: now, leaseUntil: now + leaseMs };
  // The answer to an earlier try may have been lost.
  yield* insert(
    'processes',
    { ...self, kinds: kinds.join(), ...seen, endedAt: null },
    raw('on conflict (id) do nothing'),
  );
  if (alone) yield* update('processes', { endedAt: now }, sql`ended_at is null and id <> ${self.id}`);
  yield* letGoOfTheGone();
  const [standing] = yield* all(select(standingFields)`from processes where id = ${self.id}`);
  return standingOf(standing, now);
}

const anyFields = pick(columns.processes, 'id');
const isHolding = sql`ended_at is null and lease_until >= ${databaseNow}`;

const nowFields = { now: number(databaseNow) };

function* databaseTime(): Script<number> {
  return (yield* one(select(nowFields)``))?.now ?? 0;
}

/** Rows that no living process holds, and that are not marked yet. */
const isOrphan = sql`substr(boot_id, 1, ${raw(String(lostMark.length))}) <> ${raw(`'${lostMark}'`)}
  and not exists (select 1 from processes p where p.id = boot_id and p.ended_at is null)`;

const standingFields = {
  ...pick(columns.processes, 'seenAt', 'heldSince'),
  /** The first among those that work is the keeper, until it has ended: while the database is away, nobody's turn is over. */
  older: number(sql`(select count(*) from processes o where o.ended_at is null and o.${raw(isWorker)}
    and (o.held_since < processes.held_since or (o.held_since = processes.held_since and o.id < processes.id)))`),
  works: number(sql`case when ${raw(isWorker)} then 1 else 0 end`),
  gone: number(sql`(select count(*) from processes g where g.ended_at is null and g.lease_until < ${databaseNow}
      and g.id <> processes.id)
    + (select count(*) from runs where status = 'running' and ${isOrphan})
    + (select count(*) from deliveries where status = 'sending' and ${isOrphan})`),
};

function standingOf(standing: Answer<typeof standingFields> | undefined, at: number): Renewed {
  const { heldSince = at, older = 0, works = 0, gone = 0 } = standing ?? {};
  return { at, heldSince, isKeeper: works === 1 && older === 0, isAnyGone: gone > 0 };
}

const renewalFields = {
  standing: standingFields,
  due: dueFields,
  pausedKinds: pausedField,
  polling: pollingFields,
  heard,
};

/** Renews by one statement without a transaction around it, because every process does so again and again, also when nothing else is done. */
function* renewLease(id: string, leaseMs: number, signs: boolean): Script<Renewal | null> {
  const change = sql`${beside(id, signs)} update processes set seen_at = ${databaseNow}, lease_until = ${databaseNow} + ${leaseMs},
    held_since = case when ended_at is null then held_since else ${databaseNow} end, ended_at = null
    where id = (select id from own)`;
  const renewed = yield* one(returning(renewalFields, change));
  if (renewed === undefined) return null;
  const { standing, due, pausedKinds: paused, polling } = renewed;
  const { poller, pollsUntil } = polling;
  return {
    ...standingOf(standing, standing.seenAt),
    due: dueNames.filter((name) => due[name] > 0),
    pausedKinds: paused,
    polling: poller === null || pollsUntil === null ? null : { holder: poller, until: pollsUntil },
  };
}

const dueNames = Object.keys(dueFields) as (keyof typeof dueFields)[];

function* rescueLeft(id: string): Script<Rescued> {
  const ended = yield* endOverdue(id);
  return { ended, ...(yield* letGoOfTheGone()) };
}

function* endOverdue(id: string): Script<string[]> {
  const isOver = sql`ended_at is null and lease_until < ${databaseNow} and id <> ${id}`;
  const ended = yield* updateReturning('processes', { endedAt: databaseNow }, isOver, pick(columns.processes, 'id'));
  return ended.map((one) => one.id);
}

const marked = raw(`'${lostMark}' || boot_id`);

function* letGoOfTheGone(): Script<Omit<Rescued, 'ended'>> {
  const runIds = pick(columns.runs, 'id');
  const runs = yield* updateReturning('runs', { bootId: marked }, sql`status = 'running' and ${isOrphan}`, runIds);
  const partIds = pick(columns.deliveries, 'id');
  const isLeft = sql`status = 'sending' and ${isOrphan}`;
  const parts = yield* updateReturning('deliveries', { bootId: marked }, isLeft, partIds);
  return { runs: runs.length, parts: parts.length };
}

function* retire(id: string, at: number | null): Script<void> {
  yield* update('processes', { endedAt: nowOr(at), seenAt: nowOr(at) }, sql`id = ${id} and ended_at is null`);
  yield* letGoOfTheGone();
}

const lastFields = {
  seenAt: columns.processes.seenAt,
  agoMs: number(
    sql`case when ended_at is null and lease_until >= ${databaseNow} then 0 else ${databaseNow} - seen_at end`,
  ),
};

function* lastWorker(): Script<Answer<typeof lastFields> | null> {
  const last = select(
    lastFields,
  )`from processes where ${raw(isWorker)} order by lease_until desc, seen_at desc limit 1`;
  return (yield* one(last)) ?? null;
}

const viewFields = {
  ...pick(columns.processes, 'id', 'role', 'release', 'host', 'pid', 'startedAt', 'seenAt', 'leaseUntil', 'endedAt'),
  connections: columns.processes.connections,
  kinds: mapped(columns.processes.kinds, (kinds) => kinds.split(',').filter((kind) => kind !== '')),
};

function* listProcesses(since: number | null): Script<ProcessView[]> {
  const asked = allOf(since === null ? sql`ended_at is null` : sql`(ended_at is null or ended_at > ${since})`);
  return yield* all(select(viewFields)`from processes where ${asked} order by started_at, id`);
}

/* ---- kinds of actions that are paused for all processes ---- */

const pauseFields = pick(columns.pausedKinds, 'kind', 'since', 'by');

function* pausedKinds(): Script<KindPause[]> {
  return yield* all(select(pauseFields)`from paused_kinds order by since, kind`);
}

function* pauseKind({ kind, by, at, traceId }: KindDeed): Script<KindChanged> {
  const nobodyDid = raw('on conflict (kind) do nothing');
  const pause = yield* insertReturning('pausedKinds', { kind, since: at, by }, pauseFields, nobodyDid);
  if (pause === undefined) {
    const known = yield* one(select(pauseFields)`from paused_kinds where kind = ${kind}`);
    return { pause: known ?? null, entryId: null };
  }
  const deed = { at, actor: by, chatId: null, traceId };
  const entryId = yield* recordOther({ ...deed, verb: 'kind_pause', kind: 'kind.pause', after: { kind } });
  return { pause, entryId };
}

function* resumeKind({ kind, by, at, traceId }: KindDeed): Script<KindChanged> {
  const paused = yield* one(returning(pauseFields, sql`delete from paused_kinds where kind = ${kind}`));
  if (paused === undefined) return { pause: null, entryId: null };
  const before = { kind, since: paused.since, by: paused.by };
  const deed = { at, actor: by, chatId: null, traceId };
  const entryId = yield* recordOther({ ...deed, verb: 'kind_resume', kind: 'kind.resume', before });
  return { pause: null, entryId };
}
