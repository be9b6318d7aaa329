import type { Unbinding, Unbound } from '../../app/ports/tasks.ts';
import type { TaskState } from '../../domain/task.ts';
import { readFacts } from './codec.ts';
import { row, rows, write, type Script } from '../engine/engine.ts';
import { recordVerbs } from '../records/journal.ts';

interface TopicRow {
  readonly state: TaskState;
  readonly topic_state: string;
  readonly topic_id: number | null;
}

/**
 * The task has no topic any more, and its next result makes one. Nobody deleted it behind our back, so nothing is said of
 * that in the new one. The same again finds it unbound by its row in the audit.
 */
export function* unbindTopic({ taskId, topicId, actor, at }: Unbinding): Script<Unbound> {
  const task = yield* row<TopicRow>(
    `select state, topic_state, topic_id from tasks where id = ?t [for update]`,
    taskId,
  );
  if (task === undefined) return 'none';
  if (task.topic_id !== topicId) return (yield* wasUnbound(taskId, topicId)) ? 'before' : 'none';
  if (task.topic_state === 'creating') return 'creating';
  yield* write(
    `update tasks set topic_state = 'none', topic_id = null, topic_cause = null, topic_boot = null, topic_asked_at = null,
       topic_lost = null, card_message_id = null where id = ?t and topic_id = ?i`,
    taskId,
    topicId,
  );
  const { state } = task;
  const before = { topic_id: topicId };
  yield* recordVerbs([{ at, actor, verb: 'unbind', taskId, stateBefore: state, stateAfter: state, before }]);
  return 'unbound';
}

function* wasUnbound(taskId: string, topicId: number): Script<boolean> {
  const found = yield* rows<{ before: string | null }>(
    `select before from audit where task_id = ?t and verb = 'unbind' order by at desc, id desc limit 10`,
    taskId,
  );
  return found.some(({ before }) => before !== null && readFacts(before)?.['topic_id'] === topicId);
}
