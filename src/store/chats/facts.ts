import type { ChatNews, NewsQuery, SentMessage } from '../../app/ports/chat-facts.ts';
import type { Chat, User } from '../../app/ports/chats.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, like, mapped, number, pick } from '../engine/fields.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit as limited, raw, sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { serverFacts } from '../records/workload.ts';
import { held, readFacts } from '../tasks/codec.ts';
import { userFields } from './people.ts';
import { chatFields } from './rows.ts';
import { survivorOf } from './survivors.ts';

/** Facts about a chat. Counts go only as far as a person needs to know, so that no look takes long. */
export const chatFactStore = {
  chatNews,
  waitingChats,
  usersNamed,
  adminNames,
  subjectsIn,
  sentMessage,
  serverFacts,
};

/** A read of its own, for each call of a task and each drawing. */
export const chatSettingsReads = { chatSettings };

/** A slot can be served some time after it was due, and its end falls into the stretch all the same. */
const servedLateMs = 86_400_000;
/** Reminders go on for so long at most, as far as a digest looks. */
const remindedMs = 7 * 86_400_000;

const t = columnsOf('tasks', 't');
const o = columnsOf('occurrences', 'o');
const named = pick(t, 'number', 'title');
const failedFields = { ...named, count, error: like(t.lastError, raw('max(t.last_error)')) };
/** Results without a Done: after all reminders, or until a pause or the next run ended them. A snooze is an answer as well. */
const isNotDone = raw(`(a.status in ('given_up', 'dropped') or (a.status = 'superseded' and not exists (
  select 1 from occurrences n where n.task_id = a.task_id and n.source = 'snooze' and n.created_at = a.updated_at)))`);
const succeededFields = {
  ...named,
  count,
  done: number(raw(`count(case when a.status = 'done' then 1 end)`)),
  notDone: number(sql`count(case when ${isNotDone} then 1 end)`),
};
const notDoneFields = { ...named, at: o.slotAt };
const snoozedFields = { ...named, at: o.slotAt };
const pausedFields = { ...named, at: t.pausedAt };
const openFields = { ...named, count };
const askedFields = { ...named, count: number(raw('count(distinct d.run_id)')) };

function* chatNews({ chatId, since, except, limit }: NewsQuery): Script<ChatNews> {
  const ended = raw('tasks t join occurrences o on o.task_id = t.id');
  const inStretch = sql`t.chat_id = ${chatId} and t.state <> 'deleted' and t.id <> ${except}
    and o.slot_at >= ${since - servedLateMs} and o.updated_at >= ${since}`;
  const byTask = sql`group by t.id, t.number, t.title order by t.number ${limited(limit)}`;
  const waiting = yield* all(
    select(
      openFields,
    )`from tasks t join acks a on a.task_id = t.id where t.chat_id = ${chatId} and a.status = 'open' ${byTask}`,
  );
  const asked = yield* all(
    select(askedFields)`from deliveries d join tasks t on t.id = d.task_id
      where d.chat_id = ${chatId} and d.status in ('pending', 'blocked') and d.status = 'blocked' and d.cause = 'approval'
      ${byTask}`,
  );
  return {
    notDone: yield* all(
      select(notDoneFields)`from ${ended} join acks a on a.occurrence_id = o.id
        where t.chat_id = ${chatId} and t.state <> 'deleted' and t.id <> ${except} and o.slot_at >= ${since - remindedMs}
          and a.updated_at >= ${since} and ${isNotDone} order by o.slot_at, t.number ${limited(limit)}`,
    ),
    failed: yield* all(select(failedFields)`from ${ended} where ${inStretch} and o.status = 'failed' ${byTask}`),
    succeeded: yield* all(
      select(succeededFields)`from ${ended} left join acks a on a.occurrence_id = o.id
        where ${inStretch} and o.status = 'succeeded' ${byTask}`,
    ),
    snoozed: yield* all(
      select(snoozedFields)`from ${ended} where t.chat_id = ${chatId} and o.status = 'pending' and o.source = 'snooze'
        and not ${held} order by o.slot_at ${limited(limit)}`,
    ),
    paused: yield* all(
      select(pausedFields)`from tasks t where t.chat_id = ${chatId} and t.state = 'paused' and t.id <> ${except}
        order by t.number ${limited(limit)}`,
    ),
    waiting: [
      ...waiting.map((task) => ({ ...task, for: 'done' as const })),
      ...asked.map((task) => ({ ...task, for: 'approval' as const })),
    ],
  };
}

const settingsFields = { settings: mapped(columns.chats.settings, readFacts) };

function* chatSettings(chatId: string): Script<Readonly<Record<string, unknown>>> {
  const where = allOf(sql`id = ${chatId}`, yield* seen(columns.chats.id.sql));
  const found = yield* one(select(settingsFields)`from chats where ${where}`);
  const survivor = found === undefined ? yield* survivorOf(chatId) : null;
  return survivor === null ? (found?.settings ?? {}) : yield* chatSettings(survivor);
}

function* waitingChats(limit: number): Script<Chat[]> {
  return yield* all(
    select(chatFields)`from chats where provider = 'telegram' and state = 'new'
      order by created_at desc, id desc ${limited(limit)}`,
  );
}

function* usersNamed(name: string, limit: number): Script<User[]> {
  return yield* all(
    select(userFields)`from users where id like 'telegram:user:%' and lower(name) = lower(${name})
      order by id ${limited(limit)}`,
  );
}

function* subjectsIn(chatId: string): Script<string[]> {
  const found = yield* all(
    select(
      pick(t, 'subject'),
    )`from tasks t where t.chat_id = ${chatId} and t.state <> 'deleted' and t.subject is not null
      group by t.subject order by t.subject`,
  );
  return found.flatMap(({ subject }) => subject ?? []);
}

function* adminNames(chatId: string, limit: number): Script<string[]> {
  const approvers = yield* all(
    select(pick(columns.users, 'name'))`from users where id = (select approved_by from chats where id = ${chatId})`,
  );
  const admins = yield* all(
    select(pick(columnsOf('users', 'u'), 'name'))`from members m join users u on u.id = m.user_id
      where m.chat_id = ${chatId} and m.status = 'admin' and u.name is not null
      order by m.checked_at desc, u.id ${limited(limit)}`,
  );
  return [...new Set([...approvers, ...admins].flatMap(({ name }) => name ?? []))].slice(0, limit);
}

const { deliveries } = columns;
const messageFields = {
  messageId: mapped(deliveries.messageId, (id) => id ?? 0),
  address: mapped(deliveries.platformChatId, (address) => address ?? ''),
  topic: deliveries.messageThreadId,
};

function* sentMessage(deliveryId: string): Script<SentMessage | null> {
  const found = yield* one(
    select(messageFields)`from deliveries
      where id = ${deliveryId} and status = 'delivered' and message_id is not null`,
  );
  return found ?? null;
}
