import type { ChangedAndTold, ChangeRequest, TaskChange, TaskScene } from '../../app/ports/tasks.ts';
import { watchedIn, type Task, type Definition } from '../../domain/task.ts';
import { lockChat } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { forShare, forUpdate, raw, sql, text } from '../engine/sql.ts';
import {
  all,
  hold,
  insert,
  insertAll,
  one,
  run,
  select,
  update,
  updateAll,
  updateReturning,
} from '../engine/statements.ts';
import { retryBlocked } from '../outbox/holds.ts';
import { lookAtHeld } from '../outbox/quiet-parts.ts';
import { dropParts } from '../outbox/run-parts.ts';
import { closeAcks, reopenDropped, reopenSnoozed } from '../questions/nags.ts';
import { nameDeed, recordVerbs, tellEvents } from '../records/journal.ts';
import { dispatchRuns, insertOccurrences, numberFields, writeClaims } from '../runs/claims.ts';
import { endPauseOf } from '../runs/slots.ts';
import { cancelLive } from '../runs/thread-runs.ts';
import { followPolicy } from '../spending/limits.ts';
import { moveTask, noTopic } from './attach.ts';
import { endWaiting } from './auto-pauses.ts';
import { fieldColumns } from './codec.ts';
import { changeGrant, endGrantAt, followState, checkQuota, lockOwner } from './grants.ts';
import { claimOnce, settleOnce } from './once.ts';
import { sceneOf, taskById } from './scene.ts';

type Plan = (scene: TaskScene) => TaskChange;

/** A decision about one task, made and written under its lock. */
export function* changeTask(request: ChangeRequest, plan: Plan): Script<ChangedAndTold> {
  const done = yield* claimOnce<Done>(request.once, request.at);
  if (done !== null) return { task: yield* taskById(request.taskId), ...done, replayed: true };
  const { change, task, entryId } = yield* changeLocked(request, plan);
  const made: Done = { occurrenceId: change.manual?.occurrence.id ?? null, entryId, told: change.told };
  yield* settleOnce(request.once, made);
  return { task, ...made, replayed: false };
}

/** The result kept under a key. */
type Done = Pick<ChangedAndTold, 'occurrenceId' | 'entryId' | 'told'>;

type LockedRequest = Omit<ChangeRequest, 'once'>;

interface Written {
  readonly change: TaskChange;
  readonly task: Task;
  readonly entryId: string | null;
}

export function* changeLocked(request: LockedRequest, plan: Plan): Script<Written> {
  const { taskId, at } = request;
  yield* lockPlaces(request);
  yield* hold(sql`select id from tasks where id = ${taskId} ${forUpdate}`);
  const scene = yield* goneOnScene(request);
  const change = plan(scene);
  if (countsAgain(scene.task.state, change.set.state)) {
    yield* lockOwner(scene.task);
    const { chatId, ownerId: owner, created } = scene.task;
    yield* checkQuota(request.quota, { chatId, owner, createdBy: created.by });
  }
  for (const claim of change.claims) {
    const tasks = yield* all(select(numberFields)`from tasks where id = ${taskId}`);
    yield* writeClaims([claim], tasks, at);
  }
  const { ended, calledOff } = yield* endOpen(request, change);
  yield* setFields(request, change, scene.task);
  if (change.scopes !== null) {
    const { scopes, unconfirmed } = change.scopes;
    yield* update(
      'grants',
      { scopes: JSON.stringify(scopes), unconfirmed: JSON.stringify(unconfirmed) },
      sql`id = (select t.grant_id from tasks t where t.id = ${taskId})`,
    );
  }
  if (change.grantEnd !== null) yield* endGrantAt(scene.task, change.grantEnd.at, at);
  yield* followState(request, scene.task, change.set.state);
  const isGrantChanged = change.grant !== null && (yield* changeGrant(request, scene.task, change.grant));
  if (change.move !== null) yield* moveTask(request, scene.task, change.move);
  if (change.askAgain !== null) yield* reopenDropped(taskId, change.askAgain, at);
  const { isAnswered, isUnpaid } = yield* addManual(request, change);
  const task = yield* taskById(taskId);
  yield* keepVersion(request, scene.task, task);
  // Runs called off already, or ended meanwhile, are not called off again.
  const isMoot = (change.audit?.verb === 'cancel' && calledOff === 0) || (change.grant !== null && !isGrantChanged);
  if (isMoot) return { change, task, entryId: null };
  const done = isUnpaid ? leftOut(change) : change;
  const entryId = yield* writeAudit(request, done, { before: scene.task, after: task, isAnswered });
  if (entryId !== null) yield* nameDoer(entryId, change, ended);
  return { change, task, entryId };
}

/** The task as it stands by now: a pause that was to end is over, and the slots since then must not be lost. */
function* goneOnScene(request: LockedRequest): Script<TaskScene> {
  const { taskId, at, endPause } = request;
  const scene = yield* sceneOf(request);
  const { resumeAt } = scene.task;
  if (endPause === undefined || resumeAt === null || resumeAt > at) return scene;
  yield* endPauseOf(taskId, at, endPause);
  return yield* sceneOf(request);
}

/**
 * Makers of a task lock its chat and its owner before the task that is there already, so a change that may need them
 * locks them first as well: the chat into which a task moves, and that of a task that may come back.
 */
function* lockPlaces({ taskId, look }: LockedRequest): Script<void> {
  if (look === undefined || 'replaysOf' in look) return;
  const task = yield* one(select(pick(columns.tasks, 'chatId', 'ownerId'))`from tasks where id = ${taskId}`);
  if (task === undefined) return;
  const chat = 'place' in look ? yield* lockChat(look.place) : undefined;
  if ('recent' in look) yield* hold(sql`select id from chats where id = ${task.chatId} ${keeping}`);
  const owners = sql`(${task.ownerId}, ${chat?.approvedBy ?? task.ownerId})`;
  yield* hold(sql`select id from users where id in ${owners} order by id ${keeping}`);
}

const keeping = forShare();

/** Only tasks that can still run count against a quota, so what comes back from an end has to ask again. */
function countsAgain(before: Task['state'], after: Task['state'] | undefined): boolean {
  const wasOver = before === 'completed' || before === 'deleted';
  return wasOver && (after === 'active' || after === 'paused');
}

function* nameDoer(entryId: string, { claims, answer, manual }: TaskChange, ended: readonly string[]): Script<void> {
  const skipped = claims.flatMap(({ occurrences }) => occurrences.filter(({ reason }) => reason === 'skip'));
  yield* nameDeed('deedId', entryId, [...ended, ...skipped.map(({ id }) => id)]);
  yield* nameDeed('askedBy', entryId, [...(answer?.run ?? []), ...(manual === null ? [] : [manual.occurrence.id])]);
}

interface Ended {
  /** Occurrences that came to their end by it. */
  readonly ended: readonly string[];
  readonly calledOff: number;
}

/** Ends what was still open: occurrences that wait, parts to be sent, live runs, snoozes, skips, questions. */
function* endOpen({ taskId, at }: LockedRequest, change: TaskChange): Script<Ended> {
  const waiting = change.endWaiting === null ? [] : yield* endWaiting([taskId], change.endWaiting, at);
  if (change.set.state === 'deleted') yield* dropParts([taskId], at);
  const runs = change.cancelLive ? yield* cancelLive([taskId], change.endWaiting ?? 'cancelled', at) : [];
  const snoozes = change.endSnooze === null ? [] : yield* endSnooze({ taskId, ...change.endSnooze, at });
  for (const slotAt of change.unskip) {
    yield* run(sql`delete from occurrences
      where task_id = ${taskId} and slot_at = ${slotAt} and run_id is null and status <> 'pending'
        and (source = 'snooze' or (status = 'skipped' and reason = 'skip'))`);
  }
  const placed = change.reskip.map((occurrence) => ({ taskId, occurrence }));
  const made = yield* insertOccurrences(placed, at);
  const again = change.reskip.filter((_one, index) => made[index]).map(({ id }) => id);
  const data = { reason: 'skip' };
  yield* tellEvents(again.map((ref) => ({ kind: 'occurrence.skipped', at, taskId, ref, data })));
  const declined = yield* answerQuestions(taskId, change.answer, at);
  const ofRuns = runs.flatMap(({ occurrenceId }) => occurrenceId ?? []);
  const ofWaiting = waiting.map(({ id }) => id);
  return { ended: [...ofWaiting, ...ofRuns, ...snoozes, ...again, ...declined], calledOff: runs.length };
}

interface SnoozeEnd {
  readonly taskId: string;
  readonly slotAt: number;
  readonly reason: string;
  readonly at: number;
}

function* endSnooze({ taskId, slotAt, reason, at: now }: SnoozeEnd): Script<string[]> {
  const ended = yield* updateReturning(
    'occurrences',
    { status: 'skipped', reason: text(reason), updatedAt: now },
    sql`task_id = ${taskId} and slot_at = ${slotAt} and status = 'pending' and source = 'snooze'`,
    pick(columns.occurrences, 'id', 'replayOf'),
  );
  if (reason === 'undone') for (const { replayOf } of ended) yield* reopenSnoozed(taskId, replayOf, now);
  yield* tellEvents(
    ended.map(({ id }) => ({ kind: 'occurrence.skipped', at: now, taskId, ref: id, data: { reason } })),
  );
  return ended.map(({ id }) => id);
}

/** A yes lets the slot wait for its turn like any late one; a no ends it. Answers what was declined. */
function* answerQuestions(taskId: string, answer: TaskChange['answer'], now: number): Script<string[]> {
  if (answer === null) return [];
  const isOpen = (id: string) => sql`id = ${id} and status = 'pending'`;
  yield* updateAll('occurrences', answer.run, { set: () => ({ decideBy: null, updatedAt: now }), where: isOpen });
  const declined = yield* updateAll('occurrences', answer.skip, {
    set: () => ({ status: 'skipped', reason: 'declined', updatedAt: now }),
    where: isOpen,
  });
  yield* tellEvents(
    declined.map((id) => ({ kind: 'occurrence.skipped', at: now, taskId, ref: id, data: { reason: 'declined' } })),
  );
  return declined;
}

interface Added {
  /** A reminder that stands in the topic goes away with it. */
  readonly isAnswered: boolean;
  /** No budget had room for its run. */
  readonly isUnpaid: boolean;
}

function* addManual({ taskId, at }: LockedRequest, { manual }: TaskChange): Script<Added> {
  if (manual === null) return { isAnswered: false, isUnpaid: false };
  // A person who puts a reminder off has answered it; it asks again when it comes again.
  const { source, replayOf } = manual.occurrence;
  const isAnswered = source === 'snooze' && (yield* closeAcks([taskId], 'superseded', at, replayOf));
  yield* insertOccurrences([{ taskId, occurrence: manual.occurrence }], at);
  const unpaid = manual.run === null ? 0 : yield* dispatchRuns([manual.run], at);
  return { isAnswered, isUnpaid: unpaid > 0 };
}

/** The row of the audit tells what became of a run for which there was no room: it was never made. */
function leftOut(change: TaskChange): TaskChange {
  if (change.audit === null) return change;
  const { run_id: _never, ...after } = change.audit.after ?? {};
  return { ...change, audit: { ...change.audit, after: { ...after, status: 'skipped', reason: 'budget' } } };
}

function* setFields({ taskId, actor, at }: LockedRequest, change: TaskChange, before: Task): Script<void> {
  const stamp =
    change.stamp === null ? {} : { updatedAt: at, updatedBy: actor, ...stampOf(change.stamp, { at, actor }) };
  // Runs that the timing before asked for do not count any more when they end.
  const anew = change.set.boundedRuns === undefined ? {} : { boundedSince: raw('version + 1') };
  const set = { ...fieldColumns(change.set), ...anew, ...counted(change, before), ...stamp };
  if (Object.values(set).every((value) => value === undefined)) return;
  yield* update('tasks', { ...set, version: raw('version + 1') }, sql`id = ${taskId}`);
  if (watchesAnew(change, before)) yield* run(sql`delete from watches where task_id = ${taskId}`);
  const { schedule } = change.set;
  // The topic that one-offs share is for one-offs; its next run gives a series a topic of its own.
  if (schedule !== undefined && schedule.kind !== 'once')
    yield* update('tasks', noTopic, sql`id = ${taskId} and topic_shared = 1 and topic_state = 'ready'`);
  if (change.set.tags !== undefined) {
    yield* run(sql`delete from task_tags where task_id = ${taskId}`);
    yield* insertTags(before, change.set.tags);
  }
  if (change.set.policies !== undefined || change.set.schedule !== undefined) yield* lookAtHeld({ taskId }, at);
  if (change.set.policies !== undefined) {
    const { id, chatId } = before;
    const { timezone } = schedule ?? before.schedule;
    yield* followPolicy({ taskId: id, chatId, timezone, policies: change.set.policies, actor, at });
  }
  // Deliveries that wait for their topic may go elsewhere by the new policies.
  if (change.set.policies !== undefined) yield* retryBlocked({ chatId: null, taskId, inDoubt: false }, at);
}

export function* insertTags(
  { id: taskId, chatId }: Pick<Task, 'id' | 'chatId'>,
  tags: readonly string[],
): Script<void> {
  yield* insertAll(
    'taskTags',
    tags.map((tag) => ({ taskId, tag, chatId })),
  );
}

/** Versions by which the end of a run knows that it began before a person changed what it has to do with. */
function counted(change: TaskChange, before: Task) {
  return {
    ...(change.set.context === undefined ? {} : { contextVersion: raw('context_version + 1') }),
    ...(watchesAnew(change, before) ? { watchedSince: raw('version + 1') } : {}),
  };
}

function watchesAnew({ set: { action } }: TaskChange, before: Task): boolean {
  return action !== undefined && watchedIn(action) !== watchedIn(before.action);
}

/** The actor and the time, in the columns of what was done. */
function stampOf(stamp: NonNullable<TaskChange['stamp']>, { at, actor }: By) {
  switch (stamp) {
    case 'updated':
      return {};
    case 'paused':
      return { pausedAt: at, pausedBy: actor };
    case 'resumed':
      return { resumedAt: at, resumedBy: actor };
    case 'deleted':
      return { deletedAt: at, deletedBy: actor };
    case 'restored':
      return { deletedAt: null, deletedBy: null };
  }
}

interface Sides {
  readonly before: Task;
  readonly after: Task;
  /** The change has answered a reminder, which says so in its place: the card may be drawn later, which saves a call. */
  readonly isAnswered: boolean;
}

function* writeAudit(
  { taskId, actor, at, traceId }: LockedRequest,
  { audit, move, grant }: TaskChange,
  { before, after, isAnswered }: Sides,
): Script<string | null> {
  if (audit === null) return null;
  // The number and the owner there are known only to the new chat, and the owner of a fresh grant to those who are there.
  const number = move === null ? {} : { number: after.number };
  const isOwned = move !== null || grant?.is === 'given';
  const told = isOwned ? { after: { ...audit.after, ...number, owner_user_key: after.ownerId } } : {};
  const [entry] = yield* recordVerbs([
    {
      at,
      actor,
      taskId,
      stateBefore: before.state,
      stateAfter: after.state,
      hasCard: !isAnswered,
      traceId,
      ...audit,
      ...told,
    },
  ]);
  return entry ?? null;
}

/** The definition alone, in the form in which a version keeps it. */
function definitionText(definition: Definition): string {
  const { title, instructions, action, schedule, policies, subject, tags } = definition;
  return JSON.stringify({ title, instructions, action, schedule, policies, subject, tags });
}

type By = Pick<ChangeRequest, 'actor' | 'at'>;

export function* addVersion(
  { actor, at }: By,
  task: Definition & Pick<Task, 'id' | 'version' | 'chatId'>,
): Script<void> {
  yield* insert(
    'taskVersions',
    { taskId: task.id, version: task.version, at, actor, definition: definitionText(task), chatId: task.chatId },
    raw('on conflict (task_id, version) do nothing'),
  );
}

/** Keeps what a task was told to do, whenever that changed. A task from before there were versions gets its first one now. */
export function* keepVersion(by: By, before: Task, after: Task): Script<void> {
  if (definitionText(before) === definitionText(after)) return;
  const known = yield* one(
    select(pick(columns.taskVersions, 'version'))`from task_versions where task_id = ${before.id} limit 1`,
  );
  if (known === undefined) yield* addVersion({ actor: before.updated.by, at: before.updated.at }, before);
  yield* addVersion(by, after);
}
