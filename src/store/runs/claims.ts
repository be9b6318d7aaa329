import type { Counts, SlotPlan, NewOccurrence, Quarantine } from '../../app/ports/pipeline.ts';
import type { NewRun } from '../../domain/run.ts';
import { keepSnapshots } from '../blobs/snapshots.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick, type Answer } from '../engine/fields.ts';
import { allOf, list, raw, sql, type Sql } from '../engine/sql.ts';
import { insertAll, offer, one, select, updateAll, updateReturning } from '../engine/statements.ts';
import { askAboutMissed } from '../questions/questions.ts';
import { chatsOf, tellComplete, tellEvents, traced, type NewEvent } from '../records/journal.ts';
import { refusedRoom, reservedValues } from '../spending/budgets.ts';
import { endWaiting, stopTasks } from '../tasks/auto-pauses.ts';
import { tellMayNotRun } from '../tasks/grants.ts';
import { cancelLive } from './thread-runs.ts';

/**
 * Writes what was decided about tasks whose rows are locked. The next slot moves by compare-and-set on the old one, and
 * first of all: a claim that lost a race moves nothing, and then nothing of it is written. Answers how many runs had no budget.
 */
export function* writeClaims(claims: readonly SlotPlan[], tasks: readonly Numbered[], now: number): Script<number> {
  const won = [
    ...(yield* moveOn(claims.filter(({ nextAt }) => nextAt !== null))),
    ...(yield* moveOn(
      claims.filter(({ nextAt }) => nextAt === null),
      { state: 'completed' },
    )),
  ];
  for (const claim of won) if (claim.replaces && !(yield* stands(claim))) yield* makeRoom(claim.taskId, now);
  const chats = new Map(won.flatMap(({ runs }) => runs.map(({ taskId, chatId }) => [taskId, chatId])));
  const placed = won.flatMap(({ taskId, occurrences }) =>
    occurrences.map((occurrence) => ({ taskId, occurrence, chatId: chats.get(taskId) })),
  );
  const made = yield* insertOccurrences(placed, now);
  const known = placed.filter((_one, index) => made[index] !== true);
  yield* tellEvents(placed.filter((_one, index) => made[index]).flatMap((one) => decisionOf(one, now)));
  const dropped = new Set(known.map(({ occurrence }) => occurrence.id));
  const runs = won.flatMap((claim) => claim.runs);
  const isDropped = ({ occurrenceId }: NewRun) => dropped.has(occurrenceId ?? '');
  yield* takeBackNumbers(runs.filter(isDropped));
  const going = runs.filter((run) => !isDropped(run));
  const unpaid = yield* dispatchRuns(going, now, numbersIn(tasks, going));
  const completed = won.filter(({ nextAt }) => nextAt === null);
  yield* tellComplete(
    completed.map(({ taskId }) => taskId),
    now,
  );
  yield* askAboutMissed(won, now);
  yield* tellMayNotRun(
    placed.filter((_one, index) => made[index]).map(({ taskId, occurrence: { reason } }) => ({ taskId, reason })),
    now,
  );
  const gaps = won.flatMap(({ taskId, gap }) => (gap === null ? [] : [{ taskId, gap }]));
  const chatOf = yield* chatsOf(gaps.map(({ taskId }) => taskId));
  yield* insertAll(
    'gaps',
    gaps.map(({ taskId, gap: { id, fromAt, toAt, count, reason } }) => {
      return { id, taskId, fromAt, toAt, count, reason, createdAt: now, chatId: chatOf(taskId) };
    }),
    raw(`on conflict (task_id, from_at) do update set
      count = case when excluded.to_at > gaps.to_at then excluded.count else gaps.count end,
      to_at = case when excluded.to_at > gaps.to_at then excluded.to_at else gaps.to_at end`),
  );
  yield* tellEvents(
    gaps.map(({ taskId, gap }) => ({
      kind: 'gap.recorded',
      at: now,
      taskId,
      ref: gap.id,
      data: { count: gap.count, reason: gap.reason },
    })),
  );
  return unpaid;
}

/** Events of skipped and missed occurrences; no run reports these, as it does its start. */
function decisionOf({ taskId, occurrence }: Placed, now: number): NewEvent[] {
  const { status, id, reason } = occurrence;
  if (status !== 'skipped' && status !== 'missed') return [];
  return [{ kind: `occurrence.${status}`, at: now, taskId, ref: id, data: { reason } }];
}

/** Most claims move a task along and leave its state alone, and with it the index that the state stands in. It numbers the runs as well. */
function moveOn(claims: readonly SlotPlan[], change: { readonly state?: 'completed' } = {}): Script<SlotPlan[]> {
  return updateAll('tasks', claims, {
    set: ({ nextAt, runs }) => ({ nextAt, ...change, runNumber: sql`run_number + ${runs.length}` }),
    where: isAsExpected,
  });
}

/** The numbers that the claims have taken for their runs, as the rows of the tasks are locked since they were read. */
function numbersIn(tasks: readonly Numbered[], runs: readonly NewRun[]): ReadonlyMap<string, Numbers> {
  const left = new Map(tasks.map(({ id, runNumber, contextVersion }) => [id, { runNumber, contextVersion }]));
  const numbers = new Map<string, Numbers>();
  for (const { id, taskId } of runs) {
    const task = left.get(taskId ?? '');
    if (task !== undefined) numbers.set(id, { ...task, runNumber: (task.runNumber += 1) });
  }
  return numbers;
}

function* takeBackNumbers(runs: readonly NewRun[]): Script<void> {
  yield* updateAll('tasks', runs, {
    set: () => ({ runNumber: raw('run_number - 1') }),
    where: ({ taskId }) => sql`id = ${taskId ?? ''}`,
  });
}

function isAsExpected({ taskId, expectNextAt }: SlotPlan): Sql {
  return sql`id = ${taskId} and next_at = ${expectNextAt}`;
}

interface Placed {
  readonly taskId: string;
  /** The chat of its task, where whoever places it does not know it. */
  readonly chatId?: string | null | undefined;
  readonly occurrence: NewOccurrence;
}

/** A slot that already has its row, because a clock went back or a task was enabled again, keeps that row. */
export function* insertOccurrences(placed: readonly Placed[], now: number): Script<boolean[]> {
  const chatOf = yield* chatsOf(placed.flatMap(({ taskId, chatId }) => (chatId === undefined ? taskId : [])));
  return yield* insertAll(
    'occurrences',
    placed.map(({ taskId, occurrence, chatId = chatOf(taskId) }) => {
      const { id, slotAt, source, status, reason, decideBy, replayOf = null, runId, lateMs } = occurrence;
      const made = { createdAt: now, updatedAt: now };
      return { id, taskId, slotAt, source, status, reason, decideBy, replayOf, runId, lateMs, ...made, chatId };
    }),
    raw('on conflict (task_id, slot_at) do nothing'),
  );
}

/**
 * An occurrence without a run of its own would wait for ever, so a key that is taken ends it with that reason. Answers how many runs
 * had no budget.
 */
export function* dispatchRuns(
  runs: readonly NewRun[],
  now: number,
  numbers?: ReadonlyMap<string, Numbers>,
): Script<number> {
  const { made, refused: unpaid } = yield* insertRuns(runs, numbers);
  yield* leaveOut(
    runs.filter(({ id }) => unpaid.has(id)),
    now,
    numbers !== undefined,
  );
  const refused = runs.filter(({ id }, index) => made[index] !== true && !unpaid.has(id));
  yield* updateAll('occurrences', refused, {
    set: () => ({ status: 'failed', error: 'a run with this key exists already', updatedAt: now }),
    where: ({ occurrenceId }) => sql`id = ${occurrenceId ?? ''}`,
  });
  return unpaid.size;
}

/** A step of most places leaves out none. */
export function unpaidIn(unpaid: number): Pick<Counts, 'unpaid'> {
  return unpaid === 0 ? {} : { unpaid };
}

/** Runs for which a budget has no room were never made: their slots are left out, and say why. */
function* leaveOut(runs: readonly NewRun[], now: number, isNumbered: boolean): Script<void> {
  if (isNumbered) yield* takeBackNumbers(runs);
  const left = yield* updateAll('occurrences', runs, {
    set: () => ({ status: 'skipped', reason: 'budget', runId: null, updatedAt: now }),
    where: ({ occurrenceId }) => sql`id = ${occurrenceId ?? ''} and status = 'dispatched'`,
  });
  yield* tellEvents(
    left.map(({ taskId, occurrenceId, traceId }) => {
      const data = { reason: 'budget', ...traced(traceId) };
      return { kind: 'occurrence.skipped', at: now, taskId, ref: occurrenceId ?? '', data };
    }),
  );
}

type Numbers = Omit<Numbered, 'id'>;

/** Numbers for the runs of each task, in the order in which they enter, and that of the context which they are given. */
function* numbersFor(runs: readonly NewRun[]): Script<ReadonlyMap<string, Numbers>> {
  const numbers = new Map<string, Numbers>();
  // Most tasks have one, so that one statement numbers all of them.
  for (let left = runs.filter(({ taskId }) => taskId !== null); left.length > 0;) {
    const firsts = new Map(left.toReversed().map(({ taskId, id }) => [taskId ?? '', id]));
    const mine = sql`id in ${list([...firsts.keys()])}`;
    const counted = yield* updateReturning('tasks', { runNumber: raw('run_number + 1') }, mine, numberFields);
    for (const { id, ...given } of counted) numbers.set(firsts.get(id) ?? '', given);
    const taken = new Set(firsts.values());
    left = left.filter(({ id }) => !taken.has(id));
  }
  return numbers;
}

/** The columns of a task by which its runs are numbered. */
export const numberFields = pick(columns.tasks, 'id', 'runNumber', 'contextVersion');

type Numbered = Answer<typeof numberFields>;

interface Inserted {
  /** Whether each of them was new. */
  readonly made: readonly boolean[];
  /** Those for which a budget had no room. */
  readonly refused: ReadonlySet<string>;
}

/** Every run enters here, whatever asked for it, and reserves what it may spend. A key that is taken is the caller's to explain. */
export function* insertRuns(asked: readonly NewRun[], given?: ReadonlyMap<string, Numbers>): Script<Inserted> {
  const claimants = asked.flatMap(({ id, chatId, ownerId, taskId, costs }) =>
    costs === undefined ? [] : [{ id, chatId, ownerId, taskId, costs }],
  );
  const refused = yield* refusedRoom(claimants, asked[0]?.createdAt ?? 0);
  const runs = asked.filter(({ id }) => !refused.has(id));
  const fresh = yield* insertEach(runs, given);
  const made = new Set(runs.filter((_run, index) => fresh[index]).map(({ id }) => id));
  return { made: asked.map(({ id }) => made.has(id)), refused };
}

function* insertEach(runs: readonly NewRun[], given?: ReadonlyMap<string, Numbers>): Script<boolean[]> {
  const numbers = given ?? (yield* numbersFor(runs));
  const made = yield* insertAll(
    'runs',
    runs.map((run) => {
      const { id, source, idempotencyKey, payloadHash, lane, taskId, taskVersion, occurrenceId, chatId, ownerId } = run;
      const whose = { lane, taskId, taskVersion, occurrenceId, chatId, ownerId };
      return {
        id,
        source,
        idempotencyKey,
        payloadHash,
        ...whose,
        exclusive: run.exclusive ? 1 : 0,
        rank: 10 - run.priority,
        runNumber: numbers.get(id)?.runNumber ?? null,
        contextVersion: numbers.get(id)?.contextVersion ?? null,
        actionKind: run.input.action.kind,
        status: 'queued' as const,
        readyAt: run.readyAt,
        fence: 0,
        attempts: 0,
        interruptions: 0,
        title: run.input.title,
        instructions: run.input.instructions,
        input: run.inputText,
        snapshot: run.snapshot?.sha256 ?? null,
        createdAt: run.createdAt,
        traceId: run.traceId ?? null,
        ...reservedValues(run.costs ?? null, run.createdAt),
      };
    }),
    raw('on conflict (idempotency_key, source) do nothing'),
  );
  const fresh = runs.filter((_run, index) => made[index]);
  yield* keepSnapshots(fresh);
  yield* offer({ runs: fresh.map(({ id, input }) => ({ id, kind: input.action.kind })) });
  return made;
}

/** Whether the slot that would take over has its row already; then nobody gives way to it again. */
function* stands({ taskId, occurrences }: SlotPlan): Script<boolean> {
  const newest = occurrences.findLast(({ status }) => status === 'pending');
  if (newest === undefined) return false;
  const known = yield* one(
    select(pick(columns.occurrences, 'id'))`from occurrences where task_id = ${taskId} and slot_at = ${newest.slotAt}`,
  );
  return known !== undefined;
}

/** For `replace`: the live run is asked to stop, and whoever waited before gives way. */
function* makeRoom(taskId: string, now: number): Script<void> {
  yield* endWaiting([taskId], 'replaced', now);
  yield* cancelLive([taskId], 'replaced', now);
}

/** A row that cannot be read is paused with the reason: people see it, and it is never due again until it is mended. */
export function* writeQuarantines(marked: readonly Quarantine[], now: number): Script<void> {
  const stops = marked.map(({ taskId, quarantine: reason }) => ({ taskId, reason }));
  yield* stopTasks(stops, { verb: 'quarantine', guard: allOf() }, now);
}
