import type {
  Cost,
  Downtime,
  DowntimeCounts,
  DowntimeStore,
  OpenDowntime,
  Opened,
  ToldDowntime,
} from '../../app/ports/why.ts';
import { signOfLifeMs } from '../../domain/limits.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { insertMessages } from '../outbox/new-parts.ts';
import { readFacts } from '../tasks/codec.ts';
import { noteSetBack, readNote, writeNote } from '../upkeep/notes.ts';
import { tellEvents } from './journal.ts';

const aliveNote = 'alive_at';

/** The times in which nobody was there. */
export function downtimeStore(engine: Engine): DowntimeStore {
  return {
    openDowntime: (id, now) => engine.transact(() => openDowntime(id, now)),
    markAlive: (now) => engine.transact(() => writeNote(aliveNote, String(now), now)),
    lastDowntime: () => engine.transact(lastDowntime),
    isDecided: (upTo) => engine.transact(() => isDecided(upTo)),
    costOf: (downtime) => engine.transact(() => costOf(downtime)),
    reportDowntime: (told) => engine.transact(() => reportDowntime(told)),
    listDowntimes: (limit) => engine.transact(() => listDowntimes(limit)),
  };
}

/** One transaction: a start that is killed right after it has given its own sign of life, and the next one counts from there. */
function* openDowntime(id: string, now: number): Script<Opened> {
  const note = yield* readNote(aliveNote);
  const aliveAt = note === null ? null : Number(note);
  yield* writeNote(aliveNote, String(now), now);
  if (aliveAt === null || !Number.isSafeInteger(aliveAt)) return { is: 'first' };
  if (aliveAt > now) {
    yield* noteSetBack({ from: now, to: aliveAt + signOfLifeMs });
    return { is: 'clockBack', aliveAt };
  }
  const [extended] = yield* rows<{ id: string; from_at: number }>(
    `update downtimes set to_at = ?i where report is null returning id, from_at`,
    now,
  );
  if (extended !== undefined) return { is: 'opened', downtime: { id: extended.id, from: extended.from_at, to: now } };
  yield* rows(`insert into downtimes (id, from_at, to_at) values (?t, ?i, ?i)`, id, aliveAt, now);
  return { is: 'opened', downtime: { id, from: aliveAt, to: now } };
}

interface DowntimeColumns {
  readonly id: string;
  readonly from_at: number;
  readonly to_at: number;
  readonly report: string | null;
  readonly reported_at: number | null;
}

function* lastDowntime(): Script<OpenDowntime | null> {
  const found = yield* row<DowntimeColumns>(`select id, from_at, to_at from downtimes where report is null`);
  return found === undefined ? null : { id: found.id, from: found.from_at, to: found.to_at };
}

function* isDecided(upTo: number): Script<boolean> {
  const due = yield* row(`select id from tasks where next_at <= ?i limit 1`, upTo);
  if (due !== undefined) return false;
  // A pause that ended meanwhile opens slots that are still to be looked at.
  return (yield* row(`select id from tasks where resume_at <= ?i and state = 'paused' limit 1`, upTo)) === undefined;
}

/** A slot that came right before the last sign of life may not have been taken up any more. */
const lastMomentsMs = 2 * signOfLifeMs;
/** As in the truth about a slot: what comes within a second is on time. */
const onTimeMs = 1000;

/**
 * Ids count up with time, so whatever was made of that time since the start has an id after that of the downtime. A question
 * stays one when it has been answered meanwhile: it is what the downtime made of the slot.
 */
const madeSince = `select task_id, 1 as count,
    case when decide_by is not null then 'asked' when status in ('missed', 'skipped') then status else 'late' end as became
  from occurrences where id > ?t and slot_at >= ?i and slot_at < ?i
    and (decide_by is not null or status in ('missed', 'skipped') or late_ms >= ${onTimeMs})
  union all
  select task_id, count, case when reason = 'paused' then 'skipped' else 'missed' end as became
  from gaps where id > ?t and to_at >= ?i and from_at < ?i`;

interface CostColumns {
  readonly number: number;
  readonly title: string;
  readonly provider: string;
  readonly address: string;
  readonly state: string;
  readonly became: Cost['became'];
  readonly count: number;
}

function* costOf({ id, from, to }: OpenDowntime): Script<Cost[]> {
  const window = [id, from - lastMomentsMs, to];
  // A task that is gone has nobody left to tell.
  const found = yield* rows<CostColumns>(
    `select t.number, t.title, c.provider, c.address, c.state, cost.became, cost.count
     from (select task_id, became, cast(sum(count) as bigint) as count from (${madeSince}) made group by task_id, became) cost
       join tasks t on t.id = cost.task_id join chats c on c.id = t.chat_id`,
    ...window,
    ...window,
  );
  return found.map(({ number, title, provider, address, state, became, count }) => ({
    thread: { provider, address, topic: null },
    isMute: state === 'refused' || state === 'gone',
    number,
    title,
    became,
    count,
  }));
}

function* reportDowntime({ id, counts, at, messages }: ToldDowntime): Script<void> {
  const told = yield* row(
    `update downtimes set report = ?t, reported_at = ?i where id = ?t and report is null returning id`,
    JSON.stringify({ counts }),
    at,
    id,
  );
  if (told === undefined) return;
  yield* tellEvents([{ kind: 'downtime.reported', at, taskId: null, ref: id, data: counts }]);
  yield* insertMessages(messages, at);
}

function* listDowntimes(limit: number): Script<Downtime[]> {
  const found = yield* rows<DowntimeColumns>(
    `select id, from_at, to_at, report, reported_at from downtimes order by id desc limit ?i`,
    limit,
  );
  return found.map((one) => ({
    id: one.id,
    from: one.from_at,
    to: one.to_at,
    // Written by us alone; a report that cannot be read counts as one that was never told.
    counts: (readFacts(one.report)?.['counts'] as DowntimeCounts | undefined) ?? null,
    reportedAt: one.reported_at,
  }));
}
