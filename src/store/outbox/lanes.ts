import type { StandsFor } from '../../app/ports/chats.ts';
import { threadLane } from '../../domain/run.ts';
import { raw, sql, type Sql } from '../engine/sql.ts';

/** Names of lanes are built here alone, and compared as a whole. Of each lane one part is under way at a time. */

/** Results of a task, and the words about it in its topic. */
export function taskLane(taskId: string): string {
  return `task:${taskId}`;
}

/**
 * The pinned card of a task, and the closing and opening of its topic. They have a lane of their own, so that they yield to results, and
 * so that the end of a task, which drops what is still to be sent of it, still closes its topic.
 */
export function cardLane(taskId: string): string {
  return `card:${taskId}`;
}

/** The name of a task's topic, which keeps no card waiting while it cannot be given. */
export function nameLane(taskId: string): string {
  return `name:${taskId}`;
}

/** Service messages that are removed again, which nobody waits for. */
export function tidyLane(chatId: string): string {
  return `tidy:${chatId}`;
}

/** The messages in which a task was made or started are drawn anew by themselves, and so is a word that is over. */
export function saidLane({ as, taskId }: StandsFor): string {
  return `${as === 'pressed' ? 'made' : as}:${taskId}`;
}

export function standingLane(deliveryId: string): string {
  return `standing:${deliveryId}`;
}

/** Topics that are closed or removed together, and the word about that. */
export function cleaningLane(id: string): string {
  return `clean:${id}`;
}

export function isCleaning(lane: string | null): boolean {
  return lane?.startsWith('clean:') === true;
}

/** Parts that wait for an approval stand aside, so that they hold up nothing after them. */
export function approvalLane(taskId: string): string {
  return `approval:${taskId}`;
}

/**
 * Answers and notices of a thread are served in lanes of their own, so that nobody waits for the answer to a press because
 * some notice cannot be sent.
 */
export function wordLane(kind: 'answer' | 'notice', chatId: string, topic: number | null): string {
  return `${kind}:${chatId}:${topic ?? ''}`;
}

/** Parts of a run without a task keep the order of its thread. */
export function messageLane(chatId: string | null, topic: number | null): string {
  return chatId === null ? 'chat:null' : threadLane(chatId, topic);
}

/** The lane of results where the id of the task stands in a column. */
export function taskLaneOf(column: string): Sql {
  return raw(`'task:' || ${column}`);
}

export function cardLaneOf(column: string): Sql {
  return raw(`'card:' || ${column}`);
}

export function standingLaneOf(column: string): Sql {
  return raw(`'standing:' || ${column}`);
}

/** The lane of a thread where the id of the chat stands in a column, as `threadLane` names it. */
export function threadLaneOf(column: string, topic: number): Sql {
  return sql`'thread:' || ${raw(column)} || ${`:${topic}`}`;
}

/** The lane of a part where its chat is this one from now on, from what its row says; what a task brings names no chat. */
export function laneIn(chatId: string): Sql {
  const kind = raw(`case kind when 'result' then 'thread' when 'notice' then 'notice' else 'answer' end`);
  const isOwn = raw(`lane like 'clean:%' or lane like 'tidy:%'`);
  return sql`case when goes_to = 'task' or ${isOwn} or lane = ${taskLaneOf('task_id')} then lane else ${kind} || ${`:${chatId}:`} || coalesce(cast(to_topic as text), '') end`;
}

/** Parts that wait in a lane. All open states are named, because only then does the index of open lanes answer. */
export function waitsIn(lane: string): Sql {
  return sql`lane = ${lane} and status in ('pending', 'blocked', 'sending', 'unknown') and status in ('pending', 'blocked')`;
}
