import type { Actor } from './access.ts';
import { charactersOf } from './delivery.ts';
import { AppError } from './errors.ts';
import * as limits from './limits.ts';
import type { OccurrenceOutcome } from './occurrence.ts';
import type { Policies } from './policy.ts';
import type { Schedule } from './schedule/schedule.ts';
import type { Thread } from './thread.ts';

/**
 * A task is `active` while it has a next slot, `paused` while a person, a run of failures or an unreadable row keeps it
 * from running, `completed` when its schedule or its bounds are exhausted, and `deleted` when somebody removed it.
 *
 *   active -> paused | completed | deleted      paused -> active | deleted
 *   completed -> active (a new schedule, or bounds that leave something to run) | deleted
 *
 * `nextAt` is set exactly while the task is active: it is the truth from which every timer and queue is derived.
 */
export type TaskState = 'active' | 'paused' | 'completed' | 'deleted';

export interface ActionSpec {
  readonly kind: string;
  readonly [setting: string]: unknown;
}

/** The definition by a person, apart from the place it lives in. */
export interface Definition {
  readonly title: string;
  readonly instructions: string;
  readonly action: ActionSpec;
  readonly schedule: Schedule;
  readonly policies: Policies;
  readonly subject: string | null;
  readonly tags: readonly string[];
}

export interface Counters {
  readonly runs: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  /** Runs of slots that began and have ended, since the schedule or its bounds last changed; compared with `max_runs`. */
  readonly boundedRuns: number;
}

/** The topic for the results of a task is made when the first result needs it. */
export type TopicState = 'none' | 'creating' | 'ready' | 'blocked';

export interface Stamp {
  readonly at: number;
  readonly by: Actor;
}

export interface Task extends Definition {
  readonly id: string;
  readonly number: number;
  readonly version: number;
  readonly state: TaskState;
  readonly nextAt: number | null;
  readonly minGapMs: number | null;
  readonly pausedReason: string | null;
  /** The instant at which the pause ends by itself. */
  readonly resumeAt: number | null;
  readonly ownerId: Actor;
  /** The right under which its runs act. */
  readonly grantId: string;
  readonly chatId: string;
  /** The thread in which the task was asked for. */
  readonly home: Thread;
  readonly topicState: TopicState;
  readonly topicId: number | null;
  /** Its topic is the one that the one-offs of its chat share. */
  readonly isTopicShared: boolean;
  readonly context: Readonly<Record<string, unknown>>;
  readonly counters: Counters;
  /** The last run that has ended: which one, when it began, and how it ended. */
  readonly lastRunId: string | null;
  readonly lastRunAt: number | null;
  readonly lastRunStatus: 'succeeded' | 'failed' | 'cancelled' | null;
  readonly lastError: string | null;
  /** When the result of its last success becomes too old; null without one, and without the policy `refresh_after`. */
  readonly staleAt: number | null;
  /** The last that was decided about a slot or a run by hand, also about one that did not run. */
  readonly lastOutcome: OccurrenceOutcome | null;
  /** The first slot behind that which a person has skipped in advance. */
  readonly skippedAt: number | null;
  readonly created: Stamp;
  readonly updated: Stamp;
  readonly paused: Stamp | null;
  readonly resumed: Stamp | null;
  readonly deleted: Stamp | null;
}

/** The thread in which results are shown: null until the topic exists, and for providers that deliver nothing. */
export function executionThread(task: Pick<Task, 'id' | 'home' | 'topicId'>): Thread | null {
  if (task.home.provider !== 'telegram') {
    return { provider: task.home.provider, address: `task:${task.id}`, topic: null };
  }
  return task.topicId === null ? null : { ...task.home, topic: task.topicId };
}

/** A name at the beginning is in the message, so that it reaches whom it is for. */
export function addressed(forWhom: string | null, text: string): string {
  return forWhom === null ? text : text === '' ? forWhom : `${forWhom}: ${text}`;
}

/** The first line or sentence of the text, at most 60 characters, so that a list of tasks stays readable. */
export function titleFrom(instructions: string): string {
  const line = instructions.trim().split('\n', 1)[0] ?? '';
  const sentence = (/^.{10,}?[.!?](?=\s)/.exec(line)?.[0] ?? line).trim();
  const max = limits.titleTakenMax;
  return isWithin(sentence, max) ? sentence : `${beginningOf(sentence, max - 1).trimEnd()}…`;
}

function isWithin(name: string, max: number): boolean {
  return name.length <= max || beginningOf(name, max) === name;
}

/** As much of a name as fits, by whole characters. */
export function beginningOf(name: string, max: number, unitsMax: number = max * limits.nameUnitsPerCharacter): string {
  let [count, end] = [0, 0];
  for (const { index, segment } of charactersOf(name)) {
    count += 1;
    if (count > max || index + segment.length > unitsMax) break;
    end = index + segment.length;
  }
  return name.slice(0, end);
}

/** Since when its result is too old; null while it is not, and where no run will come that could make it fresh. */
export function staleSince({ staleAt, state, schedule }: Pick<Task, 'staleAt' | 'state' | 'schedule'>, now: number) {
  const isKept = (state === 'active' || state === 'paused') && schedule.kind !== 'once';
  return isKept && staleAt !== null && staleAt <= now ? staleAt : null;
}

/** The last outcome; a slot that was skipped in advance is decided about when its time comes. */
export function outcomeAt({ lastOutcome, skippedAt }: Pick<Task, 'lastOutcome' | 'skippedAt'>, now: number) {
  return skippedAt !== null && skippedAt <= now ? 'skipped' : lastOutcome;
}

/** The reason of a pause after too many failures in a row. */
export const failuresPause = 'auto:consecutive_failures';

/** The reason of a pause that ends when the owner is back in the chat, unless somebody has decided otherwise meanwhile. */
export const ownerGonePause = 'auto:owner_gone';

/** A text of which nothing can be seen. Telegram takes neither a message nor a topic's name of that kind. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc]*$/u.test(text);
}

/** A text may be blank where something else is sent. */
export function checkTexts(title: string, instructions: string, { mayBeBlank = false } = {}): void {
  if (isBlank(instructions) && !mayBeBlank) throw bad('instructions', 'A task needs instructions: the text to send.');
  if (isBlank(title)) throw bad('title', 'A task needs a title: a few words that name it.');
  if (!isWithin(title, limits.titleLengthMax)) {
    throw bad('title', `A title has at most ${boundWords(title, limits.titleLengthMax)}; put the rest into its text.`);
  }
  if (instructions.length > limits.instructionsLengthMax) {
    throw bad(
      'instructions',
      `Instructions have at most ${limits.instructionsLengthMax} characters; most emoji count as two.`,
    );
  }
}

/** Subjects that differ in capitals alone are looked for as one; as names of tasks they are two, because ids of other programs may. */
export function subjectKey(subject: string): string {
  return subject.normalize('NFC').toLowerCase();
}

export function checkLabels(subject: string | null, tags: readonly string[]): void {
  if (subject !== null) checkName('subject', subject, limits.subjectLengthMax);
  if (tags.length > limits.tagsMax) throw bad('tags', `A task has at most ${limits.tagsMax} tags.`);
  if (new Set(tags).size !== tags.length) throw bad('tags', 'A tag stands twice; name each tag once.');
  for (const tag of tags) checkName('tags', tag, limits.tagLengthMax);
}

function checkName(field: 'subject' | 'tags', name: string, max: number): void {
  const what = field === 'tags' ? 'tag' : field;
  if (isBlank(name)) throw bad(field, `A ${what} has at least one character that can be seen.`);
  if (!isWithin(name, max)) throw bad(field, `A ${what} has at most ${boundWords(name, max)}.`);
}

/** The bound that a name goes beyond: some emoji are made of many signs. */
function boundWords(name: string, max: number): string {
  const isFew = beginningOf(name, max, name.length) === name;
  const units = isFew ? `, with ${limits.nameUnitsPerCharacter} UTF-16 units each on average` : '';
  return `${max} characters${units}`;
}

/** Settings of an action that name what it watches; while they stay the same, so does what its last run saw. */
export function watchedIn(action: ActionSpec): string {
  const { kind, url, select, watch } = action as ActionSpec & Readonly<Record<string, unknown>>;
  return JSON.stringify([kind, url, select, watch]);
}

const encoder = new TextEncoder();

export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}

const smaller = {
  action:
    'Put what is long where the target can fetch it, and send its address, such as {"file": "https://example.com/report.json"}.',
  context: 'Take away what is needed no more, such as {"key": null}.',
} as const;

export function checkSize(field: 'context' | 'action', value: unknown, max: number): void {
  const bytes = jsonBytes(value);
  if (bytes <= max) return;
  throw bad(field, `The ${field} has ${bytes} bytes of JSON; ${max} are the most. ${smaller[field]}`);
}

function bad(field: string, message: string): AppError {
  return new AppError('invalid_request', message, { details: { field } });
}
