import type { Actor } from '../../domain/actor.ts';
import { AppError } from '../../domain/errors.ts';
import { idempotencyRetentionMs } from '../../domain/limits.ts';
import type { Warning } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import type {
  Changed,
  Once,
  Page,
  RunView,
  TaskChange,
  TaskQuery,
  TaskRun,
  TaskRunQuery,
  TaskScene,
} from '../task-store.ts';
import { claimsFirst } from './claims-first.ts';
import { createTask, type CreateNeeds, type CreateRequest, type CreateResult } from './create.ts';
import { editTask, type TaskPatch } from './edit.ts';
import { planRunNow } from './run-now.ts';
import { notFound, planDelete, planPause, planResume, refuseDeleted } from './verbs.ts';

/** Everything that can be done to tasks, whoever asks. No other module writes a definition. */
export interface Tasks {
  create(request: CreateRequest): Promise<CreateResult>;
  get(taskId: string): Promise<Task>;
  list(query: TaskQuery): Promise<Page<Task>>;
  edit(
    taskId: string,
    patch: TaskPatch,
    actor: Actor,
  ): Promise<{ readonly task: Task; readonly warnings: readonly Warning[] }>;
  pause(taskId: string, actor: Actor): Promise<Task>;
  resume(taskId: string, actor: Actor): Promise<Task>;
  delete(taskId: string, actor: Actor): Promise<void>;
  runNow(
    taskId: string,
    actor: Actor,
    idempotencyKey: string | null,
  ): Promise<{ readonly task: Task; readonly taskRun: TaskRun }>;
  listRuns(query: TaskRunQuery): Promise<Page<TaskRun>>;
  getRun(runId: string): Promise<RunView>;
}

export function createTasks(needs: CreateNeeds): Tasks {
  const { store } = needs;
  const get = async (taskId: string): Promise<Task> => {
    const task = await store.readTask(taskId);
    if (task === null || task.state === 'deleted') throw notFound();
    return task;
  };
  return {
    create: (request) => createTask(needs, request),
    get,
    list: (query) => store.listTasks(query),
    edit: (taskId, patch, actor) => edit(needs, { taskId, actor }, patch),
    pause: async (taskId, actor) => (await change(needs, { taskId, actor }, planPause)).task,
    resume: async (taskId, actor) => (await change(needs, { taskId, actor }, planResume)).task,
    delete: async (taskId, actor) => {
      await change(needs, { taskId, actor }, planDelete);
    },
    runNow: async (taskId, actor, idempotencyKey) => runNow(needs, { taskId, actor }, idempotencyKey),
    listRuns: async (query) => {
      await get(query.taskId);
      return store.listTaskRuns(query);
    },
    getRun: async (runId) => {
      const run = await store.readRun(runId);
      if (run === null) throw new AppError('not_found', 'There is no such run.');
      return run;
    },
  };
}

interface Target {
  readonly taskId: string;
  readonly actor: Actor;
}

type Plan = (scene: { scene: TaskScene; now: number } & ReturnType<typeof claimsFirst>) => TaskChange;

async function change(needs: CreateNeeds, target: Target, plan: Plan): Promise<Changed> {
  const now = needs.clock.now();
  const changed = await needs.store.changeTask({ ...target, at: now, once: null, quota: needs.quota }, (scene) =>
    plan({ scene, now, ...claimsFirst(needs, scene, now) }),
  );
  needs.bell.ring('scheduler');
  // A due slot may have been dispatched on the way, and a run that was asked to stop is told by its runner.
  needs.bell.ring('runner');
  return changed;
}

async function edit(needs: CreateNeeds, target: Target, patch: TaskPatch) {
  let warnings: readonly Warning[] = [];
  const changed = await change(needs, target, ({ scene, now, ...claimed }) => {
    refuseDeleted(scene);
    const edited = editTask(needs.rules, claimed, { scene, patch, now });
    warnings = edited.warnings;
    return edited.change;
  });
  return { task: changed.task, warnings };
}

async function runNow(needs: CreateNeeds, target: Target, idempotencyKey: string | null) {
  const now = needs.clock.now();
  const once: Once | null =
    idempotencyKey === null
      ? null
      : {
          scope: `run-now:${target.taskId}`,
          key: idempotencyKey,
          payloadHash: needs.digest.of(target.taskId),
          expiresAt: now + idempotencyRetentionMs,
        };
  const changed = await needs.store.changeTask({ ...target, at: now, once, quota: needs.quota }, (scene) =>
    planRunNow(needs, scene, now),
  );
  needs.bell.ring('runner');
  // Where it replaces a run that no worker holds, it can be admitted at once.
  needs.bell.ring('scheduler');
  const taskRun = await needs.store.readTaskRun(changed.occurrenceId ?? '');
  if (taskRun === null) throw notFound();
  return { task: changed.task, taskRun };
}
