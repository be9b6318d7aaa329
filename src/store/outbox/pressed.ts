import type { ChatStore, FoundByPress } from '../../app/ports/chats.ts';
import { rows, row, type Engine, type Script } from '../engine/engine.ts';
import { tellEvents } from '../records/journal.ts';
import { shownOf } from './part-rows.ts';

/** Whoever presses a button of a message proves that the message is there. */
export function pressedStore(engine: Engine): Pick<ChatStore, 'foundByPress'> {
  return { foundByPress: (found) => engine.transact(() => foundByPress(found)) };
}

interface Doubtful {
  readonly id: string;
  readonly task_id: string | null;
  readonly content: string;
}

/** A send that is on its way may have arrived before its answer; of two sends nobody can tell which one was pressed. */
const doubtful = `(d.status = 'unknown' or (d.status = 'sending' and d.sends = 1))`;

/**
 * The part that bears the buttons of a result, while nobody knows whether it arrived. What a button carries can be made up,
 * so the message must be one that no other send explains, and show the words of the part. Whoever waits for the answer, or looks
 * for evidence, loses the fence.
 */
function* foundByPress({ address, topic, messageId, occurrenceId, text, at }: FoundByPress): Script<boolean> {
  const part = yield* row<Doubtful>(
    `select d.id, d.task_id, d.content from runs r join deliveries d on d.run_id = r.id and d.kind = 'result'
       join tasks t on t.id = d.task_id
     where r.occurrence_id = ?t and r.id = (select run_id from occurrences where id = ?t) and ${doubtful}
       and t.topic_id = ?i
     order by d.part desc limit 1`,
    occurrenceId,
    occurrenceId,
    topic,
  );
  if (part === undefined || textOf(part.content) !== text) return false;
  const explained = yield* row(
    `select id from deliveries where platform_chat_id = ?t and message_id = ?i and message_id is not null and edits is null`,
    address,
    messageId,
  );
  if (explained !== undefined) return false;
  const settled = yield* rows(
    `update deliveries set status = 'delivered', platform_chat_id = ?t, message_thread_id = ?i, message_id = ?i,
       delivered_at = ?i, evidence = ?t, error = null, cause = null, ready_at = null, doubted_at = null, fence = fence + 1
     where id = ?t and ${doubtful.replaceAll('d.', '')} returning id`,
    address,
    topic,
    messageId,
    at,
    JSON.stringify({ pressed: messageId }),
    part.id,
  );
  if (settled.length === 0) return false;
  yield* tellEvents([{ kind: 'delivery.delivered', at, taskId: part.task_id, ref: part.id }]);
  return true;
}

function textOf(content: string): string | null {
  const shown = shownOf(content);
  return shown !== null && 'text' in shown ? shown.text : null;
}
