import type { DueTask, Quarantine, Unreadable } from '../../app/ports/pipeline.ts';
import type { NoticedSetBack, Overtaken, SetBack, TurnedBack, UpkeepStore } from '../../app/ports/upkeep.ts';
import type { Twice } from '../../app/ports/why.ts';
import { askExpiryMs } from '../../domain/limits.ts';
import { MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, pick, type Answer } from '../engine/fields.ts';
import { forUpdateOf, limit as limited, list, sql, type Sql } from '../engine/sql.ts';
import { all, insert, run, select, update, updateAll } from '../engine/statements.ts';
import { recordVerbs } from '../records/journal.ts';
import { writeQuarantines } from '../runs/claims.ts';
import { keepVersion } from '../tasks/changes.ts';
import { dueFields, dueSource, readDue, type DueRow } from '../tasks/codec.ts';
import { taskById } from '../tasks/scene.ts';
import { aliveAt, markAlive, readNote, writeNote } from './notes.ts';

/** A clock that was set back: what was counted with the old one, and what it had passed over too early. */
export const setBackStore = { setBack, turnBack, endSetBack };

const note = 'set_back';

export function* setBack({ id, byMs, twice }: NoticedSetBack): Script<void> {
  const open = yield* openSetBack();
  if (open?.id === id) return;
  yield* noteTwice(twice);
  // A process that dies before its next sign of life leaves none for the next start to notice the same one by.
  if (((yield* aliveAt()) ?? 0) > twice.from) yield* markAlive(twice.from);
  yield* shiftPauses(byMs);
  yield* shiftWishes(byMs, twice.from);
  // One that comes while tasks are still planned for another makes one with it.
  const whole: SetBack = {
    id,
    byMs: byMs + (open?.byMs ?? 0),
    twice: open === null ? twice : widest(open.twice, twice),
    after: '',
    moved: open?.moved ?? 0,
  };
  yield* writeNote(note, JSON.stringify(whole), twice.from);
}

function widest(one: Twice, other: Twice): Twice {
  return { from: Math.min(one.from, other.from), to: Math.max(one.to, other.to) };
}

/** Set-backs that are kept: a clock that is set more often than this in the time of the records tells no truth at all. */
const setBacksMax = 100;

function* noteTwice({ from, to }: Twice): Script<void> {
  yield* insert('setBacks', { fromAt: from, toAt: to });
  yield* run(sql`delete from set_backs where id <= (select max(id) from set_backs) - ${setBacksMax}`);
}

/** Slots and the ends of quiet hours stay where they are, because they mean what the clock on the wall says; pauses measured from "now" move along. */
function* shiftPauses(byMs: number): Script<void> {
  yield* run(sql`update runs set ready_at = ready_at + ${byMs} where status in ('queued', 'backoff')`);
  yield* run(
    sql`update deliveries set ready_at = ready_at + ${byMs}
      where status in ('pending', 'blocked') and ready_at is not null and (held_until is null or ready_at < held_until)`,
  );
  // A part that waits for a person's word has no instant of its own, but it holds its thread from the time it was sent;
  // and one that is on its way may be looked for later.
  yield* run(
    sql`update deliveries set ready_at = ready_at + ${byMs}, sent_at = sent_at + ${byMs}
      where status in ('unknown', 'sending')`,
  );
  yield* run(sql`update acks set nag_at = nag_at + ${byMs} where status = 'open' and nag_at is not null`);
  yield* run(sql`update tasks set topic_asked_at = topic_asked_at + ${byMs} where topic_state = 'creating'`);
  yield* run(sql`update kv set expires_at = expires_at + ${byMs} where scope = 'hold'`);
  // An answer about a member that came with the old clock would be believed until the old hour comes again.
  yield* run(sql`update members set checked_at = checked_at + ${byMs}`);
}

/**
 * Wishes from the time in which the clock was ahead move along. An instant on the full minute was named by somebody and means the clock on
 * the wall; any other was measured from a now that was ahead, as in "for two hours".
 */
function* shiftWishes(byMs: number, now: number): Script<void> {
  yield* run(
    sql`update tasks set resume_at = resume_at + ${byMs}
      where state = 'paused' and resume_at is not null and paused_at > ${now} and resume_at % ${MINUTE_MS} <> 0`,
  );
  yield* run(
    sql`update occurrences set slot_at = slot_at + ${byMs}
      where status = 'pending' and source = 'snooze' and slot_at > ${now} and created_at > ${now}
        and slot_at % ${MINUTE_MS} <> 0 and not exists (select 1 from occurrences e
          where e.task_id = occurrences.task_id and e.slot_at = occurrences.slot_at + ${byMs})`,
  );
  yield* run(
    sql`update occurrences set decide_by = ${now + askExpiryMs}
      where status = 'pending' and decide_by is not null and decide_by > ${now + askExpiryMs}`,
  );
  // Quiet hours that only the wrong clock had reached: the next look holds back what is to be held back still.
  yield* run(
    sql`update deliveries set ready_at = ${now}
      where status in ('pending', 'blocked') and held_until > ${now} and ready_at > ${now} and created_at > ${now}`,
  );
  yield* run(sql`update downtimes set to_at = ${now} where to_at > ${now} and from_at <= ${now}`);
}

function* openSetBack(): Script<SetBack | null> {
  const written = yield* readNote(note);
  // Written by us alone.
  return written === null || written === '' ? null : (JSON.parse(written) as SetBack);
}

function endSetBack(): Script<void> {
  return writeNote(note, '', 0);
}

const pageFields = { due: dueFields, ...pick(columnsOf('tasks', 't'), 'state', 'createdAt', 'updatedAt') };
type PageRow = Answer<typeof pageFields>;

function* turnBack(
  { now, limit }: Parameters<UpkeepStore['turnBack']>[0],
  plan: Parameters<UpkeepStore['turnBack']>[1],
): Script<SetBack | null> {
  const back = yield* openSetBack();
  if (back === null || back.after === null) return back;
  const page = yield* all(
    select(pageFields)`from ${dueSource} where t.id > ${back.after} and t.state <> 'deleted'
      order by t.id ${limited(limit)} ${forUpdateOf('t')}`,
  );
  const ids = page.map(({ due }) => due.id);
  const ahead = yield* lookAhead(ids, now);
  const found = page.map((row) => overtaken(row, ahead, now));
  const decided = plan(found, back);
  yield* writeQuarantines(decided.filter(isQuarantine), now);
  const turns = decided.filter((one): one is TurnedBack => !isQuarantine(one));
  const over = new Set(turns.filter(({ isOver }) => isOver).map(({ taskId }) => taskId));
  const gone = ahead.untouched.filter(({ taskId }) => !over.has(taskId));
  yield* takeBack(gone, { ids: ids.filter((id) => !over.has(id)), now });
  const moved = yield* writeTurns(turns, { found, now });
  yield* lookPast(slotsOf(without(ahead.rows, gone)));
  const after = page.length < limit ? null : (ids.at(-1) ?? null);
  const whole: SetBack = { ...back, after, moved: back.moved + moved };
  yield* writeNote(note, JSON.stringify(whole), now);
  return whole;
}

function isQuarantine(decision: object): decision is Quarantine {
  return 'quarantine' in decision;
}

interface AheadRow {
  readonly id: string;
  readonly taskId: string;
  readonly slotAt: number;
}

/** The records of slots to come of some tasks. */
interface Ahead {
  readonly rows: readonly AheadRow[];
  /** Those that no run and no person has touched: they come again, when their time comes, and the others keep their rows. */
  readonly untouched: readonly AheadRow[];
  readonly slots: ReadonlyMap<string, readonly number[]>;
  readonly gaps: readonly (Overtaken['gaps'][number] & { readonly taskId: string })[];
  /** Tasks from which something can be taken back. */
  readonly takenBack: ReadonlySet<string>;
}

function* lookAhead(ids: readonly string[], now: number): Script<Ahead> {
  const { occurrences, gaps } = columns;
  const ofThese = sql`task_id in ${list(ids)}`;
  const rows = yield* all(
    select(
      pick(occurrences, 'id', 'taskId', 'slotAt', 'status', 'source', 'runId', 'deedId', 'reason'),
    )`from occurrences where ${ofThese} and slot_at > ${now} order by slot_at`,
  );
  const untouched = rows.filter(
    ({ status, source, runId, deedId, reason }) =>
      (status === 'missed' || status === 'skipped') &&
      (source === 'schedule' || source === 'catch_up') &&
      runId === null &&
      deedId === null &&
      reason !== 'skip',
  );
  const long = yield* all(
    select(pick(gaps, 'taskId', 'fromAt', 'toAt', 'count'))`from gaps where ${ofThese} and to_at > ${now}`,
  );
  return {
    rows,
    untouched,
    slots: slotsOf(without(rows, untouched)),
    gaps: long.filter(({ fromAt }) => fromAt <= now),
    takenBack: new Set([...untouched, ...long].map(({ taskId }) => taskId)),
  };
}

function without(rows: readonly AheadRow[], gone: readonly AheadRow[]): AheadRow[] {
  const ids = new Set(gone.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}

function slotsOf(rows: readonly AheadRow[]): ReadonlyMap<string, readonly number[]> {
  const slots = new Map<string, number[]>();
  for (const { taskId, slotAt } of rows) slots.set(taskId, [...(slots.get(taskId) ?? []), slotAt]);
  return slots;
}

interface TakingBack {
  readonly ids: readonly string[];
  readonly now: number;
}

function* takeBack(rows: readonly AheadRow[], { ids, now }: TakingBack): Script<void> {
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const some = rows.slice(from, from + rowsAtOnce).map(({ id }) => id);
    yield* run(sql`delete from occurrences where id in ${list(some)}`);
  }
  yield* run(sql`delete from gaps where task_id in ${list(ids)} and from_at > ${now}`);
}

const rowsAtOnce = 1000;

function overtaken({ due, state, createdAt, updatedAt }: PageRow, ahead: Ahead, now: number): Overtaken | Unreadable {
  const row: DueRow = { ...due, nextAt: due.nextAt ?? now };
  const task: DueTask | Unreadable = readDue(row);
  if ('unreadable' in task) return task;
  return {
    ...task,
    skipped: ahead.slots.get(task.id) ?? [],
    state,
    madeAhead: createdAt > now || updatedAt > now,
    isTakenBack: ahead.takenBack.has(task.id),
    gaps: ahead.gaps.filter(({ taskId }) => taskId === task.id),
  };
}

interface Turning {
  readonly found: readonly (Overtaken | Unreadable)[];
  readonly now: number;
}

/** Answers how many tasks came to another next slot. */
function* writeTurns(turns: readonly TurnedBack[], { found, now }: Turning): Script<number> {
  const states = new Map(found.flatMap((task) => ('unreadable' in task ? [] : [[task.id, task.state] as const])));
  yield* updateAll(
    'gaps',
    turns.flatMap(({ taskId, gaps }) => gaps.map((gap) => ({ taskId, gap }))),
    {
      set: ({ gap: { toAt, count } }) => ({ toAt, count }),
      where: ({ taskId, gap: { fromAt } }) => sql`task_id = ${taskId} and from_at = ${fromAt}`,
    },
  );
  for (const { taskId, begins } of turns) if (begins !== null) yield* beginEarlier(taskId, begins, now);
  const moved = turns.filter(({ nextAt }) => nextAt !== null);
  yield* updateAll('tasks', moved, {
    set: ({ nextAt }) => ({ nextAt, state: 'active' }),
    where: ({ taskId }) => sql`id = ${taskId}`,
  });
  const revived = moved.filter(({ taskId }) => states.get(taskId) === 'completed');
  yield* recordVerbs(
    revived.map(({ taskId }) => ({
      at: now,
      actor: 'system',
      verb: 'resume',
      taskId,
      stateBefore: 'completed',
      stateAfter: 'active',
    })),
  );
  return moved.length;
}

function* beginEarlier(taskId: string, begins: NonNullable<TurnedBack['begins']>, now: number): Script<void> {
  const before = yield* taskById(taskId);
  const set = { version: before.version + 1, updatedAt: now, updatedBy: 'system' } as const;
  const isThis: Sql = sql`id = ${taskId}`;
  if ('onceAt' in begins) yield* update('tasks', { ...set, ...begins }, isThis);
  else yield* update('tasks', { ...set, startAt: begins.startAt }, isThis);
  const after = yield* taskById(taskId);
  yield* keepVersion({ actor: 'system', at: now }, before, after);
  const { state, schedule } = before;
  yield* recordVerbs([
    {
      at: now,
      actor: 'system',
      verb: 'edit',
      taskId,
      stateBefore: state,
      stateAfter: state,
      before: { schedule },
      after: { schedule: after.schedule },
    },
  ]);
}

/** Slots that ran while the clock was ahead do not run again, so no plan may count on them. */
function* lookPast(slots: ReadonlyMap<string, readonly number[]>): Script<void> {
  yield* updateAll('tasks', [...slots], {
    set: ([, some]) => ({ skipsUntil: some.at(-1) ?? null }),
    where: ([taskId, some]) => sql`id = ${taskId} and (skips_until is null or skips_until < ${some.at(-1) ?? 0})`,
  });
}
