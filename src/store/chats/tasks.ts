import type {
  ChatStore,
  ChatTasks,
  ChatTasksQuery,
  Draft,
  LastChange,
  LastChangeQuery,
  PlannedTask,
} from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
import type { Task } from '../../domain/task.ts';
import { listOf, row, rows, type Engine, type Script, type Value } from '../engine/engine.ts';
import { literalLike } from '../engine/queries.ts';
import { aheadOf } from '../records/truth.ts';
import { readFacts, readTask, type TaskRow } from '../tasks/codec.ts';

type ChatTaskStore = Pick<
  ChatStore,
  | 'readDraft'
  | 'openDraft'
  | 'taskByNumber'
  | 'taskByTopic'
  | 'chatTasks'
  | 'snoozesOf'
  | 'plannedBefore'
  | 'snoozedBefore'
  | 'lastChange'
  | 'taskByTitle'
>;

/** Tasks and drafts as a chat sees them. */
export function chatTaskStore(engine: Engine): ChatTaskStore {
  return {
    readDraft: (id) => engine.transact(() => readDraft(id)),
    openDraft: (...place) => engine.transact(() => openDraft(place)),
    taskByNumber: (chatId, number) => engine.transact(() => oneTask('t.number = ?i', chatId, number)),
    taskByTopic: (chatId, topic) => engine.transact(() => oneTask('t.topic_id = ?i', chatId, topic)),
    taskByTitle: (chatId, title) => engine.transact(() => taskByTitle(chatId, title)),
    chatTasks: (query) => engine.transact(() => chatTasks(query)),
    snoozesOf: (taskIds) => engine.transact(() => snoozesOf(taskIds)),
    plannedBefore: (...asked) => engine.transact(() => plannedBefore(asked)),
    snoozedBefore: (...asked) => engine.transact(() => snoozedBefore(asked)),
    lastChange: (query) => engine.transact(() => lastChange(query)),
  };
}

interface DraftRow {
  readonly id: string;
  readonly chat_id: string;
  readonly user_id: string;
  readonly topic: number | null;
  readonly step: string;
  readonly body: string;
  readonly expires_at: number;
}

/** A draft that cannot be read is gone: making the task begins anew. */
function readDraftRow(draft: DraftRow | undefined): Draft | null {
  const body = draft === undefined ? null : readFacts(draft.body);
  if (draft === undefined || body === null) return null;
  return {
    id: draft.id,
    chatId: draft.chat_id,
    userId: draft.user_id as Actor,
    topic: draft.topic,
    step: draft.step,
    body,
    expiresAt: draft.expires_at,
  };
}

function* readDraft(id: string): Script<Draft | null> {
  return readDraftRow(yield* row<DraftRow>(`select * from drafts where id = ?t`, id));
}

function* openDraft([chatId, userId, topic, now]: Parameters<ChatStore['openDraft']>): Script<Draft | null> {
  const found = yield* row<DraftRow>(
    `select * from drafts where chat_id = ?t and user_id = ?t and coalesce(topic, 0) = ?i and expires_at > ?i
     order by updated_at desc, id desc limit 1`,
    chatId,
    userId,
    topic ?? 0,
    now,
  );
  return readDraftRow(found);
}

const taskSource = `from tasks t join chats c on c.id = t.chat_id`;

function* oneTask(which: string, chatId: string, value: number): Script<Task | null> {
  const found = yield* row<TaskRow>(
    `select t.*, c.provider, c.address ${taskSource} where t.chat_id = ?t and ${which} order by t.id desc limit 1`,
    chatId,
    value,
  );
  return found === undefined ? null : readTask(found);
}

/** A chat has a few hundred tasks at most. Only here are letters of every script compared without their case. */
function* taskByTitle(chatId: string, title: string): Script<Task | null> {
  const sought = folded(title);
  const titles = yield* rows<{ number: number; title: string }>(
    `select number, title from tasks where chat_id = ?t and state <> 'deleted' order by number`,
    chatId,
  );
  const found = titles.find((each) => folded(each.title) === sought);
  return found === undefined ? null : yield* oneTask('t.number = ?i', chatId, found.number);
}

function folded(title: string): string {
  return title.normalize('NFKC').replaceAll(/\s+/gu, '').toLowerCase();
}

const failing = `((t.state = 'paused' and t.paused_reason like 'auto:%') or t.consecutive_failures > 0)`;

const filters: Readonly<Record<ChatTasksQuery['filter'], string>> = {
  all: `t.state <> 'deleted'`,
  active: `t.state = 'active'`,
  paused: `t.state = 'paused'`,
  failing: `t.state <> 'deleted' and ${failing}`,
  completed: `t.state = 'completed'`,
};

function* chatTasks({ chatId, filter, ownerId, text, offset, limit }: ChatTasksQuery): Script<ChatTasks> {
  const conditions = [`t.chat_id = ?t`, filters[filter]];
  const values: Value[] = [chatId];
  if (ownerId !== null) {
    conditions.push('t.owner_id = ?t');
    values.push(ownerId);
  }
  if (text !== null) {
    conditions.push(`lower(t.title || ' ' || t.instructions) like lower(?t) escape '\\'`);
    values.push(literalLike(text));
  }
  const where = `${taskSource} where ${conditions.join(' and ')}`;
  const counted = yield* row<{ count: number }>(`select count(*) as count ${where}`, ...values);
  const found = yield* rows<TaskRow>(
    `select t.*, c.provider, c.address ${where}
     order by case when ${failing} then 0 else 1 end, case when t.next_at is null then 1 else 0 end, t.next_at, t.number
     limit ?i offset ?i`,
    ...values,
    limit,
    offset,
  );
  return { tasks: found.map(readTask), total: counted?.count ?? 0 };
}

function* snoozesOf(taskIds: readonly string[]): Script<ReadonlyMap<string, number>> {
  if (taskIds.length === 0) return new Map();
  const { marks, values } = listOf(taskIds);
  const found = yield* rows<{ task_id: string; slot_at: number }>(
    `select task_id, slot_at from occurrences
     where task_id in (${marks}) and status = 'pending' and source = 'snooze' order by slot_at desc`,
    ...values,
  );
  return new Map(found.map((one) => [one.task_id, one.slot_at]));
}

/** A pause that ends by itself may bring a run as well. */
function* plannedBefore([chatId, until, limit]: Parameters<ChatStore['plannedBefore']>): Script<
  readonly PlannedTask[]
> {
  const found = yield* rows<TaskRow>(
    `select t.*, c.provider, c.address ${taskSource}
     where t.chat_id = ?t and t.state in ('active', 'paused') and coalesce(t.next_at, t.resume_at) <= ?i
     order by coalesce(t.next_at, t.resume_at), t.number limit ?i`,
    chatId,
    until,
    limit,
  );
  const planned: PlannedTask[] = [];
  for (const one of found) {
    const task = readTask(one);
    planned.push({ task, ahead: yield* aheadOf(task) });
  }
  return planned;
}

type Snoozed = Awaited<ReturnType<ChatStore['snoozedBefore']>>;

/** All that is snoozed is little, so it is found first, by its own index. */
function* snoozedBefore([chatId, until, limit]: Parameters<ChatStore['snoozedBefore']>): Script<Snoozed> {
  const found = yield* rows<TaskRow & { snoozed_at: number }>(
    `select t.*, c.provider, c.address, o.slot_at as snoozed_at
     from occurrences o join tasks t on t.id = o.task_id join chats c on c.id = t.chat_id
     where o.status = 'pending' and o.source = 'snooze' and o.slot_at <= ?i and t.chat_id = ?t and t.state <> 'deleted'
     order by o.slot_at limit ?i`,
    until,
    chatId,
    limit,
  );
  return found.map((one) => ({ task: readTask(one), at: one.snoozed_at }));
}

/** More than anybody changes in a day; what lies further back is reached by naming the task. */
const changesMax = 500;

interface ChangeRow {
  readonly id: number;
  readonly task_id: string;
  readonly at: number;
  readonly actor: string;
  readonly verb: string;
  readonly after: string | null;
}

function* lastChange({ chatId, actor, verbs, since, askedAt }: LastChangeQuery): Script<LastChange | null> {
  const { marks, values } = listOf(verbs);
  const found = yield* rows<ChangeRow>(
    `select a.id, a.task_id, a.at, a.actor, a.verb, a.after from tasks t join audit a on a.task_id = t.id
     where t.chat_id = ?t and a.at >= ?i and (a.verb = 'undo' or (a.actor = ?t and a.verb in (${marks})))
     order by a.id desc limit ?i`,
    chatId,
    since,
    actor,
    ...values,
    changesMax,
  );
  const undone = new Set<string>();
  for (const one of found) {
    if (one.verb !== 'undo' && !undone.has(String(one.id))) return { taskId: one.task_id, entryId: String(one.id) };
    if (one.verb !== 'undo') continue;
    const entryId = String(readFacts(one.after ?? '')?.['undoes']);
    if (one.actor === actor && one.at >= askedAt) return { taskId: one.task_id, entryId };
    undone.add(entryId);
  }
  return null;
}
