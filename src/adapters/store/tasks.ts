import type {
  Changed,
  ChangeRequest,
  Created,
  NewTask,
  Quota,
  Once,
  TaskChange,
  TaskScene,
  TaskStore,
} from '../../app/task-store.ts';
import { AppError } from '../../domain/errors.ts';
import { threadKeyOf, type Thread } from '../../domain/thread.ts';
import { readDue, readGrant, readTask, dueColumns, dueSource, type DueRow, type TaskRow } from './codec.ts';
import { row, rows, write, type Engine, type Script } from './engine.ts';
import { endWaiting } from './ends.ts';
import { claimOnce, resultUnder, settleOnce } from './once.ts';
import { taskReads } from './reads.ts';
import { definitionColumns, fieldColumns, insertAudit, insertRow, placeholder, type Columns } from './task-columns.ts';
import { cancelLive, countReserved, dispatchRuns, insertOccurrences, writeClaims } from './slots.ts';

/** Tasks and what people do to them. Every method is one transaction under the lock of the rows it decides about. */
export function taskStore(engine: Engine): TaskStore {
  return {
    createTask: (task, existing) => engine.transact(() => createTask(task, existing)),
    madeUnder: (once, now) => engine.transact(() => madeUnder(once, now)),
    changeTask: (request, plan) => engine.transact(() => changeTask(request, plan)),
    ...taskReads(engine),
  };
}

/** Locks the chat and the owner, in this order, so that two creators at the edge of a quota see each other. */
function* createTask(task: NewTask, existing: (scene: TaskScene) => TaskChange): Script<Created> {
  const replay = yield* claimOnce(task.once, task.at);
  if (replay !== null) return { task: yield* taskById(replay), created: false, replayed: true };
  const chat = yield* chatOf(task.home, task.newChatId, task.at);
  const owner = chat.approved_by ?? task.ownerIfNone;
  yield* lockUser(owner, task.at);
  const twin = task.onExisting === 'add' ? undefined : yield* twinOf(task, chat.id);
  if (twin !== undefined) {
    if (task.onExisting === 'fail') throw taskExists(twin);
    yield* changeLocked({ taskId: twin.id, actor: task.actor, at: task.at, quota: task.quota }, existing);
    yield* settleOnce(task.once, twin.id);
    return { task: yield* taskById(twin.id), created: false, replayed: false };
  }
  yield* checkQuota(task.quota, chat.id, owner);
  yield* insertTask(task, chat.id, owner);
  yield* settleOnce(task.once, task.id);
  return { task: yield* taskById(task.id), created: true, replayed: false };
}

function* madeUnder(once: Once, now: number): Script<TaskScene['task'] | null> {
  const known = yield* resultUnder(once, now);
  return known === null ? null : yield* taskById(known);
}

interface ChatRow {
  readonly id: string;
  readonly approved_by: string | null;
}

function* chatOf(thread: Thread, newId: string, now: number): Script<ChatRow> {
  const known = yield* lockChat(thread);
  if (known !== undefined) return known;
  yield* rows(
    `insert into chats (id, provider, address, state, settings, last_number, created_at, updated_at)
     values (?t, ?t, ?t, 'new', '{}', 0, ?i, ?i) on conflict (provider, address) do nothing`,
    newId,
    thread.provider,
    thread.address,
    now,
    now,
  );
  yield* rows(
    `insert into chat_aliases (provider, address, chat_id, created_at)
     select provider, address, id, created_at from chats where provider = ?t and address = ?t
     on conflict (provider, address) do nothing`,
    thread.provider,
    thread.address,
  );
  const made = yield* lockChat(thread);
  if (made === undefined) throw new AppError('internal', `No chat row for ${threadKeyOf(thread)}.`);
  return made;
}

function* lockChat({ provider, address }: Thread): Script<ChatRow | undefined> {
  return yield* row<ChatRow>(
    `select c.id, c.approved_by from chat_aliases a join chats c on c.id = a.chat_id
     where a.provider = ?t and a.address = ?t [for update of c]`,
    provider,
    address,
  );
}

function* lockUser(id: string, now: number): Script<void> {
  const role = id.startsWith('system') ? 'system' : 'user';
  yield* rows(
    `insert into users (id, role, created_at, updated_at) values (?t, ?t, ?i, ?i) on conflict (id) do nothing`,
    id,
    role,
    now,
    now,
  );
  yield* row(`select id from users where id = ?t [for update]`, id);
}

interface Twin {
  readonly id: string;
  readonly number: number;
}

/** The identity of a plain task: its home chat, its title and its subject. */
function* twinOf(task: NewTask, chatId: string): Script<Twin | undefined> {
  return yield* row<Twin>(
    `select id, number from tasks where chat_id = ?t and title = ?t and coalesce(subject, '') = ?t and state <> 'deleted'
     order by number limit 1`,
    chatId,
    task.title,
    task.subject ?? '',
  );
}

function taskExists(twin: Twin): AppError {
  return new AppError(
    'task_exists',
    `Task #${twin.number} has the same title and subject here. Change that one, or create with on_existing "add" or "upsert".`,
    { details: { task_id: twin.id, number: twin.number } },
  );
}

/** Only tasks that can still run count. What the product does for its operator has no user's quota. */
function* checkQuota(quota: Quota, chatId: string, owner: string): Script<void> {
  const inChat = yield* row<{ count: number }>(
    `select count(*) as count from tasks where chat_id = ?t and state in ('active', 'paused')`,
    chatId,
  );
  if ((inChat?.count ?? 0) >= quota.chat) throw quotaExceeded('chat', quota.chat);
  if (owner.startsWith('system')) return;
  const ofUser = yield* row<{ count: number }>(
    `select count(*) as count from tasks where owner_id = ?t and state in ('active', 'paused')`,
    owner,
  );
  if ((ofUser?.count ?? 0) >= quota.user) throw quotaExceeded('user', quota.user);
}

function quotaExceeded(whose: 'chat' | 'user', limit: number): AppError {
  return new AppError(
    'quota_exceeded',
    `This ${whose} has ${limit} tasks, which is the limit. Delete one that is no longer needed, or raise QUOTA_PER_${whose.toUpperCase()}.`,
    { details: { quota: whose, limit } },
  );
}

function* insertTask(task: NewTask, chatId: string, owner: string): Script<void> {
  const counted = yield* row<{ last_number: number }>(
    `update chats set last_number = last_number + 1, updated_at = ?i where id = ?t returning last_number`,
    task.at,
    chatId,
  );
  yield* insertRow('grants', {
    id: task.grant.id,
    owner_id: owner,
    chat_id: chatId,
    scopes: JSON.stringify(task.grant.scopes),
    created_at: task.at,
    created_by: task.actor,
  });
  yield* insertRow('tasks', {
    id: task.id,
    chat_id: chatId,
    number: counted?.last_number ?? null,
    home_topic: task.home.topic,
    owner_id: owner,
    grant_id: task.grant.id,
    version: 1,
    state: 'active',
    next_at: task.nextAt,
    ...definitionColumns(task),
    min_gap_ms: task.minGapMs,
    auto_pause: task.autoPause,
    context: JSON.stringify(task.context),
    runs: 0,
    failures: 0,
    consecutive_failures: 0,
    bounded_runs: 0,
    topic_state: 'none',
    created_at: task.at,
    created_by: task.actor,
    updated_at: task.at,
    updated_by: task.actor,
  });
  yield* insertAudit({ at: task.at, actor: task.actor, verb: 'create', taskId: task.id, after: { title: task.title } });
}

function* changeTask(request: ChangeRequest, plan: (scene: TaskScene) => TaskChange): Script<Changed> {
  const replay = yield* claimOnce(request.once, request.at);
  if (replay !== null) {
    return { task: yield* taskById(request.taskId), occurrenceId: replay, replayed: true };
  }
  const change = yield* changeLocked(request, plan);
  const occurrenceId = change.manual?.occurrence.id ?? null;
  yield* settleOnce(request.once, occurrenceId ?? '');
  return { task: yield* taskById(request.taskId), occurrenceId, replayed: false };
}

type LockedRequest = Omit<ChangeRequest, 'once'>;

function* changeLocked(request: LockedRequest, plan: (scene: TaskScene) => TaskChange): Script<TaskChange> {
  const { taskId, at } = request;
  yield* row(`select id from tasks where id = ?t [for update]`, taskId);
  const scene = yield* sceneOf(taskId, at);
  const change = plan(scene);
  if (change.set.state === 'active' && scene.task.state === 'completed') {
    yield* lockOwner(scene.task);
    yield* checkQuota(request.quota, scene.task.chatId, scene.task.ownerId);
  }
  for (const claim of change.claims) yield* writeClaims([claim], at);
  if (change.endWaiting !== null) yield* endWaiting(taskId, change.endWaiting, at);
  if (change.set.state === 'deleted') yield* dropParts(taskId);
  if (change.cancelLive) yield* cancelLive(taskId, change.endWaiting ?? 'cancelled', at);
  yield* setFields(request, change);
  if (change.scopes !== null) {
    yield* write(
      `update grants set scopes = ?t where id = (select t.grant_id from tasks t where t.id = ?t)`,
      JSON.stringify(change.scopes),
      taskId,
    );
  }
  if (change.manual !== null) {
    yield* insertOccurrences([{ taskId, occurrence: change.manual.occurrence }], at);
    if (change.manual.run !== null) yield* dispatchRuns([change.manual.run], at);
  }
  if (change.audit !== null) yield* insertAudit({ at, actor: request.actor, taskId, ...change.audit });
  return change;
}

/** What is still to be sent of a deleted task is dropped, with a row that says so; nothing would make a topic for it. */
function* dropParts(taskId: string): Script<void> {
  yield* rows(
    `update deliveries set status = 'failed', error = 'the task was deleted', ready_at = null
     where lane = ?t and status in ('pending', 'blocked')`,
    `task:${taskId}`,
  );
}

/** The same rows that a creation locks, so that neither can overtake the other at the edge of a quota. */
function* lockOwner({ chatId, ownerId }: TaskScene['task']): Script<void> {
  yield* row(`select id from chats where id = ?t [for update]`, chatId);
  yield* row(`select id from users where id = ?t [for update]`, ownerId);
}

function* setFields({ taskId, actor, at }: LockedRequest, change: TaskChange): Script<void> {
  const stamp = change.stamp;
  const columns: Columns = {
    ...fieldColumns(change.set),
    ...(stamp === null ? {} : { updated_at: at, updated_by: actor }),
    ...(stamp === 'paused' ? { paused_at: at, paused_by: actor } : {}),
    ...(stamp === 'resumed' ? { resumed_at: at, resumed_by: actor } : {}),
    ...(stamp === 'deleted' ? { deleted_at: at, deleted_by: actor } : {}),
  };
  const entries = Object.entries(columns);
  if (entries.length === 0) return;
  const sets = entries.map(([name, value]) => `${name} = ${value === null ? 'null' : placeholder(value)}`).join(', ');
  const values = entries.map(([, value]) => value).filter((value) => value !== null);
  yield* rows(`update tasks set ${sets}, version = version + 1 where id = ?t`, ...values, taskId);
}

function* sceneOf(taskId: string, now: number): Script<TaskScene> {
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
  const taken = yield* rows<{ slot_at: number }>(
    `select slot_at from occurrences where task_id = ?t and slot_at >= ?i order by slot_at limit 10000`,
    taskId,
    now,
  );
  const readable = due.next_at === null ? null : readDue(due);
  return {
    task,
    due: readable === null || 'unreadable' in readable ? null : readable,
    live,
    waiting: due.waiting,
    taken: new Set(taken.map(({ slot_at }) => slot_at)),
    grant: grantOf(due),
  };
}

/** A right that cannot be read is no right, and must not keep anybody from deleting the task. */
function grantOf(due: DueRow): TaskScene['grant'] {
  try {
    return readGrant(due, due.chat_id);
  } catch {
    return null;
  }
}

function* taskById(taskId: string): Script<TaskScene['task']> {
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
