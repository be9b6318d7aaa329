import type {
  ChatStore,
  ChatTasks,
  ChatTasksQuery,
  Draft,
  LastChange,
  LastDeed,
  LastChangeQuery,
  OpenSnooze,
  Titled,
  TitlesQuery,
} from '../../app/ports/chats.ts';
import type { Planned } from '../../app/ports/why.ts';
import type { Actor } from '../../domain/access.ts';
import { titlesReadMax } from '../../domain/limits.ts';
import { failuresPause, type Task } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, mapped, pick } from '../engine/fields.ts';
import { contains } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { aheadOf } from '../records/truth.ts';
import { held, isHeld, readFacts, taskFields, taskSource } from '../tasks/codec.ts';

/** Tasks and drafts as a chat sees them. */
export const chatTaskStore = {
  readDraft,
  openDraft,
  draftOfWords,
  taskByNumber,
  taskByTopic,
  taskByTitle,
  titlesIn,
  chatTasks,
  plannedBefore,
  snoozedBefore,
  lastChange,
  changesWith,
};

/** A read of its own, for each page of tasks that is shown. */
export const snoozeReads = { snoozesOf };

const { drafts } = columns;
const draftFields = {
  ...pick(drafts, 'id', 'chatId', 'userId', 'topic', 'messageId', 'step'),
  body: mapped(drafts.body, readFacts),
  expiresAt: drafts.expiresAt,
};

/** A draft that cannot be read is gone: making the task begins anew. */
function* draftWhere(condition: Sql): Script<Draft | null> {
  const draft = yield* one(
    select(draftFields)`from drafts where ${condition} order by updated_at desc, id desc limit 1`,
  );
  return draft === undefined || draft.body === null ? null : { ...draft, body: draft.body };
}

function readDraft(id: string): Script<Draft | null> {
  return draftWhere(sql`id = ${id}`);
}

function openDraft(chatId: string, userId: Actor, topic: number | null, now: number): Script<Draft | null> {
  const inThread = sql`chat_id = ${chatId} and user_id = ${userId} and coalesce(topic, 0) = ${topic ?? 0}`;
  return draftWhere(sql`${inThread} and expires_at > ${now}`);
}

function draftOfWords(chatId: string, userId: Actor, messageId: number): Script<Draft | null> {
  return draftWhere(sql`chat_id = ${chatId} and user_id = ${userId} and message_id = ${messageId}`);
}

const selectTask = select(taskFields);

function* taskWhere(condition: Sql): Script<Task | null> {
  return (yield* one(selectTask`from ${taskSource} where ${condition} order by t.id desc limit 1`)) ?? null;
}

function taskByNumber(chatId: string, number: number): Script<Task | null> {
  return taskWhere(sql`t.chat_id = ${chatId} and t.number = ${number}`);
}

function taskByTopic(chatId: string, topic: number): Script<Task | null> {
  return taskWhere(sql`t.chat_id = ${chatId} and t.topic_id = ${topic} and t.topic_shared = 0`);
}

const mayRun: ReadonlySet<Task['state']> = new Set(['active', 'paused']);

/** Only here are letters of every script compared without their case. */
function* taskByTitle(chatId: string, title: string): Script<Task | null> {
  const sought = folded(title);
  const titles = yield* titlesIn({ chatId, deletedSince: null, limit: titlesReadMax });
  const found = titles.find(({ title: known, state }) => mayRun.has(state) && folded(known) === sought);
  return found === undefined ? null : yield* taskByNumber(chatId, found.number);
}

function* titlesIn({ chatId, deletedSince, limit }: TitlesQuery): Script<readonly Titled[]> {
  const titles = yield* all(
    select(pick(columns.tasks, 'id', 'number', 'title', 'state'))`from tasks
      where chat_id = ${chatId} and (state <> 'deleted' or deleted_at >= ${deletedSince ?? Number.MAX_SAFE_INTEGER})
      order by case when state in ('active', 'paused') then 0 else 1 end, number desc ${limited(limit)}`,
  );
  return titles.toSorted((a, b) => a.number - b.number);
}

function folded(title: string): string {
  return title.normalize('NFKC').replaceAll(/\s+/gu, '').toLowerCase();
}

const failing = raw(`((t.state = 'paused' and t.paused_reason = '${failuresPause}') or t.consecutive_failures > 0)`);

const snoozed = raw(
  `exists (select 1 from occurrences o where o.task_id = t.id and o.status = 'pending' and o.source = 'snooze')`,
);

/** A task that has run for the last time and is snoozed still comes. */
const filters: Readonly<Record<ChatTasksQuery['filter'], Sql>> = {
  all: raw(`t.state <> 'deleted'`),
  open: sql`(t.state in ('active', 'paused') or (t.state = 'completed' and ${snoozed}))`,
  active: raw(`t.state = 'active'`),
  paused: raw(`t.state = 'paused'`),
  failing: sql`t.state <> 'deleted' and ${failing}`,
  completed: sql`(t.state = 'completed' and not ${snoozed})`,
};

function* chatTasks({
  chatId,
  filter,
  ownerId,
  text,
  subjects = null,
  offset,
  limit,
}: ChatTasksQuery): Script<ChatTasks> {
  const where = allOf(
    sql`t.chat_id = ${chatId}`,
    filters[filter],
    ownerId === null ? undefined : sql`t.owner_id = ${ownerId}`,
    subjects === null ? undefined : sql`t.subject in ${list(subjects)}`,
    text === null ? undefined : contains(raw(`t.title || ' ' || t.instructions`), text),
  );
  const counted = yield* one(select({ count })`from ${taskSource} where ${where}`);
  const tasks = yield* all(
    selectTask`from ${taskSource} where ${where}
      order by case when ${failing} then 0 else 1 end, case when t.state = 'completed' then 1 else 0 end,
        case when t.next_at is null then 1 else 0 end, t.next_at,
        case when t.state = 'completed' then -t.number else t.number end
      ${limited(limit)} offset ${offset}`,
  );
  return { tasks, total: counted?.count ?? 0 };
}

const o = columnsOf('occurrences', 'o');
const openFields = { taskId: o.taskId, at: o.slotAt, isHeld };

function* snoozesOf(taskIds: readonly string[]): Script<ReadonlyMap<string, readonly OpenSnooze[]>> {
  const snoozes = new Map<string, OpenSnooze[]>();
  const mine = yield* seen(o.chatId.sql);
  if (taskIds.length === 0) return snoozes;
  const which = allOf(sql`o.task_id in ${list(taskIds)}`, mine);
  const found = yield* all(
    select(openFields)`from occurrences o join tasks t on t.id = o.task_id
      where ${which} and o.status = 'pending' and o.source = 'snooze' order by o.slot_at`,
  );
  for (const { taskId, ...snooze } of found) snoozes.set(taskId, [...(snoozes.get(taskId) ?? []), snooze]);
  return snoozes;
}

/** A pause that ends by itself may bring a run as well. */
function* plannedBefore(chatId: string, until: number, limit: number): Script<readonly Planned[]> {
  const found = yield* all(
    selectTask`from ${taskSource}
      where t.chat_id = ${chatId} and t.state in ('active', 'paused') and coalesce(t.next_at, t.resume_at) <= ${until}
      order by coalesce(t.next_at, t.resume_at), t.number ${limited(limit)}`,
  );
  const planned: Planned[] = [];
  for (const task of found) planned.push({ task, ahead: yield* aheadOf(task) });
  return planned;
}

type Snoozed = Awaited<ReturnType<ChatStore['snoozedBefore']>>;

const snoozedFields = { task: taskFields, at: o.slotAt };

/** All that is snoozed is little, so it is found first, by its own index. */
function* snoozedBefore(chatId: string, until: number, limit: number): Script<Snoozed> {
  return yield* all(
    select(snoozedFields)`from occurrences o join tasks t on t.id = o.task_id join chats c on c.id = t.chat_id
      where o.status = 'pending' and o.source = 'snooze' and o.slot_at <= ${until} and t.chat_id = ${chatId}
        and t.state <> 'deleted' and not ${held} order by o.slot_at ${limited(limit)}`,
  );
}

/** More than anybody changes in a day; what lies further back is reached by naming the task. */
const changesMax = 500;

const a = columnsOf('audit', 'a');
const changeFields = {
  ...pick(a, 'verb'),
  entryId: mapped(a.id, String),
  taskId: a.taskId,
  after: mapped(a.after, readFacts),
  /** For an undo: what came of the one under the key, which is kept by verb and task. */
  done: mapped(columnsOf('idempotencyKeys', 'k').result, readFacts),
};

function* lastChange({ chatId, actor, verbs, since, key }: LastChangeQuery): Script<LastDeed | null> {
  const found = yield* all(
    select(changeFields)`from tasks t join audit a on a.task_id = t.id
        left join idempotency_keys k on a.verb = 'undo' and k.scope = 'undo' and k.target = a.task_id and k.key = ${key}
      where t.chat_id = ${chatId} and a.at >= ${since}
        and (a.verb = 'undo' or (a.actor = ${actor} and a.verb in ${list(verbs)}))
      order by a.id desc ${limited(changesMax)}`,
  );
  const undone = new Set<string>();
  for (const { taskId, entryId, verb, after, done } of found) {
    if (taskId === null) continue;
    if (verb !== 'undo' && !undone.has(entryId)) return { taskId, entryId, verb };
    if (verb !== 'undo') continue;
    const taken = String(after?.['undoes']);
    if (done?.['entryId'] === entryId) return { taskId, entryId: taken, verb };
    undone.add(taken);
  }
  return null;
}

const k = columnsOf('idempotencyKeys', 'k');
const keyFields = { ...pick(k, 'scope', 'key'), taskId: k.target, done: mapped(k.result, readFacts) };

/** A word has one key for all that it does, and each change is kept under that. */
function* changesWith(chatId: string, change: LastChange): Script<readonly LastChange[]> {
  const { taskId, entryId } = change;
  const keys = yield* all(
    select(keyFields)`from idempotency_keys k where k.scope in ('pause', 'resume') and k.target = ${taskId}`,
  );
  const own = keys.find(({ key, done }) => key.startsWith('telegram:') && done?.['entryId'] === entryId);
  if (own === undefined) return [change];
  const made = yield* all(
    select(
      keyFields,
    )`from tasks t join idempotency_keys k on k.target = t.id and k.scope = ${own.scope} and k.key = ${own.key}
      where t.chat_id = ${chatId} order by t.number`,
  );
  return made.flatMap(({ taskId: id, done }) => {
    const entry = done?.['entryId'];
    return typeof entry === 'string' ? [{ taskId: id, entryId: entry }] : [];
  });
}
