import type { AuditRow, ChangeRequest, TaskScene } from '../../app/ports/tasks.ts';
import { missing } from '../../domain/errors.ts';
import type { Script } from '../engine/engine.ts';
import { columns, mapped, pick } from '../engine/fields.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit, raw, sql } from '../engine/sql.ts';
import { all, one, select, selecting } from '../engine/statements.ts';
import { countReserved } from '../runs/slots.ts';
import { liveOf } from '../runs/thread-runs.ts';
import { placeOf } from './attach.ts';
import { dueFields, dueSource, readDue, readFacts, readGrant, taskFields, taskSource, type DueRow } from './codec.ts';

/** Slots with a row of their own that a decision looks at; what a person skips in advance is far less. */
const takenMax = 10_000;
/** Entries among which the one to undo is looked for. */
const recentMax = 100;

const { occurrences, audit } = columns;
const liveFields = pick(columns.runs, 'id', 'status', 'occurrenceId');

/** A task under its lock, with what stands around it. */
export function* sceneOf({ taskId, at, look }: Pick<ChangeRequest, 'taskId' | 'at' | 'look'>): Script<TaskScene> {
  const task = yield* taskById(taskId);
  const due: DueRow | undefined = yield* one(select(dueFields)`from ${dueSource} where t.id = ${taskId}`);
  if (due === undefined) throw missing('task');
  yield* countReserved([due]);
  const live = yield* all(
    select(liveFields)`from (${liveOf(raw('id, status, occurrence_id'), sql`task_id = ${taskId}`)}) live`,
  );
  const readable = due.nextAt === null ? null : readDue(due);
  return {
    task,
    due: readable === null || 'unreadable' in readable ? null : readable,
    live,
    waiting: due.waiting,
    ...(yield* aheadOf(taskId, at)),
    ...(yield* openOf(taskId, at)),
    replays: look !== undefined && 'replaysOf' in look ? yield* replaysOf(look.replaysOf) : [],
    recent: look !== undefined && 'recent' in look ? yield* recentOf(taskId) : [],
    grant: grantOf(due),
    ...(look !== undefined && 'resultOf' in look ? { result: yield* resultOf(taskId, look.resultOf) } : {}),
    ...(look !== undefined && 'place' in look ? { place: yield* placeOf(task, look.place) } : {}),
  };
}

function* aheadOf(taskId: string, now: number): Script<Pick<TaskScene, 'taken' | 'skipped' | 'unused'>> {
  const ahead = yield* all(
    select(pick(occurrences, 'slotAt', 'source', 'status', 'reason', 'runId'))`from occurrences
      where task_id = ${taskId} and slot_at >= ${now} order by slot_at ${limit(takenMax)}`,
  );
  const skipped = ahead.filter(
    ({ status, reason, slotAt }) => status === 'skipped' && reason === 'skip' && slotAt > now,
  );
  const unused = ahead.filter(
    ({ source, status, runId }) => source === 'snooze' && status !== 'pending' && runId === null,
  );
  const slotsOf = (rows: typeof ahead) => rows.map(({ slotAt }) => slotAt);
  return { taken: new Set(slotsOf(ahead)), skipped: slotsOf(skipped), unused: slotsOf(unused) };
}

/** A result whose row is gone is nobody's to put off. */
function* resultOf(taskId: string, of: string | null): Script<string | null> {
  const asked = of === null ? raw(`status = 'succeeded'`) : sql`id = ${of}`;
  const found = yield* one(
    select(
      pick(occurrences, 'id'),
    )`from occurrences where task_id = ${taskId} and ${asked} order by slot_at desc limit 1`,
  );
  return found?.id ?? null;
}

/** Questions to a person, and the later times that people chose. */
function* openOf(taskId: string, at: number): Script<Pick<TaskScene, 'questions' | 'snoozes'>> {
  const open = yield* all(
    select(pick(occurrences, 'id', 'slotAt', 'source', 'replayOf', 'decideBy'))`from occurrences
      where task_id = ${taskId} and status = 'pending' and (decide_by is not null or source = 'snooze') order by slot_at`,
  );
  return {
    // People were told until when they may answer, so what nobody has ended yet is over all the same.
    questions: open.filter(({ decideBy }) => decideBy !== null && decideBy > at).map(({ id }) => id),
    snoozes: open.filter(({ source }) => source === 'snooze'),
  };
}

/** A retry of a retry makes good the same slot, so what was done again is looked for from the first of them on. */
function* replaysOf(occurrenceId: string): Script<TaskScene['replays']> {
  return yield* all(
    selecting(
      pick(occurrences, 'id', 'source', 'status'),
      (list) => sql`with recursive up(id, source, replay_of) as (
          select id, source, replay_of from occurrences where id = ${occurrenceId}
          union select o.id, o.source, o.replay_of from occurrences o join up on o.id = up.replay_of
          where up.source = 'retry'
        ), down(id, source, status) as (
          select id, source, status from occurrences where source <> 'snooze' and replay_of in (
            select id from up where source <> 'retry' or not exists (select 1 from occurrences o where o.id = up.replay_of))
          union select o.id, o.source, o.status from occurrences o join down on o.replay_of = down.id
          where down.source = 'retry' and o.source = 'retry'
        )
        select ${list} from down order by id desc`,
    ),
  );
}

const recentFields = {
  ...pick(audit, 'id', 'at', 'actor', 'verb', 'stateBefore', 'stateAfter'),
  before: mapped(audit.before, readFacts),
  after: mapped(audit.after, readFacts),
};

function* recentOf(taskId: string): Script<readonly AuditRow[]> {
  const found = yield* all(
    select(recentFields)`from audit where task_id = ${taskId} order by at desc, id desc ${limit(recentMax)}`,
  );
  // The last entry has the greatest number, whatever the clock said.
  return found.toSorted((a, b) => b.id - a.id).map((entry) => ({ ...entry, id: String(entry.id) }));
}

/** A right that cannot be read is no right, and must not keep anybody from deleting the task. */
function grantOf(due: DueRow): TaskScene['grant'] {
  try {
    return readGrant(due, due.chatId);
  } catch {
    return null;
  }
}

const ofTask = raw('t.chat_id');

export function* taskById(taskId: string): Script<TaskScene['task']> {
  const where = allOf(sql`t.id = ${taskId}`, yield* seen(ofTask));
  const found = yield* one(select(taskFields)`from ${taskSource} where ${where}`);
  if (found === undefined) throw missing('task');
  return found;
}
