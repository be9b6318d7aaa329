import type { Actor } from '../../domain/access.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { missing } from '../../domain/errors.ts';
import type { AdviceWords } from '../../domain/schedule/advice.ts';
import type { Warning } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { endOfPause } from '../pipeline/scheduler.ts';
import type { ChatFacts } from '../ports/chat-facts.ts';
import type { OutboxStore } from '../ports/outbox.ts';
import type { MissedAnswer } from '../ports/questions.ts';
import type { Page, RunView, TaskRun, TaskRunQuery } from '../ports/runs.ts';
import {
  noChange,
  type AuditRow,
  type Changed,
  type ChangeRequest,
  type GrantQuery,
  type GrantStore,
  type GrantView,
  type TaskChange,
  type TaskQuery,
  type TaskScene,
  type TaskVersion,
} from '../ports/tasks.ts';
import { filled } from '../use-cases/runs.ts';
import { planAgain, refuseUnrepeatable, retryUnderWay, type Repeat } from './again.ts';
import { afterWait, planRunNow, planSnooze, type Snoozed } from './by-hand.ts';
import { planContext, type ContextWish } from './context.ts';
import {
  createTask,
  grantLastsMs,
  onceOf,
  refuseHostsAt,
  ringAll,
  unsetSecrets,
  type CreateDeps,
  type Key,
} from './create.ts';
import { withTemplates } from './definition.ts';
import { editTask, type Changes, type TaskPatch } from './edit.ts';
import {
  planAttach,
  planGrant,
  planRenew,
  planRevoke,
  refuseUndeliverable,
  type GrantChanged,
  type GrantWish,
  type RenewWish,
} from './grants.ts';
import { renameWarnings } from './named.ts';
import { planSkip, planUnskip, slotsTold, type Skip } from './skip.ts';
import { planUndo } from './undo.ts';
import {
  claimsFirst,
  planAnswer,
  planCancel,
  planDelete,
  planPause,
  planRestore,
  planResume,
  refuseDeleted,
  type VerbScene,
} from './verbs.ts';

/** A task, and who acts on it; the same key again has no second effect, and is told of the first. */
export interface Target extends By {
  readonly taskId: string;
  /** For what is said about a schedule; English without them. */
  readonly words?: AdviceWords | undefined;
}

interface By {
  readonly actor: Actor;
  readonly idempotencyKey?: Key;
  /** The request in whose course it is done, as its client named it. */
  readonly traceId?: string | null | undefined;
}

interface TasksDeps extends CreateDeps {
  readonly store: CreateDeps['store'] & GrantStore & Pick<OutboxStore, 'topicNaming'> & Pick<ChatFacts, 'chatSettings'>;
}

/** Verbs on a task, whoever asks. No other module writes a definition. */
export type Tasks = ReturnType<typeof createTasks>;

export function createTasks(deps: TasksDeps) {
  const { store, clock } = deps;
  return {
    create: createTask.bind(null, deps),
    get: readTask.bind(null, deps),
    list: listTasks.bind(null, deps),
    versions: async (taskId: string): Promise<readonly TaskVersion[]> => {
      await readTask(deps, taskId);
      return store.listVersions(taskId);
    },
    edit: edit.bind(null, deps),
    renameWarnings: renameWarnings.bind(null, deps),
    pause: (target: Target, until: number | null) =>
      change(deps, { target, verb: ['pause', until] }, (scene) => planPause(scene, until)),
    resume: (target: Target) => change(deps, { target, verb: ['resume'] }, planResume),
    delete: (target: Target) => change(deps, { target, verb: ['delete'] }, planDelete),
    restore: (target: Target) => change(deps, { target, verb: ['restore'], look: { recent: true } }, planRestore),
    skip: skip.bind(null, deps),
    unskip: (target: Target) => change(deps, { target, verb: ['unskip'] }, (scene) => planUnskip(scene, null)),
    snooze: snooze.bind(null, deps),
    /** Says what becomes of missed slots about which it asks. */
    answer: (target: Target, choice: MissedAnswer) =>
      change(deps, { target, verb: ['answer', choice] }, (scene) => planAnswer(scene, choice)),
    undo: undo.bind(null, deps),
    runNow: runNow.bind(null, deps),
    attach: attach.bind(null, deps),
    context: (target: Target, wish: ContextWish) =>
      change(deps, { target, verb: ['context', wish] }, (scene) => planContext(scene, wish)),
    listGrants: (query: Omit<GrantQuery, 'now'>) => store.listGrants({ ...query, now: clock.now() }),
    grant: grant.bind(null, deps),
    renew: renew.bind(null, deps),
    revoke: revoke.bind(null, deps),
    /** Calls off what the task runs now. */
    cancel: (target: Target) => change(deps, { target, verb: ['cancel'] }, planCancel),
    /** Takes its topic from it, which the caller removes; the next result makes another one. */
    unbindTopic: ({ taskId, actor }: Target, topicId: number) =>
      store.unbindTopic({ taskId, topicId, actor, at: clock.now() }),
    listRuns: async (query: TaskRunQuery): Promise<Page<TaskRun>> => {
      await readTask(deps, query.taskId);
      return store.listTaskRuns(query);
    },
    getRun: readRun.bind(null, deps),
    cancelRun: cancelRun.bind(null, deps),
    repeat: repeat.bind(null, deps),
  };
}

async function readTask({ store }: TasksDeps, taskId: string): Promise<Task> {
  const task = await store.readTask(taskId);
  if (task === null || task.state === 'deleted') throw missing('task');
  return task;
}

async function readRun({ store }: TasksDeps, runId: string): Promise<RunView> {
  const run = await store.readRun(runId);
  if (run === null) throw missing('run');
  return run;
}

interface Deed {
  readonly target: Target;
  /** The verb and what it was given: the same key with something else is refused. */
  readonly verb: readonly [string, ...unknown[]];
  readonly look?: ChangeRequest['look'];
  /** Whether it may change what the grant allows. */
  readonly isReaching?: boolean;
}

/** Changes a task under its lock, once the slots that were due are taken up. */
function change(deps: TasksDeps, deed: Deed, plan: (scene: VerbScene) => TaskChange): Promise<Changed> {
  return changeTelling(deps, deed, plan);
}

type Telling<T> = TaskChange & { readonly told: T };

/** A change that tells more of what it did; under the same key it tells the same again. */
async function changeTelling<T>(
  deps: TasksDeps,
  deed: Deed,
  plan: (scene: VerbScene) => Telling<T>,
): Promise<Changed & { readonly told: T }> {
  const now = deps.clock.now();
  const changed = await changeBare(deps, { ...deed, now }, (scene) =>
    plan({ scene, now, ...claimsFirst(deps, scene, now) }),
  );
  ringAll(deps);
  return changed;
}

/** A change that leaves the slots that are due to the scheduler. */
async function changeBare<T>(
  deps: TasksDeps,
  { target, verb, look, now, isReaching = false }: Deed & { readonly now: number },
  plan: (scene: TaskScene) => Telling<T>,
): Promise<Changed & { readonly told: T }> {
  const { taskId, actor, traceId, idempotencyKey = null } = target;
  const once = onceOf(deps, idempotencyKey, { scope: verb[0], target: taskId, payload: [taskId, ...verb] });
  const endPause: ChangeRequest['endPause'] = (due) => endOfPause(deps, due);
  const request = { taskId, actor, at: now, once, quota: deps.quota, traceId, endPause };
  const reach = isReaching ? await deps.secretReach(actor, target) : null;
  const heeding = reach === null ? plan : (scene: TaskScene) => reach.heed(scene, plan(scene));
  const changed = await deps.store.changeTask(look === undefined ? request : { ...request, look }, heeding);
  // A key belongs to one verb, so it keeps what that verb tells.
  return { ...changed, told: changed.told as T };
}

export interface Edited extends Changed {
  readonly warnings: readonly Warning[];
  readonly changes: Changes;
}

async function edit(deps: TasksDeps, target: Target, patch: TaskPatch): Promise<Edited> {
  const { hosts, unset } = await aroundAction(deps, target, patch.action);
  const changed = await withTemplates(deps, target.actor, (rules) =>
    changeTelling(deps, { target, verb: ['edit', patch], isReaching: patch.action !== undefined }, (scene) => {
      refuseDeleted(scene.scene);
      const edited = editTask({ ...rules, words: target.words, hosts }, scene, patch);
      return { ...edited.change, told: { warnings: [...edited.warnings, ...unset], changes: edited.changes } };
    }),
  );
  tellOutside(deps, changed, changed.told.changes);
  return { ...changed, ...changed.told };
}

/** The rules of the chat for another action: its hosts and its secrets. */
async function aroundAction(deps: TasksDeps, { taskId, words }: Target, action: TaskPatch['action']) {
  const task = action === undefined ? null : await deps.store.readTask(taskId);
  if (task === null || action === undefined) return { hosts: null, unset: [] };
  const { chatId, ownerId } = task;
  const { hosts } = settingsOf(await deps.store.chatSettings(chatId));
  return { hosts, unset: await unsetSecrets(deps, { action, ownerId, chat: chatId }, words) };
}

/** Another schedule is computed once more. */
function tellOutside({ retimed }: TasksDeps, { task, replayed }: Changed, fields: object | null): void {
  if (!replayed && fields !== null && 'schedule' in fields) retimed?.(task.id);
}

export interface Skipped extends Changed {
  /** The slots that it skipped, earliest first. */
  readonly slots: readonly number[];
}

async function skip(deps: TasksDeps, target: Target, skipping: Skip): Promise<Skipped> {
  const changed = await changeTelling(deps, { target, verb: ['skip', skipping] }, (scene) => {
    const planned = planSkip(deps.ids, scene, skipping);
    return { ...planned, told: { slots: slotsTold(planned.audit?.after ?? null) } };
  });
  return { ...changed, ...changed.told };
}

/** `of` is the occurrence whose result is put off; the latest one where none is named. */
async function snooze(
  deps: TasksDeps,
  target: Target,
  until: number | { readonly forMs: number },
  of: string | null = null,
): Promise<Changed & Snoozed> {
  const verb = ['snooze', until, ...(of === null ? [] : [of])] as const;
  const changed = await changeTelling(deps, { target, verb, look: { resultOf: of } }, (scene) =>
    planSnooze(deps.ids, scene, typeof until === 'number' ? until : afterWait(scene.now, until.forMs)),
  );
  return { ...changed, ...changed.told };
}

export interface Undone extends Changed {
  readonly undone: AuditRow;
  /** Why nothing was left to take back: that was done before, or what was changed has come to its end. Else null. */
  readonly moot: 'before' | 'over' | null;
}

async function undo(deps: TasksDeps, target: Target, entryId: string | null): Promise<Undone> {
  const { ids } = deps;
  const look = { recent: true } as const;
  const changed = await withTemplates(deps, target.actor, (rules) =>
    changeTelling(deps, { target, verb: ['undo', entryId], look, isReaching: true }, (scene) => {
      const { change: back, entry, moot } = planUndo({ ...scene, rules, ids }, entryId);
      return { ...back, told: { undone: entry, moot } };
    }),
  );
  tellOutside(deps, changed, changed.told.undone.before);
  return { ...changed, ...changed.told };
}

async function attach(deps: TasksDeps, target: Target, threadKey: string): Promise<Changed> {
  const home = parseThreadKey(threadKey);
  refuseUndeliverable(home);
  await refuseHostsAt(deps, target.taskId, home);
  return change(deps, { target, verb: ['attach', threadKey], look: { place: home } }, ({ scene }) =>
    planAttach(deps.ids, scene, home),
  );
}

/** Gives a task a fresh right to run, in the place of the one that it has. */
async function grant(deps: TasksDeps, target: Target, wish: GrantWish): Promise<GrantChanged> {
  const grantId = deps.ids.next();
  const lastsMs = wish.expiresAt === undefined ? await grantLastsMs(deps.store, target.taskId) : null;
  const expiresAt = wish.expiresAt ?? (lastsMs === null ? null : deps.clock.now() + lastsMs);
  const changed = await changeTelling(deps, { target, verb: ['grant', wish], isReaching: true }, (scene) => ({
    ...planGrant(scene, { ...wish, expiresAt, scopesOf: deps.scopesOf, id: grantId, actor: target.actor }),
    told: { grantId },
  }));
  return { ...changed, grant: await readGrant(deps, changed.told.grantId) };
}

/** A fresh right to run, where the task has none any more, or one that ends soon. */
async function renew(
  deps: TasksDeps,
  target: Target,
  { isWhole = false, of = null }: RenewWish = {},
): Promise<Changed> {
  const { scopesOf } = deps;
  const lastsMs = await grantLastsMs(deps.store, target.taskId);
  const id = deps.ids.next();
  return change(
    deps,
    { target, verb: ['renew', ...(isWhole ? [isWhole] : []), ...(of === null ? [] : [of])], isReaching: true },
    (scene) => planRenew(scene, { scopesOf, lastsMs, isWhole, of, id, actor: target.actor }),
  );
}

/** Takes a right to run away for good. */
async function revoke(deps: TasksDeps, grantId: string, by: By): Promise<GrantChanged> {
  const known = await readGrant(deps, grantId);
  const [taskId] = known.taskIds;
  // One that was replaced was revoked with that.
  if (taskId === undefined) return { grant: known, entryId: null, replayed: false };
  const target = { ...by, taskId };
  const changed = await change(deps, { target, verb: ['revoke', grantId] }, (scene) => planRevoke(scene, grantId));
  return { ...changed, grant: await readGrant(deps, grantId) };
}

async function readGrant({ store }: TasksDeps, grantId: string): Promise<GrantView> {
  const found = await store.readGrant(grantId);
  if (found === null) throw missing('grant');
  return found;
}

const looksPerPage = 200;

function listTasks({ store, timer }: TasksDeps, query: TaskQuery): Promise<Page<Task>> {
  return filled(timer, query, { most: looksPerPage, look: (part) => store.listTasks(part) });
}

interface CancelledRun {
  readonly cancelled: boolean;
  readonly run: RunView;
}

async function cancelRun(deps: TasksDeps, runId: string, actor: Actor, traceId?: string | null): Promise<CancelledRun> {
  const cancelled = await deps.store.cancelRun({ runId, actor, at: deps.clock.now(), traceId });
  if (cancelled === null) throw missing('run');
  ringAll(deps);
  return { cancelled, run: await readRun(deps, runId) };
}

export interface RanByHand {
  readonly task: Task;
  readonly taskRun: TaskRun;
}

async function runNow(deps: TasksDeps, target: Target): Promise<RanByHand> {
  const now = deps.clock.now();
  let isDispatched = false;
  const changed = await changeBare(deps, { target, verb: ['run-now'], now }, (scene) => {
    const planned = planRunNow(deps, scene, { now, traceId: target.traceId });
    isDispatched = planned.manual !== null && planned.manual.run !== null;
    return planned;
  });
  // For everybody else nothing has changed, and each room that looks in vain keeps the run waiting.
  if (isDispatched) deps.bell.ring('runner');
  else ringAll(deps);
  return { task: changed.task, taskRun: await readTaskRun(deps, changed.occurrenceId) };
}

/** Does a run again: a retry makes good what failed, a replay is a new call. */
async function repeat(deps: TasksDeps, kind: Repeat['kind'], runId: string, by: By): Promise<RanByHand> {
  const of = await deps.store.readEndedRun(runId);
  if (of === null) throw missing('run');
  refuseUnrepeatable(kind, of);
  const now = deps.clock.now();
  const target = { ...by, taskId: of.taskId };
  const look = { replaysOf: of.occurrenceId };
  const changed = await changeBare(deps, { target, verb: [kind, runId], look, now }, (scene) => {
    refuseDeleted(scene);
    const underWay = kind === 'retry' ? retryUnderWay(scene) : null;
    const planned = underWay === null ? planAgain(deps, scene, { kind, of, now, traceId: by.traceId }) : noChange;
    return { ...planned, told: { taskRunId: underWay ?? planned.manual?.occurrence.id ?? null } };
  });
  ringAll(deps);
  return { task: changed.task, taskRun: await readTaskRun(deps, changed.told.taskRunId) };
}

async function readTaskRun({ store }: TasksDeps, id: string | null): Promise<TaskRun> {
  const taskRun = await store.readTaskRun(id ?? '');
  if (taskRun === null) throw missing('task');
  return taskRun;
}
