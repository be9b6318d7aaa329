import type { ChatFacts, ChatNews, NewsQuery, SentMessage } from '../../app/ports/chat-facts.ts';
import type { Chat, User } from '../../app/ports/chats.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { serverFacts } from '../records/workload.ts';
import { readFacts } from '../tasks/codec.ts';
import { readChat, type ChatRow } from './rows.ts';

/** What a chat amounts to. Everything is counted as far as a person needs to know, so that no look takes long. */
export function chatFactStore(engine: Engine): ChatFacts {
  return {
    chatNews: (query) => engine.transact(() => chatNews(query)),
    chatSettings: (chatId) => engine.transact(() => chatSettings(chatId)),
    waitingChats: (limit) => engine.transact(() => waitingChats(limit)),
    usersNamed: (name, limit) => engine.transact(() => usersNamed(name, limit)),
    adminNames: (chatId, limit) => engine.transact(() => adminNames(chatId, limit)),
    sentMessage: (deliveryId) => engine.transact(() => sentMessage(deliveryId)),
    serverFacts: (now) => engine.transact(() => serverFacts(engine.dialect, now)),
  };
}

/** A slot can be served some time after it was due, and its end falls into the stretch all the same. */
const servedLateMs = 86_400_000;

function* chatNews({ chatId, since, except, limit }: NewsQuery): Script<ChatNews> {
  const ended = `from tasks t join occurrences o on o.task_id = t.id`;
  const inStretch = `t.chat_id = ?t and t.state <> 'deleted' and t.id <> ?t and o.slot_at >= ?i and o.updated_at >= ?i`;
  const stretch = [chatId, except, since - servedLateMs, since] as const;
  return {
    failed: counted(
      yield* rows<ChatNews['failed'][number]>(
        `select t.number, t.title, count(*) as count, max(t.last_error) as error ${ended}
         where ${inStretch} and o.status = 'failed' group by t.id, t.number, t.title order by t.number limit ?i`,
        ...stretch,
        limit,
      ),
    ),
    succeeded: counted(
      yield* rows<ChatNews['succeeded'][number]>(
        `select t.number, t.title, count(*) as count, count(a.occurrence_id) as done ${ended}
         left join acks a on a.occurrence_id = o.id and a.status = 'done'
         where ${inStretch} and o.status = 'succeeded' group by t.id, t.number, t.title order by t.number limit ?i`,
        ...stretch,
        limit,
      ),
    ).map((one) => ({ ...one, done: Number(one.done) })),
    snoozed: yield* rows(
      `select t.number, t.title, o.slot_at as at ${ended}
       where t.chat_id = ?t and o.status = 'pending' and o.source = 'snooze' order by o.slot_at limit ?i`,
      chatId,
      limit,
    ),
    paused: yield* rows(
      `select number, title, paused_at as at from tasks where chat_id = ?t and state = 'paused' and id <> ?t
       order by number limit ?i`,
      chatId,
      except,
      limit,
    ),
    waiting: [...(yield* waitingForDone(chatId, limit)), ...(yield* waitingForApproval(chatId, limit))],
  };
}

type Waiting = ChatNews['waiting'][number];

function* waitingForDone(chatId: string, limit: number): Script<Waiting[]> {
  const found = yield* rows<Omit<Waiting, 'for'>>(
    `select t.number, t.title, count(*) as count from tasks t join acks a on a.task_id = t.id
     where t.chat_id = ?t and a.status = 'open' group by t.id, t.number, t.title order by t.number limit ?i`,
    chatId,
    limit,
  );
  return counted(found).map((one) => ({ ...one, for: 'done' }));
}

function* waitingForApproval(chatId: string, limit: number): Script<Waiting[]> {
  const found = yield* rows<Omit<Waiting, 'for'>>(
    `select t.number, t.title, count(distinct d.run_id) as count from deliveries d join tasks t on t.id = d.task_id
     where d.chat_id = ?t and d.status in ('pending', 'blocked') and d.status = 'blocked' and d.cause = 'approval'
     group by t.id, t.number, t.title order by t.number limit ?i`,
    chatId,
    limit,
  );
  return counted(found).map((one) => ({ ...one, for: 'approval' }));
}

/** One of the engines counts in texts. */
function counted<T extends { readonly count: number }>(found: readonly T[]): T[] {
  return found.map((one) => ({ ...one, count: Number(one.count) }));
}

function* chatSettings(chatId: string): Script<Readonly<Record<string, unknown>>> {
  const found = yield* row<{ settings: string }>(`select settings from chats where id = ?t`, chatId);
  return (found === undefined ? null : readFacts(found.settings)) ?? {};
}

function* waitingChats(limit: number): Script<Chat[]> {
  const found = yield* rows<ChatRow>(
    `select * from chats where provider = 'telegram' and state = 'new' order by created_at desc, id desc limit ?i`,
    limit,
  );
  return found.map(readChat);
}

function* usersNamed(name: string, limit: number): Script<User[]> {
  return yield* rows<User>(
    `select id, name, role, timezone from users
     where id like 'telegram:user:%' and lower(name) = lower(?t) order by id limit ?i`,
    name,
    limit,
  );
}

function* adminNames(chatId: string, limit: number): Script<string[]> {
  const approvers = yield* rows<{ name: string }>(
    `select name from users where name is not null and id = (select approved_by from chats where id = ?t)`,
    chatId,
  );
  const admins = yield* rows<{ name: string }>(
    `select u.name as name from members m join users u on u.id = m.user_id
     where m.chat_id = ?t and m.status = 'admin' and u.name is not null order by m.checked_at desc, u.id limit ?i`,
    chatId,
    limit,
  );
  return [...new Set([...approvers, ...admins].map(({ name }) => name))].slice(0, limit);
}

function* sentMessage(deliveryId: string): Script<SentMessage | null> {
  const found = yield* row<SentMessage>(
    `select message_id as "messageId", platform_chat_id as address, message_thread_id as topic from deliveries
     where id = ?t and status = 'delivered' and message_id is not null`,
    deliveryId,
  );
  return found ?? null;
}
