import type { Deed, LastSlot, Pauser, SlotRow, TruthQuery, Twice } from '../../app/ports/why.ts';
import type { TaskState } from '../../domain/task.ts';
import { row, rows, type Script, type Value } from '../engine/engine.ts';
import { readFacts } from '../tasks/codec.ts';

export interface DeedColumns {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly task_id: string | null;
  readonly state_before: string | null;
  readonly state_after: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly trace_id: string | null;
}

export const deedColumns = 'id, at, actor, verb, task_id, state_before, state_after, before, after, trace_id';

/** Rows of an older version have no states, but their verb tells them. A second pause may move the end of the first. */
export const changesState = `(state_before <> state_after or (state_before is null and state_after is not null)
  or verb in ('create', 'pause', 'resume', 'delete', 'restore', 'quarantine'))`;

/** People do little to a task between two changes of its state; the second walk is for those who do much. */
const walks = [16, 1000];
const walkMax = 1000;
/** More than this in one stretch is for the next page. */
const changesMax = 400;

interface Changes {
  readonly changes: Deed[];
  /** The last of them still holds. */
  readonly toNow: boolean;
  readonly readTo: number | null;
  readonly twice: Twice[];
}

/**
 * The last change of the task's state before the stretch, those within it, and the first one after it. Their ids tell the
 * order in which they were made, also where the clock was set back between two of them.
 */
export function* changesOf({ taskId, from }: TruthQuery, end: number): Script<Changes> {
  const earlier = yield* lastBefore(taskId, from);
  const within = yield* rows<DeedColumns>(
    `select ${deedColumns} from audit where task_id = ?t and at >= ?i and at <= ?i and id > ?i and ${changesState}
     order by at, id limit ?i`,
    taskId,
    from,
    end,
    earlier?.id ?? -1,
    changesMax + 1,
  );
  const cut = cutAt(within, changesMax);
  const kept = cut === null ? within : within.filter(({ at }) => at < cut);
  const read = cut === null ? end : cut - 1;
  const known = [earlier, ...kept].filter((one): one is DeedColumns => one !== undefined);
  const newest = Math.max(-1, ...known.map(({ id }) => id));
  const later = yield* after(taskId, read, newest);
  const passed = yield* passedOver({ taskId, at: read, after: earlier?.id ?? -1, before: newest });
  const all = [...known, ...passed, ...later].toSorted((a, b) => a.id - b.id);
  return {
    changes: all.map(readDeed),
    toNow: later.length === 0 && !(yield* goesOn(taskId, read)),
    readTo: readTo(cut, from),
    twice: stepsBack(all),
  };
}

/** Of the changes before an instant the one that was made last. */
function* lastBefore(taskId: string, at: number): Script<DeedColumns | undefined> {
  const [last] = yield* nearest((steps) => [
    `select * from (select ${deedColumns} from audit where task_id = ?t and at < ?i
       order by at desc, id desc limit ?i) latest
     where ${changesState} order by id desc limit 1`,
    taskId,
    at,
    steps,
  ]);
  return last;
}

const laterMax = 16;

/** The first change after an instant, and where the clock was set back the one that was made before that. */
function* after(taskId: string, at: number, id: number): Script<DeedColumns[]> {
  const found = yield* nearest((steps) => [
    `select * from (select ${deedColumns} from audit where task_id = ?t and at > ?i and id > ?i
       order by at, id limit ?i) latest
     where ${changesState} order by at, id limit ?i`,
    taskId,
    at,
    id,
    steps,
    laterMax,
  ]);
  const [first] = found;
  const [made] = found.toSorted((a, b) => a.id - b.id);
  return [made, first]
    .filter((one): one is DeedColumns => one !== undefined)
    .filter((one, index, all) => all.indexOf(one) === index);
}

interface Passed {
  readonly taskId: string;
  readonly at: number;
  readonly after: number;
  readonly before: number;
}

/** Made between those that were read, but at a later time: the clock was set back then, and they tell what was found. */
function* passedOver({ taskId, at, after: first, before: last }: Passed): Script<DeedColumns[]> {
  if (last <= first) return [];
  return yield* rows<DeedColumns>(
    `select * from (select ${deedColumns} from audit where task_id = ?t and at > ?i order by at, id limit ?i) latest
     where id > ?i and id < ?i and ${changesState} order by id`,
    taskId,
    at,
    laterMax,
    first,
    last,
  );
}

function* nearest(walk: (steps: number) => [string, ...Value[]]): Script<DeedColumns[]> {
  for (const steps of walks) {
    const found = yield* rows<DeedColumns>(...walk(steps));
    if (found.length > 0) return found;
  }
  return [];
}

/** A task that was paused before it was deleted is paused again when it is restored, by whoever had paused it then. */
export function* pausersOf(taskId: string, changes: readonly Deed[]): Script<Pauser[]> {
  const found: Pauser[] = [];
  for (const { id, stateBefore, stateAfter } of changes) {
    if (stateBefore !== 'deleted' || stateAfter !== 'paused') continue;
    const pause = yield* row<DeedColumns>(
      `select * from (select ${deedColumns} from audit where task_id = ?t and id < ?i
         order by at desc, id desc limit ?i) latest
       where state_after = 'paused' and (state_before is null or state_before <> 'deleted')
         and (state_before <> 'paused' or verb in ('pause', 'quarantine')) order by id desc limit 1`,
      taskId,
      Number(id),
      walkMax,
    );
    if (pause !== undefined) found.push({ deedId: id, pause: readDeed(pause) });
  }
  return found;
}

/** So much was done afterwards that nobody has looked through all of it. */
function* goesOn(taskId: string, at: number): Script<boolean> {
  const beyond = yield* row(
    `select id from audit where task_id = ?t and at > ?i order by at, id limit 1 offset ${walkMax}`,
    taskId,
    at,
  );
  return beyond !== undefined;
}

/** Nobody completes a task: its last slot does. So that slot is looked for before each change that found it completed. */
export function* lastSlotsOf(taskId: string, changes: readonly Deed[], completedNow: boolean): Script<LastSlot[]> {
  const found: LastSlot[] = [];
  for (const { id, at, stateBefore } of changes) {
    const slotAt = stateBefore === 'completed' ? yield* lastSlotBefore(taskId, at) : null;
    if (slotAt !== null) found.push({ deedId: id, slotAt });
  }
  const last = completedNow ? yield* lastSlotBefore(taskId, null) : null;
  return last === null ? found : [...found, { deedId: null, slotAt: last }];
}

function* lastSlotBefore(taskId: string, at: number | null): Script<number | null> {
  const slot = yield* row<{ slot_at: number }>(
    `select slot_at from (select slot_at, source from occurrences where task_id = ?t and slot_at <= ?i
       order by slot_at desc limit ?i) latest
     where source in ('schedule', 'catch_up') order by slot_at desc limit 1`,
    taskId,
    at ?? Number.MAX_SAFE_INTEGER,
    walkMax,
  );
  const gap = yield* row<{ to_at: number }>(
    `select to_at from gaps where task_id = ?t and from_at <= ?i order by from_at desc limit 1`,
    taskId,
    at ?? Number.MAX_SAFE_INTEGER,
  );
  const instants = [slot?.slot_at, gap?.to_at].filter((one): one is number => one !== undefined);
  return instants.length === 0 ? null : Math.max(...instants);
}

/** What somebody did is written at the very instant at which the rows it touched changed, so that instant finds it. */
export function* deedsAt(taskId: string, slots: readonly SlotRow[]): Script<Deed[]> {
  const instants = [...new Set(slots.filter(isByPerson).flatMap(instantsOf))];
  if (instants.length === 0) return [];
  const size = [4, 16, 64, 256, 1024].find((length) => length >= instants.length) ?? instants.length;
  const values: Value[] = [...instants, ...Array.from({ length: size - instants.length }, () => -1)];
  const found = yield* rows<DeedColumns>(
    `select ${deedColumns} from audit where task_id = ?t and at in (${values.map(() => '?i').join(', ')}) order by at, id`,
    taskId,
    ...values,
  );
  return found.map(readDeed);
}

const personal = new Set(['skip', 'undone', 'declined', 'paused', 'deleted', 'cancelled']);

/** A catch-up may have been asked about, and then a person said yes or no. */
function isByPerson({ source, reason }: SlotRow): boolean {
  return source !== 'schedule' || (reason !== null && personal.has(reason));
}

function instantsOf({ createdAt, updatedAt, run }: SlotRow): number[] {
  const all = [createdAt, updatedAt, run?.createdAt, run?.cancelRequestedAt];
  return all.filter((at): at is number => typeof at === 'number');
}

export function readDeed(one: DeedColumns): Deed {
  return {
    id: String(one.id),
    at: one.at,
    actor: one.actor,
    verb: one.verb,
    taskId: one.task_id,
    stateBefore: one.state_before as TaskState | null,
    stateAfter: one.state_after as TaskState | null,
    before: readFacts(one.before),
    after: readFacts(one.after),
    traceId: one.trace_id,
  };
}

/** How far a stretch of changes was read, and in which order they hold. */

/** Where a list that is longer than one may read is cut: nothing before that instant was left unread. */
export function cutAt(found: readonly { readonly at: number }[], max: number): number | null {
  return found.length > max ? (found.at(-1)?.at ?? null) : null;
}

/** A change holds for the slots after it, so at the cut itself nothing is missing. Each page comes on by something. */
export function readTo(cut: number | null, from: number): number | null {
  return cut === null ? null : Math.max(cut, from + 1);
}

/** In the order in which they were made, without those whose time came again under a later one. */
export function standing<T extends { readonly at: number }>(all: readonly T[], order: (one: T) => number): T[] {
  const kept: T[] = [];
  for (const one of all.toSorted((a, b) => order(a) - order(b))) {
    while ((kept.at(-1)?.at ?? one.at) > one.at) kept.pop();
    kept.push(one);
  }
  return kept;
}

/** Where of two things the later one has the earlier time, the clock was set back between them. */
export function stepsBack(made: readonly { readonly at: number }[]): Twice[] {
  const found: Twice[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const { at } of made) {
    if (at < latest) found.push({ from: at, to: latest });
    latest = Math.max(latest, at);
  }
  return found;
}
