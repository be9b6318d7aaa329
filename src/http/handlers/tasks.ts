import type { PartsOf } from '../../api/operations.ts';
import type { Page } from '../../app/ports/runs.ts';
import type { Changed } from '../../app/ports/tasks.ts';
import type { TaskInput, TaskInWords } from '../../app/tasks/definition.ts';
import type { GrantChanged } from '../../app/tasks/grants.ts';
import type { PreviewRequest } from '../../app/tasks/preview.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { jsonBytes, type Task } from '../../domain/task.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { Assumed } from '../../domain/when/asked.ts';
import { Answer, type Handlers, type HttpRooms } from '../serving.ts';
import {
  byOf,
  instantOf,
  targetOf,
  threadOf,
  wireChanges,
  wireGrant,
  wireSchedule,
  wireSnoozes,
  wireTask,
  wireVersion,
  wireWarnings,
} from './wire.ts';

/** Tasks as they are defined, when they run, and the rights under which they do. */
export const taskHandlers = {
  createTask: async ({ params, body, idempotencyKey, traceId }, { tasks, actor, clock }) => {
    const { on_existing: onExisting, ...policies } = body.policies ?? {};
    const input = inputOf({ ...body, policies });
    const by = { actor, idempotencyKey, traceId };
    const made = await tasks.create({ threadKey: params.thread_key, input, onExisting, ...by });
    const told = {
      task: wireTask(made.task, { clock }),
      ...wireWarnings(made.warnings),
      ...(body.when === undefined ? {} : { assumed: wireAssumed(made.assumed) }),
    };
    return new Answer(made.created ? 201 : 200, told);
  },
  listTasks: async ({ query }, rooms) =>
    taskPage(await rooms.tasks.list(listed(threadOf(query.thread_key), query)), rooms),
  listThreadTasks: async ({ params, query }, rooms) =>
    taskPage(await rooms.tasks.list(listed(parseThreadKey(params.thread_key), query)), rooms),
  getTask: async ({ params }, rooms) => {
    const task = await rooms.tasks.get(params.task_id);
    return { task: readTask(task, await rooms.truth.snoozesOf([task.id]), rooms) };
  },
  deleteTask: async (asked, rooms) => {
    await rooms.tasks.delete(targetOf(asked, rooms));
    return { deleted: true };
  },
  listTaskVersions: async ({ params }, { tasks }) => ({
    versions: (await tasks.versions(params.task_id)).map(wireVersion),
  }),
  updateTask: async (asked, rooms) => {
    const { schedule, grant_expires_at: end, ...rest } = asked.body;
    const fields = { ...rest, ...grantEnd(end) };
    const patch = schedule === undefined ? fields : { ...fields, schedule: present(schedule) };
    const edited = await rooms.tasks.edit(targetOf(asked, rooms), patch);
    const { task, changes, entryId } = edited;
    const ofTopic = 'title' in changes ? await rooms.tasks.renameWarnings(task.id) : [];
    const warnings = [...edited.warnings, ...ofTopic];
    return { task: wireTask(task, rooms), ...wireWarnings(warnings), changes: wireChanges(changes), entry_id: entryId };
  },
  previewSchedule: async ({ body }, { preview }) => {
    const { next, description, minGapMs, warnings, schedule, asked } = preview(previewRequest(body));
    return {
      next: next.map(iso),
      description,
      min_gap_seconds: minGapMs === null ? null : minGapMs / 1000,
      ...wireWarnings(warnings),
      schedule: wireSchedule(schedule),
      ...(asked === null ? {} : wireAsked(asked, schedule)),
    };
  },
  getContext: async ({ params }, { tasks }) => contextOf(await tasks.get(params.task_id)),
  changeContext: async (asked, rooms) => {
    const wish = { is: 'merged', fields: asked.body.context } as const;
    return contextChanged(await rooms.tasks.context(targetOf(asked, rooms), wish));
  },
  resetContext: async (asked, rooms) =>
    contextChanged(await rooms.tasks.context(targetOf(asked, rooms), { is: 'reset' })),
  listGrants: async ({ query }, { tasks }) => {
    const { owner: ownerId = null, task_id: taskId = null, state = null, limit, cursor = null } = query;
    const [thread, account] = [threadOf(query.thread_key), threadOf(query.budget_account)];
    const page = await tasks.listGrants({ thread, ownerId, taskId, account, state, limit, cursor });
    return { grants: page.items.map(wireGrant), next_cursor: page.next };
  },
  createGrant: async ({ body, idempotencyKey, traceId }, { tasks, actor }) => {
    const wish = {
      scopes: body.scopes ?? null,
      expiresAt: body.expires_at === undefined ? undefined : instantOf(body.expires_at ?? undefined),
    };
    return grantChanged(await tasks.grant({ taskId: body.task_id, actor, idempotencyKey, traceId }, wish));
  },
  revokeGrant: async (asked, rooms) =>
    grantChanged(await rooms.tasks.revoke(asked.params.grant_id, byOf(asked, rooms))),
} satisfies Partial<Handlers>;

function contextOf({ context }: Task) {
  return { context: { ...context }, bytes: jsonBytes(context) };
}

function contextChanged({ task, entryId }: Changed) {
  return { ...contextOf(task), entry_id: entryId };
}

async function taskPage({ items, next }: Page<Task>, rooms: Pick<HttpRooms, 'clock' | 'truth'>) {
  const snoozes = await rooms.truth.snoozesOf(items.map(({ id }) => id));
  return { tasks: items.map((task) => readTask(task, snoozes, rooms)), next_cursor: next };
}

type Snoozes = Awaited<ReturnType<HttpRooms['truth']['snoozesOf']>>;

/** A task as it is read: with what still comes of it although its schedule does not name it. */
function readTask(task: Task, snoozes: Snoozes, rooms: Pick<HttpRooms, 'clock'>) {
  return { ...wireTask(task, rooms), snoozed_to: wireSnoozes(snoozes.get(task.id)) };
}

function listed(thread: Thread | null, query: PartsOf<'listThreadTasks'>['read']['query']) {
  const { state, q: text = null, tag = null, subject = null, limit, cursor = null } = query;
  return { thread, state, text, tag, subject, limit, cursor };
}

/** The input of a new task: its schema says that it is given in fields or in words. */
function inputOf(body: PartsOf<'createTask'>['read']['body']): TaskInput | TaskInWords {
  const { schedule, when = '', timezone = '', language, instructions, grant_expires_at: end, ...rest } = body;
  const fields = { ...rest, ...grantEnd(end) };
  if (schedule === undefined) return { ...fields, when, timezone, language, instructions };
  return { ...fields, schedule: present(schedule), instructions: instructions ?? '' };
}

/** Null is an end that is not there, and absent what the chat has chosen. */
function grantEnd(end: string | null | undefined) {
  return end === undefined ? {} : { grantExpiresAt: end === null ? null : instantOf(end) };
}

/** The use cases know no null: a field that is null was not sent. */
export function present<T extends object>(schedule: T): { [K in keyof T]: Exclude<T[K], null> } {
  const sent = Object.entries(schedule).filter(([, value]) => value !== null);
  return Object.fromEntries(sent) as { [K in keyof T]: Exclude<T[K], null> };
}

function previewRequest(body: PartsOf<'previewSchedule'>['read']['body']): PreviewRequest {
  const { schedule, after, when = '', timezone = '', language, now, count } = body;
  if (schedule !== undefined) return { schedule: present(schedule), after: instantOf(after) ?? undefined, count };
  return { when, timezone, language, now: instantOf(now) ?? undefined, count };
}

type Preview = ReturnType<HttpRooms['preview']>;

function wireAsked({ text, policies, assumed, forWhom }: NonNullable<Preview['asked']>, schedule: Preview['schedule']) {
  const { timezone } = schedule;
  return { text, policies: { ...policies }, timezone, assumed: wireAssumed(assumed), for_whom: forWhom };
}

function wireAssumed(assumed: readonly Assumed[]) {
  return assumed.map(({ what, text, other }) => ({ what, text, other }));
}

function grantChanged({ grant, entryId }: GrantChanged) {
  return { grant: wireGrant(grant), entry_id: entryId };
}
