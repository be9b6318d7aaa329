import type { AuditRow, ChangeRequest, TaskScene } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { TaskVerb } from '../../domain/event.ts';
import type { TaskState } from '../../domain/task.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { countReserved } from '../runs/slots.ts';
import { placeOf } from './attach.ts';
import { dueColumns, dueSource, readDue, readFacts, readGrant, readTask, type DueRow, type TaskRow } from './codec.ts';

/** Slots with a row of their own that a decision looks at; what a person skips in advance is far less. */
const takenMax = 10_000;
/** Entries among which the one to undo is looked for. */
const recentMax = 100;

/** A task under its lock, with what stands around it. */
export function* sceneOf({ taskId, at, look }: Pick<ChangeRequest, 'taskId' | 'at' | 'look'>): Script<TaskScene> {
  const task = yield* taskById(taskId);
  const due = yield* row<DueRow>(`select ${dueColumns} from ${dueSource} where t.id = ?t`, taskId);
  if (due === undefined) throw notFound();
  yield* countReserved([due]);
  const live = yield* rows<TaskScene['live'][number]>(
    `select id, status, occurrence_id as "occurrenceId" from runs
     where task_id = ?t and exclusive = 1 and status in ('queued', 'running', 'backoff', 'waiting')
     union all select id, status, occurrence_id as "occurrenceId" from runs
     where task_id = ?t and exclusive = 0 and status in ('queued', 'running', 'backoff', 'waiting')`,
    taskId,
    taskId,
  );
  const readable = due.next_at === null ? null : readDue(due);
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
    ...(look !== undefined && 'place' in look ? { place: yield* placeOf(task, look.place) } : {}),
  };
}

function* aheadOf(taskId: string, now: number): Script<Pick<TaskScene, 'taken' | 'skipped'>> {
  const ahead = yield* rows<{ slot_at: number; status: string; reason: string | null }>(
    `select slot_at, status, reason from occurrences where task_id = ?t and slot_at >= ?i order by slot_at limit ?i`,
    taskId,
    now,
    takenMax,
  );
  const skipped = ahead.filter((one) => one.status === 'skipped' && one.reason === 'skip' && one.slot_at > now);
  return { taken: new Set(ahead.map(({ slot_at }) => slot_at)), skipped: skipped.map(({ slot_at }) => slot_at) };
}

/** What waits for a person, or for a later time that a person chose. */
function* openOf(taskId: string, at: number): Script<Pick<TaskScene, 'questions' | 'snoozedTo'>> {
  const open = yield* rows<{ id: string; slot_at: number; source: string; decide_by: number | null }>(
    `select id, slot_at, source, decide_by from occurrences
     where task_id = ?t and status = 'pending' and (decide_by is not null or source = 'snooze') order by slot_at`,
    taskId,
  );
  return {
    // People were told until when they may answer, so what nobody has ended yet is over all the same.
    questions: open.filter(({ decide_by: by }) => by !== null && by > at).map(({ id }) => id),
    snoozedTo: open.find(({ source }) => source === 'snooze')?.slot_at ?? null,
  };
}

/** A retry of a retry makes good the same slot, so what was done again is looked for from the first of them on. */
function* replaysOf(occurrenceId: string): Script<TaskScene['replays']> {
  return yield* rows<TaskScene['replays'][number]>(
    `with recursive up(id, source, replay_of) as (
       select id, source, replay_of from occurrences where id = ?t
       union select o.id, o.source, o.replay_of from occurrences o join up on o.id = up.replay_of
       where up.source = 'retry'
     ), down(id, source, status) as (
       select id, source, status from occurrences where replay_of in (
         select id from up where source <> 'retry' or not exists (select 1 from occurrences o where o.id = up.replay_of))
       union select o.id, o.source, o.status from occurrences o join down on o.replay_of = down.id
       where down.source = 'retry' and o.source = 'retry'
     )
     select id, source, status from down order by id desc`,
    occurrenceId,
  );
}

interface AuditColumns {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly state_before: string | null;
  readonly state_after: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

function* recentOf(taskId: string): Script<readonly AuditRow[]> {
  const found = yield* rows<AuditColumns>(
    `select id, at, actor, verb, state_before, state_after, before, after from audit
     where task_id = ?t order by at desc, id desc limit ?i`,
    taskId,
    recentMax,
  );
  // What was done last has the greatest number, whatever the clock said.
  return found
    .toSorted((a, b) => b.id - a.id)
    .map((one) => ({
      id: String(one.id),
      at: one.at,
      actor: one.actor as Actor,
      verb: one.verb as TaskVerb,
      stateBefore: one.state_before as TaskState | null,
      stateAfter: one.state_after as TaskState | null,
      before: one.before === null ? null : readFacts(one.before),
      after: one.after === null ? null : readFacts(one.after),
    }));
}

/** A right that cannot be read is no right, and must not keep anybody from deleting the task. */
function grantOf(due: DueRow): TaskScene['grant'] {
  try {
    return readGrant(due, due.chat_id);
  } catch {
    return null;
  }
}

export function* taskById(taskId: string): Script<TaskScene['task']> {
  const found = yield* row<TaskRow>(
    `select t.*, c.provider, c.address from tasks t join chats c on c.id = t.chat_id where t.id = ?t`,
    taskId,
  );
  if (found === undefined) throw notFound();
  return readTask(found);
}

function notFound(): AppError {
  return new AppError('not_found', 'There is no such task.');
}
