import { threadLane } from '../../domain/run.ts';
import { raw, sql, type Sql } from '../engine/sql.ts';

/** Names of lanes are built and read here alone. Of each lane one part is under way at a time. */

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

/** The lane of a thread where the id of the chat stands in a column, as `threadLane` names it. */
export function threadLaneOf(column: string, topic: number): Sql {
  return sql`'thread:' || ${raw(column)} || ${`:${topic}`}`;
}

export const isCardLane = raw(`lane like 'card:%'`);

/** Lanes of tasks name the task alone; the others name the chat, which is another one from now on. */
export function laneOfMerged(youngId: string, oldId: string): Sql {
  const renamed = sql`replace(lane, ${`:${youngId}`}, ${`:${oldId}`})`;
  return sql`case when lane like 'task:%' or lane like 'card:%' then lane else ${renamed} end`;
}

/** Parts that wait in a lane. All open states are named, because only then does the index of open lanes answer. */
export function waitsIn(lane: string): Sql {
  return sql`lane = ${lane} and status in ('pending', 'blocked', 'sending', 'unknown') and status in ('pending', 'blocked')`;
}
