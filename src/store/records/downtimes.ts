import type {
  Downtime,
  DowntimeReport,
  DowntimeStore,
  MadeSince,
  OpenDowntime,
  Opened,
  TaskHome,
  ToldDowntime,
} from '../../app/ports/why.ts';
import { listOf, row, rows, type Engine, type Script } from '../engine/engine.ts';
import { insertMessages } from '../outbox/new-parts.ts';
import { readFacts } from '../tasks/codec.ts';
import { readNote, writeNote } from '../upkeep/notes.ts';
import { tellEvents } from './journal.ts';

const aliveNote = 'alive_at';

/** The times in which nobody was there. */
export function downtimeStore(engine: Engine): DowntimeStore {
  return {
    openDowntime: (id, now) => engine.transact(() => openDowntime(id, now)),
    markAlive: (now) => engine.transact(() => writeNote(aliveNote, String(now), now)),
    openDowntimes: () => engine.transact(openDowntimes),
    isDecided: (upTo) => engine.transact(() => isDecided(upTo)),
    madeSince: (shelf, after, limit) => engine.transact(() => shelves[shelf](after, limit)),
    waitingSnoozes: (before, limit) => engine.transact(() => waitingSnoozes(before, limit)),
    homesOf: (taskIds) => engine.transact(() => homesOf(taskIds)),
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
  if (aliveAt > now) return { is: 'clockBack', aliveAt };
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

/** Only those of starts that were killed before they came to it are open besides the last one. */
const openMax = 1000;

function* openDowntimes(): Script<OpenDowntime[]> {
  const found = yield* rows<DowntimeColumns>(
    `select id, from_at, to_at from downtimes where report is null order by to_at limit ?i`,
    openMax,
  );
  return found.map((one) => ({ id: one.id, from: one.from_at, to: one.to_at }));
}

function* isDecided(upTo: number): Script<boolean> {
  const due = yield* row(`select id from tasks where next_at <= ?i limit 1`, upTo);
  if (due !== undefined) return false;
  // A pause that ended meanwhile opens slots that are still to be looked at.
  return (yield* row(`select id from tasks where resume_at <= ?i and state = 'paused' limit 1`, upTo)) === undefined;
}

interface MadeColumns {
  readonly id: string;
  readonly task_id: string;
  readonly slot_at: number;
  readonly status: string;
  readonly reason: string | null;
  readonly decide_by: number | null;
}

function* occurrencesSince(after: string, limit: number): Script<MadeSince[]> {
  const found = yield* rows<MadeColumns>(
    `select id, task_id, slot_at, status, reason, decide_by from occurrences where id > ?t order by id limit ?i`,
    after,
    limit,
  );
  return found.map((one) => ({
    id: one.id,
    taskId: one.task_id,
    slotAt: one.slot_at,
    lastAt: one.slot_at,
    became: becameOf(one),
    count: 1,
  }));
}

/** A question stays one when it has been answered meanwhile: it is what the downtime made of the slot. */
function becameOf({ status, decide_by: decideBy }: MadeColumns): MadeSince['became'] {
  if (decideBy !== null) return 'asked';
  if (status === 'missed' || status === 'skipped') return status;
  return 'late';
}

function* gapsSince(after: string, limit: number): Script<MadeSince[]> {
  const found = yield* rows<{
    id: string;
    task_id: string;
    from_at: number;
    to_at: number;
    count: number;
    reason: string;
  }>(`select id, task_id, from_at, to_at, count, reason from gaps where id > ?t order by id limit ?i`, after, limit);
  return found.map((one) => ({
    id: one.id,
    taskId: one.task_id,
    slotAt: one.from_at,
    lastAt: one.to_at,
    became: one.reason === 'paused' ? 'skipped' : 'missed',
    count: one.count,
  }));
}

/** Runs made since, of which those of snoozes count: all of them are told, so that the next page goes on behind the last. */
function* snoozesSince(after: string, limit: number): Script<MadeSince[]> {
  const found = yield* rows<SnoozeColumns>(
    `select latest.id, coalesce(o.task_id, '') as task_id, coalesce(o.slot_at, 0) as slot_at, o.source
     from (select id, occurrence_id from runs where id > ?t order by id limit ?i) latest
       left join occurrences o on o.id = latest.occurrence_id order by latest.id`,
    after,
    limit,
  );
  return found.map(readSnooze);
}

interface SnoozeColumns {
  readonly id: string;
  readonly task_id: string;
  readonly slot_at: number;
  readonly source: string | null;
}

function readSnooze({ id, task_id: taskId, slot_at: slotAt, source }: SnoozeColumns): MadeSince {
  return { id, taskId, slotAt, lastAt: slotAt, became: 'late', count: source === 'snooze' ? 1 : 0 };
}

function* waitingSnoozes(before: number, limit: number): Script<MadeSince[]> {
  const found = yield* rows<SnoozeColumns>(
    `select id, task_id, slot_at, source from occurrences where status = 'pending' and source = 'snooze' and slot_at < ?i
     order by slot_at limit ?i`,
    before,
    limit,
  );
  return found.map(readSnooze);
}

const shelves = { occurrences: occurrencesSince, gaps: gapsSince, snoozes: snoozesSince } as const;

interface HomeColumns {
  readonly id: string;
  readonly provider: string;
  readonly address: string;
  readonly home_topic: number | null;
  readonly number: number;
  readonly title: string;
  readonly state: string;
}

function* homesOf(taskIds: readonly string[]): Script<ReadonlyMap<string, TaskHome>> {
  if (taskIds.length === 0) return new Map();
  const { marks, values } = listOf(taskIds);
  const found = yield* rows<HomeColumns>(
    `select t.id, t.home_topic, t.number, t.title, c.provider, c.address, c.state
     from tasks t join chats c on c.id = t.chat_id where t.id in (${marks})`,
    ...values,
  );
  return new Map(found.map((one) => [one.id, homeOf(one)]));
}

function homeOf({ provider, address, home_topic: topic, number, title, state }: HomeColumns): TaskHome {
  return { thread: { provider, address, topic }, number, title, isMute: state === 'refused' || state === 'gone' };
}

function* reportDowntime({ id, report, at, messages }: ToldDowntime): Script<boolean> {
  const told = yield* row(
    `update downtimes set report = ?t, reported_at = ?i where id = ?t and report is null returning id`,
    JSON.stringify(report),
    at,
    id,
  );
  if (told === undefined) return false;
  yield* tellEvents([{ kind: 'downtime.reported', at, taskId: null, ref: id, data: report.counts }]);
  yield* insertMessages(messages, at);
  return true;
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
    report: readFacts(one.report) as DowntimeReport | null,
    reportedAt: one.reported_at,
  }));
}
