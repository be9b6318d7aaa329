import type { CleanedTopics, Cleaning, FinishedTopics } from '../../app/ports/chat-facts.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, mapped, number, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdateOf, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select, update } from '../engine/statements.ts';
import { recordVerbs } from '../records/journal.ts';
import { noTopic } from '../tasks/attach.ts';
import { cleaningLane } from './lanes.ts';
import { insertPart } from './new-parts.ts';
import { shownOf } from './part-rows.ts';

/** Topics of finished tasks, which are closed or removed together, one after the other and after all results. */
export const cleaningStore = { finishedTopics, cleanTopics, cleanedTopics };

const t = columnsOf('tasks', 't');

/** Topics of their own in which nothing comes any more, a snooze neither; the one that one-offs share stays. */
function finished(chatId: string): Sql {
  return sql`t.chat_id = ${chatId} and t.state in ('completed', 'deleted') and t.topic_state = 'ready' and t.topic_shared = 0
    and not exists (select 1 from occurrences o where o.task_id = t.id and o.status in ('pending', 'dispatched'))`;
}

/** The topic of a deleted task was closed with it; of the others the last deed on the topic tells. */
const isOpen = raw(`(t.state = 'completed' and coalesce((select d.kind from deliveries d where d.task_id = t.id
  and d.kind in ('close', 'open') and d.status <> 'failed' order by d.id desc limit 1), 'open') = 'open')`);

const counted = { all: count, open: number(sql`count(case when ${isOpen} then 1 end)`) };

function* finishedTopics(chatId: string): Script<FinishedTopics> {
  const found = yield* one(select(counted)`from tasks t where ${finished(chatId)}`);
  return found ?? { all: 0, open: 0 };
}

const topicFields = pick(t, 'id', 'number', 'title', 'state', 'topicId');

/** Where there are not as many as somebody was told of, nothing is done. */
function* cleanTopics(cleaning: Cleaning): Script<boolean> {
  const { id, chatId, deed, expected, limit, actor, at, thread } = cleaning;
  const which = deed === 'close' ? sql`${finished(chatId)} and ${isOpen}` : finished(chatId);
  const topics = yield* all(
    select(topicFields)`from tasks t where ${which} order by t.id ${limited(limit)} ${forUpdateOf('t')}`,
  );
  if (topics.length !== expected) return false;
  if (deed === 'removeTopic') {
    const ids = topics.map((topic) => topic.id);
    yield* update('tasks', noTopic, sql`id in ${list(ids)}`);
    yield* recordVerbs(
      topics.map(({ id: taskId, state, topicId }) => ({
        at,
        actor,
        taskId,
        verb: 'unbind',
        stateBefore: state,
        stateAfter: state,
        before: { topic_id: topicId },
      })),
    );
  }
  const part = { chatId, lane: cleaningLane(id), rank: outboxRanks.card };
  for (const [index, { id: taskId, number: ordinal, title, topicId }] of topics.entries()) {
    const own = deed === 'close' ? { taskId } : { taskId: null, thread: { topic: topicId } };
    const partId = idAt(at, `clean:${id}:${String(index).padStart(4, '0')}`);
    yield* insertPart({ ...part, ...own, id: partId, kind: deed, content: { text: `#${ordinal} ${title}` } }, at);
  }
  // The word about it is the last of its lane, so it leaves when all else of it has ended.
  const content: View = { view: 'cleaned', cleaning: id, deed };
  yield* insertPart({ ...part, id: idAt(at + 1, `clean:${id}`), taskId: null, kind: 'notice', content, thread }, at);
  return true;
}

const endedFields = {
  ...pick(columns.deliveries, 'status', 'cause', 'error'),
  shown: mapped(columns.deliveries.content, shownOf),
};

function* cleanedTopics(id: string): Script<CleanedTopics> {
  const found = yield* all(
    select(endedFields)`from deliveries where lane = ${cleaningLane(id)} and kind <> 'notice' order by id`,
  );
  const failed = found.filter(({ status }) => status !== 'delivered');
  return {
    done: found.length - failed.length,
    failed: failed.map(({ shown, error }) => ({ name: shown !== null && 'text' in shown ? shown.text : '', error })),
  };
}
