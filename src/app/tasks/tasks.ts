import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { idempotencyRetentionMs } from '../../domain/limits.ts';
import type { Warning } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import type { MissedAnswer } from '../ports/questions.ts';
import type { RunView, TaskRun, TaskRunQuery, Page } from '../ports/runs.ts';
import {
  noChange,
  type AuditRow,
  type Changed,
  type ChangeRequest,
  type TaskChange,
  type TaskQuery,
  type TaskVersion,
  type Unbound,
  type GrantPage,
  type GrantQuery,
  type GrantStore,
  type GrantView,
} from '../ports/tasks.ts';
import type { Once } from '../use-cases/kept-answers.ts';
import { planAgain, refuseUnrepeatable, retryUnderWay, type Repeat } from './again.ts';
import { planRunNow, planSnooze } from './by-hand.ts';
import {
  createTask,
  endDuePauses,
  ringAll,
  type CreateNeeds,
  type CreateRequest,
  type CreateResult,
} from './create.ts';
import { editTask, type Changes, type TaskPatch } from './edit.ts';
import { planGrant, planRevoke, type GrantChanged, type GrantWish, planAttach, refuseUndeliverable } from './grants.ts';
import { planSkip, planUnskip, slotsTold, type Skip } from './skip.ts';
import { planUndo } from './undo.ts';
import {
  planAnswer,
  planCancel,
  planDelete,
  planPause,
  planRestore,
  planResume,
  type VerbScene,
  claimsFirst,
  notFound,
  refuseDeleted,
} from './verbs.ts';

/** Who does something to which task; the same key again has no second effect. */
export interface Target {
  readonly taskId: string;
  readonly actor: Actor;
  readonly idempotencyKey?: string | null;
  /** The request in whose course it is done, as its client named it. */
  readonly traceId?: string | null | undefined;
}

export interface Edited extends Changed {
  readonly warnings: readonly Warning[];
  readonly changes: Changes;
}

export interface RanByHand {
  readonly task: Task;
  readonly taskRun: TaskRun;
}

export interface Undone extends Changed {
  readonly undone: AuditRow;
  /** Nothing was left to take back: that was done before, or what was changed has come to its end. */
  readonly moot: 'before' | 'over' | null;
}

export interface Skipped extends Changed {
  /** What was skipped by it, earliest first. */
  readonly slots: readonly number[];
}

/** Everything that can be done to a task, whoever asks. No other module writes a definition. */
export interface Tasks {
  create(request: CreateRequest): Promise<CreateResult>;
  get(taskId: string): Promise<Task>;
  list(query: TaskQuery): Promise<Page<Task>>;
  versions(taskId: string): Promise<readonly TaskVersion[]>;
  edit(target: Target, patch: TaskPatch): Promise<Edited>;
  pause(target: Target, until: number | null): Promise<Changed>;
  resume(target: Target): Promise<Changed>;
  delete(target: Target): Promise<Changed>;
  restore(target: Target): Promise<Changed>;
  skip(target: Target, skip: Skip): Promise<Skipped>;
  unskip(target: Target): Promise<Changed>;
  snooze(target: Target, until: number | { readonly forMs: number }): Promise<Changed>;
  /** What becomes of missed slots about which it asks. */
  answer(target: Target, choice: MissedAnswer): Promise<Changed>;
  undo(target: Target, entryId: string | null): Promise<Undone>;
  runNow(target: Target): Promise<RanByHand>;
  /** Gives it a chat, or another one, as long as nothing of it is there. */
  attach(target: Target, threadKey: string): Promise<Changed>;
  listGrants(query: Omit<GrantQuery, 'now'>): Promise<GrantPage>;
  /** Gives it a fresh right to run, in the place of the one that it has. */
  grant(target: Target, wish: GrantWish): Promise<GrantChanged>;
  /** Takes a right to run away for good. */
  revoke(grantId: string, by: Omit<Target, 'taskId'>): Promise<GrantChanged>;
  /** Calls off what the task runs now. */
  cancel(target: Target): Promise<Changed>;
  /** Takes its topic from it, which the caller removes; the next result makes another one. */
  unbindTopic(target: Target, topicId: number): Promise<Unbound>;
  listRuns(query: TaskRunQuery): Promise<Page<TaskRun>>;
  getRun(runId: string): Promise<RunView>;
  cancelRun(
    runId: string,
    actor: Actor,
    traceId?: string | null,
  ): Promise<{ readonly cancelled: boolean; readonly run: RunView }>;
  /** Does a run again: a retry makes good what failed, a replay is a new call. */
  repeat(kind: Repeat['kind'], runId: string, by: Omit<Target, 'taskId'>): Promise<RanByHand>;
}

interface TasksNeeds extends CreateNeeds {
  readonly store: CreateNeeds['store'] & GrantStore;
}

export function createTasks(needs: TasksNeeds): Tasks {
  const { store, ids, clock } = needs;
  const get = async (taskId: string): Promise<Task> => {
    const task = await store.readTask(taskId);
    if (task === null || task.state === 'deleted') throw notFound();
    return task;
  };
  const getRun = (runId: string) => readRun(needs, runId);
  return {
    create: (request) => createTask(needs, request),
    get,
    list: (query) => listTasks(needs, query),
    versions: async (taskId) => {
      await get(taskId);
      return store.listVersions(taskId);
    },
    edit: (target, patch) => edit(needs, target, patch),
    pause: (target, until) => change(needs, { target, verb: ['pause', until] }, (scene) => planPause(scene, until)),
    resume: (target) => change(needs, { target, verb: ['resume'] }, planResume),
    delete: (target) => change(needs, { target, verb: ['delete'] }, planDelete),
    restore: (target) => change(needs, { target, verb: ['restore'], look: { recent: true } }, planRestore),
    skip: (target, skipping) => skip(needs, target, skipping),
    unskip: (target) => change(needs, { target, verb: ['unskip'] }, (scene) => planUnskip(scene, null)),
    snooze: (target, until) =>
      change(needs, { target, verb: ['snooze', until] }, ({ scene, now }) =>
        planSnooze(ids, scene, { until: typeof until === 'number' ? until : now + until.forMs, now }),
      ),
    answer: (target, choice) =>
      change(needs, { target, verb: ['answer', choice] }, (scene) => planAnswer(scene, choice)),
    undo: (target, entryId) => undo(needs, target, entryId),
    attach: (target, threadKey) => attach(needs, target, threadKey),
    listGrants: (query) => store.listGrants({ ...query, now: clock.now() }),
    grant: (target, wish) => grant(needs, target, wish),
    revoke: (grantId, by) => revoke(needs, grantId, by),
    cancel: (target) => change(needs, { target, verb: ['cancel'] }, planCancel),
    runNow: (target) => runNow(needs, target),
    unbindTopic: ({ taskId, actor }, topicId) => store.unbindTopic({ taskId, topicId, actor, at: clock.now() }),
    listRuns: async (query) => {
      await get(query.taskId);
      return store.listTaskRuns(query);
    },
    getRun,
    cancelRun: async (runId, actor, traceId) => {
      const cancelled = await store.cancelRun({ runId, actor, at: clock.now(), traceId });
      if (cancelled === null) throw noRun();
      ringAll(needs);
      return { cancelled, run: await getRun(runId) };
    },
    repeat: (kind, runId, by) => repeat(needs, { kind, runId }, by),
  };
}

async function readRun({ store }: CreateNeeds, runId: string): Promise<RunView> {
  const run = await store.readRun(runId);
  if (run === null) throw noRun();
  return run;
}

function noRun(): AppError {
  return new AppError('not_found', 'There is no such run.');
}

interface Deed {
  readonly target: Target;
  /** The verb and what it was given: the same key with something else is refused. */
  readonly verb: readonly [string, ...unknown[]];
  readonly look?: ChangeRequest['look'];
}

/** Changes a task under its lock, once the slots that were due are taken up. */
async function change(needs: CreateNeeds, deed: Deed, plan: (scene: VerbScene) => TaskChange): Promise<Changed> {
  const now = needs.clock.now();
  await endDuePauses(needs, now);
  const changed = await needs.store.changeTask(requestOf(needs, deed, now), (scene) =>
    plan({ scene, now, ...claimsFirst(needs, scene, now) }),
  );
  ringAll(needs);
  return changed;
}

function requestOf(needs: CreateNeeds, { target, verb, look }: Deed, now: number): ChangeRequest {
  const { taskId, actor, traceId } = target;
  const once = onceOf(needs, { target, verb }, now);
  const request = { taskId, actor, at: now, once, quota: needs.quota, traceId };
  return look === undefined ? request : { ...request, look };
}

function onceOf({ digest }: CreateNeeds, { target, verb }: Deed, now: number): Once | null {
  const { taskId, idempotencyKey = null } = target;
  if (idempotencyKey === null) return null;
  return {
    scope: `${verb[0]}:${taskId}`,
    key: idempotencyKey,
    payloadHash: digest.of(JSON.stringify([taskId, ...verb])),
    expiresAt: now + idempotencyRetentionMs,
  };
}

async function edit(needs: CreateNeeds, target: Target, patch: TaskPatch): Promise<Edited> {
  let warnings: readonly Warning[] = [];
  let changes: Changes = {};
  const changed = await change(needs, { target, verb: ['edit', patch] }, ({ scene, now, ...claimed }) => {
    refuseDeleted(scene);
    const edited = editTask(needs.rules, claimed, { scene, patch, now });
    ({ warnings, changes } = edited);
    return edited.change;
  });
  if (changes['title'] !== undefined) needs.renamed?.(changed.task);
  if (changes['schedule'] !== undefined) needs.retimed?.(changed.task.id);
  return { ...changed, warnings, changes };
}

async function skip(needs: CreateNeeds, target: Target, skipping: Skip): Promise<Skipped> {
  let slots: readonly number[] = [];
  const changed = await change(needs, { target, verb: ['skip', skipping] }, (scene) => {
    const planned = planSkip(needs.ids, scene, skipping);
    slots = slotsTold(planned.audit?.after ?? null);
    return planned;
  });
  // Handled once more, it is the first request that tells what it did.
  if (changed.replayed) slots = slotsTold((await entryOf(needs, target, () => changed.entryId))?.after ?? null);
  return { ...changed, slots };
}

async function undo(needs: CreateNeeds, target: Target, entryId: string | null): Promise<Undone> {
  const found: { entry: AuditRow | null; moot: Undone['moot'] } = { entry: null, moot: null };
  const { rules, ids } = needs;
  const changed = await change(needs, { target, verb: ['undo', entryId], look: { recent: true } }, (scene) => {
    const { change: back, entry, moot } = planUndo({ ...scene, rules, ids }, entryId);
    Object.assign(found, { entry, moot });
    return back;
  });
  const undone = found.entry ?? (await undoneBefore(needs, target, { entryId, by: changed.entryId }));
  if (undone === null) throw notFound();
  if (undone.before?.['title'] !== undefined) needs.renamed?.(changed.task);
  if (undone.before?.['schedule'] !== undefined) needs.retimed?.(changed.task.id);
  return { ...changed, undone, moot: found.moot };
}

/** What the first request with this key has taken back: the entry that it named, or the one that its own entry tells of. */
async function undoneBefore(
  needs: CreateNeeds,
  target: Target,
  { entryId, by }: { readonly entryId: string | null; readonly by: string | null },
): Promise<AuditRow | null> {
  return entryOf(needs, target, (recent) => entryId ?? recent.find(({ id }) => id === by)?.after?.['undoes']);
}

/** One of the latest entries about the task. */
async function entryOf(
  { store, clock, quota }: CreateNeeds,
  { taskId, actor }: Target,
  idIn: (recent: readonly AuditRow[]) => unknown,
): Promise<AuditRow | null> {
  const request = { taskId, actor, at: clock.now(), once: null, quota, look: { recent: true } } as const;
  const found: { entry: AuditRow | undefined } = { entry: undefined };
  await store.changeTask(request, ({ recent }) => {
    const named = idIn(recent);
    found.entry = recent.find(({ id }) => id === named);
    return noChange;
  });
  return found.entry ?? null;
}

async function attach(needs: CreateNeeds, target: Target, threadKey: string): Promise<Changed> {
  const home = parseThreadKey(threadKey);
  refuseUndeliverable(home);
  return change(needs, { target, verb: ['attach', threadKey], look: { place: home } }, ({ scene }) =>
    planAttach(needs.ids, scene, home),
  );
}

async function grant(needs: TasksNeeds, target: Target, wish: GrantWish): Promise<GrantChanged> {
  const id = needs.ids.next();
  const changed = await change(needs, { target, verb: ['grant', wish] }, (scene) => planGrant(scene, id, wish));
  if (!changed.replayed) return { ...changed, grant: await readGrant(needs, id) };
  // Asked once more, it is the first request that tells what it gave.
  const given = (await entryOf(needs, target, () => changed.entryId))?.after?.['grant_id'];
  return { ...changed, grant: await readGrant(needs, typeof given === 'string' ? given : '') };
}

async function revoke(needs: TasksNeeds, grantId: string, by: Omit<Target, 'taskId'>): Promise<GrantChanged> {
  const known = await readGrant(needs, grantId);
  const [taskId] = known.taskIds;
  // One that was replaced was revoked with that.
  if (taskId === undefined) return { grant: known, entryId: null, replayed: false };
  const target = { ...by, taskId };
  const changed = await change(needs, { target, verb: ['revoke', grantId] }, (scene) => planRevoke(scene, grantId));
  return { ...changed, grant: await readGrant(needs, grantId) };
}

async function readGrant({ store }: TasksNeeds, grantId: string): Promise<GrantView> {
  const found = await store.readGrant(grantId);
  if (found === null) throw new AppError('not_found', 'There is no such grant.');
  return found;
}

/** Looks of the store that one page may take, so that a search through a large table ends, and hands its cursor on. */
const looksPerPage = 200;

/** The store looks at so many rows at a time; in between everybody else gets a turn. */
async function listTasks({ store, timer }: CreateNeeds, query: TaskQuery): Promise<Page<Task>> {
  let page = await store.listTasks(query);
  const items = [...page.items];
  for (let looks = 1; looks < looksPerPage && page.next !== null && items.length < query.limit; looks += 1) {
    await timer.yield();
    page = await store.listTasks({ ...query, limit: query.limit - items.length, cursor: page.next });
    items.push(...page.items);
  }
  return { items, next: page.next };
}

async function runNow(needs: CreateNeeds, target: Target): Promise<RanByHand> {
  const now = needs.clock.now();
  let isDispatched = false;
  const changed = await needs.store.changeTask(requestOf(needs, { target, verb: ['run-now'] }, now), (scene) => {
    const planned = planRunNow(needs, scene, { now, traceId: target.traceId });
    isDispatched = planned.manual !== null && planned.manual.run !== null;
    return planned;
  });
  // For everybody else nothing has changed, and each room that looks in vain keeps the run waiting.
  if (isDispatched) needs.bell.ring('runner');
  else ringAll(needs);
  return { task: changed.task, taskRun: await readTaskRun(needs, changed.occurrenceId) };
}

async function repeat(
  needs: CreateNeeds,
  { kind, runId }: Pick<Repeat, 'kind'> & { runId: string },
  by: Omit<Target, 'taskId'>,
): Promise<RanByHand> {
  const { store, clock } = needs;
  const of = await store.readEndedRun(runId);
  if (of === null) throw noRun();
  refuseUnrepeatable(kind, of);
  const now = clock.now();
  const target = { ...by, taskId: of.taskId };
  const look = { replaysOf: of.occurrenceId };
  let known: string | null = null;
  const changed = await store.changeTask(requestOf(needs, { target, verb: [kind, runId], look }, now), (scene) => {
    refuseDeleted(scene);
    known = kind === 'retry' ? retryUnderWay(scene) : null;
    return known === null ? planAgain(needs, scene, { kind, of, now, traceId: by.traceId }) : noChange;
  });
  ringAll(needs);
  // The first request with this key found a retry that was under way, and made none of its own.
  if (changed.replayed && changed.occurrenceId === null) known = await retryOf(needs, target, of.occurrenceId);
  return { task: changed.task, taskRun: await readTaskRun(needs, known ?? changed.occurrenceId) };
}

/** The retry that there is, whatever has become of it. */
async function retryOf(needs: CreateNeeds, { taskId, actor }: Target, replaysOf: string): Promise<string | null> {
  let known: string | null = null;
  const request = { taskId, actor, at: needs.clock.now(), once: null, quota: needs.quota, look: { replaysOf } };
  await needs.store.changeTask(request, ({ replays }) => {
    known = replays.find(({ source }) => source === 'retry')?.id ?? null;
    return noChange;
  });
  return known;
}

async function readTaskRun({ store }: CreateNeeds, id: string | null): Promise<TaskRun> {
  const taskRun = await store.readTaskRun(id ?? '');
  if (taskRun === null) throw notFound();
  return taskRun;
}
