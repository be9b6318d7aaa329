import type { ChatStore, ChatTasks, ChatTasksQuery, Draft } from '../../app/chat-store.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Task } from '../../domain/task.ts';
import { readFacts, readTask, type TaskRow } from './codec.ts';
import { row, rows, type Engine, type Script, type Value } from './engine.ts';
import { literalLike } from './search.ts';

type ChatTaskStore = Pick<ChatStore, 'readDraft' | 'openDraft' | 'taskByNumber' | 'taskByTopic' | 'chatTasks'>;

/** Tasks and drafts as a chat sees them. */
export function chatTaskStore(engine: Engine): ChatTaskStore {
  return {
    readDraft: (id) => engine.transact(() => readDraft(id)),
    openDraft: (...place) => engine.transact(() => openDraft(place)),
    taskByNumber: (chatId, number) => engine.transact(() => oneTask('t.number = ?i', chatId, number)),
    taskByTopic: (chatId, topic) => engine.transact(() => oneTask('t.topic_id = ?i', chatId, topic)),
    chatTasks: (query) => engine.transact(() => chatTasks(query)),
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
