import type { Downtime, DowntimeCounts, Cost, OpenDowntime, Opened, ToldDowntime } from '../../app/ports/upkeep.ts';
import type { Span } from '../../app/ports/why.ts';
import { clockStepMs, signOfLifeMs } from '../../domain/limits.ts';
import type { DowntimeCause } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, mapped, number, pick, type Field } from '../engine/fields.ts';
import { reach } from '../engine/reach.ts';
import { limit as limited, raw, sql } from '../engine/sql.ts';
import { all, insert, one, select, update, updateReturning } from '../engine/statements.ts';
import { addMessages } from '../outbox/new-parts.ts';
import { readFacts } from '../tasks/codec.ts';
import { aliveAt, markAlive } from '../upkeep/notes.ts';
import { setBack } from '../upkeep/set-backs.ts';
import { tellEvents } from './journal.ts';

/** The times in which nothing could be done. */
export const downtimeStore = {
  openDowntime,
  markAlive,
  lastDowntime,
  isDecided,
  costOf,
  reportDowntime,
  listDowntimes,
};

const { downtimes } = columns;
const openFields = { id: downtimes.id, from: downtimes.fromAt, to: downtimes.toAt, cause: downtimes.cause };
const isOpen = raw('report is null');

/** One transaction: a start that is killed right after it has given its own sign of life, and the next one counts from there. */
function* openDowntime(id: string, now: number, cause: DowntimeCause | null): Script<Opened> {
  const last = yield* aliveAt();
  yield* markAlive(now);
  if (last === null || !Number.isSafeInteger(last)) return { is: 'first' };
  if (last > now + clockStepMs) {
    // The clock was set back by at least so much: how long no process was there cannot be told.
    yield* setBack({ id, byMs: now - last, twice: { from: now, to: last + signOfLifeMs } });
    return { is: 'clockBack', aliveAt: last };
  }
  if (last > now) return { is: 'first' };
  const [extended] = yield* updateReturning('downtimes', { toAt: now }, isOpen, openFields);
  if (extended !== undefined) return { is: 'opened', downtime: extended };
  yield* insert('downtimes', { id, fromAt: last, toAt: now, cause });
  return { is: 'opened', downtime: { id, from: last, to: now, cause } };
}

function* lastDowntime(): Script<OpenDowntime | null> {
  return (yield* one(select(openFields)`from downtimes where ${isOpen}`)) ?? null;
}

const taskId = pick(columns.tasks, 'id');

function* isDecided(upTo: number): Script<boolean> {
  const due = yield* one(select(taskId)`from tasks where next_at <= ${upTo} limit 1`);
  if (due !== undefined) return false;
  // A pause that ended meanwhile opens slots that are still to be looked at.
  return (yield* one(select(taskId)`from tasks where resume_at <= ${upTo} and state = 'paused' limit 1`)) === undefined;
}

/** A slot that came right before the last sign of life may not have been taken up any more. */
const lastMomentsMs = 2 * signOfLifeMs;
/** As in the truth about a slot: what comes within a second is on time. */
const onTimeMs = 1000;

const c = columnsOf('chats', 'c');
const t = columnsOf('tasks', 't');

const costFields = {
  thread: { provider: c.provider, address: c.address },
  isMute: mapped(c.state, (state) => state === 'refused' || state === 'gone'),
  ...pick(t, 'number', 'title'),
  became: { sql: raw('cost.became'), read: null } as Field<Cost['became']>,
  count: number(raw('cost.count')),
};

/**
 * Ids count up with time, so whatever was made of that time since the start has an id after that of the downtime. A question
 * stays one when it has been answered meanwhile: it is what the downtime made of the slot. A task that is gone has nobody
 * left to tell.
 */
function* costOf({ id, from, to }: Pick<OpenDowntime, 'id' | 'from' | 'to'>): Script<Cost[]> {
  const first = from - lastMomentsMs;
  const found = yield* all(
    select(costFields)`from (select task_id, became, sum(count) as count from (
        select task_id, 1 as count,
          case when decide_by is not null then 'asked' when status in ('missed', 'skipped') then status else 'late' end as became
        from occurrences where id > ${id} and slot_at >= ${first} and slot_at < ${to}
          and (decide_by is not null or status in ('missed', 'skipped') or late_ms >= ${onTimeMs})
        union all
        select task_id, count, case when reason = 'paused' then 'skipped' else 'missed' end as became
        from gaps where id > ${id} and to_at >= ${first} and from_at < ${to}
      ) made group by task_id, became) cost join tasks t on t.id = cost.task_id join chats c on c.id = t.chat_id`,
  );
  return found.map((cost) => ({ ...cost, thread: { ...cost.thread, topic: null } }));
}

function* reportDowntime({ id, counts, at, messages }: ToldDowntime): Script<void> {
  const report = { report: JSON.stringify({ counts }), reportedAt: at };
  if (!(yield* update('downtimes', report, sql`id = ${id} and ${isOpen}`))) return;
  yield* tellEvents([{ kind: 'downtime.reported', at, taskId: null, ref: id, data: counts }]);
  yield* addMessages(messages, at);
}

const shownFields = {
  ...openFields,
  // Written by us alone; a report that cannot be read counts as one that was never told.
  counts: mapped(downtimes.report, (report) => (readFacts(report)?.['counts'] as DowntimeCounts | undefined) ?? null),
  reportedAt: downtimes.reportedAt,
};

/** A question about a time before more starts than these is answered by the slots alone. */
const downtimesReadMax = 500;

const unwritableFields = { from: downtimes.fromAt, to: downtimes.toAt };

/** Times in which nothing could be written, among the last downtimes. */
export function* unwritable(): Script<Span[]> {
  return yield* all(
    select(
      unwritableFields,
    )`from (select from_at, to_at, cause from downtimes order by id desc ${limited(downtimesReadMax)}) latest
      where cause = 'database' order by from_at`,
  );
}

function* listDowntimes(limit: number): Script<Downtime[]> {
  const found = yield* all(select(shownFields)`from downtimes order by id desc ${limited(limit)}`);
  // The cost is that of all chats together.
  return (yield* reach()) === null ? found : found.map((one) => ({ ...one, counts: null }));
}
